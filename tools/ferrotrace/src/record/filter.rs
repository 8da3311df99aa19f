// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes the options of `ferrotrace record` to the control files of the instance.

use std::{
    fs,
    path::Path, //
};

use anyhow::{
    bail,
    Context, //
};

use super::args::Args;
use crate::tracefs::Instance;

/// Checks that the tasks and the module exist, and that the event names are valid.
pub fn check(args: &Args) -> anyhow::Result<()> {
    for &pid in &args.pids {
        match process_of(pid) {
            None => bail!("there is no process {pid}"),
            Some(process) if process != pid => {
                bail!("{pid} is a thread of process {process}: use -t {pid}, or -p {process}")
            }
            Some(_) => {}
        }
    }
    for &tid in &args.tids {
        if process_of(tid).is_none() {
            bail!("there is no thread {tid}");
        }
    }
    if let Some(module) = &args.module {
        let name = module.replace('-', "_");
        if module.contains('/') || !Path::new("/sys/module").join(name).exists() {
            bail!("the module {module} is not loaded; see lsmod");
        }
    }
    Ok(())
}

/// Writes all settings, except the process of the command, see [`add_process`].
pub fn configure(instance: &Instance, args: &Args) -> anyhow::Result<()> {
    instance.wait_for("ferrotrace/stats")?;
    instance
        .write("buffer_size_kb", &args.buffer.div_ceil(1024).to_string())
        .context("the buffer (--buffer)")?;
    if args.follow {
        instance.write("ferrotrace/follow_fork", "1")?;
    }
    for pid in &args.pids {
        add_process(instance, *pid)?;
    }
    for tid in &args.tids {
        instance.append("ferrotrace/set_pid", &tid.to_string())?;
    }
    for name in &args.names {
        instance
            .append("ferrotrace/set_comm", &escape_spaces(name))
            .context("the name (-n)")?;
    }
    if args.all {
        // The program that writes the file would record itself.
        instance.append("ferrotrace/set_notrace_comm", "ferrotrace trace-cmd")?;
    }
    for threshold in &args.over {
        instance.append("ferrotrace/tracing_thresh", threshold.as_str())?;
    }
    if let Some(depth) = args.max_depth {
        instance.write("ferrotrace/max_graph_depth", &depth.to_string())?;
    }
    select_functions(instance, args)?;
    set_options(instance, args)
}

/// Adds a process to the tasks that are recorded.
pub fn add_process(instance: &Instance, pid: u32) -> anyhow::Result<()> {
    instance.append("ferrotrace/set_tgid", &pid.to_string())
}

fn select_functions(instance: &Instance, args: &Args) -> anyhow::Result<()> {
    let all = ["*".to_string()];
    let functions = match &args.module {
        Some(_) if args.functions.is_empty() => &all[..],
        _ => &args.functions,
    };
    for function in functions {
        let pattern = match &args.module {
            Some(module) => format!("{function}:mod:{module}"),
            None => function.clone(),
        };
        let selected = || {
            let list = instance.read("set_ftrace_filter").unwrap_or_default();
            list.lines().filter(|line| is_function(line)).count()
        };
        let before = selected();
        // The kernel accepts a pattern for a module that matches nothing.
        if instance.append("set_ftrace_filter", &pattern).is_err()
            || (args.module.is_some() && selected() == before)
        {
            match &args.module {
                Some(module) => bail!("no function of module {module} matches '{function}'"),
                None => bail!(
                    "no function matches '{function}'; see available_filter_functions in the \
                     tracing directory"
                ),
            }
        }
    }
    Ok(())
}

/// Tells whether a line of `set_ftrace_filter` is the name of a function.
fn is_function(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#') && !line.contains(":mod:")
}

fn set_options(instance: &Instance, args: &Args) -> anyhow::Result<()> {
    // A new instance has the options of the top trace array.
    for option in [
        "ferro-graph",
        "ferro-offcpu",
        "ferro-irqs",
        "noferro-profile",
    ] {
        set_option(instance, option)?;
    }
    set_option(
        instance,
        if args.compact {
            "ferro-compact"
        } else {
            "noferro-compact"
        },
    )
    .context("--compact")?;
    for option in &args.options {
        set_option(instance, option).context("-O")?;
    }
    Ok(())
}

/// Turns an option on, or off if it begins with `no`, as with trace-cmd.
fn set_option(instance: &Instance, option: &str) -> anyhow::Result<()> {
    let exists = |name: &str| {
        !name.is_empty() && !name.contains('/') && instance.path("options").join(name).is_file()
    };
    if exists(option) {
        return instance.write(&format!("options/{option}"), "1");
    }
    match option.strip_prefix("no") {
        Some(name) if exists(name) => instance.write(&format!("options/{name}"), "0"),
        _ => bail!("there is no option {option}"),
    }
}

/// Returns the process of a thread.
fn process_of(tid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    let tgid = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    tgid.trim().parse().ok()
}

/// Puts a backslash before each white space, at which the control files separate words.
fn escape_spaces(name: &str) -> String {
    let mut escaped = String::new();
    let mut after_backslash = false;
    for c in name.chars() {
        if c.is_ascii_whitespace() && !after_backslash {
            escaped.push('\\');
        }
        after_backslash = c == '\\' && !after_backslash;
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(escape_spaces("nginx*"), "nginx*");
        assert_eq!(escape_spaces("Web Content"), "Web\\ Content");
        assert_eq!(escape_spaces("Web\\ Content"), "Web\\ Content");
        assert_eq!(escape_spaces("a\\\\ b"), "a\\\\\\ b");
    }

    #[test]
    fn processes() {
        assert_eq!(process_of(std::process::id()), Some(std::process::id()));
        assert_eq!(process_of(u32::MAX), None);
    }

    #[test]
    fn functions() {
        assert!(is_function("vfs_read"));
        assert!(is_function("ext4_sync [ext4]"));
        assert!(!is_function("#### all functions enabled ####"));
        assert!(!is_function("*:mod:none"));
    }
}
