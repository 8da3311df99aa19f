// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files that verbs write: never the recording, and complete or not at all.

mod common;

use std::{
    fs::{
        self,
        File, //
    },
    os::unix::fs::{
        symlink,
        PermissionsExt, //
    },
    path::{
        Path,
        PathBuf, //
    },
    process::Output, //
};

use common::{
    data,
    ferrotrace,
    output,
    temporary, //
};

/// The verbs that write files, with their arguments after the recording.
const VERBS: [(&str, &[&str]); 7] = [
    ("timeline", &[]),
    ("export", &["chrome"]),
    ("export", &["csv"]),
    ("export", &["folded"]),
    ("flame", &[]),
    ("flame", &["--folded"]),
    ("html", &[]),
];

/// Returns a directory without files.
fn directory(name: &str) -> PathBuf {
    let path = temporary("output", name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).expect("a directory");
    path
}

fn run((verb, arguments): (&str, &[&str]), recording: &Path, out: &Path) -> Output {
    // The format of `export` is before the file.
    let path = recording.to_str().expect("UTF-8");
    let out = out.to_str().expect("UTF-8");
    let (first, rest) = match verb {
        "export" => (Path::new(arguments[0]), vec![path, "-o", out]),
        _ => (recording, [arguments, &["-o", out]].concat()),
    };
    ferrotrace(verb, first, &rest)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let name = entry.expect("a file").file_name();
        name.into_string().expect("UTF-8")
    };
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

#[test]
fn the_recording_is_no_output() {
    let directory = directory("same");
    let recording = directory.join("x.dat");
    let content = data("std-events.dat");
    fs::write(&recording, &content).expect("a recording");
    fs::hard_link(&recording, directory.join("hard")).expect("a link");
    symlink("x.dat", directory.join("soft")).expect("a link");
    for verb in VERBS {
        for name in ["x.dat", "hard", "soft"] {
            let output = run(verb, &recording, &directory.join(name));
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{verb:?}: {errors}");
            assert!(
                errors.contains("the output is the recording itself"),
                "{verb:?}: {errors}"
            );
            assert!(fs::read(&recording).expect("a recording") == content);
        }
    }
    assert_eq!(names(&directory), ["hard", "soft", "x.dat"]);
}

#[test]
fn an_error_changes_no_file() {
    let directory = directory("error");
    let recording = directory.join("x.dat");
    let content = data("std-events.dat");
    // Symbols, formats and some records are complete.
    fs::write(&recording, &content[..content.len() - content.len() / 4]).expect("a recording");
    let out = directory.join("out");
    for verb in VERBS {
        fs::write(&out, "before").expect("a file");
        let output = run(verb, &recording, &out);
        assert_eq!(output.status.code(), Some(1), "{verb:?}");
        assert_eq!(
            fs::read_to_string(&out).expect("a file"),
            "before",
            "{verb:?}"
        );
        assert_eq!(names(&directory), ["out", "x.dat"], "{verb:?}");
    }
}

#[test]
fn the_target_of_a_link_is_replaced() {
    let directory = directory("link");
    let recording = directory.join("x.dat");
    fs::write(&recording, data("std-events.dat")).expect("a recording");
    symlink("target", directory.join("link")).expect("a link");
    for before in [None, Some("before")] {
        if let Some(before) = before {
            fs::write(directory.join("target"), before).expect("a file");
        }
        let output = run(VERBS[2], &recording, &directory.join("link"));
        assert!(output.status.success());
        let csv = fs::read_to_string(directory.join("target")).expect("a file");
        assert!(csv.starts_with("task,"), "{csv}");
        assert_eq!(names(&directory), ["link", "target", "x.dat"]);
        assert!(directory.join("link").is_symlink());
    }
}

#[test]
fn protected_files_are_not_replaced() {
    let directory = directory("protected");
    let recording = directory.join("x.dat");
    fs::write(&recording, data("std-events.dat")).expect("a recording");
    let out = directory.join("out");
    fs::write(&out, "before").expect("a file");
    let mode = fs::Permissions::from_mode(0o444);
    fs::set_permissions(&out, mode.clone()).expect("a file");
    let can_write = File::options().write(true).open(&out).is_ok();
    let output = run(VERBS[0], &recording, &out);
    let errors = String::from_utf8_lossy(&output.stderr);
    // Root can write to all files. The mode stays the same.
    assert_eq!(output.status.success(), can_write, "{errors}");
    assert_eq!(errors.contains("ermission denied"), !can_write, "{errors}");
    let found = fs::metadata(&out).expect("a file").permissions().mode() & 0o777;
    assert_eq!(found, mode.mode());
}

#[test]
fn devices_are_written_directly() {
    let recording = common::recording("output", "std-events");
    let path = recording.to_str().expect("UTF-8");
    let direct = output("export", Path::new("csv"), &[path]);
    let device = output("export", Path::new("csv"), &[path, "-o", "/dev/stdout"]);
    assert!(device.starts_with("task,"));
    assert!(direct == device);
    for verb in VERBS {
        let output = run(verb, &recording, Path::new("/dev/null"));
        assert!(output.status.success(), "{verb:?}");
    }
}

#[test]
fn the_name_of_a_file_is_printed() {
    let directory = directory("names");
    let recording = directory.join("x.dat");
    fs::write(&recording, data("std-events.dat")).expect("a recording");
    for verb in VERBS {
        let out = directory.join("out");
        let output = run(verb, &recording, &out);
        let size = fs::metadata(&out).expect("a file").len().div_ceil(100_000);
        let line = format!("wrote {} ({}.{} MB)\n", out.display(), size / 10, size % 10);
        assert_eq!(String::from_utf8_lossy(&output.stderr), line, "{verb:?}");
        assert!(output.stdout.is_empty(), "{verb:?}");
        for device in ["/dev/stdout", "/dev/null"] {
            let output = run(verb, &recording, Path::new(device));
            assert!(
                output.status.success() && output.stderr.is_empty(),
                "{verb:?}"
            );
        }
    }
}
