// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers of the live view are those of `ferrotrace summary --json`.

use serde_json::Value;

use super::{
    replay,
    screen,
    words, //
};
use crate::{
    model::TaskId,
    recording::state_name,
    top::input::Ui, //
};

fn percent(part: u64, sum: u64) -> String {
    let per_mille = (part * 1000 + sum / 2) / sum;
    format!("{}.{}", per_mille / 10, per_mille % 10)
}

fn number(row: &Value, name: &str) -> u64 {
    row[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name} of {row}"))
}

#[test]
fn times_of_threads_are_those_of_the_summary() {
    for name in ["std-events", "compact-events", "arm64-events"] {
        let replay = replay("threads", name, u64::MAX);
        let mut lines = screen(&replay, &Ui::default(), (140, 200));
        lines.retain(|line| !line.contains("scope"));
        let mut compared = 0;
        for task in replay.summary["tasks"].as_array().expect("tasks") {
            let pid = i32::try_from(number(task, "pid")).expect("a pid");
            if number(task, "total_ns") == 0 || pid == 0 {
                continue;
            }
            let thread = replay.data.thread(TaskId::new(pid, 0));
            let split = thread.unwrap_or_else(|| panic!("{task}")).last.split;
            let times = ["run_ns", "wait_ns", "block_ns"].map(|part| number(task, part));
            assert_eq!(
                [split.run, split.wait, split.block],
                times,
                "{name}: {task}"
            );
            // The numbers on the screen.
            let text = format!("{pid:>8} {:<15} ", task["comm"].as_str().expect("a name"));
            let words = words(&lines, &text);
            let shown = times.map(|part| percent(part, split.wall()));
            let at = words
                .iter()
                .position(|word| *word == shown[0])
                .expect("run%");
            assert_eq!(words[at..at + 3], shown, "{words:?}");
            compared += 1;
        }
        assert!(compared > 20, "{name}: {compared} tasks");
    }
}

#[test]
fn places_are_those_of_the_summary() {
    let replay = replay("places", "std-events", u64::MAX);
    let places = replay.data.places.sorted();
    let blocked = replay.summary["blocked"].as_array().expect("blocked");
    assert!(places.len() > 5);
    assert_eq!(places.len(), blocked.len());
    for ((place, times), row) in places.iter().zip(blocked) {
        assert_eq!(state_name(place.state), row["state"], "{row}");
        let function = place.caller.map(|func| replay.names[func.index()].as_str());
        assert_eq!(function, row["function"].as_str());
        let sums = ["count", "total_ns", "max_ns"].map(|member| number(row, member));
        assert_eq!(
            [times.sum.count, times.sum.total, times.sum.max],
            sums,
            "{row}"
        );
        assert!(times.quantile(0.5) <= times.quantile(0.99));
    }
    let lines = screen(&replay, &Ui::default(), (100, 100));
    let first = &blocked[0];
    let text = format!("  {} <- ", first["function"].as_str().expect("a function"));
    let title = lines
        .iter()
        .position(|line| line.contains(" p50 "))
        .expect("a title");
    let row = &lines[title + 1];
    assert!(row.contains(&text), "{row}");
    assert!(
        row.trim_start().starts_with(&first["count"].to_string()),
        "{row}"
    );
}

#[test]
fn intervals_add_up() {
    let parts = replay("parts", "std-events", 10_000_000);
    assert!(
        parts.data.columns.len() > 20,
        "{}",
        parts.data.columns.len()
    );
    let (mut compared, mut late) = (0, 0);
    for task in parts.summary["tasks"].as_array().expect("tasks") {
        let pid = i32::try_from(number(task, "pid")).expect("a pid");
        // A state can become unknown after it was shown.
        if number(task, "unknown_ns") != 0 || number(task, "run_ns") == 0 {
            continue;
        }
        let (sum, run) = (parts.sums[&pid].run, number(task, "run_ns"));
        // The kernel wrote some records up to 12 ms late; until then, the states before were shown.
        assert!(sum.abs_diff(run) < 13_000_000, "{sum}: {task}");
        compared += usize::from(sum.abs_diff(run) < 50_000);
        late += usize::from(sum.abs_diff(run) >= 50_000);
    }
    assert!(compared > 20 && late <= 3, "{compared} tasks, {late} late");
    // A thread has no more time than an interval is long.
    for (_, thread) in parts.data.rows() {
        assert!(
            thread
                .columns
                .iter()
                .all(|split| split.wall() <= 10_050_000),
            "{thread:?}"
        );
    }
}
