// SPDX-License-Identifier: MIT OR Apache-2.0

//! The pages of `ferrotrace html`: well-formed, with the numbers of `summary --json`, and without
//! references to other files. `scripts/viewers-test.sh` opens them in a browser.

mod common;
mod html_page;

use std::{
    fs,
    path::Path, //
};

use common::{
    data,
    ferrotrace,
    output,
    recording,
    temporary, //
    NAMES,
};
use html_page::{
    Cell,
    Page, //
};
use serde_json::Value;

fn write_page(path: &Path, arguments: &[&str]) -> Page {
    let out = path.with_extension("html");
    let mut all = vec!["-o", out.to_str().expect("UTF-8")];
    all.extend(arguments);
    assert_eq!(output("html", path, &all), "");
    Page::parse(&fs::read_to_string(&out).expect("a page"))
}

fn summary(path: &Path) -> Value {
    serde_json::from_str(&output("summary", path, &["--json"])).expect("JSON")
}

/// Returns the exact numbers of a row: the cells without one are texts, percentages and charts.
fn numbers(row: &[Cell]) -> Vec<u64> {
    row.iter().filter_map(|cell| cell.value).collect()
}

fn members(row: &Value, names: &[&str]) -> Vec<u64> {
    let member = |name: &&str| {
        let pointer = format!("/{}", name.replace('.', "/"));
        row.pointer(&pointer).and_then(Value::as_u64).expect(name)
    };
    names.iter().map(member).collect()
}

/// Compares a table with all rows of the summary. `texts` returns the texts of the first cells.
fn compare(
    page: &Page,
    table: &str,
    rows: &Value,
    texts: impl Fn(&Value) -> Vec<String>,
    names: &[&str],
) {
    let rows = rows.as_array().expect("an array");
    let shown = &page.tables[table];
    assert!(rows.len() > 1 || table == "behind", "{table}");
    assert_eq!(shown.len(), rows.len(), "{table}");
    for (shown, row) in shown.iter().zip(rows) {
        for (cell, text) in shown.iter().zip(texts(row)) {
            assert_eq!(cell.text, text, "{table}: {row}");
        }
        let mut found = numbers(shown);
        if names.contains(&"count") {
            // The mean is not in the summary.
            let mean = found.remove(1);
            assert_eq!(mean, members(row, &["total_ns"])[0] / found[2], "{row}");
        }
        assert_eq!(found, members(row, names), "{table}: {row}");
    }
}

fn task_text(row: &Value) -> String {
    let (comm, pid) = (row["comm"].as_str().expect("a name"), &row["pid"]);
    match row.get("idle_cpu").and_then(Value::as_u64) {
        Some(cpu) => format!("idle task of CPU {cpu}"),
        None => format!("{comm}-{pid}"),
    }
}

#[test]
fn numbers_are_those_of_the_summary() {
    for name in NAMES {
        let path = recording("html", name);
        let page = write_page(&path, &["--limit", "0"]);
        let summary = summary(&path);
        let tasks = [
            "total_ns",
            "run_ns",
            "wait_ns",
            "block_ns",
            "unknown_ns",
            "calls",
            "in_calls.total_ns",
        ];
        let texts = |row: &Value| vec![task_text(row)];
        compare(&page, "tasks", &summary["tasks"], texts, &tasks);
        let functions = [
            "total_ns",
            "run_ns",
            "wait_ns",
            "block_ns",
            "self.total_ns",
            "max_ns",
            "calls",
            "unfinished",
        ];
        let texts = |row: &Value| vec![row["name"].as_str().expect("a name").to_owned()];
        compare(&page, "functions", &summary["functions"], texts, &functions);
        let intervals = ["total_ns", "max_ns", "count"];
        let texts = |row: &Value| {
            let waker = match row["waker_pid"].as_i64() {
                Some(pid) => format!("{}-{pid}", row["waker_comm"].as_str().expect("a name")),
                None => row["waker_context"].as_str().expect("a context").to_owned(),
            };
            let function = row["function"].as_str().unwrap_or("?");
            let state = row["state"].as_str().expect("a state");
            vec![function.to_owned(), state.to_owned(), waker]
        };
        compare(&page, "blocked", &summary["blocked"], texts, &intervals);
        let texts = |row: &Value| match row["pid"].as_u64() {
            Some(0) => vec![],
            _ => vec![task_text(row)],
        };
        compare(
            &page,
            "behind",
            &summary["waited_behind"],
            texts,
            &intervals,
        );
    }
}

