// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace report` shows what the kernel's file `trace` shows.

mod common;

use common::{
    data,
    output,
    recording, //
    NAMES,
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
        for line in output("report", &path, &["--json"]).lines() {
            let event: serde_json::Value = serde_json::from_str(line).expect(line);
            let time = event["time_ns"].as_u64().expect(line);
            assert!(time >= last, "events are sorted by time: {line}");
            last = time;
            calls += u32::from(event["event"] == "call_end" || event["event"] == "call");
        }
        assert!(calls > 900, "{name}: {calls} calls");
    }
}
