// SPDX-License-Identifier: MIT OR Apache-2.0

//! Screens that are made from recordings, as if their events occurred now. The numbers are those of
//! `ferrotrace summary --json`.

use std::{
    collections::HashMap,
    fs::File,
    io::Read,
    ops::ControlFlow,
    path::{
        Path,
        PathBuf, //
    },
    time::Duration,
};

use flate2::read::GzDecoder;
use ratatui::{
    backend::TestBackend,
    crossterm::event::{
        KeyCode,
        KeyEvent,
        KeyModifiers, //
    },
    Terminal, //
};
use serde_json::Value;

use super::{
    data::{
        profile::Function,
        Data, //
    },
    input::{
        Action,
        Ui, //
    },
    once,
    screen::{
        Screen,
        Status,
        Theme, //
    },
};
use crate::{
    model::{
        Model,
        Split,
        State,
        TaskId, //
    },
    recording::{
        state_name,
        Comm,
        Recording,
        TaskName, //
    },
    summary,
};

/// The view of a recording.
struct Replay {
    data: Data,
    names: Vec<String>,
    /// What `summary --json` prints.
    summary: Value,
    /// The sums of the times of each thread in all intervals.
    sums: HashMap<i32, Split>,
}

/// Unpacks a recording of `tests/data/`, for the test `test`.
fn recording(test: &str, name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/{name}.dat.gz"));
    let mut content = Vec::new();
    let file = File::open(path).expect(name);
    GzDecoder::new(file).read_to_end(&mut content).expect(name);
    let out = std::env::temp_dir().join(format!("ferrotrace-{}-{test}.dat", std::process::id()));
    std::fs::write(&out, content).expect("a recording");
    out
}

/// Passes the events of a recording to a view with intervals of `interval` ns.
fn replay(test: &str, name: &str, interval: u64) -> Replay {
    let path = recording(test, name);
    let mut json = Vec::new();
    summary::write_json(&path, &mut json).expect("a summary");
    let recording = Recording::open(&path).expect("a recording");
    let mut data = Data::default();
    let mut model = Model::default();
    let mut symbols = recording.symbols();
    let mut end = None;
    let mut sums: HashMap<i32, Split> = HashMap::new();
    let mut add = |data: &Data| {
        for (id, thread) in data.rows() {
            *sums.entry(id.pid()).or_default() += thread.last.split;
        }
    };
    let read = recording.for_each(&mut symbols, |event, symbols| {
        let end = end.get_or_insert_with(|| {
            data.begin(event.time);
            event.time.saturating_add(interval)
        });
        while event.time > *end {
            data.advance(*end);
            data.end_interval();
            add(&data);
            *end += interval;
        }
        model.event(event, symbols, &mut data);
        ControlFlow::Continue(())
    });
    read.expect("a recording");
    data.advance(model.span().1);
    data.end_interval();
    add(&data);
    std::fs::remove_file(path).expect("a file");
    Replay {
        data,
        names: symbols.names().to_vec(),
        summary: serde_json::from_slice(&json).expect("JSON"),
        sums,
    }
}

/// Draws a screen. Returns its lines.
fn draw(screen: &Screen<'_>, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal
        .draw(|frame| frame.render_widget(screen, frame.area()))
        .expect("a frame");
    let cells = terminal.backend().buffer().content();
    cells
        .chunks(usize::from(width))
        .map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>())
        .collect()
}

fn status() -> Status {
    Status {
        selection: "pid 42".into(),
        interval: Duration::from_secs(1),
        lost: 3,
        cost_ns: 0,
        functions: None,
    }
}

/// Draws the screen of a replay.
fn screen(replay: &Replay, ui: &Ui, size: (u16, u16)) -> Vec<String> {
    let status = status();
    let screen = Screen {
        data: ui.shown(&replay.data),
        status: &status,
        ui,
        names: &replay.names,
        theme: Theme::colours(),
    };
    draw(&screen, size.0, size.1)
}

fn key(ui: &mut Ui, data: &mut Data, code: KeyCode) -> Action {
    ui.key(KeyEvent::new(code, KeyModifiers::NONE), data)
}

/// Returns the words of the line that contains a text.
fn words<'a>(lines: &'a [String], text: &str) -> Vec<&'a str> {
    let line = lines.iter().find(|line| line.contains(text));
    line.unwrap_or_else(|| panic!("no '{text}' in {lines:#?}"))
        .split_whitespace()
        .collect()
}

