// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sections and triggers have the numbers that trace-cmd prints.
//!
//! In the recording, the task `app` marks sections while its instance gets copies of the markers,
//! and the task `late` marks sections when `ferro-markers` is off again.

mod common;

use std::{
    cmp::Reverse,
    collections::BTreeMap, //
};

use common::{
    data,
    number,
    output,
    recording,
    reported,
    word, //
};
use serde_json::{
    json,
    Value, //
};

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
    assert_eq!(reported(&path, &["task_section", "trigger"]), printed());
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

/// Returns the sections of the summary as trace-cmd prints them: by task, name and kind.
fn sums() -> BTreeMap<(String, String, String), Value> {
    let mut sums: BTreeMap<_, [u64; 6]> = BTreeMap::new();
    for event in printed() {
        if event["event"] != "task_section" {
            continue;
        }
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let key = (
            text(&event["task"]["comm"]),
            text(&event["name"]),
            text(&event["kind"]),
        );
        let part = |name: &str| event[name].as_u64().expect(name);
        let [count, total, max, run, wait, block] = sums.entry(key).or_default();
        *count += 1;
        *total += part("total_ns");
        *max = part("total_ns").max(*max);
        *run += part("run_ns");
        *wait += part("wait_ns");
        *block += part("block_ns");
    }
    let row = |(key, numbers): ((String, String, String), [u64; 6])| {
        let [count, total, max, run, wait, block] = numbers;
        let part = |ns: u64| (key.2 == "sync").then_some(ns);
        let row = json!({
            "comm": key.0, "name": key.1, "kind": key.2, "count": count, "total_ns": total,
            "max_ns": max, "run_ns": part(run), "wait_ns": part(wait), "block_ns": part(block),
        });
        (key, row)
    };
    sums.into_iter().map(row).collect()
}

#[test]
fn the_summary_adds_sections_up() {
    let path = recording("sections-summary", "sections");
    let summary = output("summary", &path, &["--json"]);
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    let mut expected: Vec<_> = sums().into_values().collect();
    assert_eq!(expected.len(), 6);
    expected.sort_by_key(|row| Reverse(row["total_ns"].as_u64()));
    assert_eq!(summary["sections"], Value::from(expected));
    let triggers: Vec<_> = printed()
        .into_iter()
        .filter(|event| event["event"] == "trigger")
        .map(|event| {
            let task = &event["task"];
            json!({
                "pid": task["pid"], "comm": task["comm"], "rule": event["rule"],
                "value": event["value"], "text": event["text"],
            })
        })
        .collect();
    let mut found = summary["triggers"].as_array().expect("triggers").clone();
    for (trigger, us) in found.iter_mut().zip([3_611_079, 3_722_686]) {
        let time = trigger
            .as_object_mut()
            .and_then(|row| row.remove("time_ns"));
        assert_eq!(time.and_then(|time| Some(time.as_u64()? / 1000)), Some(us));
    }
    assert_eq!(found, triggers);
}

#[test]
fn the_text_of_the_summary_has_both_tables() {
    let path = recording("sections-text", "sections");
    let text = output("summary", &path, &["--limit", "3"]);
    let lines: Vec<_> = text.lines().map(str::trim_start).collect();
    for line in [
        "TOTAL/ms       run/ms      wait/ms     block/ms       max/ms     count  TASK: SECTION",
        "110.757        3.193        0.733      106.830      110.698         2  app: load",
        "38.825            -            -            -       37.863         2  late: fetch (async)",
        "3 more sections (--limit 0 shows all)",
        "3.722686            110697600  app-130: section load if total > 50ms do start",
    ] {
        assert!(lines.contains(&line), "{line}\n{text}");
    }
    let other = output("summary", &recording("no-sections", "std-events"), &[]);
    assert!(!other.contains("SECTION") && !other.contains("TRIGGER"));
}
