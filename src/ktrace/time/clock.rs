// SPDX-License-Identifier: GPL-2.0

//! The trace clock that the user has selected (`trace_clock` of the top trace array).
//!
//! Kernel source: `trace_clocks[]` and `tracing_set_clock()` in `kernel/trace/trace.c`. All these
//! clocks can be read in any context, including NMI.

use core::{
    ffi::CStr,
    ptr::addr_of, //
};

use kernel::prelude::*;

use crate::ktrace::{
    array::trace_array::TraceArray,
    private::{
        abi,
        cstr_ext::CStrExt,
        symbols::Data, //
    },
};

/// An entry of the kernel's `trace_clocks[]`. Its type has no name and is therefore not in BTF;
/// [`check_table`] compares the first two entries with their expected content.
#[repr(C)]
struct TraceClock {
    read: *const c_void,
    name: *const c_char,
    in_ns: c_int,
}

extern "C" {
    fn ktrace_read_clock(read: *const c_void) -> u64;
    fn ktrace_call_clock(read: *const c_void) -> u64;
    fn ktrace_call_sched_clock_noinstr() -> u64;
    fn ktrace_is_clock(index: c_uint, read: *const c_void) -> bool;
}

/// A time that was read from a trace clock.
#[derive(Clone, Copy)]
pub struct ClockReading {
    /// The index of the clock. Times of different clocks cannot be compared.
    pub clock: u32,
    /// The time in ns.
    pub ns: u64,
}

fn entry(index: usize) -> *const TraceClock {
    Data::TraceClocks.as_ptr::<TraceClock>().wrapping_add(index)
}

/// Reads the trace clock of the top trace array. Returns `None` if that is `local`, which is the
/// scheduler's clock ([`crate::ktrace::task::sched::now_ns`]), or a clock that does not count ns.
///
/// `tai` jumps when the time of day is set. Instead of it, this reads `mono`, which differs from it
/// only by an offset, so durations are not affected by such jumps. Any context.
#[inline]
pub fn trace_clock() -> Option<ClockReading> {
    let top: *const abi::trace_array = Data::GlobalTrace.as_ptr();
    // SAFETY: The kernel's top trace array is static; this reads one aligned word of it.
    let clock = unsafe { addr_of!((*top).clock_id).read_volatile() };
    match clock {
        0 => None,
        clock => read(clock as u32),
    }
}

/// The rate of a trace clock relative to the CPU's counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockRate {
    /// Does not count ns, or is too coarse: `uptime` counts ticks.
    Coarse,
    /// Constant rate: the kernel derives the clock from the counter with a fixed factor.
    Constant,
    /// Variable rate: the clock is adjusted together with the time of day (`adjtimex()`).
    Variable,
}

/// Returns the rate of the clock of `tr`. Any context.
pub fn rate(tr: &TraceArray) -> ClockRate {
    // SAFETY: By the invariant of `TraceArray`, `tr` is alive. `clock_id` is an aligned word and
    // the index of an entry. `check_table()` has verified the layout of entries; the table is
    // constant, and its names are C strings.
    let (in_ns, name) = unsafe {
        let clock = addr_of!((*tr.as_ptr()).clock_id).read_volatile();
        let entry = entry(clock as usize);
        ((*entry).in_ns != 0, CStr::from_chars((*entry).name))
    };
    match name.to_bytes() {
        _ if !in_ns => ClockRate::Coarse,
        b"uptime" => ClockRate::Coarse,
        b"local" | b"global" | b"perf" | b"mono_raw" => ClockRate::Constant,
        _ => ClockRate::Variable,
    }
}

/// Reads the clock of `tr`, in its own unit: this is the time that the ring buffer would give a
/// record written now. Any context.
pub fn read_of(tr: &TraceArray) -> u64 {
    // SAFETY: By the invariant of `TraceArray`, `tr` is alive, and `clock_id` is the index of an
    // entry of the constant table, whose layout `check_table()` has verified. The function of an
    // entry takes nothing and returns a `u64`.
    unsafe {
        let clock = addr_of!((*tr.as_ptr()).clock_id).read_volatile();
        ktrace_call_clock((*entry(clock as usize)).read)
    }
}

#[cold]
fn read(clock: u32) -> Option<ClockReading> {
    // SAFETY: `clock_id` is the index of an entry of the constant table, whose layout
    // `check_table()` has verified.
    let entry = unsafe { entry(clock as usize).read() };
    if entry.in_ns == 0 {
        return None;
    }
    Some(ClockReading {
        clock,
        // SAFETY: The function of an entry takes nothing and returns a `u64`.
        ns: unsafe { ktrace_read_clock(entry.read) },
    })
}

/// Returns whether the layout of the kernel's table of clocks is the expected one.
pub(in crate::ktrace) fn check_table() -> bool {
    // Any table can be read, because it is located between other data of the kernel. A name is used
    // as a C string only if the function of its entry is the expected one.
    [c"local", c"global"].iter().enumerate().all(|(i, name)| {
        // SAFETY: The symbol was found, so the entry is within the kernel's data.
        let entry = unsafe { entry(i).read() };
        // SAFETY: The first function only compares addresses. If it finds the expected function,
        // the name in the same entry is a C string.
        unsafe {
            ktrace_is_clock(i as c_uint, entry.read)
                && CStr::from_chars(entry.name) == *name
                && entry.in_ns == 1
        }
    })
}

/// Returns the time of the call graph's clock in ns: the clock that `trace_clock_local()` reads
/// with preemption disabled. Only for callbacks. Any context.
#[inline]
pub fn local_ns() -> u64 {
    // SAFETY: Reads this CPU's clock. Preemption must be off, as it is in callbacks.
    unsafe { ktrace_call_sched_clock_noinstr() }
}
