// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers of `ferrotrace summary` are those in the kernel's text.

mod common;

use std::collections::HashMap;

use common::{
    data,
    number,
    output,
    recording, //
    NAMES,
};
use serde_json::Value;

fn summary(name: &str) -> Value {
    let path = recording("summary", name);
    serde_json::from_str(&output("summary", &path, &["--json"])).expect("JSON")
}

fn kernel(name: &str) -> String {
    String::from_utf8(data(&format!("{name}.txt"))).expect("UTF-8")
}

/// A time in us with three digits after the point, in ns.
fn ns(text: &str) -> u64 {
    text.replace('.', "").parse().expect(text)
}

#[test]
fn times_of_tasks_are_those_of_events() {
    for name in ["std-events", "compact-events", "arm64-events"] {
        let text = kernel(name);
        let mut sums: HashMap<(u64, &str), u64> = HashMap::new();
        let mut complete: HashMap<u64, (bool, bool)> = HashMap::new();
        for line in text.lines() {
            if let Some(child) = number(line, "child_pid") {
                complete.entry(child).or_default().0 = true;
            }
            let Some(pid) = number(line, "pid") else {
                continue;
            };
            for (event, part) in [
                ("task_run:", "run"),
                ("task_wait:", "wait"),
                ("task_block:", "block"),
            ] {
                if line.contains(event) {
                    *sums.entry((pid, part)).or_default() += number(line, part).expect(line);
                }
            }
            complete.entry(pid).or_default().1 |= line.contains("state=Z");
        }
        let summary = summary(name);
        let mut compared = 0;
        for task in summary["tasks"].as_array().expect("tasks") {
            let pid = task["pid"].as_u64().expect("a pid");
            if complete.get(&pid) != Some(&(true, true)) {
                continue;
            }
            assert_eq!(task["unknown_ns"], 0, "{name}: {task}");
            for part in ["run", "wait", "block"] {
                let sum = sums.get(&(pid, part)).copied().unwrap_or(0);
                assert_eq!(task[format!("{part}_ns")], sum, "{name}: {part} of {task}");
            }
            compared += 1;
        }
        assert!(compared > 10, "{name}: {compared} tasks");
    }
}

/// The event `task_exit` has the totals of a task up to then; the states after it add to them.
#[test]
fn times_of_tasks_are_those_at_their_exit() {
    for name in ["std-events", "compact-events", "arm64-events"] {
        let text = kernel(name);
        let created: Vec<_> = text
            .lines()
            .filter_map(|line| number(line, "child_pid"))
            .collect();
        let mut compared = 0;
        let summary = summary(name);
        for task in summary["tasks"].as_array().expect("tasks") {
            let pid = task["pid"].as_u64().expect("a pid");
            let is_subject = |line: &&str| number(line, "pid") == Some(pid);
            let mut lines = text.lines().filter(is_subject);
            let Some(exit) = lines.find(|line| line.contains("task_exit:")) else {
                continue;
            };
            if !created.contains(&pid) {
                continue;
            }
            let rest: Vec<_> = lines.collect();
            let after = |part: &str| {
                let event = format!("task_{part}:");
                let lines = rest.iter().filter(move |line| line.contains(&event));
                lines.map(|line| number(line, part).expect(line)).collect()
            };
            let total = |part: &str| task[format!("{part}_ns")].as_u64().expect("a time");
            let at_exit = |part: &str| number(exit, part).expect(exit);
            for part in ["wait", "block"] {
                let after: Vec<u64> = after(part);
                let sum = at_exit(part) + after.iter().sum::<u64>();
                assert_eq!(total(part), sum, "{name}: {part} of {task}");
            }
            // The state in which it exits is counted up to its exit.
            let after: Vec<u64> = after("run");
            let most = at_exit("run") + after.iter().sum::<u64>();
            let run = total("run");
            assert!(
                run <= most && most <= run + after[0],
                "{name}: {task}: {exit}"
            );
            compared += 1;
        }
        assert!(compared > 10, "{name}: {compared} tasks");
    }
}

