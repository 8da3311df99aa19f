// SPDX-License-Identifier: GPL-2.0

//! The trace clock that a user has chosen (`trace_clock` of the top trace array).
//!
//! Kernel source: `trace_clocks[]` and `tracing_set_clock()` in `kernel/trace/trace.c`. The clocks
//! are all made to be read in any context, NMI included.

use core::{
    ffi::CStr,
    ptr::addr_of, //
};

use kernel::prelude::*;

use super::{
    abi,
    cstr::Chars,
    symbols::Data,
    trace_array::TraceArray, //
};

/// An entry of the kernel's table, whose type has no name and so is not in BTF. [`check_table`]
/// compares two of them with what they have to be.
#[repr(C)]
struct Entry {
    read: *const c_void,
    name: *const c_char,
    in_ns: c_int,
}

extern "C" {
    fn ktrace_read_clock(read: *const c_void) -> u64;
    fn ktrace_call_clock(read: *const c_void) -> u64;
    fn ktrace_is_clock(index: c_uint, read: *const c_void) -> bool;
}

/// What a trace clock says.
#[derive(Clone, Copy)]
pub struct Reading {
    /// Which one it is: readings of different ones have nothing to do with each other.
    pub clock: u32,
    /// In ns.
    pub ns: u64,
}

fn entry(index: usize) -> *const Entry {
    Data::TraceClocks.as_ptr::<Entry>().wrapping_add(index)
}

/// What the trace clock of the top trace array says; `None` if that is `local`, the scheduler's own
/// clock (of [`super::sched::now_ns`]), or one that does not count ns.
///
/// `tai` leaps when the time of day is set; a duration on it is one of `mono`, which it is
/// but for that. Any context.
#[inline]
pub fn trace_clock() -> Option<Reading> {
    let top: *const abi::trace_array = Data::GlobalTrace.as_ptr();
    // SAFETY: The kernel's own trace array, which is static; one aligned word of it.
    let clock = unsafe { addr_of!((*top).clock_id).read_volatile() };
    match clock {
        0 => None,
        clock => read(clock as u32),
    }
}

/// How a trace clock goes, beside the CPU's counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Not in ns, or not from one moment to the next: `uptime` goes by ticks.
    Coarse,
    /// As the counter does: the kernel makes it of that, by a factor that stays.
    Even,
    /// Faster or slower, as the time of day is set right (`adjtimex()`).
    Uneven,
}

/// How the clock of that trace array goes. Any context.
pub fn pace(tr: &TraceArray) -> Pace {
    // SAFETY: Alive, by the type's invariant; one aligned word, which is the index of an entry, each
    // as `check_table()` has found the first two; the table is constant, with names that are strings.
    let (in_ns, name) = unsafe {
        let clock = addr_of!((*tr.as_ptr()).clock_id).read_volatile();
        let entry = entry(clock as usize);
        ((*entry).in_ns != 0, CStr::from_chars((*entry).name))
    };
    match name.to_bytes() {
        _ if !in_ns => Pace::Coarse,
        b"uptime" => Pace::Coarse,
        b"local" | b"global" | b"perf" | b"mono_raw" => Pace::Even,
        _ => Pace::Uneven,
    }
}

/// What the clock of that trace array says, in whatever it counts: what the ring buffer would take for
/// the time of a record. Any context.
pub fn read_of(tr: &TraceArray) -> u64 {
    // SAFETY: As in `pace()`; and the function of an entry, which takes nothing and returns a `u64`.
    unsafe {
        let clock = addr_of!((*tr.as_ptr()).clock_id).read_volatile();
        ktrace_call_clock((*entry(clock as usize)).read)
    }
}

#[cold]
fn read(clock: u32) -> Option<Reading> {
    // SAFETY: `clock_id` is the index of an entry, each as `check_table()` has found the first two;
    // the table is constant.
    let entry = unsafe { entry(clock as usize).read() };
    if entry.in_ns == 0 {
        return None;
    }
    Some(Reading {
        clock,
        // SAFETY: The function of an entry, which takes nothing and returns a `u64`.
        ns: unsafe { ktrace_read_clock(entry.read) },
    })
}

/// Whether the kernel's table of clocks is what this module takes it for.
pub(super) fn check_table() -> bool {
    // Whatever it is, it lies between other data of the kernel, and its names are found to be
    // constant strings only if the functions are the right ones.
    [c"local", c"global"].iter().enumerate().all(|(i, name)| {
        // SAFETY: Within the kernel's data, where the symbol was found.
        let entry = unsafe { entry(i).read() };
        // SAFETY: Compares addresses; and a name next to the right function is a C string.
        unsafe {
            ktrace_is_clock(i as c_uint, entry.read)
                && CStr::from_chars(entry.name) == *name
                && entry.in_ns == 1
        }
    })
}
