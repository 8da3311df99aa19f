// SPDX-License-Identifier: MIT OR Apache-2.0

//! Draws the live view. Drawing has no effect on the data.

mod format;
mod graphs;
mod tables;
mod theme;

use std::time::Duration;

use ratatui::{
    buffer::Buffer,
    layout::{
        Constraint,
        Layout,
        Rect, //
    },
    text::{
        Line,
        Span, //
    },
    widgets::{
        Clear,
        Paragraph,
        Widget, //
    },
};

use super::{
    data::{
        profile::Function,
        Data,
        Part, //
    },
    input::Ui, //
};
use crate::recording::{
    FuncId,
    Waker, //
};
use format::{
    rate,
    Percent, //
};

pub use theme::Theme;

/// The smallest terminal that is supported.
const MIN: (u16, u16) = (60, 16);

/// From this width on, the tables at the bottom are next to each other.
const WIDE: u16 = 120;

const HELP: &str = "\
 q, Ctrl-C    quit
 space        hold the screen, or continue
 up, down     choose a thread for the scope
 Enter        show the times of this thread alone, or of all (Esc)
 t            set the trigger of the scope, such as 'block 2ms'; empty: none
 + -          longer or shorter time base of the scope
 z            clear the sums since the beginning
 ?            this help

 run: on a CPU; wait: runnable, but without a CPU; block: not runnable.
 The times of threads are those of the last interval. Places and functions
 are added up since the beginning.";

/// The numbers that are shown in addition to the data of events.
#[derive(Clone, Default)]
pub struct Status {
    /// The tasks that are selected.
    pub selection: String,
    /// The duration of an interval.
    pub interval: Duration,
    /// The number of records that were lost.
    pub lost: u64,
    /// The CPU time of this program in the last interval, in ns.
    pub cost_ns: u64,
    /// The functions in the kernel's profile; `None` if calls are not observed.
    pub functions: Option<Vec<Function>>,
}

/// The screen: a widget of the whole terminal.
pub struct Screen<'a> {
    /// The data of events.
    pub data: &'a Data,
    /// Other numbers.
    pub status: &'a Status,
    /// The choices of the user.
    pub ui: &'a Ui,
    /// The names of functions, by their numbers.
    pub names: &'a [String],
    /// Colours.
    pub theme: Theme,
}

impl Widget for &Screen<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.width < MIN.0 || area.height < MIN.1 {
            let text = format!("the terminal is too small: at least {} x {}", MIN.0, MIN.1);
            Paragraph::new(text).render(area, buf);
            return;
        }
        let wave = if area.height < 30 { 5 } else { 7 };
        let [header, bar, wave, scope, rest, footer] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(wave),
            Constraint::Length(4),
            Constraint::Fill(1),
            Constraint::Length(1),
        ])
        .areas(area);
        self.header(header, buf);
        self.bar(bar, buf);
        self.waveform(wave, buf);
        self.scope(scope, buf);
        self.tables(rest, buf);
        self.footer(footer, buf);
        if self.ui.help {
            self.help(area, buf);
        }
    }
}

impl Screen<'_> {
    fn header(&self, area: Rect, buf: &mut Buffer) {
        let status = self.status;
        let seconds = (self.data.now - self.data.start) / 1_000_000_000;
        let lost = match status.lost {
            0 => Span::raw("lost 0"),
            lost => Span::styled(format!("lost {lost}"), self.theme.warning),
        };
        let cost = Percent(status.cost_ns, self.data.interval_ns);
        let line = Line::from(vec![
            Span::styled(" ferrotrace top", self.theme.title),
            Span::raw(format!("  {}  ", status.selection)),
            Span::raw(format!("{} s  ", status.interval.as_secs_f64())),
            Span::raw(format!("{:02}:{:02}  ", seconds / 60, seconds % 60)),
            lost,
            Span::raw(format!("  own cost {cost} % of a CPU")),
            Span::styled(
                if self.ui.held() { "  HELD" } else { "" },
                self.theme.warning,
            ),
        ]);
        line.render(area, buf);
    }

    /// The shares of the last interval.
    fn bar(&self, area: Rect, buf: &mut Buffer) {
        let (times, threads) = match self.alone() {
            Some(thread) => (thread.last, 1),
            None => (self.data.all(), self.data.rows().len()),
        };
        let sum = times.split.wall();
        let cells = u64::from(area.width.saturating_sub(76));
        let mut spans = Vec::new();
        for part in Part::ALL {
            let ns = part.time(&times.split);
            let style = self.theme.style(part);
            let length = u128::from(ns) * u128::from(cells) / u128::from(sum.max(1));
            let length = usize::try_from(length).unwrap_or(0);
            spans.push(Span::raw(format!(" {} ", part.name())));
            spans.push(Span::styled(
                self.theme.symbol(part).repeat(length + 1),
                style,
            ));
            spans.push(Span::raw(format!(" {} %  ", Percent(ns, sum))));
        }
        let switches = rate(times.switches, self.data.interval_ns);
        spans.push(Span::raw(format!(
            " {switches} switches/s  {threads} threads"
        )));
        Line::from(spans).render(area, buf);
    }

    fn footer(&self, area: Rect, buf: &mut Buffer) {
        let line = match (&self.ui.prompt, &self.ui.message) {
            (Some(text), message) => Line::from(vec![
                Span::styled(" trigger: ", self.theme.title),
                Span::raw(format!("{text}_   ")),
                match message {
                    Some(message) => Span::styled(message, self.theme.warning),
                    None => Span::styled("such as block 2ms; empty: none", self.theme.faint),
                },
            ]),
            (None, Some(message)) => Line::styled(format!(" {message}"), self.theme.warning),
            (None, None) if self.ui.once => Line::default(),
            (None, None) => Line::styled(
                " q quit  space hold  up/down Enter thread  t trigger  +/- time base  ? help",
                self.theme.faint,
            ),
        };
        line.render(area, buf);
    }

    fn help(&self, area: Rect, buf: &mut Buffer) {
        let rows = u16::try_from(HELP.lines().count()).unwrap_or(0);
        let area = Rect {
            height: (rows + 2).min(area.height.saturating_sub(2)),
            y: area.y + 2,
            ..area
        };
        Clear.render(area, buf);
        let rest = self.title(area, buf, "help");
        Paragraph::new(HELP).render(rest, buf);
    }

    /// Draws a line with a title. Returns the area below.
    fn title(&self, area: Rect, buf: &mut Buffer, text: &str) -> Rect {
        let [line, rest] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
        let dashes = usize::from(line.width);
        buf.set_stringn(line.x, line.y, "─".repeat(dashes), dashes, self.theme.faint);
        let text = format!(" {text} ");
        let width = dashes.saturating_sub(3);
        buf.set_stringn(line.x + 3, line.y, text, width, self.theme.title);
        rest
    }

    /// Returns the thread that is shown alone, if there is one.
    fn alone(&self) -> Option<&super::data::Thread> {
        let id = self.data.scope.thread.filter(|_| self.ui.alone)?;
        self.data.thread(id)
    }

    /// Returns a text for a waker. The task under an interrupt is left out: it is not related.
    fn waker(&self, waker: &Waker) -> String {
        match waker.context {
            0 => waker.to_string(),
            _ => waker.context_name().into(),
        }
    }

    fn function(&self, func: Option<FuncId>) -> &str {
        let name = func.and_then(|func| self.names.get(func.index()));
        name.map_or("-", String::as_str)
    }
}