#[test]
fn texts_are_the_numbers_in_ms() {
    let page = write_page(&recording("html", "std-events"), &[]);
    let mut compared = 0;
    for cell in page.tables.values().flatten().flatten() {
        let Some(value) = cell.value else { continue };
        if cell.text.contains('.') {
            let us = (value + 500) / 1000;
            assert_eq!(cell.text, format!("{}.{:03}", us / 1000, us % 1000));
            compared += 1;
        } else {
            assert_eq!(cell.text, value.to_string());
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn the_answer_is_the_largest_part() {
    for name in NAMES {
        let path = recording("html", name);
        let page = write_page(&path, &[]);
        let (share, rest) = page.title.split_once(" % of the time ").expect(&page.title);
        let share: f64 = share.parse().expect(&page.title);
        let summary = summary(&path);
        let named = |row: &&Value| rest.contains(&format!("of {} was spent ", task_text(row)));
        let task = summary["tasks"]
            .as_array()
            .expect("tasks")
            .iter()
            .find(named);
        let task = task.expect(&page.title);
        let parts = ["run_ns", "wait_ns", "block_ns", "unknown_ns"];
        let parts = members(task, &parts);
        let largest = *parts.iter().max().expect("parts") as f64;
        let percent = 100.0 * largest / parts.iter().sum::<u64>() as f64;
        assert!((share - percent).abs() <= 0.5, "{}: {task}", page.title);
    }
}

#[test]
fn durations_are_between_the_smallest_and_the_largest() {
    for name in NAMES {
        let path = recording("html", name);
        let page = write_page(&path, &[]);
        let functions = &summary(&path)["functions"];
        let rows = &page.tables["durations"];
        assert!(rows.len() > 10, "{name}");
        for (row, function) in rows.iter().zip(functions.as_array().expect("functions")) {
            assert_eq!(row[0].text, function["name"].as_str().expect("a name"));
            let [calls, p50, p90, p99, max] = numbers(row)[..] else {
                panic!("{name}: {} numbers", row.len());
            };
            assert_eq!([calls, max], members(function, &["calls", "max_ns"])[..]);
            assert!(p50 <= p90 && p90 <= p99 && p99 <= max, "{function}");
            // Half of the calls took at least p50. A quantile is exact to 1 %.
            let total = members(function, &["total_ns"])[0];
            assert!(calls / 2 * p50 / 100 * 99 <= total, "{function}");
        }
        // The lines of quantiles, and at least one bar for each function.
        assert!(page.elements["rect"] >= rows.len(), "{name}");
    }
}

#[test]
fn long_calls_are_not_longer_than_the_longest() {
    let path = recording("html", "std-events");
    let page = write_page(&path, &[]);
    let functions = &summary(&path)["functions"];
    let rows = &page.tables["longest"];
    assert_eq!(rows.len(), 40);
    let mut last = u64::MAX;
    for row in rows {
        let [_at, own, total, run, wait, block] = numbers(row)[..] else {
            panic!("{} numbers", row.len());
        };
        assert!(own <= last && own <= total);
        assert_eq!(total, run + wait + block);
        last = own;
        let named = |function: &&Value| {
            let name = function["name"].as_str().expect("a name");
            row[0].text.starts_with(name)
        };
        let longest = functions
            .as_array()
            .expect("functions")
            .iter()
            .filter(named);
        let longest = longest
            .map(|function| members(function, &["max_ns"])[0])
            .max();
        assert!(total <= longest.expect(&row[0].text), "{}", row[0].text);
    }
    let longest = &rows[0][0].text;
    assert_eq!(
        longest,
        "schedulefrom do_waitblocked in do_wait (S), woken by sh-130"
    );
}

#[test]
fn flame_graphs_have_the_time_of_all_tasks() {
    for name in NAMES {
        let path = recording("html", name);
        let page = write_page(&path, &[]);
        let summary = summary(&path);
        let tasks = summary["tasks"].as_array().expect("tasks");
        let sum = |part: &str| tasks.iter().map(|task| members(task, &[part])[0]).sum();
        let parts = ["total_ns", "run_ns", "wait_ns", "block_ns"];
        let sums: Vec<u64> = parts.iter().map(|part| sum(part)).collect();
        let found: Vec<u64> = page.frames.iter().map(|frame| frame.all_ns()).collect();
        assert_eq!(found, sums, "{name}");
    }
}

#[test]
fn nothing_is_loaded() {
    for name in NAMES {
        let page = write_page(&recording("html", name), &[]);
        assert!(
            page.policy.starts_with("default-src 'none';"),
            "{}",
            page.policy
        );
        for inner in page.frames.iter().chain([&page]) {
            assert!(inner.elements.values().sum::<usize>() > 10);
            for reference in &inner.references {
                assert!(reference.starts_with('#'), "{name}: {reference}");
            }
        }
        assert_eq!(page.references.len(), 8, "links to the sections");
    }
}

#[test]
fn sections_and_triggers_are_those_of_the_summary() {
    let path = recording("html-sections", "sections");
    let page = write_page(&path, &[]);
    let summary = summary(&path);
    let rows = summary["sections"].as_array().expect("sections");
    assert_eq!(page.tables["sections"].len(), rows.len());
    for (shown, row) in page.tables["sections"].iter().zip(rows) {
        assert_eq!(row["name"], shown[0].text.as_str());
        assert_eq!(row["comm"], shown[1].text.as_str());
        let [total, max, count] = members(row, &["total_ns", "max_ns", "count"])[..] else {
            panic!("{row}");
        };
        let part = |name: &str| row[name].as_u64().unwrap_or(0);
        let parts = ["run_ns", "wait_ns", "block_ns"].map(part);
        let [run, wait, block] = parts;
        let mean = total / count;
        assert_eq!(numbers(shown), [total, run, wait, block, mean, max, count]);
        let is_async = shown.iter().any(|cell| cell.text == "asynchronous");
        assert_eq!(is_async, row["kind"] == "async", "{row}");
    }
    let rows = summary["triggers"].as_array().expect("triggers");
    let shown: Vec<_> = page.tables["triggers"]
        .iter()
        .map(|row| {
            row.iter()
                .map(|cell| cell.text.as_str())
                .collect::<Vec<_>>()
        })
        .collect();
    let [first, second] = &shown[..] else {
        panic!("{shown:?}");
    };
    // The recording begins at 3603.766 ms.
    assert_eq!(
        first[..],
        [
            "7.313",
            "app-130",
            "counter queue if value > 2 do start",
            "3"
        ]
    );
    let rule = "section load if total > 50ms do start";
    assert_eq!(second[..], ["118.920", "app-130", rule, "110697600"]);
    assert_eq!(rows.len(), shown.len());
    // The page has a title, and so has a line for each of them in each of the charts over time.
    assert_eq!(page.elements["title"], 1 + 4 * 2);
    assert_eq!(page.references.len(), 10, "links to the sections");
    let limited = write_page(&path, &["--limit", "1"]);
    assert_eq!(limited.elements["title"], 1 + 4);
    for table in ["triggers", "sections"] {
        assert_eq!(limited.tables[table].len(), 1, "{table}");
    }
}

#[test]
fn chains_are_those_of_the_summary() {
    let path = recording("html-chains", "chains");
    let page = write_page(&path, &[]);
    let summary = summary(&path);
    let texts = |row: &Value| {
        let text = |name: &str| row[name].as_str().expect(name).to_owned();
        vec![text("comm"), text("chain")]
    };
    let rows = &summary["chains"];
    assert_eq!(rows.as_array().map(Vec::len), Some(3));
    let intervals = ["total_ns", "max_ns", "count"];
    compare(&page, "chains", rows, texts, &intervals);
    assert_eq!(page.references.len(), 9, "links to the sections");
    let limited = write_page(&path, &["--limit", "1"]);
    assert_eq!(limited.tables["chains"].len(), 1);
    let text = fs::read_to_string(path.with_extension("html")).expect("a page");
    assert!(text.contains("2 more chains: "));
}

#[test]
fn names_of_wakers_are_escaped() {
    let mut content = data("chains.dat");
    replace(&mut content, "chain-b", "<b>&\"\\x");
    let path = temporary("html", "waker-names.dat");
    fs::write(&path, content).expect("a recording");
    let page = write_page(&path, &[]);
    let usual = write_page(&recording("html", "chains"), &[]);
    assert_eq!(page.elements, usual.elements);
    let cells = page.tables["chains"].iter().flatten();
    let begins = |cell: &&Cell| cell.text.starts_with("<b>&\"\\\\x (poll_");
    assert_eq!(cells.filter(begins).count(), 1);
}

/// Replaces all occurrences of a text by one of equal length.
fn replace(content: &mut [u8], from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let mut replaced = 0;
    let mut at = 0;
    while let Some(found) = content[at..]
        .windows(from.len())
        .position(|w| w == from.as_bytes())
    {
        at += found;
        content[at..at + to.len()].copy_from_slice(to.as_bytes());
        replaced += 1;
    }
    assert!(replaced > 0, "{from}");
}

#[test]
fn names_are_escaped() {
    let mut content = data("std-events.dat");
    let task = "<script>&\"'";
    replace(&mut content, "rcu_preempt", task);
    replace(&mut content, "sleep", "<b/>&");
    replace(&mut content, "do_wait", "</p><i>");
    let path = temporary("html", "names.dat");
    fs::write(&path, content).expect("a recording");
    let page = write_page(&path, &["--limit", "0"]);
    let usual = write_page(&recording("html", "std-events"), &["--limit", "0"]);
    // No name adds an element, but all are shown.
    assert_eq!(page.elements, usual.elements);
    for (frame, usual) in page.frames.iter().zip(&usual.frames) {
        let count = |page: &Page, name: &str| page.elements.get(name).copied();
        for name in ["script", "b", "i", "p"] {
            assert_eq!(count(frame, name), count(usual, name), "{name}");
        }
        assert_eq!(count(frame, "script"), count(usual, "script"));
    }
    let shown = |table: &str, text: &str| {
        let cells = page.tables[table].iter().flatten();
        cells.filter(|cell| cell.text.contains(text)).count()
    };
    assert_eq!(shown("behind", "<script>&\"'-15"), 1);
    assert!(shown("tasks", "<b/>&-132") == 1);
    assert_eq!(shown("functions", "</p><i>"), 1);
    assert!(shown("blocked", "</p><i>") > 3);
    assert!(shown("longest", "</p><i>") > 3);
    assert!(page.title.contains(task), "{}", page.title);
}

#[test]
fn names_of_sections_are_escaped() {
    let mut content = data("sections.dat");
    replace(&mut content, "outer one", "<b>&x\n\x1b\\y");
    replace(&mut content, "queue if ", "<script>\"");
    let path = temporary("html", "section-names.dat");
    fs::write(&path, content).expect("a recording");
    let page = write_page(&path, &[]);
    let usual = write_page(&recording("html", "sections"), &[]);
    assert_eq!(page.elements, usual.elements);
    let has = |table: &str, text: &str| {
        let cells = page.tables[table].iter().flatten();
        cells.filter(|cell| cell.text.contains(text)).count()
    };
    assert_eq!(has("sections", "<b>&x\\n\\u{1b}\\\\y"), 1);
    assert_eq!(has("triggers", "<script>\""), 1);
}

#[test]
fn tables_are_limited() {
    let path = recording("html", "std-events");
    let page = write_page(&path, &["--limit", "3"]);
    for table in ["tasks", "blocked", "behind"] {
        assert_eq!(page.tables[table].len(), 3, "{table}");
    }
    let text = fs::read_to_string(path.with_extension("html")).expect("a page");
    assert!(text.contains("26 more tasks: "));
    // The functions with the largest numbers in any column, so sorting shows the right ones.
    let shown = page.tables["functions"].iter().map(|row| numbers(row)[6]);
    let functions = &summary(&path)["functions"];
    let calls = functions.as_array().expect("functions").iter();
    let most = calls.map(|row| members(row, &["calls"])[0]).max();
    assert_eq!(shown.max(), most);
    assert!(page.tables["functions"].len() < 17);
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let path = recording("html", "std-events");
    let output = ferrotrace("html", &path, &["-o", "/does/not/exist.html"]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("/does/not/exist.html: No such file"),
        "{errors}"
    );
}
