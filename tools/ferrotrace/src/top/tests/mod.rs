// SPDX-License-Identifier: MIT OR Apache-2.0

//! Screens that are made from recordings, as if their events occurred now. The numbers are those of
//! `ferrotrace summary --json`.

mod numbers;
mod screens;

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
    Terminal, //
};
use serde_json::Value;

use super::{
    data::Data,
    input::Ui,
    screen::{
        Screen,
        Status,
        Theme, //
    },
};
use crate::{
    model::{
        Model,
        Split, //
    },
    recording::Recording,
    summary,
};

/// The view of a recording.
struct Replay {
    data: Data,
    names: Vec<String>,
    /// The output of `summary --json`.
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

/// Returns the words of the line that contains a text.
fn words<'a>(lines: &'a [String], text: &str) -> Vec<&'a str> {
    let line = lines.iter().find(|line| line.contains(text));
    line.unwrap_or_else(|| panic!("no '{text}' in {lines:#?}"))
        .split_whitespace()
        .collect()
}
