// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads events while they are being written, from an instance of this program.
//!
//! Each round asks for the time before it reads. All records that are earlier than the time of the
//! round before are then complete on all CPUs.

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
        CpuBuffer,
        Decoder,
        Merge,
        Symbols, //
    },
    stats::Stats,
    sys::Formats,
    tracefs::{
        Instance,
        OpenFile, //
    }, //
};

/// The time between two rounds.
pub const ROUND: Duration = Duration::from_millis(250);

/// The buffer of each CPU in KiB: enough for about 50,000 events in a round.
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
    /// Contains what time it is.
    clock: OpenFile,
    stats: OpenFile,
    /// The times of functions, unless calls are not observed.
    profile: Option<OpenFile>,
    instance: Instance,
    decoder: Decoder,
    symbols: Symbols<'a>,
    merge: Merge,
    model: Model,
    /// The time of the latest round.
    time: Option<u64>,
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
        let cpus = cpus(&instance)?
            .into_iter()
            .map(|cpu| CpuBuffer::open(&instance.path(""), cpu, page_size));
        let live = Self {
            cpus: cpus.collect::<Result<_, _>>()?,
            clock: instance.open("per_cpu/cpu0/stats")?,
            stats: instance.open("ferrotrace/stats")?,
            profile: match args.no_calls {
                false => Some(instance.open("ferrotrace/profile")?),
                true => None,
            },
            decoder: Decoder::new(formats),
            symbols: Symbols::new(formats),
            merge: Merge::default(),
            model: Model::default(),
            time: None,
            page_size,
            instance,
        };
        live.instance.write("tracing_on", "1")?;
        Ok(live)
    }

    /// Begins the view: now, with the threads that exist.
    pub fn begin(&mut self, data: &mut Data, args: &Args) -> anyhow::Result<()> {
        self.round(data)?;
        data.begin(self.time.unwrap_or(0));
        for (name, state) in procfs::threads(&args.tasks) {
            data.add(name, state);
        }
        Ok(())
    }

    /// Reads all buffers, and passes the events on that are complete.
    pub fn round(&mut self, data: &mut Data) -> anyhow::Result<()> {
        let due = self.time;
        self.read()?;
        if let Some(due) = due {
            self.pass_on(due, data);
        }
        Ok(())
    }

    /// Stops recording, and passes on all events up to now.
    pub fn stop(&mut self, data: &mut Data) -> anyhow::Result<()> {
        self.instance.write("tracing_on", "0")?;
        self.read()?;
        if let Some(time) = self.time {
            self.pass_on(time, data);
        }
        Ok(())
    }

    fn read(&mut self) -> anyhow::Result<()> {
        self.time = Some(now(&self.clock)?);
        // A CPU that writes faster than it can be read must not stop the others.
        let limit = BUFFER_KB * 1024 / self.page_size;
        for cpu in &mut self.cpus {
            for _ in 0..limit {
                if !self.merge.read(cpu)? {
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
            if let Some(lost) = decoder.lost(raw) {
                model.event(&lost, symbols, data);
            }
            let event = decoder.event(raw, symbols);
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
        Ok(Stats::parse(&self.stats.read()?).lost)
    }

    /// Returns the functions that were called, unless calls are not observed.
    pub fn functions(&self) -> anyhow::Result<Option<Vec<Function>>> {
        let text = self.profile.as_ref().map(OpenFile::read).transpose()?;
        Ok(text.map(|text| profile::parse(&text)))
    }

    /// Clears the times of functions.
    pub fn clear(&self) -> anyhow::Result<()> {
        match self.profile {
            Some(_) => self.instance.write("ferrotrace/profile", ""),
            None => Ok(()),
        }
    }
}

/// Writes all settings.
fn configure(instance: &Instance, args: &Args) -> anyhow::Result<()> {
    instance.wait_for("ferrotrace/stats")?;
    instance.write("buffer_size_kb", &BUFFER_KB.to_string())?;
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

/// Returns the time of an instance's trace clock in ns, rounded down to us.
fn now(clock: &OpenFile) -> anyhow::Result<u64> {
    time(&clock.read_start()?).context("the statistics of a CPU have no time in seconds")
}

/// Finds the time in the statistics of a CPU, such as `now ts:     7.318477`.
fn time(text: &str) -> Option<u64> {
    let time = text.lines().find_map(|line| line.strip_prefix("now ts:"))?;
    let (s, us) = time.trim().split_once('.')?;
    let (s, us): (u64, u64) = (s.parse().ok()?, us.parse().ok()?);
    s.checked_mul(1_000_000)?.checked_add(us)?.checked_mul(1000)
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

#[cfg(test)]
mod tests {
    #[test]
    fn time() {
        let text = "entries: 597\nnow ts:     7.018477\ndropped events: 0\n";
        assert_eq!(super::time(text), Some(7_018_477_000));
        assert_eq!(super::time("now ts: 18446744073709551615\n"), None);
        assert_eq!(super::time("entries: 597\n"), None);
    }
}
