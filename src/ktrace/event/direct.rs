// SPDX-License-Identifier: GPL-2.0

//! Writing an event's record straight to a ring buffer, for events that a tracer or a trigger
//! writes.

use kernel::prelude::*;

use super::sink::Sink;
use crate::ktrace::{
    array::trace_array::TraceArray,
    record::{
        context::Context,
        NotWritten,
        Reservation, //
    },
};

/// A record of a trace event, which the event's code fills in place.
pub struct RecordSink<'a> {
    tr: &'a TraceArray,
    kind: u32,
    context: Context,
    record: Option<Reservation>,
}

/// Writes a record with type number `kind`, with the content that `fill` stores. Preemption must be
/// off. Any context.
///
/// # Errors
///
/// [`NotWritten`] if no space was reserved.
#[inline]
pub fn write(
    tr: &TraceArray,
    kind: u32,
    context: Context,
    fill: impl FnOnce(&mut RecordSink<'_>),
) -> Result<(), NotWritten> {
    let mut sink = RecordSink {
        tr,
        kind,
        context,
        record: None,
    };
    fill(&mut sink);
    sink.record.map(drop).ok_or(NotWritten)
}

impl Sink for RecordSink<'_> {
    #[inline]
    fn reserve(&mut self, len: usize) -> *mut u8 {
        self.record = Reservation::new(self.tr, self.kind, len, self.context).ok();
        let entry = self.record.as_ref().map(|record| record.entry);
        entry.map_or(core::ptr::null_mut(), |entry| entry.cast())
    }
}
