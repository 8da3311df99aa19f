// SPDX-License-Identifier: MIT OR Apache-2.0

//! The calls and states in the files of `ferrotrace export` are those of `ferrotrace summary`.

mod common;

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::Command, //
};

use common::{
    data,
    number,
    output,
    recording,
    temporary, //
    RECORDINGS,
};
use serde_json::Value;

const PARTS: [&str; 3] = ["run_ns", "wait_ns", "block_ns"];

fn export(format: &str, recording: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ferrotrace"))
        .args(["export", format])
        .arg(recording)
        .output()
        .expect("the program runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn summary(recording: &Path) -> Value {
    serde_json::from_str(&output("summary", recording, &["--json"])).expect("JSON")
}

/// Returns a number of each function in the summary.
fn functions(summary: &Value, number: impl Fn(&Value) -> &Value) -> BTreeMap<String, u64> {
    let functions = summary["functions"].as_array().expect("functions");
    assert!(functions.len() > 10);
    let row = |function: &Value| {
        let name = function["name"].as_str().expect("a name").to_owned();
        (name, number(function).as_u64().expect("a number"))
    };
    functions.iter().map(row).collect()
}

/// Returns a time of the trace event format in ns.
fn ns(event: &Value) -> u64 {
    let us = event["ts"].as_f64().expect("a time");
    format!("{:.0}", us * 1000.0).parse().expect("ns")
}

/// Returns the events of each thread, sorted by time as viewers do, and the names of threads.
fn threads(trace: &Value) -> BTreeMap<(u64, u64), (String, Vec<&Value>)> {
    let mut threads: BTreeMap<_, (String, Vec<_>)> = BTreeMap::new();
    for event in trace["traceEvents"].as_array().expect("events") {
        let number = |name| event[name].as_u64().expect("a number");
        let thread = threads.entry((number("pid"), number("tid"))).or_default();
        match event["name"].as_str().expect("a name") {
            "thread_name" => {
                event["args"]["name"]
                    .as_str()
                    .expect("a name")
                    .clone_into(&mut thread.0);
            }
            "process_name" => {}
            _ => thread.1.push(event),
        }
    }
    for (_, events) in threads.values_mut() {
        events.sort_by_key(|event| ns(event));
    }
    threads
}

#[test]
fn calls_and_states_of_chrome_are_nested_and_complete() {
    for name in RECORDINGS {
        let path = recording("export", name);
        let summary = summary(&path);
        let trace: Value = serde_json::from_str(&export("chrome", &path)).expect("JSON");
        let expected = functions(&summary, |function| &function["calls"]);
        let mut calls: BTreeMap<String, u64> = BTreeMap::new();
        let mut states: BTreeMap<String, u64> = BTreeMap::new();
        let mut threads_with_states = 0;
        for (thread, (title, events)) in threads(&trace) {
            assert!(!title.is_empty(), "{name}: thread {thread:?} has a name");
            let has_states = title.ends_with(" states");
            threads_with_states += u32::from(has_states);
            assert_eq!(has_states, thread.1 >= 1_000_000_000, "{name}: {title}");
            let mut open = Vec::new();
            for event in events {
                let function = event["name"].as_str().expect("a name");
                match event["ph"].as_str().expect("a kind") {
                    "B" => open.push(event),
                    "E" => {
                        let begin = open.pop().expect("an end has a beginning");
                        assert_eq!(begin["name"], event["name"], "{name}: {event}");
                        if has_states {
                            let sum = states.entry(function.to_owned()).or_default();
                            *sum += ns(event) - ns(begin);
                            continue;
                        }
                        *calls.entry(function.to_owned()).or_default() += 1;
                        assert!(ns(event) > ns(begin), "{name}: {event}");
                        if event["args"]["run_ns"].is_u64() {
                            let part = |part| event["args"][part].as_u64().expect("a time");
                            let sum: u64 = PARTS.into_iter().map(part).sum();
                            let longer = ns(event) - ns(begin) - sum;
                            assert!(longer < 100_000, "{name}: {longer} ns: {event}");
                        }
                    }
                    "i" if event["cat"] == "call" => {
                        *calls.entry(function.to_owned()).or_default() += 1;
                    }
                    _ => {}
                }
            }
            assert!(open.is_empty(), "{name}: {open:?}");
        }
        assert_eq!(calls, expected, "{name}");
        if summary["times_of_tasks"] == "events" {
            assert!(threads_with_states > 10, "{name}: {threads_with_states}");
            for state in ["run", "wait", "block", "unknown"] {
                let member = format!("{state}_ns");
                let tasks = summary["tasks"].as_array().expect("tasks").iter();
                let expected: u64 = tasks.map(|task| task[&member].as_u64().expect("ns")).sum();
                let sum = states.get(state).copied().unwrap_or(0);
                assert_eq!(sum, expected, "{name}: {state}");
            }
        }
    }
}

#[test]
fn names_in_chrome_have_arguments_at_ends_only() {
    let path = recording("export-names", "std-events");
    let trace: Value = serde_json::from_str(&export("chrome", &path)).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let beginnings: Vec<_> = events.iter().filter(|event| event["ph"] == "B").collect();
    assert!(beginnings.len() > 1000);
    assert!(beginnings.iter().all(|event| event["args"].is_null()));
    let place = events
        .iter()
        .filter(|event| event["args"]["in"] == "do_wait");
    assert!(place.clone().count() > 10);
    assert!(place.into_iter().all(|event| event["ph"] == "E"));
}

#[test]
fn csv_has_a_line_for_each_call() {
    for name in RECORDINGS {
        let path = recording("export-csv", name);
        let summary = summary(&path);
        let text = export("csv", &path);
        let mut lines = text.lines();
        let header: Vec<_> = lines.next().expect("a header").split(',').collect();
        let mut calls: BTreeMap<String, u64> = BTreeMap::new();
        let mut own: BTreeMap<String, [u64; 3]> = BTreeMap::new();
        for line in lines {
            // The recordings have no names that need quotes.
            let fields: Vec<_> = line.split(',').collect();
            assert_eq!(fields.len(), header.len(), "{line}");
            let field = |name: &str| {
                let at = header.iter().position(|column| *column == name);
                fields[at.expect(name)]
            };
            let number = |name: &str| field(name).parse::<u64>().expect(line);
            let function = field("function").to_owned();
            *calls.entry(function.clone()).or_default() += 1;
            let sum: u64 = PARTS.into_iter().map(number).sum();
            assert_eq!(number("duration_ns"), sum, "{name}: {line}");
            let sums = own.entry(function).or_default();
            for (sum, part) in sums.iter_mut().zip(PARTS) {
                *sum += number(&format!("self_{part}"));
            }
        }
        assert_eq!(calls, functions(&summary, |row| &row["calls"]), "{name}");
        for (index, part) in PARTS.into_iter().enumerate() {
            let own = own.iter().map(|(name, own)| (name.clone(), own[index]));
            let expected = functions(&summary, |row| &row["self"][part]);
            assert_eq!(own.collect::<BTreeMap<_, _>>(), expected, "{name}: {part}");
        }
    }
}

#[test]
fn folded_is_the_output_of_flame() {
    let path = recording("export-folded", "compact-events");
    let file = temporary("export-folded", "stacks");
    let stacks = output("flame", &path, &["--folded"]);
    assert!(stacks.lines().count() > 30);
    assert_eq!(export("folded", &path), stacks);
    let out = file.to_str().expect("UTF-8");
    assert_eq!(output("flame", &path, &["--folded", "-o", out]), "");
    assert_eq!(fs::read_to_string(&file).expect("a file"), stacks);
}

#[test]
fn chrome_has_sections_and_triggers() {
    let path = recording("export-sections", "sections");
    let trace: Value = serde_json::from_str(&export("chrome", &path)).expect("JSON");
    let mut found = Vec::new();
    for ((_, tid), (title, events)) in threads(&trace) {
        if !title.ends_with(" sections") {
            continue;
        }
        let mut open = Vec::new();
        for event in events {
            if event["ph"] == "B" {
                assert_eq!(event["cat"], "section");
                open.push(event);
                continue;
            }
            let begin = open.pop().expect("an end has a beginning");
            assert_eq!(begin["name"], event["name"]);
            let parts = PARTS.map(|part| event["args"][part].as_u64().expect("a time"));
            let name = event["name"].as_str().expect("a name").to_owned();
            let total = ns(event) - ns(begin);
            assert_eq!(total, parts.iter().sum::<u64>(), "{name}");
            found.push((tid - 500_000_000, name, total));
        }
        assert!(open.is_empty(), "{open:?}");
    }
    let section = |tid, name: &str, ns| (tid, name.to_owned(), ns);
    assert_eq!(
        found,
        [
            section(130, "load", 110_697_600),
            section(130, "frame", 112_920_019),
            section(130, "load", 59_138),
            section(132, "inner", 37_238_411),
            section(132, "inner", 56_825),
            section(132, "outer one", 38_189_516),
        ]
    );
    let events = trace["traceEvents"].as_array().expect("events");
    let mut begun = BTreeMap::new();
    let mut asynchronous = Vec::new();
    for event in events {
        let id = event["id"].as_u64();
        if event["ph"] == "b" {
            assert!(begun.insert(id, ns(event)).is_none(), "{event}");
        } else if event["ph"] == "e" {
            let total = ns(event) - begun[&id];
            let cookie = event["args"]["cookie"].as_i64().expect("a cookie");
            asynchronous.push((event["name"].as_str(), cookie, total));
        }
    }
    assert_eq!(
        asynchronous,
        [
            (Some("request"), 7, 183_425),
            (Some("fetch"), 1, 37_863_487),
            (Some("fetch"), -2, 961_039),
        ]
    );
    let triggers = events.iter().filter(|event| event["cat"] == "trigger");
    let triggers: Vec<_> = triggers
        .map(|event| {
            let args = &event["args"];
            assert_eq!(event["tid"], 130);
            (
                event["name"].as_str(),
                args["rule"].as_u64(),
                args["value"].as_i64(),
            )
        })
        .collect();
    assert_eq!(
        triggers,
        [
            (
                Some("trigger: counter queue if value > 2 do start"),
                Some(2),
                Some(3)
            ),
            (
                Some("trigger: section load if total > 50ms do start"),
                Some(1),
                Some(110_697_600)
            ),
        ]
    );
}

#[test]
fn chrome_has_chains() {
    let path = recording("export-chains", "chains");
    let trace: Value = serde_json::from_str(&export("chrome", &path)).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events").iter();
    let found: Vec<_> = events
        .filter(|event| event["cat"] == "chain")
        .map(|event| {
            assert_eq!(event["ph"], "i");
            let name = event["name"].as_str().expect("a name");
            let text = name.strip_prefix("woken by chain: ").expect(name);
            let parts = text.split(" <- ").count();
            let times = (ns(event), event["args"]["block_ns"].as_u64());
            (event["tid"].as_u64(), times, parts)
        })
        .collect();
    // The first part of each chain, and the number of parts, as trace-cmd prints them.
    let text = String::from_utf8(data("chains.txt")).expect("UTF-8");
    let mut expected = Vec::new();
    for line in text.lines().filter(|line| line.contains(": task_chain: ")) {
        if number(line, "hop") == Some(1) {
            let words = line.split_whitespace();
            let time = words.map(|word| word.trim_end_matches(':').replace('.', ""));
            let time = time.filter_map(|word| word.parse::<u64>().ok()).next();
            let times = (time.expect("a time"), number(line, "block"));
            expected.push((number(line, "pid"), times, 0));
        }
        expected.last_mut().expect("a chain").2 += 1;
    }
    assert_eq!(found, expected);
    assert_eq!(found.len(), 6);
}
