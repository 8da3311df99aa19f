// SPDX-License-Identifier: MIT OR Apache-2.0

//! The live view in a terminal.

use std::{
    env,
    io,
    mem,
    sync::mpsc::{
        channel,
        Receiver,
        RecvTimeoutError, //
    },
    thread,
    time::{
        Duration,
        Instant, //
    }, //
};

use anyhow::bail;
use ratatui::{
    crossterm::event::{
        self,
        Event,
        KeyEventKind, //
    },
    DefaultTerminal, //
};
use rustix::time::{
    clock_gettime,
    ClockId, //
};
use signal_hook::consts::SIGINT;

use super::{
    args::Args,
    data::Data,
    input::{
        Action,
        Ui, //
    },
    live::{
        Live,
        ROUND, //
    },
    screen::{
        Screen,
        Status,
        Theme, //
    },
};
use crate::signals;

/// Restores the terminal when it is dropped. ratatui does so if the program panics.
struct Restore;

impl Drop for Restore {
    fn drop(&mut self) {
        // A terminal that has gone cannot be restored, and takes no message.
        let _ = ratatui::try_restore();
    }
}

/// Receives keys and changes of the size, in a thread of its own: if the terminal hangs up, the
/// library may not return.
fn receive_events() -> io::Result<Receiver<io::Result<Event>>> {
    let (sender, events) = channel();
    thread::Builder::new()
        .name("keys".into())
        .spawn(move || loop {
            let event = event::read();
            let is_over = event.is_err();
            if sender.send(event).is_err() || is_over {
                break;
            }
        })?;
    Ok(events)
}

/// The live view.
struct View<'a> {
    live: Live<'a>,
    data: Data,
    status: Status,
    ui: Ui,
    theme: Theme,
    /// The CPU time of this program at the end of the last interval, in ns.
    cost: u64,
}

/// Shows the live view until the user or a signal ends it. Returns the exit status of the program.
pub fn run(mut live: Live<'_>, args: &Args, signals: &Receiver<i32>) -> anyhow::Result<u8> {
    let mut data = Data::default();
    live.begin(&mut data, args)?;
    let no_color = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let mut view = View {
        status: Status {
            selection: args.selection(),
            interval: args.delay,
            functions: live.functions()?,
            ..Status::default()
        },
        live,
        data,
        ui: Ui::default(),
        theme: match no_color {
            true => Theme::plain(),
            false => Theme::colours(),
        },
        cost: cpu_time(),
    };
    let mut terminal = ratatui::try_init()?;
    let _restore = Restore;
    let result = view.show(&mut terminal, args.delay, signals, &receive_events()?);
    // To drop it would report the same error, and panic if there is no terminal for the report.
    if terminal.show_cursor().is_err() {
        mem::forget(terminal);
    }
    // A terminal that has gone causes errors as well as SIGHUP.
    match (result, signals.try_recv()) {
        (_, Ok(signal)) | (Ok(Some(signal)), _) if signal != SIGINT => {
            Ok(signals::exit_code(signal))
        }
        (Err(error), Err(_)) => Err(error),
        _ => Ok(0),
    }
}

impl View<'_> {
    /// Returns the signal that ended the view; `None` if the user did.
    fn show(
        &mut self,
        terminal: &mut DefaultTerminal,
        delay: Duration,
        signals: &Receiver<i32>,
        events: &Receiver<io::Result<Event>>,
    ) -> anyhow::Result<Option<i32>> {
        let mut round = Instant::now();
        let mut interval = round + delay;
        self.draw(terminal)?;
        loop {
            let event = events.recv_timeout(round.saturating_duration_since(Instant::now()));
            if matches!(event, Err(RecvTimeoutError::Disconnected)) {
                bail!("the terminal cannot be read");
            }
            if let Ok(event) = event {
                match event? {
                    Event::Key(key) if key.kind != KeyEventKind::Release => {
                        match self.ui.key(key, &mut self.data) {
                            Action::Quit => return Ok(None),
                            Action::Clear => {
                                self.data.clear();
                                self.live.clear()?;
                            }
                            Action::None => {}
                        }
                        self.draw(terminal)?;
                    }
                    Event::Resize(..) => self.draw(terminal)?,
                    _ => {}
                }
            }
            if let Ok(signal) = signals.try_recv() {
                return Ok(Some(signal));
            }
            let now = Instant::now();
            if now < round {
                continue;
            }
            round = now + ROUND.min(delay);
            let captures = self.data.scope.captures;
            self.live.round(&mut self.data)?;
            if now >= interval {
                interval = (interval + delay).max(now);
                self.end_interval()?;
                self.draw(terminal)?;
            } else if self.data.scope.captures != captures {
                self.draw(terminal)?;
            }
        }
    }

    fn end_interval(&mut self) -> anyhow::Result<()> {
        self.data.end_interval();
        let cost = cpu_time();
        self.status.cost_ns = cost - self.cost;
        self.cost = cost;
        self.status.lost = self.live.lost()?;
        self.status.functions = self.live.functions()?;
        Ok(())
    }

    fn draw(&self, terminal: &mut DefaultTerminal) -> anyhow::Result<()> {
        let screen = Screen {
            data: self.ui.shown(&self.data),
            status: &self.status,
            ui: &self.ui,
            names: self.live.names(),
            theme: self.theme,
        };
        terminal.draw(|frame| frame.render_widget(&screen, frame.area()))?;
        Ok(())
    }
}

/// Returns the CPU time of this program in ns.
pub fn cpu_time() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let (seconds, ns) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    seconds.unwrap_or(0) * 1_000_000_000 + ns.unwrap_or(0)
}
