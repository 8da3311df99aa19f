// SPDX-License-Identifier: MIT OR Apache-2.0

//! The times in `ferrotrace flame` are those of `ferrotrace summary`.

mod common;

use std::{
    collections::BTreeMap,
    fs, //
};

use common::{
    ferrotrace,
    output,
    recording,
    temporary, //
    RECORDINGS,
};
use quick_xml::events::Event;
use serde_json::Value;

const PARTS: [&str; 3] = ["run", "wait", "block"];

/// Returns the ns of each stack.
fn folded(name: &str, arguments: &[&str]) -> BTreeMap<String, u64> {
    let path = recording("flame", name);
    let mut stacks = BTreeMap::new();
    for line in output("flame", &path, &[&["--folded"], arguments].concat()).lines() {
        let (stack, ns) = line.rsplit_once(' ').expect(line);
        assert!(!stack.contains(' '), "{line}");
        let ns: u64 = ns.parse().expect(line);
        assert_ne!(ns, 0, "{line}");
        assert_eq!(stacks.insert(stack.to_owned(), ns), None, "{line}");
    }
    stacks
}

fn summary(name: &str) -> Value {
    let path = recording("flame", name);
    serde_json::from_str(&output("summary", &path, &["--json"])).expect("JSON")
}

fn rows<'a>(summary: &'a Value, table: &str) -> &'a [Value] {
    summary[table].as_array().expect(table)
}

/// Adds up the times of stacks by their first frames.
fn by_task(stacks: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (stack, ns) in stacks {
        let task = stack.split(';').next().expect("a task");
        *sums.entry(task.to_owned()).or_default() += ns;
    }
    sums
}

/// Returns a time of each task in the summary that is not 0.
fn times_of_tasks(
    summary: &Value,
    member: &str,
    frame: impl Fn(&str, &Value) -> String,
) -> BTreeMap<String, u64> {
    let mut times = BTreeMap::new();
    for task in rows(summary, "tasks") {
        let comm = task["comm"].as_str().expect("a name").replace(' ', "_");
        let ns = task[member].as_u64().expect("a time");
        if ns != 0 {
            *times.entry(frame(&comm, &task["pid"])).or_default() += ns;
        }
    }
    assert!(times.len() >= 4, "{member}: {times:?}");
    times
}

#[test]
fn sums_are_those_of_tasks() {
    for name in RECORDINGS {
        let summary = summary(name);
        for part in PARTS {
            let member = format!("{part}_ns");
            let expected = times_of_tasks(&summary, &member, |comm, pid| format!("{comm}-{pid}"));
            let stacks = folded(name, &[&format!("--{part}"), "--threads"]);
            assert_eq!(by_task(&stacks), expected, "{name}: {part}");
        }
        let expected = times_of_tasks(&summary, "total_ns", |comm, _| comm.to_owned());
        assert_eq!(by_task(&folded(name, &["--wall"])), expected, "{name}");
    }
}

#[test]
fn sums_are_those_of_functions() {
    for name in RECORDINGS {
        let summary = summary(name);
        for part in ["run", "wait"] {
            let mut own: BTreeMap<String, u64> = BTreeMap::new();
            let mut total: BTreeMap<String, u64> = BTreeMap::new();
            for (stack, ns) in folded(name, &[&format!("--{part}")]) {
                let mut functions: Vec<_> = stack.split(';').skip(1).collect();
                if let Some(last) = functions.last() {
                    *own.entry((*last).to_owned()).or_default() += ns;
                }
                // A recursive call is in its caller.
                functions.sort_unstable();
                functions.dedup();
                for function in functions {
                    *total.entry(function.to_owned()).or_default() += ns;
                }
            }
            for function in rows(&summary, "functions") {
                let key = function["name"].as_str().expect("a name");
                let of = |sums: &BTreeMap<_, _>| sums.get(key).copied().unwrap_or(0);
                let member = format!("{part}_ns");
                assert_eq!(
                    function[&member],
                    of(&total),
                    "{name}: {part} of {function}"
                );
                let expected = &function["self"][&member];
                assert_eq!(*expected, of(&own), "{name}: {part} of {function}");
            }
        }
    }
}

#[test]
fn run_wait_and_block_are_the_wall_time() {
    for name in RECORDINGS {
        let mut parts = BTreeMap::new();
        for (part, leaf) in PARTS.into_iter().zip(["", ";[wait]", ";[block]"]) {
            for (stack, ns) in folded(name, &[&format!("--{part}")]) {
                parts.insert(format!("{stack}{leaf}"), ns);
            }
        }
        assert!(parts.len() > 30, "{name}: {parts:?}");
        assert_eq!(folded(name, &[]), parts, "{name}");
    }
}

#[test]
fn block_time_is_where_the_task_slept() {
    let stacks = folded("std-events", &["--block"]);
    assert_eq!(stacks["cat;schedule;pipe_wait_writable"], 30_745_089);
    let below = |stack: &&String| stack.starts_with("sh;do_wait;schedule");
    let stacks: Vec<_> = stacks.keys().filter(below).collect();
    assert_eq!(stacks, ["sh;do_wait;schedule"], "do_wait is in the path");
}

/// Returns the titles of a flame graph, which must be well-formed.
fn titles(svg: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(svg);
    let mut depth = 0;
    let mut titles = Vec::new();
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(tag) if tag.name().as_ref() == b"title" => {
                let text = reader.read_text(tag.name()).expect("text");
                titles.push(String::from_utf8_lossy(&text).into_owned());
            }
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "all elements end");
    titles
}

/// Writes a number as inferno does: 1,234,567.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at != 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn frames_have_the_times_of_tasks() {
    for name in RECORDINGS {
        for arguments in [&["--threads"][..], &["--threads", "--block"]] {
            let path = recording("flame", name);
            let svg = temporary("flame", &format!("{name}.svg"));
            let out = ["-o", svg.to_str().expect("UTF-8")];
            assert_eq!(output("flame", &path, &[arguments, &out].concat()), "");
            let titles = titles(&fs::read_to_string(&svg).expect("a flame graph"));
            let tasks = by_task(&folded(name, arguments));
            let sum: u64 = tasks.values().sum();
            let all = format!("all ({} ns, 100%)", grouped(sum));
            assert!(titles.contains(&all), "{name}: {all}: {titles:?}");
            // Frames that are too small to be seen are left out.
            for (task, ns) in tasks.into_iter().filter(|(_, ns)| *ns > sum / 1000) {
                let title = format!("{task} ({} ns, ", grouped(ns));
                let mut found = titles.iter().filter(|found| found.starts_with(&title));
                assert!(found.next().is_some(), "{name}: {title}: {titles:?}");
            }
        }
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let path = recording("flame", "std-events");
    for (arguments, status, message) in [
        (
            &["-o", "/does/not/exist"][..],
            1,
            "/does/not/exist: No such file",
        ),
        (&["--folded", "-o", "/"], 1, "/: Is a directory"),
        (&["--run", "--wait"], 2, "cannot be used with"),
    ] {
        let output = ferrotrace("flame", &path, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{errors}");
        assert!(errors.contains(message), "{errors}");
    }
}
