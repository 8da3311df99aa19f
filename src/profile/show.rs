// SPDX-License-Identifier: GPL-2.0

//! Prints the profile: one line for each function, up to three lines for each task, and one line
//! for each place, each waker, and each name of a section. The line with the longest total is
//! first, except for tasks.

use core::cmp::Reverse;

use kernel::{
    fmt,
    prelude::*,
    rbtree::RBTree,
    seq_file::SeqFile,
    seq_print, //
};

use super::{
    by_key::ByKey,
    digest,
    gone::Gone,
    histogram::HistogramSnapshot,
    paths::Paths,
    Profile,
    CONTEXT_SHIFT,
    PID_SHIFT, //
};

use crate::{
    events::CONTEXTS,
    ktrace::{
        array::tracefs,
        private::modules,
        task::Comm,
        value_names::name_of, //
    },
    task_times::sections::MAX_NAME,
};

/// The merged values of a function.
#[derive(Zeroable)]
struct FunctionRow {
    total: HistogramSnapshot,
    off_ns: u64,
    irq_ns: u64,
    wait_ns: u64,
    block_ns: u64,
}

/// The merged values of a task.
#[derive(Zeroable)]
struct TaskRow {
    /// The name on the CPU that updated the task last.
    comm: Comm,
    updated_ns: u64,
    run: HistogramSnapshot,
    irq_ns: u64,
    wait: HistogramSnapshot,
    block: HistogramSnapshot,
}

/// The merged values of wakeups.
#[derive(Zeroable)]
struct WakeupRow {
    comm: Comm,
    block: HistogramSnapshot,
}

/// The merged values of sections.
#[derive(Zeroable)]
struct SectionRow {
    name: [u8; MAX_NAME + 1],
    total: HistogramSnapshot,
    run_ns: u64,
    irq_ns: u64,
    wait_ns: u64,
    block_ns: u64,
}

/// A time in ns that is printed in us.
pub(crate) struct Us(pub(crate) u64);

