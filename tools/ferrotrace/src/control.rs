// SPDX-License-Identifier: MIT OR Apache-2.0

//! Settings of an instance that several verbs write: which tasks, which functions, options.

use std::fs;

use anyhow::{
    bail,
    Context, //
};

use crate::{
    tracefs::Instance,
    units, //
};

/// A selection of tasks.
#[derive(clap::Args)]
pub struct Tasks {
    /// Selects a process: all its threads, also those that start later. Can be repeated.
    #[arg(
        short,
        long = "pid",
        value_name = "PID",
        value_delimiter = ',',
        value_parser = units::task
    )]
    pub pids: Vec<u32>,

    /// Selects a single thread. Can be repeated.
    #[arg(
        short,
        long = "tid",
        value_name = "TID",
        value_delimiter = ',',
        value_parser = units::task
    )]
    pub tids: Vec<u32>,

    /// Selects the threads whose name (comm) matches a pattern of *, ? and [a-z]. Can be repeated.
    #[arg(short, long = "name", value_name = "GLOB")]
    pub names: Vec<String>,

    /// Selects all tasks of a cgroup (v2), and of those below it: a path as in /proc/PID/cgroup,
    /// like /system.slice/cron.service, or a directory below /sys/fs/cgroup. Can be repeated.
    #[arg(short = 'G', long = "cgroup", value_name = "PATH")]
    pub cgroups: Vec<String>,

    /// Also selects the children of these tasks.
    #[arg(short, long)]
    pub follow: bool,
}

impl Tasks {
    /// Returns whether nothing is selected, which selects all tasks.
    pub fn is_all(&self) -> bool {
        self.pids.is_empty()
            && self.tids.is_empty()
            && self.names.is_empty()
            && self.cgroups.is_empty()
    }

    /// Checks that the tasks exist.
    pub fn check(&self) -> anyhow::Result<()> {
        for &pid in &self.pids {
            match process_of(pid) {
                None => bail!("there is no process {pid}"),
                Some(process) if process != pid => {
                    bail!("{pid} is a thread of process {process}: use -t {pid}, or -p {process}")
                }
                Some(_) => {}
            }
        }
        for &tid in &self.tids {
            if process_of(tid).is_none() {
                bail!("there is no thread {tid}");
            }
        }
        Ok(())
    }

    /// Writes the selection to the control files.
    pub fn select(&self, instance: &Instance) -> anyhow::Result<()> {
        if self.follow {
            instance.write("ferrotrace/follow_fork", "1")?;
        }
        for pid in &self.pids {
            add_process(instance, *pid)?;
        }
        for tid in &self.tids {
            instance.append("ferrotrace/set_pid", &tid.to_string())?;
        }
        for name in &self.names {
            instance
                .append("ferrotrace/set_comm", &escape_spaces(name))
                .context("the name (-n)")?;
        }
        for cgroup in &self.cgroups {
            if !instance.path(CGROUPS).exists() {
                bail!("--cgroup: the loaded module cannot do this (no file {CGROUPS})");
            }
            instance
                .append(CGROUPS, &escape_spaces(cgroup_path(cgroup)))
                .context("the cgroup (-G)")?;
        }
        Ok(())
    }
}

const CGROUPS: &str = "ferrotrace/set_cgroup";

/// Returns the path of a cgroup in its hierarchy, from the path of its directory.
fn cgroup_path(cgroup: &str) -> &str {
    let cgroup = cgroup.trim_end_matches('/');
    match cgroup.strip_prefix("/sys/fs/cgroup") {
        Some("") => "/",
        Some(path) if path.starts_with('/') => path,
        _ if cgroup.is_empty() => "/",
        _ => cgroup,
    }
}

/// Adds a process to the tasks that are recorded.
pub fn add_process(instance: &Instance, pid: u32) -> anyhow::Result<()> {
    instance.append("ferrotrace/set_tgid", &pid.to_string())
}

/// Selects the functions whose calls are recorded: all that match one of the patterns, only those
/// of a kernel module if one is given.
///
/// # Errors
///
/// If a pattern matches nothing.
pub fn select_functions(
    instance: &Instance,
    functions: &[String],
    module: Option<&str>,
) -> anyhow::Result<()> {
    let all = ["*".to_string()];
    let functions = match module {
        Some(_) if functions.is_empty() => &all[..],
        _ => functions,
    };
    for function in functions {
        let pattern = match module {
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
            || (module.is_some() && selected() == before)
        {
            match module {
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

/// Returns whether a line of `set_ftrace_filter` is the name of a function.
fn is_function(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#') && !line.contains(":mod:")
}

/// Turns an option on, or off if it begins with `no`, as with trace-cmd.
///
/// # Errors
///
/// If there is no such option.
pub fn set_option(instance: &Instance, option: &str) -> anyhow::Result<()> {
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
    fn cgroups() {
        for (cgroup, path) in [
            ("/system.slice/cron.service", "/system.slice/cron.service"),
            ("/user.slice/", "/user.slice"),
            ("/sys/fs/cgroup/user.slice", "/user.slice"),
            ("/sys/fs/cgroup/", "/"),
            ("/sys/fs/cgroups", "/sys/fs/cgroups"),
            ("/", "/"),
            ("42", "42"),
        ] {
            assert_eq!(cgroup_path(cgroup), path);
        }
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
