// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes the options of `ferrotrace record` to the control files of the instance.

use std::path::Path;

use anyhow::{
    bail,
    Context, //
};

use super::args::Args;
use crate::{
    control::{
        select_functions,
        set_option, //
    },
    tracefs::Instance, //
};

/// The option that copies the markers of the recorded tasks to the instance.
const MARKERS: &str = "ferro-markers";

/// The control file of the threshold for chains of wakeups, in us.
const CHAINS: &str = "ferrotrace/chain_thresh";

/// The control file that has the work of traced tasks traced.
const FOLLOW_WORK: &str = "ferrotrace/follow_work";

/// Checks that the tasks and the module exist, and that the event names are valid.
pub fn check(args: &Args) -> anyhow::Result<()> {
    args.tasks.check()?;
    if let Some(module) = &args.module {
        let name = module.replace('-', "_");
        if module.contains('/') || !Path::new("/sys/module").join(name).exists() {
            bail!("the module {module} is not loaded; see lsmod");
        }
    }
    Ok(())
}

/// Writes all settings, except the process of the command.
pub fn configure(instance: &Instance, args: &Args) -> anyhow::Result<()> {
    instance.wait_for("ferrotrace/stats")?;
    instance
        .write("buffer_size_kb", &args.buffer.div_ceil(1024).to_string())
        .context("the buffer (--buffer)")?;
    args.tasks.select(instance)?;
    if args.all || !args.tasks.cgroups.is_empty() {
        // The programs that write the file would record themselves, if they are in the cgroup.
        instance.append("ferrotrace/set_notrace_comm", "ferrotrace trace-cmd")?;
    }
    for threshold in &args.over {
        instance.append("ferrotrace/tracing_thresh", threshold.as_str())?;
    }
    if args.follow_work {
        if !instance.path(FOLLOW_WORK).exists() {
            bail!("--follow-work: the loaded module cannot do this (no file {FOLLOW_WORK})");
        }
        instance.write(FOLLOW_WORK, "1").context("--follow-work")?;
    }
    if let Some(micros) = args.chains {
        if !instance.path(CHAINS).exists() {
            bail!("--chains: the loaded module does not report chains (no file {CHAINS})");
        }
        instance
            .write(CHAINS, &micros.to_string())
            .context("--chains")?;
    }
    if let Some(depth) = args.max_depth {
        instance.write("ferrotrace/max_graph_depth", &depth.to_string())?;
    }
    select_functions(instance, &args.functions, args.module.as_deref())?;
    set_options(instance, args)
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
    // Earlier versions of the module do not have this option.
    if instance.path("options").join(MARKERS).exists() {
        set_option(instance, MARKERS)?;
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
