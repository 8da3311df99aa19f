// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sections and triggers have the numbers that trace-cmd prints.
//!
//! In the recording, the task `app` marks sections while its instance gets copies of the markers,
//! and the task `late` marks sections when `ferro-markers` is off again.

mod common;

use common::{
    data,
    number,
    output,
    recording, //
};
use serde_json::{
    json,
    Value, //
};

/// Returns the text after `name=`, up to a space.
fn word<'a>(line: &'a str, name: &str) -> &'a str {
    let (_, rest) = line.split_once(&format!(" {name}=")).expect(name);
    rest.split(' ').next().expect("a word")
}

/// Returns the text after `name=`, up to the end of the line.
fn rest<'a>(line: &'a str, name: &str) -> &'a str {
    line.split_once(&format!(" {name}=")).expect(name).1
}

fn signed(line: &str, name: &str) -> i64 {
    word(line, name).parse().expect(line)
}

fn task(line: &str) -> Value {
    json!({ "pid": number(line, "pid"), "comm": word(line, "comm") })
}

/// Returns an event as `ferrotrace report --json` shows it, without its time and its CPU, from a
/// line of trace-cmd.
fn expected(line: &str) -> Option<Value> {
    if line.contains(" task_section: ") {
        return Some(json!({
            "event": "task_section", "pid": number(line, "pid"), "task": task(line),
            "kind": word(line, "kind"), "cookie": signed(line, "cookie"),
            "total_ns": number(line, "total"), "run_ns": number(line, "run"),
            "wait_ns": number(line, "wait"), "block_ns": number(line, "block"),
            "name": rest(line, "name"),
        }));
    }
    line.contains(" trigger: ").then(|| {
        json!({
            "event": "trigger", "pid": number(line, "pid"), "task": task(line),
            "rule": number(line, "rule"), "value": signed(line, "value"),
            "text": rest(line, "text"),
        })
    })
}

/// Returns the sections and the triggers that trace-cmd prints.
fn printed() -> Vec<Value> {
    let text = String::from_utf8(data("sections.txt")).expect("UTF-8");
    let events: Vec<_> = text.lines().filter_map(expected).collect();
    assert_eq!(events.len(), 11);
    events
}

#[test]
fn events_are_those_of_trace_cmd() {
    let path = recording("sections", "sections");
    let report = output("report", &path, &["--json"]);
    let events = report.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).expect(line);
        let object = event.as_object_mut().expect("an object");
        assert!(object.remove("time_ns").is_some() && object.remove("cpu").is_some());
        event
    });
    let known = |event: &Value| event["event"] == "task_section" || event["event"] == "trigger";
    assert_eq!(events.filter(known).collect::<Vec<_>>(), printed());
}

#[test]
fn the_report_has_them_as_comments() {
    let report = output("report", &recording("sections-report", "sections"), &[]);
    for text in [
        "/* trigger: comm=app pid=130 rule=2 value=3 text=counter queue if value > 2 do start */",
        "/* task_section: comm=late pid=132 kind=async cookie=-2 total=961039 [ns] ",
    ] {
        let found = report.lines().filter(|line| line.contains(text)).count();
        assert_eq!(found, 1, "{text}");
    }
}
