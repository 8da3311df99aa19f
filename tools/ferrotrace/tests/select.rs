// SPDX-License-Identifier: MIT OR Apache-2.0

//! The options that select tasks: what is shown of a task does not depend on the others.

mod common;

use std::{
    collections::BTreeMap,
    fs, //
};

use common::{
    data,
    ferrotrace,
    output,
    recording,
    temporary,
    NAMES, //
};
use serde_json::Value;

fn summary(name: &str, arguments: &[&str]) -> Value {
    let path = recording("select", name);
    let arguments = [arguments, &["--json"]].concat();
    serde_json::from_str(&output("summary", &path, &arguments)).expect("JSON")
}

fn rows<'a>(summary: &'a Value, table: &str) -> &'a [Value] {
    summary[table].as_array().expect(table)
}

/// Returns the sum of a member of all rows of a table.
fn sum(summary: &Value, table: &str, member: &str) -> u64 {
    let rows = rows(summary, table).iter();
    rows.map(|row| row[member].as_u64().expect(member)).sum()
}

#[test]
fn a_task_has_the_same_times_without_the_others() {
    for name in NAMES {
        let all = summary(name, &[]);
        let mut blocked = 0;
        let mut calls = 0;
        for task in rows(&all, "tasks") {
            let pid = task["pid"].as_i64().expect("an id").to_string();
            let one = summary(name, &["-t", &pid]);
            if task["idle_cpu"].is_null() {
                assert_eq!(rows(&one, "tasks"), [task.clone()], "{name}");
                calls += sum(&one, "functions", "calls");
                blocked += sum(&one, "blocked", "total_ns");
            }
            assert_eq!(one["duration_ns"], all["duration_ns"]);
            assert_eq!(one["events"], all["events"]);
        }
        let idle = match rows(&all, "tasks").iter().any(|task| task["pid"] == 0) {
            true => sum(&summary(name, &["-t", "0"]), "functions", "calls"),
            false => 0,
        };
        assert_eq!(calls + idle, sum(&all, "functions", "calls"), "{name}");
        assert_eq!(blocked, sum(&all, "blocked", "total_ns"), "{name}");
    }
}

#[test]
fn names_are_those_that_the_summary_shows() {
    let all = summary("std-events", &[]);
    for (pattern, prefix) in [("cat", "cat"), ("s*", "s"), ("c[a]?", "cat")] {
        let some = summary("std-events", &["-n", pattern]);
        let tasks = rows(&all, "tasks").iter();
        let expected: Vec<_> = tasks
            .filter(|task| task["comm"].as_str().expect("a name").starts_with(prefix))
            .cloned()
            .collect();
        assert!(expected.len() > 2);
        assert_eq!(rows(&some, "tasks"), expected, "{pattern}");
    }
    let two = summary("std-events", &["-t", "120,130", "-n", "sh"]);
    assert!(rows(&two, "tasks").len() > 2);
}

#[test]
fn chains_sections_and_triggers_are_those_of_the_tasks() {
    let some = summary("chains", &["-n", "chain-b"]);
    let comms: Vec<_> = rows(&some, "chains")
        .iter()
        .map(|row| &row["comm"])
        .collect();
    assert_eq!(comms, ["chain-b"]);
    let some = summary("sections", &["-t", "132"]);
    let sections = rows(&some, "sections");
    assert!(!sections.is_empty() && sections.iter().all(|row| row["comm"] == "late"));
    assert!(rows(&some, "triggers").is_empty());
}

#[test]
fn stacks_of_a_task_are_the_same() {
    for name in NAMES {
        let path = recording("select-flame", name);
        let all = output("flame", &path, &["--folded", "--threads"]);
        let pid = rows(&summary(name, &[]), "tasks")[1]["pid"].to_string();
        let one = output("flame", &path, &["--folded", "--threads", "-t", &pid]);
        let expected: Vec<_> = all
            .lines()
            .filter(|line| {
                let task = line.split([';', ' ']).next().expect("a task");
                task.ends_with(&format!("-{pid}"))
            })
            .collect();
        assert!(!expected.is_empty());
        assert_eq!(one.lines().collect::<Vec<_>>(), expected, "{name}");
    }
}

/// Returns the sums of a member of the rows of a table, by the value of another member.
fn sums(summary: &Value, table: &str, key: &str, member: &str) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for row in rows(summary, table) {
        let key = format!("{}{}", row[key], row["idle_cpu"]);
        *sums.entry(key).or_default() += row[member].as_u64().expect(member);
    }
    sums.retain(|_, sum| *sum != 0);
    sums
}

#[test]
fn a_time_that_is_all_of_the_recording_changes_nothing() {
    for name in [&NAMES[..], &["sections", "chains"]].concat() {
        let all = summary(name, &[]);
        assert_eq!(
            summary(name, &["--from", "0s", "--to", "1h"]),
            all,
            "{name}"
        );
        assert_eq!(summary(name, &["--from", "0"]), all, "{name}");
        let path = recording("select-all", name);
        assert_eq!(
            output("flame", &path, &["--folded", "--from", "0s"]),
            output("flame", &path, &["--folded"]),
            "{name}"
        );
    }
}

