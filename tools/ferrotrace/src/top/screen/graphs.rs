// SPDX-License-Identifier: MIT OR Apache-2.0

//! The waveform of the latest intervals, and the scope.

use ratatui::{
    buffer::Buffer,
    layout::{
        Position,
        Rect, //
    },
};

use super::{
    format::Time,
    Screen, //
};
use crate::{
    model::{
        Detail,
        Interval,
        Split, //
    },
    recording::state_name,
    top::data::{
        Part,
        COLUMNS, //
    },
};

/// Space for labels left of the graphs.
const LABEL: u16 = 7;

/// The symbols for how much of a column a state takes.
const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

impl Screen<'_> {
    /// The shares of run, wait and block in the latest intervals, one above the other.
    pub(super) fn waveform(&self, area: Rect, buf: &mut Buffer) {
        let alone = self.alone();
        let whose = alone.map_or_else(String::new, |thread| format!("  {} alone", thread.name));
        let title = format!(
            "last {} intervals of {} s{whose}",
            COLUMNS,
            self.status.interval.as_secs_f64()
        );
        let area = self.title(area, buf, &title);
        buf.set_string(area.x, area.y, " 100 %", self.theme.faint);
        buf.set_string(area.x, area.bottom() - 1, "   0 %", self.theme.faint);
        let columns = alone.map_or(&self.data.columns, |thread| &thread.columns);
        let width = usize::from(area.width.saturating_sub(LABEL));
        let wide = (width / COLUMNS).max(1);
        let shown = columns.iter().rev().take(width / wide);
        let mut right = area.right();
        for split in shown {
            for _ in 0..wide {
                right -= 1;
                self.column(buf, split, (right, area.y), area.height);
            }
        }
    }

    fn column(&self, buf: &mut Buffer, split: &Split, (x, top): (u16, u16), height: u16) {
        let sum = u128::from(split.wall());
        if sum == 0 {
            return;
        }
        // Each cell shows the state that is at its centre.
        for cell in 0..height {
            let level = sum * u128::from(2 * cell + 1) / u128::from(2 * height);
            let (run, wait) = (u128::from(split.run), u128::from(split.wait));
            let part = match level {
                level if level < run => Part::Run,
                level if level < run + wait => Part::Wait,
                _ => Part::Block,
            };
            let y = top + height - 1 - cell;
            buf.set_string(x, y, self.theme.symbol(part), self.theme.style(part));
        }
    }

    /// The states of one thread.
    pub(super) fn scope(&self, area: Rect, buf: &mut Buffer) {
        let scope = &self.data.scope;
        let Some(thread) = scope.thread.and_then(|id| self.data.thread(id)) else {
            self.title(area, buf, "scope: no thread");
            return;
        };
        let trigger = match scope.trigger() {
            Some(trigger) => format!("trigger {trigger}  #{}", scope.captures),
            None => "no trigger".into(),
        };
        let base = Time(scope.base());
        let title = format!("scope  {}   {base} a division   {trigger}", thread.name);
        let area = self.title(area, buf, &title);
        let (from, to) = scope.window(self.data.now);
        let states = scope.states(self.data.now, thread);
        let width = area.width.saturating_sub(LABEL) * 3 / 5;
        for (part, y) in Part::ALL.into_iter().zip(area.top()..area.bottom()) {
            buf.set_string(area.x, y, format!(" {}", part.name()), self.theme.faint);
            let row = Rect::new(area.x + LABEL, y, width, 1);
            self.trace(buf, row, part, &states, (from, to));
            let visible = |interval: &&Interval| {
                Part::of(interval.state) == Some(part) && interval.end > from && interval.start < to
            };
            let longest = states
                .iter()
                .filter(visible)
                .max_by_key(|interval| interval.ns());
            let text = longest
                .map(|interval| self.reason(interval))
                .unwrap_or_default();
            let rest = usize::from(area.width.saturating_sub(LABEL + width + 2));
            buf.set_stringn(row.right() + 2, y, text, rest, self.theme.style(part));
        }
    }

    /// Draws how much of each column the thread spent in a state.
    fn trace(
        &self,
        buf: &mut Buffer,
        row: Rect,
        part: Part,
        states: &[Interval],
        (from, to): (u64, u64),
    ) {
        let width = u64::from(row.width.max(1));
        let edge = |column: u64| from + (to - from) * column / width;
        let states: Vec<_> = states
            .iter()
            .filter(|interval| Part::of(interval.state) == Some(part))
            .collect();
        let mut first = 0;
        for (column, x) in (0..width).zip(row.left()..row.right()) {
            let (start, end) = (edge(column), edge(column + 1));
            while states
                .get(first)
                .is_some_and(|interval| interval.end <= start)
            {
                first += 1;
            }
            let inside = states.iter().skip(first);
            let inside = inside.take_while(|interval| interval.start < end);
            let ns: u64 = inside
                .map(|interval| {
                    interval
                        .end
                        .min(end)
                        .saturating_sub(interval.start.max(start))
                })
                .sum();
            let level = (ns * 8).div_ceil((end - start).max(1)).min(8);
            let symbol = usize::try_from(level).map_or(" ", |level| EIGHTHS[level]);
            if let Some(cell) = buf.cell_mut(Position::new(x, row.y)) {
                cell.set_symbol(symbol).set_style(self.theme.style(part));
            }
        }
    }

    /// Returns a text about a state: how long it lasted, and why.
    fn reason(&self, interval: &Interval) -> String {
        let time = Time(interval.ns());
        match &interval.detail {
            Detail::Blocked(blocked) => format!(
                "{time} {} {} <- {}",
                state_name(blocked.state),
                self.function(blocked.caller),
                self.waker(&blocked.waker)
            ),
            Detail::Behind(prev, _) if prev.pid != 0 => format!("{time} behind {prev}"),
            _ => time.to_string(),
        }
    }
}
