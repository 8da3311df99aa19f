// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace report` shows what the kernel's file `trace` shows.

mod common;

use std::{
    fs::File,
    io::Read,
    process::Command, //
};

use common::{
    data,
    output,
    recording, //
    NAMES,
};
use rustix::{
    fs::{
        Mode,
        OFlags, //
    },
    pty::{
        grantpt,
        openpt,
        ptsname,
        unlockpt,
        OpenptFlags, //
    },
};

/// Returns the columns of each line, without what differs by design: task names (the kernel cuts
/// them), padding, and the size of the function after a symbol, which the file does not have.
fn lines(text: &str) -> Vec<[String; 4]> {
    let columns = |line: &str| {
        let mut columns = line.splitn(4, '|');
        let time = columns.next()?.trim().to_owned();
        let (cpu, _) = columns.next()?.trim().split_once(')')?;
        let duration = columns.next()?.trim().to_owned();
        let mut text = columns.next()?.trim_end().to_owned();
        if let Some(at) = text.find(" caller=") {
            if let Some(slash) = text[at..].find("/0x") {
                let (from, rest) = (at + slash, &text[at + slash..]);
                let len = rest.find(' ').unwrap_or(rest.len());
                text.replace_range(from..from + len, "");
            }
        }
        Some([time, cpu.to_owned(), duration, text])
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(columns).collect()
}

#[test]
fn text_is_that_of_the_kernel() {
    for name in NAMES {
        let path = recording("report", name);
        let reported = lines(&output("report", &path, &[]));
        let kernel = data(&format!("{name}.txt"));
        let kernel = lines(&String::from_utf8_lossy(&kernel));
        assert!(kernel.len() > 1000, "{name}: {} lines", kernel.len());
        for (reported, kernel) in reported.iter().zip(&kernel) {
            assert_eq!(reported, kernel, "{name}");
        }
        assert_eq!(reported.len(), kernel.len(), "{name}");
    }
}

#[test]
fn each_line_of_json_is_an_object() {
    for name in NAMES {
        let path = recording("report-json", name);
        let mut last = 0;
        let mut calls = 0;
        let text = output("report", &path, &["--json"]);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(r#"{"schema":"ferrotrace-report-1"}"#));
        for line in lines {
            let event: serde_json::Value = serde_json::from_str(line).expect(line);
            let time = event["time_ns"].as_u64().expect(line);
            assert!(time >= last, "events are sorted by time: {line}");
            last = time;
            calls += u32::from(event["event"] == "call_end" || event["event"] == "call");
        }
        assert!(calls > 900, "{name}: {calls} calls");
    }
}

/// Returns what `ferrotrace report` prints on a terminal, with this pager and search path.
fn on_a_terminal(name: &str, pager: Option<&str>, path: Option<&str>) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal)
        .and_then(|()| unlockpt(&terminal))
        .expect("a terminal");
    let other = ptsname(&terminal, Vec::new()).expect("a terminal");
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let other = rustix::fs::open(other, flags, Mode::empty()).expect("a terminal");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrotrace"));
    command.arg("report").arg(recording("report-pager", name));
    command
        .env_remove("PAGER")
        .envs(pager.map(|pager| ("PAGER", pager)));
    command.envs(path.map(|path| ("PATH", path)));
    let mut child = command.stdout(other).spawn().expect("the program runs");
    // The command has the last descriptor of the other side.
    drop(command);
    let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
    let mut terminal = File::from(terminal);
    while let Ok(len @ 1..) = terminal.read(&mut buffer) {
        text.extend_from_slice(&buffer[..len]);
    }
    assert!(child.wait().expect("a child").success());
    String::from_utf8_lossy(&text).replace("\r\n", "\n")
}

#[test]
fn text_is_shown_without_a_pager() {
    // The first text is larger than a pipe.
    for name in ["std-events", "sections"] {
        let direct = output("report", &recording("report-direct", name), &[]);
        assert!(direct.len() > 4096);
        for pager in [
            "/does/not/exist -R",
            "does-not-exist",
            "/etc/passwd",
            "sed p; exit 1",
        ] {
            let text = on_a_terminal(name, Some(pager), None);
            match pager.starts_with("sed") {
                true => assert_eq!(text.len(), 2 * direct.len()),
                false => assert_eq!(text, direct, "{pager}"),
            }
        }
        assert!(on_a_terminal(name, None, Some("/does/not/exist")) == direct);
    }
}
