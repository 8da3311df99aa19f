// SPDX-License-Identifier: MIT OR Apache-2.0

//! Chains of wakeups have the numbers that trace-cmd prints.
//!
//! In the recording, two chains of four parts end: chain-a <- chain-b <- chain-c <- sleep <-
//! hardirq. The waits of chain-b and of chain-c have chains as well, which are shorter.

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
        "waker_context": word(line, "waker_context"), "waker_irq": "",
        "known": word(line, "known") == "1",
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
    assert_eq!(reported(&path, &["task_chain"]), printed());
}

#[test]
fn the_report_has_them_as_comments() {
    let report = output("report", &recording("chains-report", "chains"), &[]);
    let text = "/* task_chain: comm=chain-a pid=139 block=343321139 [ns] hop=3 waker_comm=sleep \
                waker_pid=142 waker_context=task waker_block=303232108 [ns] state=S caller=";
    let found = report.lines().filter(|line| line.contains(text)).count();
    assert_eq!(found, 1, "{report}");
}

/// Returns the chains that trace-cmd prints: the task with its blocked time, and the wakers.
fn chains() -> Vec<(String, u64, Vec<Value>)> {
    let mut chains: Vec<(String, u64, Vec<Value>)> = Vec::new();
    for event in printed() {
        if event["hop"] == 1 {
            let comm = event["task"]["comm"].as_str().expect("a name").to_owned();
            chains.push((comm, event["block_ns"].as_u64().expect("a time"), vec![]));
        }
        let (_, block_ns, wakers) = chains.last_mut().expect("a chain begins with hop 1");
        // In this recording, no other CPU wrote a part in between.
        assert_eq!(
            (&event["block_ns"], &event["hop"]),
            (&json!(block_ns), &json!(wakers.len() + 1))
        );
        let is_task = event["waker_context"] == "task";
        wakers.push(json!({
            "waker_comm": is_task.then_some(&event["waker"]["comm"]),
            "waker_context": event["waker_context"],
            "blocked": event["waker_block_ns"] != 0,
            "function": event["caller"],
        }));
    }
    assert_eq!(chains.len(), 6);
    chains
}

/// Returns the rows of the summary, by the name of the task.
fn sums() -> Vec<Value> {
    let mut sums: BTreeMap<String, (Vec<u64>, Vec<Value>)> = BTreeMap::new();
    for (comm, ns, wakers) in chains() {
        let (times, first) = sums.entry(comm).or_insert_with(|| (vec![], wakers.clone()));
        assert_eq!(*first, wakers);
        times.push(ns);
    }
    let text = |waker: &Value| match (&waker["waker_comm"], &waker["function"]) {
        (Value::String(comm), Value::String(function)) => format!("{comm} ({function})"),
        _ => waker["waker_context"]
            .as_str()
            .expect("a context")
            .to_owned(),
    };
    let row = |(comm, (times, wakers)): (String, (Vec<u64>, Vec<Value>))| {
        let chain: Vec<_> = wakers.iter().map(text).collect();
        json!({
            "comm": comm, "chain": chain.join(" <- "), "wakers": wakers, "count": times.len(),
            "total_ns": times.iter().sum::<u64>(), "max_ns": times.iter().max(),
        })
    };
    let mut rows: Vec<_> = sums.into_iter().map(row).collect();
    rows.sort_by_key(|row| Reverse(row["total_ns"].as_u64()));
    assert_eq!(rows.len(), 3);
    rows
}

#[test]
fn the_summary_adds_chains_up() {
    let path = recording("chains-summary", "chains");
    let summary = output("summary", &path, &["--json"]);
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    assert_eq!(summary["chains"], Value::from(sums()));
    assert_eq!(sums()[0]["total_ns"], 243_467_460_u64 + 343_321_139);
}

#[test]
fn the_text_of_the_summary_has_chains() {
    let path = recording("chains-text", "chains");
    let text = output("summary", &path, &["--limit", "2"]);
    let lines: Vec<_> = text.lines().map(str::trim_start).collect();
    for line in [
        "BLOCKED/ms       max/ms     count  TASK: CHAIN",
        "586.789      343.321         2  chain-a: chain-b (poll_schedule_timeout.constprop.0) <- \
         chain-c (do_wait) <- sleep (hrtimer_nanosleep) <- hardirq",
        "568.063      325.477         2  chain-b: chain-c (do_wait) <- sleep (hrtimer_nanosleep) \
         <- hardirq",
        "1 more chains (--limit 0 shows all)",
    ] {
        assert!(lines.contains(&line), "{line}\n{text}");
    }
    let all = output("summary", &path, &["--limit", "0"]);
    let last = "532.619      317.959         2  chain-c: sleep (hrtimer_nanosleep) <- hardirq";
    assert!(all.contains(last) && !text.contains(last), "{all}");
    let other = output("summary", &recording("no-chains", "std-events"), &[]);
    assert!(!other.contains("CHAIN"));
}
