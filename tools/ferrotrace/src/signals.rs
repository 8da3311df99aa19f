// SPDX-License-Identifier: MIT OR Apache-2.0

//! Signals that end the program, received as messages.

use std::{
    fs,
    io,
    thread, //
};

use signal_hook::{
    consts::{
        SIGHUP,
        SIGINT,
        SIGTERM, //
    },
    iterator::Signals,
};

/// Calls a function in a thread for each SIGINT, SIGTERM and SIGHUP, which no longer end the
/// program. SIGHUP stays ignored if the program was started with `nohup`.
pub fn receive(mut each: impl FnMut(i32) + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || signals.forever().for_each(&mut each))?;
    Ok(())
}

/// Returns the exit status of a program that a signal has ended.
pub fn exit_code(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(1)
}

fn is_ignored(signal: i32) -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores(&status, signal))
}

/// Returns whether a task with this `/proc/PID/status` ignores a signal.
fn ignores(status: &str, signal: i32) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| (mask >> (signal - 1)) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals() {
        assert!(ignores("Name:\tx\nSigIgn:\t0000000000000001\n", SIGHUP));
        assert!(!ignores("SigIgn:\t0000000000000002\n", SIGHUP));
        assert!(ignores("SigIgn:\t0000000000000002\n", SIGINT));
        assert!(!ignores("", SIGINT));
    }
}
