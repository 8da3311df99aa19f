// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tables: threads, places where they block, functions.

use ratatui::{
    buffer::Buffer,
    layout::{
        Constraint,
        Layout,
        Rect, //
    },
};

use super::{
    format::{
        rate,
        Percent,
        Time, //
    },
    Screen,
    WIDE, //
};

impl Screen<'_> {
    pub(super) fn tables(&self, area: Rect, buf: &mut Buffer) {
        let functions = self.status.functions.is_some();
        let height = area.height;
        let rows = u16::try_from(self.data.rows().len() + 1).unwrap_or(u16::MAX);
        if area.width >= WIDE {
            let top = Constraint::Length(rows.clamp(3, height * 3 / 5));
            let [top, bottom] = Layout::vertical([top, Constraint::Fill(1)]).areas(area);
            let half = Constraint::Fill(u16::from(functions));
            let [left, right] = Layout::horizontal([Constraint::Fill(1), half]).areas(bottom);
            self.threads(top, buf);
            self.places(left, buf);
            self.functions(right, buf);
        } else {
            let calls = if functions { (height / 4).max(3) } else { 0 };
            let places = (height / 3).max(3);
            let [top, middle, bottom] = Layout::vertical([
                Constraint::Length(rows.clamp(2, height.saturating_sub(places + calls).max(2))),
                Constraint::Fill(1),
                Constraint::Length(calls),
            ])
            .areas(area);
            self.threads(top, buf);
            self.places(middle, buf);
            self.functions(bottom, buf);
        }
    }

    fn threads(&self, area: Rect, buf: &mut Buffer) {
        let title = format!(
            "{:>7} {:<15} {:>6} {:>6} {:>6} {:>6} {:>8}  {}",
            "TID", "COMM", "run%", "wait%", "block%", "sw/s", "max wait", "blocked in <- waker"
        );
        let area = self.title(area, buf, &title);
        let rows = self.data.rows();
        let chosen = self.data.scope.thread;
        let position = rows.iter().position(|(id, _)| Some(*id) == chosen);
        let height = usize::from(area.height);
        let skip = position
            .unwrap_or(0)
            .saturating_sub(height.saturating_sub(1));
        for ((id, thread), y) in rows.into_iter().skip(skip).zip(area.top()..area.bottom()) {
            let split = &thread.last.split;
            let sum = split.wall();
            let blocked = match &thread.blocked {
                Some(blocked) => {
                    let waker = self.waker(&blocked.waker);
                    format!("{} <- {waker}", self.function(blocked.caller))
                }
                None => String::new(),
            };
            let marker = if Some(id) == chosen { '>' } else { ' ' };
            let line = format!(
                "  {marker}{:>8} {:<15} {:>6} {:>6} {:>6} {:>6} {:>8}  {blocked}",
                thread.name.pid,
                thread.name.comm,
                Percent(split.run, sum),
                Percent(split.wait, sum),
                Percent(split.block, sum),
                rate(thread.last.switches, self.data.interval_ns),
                Time(thread.last.longest_wait),
            );
            let style = match Some(id) == chosen && !self.ui.once {
                true => self.theme.chosen,
                false => self.theme.text,
            };
            buf.set_stringn(area.x, y, line, usize::from(area.width), style);
        }
    }

    fn places(&self, area: Rect, buf: &mut Buffer) {
        let title = format!(
            "{:>6} {:>8} {:>8} {:>8} {:>8}  {}",
            "n", "total", "p50", "p99", "max", "blocked in <- waker"
        );
        let area = self.title(area, buf, &title);
        let places = self.data.places.sorted();
        for ((place, times), y) in places.into_iter().zip(area.top()..area.bottom()) {
            let waker = self.waker(&place.waker);
            let line = format!(
                "{:>10} {:>8} {:>8} {:>8} {:>8}  {} <- {waker}",
                times.sum.count,
                Time(times.sum.total),
                Time(times.quantile(0.5)),
                Time(times.quantile(0.99)),
                Time(times.sum.max),
                self.function(place.caller),
            );
            buf.set_stringn(area.x, y, line, usize::from(area.width), self.theme.text);
        }
    }

    fn functions(&self, area: Rect, buf: &mut Buffer) {
        let Some(functions) = self.status.functions.as_ref().filter(|_| area.height > 0) else {
            return;
        };
        let title = format!(
            "{:>6} {:>8} {:>6} {:>6} {:>6} {:>8} {:>8}  {}",
            "calls", "total", "run%", "wait%", "block%", "p99", "max", "function"
        );
        let area = self.title(area, buf, &title);
        for (function, y) in functions.iter().zip(area.top()..area.bottom()) {
            let sum = function.split.wall();
            let line = format!(
                "{:>10} {:>8} {:>6} {:>6} {:>6} {:>8} {:>8}  {}",
                function.calls,
                Time(sum),
                Percent(function.split.run, sum),
                Percent(function.split.wait, sum),
                Percent(function.split.block, sum),
                Time(function.p99),
                Time(function.max),
                function.name,
            );
            buf.set_stringn(area.x, y, line, usize::from(area.width), self.theme.text);
        }
    }
}
