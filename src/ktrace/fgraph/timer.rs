// SPDX-License-Identifier: GPL-2.0

//! What calls are timed by.

use kernel::sync::atomic::Atomic;

use crate::ktrace::{
    atomic::AtomicBool,
    compact::{
        counter,
        word::MULT_SHIFT, //
    },
    once::Once, //
};

extern "C" {
    fn ktrace_counter_mult() -> u32;
    fn ktrace_call_sched_clock_noinstr() -> u64;
}

/// The clock that the call graph's times are of, in ns: that of `trace_clock_local()`, less its care for
/// preemption. For callbacks; any context.
#[inline]
pub fn clock_ns() -> u64 {
    // SAFETY: Reads this CPU's clock, which takes preemption to be off, as it is in callbacks.
    unsafe { ktrace_call_sched_clock_noinstr() }
}

/// What calls are timed by as long as they keep their CPU: a counter that costs little to read, or the clock
/// where there is none to be relied on.
///
/// While the system is suspended, the counter goes on or is set back, and the clock stands still. A call
/// that loses its CPU before is not affected: the hook notes the clock's time at the switch
/// ([`super::FrameRef::note`]). The calls in which the last CPU is suspended do not lose it: they last as
/// long as the counter says, with the time for which the system was suspended, or 0 ns if the counter was
/// set back. The same is true of calls of idle tasks.
pub(super) struct Timer {
    /// How many ns a count is, times 2^[`MULT_SHIFT`]; zero before the first hook.
    mult: Atomic<u32>,
    is_clock: AtomicBool,
}

pub(super) static TIMER: Timer = Timer {
    mult: Atomic::new(1 << MULT_SHIFT),
    is_clock: AtomicBool::new(true),
};

impl Timer {
    /// Finds out which it is. The answer changes if the kernel gives the counter up, between hooks.
    pub(super) fn choose(&self) {
        // SAFETY: Looks at what the kernel has found out.
        let mult = unsafe { ktrace_counter_mult() };
        self.is_clock.write_once(mult == 0);
        self.mult.write_once(match mult {
            0 => 1 << MULT_SHIFT,
            mult => mult,
        });
    }

    /// How many ns a count is, in the same unit; zero if it is not the counter.
    pub(super) fn counter_mult(&self) -> u32 {
        match self.is_clock.read_once() {
            true => 0,
            false => self.mult.read_once(),
        }
    }

    #[inline]
    pub(super) fn now(&self) -> u64 {
        match self.is_clock.read_once() {
            true => clock_ns(),
            false => counter::read(),
        }
    }

    #[inline]
    pub(super) fn ns(&self, counts: u64) -> u64 {
        let mult = u128::from(self.mult.read_once());
        (u128::from(counts).wrapping_mul(mult) >> MULT_SHIFT) as u64
    }
}

/// A point in time, by what times calls.
#[derive(Clone, Copy)]
pub struct Moment(pub(super) u64);

impl Moment {
    /// Now. For callbacks; any context.
    #[inline]
    pub fn now() -> Self {
        Self(TIMER.now())
    }
}

/// How far apart, in ns, two readings of the clock may be for one in between to be of the same time.
const CLOSE_NS: u64 = 4000;

/// One point in time both by what times calls and by the clock: from the one to the other.
#[derive(Clone, Copy)]
pub struct Both {
    pub(super) moment: Moment,
    pub(super) clock_ns: u64,
}

impl Both {
    /// Now. Whatever keeps this CPU from reading the two at once, an NMI or the host of a virtual machine, would
    /// make calls longer or shorter by as much, so it is tried again. For callbacks; any context.
    pub fn now() -> Self {
        let (mut both, mut apart_ns) = Self::read();
        for _ in 0..3 {
            if apart_ns < CLOSE_NS {
                break;
            }
            let (again, apart) = Self::read();
            if apart < apart_ns {
                (both, apart_ns) = (again, apart);
            }
        }
        both
    }

    /// And how far apart the readings of the clock are around it, in ns.
    fn read() -> (Self, u64) {
        let before_ns = clock_ns();
        let moment = Moment::now();
        let apart_ns = clock_ns().saturating_sub(before_ns);
        let clock_ns = before_ns.wrapping_add(apart_ns / 2);
        (Self { moment, clock_ns }, apart_ns)
    }
}