/// A task that is renamed may leave the filter, and has no more events; then it is not known what
/// it does. In `top`, another filter records only a part of the events.
#[test]
fn tasks_without_further_events() {
    for (name, limit_ns) in [("sections", 15_000_000), ("chains", 10_000_000)] {
        let text = kernel(name);
        let summary = summary(name);
        let mut renamed = 0;
        for task in summary["tasks"].as_array().expect("tasks") {
            let pid = task["pid"].as_u64();
            let is_subject = |line: &&str| number(line, "pid") == pid;
            let last = text.lines().rfind(is_subject).expect("an event");
            if last.contains("task_set_comm:") {
                assert!(task["run_ns"].as_u64() < Some(limit_ns), "{name}: {task}");
                assert!(task["unknown_ns"].as_u64() > Some(0), "{name}: {task}");
                renamed += 1;
            }
        }
        assert!(renamed >= 2, "{name}: {renamed} tasks");
    }
    let summary = summary("top");
    // It has woken another task in the meantime.
    let tasks = summary["tasks"].as_array().expect("tasks");
    let child = tasks.iter().find(|task| task["pid"] == 255);
    let child = child.expect("the first child");
    assert!(child["wait_ns"].as_u64() < Some(50_000_000), "{child}");
    // Another task has got its CPU.
    let spinning = tasks.iter().find(|task| task["pid"] == 258);
    let spinning = spinning.expect("the second child");
    assert!(spinning["run_ns"].as_u64() < Some(1_000_000), "{spinning}");
}

#[test]
fn times_of_functions_are_those_of_calls() {
    for name in NAMES {
        let text = kernel(name);
        // Calls, wait and block of each function.
        let mut sums: HashMap<&str, [u64; 3]> = HashMap::new();
        for line in text.lines().filter(|line| !line.contains("/* task_")) {
            let Some(text) = line.splitn(4, '|').nth(3) else {
                continue;
            };
            let text = text.trim();
            let function = match text.split_once("();") {
                Some((function, _)) => function,
                None => match text
                    .strip_prefix("} /* ")
                    .and_then(|rest| rest.split_once(' '))
                {
                    Some((function, _)) => function,
                    None => continue,
                },
            };
            let [calls, wait, block] = sums.entry(function).or_default();
            *calls += 1;
            let part = |name: &str| {
                let (_, rest) = text.split_once(&format!(" {name}="))?;
                Some(ns(rest.split_once(' ')?.0))
            };
            *wait += part("wait").unwrap_or(0);
            *block += part("block").unwrap_or(0);
        }
        let summary = summary(name);
        let functions = summary["functions"].as_array().expect("functions");
        assert!(functions.len() > 10, "{name}");
        for function in functions {
            let key = function["name"].as_str().expect("a name");
            let [calls, wait, block] = sums.get(key).copied().unwrap_or_default();
            let unfinished = function["unfinished"].as_u64().expect("a number");
            assert_eq!(function["calls"], calls + unfinished, "{name}: {function}");
            if unfinished == 0 {
                assert_eq!(function["wait_ns"], wait, "{name}: {function}");
                assert_eq!(function["block_ns"], block, "{name}: {function}");
            }
        }
    }
}

#[test]
fn run_wait_and_block_are_the_total() {
    for name in NAMES {
        let summary = summary(name);
        for table in ["tasks", "functions"] {
            for row in summary[table].as_array().expect(table) {
                let part = |name: &str| row[name].as_u64().expect(name);
                let sum = part("run_ns") + part("wait_ns") + part("block_ns");
                assert_eq!(part("total_ns"), sum, "{row}");
            }
        }
    }
}

#[test]
fn text_shows_where_tasks_were_blocked() {
    let path = recording("summary-text", "std-events");
    let text = output("summary", &path, &["--sort", "block", "--limit", "3"]);
    assert!(text.contains("IN FUNCTION (STATE) <- WAKER"), "{text}");
    assert!(text.contains("do_wait (S) <- sh (2 tasks)\n"), "{text}");
    assert!(text.contains("(--limit 0 shows all)"), "{text}");
}

