// SPDX-License-Identifier: MIT OR Apache-2.0

//! Times and numbers as the page shows them.

use std::fmt;

use crate::{
    percent,
    recording::{
        Comm,
        TaskName,
        Waker, //
    },
    summary::TaskSums,
};

/// A time in ns, with three significant digits and a unit: `1.24 s`, `53.7 us`.
#[derive(Clone, Copy)]
pub struct Short(pub u64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut unit, mut name) = (1, "ns");
        for (next, next_name) in [(1_000, "us"), (1_000_000, "ms"), (1_000_000_000, "s")] {
            // Three digits of the smaller unit are enough below this.
            if self.0 >= next - next / 2000 {
                (unit, name) = (next, next_name);
            }
        }
        let value = self.0 as f64 / unit as f64;
        let digits = match value {
            _ if unit == 1 => 0,
            value if value < 9.995 => 2,
            value if value < 99.95 => 1,
            _ => 0,
        };
        write!(f, "{value:.digits$} {name}")
    }
}

/// A part of a time, in whole percent: `82 %`, `below 1 %`.
#[derive(Clone, Copy)]
pub struct Share(pub u64, pub u64);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(part, whole) = *self;
        let is_nearly_all = u128::from(part) * 100 > u128::from(whole) * 99;
        match percent::rounded(part, whole, 100) {
            0 if part != 0 => write!(f, "below 1 %"),
            99.. if part < whole && is_nearly_all => write!(f, "over 99 %"),
            percent => write!(f, "{percent} %"),
        }
    }
}

/// A number with a space between groups of three digits.
#[derive(Clone, Copy)]
pub struct Grouped(pub u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.chars().enumerate() {
            if at != 0 && (digits.len() - at) % 3 == 0 {
                write!(f, "\u{202f}")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

/// Returns what the page calls a task.
pub fn task_name(name: TaskName, idle_cpu: Option<usize>) -> String {
    match idle_cpu {
        Some(cpu) => format!("idle task of CPU {cpu}"),
        None => name.to_string(),
    }
}

/// Returns what the page calls a task of the summary.
pub fn name_of(task: &TaskSums) -> String {
    task_name(task.name, task.idle_cpu)
}

/// Returns what the page calls a waker: a task, or the kind of interrupt.
pub fn waker_name(waker: &Waker) -> String {
    match waker.context {
        0 => waker.task.to_string(),
        _ => waker.context_name().to_owned(),
    }
}

/// Returns what the page calls the task that had the CPU while another one waited.
pub fn behind_name(task: TaskName) -> String {
    match task.pid {
        0 if task.comm == Comm::default() => "an idle CPU".to_owned(),
        0 => format!("{} (the CPU was idle)", task.comm),
        _ => task.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1000, "1.00 us"),
            (53_749, "53.7 us"),
            (999_499, "999 us"),
            (999_999, "1.00 ms"),
            (12_345_678, "12.3 ms"),
            (1_240_000_000, "1.24 s"),
            (123_456_000_000, "123 s"),
        ] {
            assert_eq!(Short(ns).to_string(), text);
        }
    }

    #[test]
    fn shares_do_not_round_to_nothing_or_to_all() {
        assert_eq!(Share(0, 10).to_string(), "0 %");
        assert_eq!(Share(1, 1000).to_string(), "below 1 %");
        assert_eq!(Share(82, 100).to_string(), "82 %");
        assert_eq!(Share(999, 1000).to_string(), "over 99 %");
        assert_eq!(Share(10, 10).to_string(), "100 %");
        assert_eq!(Share(0, 0).to_string(), "0 %");
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(Grouped(999).to_string(), "999");
        assert_eq!(Grouped(1_234_567).to_string(), "1\u{202f}234\u{202f}567");
    }
}
