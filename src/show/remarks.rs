// SPDX-License-Identifier: GPL-2.0

//! Prints the arguments of a call, and the comment behind it, which has the return value, the
//! return address, and the run, wait and block times.

use core::fmt::Write;

use super::{
    pairing::RecordedTimes,
    Page, //
};
use crate::{
    events::CONTEXTS,
    ktrace::{
        escape::Escaped,
        output::{
            iter::RecordedEntry,
            seq::Seq, //
        },
        record::{
            context::MAX_ARGS,
            GraphReturn, //
        },
        task::{
            sched_state::STATE_NAMES,
            Comm, //
        },
        value_names::name_of, //
    },
    option,
};

impl Page<'_, '_> {
    pub(super) fn arguments(&mut self, entry: &RecordedEntry) {
        match entry.words.first_chunk::<MAX_ARGS>() {
            Some(args) if entry.nr_words >= MAX_ARGS => self.seq().arguments(entry.call.func, args),
            _ => self.seq().text("()"),
        }
    }

    /// Prints the comment behind a call.
    pub(super) fn remarks(
        &mut self,
        ret: &GraphReturn,
        address: Option<usize>,
        name: Option<usize>,
        times: Option<&RecordedTimes>,
    ) {
        let value = ret.value.filter(|_| self.has(option::RETVAL));
        if value.is_none() && address.is_none() && name.is_none() && times.is_none() {
            return;
        }
        let hexadecimal = self.has(option::RETVAL_HEX);
        let mut seq = self.seq();
        seq.text(" /*");
        if let Some(name) = name {
            seq.text(" ");
            seq.symbol(name);
        }
        if let Some(address) = address {
            seq.text(" <-");
            seq.symbol_offset(address);
        }
        if let Some(value) = value {
            let _ = match as_error(value).filter(|_| !hexadecimal) {
                Some(error) => write!(seq, " ret={error}"),
                None => write!(seq, " ret={value:#x}"),
            };
        }
        if let Some(times) = times {
            write_times(&mut seq, times);
        }
        seq.text(" */");
    }
}

/// Returns the error number that a value represents, if it is one: in 64 bits, or in 32 bits for a
/// function that returns an `int`.
fn as_error(value: usize) -> Option<i64> {
    const MAX_ERRNO: i64 = 4095;
    let is_int = value >> 32 == 0;
    let number = match is_int {
        true => i64::from(value as u32 as i32),
        false => value as i64,
    };
    (-MAX_ERRNO..0).contains(&number).then_some(number)
}

/// Prints the run, wait and block times of a call in us.
fn write_times(seq: &mut Seq<'_>, times: &RecordedTimes) {
    if times.run_ns | times.wait_ns | times.block_ns == 0 {
        let _ = write!(seq, " times unknown, switches={}", times.switches);
        return;
    }
    let irq = (times.irq_ns != 0).then_some((" irq=", times.irq_ns));
    let parts = [(" wait=", times.wait_ns), (" block=", times.block_ns)];
    for (name, ns) in [(" run=", times.run_ns)]
        .into_iter()
        .chain(irq)
        .chain(parts)
    {
        let _ = write!(seq, "{name}{}.{:03}", ns / 1000, ns % 1000);
    }
    let _ = write!(seq, " us switches={}", times.switches);
    if times.block_ns == 0 {
        return;
    }
    let _ = write!(
        seq,
        " state={}",
        name_of(u64::from(times.state), STATE_NAMES)
    );
    if times.caller.0 != 0 {
        seq.text(" in ");
        seq.symbol(times.caller.0);
    }
    seq.text(" by ");
    seq.bytes(Escaped::in_comment(Comm::new(&times.waker_comm).as_bytes()).as_bytes());
    let _ = write!(seq, "-{}", times.waker_pid.0);
    if times.waker_context != 0 {
        let _ = write!(
            seq,
            "/{}",
            name_of(u64::from(times.waker_context), CONTEXTS)
        );
    }
}
