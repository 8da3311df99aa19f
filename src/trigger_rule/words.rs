// SPDX-License-Identifier: GPL-2.0

//! The words of trigger rules, and what they mean.

use super::{
    Action,
    Compare,
    Moment,
    Quantity, //
};

/// The moments.
pub(super) const MOMENTS: [(&[u8], Moment); 14] = [
    (b"entry", Moment::Entry),
    (b"exit", Moment::Exit),
    (b"run", Moment::Run),
    (b"wait", Moment::Wait),
    (b"block", Moment::Block),
    (b"exec", Moment::Exec),
    (b"exit-task", Moment::ExitTask),
    (b"signal", Moment::Signal),
    (b"marker", Moment::Marker),
    (b"counter", Moment::Counter),
    (b"section", Moment::Section),
    (b"irqs-off", Moment::IrqsOff),
    (b"preempt-off", Moment::PreemptOff),
    (b"after", Moment::After),
];

/// The quantities of conditions.
pub(super) const QUANTITIES: [(&[u8], Quantity); Quantity::COUNT] = [
    (b"total", Quantity::Total),
    (b"run", Quantity::Run),
    (b"wait", Quantity::Wait),
    (b"block", Quantity::Block),
    (b"retval", Quantity::Retval),
    (b"sig", Quantity::Sig),
    (b"code", Quantity::Code),
    (b"value", Quantity::Value),
    (b"pid", Quantity::Pid),
];

/// The comparisons.
pub(super) const COMPARISONS: [(&[u8], Compare); 6] = [
    (b"<", Compare::Less),
    (b"<=", Compare::LessOrEqual),
    (b"==", Compare::Equal),
    (b"!=", Compare::NotEqual),
    (b">=", Compare::GreaterOrEqual),
    (b">", Compare::Greater),
];

/// The actions.
pub(super) const ACTIONS: [(&[u8], Action); 5] = [
    (b"start", Action::Start),
    (b"stop", Action::Stop),
    (b"snapshot", Action::Snapshot),
    (b"stacktrace", Action::StackTrace),
    (b"dump", Action::Dump),
];

/// The units of times, in ns.
pub(super) const UNITS: [(&[u8], u64); 4] = [
    (b"ns", 1),
    (b"us", 1_000),
    (b"ms", 1_000_000),
    (b"s", 1_000_000_000),
];

/// The names of signals, by their number minus 1 (`include/uapi/asm-generic/signal.h`).
pub(super) const SIGNALS: [&[u8]; 31] = [
    b"HUP", b"INT", b"QUIT", b"ILL", b"TRAP", b"ABRT", b"BUS", b"FPE", b"KILL", b"USR1", b"SEGV",
    b"USR2", b"PIPE", b"ALRM", b"TERM", b"STKFLT", b"CHLD", b"CONT", b"STOP", b"TSTP", b"TTIN",
    b"TTOU", b"URG", b"XCPU", b"XFSZ", b"VTALRM", b"PROF", b"WINCH", b"IO", b"PWR", b"SYS",
];

/// The greatest number of a signal.
pub(super) const MAX_SIGNAL: i64 = 64;

/// Returns what a word means.
pub(super) fn find<T: Copy>(words: &[(&[u8], T)], word: &[u8]) -> Option<T> {
    let mut words = words.iter();
    words
        .find(|(text, _)| *text == word)
        .map(|(_, value)| *value)
}
