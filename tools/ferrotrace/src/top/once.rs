// SPDX-License-Identifier: MIT OR Apache-2.0

//! `ferrotrace top --once`: prints one screen.

use std::{
    env,
    io::{
        stdout,
        Write, //
    },
    sync::mpsc::{
        Receiver,
        RecvTimeoutError, //
    },
    time::Instant, //
};

use anyhow::bail;
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    widgets::Widget, //
};
use rustix::termios::tcgetwinsize;

use super::{
    args::Args,
    data::Data,
    input::Ui,
    live::{
        Live,
        ROUND, //
    },
    screen::{
        Screen,
        Status,
        Theme, //
    },
    terminal::cpu_time,
};
use crate::{
    output,
    signals, //
};

/// The size of the screen without a terminal.
const SIZE: (u16, u16) = (80, 40);

/// Prints one screen after one interval. Returns the exit status of the program.
pub fn run(mut live: Live<'_>, args: &Args, signals: &Receiver<i32>) -> anyhow::Result<u8> {
    let mut data = Data::default();
    live.begin(&mut data, args)?;
    let start = Instant::now();
    let cost = cpu_time();
    loop {
        let left = args.delay.saturating_sub(start.elapsed());
        if left.is_zero() {
            break;
        }
        match signals.recv_timeout(left.min(ROUND)) {
            Ok(signal) => return Ok(signals::exit_code(signal)),
            Err(RecvTimeoutError::Timeout) => live.round(&mut data)?,
            Err(RecvTimeoutError::Disconnected) => bail!("a thread has failed"),
        }
    }
    live.stop(&mut data)?;
    data.end_interval();
    let status = Status {
        selection: args.selection(),
        interval: args.delay,
        lost: live.lost()?,
        cost_ns: cpu_time() - cost,
        functions: live.functions()?,
    };
    let ui = Ui::printed();
    let screen = Screen {
        data: &data,
        status: &status,
        ui: &ui,
        names: live.names(),
        theme: Theme::plain(),
    };
    let (width, height) = size();
    let written = stdout()
        .lock()
        .write_all(text(&screen, width, height).as_bytes());
    output::ended(written)?;
    Ok(0)
}

/// Returns the screen as text, without spaces at the ends of lines.
pub fn text(screen: &Screen<'_>, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    screen.render(area, &mut buffer);
    let mut text = String::new();
    for y in area.rows() {
        let line: String = y
            .columns()
            .filter_map(|cell| buffer.cell(cell.as_position()))
            .map(|cell| cell.symbol())
            .collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    format!("{}\n", text.trim_end())
}

/// Returns the width and the height of the terminal, or those of the environment.
fn size() -> (u16, u16) {
    if let Ok(size) = tcgetwinsize(stdout()) {
        if size.ws_col != 0 && size.ws_row != 0 {
            return (size.ws_col, size.ws_row);
        }
    }
    let number = |name| env::var(name).ok()?.parse().ok();
    (
        number("COLUMNS").unwrap_or(SIZE.0),
        number("LINES").unwrap_or(SIZE.1),
    )
}
