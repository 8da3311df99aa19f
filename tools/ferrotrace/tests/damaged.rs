// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files that are cut off or damaged: a clear error, never a panic, a hang or death by a signal.
//!
//! libtracecmd itself crashes on some damaged files; the program must say so.

mod common;

use std::{
    fs::{
        self,
        File, //
    },
    io::Read,
    process::{
        Command,
        Stdio, //
    },
    thread,
    time::{
        Duration,
        Instant, //
    },
};

use common::{
    data,
    ferrotrace,
    temporary, //
};

/// The verbs that read recordings, with their arguments before the file.
const VERBS: [&[&str]; 14] = [
    &["summary"],
    &["report"],
    &["timeline", "-o/dev/null"],
    &["flame", "-o/dev/null"],
    &["export", "chrome"],
    &["export", "csv"],
    &["html", "-o/dev/null"],
    &["summary", "--json"],
    &["summary", "-n*"],
    &["summary", "--from=10ms", "--to=200ms"],
    &["html", "--from=10ms", "-o/dev/null"],
    &["report", "--json"],
    &["export", "folded"],
    &["flame", "--folded"],
];

/// A recording of trace-cmd's version 6, and recordings of version 7, as `ferrotrace record` writes
/// them; with sections and triggers, and with chains.
const FILES: [&str; 3] = ["compact-events", "sections", "chains"];

/// Runs a verb on a file with this content. Returns the exit status and the messages.
fn run(thread: &str, verb: &[&str], content: &[u8]) -> (i32, String) {
    let path = temporary("damaged", &format!("{thread}.dat"));
    let errors = temporary("damaged", &format!("{thread}.err"));
    fs::write(&path, content).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrotrace"));
    command.args(verb).arg(&path).stdout(Stdio::null());
    let mut child = command
        .stderr(File::create(&errors).expect("a file"))
        .spawn()
        .expect("the program runs");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if start.elapsed() > Duration::from_secs(100) {
            let _ = child.kill();
            panic!("{verb:?} hangs on {}", path.display());
        }
        thread::sleep(Duration::from_millis(5));
    };
    let mut text = String::new();
    let _ = File::open(&errors).and_then(|mut file| file.read_to_string(&mut text));
    let code = status.code();
    (
        code.unwrap_or_else(|| panic!("{verb:?}: {status}: {text}")),
        text,
    )
}

/// Checks that an error names the file, also those of the handler for crashes of a library.
fn check_name(thread: &str, text: &str) {
    assert!(text.contains(&format!("{thread}.dat: ")), "{text}");
}

fn check_error(what: &str, status: i32, text: &str) {
    assert_eq!(status, 1, "{what}: {text}");
    assert!(text.starts_with("ferrotrace: "), "{what}: {text}");
    assert!(!text.contains("panicked"), "{what}: {text}");
    assert_eq!(text.lines().count(), 1, "{what}: {text}");
}

#[test]
fn a_file_that_is_cut_off_is_an_error() {
    for name in FILES {
        let whole = data(&format!("{name}.dat"));
        for cut in 0..84 {
            let len = whole.len() * cut / 84;
            let (status, text) = run("cut", VERBS[cut % VERBS.len()], &whole[..len]);
            check_error(&format!("{name}: {len} bytes"), status, &text);
            check_name("cut", &text);
        }
    }
}

#[test]
fn damaged_bytes_cause_no_panic() {
    for name in FILES {
        mutate(name);
    }
}

/// Changes random bytes of a recording.
fn mutate(name: &str) {
    let whole = data(&format!("{name}.dat"));
    // Most of the file are newlines in place of symbols.
    let places: Vec<_> = (0..whole.len()).filter(|at| whole[*at] != b'\n').collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |limit: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % limit as u64).expect("less than the limit")
    };
    for n in 0..224 {
        let mut content = whole.clone();
        for _ in 0..[1, 1, 4, 16][n % 4] {
            let byte = u8::try_from(random(256)).expect("a byte");
            content[places[random(places.len())]] = byte;
        }
        let (status, text) = run("random", VERBS[n / 4 % VERBS.len()], &content);
        if status != 0 || !text.is_empty() {
            check_error(&format!("{name}: mutation {n}"), status, &text);
            check_name("random", &text);
        }
    }
}

/// Sends a signal like that of a crash, while the program waits for the reader of its output.
#[test]
fn a_crash_names_the_file() {
    let path = temporary("damaged", "crash.dat");
    fs::write(&path, data("compact-events.dat")).expect("a file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_ferrotrace"))
        .arg("report")
        .arg(&path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut output = child.stdout.take().expect("a pipe");
    output.read_exact(&mut [0]).expect("some output");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::SEGV).expect("a process");
    let mut text = String::new();
    let mut errors = child.stderr.take().expect("a pipe");
    errors.read_to_string(&mut text).expect("UTF-8");
    let status = child.wait().expect("a child").code();
    check_error("crash", status.expect("no signal"), &text);
    let expected = format!(
        "{}: the recording is damaged: a library crashed",
        path.display()
    );
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn other_files_are_no_recordings() {
    let text = temporary("damaged", "text");
    fs::write(&text, "# tracer: nop\n").expect("a file");
    for (path, message) in [
        (text, "not a recording"),
        ("/does/not/exist".into(), "No such file"),
        ("/".into(), "Is a directory"),
    ] {
        let output = ferrotrace("summary", &path, &[]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        check_error(message, output.status.code().expect("no signal"), &errors);
        assert!(errors.contains(message), "{errors}");
        assert!(errors.contains(path.to_str().expect("UTF-8")), "{errors}");
    }
    let missing = ferrotrace("html", "trace.dat".as_ref(), &[]);
    let errors = String::from_utf8_lossy(&missing.stderr);
    let expected = "ferrotrace: trace.dat: No such file or directory (create it with 'ferrotrace \
                    record', or name the FILE to read)\n";
    assert_eq!(errors, expected);
}