#[test]
fn times_add_up_if_the_recording_is_divided() {
    for name in NAMES {
        let all = summary(name, &[]);
        let duration = all["duration_ns"].as_u64().expect("a time");
        let limit = format!("{}ns", duration / 2);
        let parts = [
            summary(name, &["--to", &limit]),
            summary(name, &["--from", &limit]),
        ];
        let durations = parts.each_ref().map(|part| part["duration_ns"].as_u64());
        assert_eq!(
            durations.map(Option::unwrap_or_default).iter().sum::<u64>(),
            duration
        );
        let has_states = all["times_of_tasks"] == "events";
        for (table, key, member) in [
            ("tasks", "pid", "run_ns"),
            ("tasks", "pid", "wait_ns"),
            ("tasks", "pid", "block_ns"),
            ("tasks", "pid", "unknown_ns"),
            ("blocked", "function", "total_ns"),
            ("waited_behind", "pid", "total_ns"),
            ("functions", "name", "run_ns"),
            ("functions", "name", "wait_ns"),
            ("functions", "name", "block_ns"),
        ] {
            let mut found = sums(&parts[0], table, key, member);
            for (key, ns) in sums(&parts[1], table, key, member) {
                *found.entry(key).or_default() += ns;
            }
            let expected = sums(&all, table, key, member);
            if has_states && table != "functions" {
                assert_eq!(found, expected, "{name}: {table} {member}");
                continue;
            }
            // A call that is cut has the times of the kernel, its parts those of the events.
            for (key, ns) in &expected {
                let difference = found.get(key).unwrap_or(&0).abs_diff(*ns);
                assert!(
                    difference < 100_000,
                    "{name}: {table} {member} {key}: {difference}"
                );
            }
        }
        let path = recording("select-parts", name);
        let folded = output("flame", &path, &["--folded", "--from", &limit]);
        let ns = folded
            .lines()
            .filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok());
        assert_eq!(
            ns.sum::<u64>(),
            sum(&parts[1], "tasks", "total_ns"),
            "{name}"
        );
    }
}

#[test]
fn moments_outside_of_the_time_are_not_shown() {
    let text = |arguments: &[&str]| {
        let summary = summary("sections", arguments);
        let triggers = rows(&summary, "triggers").iter();
        let times: Vec<_> = triggers.filter_map(|row| row["time_ns"].as_u64()).collect();
        times.iter().map(|time| time / 1000).collect::<Vec<_>>()
    };
    assert_eq!(text(&[]), [3_611_079, 3_722_686]);
    assert_eq!(text(&["--from", "3.7"]), [3_722_686]);
    assert_eq!(text(&["--to", "3.7"]), [3_611_079]);
    let path = recording("select-page", "std-events");
    let out = temporary("select-page", "x.html");
    let out_name = out.to_str().expect("UTF-8");
    let done = ferrotrace(
        "html",
        &path,
        &["--from", "100ms", "--to", "0.5s", "-o", out_name],
    );
    assert!(done.status.success());
    let page = fs::read_to_string(&out).expect("a page");
    assert!(page.contains("<dt>Selection</dt><dd>--from 0.1s --to 0.5s</dd>"));
    assert!(page.contains("<dt>Duration</dt><dd>400 ms</dd>"));
}

#[test]
fn all_outputs_say_what_was_selected() {
    let path = recording("select-texts", "std-events");
    let text = output("summary", &path, &["-p", "120", "-n", "c*"]);
    assert!(text.contains("\nselection: -p 120 -n 'c*'\n"), "{text}");
    for (verb, name, what) in [
        (
            "html",
            "x.html",
            "<dt>Selection</dt><dd>-n &#39;c*&#39;</dd>",
        ),
        ("flame", "x.svg", "wall time of -n &apos;c*&apos;"),
    ] {
        let out = temporary("select-texts", name);
        let done = ferrotrace(
            verb,
            &path,
            &["-n", "c*", "-o", out.to_str().expect("UTF-8")],
        );
        assert!(done.status.success());
        let text = fs::read_to_string(&out).expect("a file");
        assert!(text.contains(what), "{text}");
    }
}

#[test]
fn a_selection_of_nothing_is_an_error() {
    let path = temporary("select", "error.dat");
    fs::write(&path, data("std-events.dat")).expect("a recording");
    for (arguments, status, message) in [
        (
            ["-n", "5"],
            1,
            "error.dat: the recording has no task with the name '5'",
        ),
        (
            ["-t", "99999"],
            1,
            "error.dat: the recording has no thread 99999",
        ),
        (
            ["--from", "1h"],
            1,
            "error.dat: --from and --to leave nothing (the recording has 0.912131 s, from 23.891382 on)",
        ),
        (["--to", "0s"], 1, "leave nothing"),
        (["--to", "x"], 2, "expected a time since the beginning"),
        (["-p", "x"], 2, "expected the number of a process or thread"),
        (["--limit", "x"], 2, "expected a number of lines"),
    ] {
        let output = ferrotrace("summary", &path, &arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{errors}");
        assert!(errors.contains(message), "{errors}");
    }
}
