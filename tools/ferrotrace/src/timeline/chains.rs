// SPDX-License-Identifier: MIT OR Apache-2.0

//! Chains of wakeups, as arguments of the slices of blocked intervals.
//!
//! The events of a chain follow the event of the blocked interval. The end of the slice is
//! therefore kept until the chain is complete, or until the next state of the task ends.

use std::io::Write;

use super::{
    convert::Convert,
    messages::{
        Argument,
        TrackEvent,
        TrackEventKind, //
    },
    writer::Arg, //
};
use crate::{
    model::{
        chain_text,
        Chain,
        Link,
        TaskId,
        Was, //
    },
    recording::{
        state_name,
        Symbols, //
    },
    summary::Ms, //
};

/// The end of a slice that is not written yet.
#[derive(Clone, Copy)]
pub struct KeptEnd {
    pub time: u64,
    pub track: u64,
}

impl<W: Write> Convert<'_, '_, W> {
    /// Writes the end of the slice of the last blocked interval of a task, if it was kept.
    pub(super) fn end_blocked(&mut self, id: TaskId, arguments: Vec<Argument>) {
        if let Some(KeptEnd { time, track }) = self.kept.ends.remove(&id) {
            let end = TrackEvent {
                arguments,
                ..TrackEvent::default()
            };
            self.writer.event(time, track, TrackEventKind::End, end);
        }
    }

    /// Writes all ends that were kept.
    pub fn finish(&mut self) {
        let mut ids: Vec<_> = self.kept.ends.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            self.end_blocked(id, Vec::new());
        }
    }

    /// Writes a chain. If the slice of the blocked interval was written without it, or if there is
    /// none, the chain is an instant.
    pub(super) fn write_chain(&mut self, chain: &Chain) {
        let symbols = self.symbols;
        let text = chain_text(&chain.steps(), |func| symbols.name(func));
        let mut arguments = vec![Arg::Chain.text(text)];
        let links = Arg::WAKERS.iter().zip(&chain.links);
        arguments.extend(links.map(|(name, link)| name.text(link_text(link, symbols))));
        let id = chain.id;
        if self.kept.ends.contains_key(&id) && self.woken_before(id, chain.time) {
            return self.end_blocked(id, arguments);
        }
        let instant = TrackEvent {
            name: Some("woken by chain".to_owned()),
            arguments,
            ..TrackEvent::default()
        };
        let track = self.tracks_of(id, chain.task).task();
        self.writer
            .event(chain.time, track, TrackEventKind::Instant, instant);
    }
}

/// Returns a part of a chain with its numbers.
fn link_text(link: &Link, symbols: &Symbols<'_>) -> String {
    let waker = link.blocked.waker;
    if waker.context != 0 {
        let name = link.irq.to_string();
        return format!("{} {name}", waker.context_name())
            .trim_end()
            .to_owned();
    }
    match link.was {
        Was::Blocked(place) => format!(
            "{}: blocked for {} ms in {} ({})",
            waker.task,
            Ms(link.ns),
            place.map_or("?", |func| symbols.name(func)),
            state_name(link.blocked.state)
        ),
        Was::Awake => format!("{}: not blocked", waker.task),
        Was::Unknown => format!("{}: not known", waker.task),
    }
}