fn percent(part: u64, sum: u64) -> String {
    let per_mille = part * 1000 / sum;
    format!("{}.{}", per_mille / 10, per_mille % 10)
}

fn number(row: &Value, name: &str) -> u64 {
    row[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name} of {row}"))
}

#[test]
fn times_of_threads_are_those_of_the_summary() {
    for name in ["std-events", "compact-events"] {
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
    let mut compared = 0;
    for task in parts.summary["tasks"].as_array().expect("tasks") {
        let pid = i32::try_from(number(task, "pid")).expect("a pid");
        // A state can become unknown after it was shown.
        if number(task, "unknown_ns") != 0 || number(task, "run_ns") == 0 {
            continue;
        }
        let (sum, run) = (parts.sums[&pid].run, number(task, "run_ns"));
        assert!(sum.abs_diff(run) < 50_000, "{sum}: {task}");
        compared += 1;
    }
    assert!(compared > 20, "{compared} tasks");
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

#[test]
fn waveform_shows_shares() {
    let mut data = Data::default();
    data.begin(0);
    let name = |pid| TaskName {
        pid,
        comm: Comm::new(b"half"),
    };
    data.add(name(1), State::Run { cpu: 0 });
    data.add(name(2), State::Block { state: 1 });
    data.advance(1_000_000_000);
    data.end_interval();
    let replay = Replay {
        data,
        names: Vec::new(),
        summary: Value::Null,
        sums: HashMap::new(),
    };
    let lines = screen(&replay, &Ui::default(), (80, 24));
    let column: Vec<_> = lines[3..7]
        .iter()
        .filter_map(|line| line.chars().last())
        .collect();
    assert_eq!(column, ['·', '·', '█', '█'], "{lines:#?}");
    assert_eq!(words(&lines, " run ")[2..4], ["50.0", "%"]);
    assert!(
        lines[0].contains("pid 42  1 s  00:01  lost 3  own cost 0.0 %"),
        "{}",
        lines[0]
    );
    assert_eq!(
        words(&lines, "> ")[1..6],
        ["1", "half", "100.0", "0.0", "0.0"]
    );
    assert_eq!(
        words(&lines, "   2 half")[1..5],
        ["half", "0.0", "0.0", "100.0"]
    );
}

#[test]
fn sizes() {
    let mut replay = replay("sizes", "std-events", 100_000_000);
    for (width, height) in [
        (80, 24),
        (60, 16),
        (119, 30),
        (120, 30),
        (200, 60),
        (500, 10),
    ] {
        let lines = screen(&replay, &Ui::default(), (width, height));
        if height < 16 {
            assert!(
                lines[0].contains("too small: at least 60 x 16"),
                "{}",
                lines[0]
            );
            continue;
        }
        for text in [
            "lost 3",
            "% ",
            " <- ",
            "last 60 intervals",
            "scope",
            "TID COMM",
            "p50",
            "q quit",
        ] {
            assert!(
                lines.iter().any(|line| line.contains(text)),
                "{width}: {text} {lines:#?}"
            );
        }
    }
    let mut ui = Ui::default();
    assert_eq!(
        key(&mut ui, &mut replay.data, KeyCode::Char('?')),
        Action::None
    );
    let lines = screen(&replay, &ui, (80, 24));
    assert!(
        lines.iter().any(|line| line.contains("hold the screen")),
        "{lines:#?}"
    );
}

#[test]
fn nothing_is_shown_without_threads() {
    let mut data = Data::default();
    data.begin(5);
    data.advance(5);
    data.end_interval();
    let status = Status {
        functions: Some(vec![Function {
            name: "vfs_read".into(),
            calls: 7,
            split: Split {
                run: 250,
                wait: 250,
                block: 500,
            },
            p99: 600,
            max: 900,
        }]),
        ..status()
    };
    let ui = Ui::printed();
    let screen = Screen {
        data: &data,
        status: &status,
        ui: &ui,
        names: &[],
        theme: Theme::plain(),
    };
    let text = once::text(&screen, 80, 24);
    assert!(
        text.contains("0 threads") && text.contains("scope: no thread"),
        "{text}"
    );
    let lines: Vec<_> = text.lines().map(String::from).collect();
    let row = [
        "7", "1.00", "us", "25.0", "25.0", "50.0", "600", "ns", "900", "ns", "vfs_read",
    ];
    assert_eq!(words(&lines, "vfs_read"), row);
    assert!(!text.contains("q quit") && !text.contains(" \n"), "{text}");
}

#[test]
fn thousand_threads() {
    let mut data = Data::default();
    data.begin(0);
    for pid in 1..=1000 {
        let comm = Comm::new(b"many");
        data.add(TaskName { pid, comm }, State::Block { state: 1 });
    }
    let mut ui = Ui::default();
    data.advance(1_000_000);
    data.end_interval();
    for _ in 0..500 {
        key(&mut ui, &mut data, KeyCode::Down);
    }
    let replay = Replay {
        data,
        names: Vec::new(),
        summary: Value::Null,
        sums: HashMap::new(),
    };
    let lines = screen(&replay, &ui, (80, 24));
    assert!(lines[1].contains("1000 threads"), "{}", lines[1]);
    assert_eq!(words(&lines, "> ")[1], "501", "{lines:#?}");
    let rows = lines.iter().filter(|line| line.contains("many  ")).count();
    assert!(rows > 2, "{lines:#?}");
}

#[test]
fn keys() {
    let mut replay = replay("keys", "std-events", 100_000_000);
    let data = &mut replay.data;
    let mut ui = Ui::default();
    let first = data.scope.thread.expect("a thread");
    key(&mut ui, data, KeyCode::Down);
    assert_eq!(data.scope.thread, Some(data.rows()[1].0));
    key(&mut ui, data, KeyCode::Up);
    key(&mut ui, data, KeyCode::Up);
    assert_eq!(data.scope.thread, Some(first));
    // Trigger: a wrong one stays in the prompt, with a message.
    key(&mut ui, data, KeyCode::Char('t'));
    for c in "block 2".chars() {
        key(&mut ui, data, KeyCode::Char(c));
    }
    key(&mut ui, data, KeyCode::Enter);
    assert!(ui
        .message
        .as_ref()
        .is_some_and(|text| text.contains("invalid trigger 'block 2'")));
    key(&mut ui, data, KeyCode::Char('m'));
    key(&mut ui, data, KeyCode::Char('s'));
    key(&mut ui, data, KeyCode::Enter);
    assert_eq!((&ui.prompt, &ui.message), (&None, &None));
    let trigger = data.scope.trigger().map(ToString::to_string);
    assert_eq!(trigger.as_deref(), Some("block > 2ms"));
    // A held screen does not change with new events.
    key(&mut ui, data, KeyCode::Char(' '));
    let now = data.now;
    data.advance(now + 1_000_000_000);
    assert_eq!((ui.held(), ui.shown(data).now), (true, now));
    key(&mut ui, data, KeyCode::Char(' '));
    assert_eq!(
        (ui.held(), ui.shown(data).now),
        (false, now + 1_000_000_000)
    );
    key(&mut ui, data, KeyCode::Enter);
    assert!(ui.alone);
    key(&mut ui, data, KeyCode::Esc);
    assert!(!ui.alone);
    assert_eq!(key(&mut ui, data, KeyCode::Char('z')), Action::Clear);
    assert_eq!(key(&mut ui, data, KeyCode::Char('q')), Action::Quit);
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(ui.key(control_c, data), Action::Quit);
}

#[test]
fn scope_shows_states_with_reasons() {
    let mut replay = replay("scope", "std-events", u64::MAX);
    let data = &mut replay.data;
    // The whole recording: 10 divisions of 1 s.
    data.scope.change_base(100);
    let lines = screen(&replay, &Ui::default(), (120, 30));
    let title = lines
        .iter()
        .position(|line| line.contains("scope"))
        .expect("a scope");
    let id = replay.data.scope.thread.expect("a thread");
    let name = replay.data.thread(id).expect("a thread").name.to_string();
    assert!(lines[title].contains(&name) && lines[title].contains("1.00 s a division"));
    let traces = &lines[title + 1..title + 4];
    for (trace, part) in traces.iter().zip(["run", "wait", "block"]) {
        assert!(trace.trim_start().starts_with(part), "{traces:#?}");
        assert!(
            trace.contains(['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']),
            "{traces:#?}"
        );
    }
}
