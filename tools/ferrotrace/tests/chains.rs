// SPDX-License-Identifier: MIT OR Apache-2.0

//! Chains of wakeups have the numbers that trace-cmd prints.
//!
//! In the recording, two chains of four parts end: chain-a <- chain-b <- chain-c <- sleep <-
//! hardirq. The waits of chain-b and of chain-c have chains as well, which are shorter.

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

/// Returns an event as `ferrotrace report --json` shows it, without its time and its CPU, from a
/// line of trace-cmd.
fn expected(line: &str) -> Option<Value> {
    let (head, _) = line.split_once(": task_chain: ")?;
    let running = head.split_whitespace().nth(1)?.rsplit_once('-')?.1;
    let (caller, _) = word(line, "caller").split_once("+0x").unzip();
    Some(json!({
        "event": "task_chain", "pid": running.parse::<u32>().expect("a thread"),
        "task": { "pid": number(line, "pid"), "comm": word(line, "comm") },
        "hop": number(line, "hop"), "block_ns": number(line, "block"),
        "waker": { "pid": number(line, "waker_pid"), "comm": word(line, "waker_comm") },
        "waker_context": word(line, "waker_context"), "known": word(line, "known") == "1",
        "waker_block_ns": number(line, "waker_block"), "state": word(line, "state"),
        "caller": caller,
    }))
}

/// Returns the parts of chains that trace-cmd prints.
fn printed() -> Vec<Value> {
    let text = String::from_utf8(data("chains.txt")).expect("UTF-8");
    let events: Vec<_> = text.lines().filter_map(expected).collect();
    assert_eq!(events.len(), 18);
    events
}

#[test]
fn events_are_those_of_trace_cmd() {
    let path = recording("chains", "chains");
    let report = output("report", &path, &["--json"]);
    let events = report.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).expect(line);
        let object = event.as_object_mut().expect("an object");
        assert!(object.remove("time_ns").is_some() && object.remove("cpu").is_some());
        event
    });
    let events = events.filter(|event| event["event"] == "task_chain");
    assert_eq!(events.collect::<Vec<_>>(), printed());
}

#[test]
fn the_report_has_them_as_comments() {
    let report = output("report", &recording("chains-report", "chains"), &[]);
    let text = "/* task_chain: comm=chain-a pid=139 block=343321139 [ns] hop=3 waker_comm=sleep \
                waker_pid=142 waker_context=task waker_block=303232108 [ns] state=S caller=";
    let found = report.lines().filter(|line| line.contains(text)).count();
    assert_eq!(found, 1, "{report}");
}