#[test]
fn text_adds_up_wakers_of_one_name() {
    let path = recording("summary-names", "std-events");
    let text = output("summary", &path, &["--limit", "0"]);
    let mut sums: HashMap<String, (u64, u64)> = HashMap::new();
    let summary = summary("std-events");
    for row in summary["blocked"].as_array().expect("places") {
        let comm = row["waker_comm"].as_str();
        let waker = comm.unwrap_or_else(|| row["waker_context"].as_str().expect("a context"));
        let function = row["function"].as_str().unwrap_or("?");
        let key = format!(
            "{function} ({}) <- {waker}",
            row["state"].as_str().expect("a state")
        );
        let (count, total) = sums.entry(key).or_default();
        *count += row["count"].as_u64().expect("a number");
        *total += row["total_ns"].as_u64().expect("a time");
    }
    let places = text
        .lines()
        .filter(|line| line.contains(") <- ") && !line.ends_with("WAKER"));
    let mut found = 0;
    for line in places {
        let words: Vec<_> = line.split_whitespace().collect();
        // Without the id or the number of tasks, and without the numbers.
        let name = match words[6].rsplit_once('-') {
            Some((name, _)) if words.len() == 7 => name,
            _ => words[6],
        };
        let key = format!("{} {} <- {name}", words[3], words[4]);
        let (count, total) = sums.remove(&key).unwrap_or_else(|| panic!("{key}\n{text}"));
        let us = (total + 500) / 1000;
        let total = format!("{}.{:03}", us / 1000, us % 1000);
        assert_eq!(
            (words[0], words[2]),
            (total.as_str(), count.to_string().as_str())
        );
        found += 1;
    }
    assert!(sums.is_empty() && found > 5, "{sums:?}");
}

#[test]
fn text_shows_units_and_losses() {
    let path = recording("summary-units", "std-events");
    let text = output("summary", &path, &[]);
    let lines: Vec<_> = text.lines().map(str::trim_start).collect();
    assert_eq!(lines[1], "no records lost");
    for head in [
        "RUN/ms      %      WAIT/ms      %     BLOCK/ms      %     calls  TASK",
        "TOTAL/ms       run/ms      wait/ms     block/ms      self/ms       max/ms     calls  \
         FUNCTION",
        "BLOCKED/ms       max/ms     count  IN FUNCTION (STATE) <- WAKER",
        "WAITED/ms       max/ms     count  BEHIND",
    ] {
        assert!(lines.contains(&head), "{head}\n{text}");
    }
}

/// Returns the functions in the table with this head.
fn functions<'a>(text: &'a str, head: &str) -> Vec<&'a str> {
    let mut lines = text
        .lines()
        .skip_while(|line| !line.trim_start().starts_with(head));
    let head = lines.next().unwrap_or_default();
    assert!(head.is_empty() || head.ends_with("  FUNCTION"), "{text}");
    let rows = lines.take_while(|line| !line.is_empty() && !line.contains(" more "));
    rows.filter_map(|line| line.split_whitespace().last())
        .collect()
}

#[test]
fn short_tables_have_the_functions_by_each_time() {
    let path = recording("summary-parts", "std-events");
    let all = output("summary", &path, &[]);
    let total = functions(&all, "TOTAL/ms");
    assert_eq!(
        total,
        functions(&output("summary", &path, &["-s", "total"]), "TOTAL/ms")
    );
    let mut tables = 0;
    for (part, head) in [
        ("run", "RUN/ms  "),
        ("wait", "WAIT/ms  "),
        ("block", "BLOCK/ms  "),
    ] {
        let sorted = output("summary", &path, &["--sort", part]);
        let expected = &functions(&sorted, "TOTAL/ms")[..5];
        // The first table is that of tasks.
        let (_, rest) = all.split_once("FUNCTION").expect("functions");
        let found = functions(rest, head);
        if expected == &total[..5] {
            assert!(found.is_empty(), "{all}");
        } else {
            assert_eq!(found, expected, "{all}");
            tables += 1;
        }
        let (_, rest) = sorted.split_once("FUNCTION").expect("functions");
        assert!(!rest.contains("FUNCTION\n"), "{sorted}");
    }
    assert!(tables > 0, "{all}");
}
