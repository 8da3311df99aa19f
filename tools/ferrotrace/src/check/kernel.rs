// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks of the kernel, of what the module provides, and of the rights to trace.

use super::{
    facts::Facts,
    module::is_loaded,
    Line, //
};
use crate::tracefs::Tracefs;

/// The options without which the module cannot be loaded. A kernel with `CONFIG_RUST` exports the
/// functions of its crates, which the module calls.
pub const OPTIONS: &[&str] = &[
    "MODULES",
    "RUST",
    "KALLSYMS_ALL",
    "KPROBES",
    "FUNCTION_GRAPH_TRACER",
    "DYNAMIC_FTRACE_WITH_ARGS",
    "DEBUG_INFO_BTF",
    "PROBE_EVENTS_BTF_ARGS",
];

/// The bits of `CAP_DAC_OVERRIDE`, with which a process can write to tracefs, and of
/// `CAP_SYS_ADMIN`.
const CAPABILITIES: u64 = (1 << 1) | (1 << 21);

/// Checks the release and the configuration of the kernel.
pub fn options(facts: &Facts) -> Line {
    let release = facts.release();
    let Some(config) = facts.config() else {
        return Line::warning(
            "kernel",
            format!("{release}; its options are not known: no /boot/config-{release}"),
        );
    };
    let lacks: Vec<String> = OPTIONS
        .iter()
        .filter(|name| !is_set(&config, name))
        .map(|name| format!("CONFIG_{name}"))
        .collect();
    if lacks.is_empty() {
        Line::ok(
            "kernel",
            format!("{release}, with all options that are needed"),
        )
    } else {
        let lacks = lacks.join(", ");
        Line::missing(
            "kernel",
            format!("{release} has no {lacks}: use a kernel that is built with it"),
        )
    }
}

fn is_set(config: &str, name: &str) -> bool {
    config.lines().any(|line| {
        let value = line
            .strip_prefix("CONFIG_")
            .and_then(|line| line.strip_prefix(name));
        matches!(value, Some("=y" | "=m"))
    })
}

/// Checks the rights of this process.
pub fn rights(facts: &Facts) -> Line {
    let status = facts.read("/proc/self/status").unwrap_or_default();
    let field = |name| status.lines().find_map(|line| line.strip_prefix(name));
    let root = field("Uid:").and_then(|ids| ids.split_whitespace().nth(1)) == Some("0");
    let effective = field("CapEff:").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let capable = effective.is_some_and(|mask| mask & CAPABILITIES == CAPABILITIES);
    match (root, capable) {
        (true, true) => Line::ok("rights", "root"),
        (true, false) => Line::warning("rights", "root without all capabilities (a container?)"),
        (false, true) => Line::ok("rights", "capabilities"),
        (false, false) => Line::missing("rights", "only root may trace: sudo ferrotrace check"),
    }
}

/// Checks the lockdown mode.
pub fn lockdown(facts: &Facts) -> Line {
    let text = facts
        .read("/sys/kernel/security/lockdown")
        .unwrap_or_default();
    let mode = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or("none", |(mode, _)| mode);
    match mode {
        "none" => Line::ok("lockdown", "none"),
        "confidentiality" => Line::missing(
            "lockdown",
            "confidentiality: no process may trace; boot with lockdown=integrity or without",
        ),
        mode => Line::warning(
            "lockdown",
            format!("{mode}: only a signed module can be loaded (README, Secure Boot)"),
        ),
    }
}

/// Checks that tracefs is mounted.
pub fn tracefs(facts: &Facts) -> Line {
    match facts.tracefs() {
        Some(path) => Line::ok("tracefs", path.display().to_string()),
        None => Line::missing(
            "tracefs",
            "not mounted: sudo mount -t tracefs nodev /sys/kernel/tracing",
        ),
    }
}

/// Checks that the module provides its tracer, if it is loaded and can be asked.
pub fn tracer(facts: &Facts) -> Option<Line> {
    if !is_loaded(facts) {
        return None;
    }
    let file = facts.tracefs()?.join("available_tracers");
    let line = match facts.read(file) {
        Ok(tracers) if tracers.split_whitespace().any(|name| name == "ferrotrace") => {
            Line::ok("tracer", "ferrotrace is in available_tracers")
        }
        Ok(_) => Line::missing(
            "tracer",
            "ferrotrace is not in available_tracers; see dmesg | grep ferrotrace",
        ),
        // The rights are a check of their own.
        Err(_) => return None,
    };
    Some(line)
}

/// Checks that the self-test of compact records has passed: an instance accepts the option.
pub fn compact(facts: &Facts) -> Option<Line> {
    if !facts.is_real() || !is_loaded(facts) {
        return None;
    }
    let tracefs = Tracefs::find().ok()?;
    let name = format!("ferrotrace-{}", std::process::id());
    let accepted = tracefs.create(&name).and_then(|instance| {
        instance.wait_for("options/ferro-compact")?;
        instance.write("options/ferro-compact", "1")?;
        instance.remove()
    });
    Some(match accepted {
        Ok(()) => Line::ok("self-test", "compact records are supported (--compact)"),
        Err(error) => Line::warning("self-test", format!("--compact: {error:#}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration() {
        let config = "CONFIG_KPROBES=y\n# CONFIG_BTF is not set\nCONFIG_KPROBES_ON_FTRACE=y\n";
        assert!(is_set(config, "KPROBES"));
        assert!(!is_set(config, "BTF"));
        assert!(!is_set(config, "KPROBES_ON"));
    }
}
