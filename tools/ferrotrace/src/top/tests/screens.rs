// SPDX-License-Identifier: MIT OR Apache-2.0

//! Screens of all sizes, and keys.

use ratatui::crossterm::event::{
    KeyCode,
    KeyEvent,
    KeyModifiers, //
};

use super::{
    replay,
    screen,
    status,
    words,
    Replay, //
};
use crate::{
    model::{
        Split,
        State, //
    },
    recording::{
        Comm,
        TaskName, //
    },
    top::{
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
    },
};

fn key(ui: &mut Ui, data: &mut Data, code: KeyCode) -> Action {
    ui.key(KeyEvent::new(code, KeyModifiers::NONE), data)
}

/// Returns the view of data that no recording has caused.
fn view(data: Data) -> Replay {
    Replay {
        data,
        names: Vec::new(),
        summary: serde_json::Value::Null,
        sums: std::collections::HashMap::new(),
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
    let replay = view(data);
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
    let replay = view(data);
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
