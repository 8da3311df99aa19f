// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads events while they are being written, from an instance of this program.
//!
//! Each round writes a marker to the buffer before it reads. All records that are earlier than the
//! marker of the round before are then complete on all CPUs. The marker also says what time it is
//! if no events occur.

use std::{
    fs,
    time::Duration, //
};

use anyhow::Context;
use rustix::param::page_size;

use super::{
    args::Args,
    data::{
        profile::{
            self,
            Function, //
        },
        Data, //
    },
    procfs, //
};
use crate::{
    control::{
        select_functions,
        set_option, //
    },
    model::Model,
    recording::{
        Decoder,
        Merge,
        Symbols, //
    },
    stats::Stats,
    sys::{
        CpuBuffer,
        Formats, //
    },
    tracefs::Instance,
};

/// The time between two rounds.
pub const ROUND: Duration = Duration::from_millis(100);

/// The buffer of each CPU in KiB: enough for about 300,000 events in a round.
const BUFFER_KB: usize = 4096;

const EVENTS: [&str; 3] = ["task_run", "task_wait", "task_block"];

/// The system calls.
const SYSTEM_CALLS: &str = if cfg!(target_arch = "aarch64") {
    "__arm64_sys_*"
} else {
    "__x64_sys_*"
};

/// An instance that records states of tasks, and its reader.
pub struct Live<'a> {
    // The open files hold the instance: they are closed before it is removed.
    cpus: Vec<CpuBuffer>,
    instance: Instance,
    decoder: Decoder,
    symbols: Symbols<'a>,
    /// The id of the event of markers.
    marker: u16,
    merge: Merge,
    model: Model,
    /// The time of the latest marker.
    mark: Option<u64>,
    has_calls: bool,
    page_size: usize,
}

impl<'a> Live<'a> {
    /// Sets the instance up, and begins to record.
    pub fn start(instance: Instance, formats: &'a Formats, args: &Args) -> anyhow::Result<Self> {
        configure(&instance, args)?;
        let page_size = match instance.read("buffer_subbuf_size_kb") {
            Ok(text) => {
                text.trim()
                    .parse::<usize>()
                    .context("buffer_subbuf_size_kb")?
                    * 1024
            }
            // Before Linux 6.9, a sub-buffer is a page.
            Err(_) => page_size(),
        };
        let marker = formats
            .event(Some(c"ftrace"), c"print")
            .context("the kernel has no event ftrace:print")?;
        let cpus = cpus(&instance)?
            .into_iter()
            .map(|cpu| CpuBuffer::open(formats, &instance.path(""), cpu, page_size));
        let live = Self {
            cpus: cpus.collect::<Result<_, _>>()?,
            decoder: Decoder::new(formats),
            symbols: Symbols::new(formats),
            marker: marker.id(),
            merge: Merge::default(),
            model: Model::default(),
            mark: None,
            has_calls: !args.no_calls,
            page_size,
            instance,
        };
        live.instance.write("tracing_on", "1")?;
        Ok(live)
    }

    /// Begins the view: now, with the threads that exist.
    pub fn begin(&mut self, data: &mut Data, args: &Args) -> anyhow::Result<()> {
        self.round(data)?;
        data.begin(self.mark.context("the buffer has no marker")?);
        for (name, state) in procfs::threads(&args.tasks) {
            data.add(name, state);
        }
        Ok(())
    }

    /// Reads all buffers, and passes the events on that are complete.
    pub fn round(&mut self, data: &mut Data) -> anyhow::Result<()> {
        let due = self.mark;
        self.instance.write("trace_marker", "ferrotrace top")?;
        self.read()?;
        if let Some(due) = due {
            self.pass_on(due, data);
        }
        Ok(())
    }

    /// Stops recording, and passes on all events up to now.
    pub fn stop(&mut self, data: &mut Data) -> anyhow::Result<()> {
        self.round(data)?;
        self.instance.write("tracing_on", "0")?;
        self.read()?;
        if let Some(mark) = self.mark {
            self.pass_on(mark, data);
        }
        Ok(())
    }

    fn read(&mut self) -> anyhow::Result<()> {
        // A CPU that writes faster than it can be read must not stop the others.
        let limit = BUFFER_KB * 1024 / self.page_size;
        for cpu in &mut self.cpus {
            for _ in 0..limit {
                let more = cpu.read(|raw| {
                    if self.decoder.id(raw.data) == self.marker {
                        self.mark = self.mark.max(Some(raw.time));
                    }
                    self.merge.add(&raw);
                })?;
                if !more {
                    break;
                }
            }
        }
        Ok(())
    }

    fn pass_on(&mut self, due: u64, data: &mut Data) {
        let Self {
            merge,
            decoder,
            symbols,
            model,
            ..
        } = self;
        merge.drain(due, |raw| {
            if let Some(lost) = decoder.lost(&raw) {
                model.event(&lost, symbols, data);
            }
            let event = decoder.event(&raw, symbols);
            model.event(&event, symbols, data);
        });
        data.advance(due);
    }

    /// Returns the names of functions, by their numbers.
    pub fn names(&self) -> &[String] {
        self.symbols.names()
    }

    /// Returns the number of records that were lost.
    pub fn lost(&self) -> anyhow::Result<u64> {
        Ok(Stats::parse(&self.instance.read("ferrotrace/stats")?).lost)
    }

    /// Returns the functions that were called, unless calls are not observed.
    pub fn functions(&self) -> anyhow::Result<Option<Vec<Function>>> {
        if !self.has_calls {
            return Ok(None);
        }
        let text = self.instance.read("ferrotrace/profile")?;
        Ok(Some(profile::parse(&text)))
    }

    /// Clears the times of functions.
    pub fn clear(&self) -> anyhow::Result<()> {
        match self.has_calls {
            true => self.instance.write("ferrotrace/profile", ""),
            false => Ok(()),
        }
    }
}

/// Writes all settings.
fn configure(instance: &Instance, args: &Args) -> anyhow::Result<()> {
    instance.wait_for("ferrotrace/stats")?;
    instance.write("buffer_size_kb", &BUFFER_KB.to_string())?;
    set_option(instance, "markers")?;
    args.tasks.select(instance)?;
    if args.tasks.is_all() || !args.tasks.cgroups.is_empty() {
        // The view would observe itself.
        instance.append("ferrotrace/set_notrace_comm", "ferrotrace")?;
    }
    for event in EVENTS {
        instance.write(&format!("events/ferrotrace/{event}/enable"), "1")?;
    }
    if args.no_calls {
        return Ok(());
    }
    // A new instance has the options of the top trace array.
    for option in ["ferro-graph", "ferro-offcpu", "ferro-irqs", "ferro-profile"] {
        set_option(instance, option)?;
    }
    let default = [SYSTEM_CALLS.to_string()];
    let functions = match args.functions.is_empty() {
        true => &default[..],
        false => &args.functions,
    };
    select_functions(instance, functions, None)?;
    instance.write("current_tracer", "ferrotrace")
}

/// Returns the CPUs that have a buffer.
fn cpus(instance: &Instance) -> anyhow::Result<Vec<usize>> {
    let mut cpus = Vec::new();
    for entry in fs::read_dir(instance.path("per_cpu")).context("per_cpu")? {
        let name = entry?.file_name();
        let cpu = name.to_str().and_then(|name| name.strip_prefix("cpu"));
        cpus.extend(cpu.and_then(|cpu| cpu.parse::<usize>().ok()));
    }
    cpus.sort_unstable();
    Ok(cpus)
}
