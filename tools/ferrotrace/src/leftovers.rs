// SPDX-License-Identifier: MIT OR Apache-2.0

//! Instances of this program. Their names contain the process, so that one that was left behind
//! (SIGKILL, out of memory) can be found and removed.

use std::{
    fs,
    process, //
};

use crate::{
    message,
    tracefs::{
        Instance,
        Tracefs, //
    }, //
};

const PREFIX: &str = "ferrotrace-";

/// Creates the instance of this process.
pub fn create(tracefs: &Tracefs) -> anyhow::Result<Instance> {
    let name = format!("{PREFIX}{}", process::id());
    // No other process has this id: an instance of this name belongs to one that has died.
    if tracefs.instances()?.contains(&name) {
        if let Some(left) = tracefs.adopt(&name)? {
            left.remove()?;
        }
    }
    tracefs.create(&name)
}

/// Removes the instances whose process has died. Reports what it does on stderr.
pub fn remove(tracefs: &Tracefs) -> anyhow::Result<()> {
    for name in tracefs.instances()? {
        let Some(pid) = owner(&name) else {
            continue;
        };
        // An owner locks its instance directly after it has created it.
        if is_alive(pid) {
            continue;
        }
        // Another process may remove it at this moment.
        let Ok(Some(left)) = tracefs.adopt(&name) else {
            continue;
        };
        match left.remove() {
            Ok(()) => message::print(format_args!(
                "ferrotrace: removed {name}, which a killed ferrotrace has left"
            )),
            Err(error) => message::print(format_args!(
                "ferrotrace: a killed ferrotrace has left {name}: {error:#}"
            )),
        }
    }
    Ok(())
}

/// Returns the process to which an instance of this name belongs.
fn owner(name: &str) -> Option<u32> {
    let digits = name.strip_prefix(PREFIX)?;
    digits.parse().ok().filter(|_| !digits.starts_with('+'))
}

/// Returns whether a process exists and is this program.
fn is_alive(pid: u32) -> bool {
    let comm = |pid| fs::read_to_string(format!("/proc/{pid}/comm"));
    match (comm(pid), comm(process::id())) {
        (Ok(one), Ok(own)) => one == own,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners() {
        assert_eq!(owner("ferrotrace-123"), Some(123));
        for name in [
            "ferrotrace-",
            "ferrotrace-+1",
            "ferrotrace-1x",
            "mine",
            "ferrotrace",
        ] {
            assert_eq!(owner(name), None, "{name}");
        }
    }

    #[test]
    fn processes() {
        assert!(is_alive(process::id()));
        assert!(!is_alive(u32::MAX));
    }
}
