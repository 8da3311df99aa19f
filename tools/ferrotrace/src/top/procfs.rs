// SPDX-License-Identifier: MIT OR Apache-2.0

//! The threads that exist when the view begins, and their states. A thread that sleeps or runs all
//! the time has no events.

use std::fs;

use crate::{
    control::Tasks,
    model::State,
    recording::{
        Comm,
        TaskName, //
    },
};

/// Returns the threads of the selected processes, and the selected threads.
pub fn threads(tasks: &Tasks) -> Vec<(TaskName, State)> {
    let mut threads = Vec::new();
    for pid in &tasks.pids {
        let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else {
            continue;
        };
        for entry in entries.flatten() {
            let text = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            threads.extend(parse(&text));
        }
    }
    for tid in &tasks.tids {
        let text = fs::read_to_string(format!("/proc/{tid}/stat")).unwrap_or_default();
        threads.extend(parse(&text));
    }
    threads
}

/// Reads the text of `/proc/TID/stat`. Returns `None` if the thread has ended.
fn parse(text: &str) -> Option<(TaskName, State)> {
    let (pid, rest) = text.split_once(" (")?;
    // The name can contain parentheses.
    let (comm, rest) = rest.rsplit_once(") ")?;
    let state = match rest.chars().next()? {
        // The file does not say whether a runnable thread has a CPU. One that waits for it gets it
        // soon, and has an event then.
        'R' => State::Run {
            cpu: rest.split(' ').nth(36)?.parse().ok()?,
        },
        'S' => State::Block { state: 0x1 },
        'D' => State::Block { state: 0x2 },
        'T' => State::Block { state: 0x4 },
        't' => State::Block { state: 0x8 },
        'P' => State::Block { state: 0x40 },
        'I' => State::Block { state: 0x80 },
        _ => return None,
    };
    let name = TaskName {
        pid: pid.parse().ok()?,
        comm: Comm::new(comm.as_bytes()),
    };
    Some((name, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states() {
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 \
            30 31 32 33 34 35 3 0 0";
        let parsed = |letter| {
            parse(&format!("42 (a) (b) {letter} {rest}\n"))
                .map(|(name, state)| (name.to_string(), state))
        };
        let name = || "a) (b-42".to_string();
        assert_eq!(parsed('R'), Some((name(), State::Run { cpu: 3 })));
        assert_eq!(parsed('D'), Some((name(), State::Block { state: 2 })));
        assert_eq!(parsed('Z'), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn threads_of_this_process() {
        let pid = std::process::id();
        let tasks = Tasks {
            pids: vec![pid],
            tids: Vec::new(),
            names: Vec::new(),
            cgroups: Vec::new(),
            follow: false,
        };
        let threads = threads(&tasks);
        let main = threads
            .iter()
            .find(|(name, _)| name.pid.unsigned_abs() == pid);
        assert!(main.is_some(), "{threads:?}");
    }
}
