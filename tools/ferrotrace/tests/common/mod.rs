// SPDX-License-Identifier: MIT OR Apache-2.0

//! Unpacks the recordings in `tests/data/`, and runs the program.
//!
//! `NAME.dat.gz` is a recording (trace-cmd's version 6, with the symbols and events that it needs
//! only), `NAME.txt.gz` what the kernel's file `trace` showed of the same buffer, with
//! `options/ferro-abstime`, `ferro-proc` and `ferro-tail`. `sections.dat.gz` and `chains.dat.gz`
//! are recordings of version 7; `sections.txt.gz` and `chains.txt.gz` are what `trace-cmd report`
//! prints of them.
#![allow(dead_code, reason = "no test uses all of it")]

use std::{
    fs::{
        self,
        File, //
    },
    io::Read,
    path::{
        Path,
        PathBuf, //
    },
    process::{
        Command,
        Output, //
    },
    thread, //
};

use flate2::read::GzDecoder;
use serde_json::Value;

/// The recordings for which there is the kernel's text.
pub const NAMES: [&str; 4] = ["std-events", "compact", "compact-events", "arm64-events"];

/// All recordings.
pub const RECORDINGS: [&str; 5] = [
    "std-events",
    "compact",
    "compact-events",
    "arm64-events",
    "top",
];

/// Returns the uncompressed content of a file in `tests/data/`.
pub fn data(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let file = File::open(path.join(format!("{name}.gz"))).expect(name);
    let mut content = Vec::new();
    GzDecoder::new(file).read_to_end(&mut content).expect(name);
    content
}

/// Returns a path for a file of the current test, a function in the file `test`. Tests run in
/// parallel, each in a thread of its name.
pub fn temporary(test: &str, name: &str) -> PathBuf {
    let thread = thread::current();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let directory = directory.join(thread.name().unwrap_or("main"));
    fs::create_dir_all(&directory).expect("a directory for files of tests");
    directory.join(name)
}

/// Unpacks a recording for the test `test`.
pub fn recording(test: &str, name: &str) -> PathBuf {
    let path = temporary(test, &format!("{name}.dat"));
    fs::write(&path, data(&format!("{name}.dat"))).expect("a recording");
    path
}

/// Runs the program.
pub fn ferrotrace(verb: &str, recording: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ferrotrace"))
        .arg(verb)
        .arg(recording)
        .args(arguments)
        .output()
        .expect("the program runs")
}

/// Runs the program, and returns what it prints to standard output. If it writes a file, it says so
/// in one line.
pub fn output(verb: &str, recording: &Path, arguments: &[&str]) -> String {
    let output = ferrotrace(verb, recording, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let is_file = errors.starts_with("wrote ") && errors.lines().count() == 1;
    assert!(is_file || errors.is_empty(), "{errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Returns the number after `name` in a line of the kernel's text.
pub fn number(line: &str, name: &str) -> Option<u64> {
    let (_, rest) = line.split_once(&format!(" {name}="))?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Returns the text after `name=` in a line of the kernel's text, up to a space.
pub fn word<'a>(line: &'a str, name: &str) -> &'a str {
    let (_, rest) = line.split_once(&format!(" {name}=")).expect(name);
    rest.split(' ').next().expect("a word")
}

/// Returns the events with these names as `ferrotrace report --json` shows them, without their
/// times and their CPUs.
pub fn reported(recording: &Path, names: &[&str]) -> Vec<Value> {
    let report = output("report", recording, &["--json"]);
    // The first line has the schema.
    let events = report.lines().skip(1).map(|line| {
        let mut event: Value = serde_json::from_str(line).expect(line);
        let object = event.as_object_mut().expect("an object");
        assert!(object.remove("time_ns").is_some() && object.remove("cpu").is_some());
        event
    });
    let is_named = |event: &Value| names.iter().any(|name| event["event"] == *name);
    events.filter(is_named).collect()
}
