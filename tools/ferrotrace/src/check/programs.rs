// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks of the programs and libraries that recordings use.

use std::{
    env,
    path::PathBuf,
    process::Command, //
};

use super::{
    facts::Facts, //
    Line,
};

const PLUGIN: &str = "plugin_ferrotrace.so";

/// Checks that trace-cmd can be run.
pub fn trace_cmd(facts: &Facts) -> Line {
    let output = Command::new("trace-cmd").arg("--version").output();
    match output {
        Ok(output) if facts.is_real() => {
            let text = String::from_utf8_lossy(&output.stdout);
            Line::ok("trace-cmd", version(&text).unwrap_or("unknown version"))
        }
        _ => Line::missing("trace-cmd", "not installed: sudo apt install trace-cmd"),
    }
}

/// Returns the version in the output of `trace-cmd --version`.
fn version(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("trace-cmd version ")?;
    rest.split_whitespace().next()
}

/// Checks that libtraceevent finds the plugin for compact records.
pub fn plugin(facts: &Facts) -> Line {
    let found = directories(facts)
        .into_iter()
        .map(|directory| directory.join(PLUGIN))
        .find(|path| facts.path(path).exists());
    match found {
        Some(path) => Line::ok("plugin", path.display().to_string()),
        None => Line::warning(
            "plugin",
            "not found: trace-cmd and KernelShark cannot read recordings with --compact; \
             install it: make tools",
        ),
    }
}

/// Returns the directories in which libtraceevent looks for plugins.
fn directories(facts: &Facts) -> Vec<PathBuf> {
    let mut directories = Vec::new();
    if facts.is_real() {
        directories.extend(env::var_os("TRACEEVENT_PLUGIN_DIR").map(PathBuf::from));
        directories.extend(
            env::var_os("HOME")
                .map(|home| PathBuf::from(home).join(".local/lib/traceevent/plugins")),
        );
    }
    let machine = env::consts::ARCH;
    for lib in [
        format!("/usr/lib/{machine}-linux-gnu"),
        "/usr/lib64".into(),
        "/usr/lib".into(),
        "/usr/local/lib64".into(),
        "/usr/local/lib".into(),
    ] {
        directories.push(PathBuf::from(lib).join("traceevent/plugins"));
    }
    directories
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let text = "\ntrace-cmd version 3.3.1 (not-a-git-repo)\n\n";
        assert_eq!(version(text), Some("3.3.1"));
        assert_eq!(version(""), None);
    }
}
