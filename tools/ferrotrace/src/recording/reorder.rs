// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sorts the items of packs among the records of other CPUs.
//!
//! A pack is one record with the time of its first item. The next record of its CPU follows the
//! last item, so each CPU has at most the items of one pack that are later than the current record.

use std::{
    collections::VecDeque,
    ops::ControlFlow, //
};

use super::event::Event;

/// The items of packs that are not due yet.
#[derive(Default)]
pub struct Reorder {
    queues: Vec<Queue>,
    /// Whether all queues are empty, which is the common case without packs.
    empty: bool,
}

struct Queue {
    buffer: usize,
    cpu: usize,
    events: VecDeque<Event<'static>>,
}

impl Reorder {
    /// Returns the queue for the items of a CPU, in the order of their times.
    pub fn queue(&mut self, buffer: usize, cpu: usize) -> &mut VecDeque<Event<'static>> {
        self.empty = false;
        let mut queues = self.queues.iter();
        let found = queues.position(|queue| queue.buffer == buffer && queue.cpu == cpu);
        let index = found.unwrap_or_else(|| {
            self.queues.push(Queue {
                buffer,
                cpu,
                events: VecDeque::new(),
            });
            self.queues.len() - 1
        });
        &mut self.queues[index].events
    }

    /// Calls `visit` for all events up to `time`, in the order of their times.
    pub fn drain(
        &mut self,
        time: u64,
        mut visit: impl FnMut(&Event<'static>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while !self.empty {
            // Find the queue with the first event, and until when it stays the first.
            let (mut first, mut until) = (None, u64::MAX);
            for (index, queue) in self.queues.iter().enumerate() {
                let Some(event) = queue.events.front() else {
                    continue;
                };
                match first {
                    Some((_, earliest)) if earliest <= event.time => until = until.min(event.time),
                    _ => {
                        until = first.map_or(until, |(_, earliest)| until.min(earliest));
                        first = Some((index, event.time));
                    }
                }
            }
            let Some((index, earliest)) = first else {
                self.empty = true;
                break;
            };
            if earliest > time {
                break;
            }
            let until = until.min(time);
            let events = &mut self.queues[index].events;
            while let Some(event) = events.next_if(|event| event.time <= until) {
                visit(&event)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Removes the first element if a condition holds.
trait NextIf<T> {
    fn next_if(&mut self, condition: impl FnOnce(&T) -> bool) -> Option<T>;
}

impl<T> NextIf<T> for VecDeque<T> {
    fn next_if(&mut self, condition: impl FnOnce(&T) -> bool) -> Option<T> {
        match condition(self.front()?) {
            true => self.pop_front(),
            false => None,
        }
    }
}