impl fmt::Display for Us {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The width includes the point and the decimals.
        let width = f.width().unwrap_or(0).saturating_sub(4);
        write!(f, "{:width$}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// Prints the columns at the end of a line: minimum, maximum and quantiles.
fn show_distribution(out: &SeqFile, histogram: &HistogramSnapshot) {
    seq_print!(
        out,
        " {:12} {:12} {:12} {:12} {:12} {:12}",
        Us(histogram.min_ns()),
        Us(histogram.max_ns),
        Us(histogram.quantile_ns(500)),
        Us(histogram.quantile_ns(900)),
        Us(histogram.quantile_ns(990)),
        Us(histogram.quantile_ns(999))
    );
}

/// Prints the columns of durations that are divided into parts: run, wait and block, and the time
/// of interrupts within run, if there is any.
fn show_divided(
    out: &SeqFile,
    total: &HistogramSnapshot,
    [run_ns, wait_ns, block_ns]: [u64; 3],
    irq_ns: Option<u64>,
) {
    seq_print!(
        out,
        "{:7} {:12} {:12}",
        total.count,
        Us(total.sum_ns),
        Us(run_ns)
    );
    if let Some(irq_ns) = irq_ns {
        seq_print!(out, " {:12}", Us(irq_ns));
    }
    seq_print!(out, " {:12} {:12}", Us(wait_ns), Us(block_ns));
    show_distribution(out, total);
}

/// Prints the line above such durations; `first` is the name of the first column, and `name` of the
/// last one.
fn show_header(out: &SeqFile, first: &str, has_irqs: bool, name: &str) {
    let irq = if has_irqs { "          irq" } else { "" };
    seq_print!(
        out,
        "# {first}        total          run{irq}         wait        block {DISTRIBUTION}  {name}\n"
    );
}

/// The names of the columns that [`show_distribution`] prints.
const DISTRIBUTION: &str =
    "         min          max          p50          p90          p99        p99.9";

/// The functions of a profile ordered by name, to number those with the same name in the order of
/// their addresses.
pub(super) struct FunctionNames {
    /// The keys are a hash of the name and the address.
    numbers: RBTree<(u64, u64), ()>,
}

impl FunctionNames {
    pub(super) fn new(functions: impl Iterator<Item = u64>) -> Result<Self> {
        let mut numbers = RBTree::new();
        for func in functions {
            let name = modules::name_of(func as usize)?;
            numbers.try_create_and_insert((digest(&name), func), (), GFP_KERNEL)?;
        }
        Ok(Self { numbers })
    }

    /// Prints the name of a function, and its offset or number if there are several with this name.
    pub(super) fn show(&self, out: &SeqFile, func: u64, gone: &Gone) -> Result {
        let Some(name) = show_function(out, func, gone)? else {
            return Ok(());
        };
        let digest = digest(&name);
        let same = self.numbers.keys().filter(|key| key.0 == digest);
        let (before, all) = same.fold((0u32, 0u32), |(before, all), key| {
            (
                before.wrapping_add(u32::from(key.1 < func)),
                all.wrapping_add(1),
            )
        });
        if all < 2 {
            return Ok(());
        }
        match modules::text_offset(func as usize) {
            Some(offset) => seq_print!(out, " (_stext+{offset:#x})"),
            None => seq_print!(out, " (#{})", before.wrapping_add(1)),
        }
        Ok(())
    }
}

/// Prints the name of a function. Returns it, unless the function was unloaded. May sleep.
pub(crate) fn show_function(out: &SeqFile, func: u64, gone: &Gone) -> Result<Option<KVec<u8>>> {
    if let Some(name) = gone.name(func) {
        tracefs::write_bytes(out, name);
        seq_print!(out, " (unloaded)");
        return Ok(None);
    }
    let name = modules::name_of(func as usize)?;
    tracefs::write_bytes(out, &name);
    Ok(Some(name))
}

/// Returns a copy of a name. May sleep.
fn copy_of(name: &[u8]) -> Result<KVec<u8>> {
    let mut copy = KVec::with_capacity(name.len(), GFP_KERNEL)?;
    copy.extend_from_slice(name, GFP_KERNEL)?;
    Ok(copy)
}

/// Prints one line for each key, with its block times, the longest total first.
fn show_blocks<'a>(
    out: &SeqFile,
    what: &str,
    blocks: impl Iterator<Item = (u64, &'a HistogramSnapshot)>,
    name: impl Fn(u64) -> Result,
) -> Result {
    let mut order = RBTree::new();
    for (key, block) in blocks.filter(|(_, block)| block.count != 0) {
        order.try_create_and_insert((Reverse(block.sum_ns), key), block, GFP_KERNEL)?;
    }
    seq_print!(out, "# times        block {DISTRIBUTION}  {what}\n");
    for ((_, key), block) in &order {
        seq_print!(out, "{:7} {:12}", block.count, Us(block.sum_ns));
        show_distribution(out, block);
        seq_print!(out, "  ");
        name(*key)?;
        seq_print!(out, "\n");
    }
    Ok(())
}

impl Profile {
    fn merged_functions(&self) -> Result<ByKey<FunctionRow>> {
        ByKey::merged(self.functions(), |function: &mut FunctionRow, here| {
            function.total.merge(&here.total);
            function.off_ns = function.off_ns.wrapping_add(here.off_ns.get());
            function.irq_ns = function.irq_ns.wrapping_add(here.irq_ns.get());
            function.wait_ns = function.wait_ns.wrapping_add(here.wait_ns.get());
            function.block_ns = function.block_ns.wrapping_add(here.block_ns.get());
        })
    }

    fn merged_tasks(&self) -> Result<ByKey<TaskRow>> {
        ByKey::merged(self.tasks(), |times: &mut TaskRow, here| {
            if times.updated_ns <= here.updated_ns.get() {
                times.comm = here.comm.get();
                times.updated_ns = here.updated_ns.get();
            }
            times.run.merge(&here.run);
            times.irq_ns = times.irq_ns.wrapping_add(here.irq_ns.get());
            times.wait.merge(&here.wait);
            times.block.merge(&here.block);
        })
    }

    /// Prints the places at which tasks were blocked. Several in one function are one place.
    fn show_places(&self, out: &SeqFile, gone: &Gone) -> Result {
        let mut all: ByKey<HistogramSnapshot> = ByKey::new();
        let mut names = RBTree::new();
        self.0.get().places.for_each(|key, here| {
            let name = match gone.name(key) {
                Some(name) => copy_of(name)?,
                None => modules::name_of(key as usize)?,
            };
            let digest = digest(&name);
            all.value(digest)?.merge(here);
            names.try_create_and_insert(digest, name, GFP_KERNEL)?;
            Ok(())
        })?;
        show_blocks(out, "place", all.iter(), |key| {
            let name = names.get(&key).ok_or(EINVAL)?;
            tracefs::write_bytes(out, name);
            Ok(())
        })
    }

    /// Prints the durations of sections by name.
    fn show_sections(&self, out: &SeqFile) -> Result {
        let sections = &self.0.get().sections;
        let all = ByKey::merged(sections, |times: &mut SectionRow, here| {
            times.name = here.name.get();
            times.total.merge(&here.total);
            times.run_ns = times.run_ns.wrapping_add(here.run_ns.get());
            times.irq_ns = times.irq_ns.wrapping_add(here.irq_ns.get());
            times.wait_ns = times.wait_ns.wrapping_add(here.wait_ns.get());
            times.block_ns = times.block_ns.wrapping_add(here.block_ns.get());
        })?;
        let mut order = RBTree::new();
        for (key, times) in all.iter().filter(|(_, times)| times.total.count != 0) {
            order.try_create_and_insert((Reverse(times.total.sum_ns), key), times, GFP_KERNEL)?;
        }
        let has_irqs = order.values().any(|times| times.irq_ns != 0);
        show_header(out, "times", has_irqs, "section");
        for times in order.values() {
            show_divided(
                out,
                &times.total,
                [times.run_ns, times.wait_ns, times.block_ns],
                has_irqs.then_some(times.irq_ns),
            );
            let name = times.name.iter();
            seq_print!(out, "  ");
            for byte in name.take_while(|byte| **byte != 0) {
                // A marker can have any bytes.
                let shown = if byte.is_ascii_control() { b'?' } else { *byte };
                tracefs::write_bytes(out, &[shown]);
            }
            seq_print!(out, "\n");
        }
        Ok(())
    }

    /// Prints what has woken tasks.
    fn show_wakers(&self, out: &SeqFile) -> Result {
        let wakers = &self.0.get().wakers;
        let all = ByKey::merged(wakers, |wakeups: &mut WakeupRow, here| {
            wakeups.comm = here.comm.get();
            wakeups.block.merge(&here.block);
        })?;
        let blocks = all.iter().map(|(key, wakeups)| (key, &wakeups.block));
        show_blocks(out, "waker", blocks, |key| {
            match key >> CONTEXT_SHIFT {
                0 => {
                    let comm = all.get(key).map(|wakeups| wakeups.comm).unwrap_or_default();
                    tracefs::write_bytes(out, comm.escaped().as_bytes());
                }
                context => seq_print!(out, "({})", name_of(context, CONTEXTS)),
            }
            Ok(())
        })
    }

    /// Prints the profile. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn show(&self, out: &SeqFile, paths: Option<&Paths>, gone: &Gone) -> Result {
        let size = self
            .size()
            .saturating_add(paths.map(Paths::size).unwrap_or(0));
        seq_print!(
            out,
            "# {} KiB; quantiles are off by 6.25 % at most\n",
            size / 1024
        );
        seq_print!(
            out,
            "# dropped: {} calls, {} task times, {} block times, {} sections, {} paths\n",
            self.functions().lost(),
            self.tasks().lost(),
            self.0.get().lost_blocks(),
            self.0.get().sections.lost(),
            paths.map(Paths::lost).unwrap_or(0)
        );
        let functions = self.merged_functions()?;
        let mut order = RBTree::new();
        for (func, function) in functions.iter().filter(|(_, of)| of.total.count != 0) {
            let key = (Reverse(function.total.sum_ns), func);
            order.try_create_and_insert(key, function, GFP_KERNEL)?;
        }
        let names = FunctionNames::new(functions.iter().map(|(func, _)| func))?;
        let has_irqs = order.values().any(|function| function.irq_ns != 0);
        show_header(out, "calls", has_irqs, "function");
        for ((_, func), function) in &order {
            let run_ns = function.total.sum_ns.saturating_sub(function.off_ns);
            let parts = [run_ns, function.wait_ns, function.block_ns];
            let irq_ns = has_irqs.then_some(function.irq_ns);
            show_divided(out, &function.total, parts, irq_ns);
            seq_print!(out, "  ");
            names.show(out, *func, gone)?;
            seq_print!(out, "\n");
        }
        let tasks = self.merged_tasks()?;
        seq_print!(out, "# times        total what  {DISTRIBUTION}  task\n");
        for (key, times) in tasks.iter() {
            let pid = key >> PID_SHIFT;
            let show_task = || {
                seq_print!(out, "  ");
                tracefs::write_bytes(out, times.comm.escaped().as_bytes());
                seq_print!(out, "-{pid}\n");
            };
            for (what, histogram) in [
                ("run  ", &times.run),
                ("wait ", &times.wait),
                ("block", &times.block),
            ] {
                if histogram.count == 0 {
                    continue;
                }
                seq_print!(
                    out,
                    "{:7} {:12} {what}",
                    histogram.count,
                    Us(histogram.sum_ns)
                );
                show_distribution(out, histogram);
                show_task();
            }
            if times.irq_ns != 0 {
                // Only their sum is known.
                seq_print!(out, "{:>7} {:12} irq  ", "-", Us(times.irq_ns));
                for _ in 0..6 {
                    seq_print!(out, " {:>12}", "-");
                }
                show_task();
            }
        }
        self.show_places(out, gone)?;
        self.show_wakers(out)?;
        self.show_sections(out)
    }
}
