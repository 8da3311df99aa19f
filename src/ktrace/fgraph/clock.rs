// SPDX-License-Identifier: GPL-2.0

//! The timer of calls: the CPU's counter, or a clock.

use kernel::sync::atomic::Atomic;

use crate::ktrace::time::counter::ktrace_counter_mult;
use crate::ktrace::{
    compact::encoding::MULT_SHIFT,
    sync::{
        atomic::AtomicBool,
        read_once::ReadOnce, //
    },
    time::{
        clock,
        counter, //
    },
};

/// The timer of calls that stay on their CPU: a counter that is cheap to read, or the clock if the
/// counter is not usable.
///
/// While the system is suspended, the counter continues or is set back, and the clock stops. This
/// does not affect a call that loses its CPU before: at the switch, the hook saves the time of the
/// clock ([`super::FrameRef::save_off_cpu`]). The calls in which the last CPU is suspended do not
/// lose it: their duration is what the counter says, which includes the time of the suspend, or 0
/// ns if the counter was set back. The same applies to calls of idle tasks.
pub(super) struct CallClock {
    /// Length of a counter tick in ns, times 2^[`MULT_SHIFT`].
    mult: Atomic<u32>,
    is_clock: AtomicBool,
}

pub(super) static TIMER: CallClock = CallClock {
    mult: Atomic::new(1 << MULT_SHIFT),
    is_clock: AtomicBool::new(true),
};

impl CallClock {
    /// Chooses the counter or the clock. Called before hooks are registered, while there are none:
    /// the kernel may have found the counter unusable.
    pub(super) fn choose(&self) {
        // SAFETY: `ktrace_counter_mult()` has no preconditions; it reads what the kernel
        // determined.
        let mult = unsafe { ktrace_counter_mult() };
        self.is_clock.write_once(mult == 0);
        self.mult.write_once(match mult {
            0 => 1 << MULT_SHIFT,
            mult => mult,
        });
    }

    /// Returns the length of a counter tick, in the same unit; 0 if the timer is the clock.
    pub(super) fn counter_mult(&self) -> u32 {
        match self.is_clock.read_once() {
            true => 0,
            false => self.mult.read_once(),
        }
    }

    #[inline]
    pub(super) fn now(&self) -> u64 {
        match self.is_clock.read_once() {
            true => clock::local_ns(),
            false => counter::read(),
        }
    }

    #[inline]
    pub(super) fn ns(&self, counts: u64) -> u64 {
        let mult = u128::from(self.mult.read_once());
        (u128::from(counts).wrapping_mul(mult) >> MULT_SHIFT) as u64
    }
}

/// A value of the timer: of the CPU's counter, or of the clock if the counter is not usable. Values
/// of different times are comparable only if a hook was registered in between all the time, since
/// the timer can change while there is none.
#[derive(Clone, Copy)]
pub struct CounterTime(pub(super) u64);

impl CounterTime {
    /// Returns the current time. Only for callbacks. Any context.
    #[inline]
    pub fn now() -> Self {
        Self(TIMER.now())
    }
}

/// Maximum distance, in ns, between two readings of the clock so that a reading of the timer in
/// between has the same time.
const CLOSE_NS: u64 = 4000;

/// Values of the timer and of the clock at the same time, to convert one to the other.
#[derive(Clone, Copy)]
pub struct ClockPair {
    pub(super) counter: CounterTime,
    pub(super) clock_ns: u64,
}

impl ClockPair {
    /// Reads both. An NMI, or the host of a virtual machine, may delay this CPU between the
    /// readings, which would change the duration of calls; then it tries again. Only for callbacks.
    /// Any context.
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

    /// Reads both once. Also returns the time in ns between the two readings of the clock.
    fn read() -> (Self, u64) {
        let before_ns = clock::local_ns();
        let counter = CounterTime::now();
        let apart_ns = clock::local_ns().saturating_sub(before_ns);
        let clock_ns = before_ns.wrapping_add(apart_ns / 2);
        (Self { counter, clock_ns }, apart_ns)
    }
}
