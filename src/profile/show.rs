// SPDX-License-Identifier: GPL-2.0

//! How the profile is shown: a line for each function, the most expensive first, and two for each
//! task.

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
    spread::Merged,
    Profile,
    PID_SHIFT, //
};

use crate::ktrace::{
    task::Comm,
    tracefs, //
};

/// What is shown of a function.
#[derive(Default)]
struct Function {
    total: Merged,
    off_ns: u64,
    wait_ns: u64,
    block_ns: u64,
}

/// What is shown of a task.
#[derive(Default)]
struct Times {
    /// As the CPU has it that heard of it last.
    comm: Comm,
    heard_ns: u64,
    run: Merged,
    wait: Merged,
}

/// A time in us.
struct Us(u64);

impl fmt::Display for Us {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As wide as asked for, all in all.
        let width = f.width().unwrap_or(0).saturating_sub(4);
        write!(f, "{:width$}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// The end of a line: the shortest, the longest, quantiles.
fn show_spread(out: &SeqFile, spread: &Merged) {
    seq_print!(
        out,
        " {:12} {:12} {:12} {:12} {:12} {:12}",
        Us(spread.min_ns()),
        Us(spread.max_ns),
        Us(spread.quantile_ns(500)),
        Us(spread.quantile_ns(900)),
        Us(spread.quantile_ns(990)),
        Us(spread.quantile_ns(999))
    );
}

const SPREAD: &str =
    "         min          max          p50          p90          p99        p99.9";

impl Profile {
    fn merged_functions(&self) -> Result<ByKey<Function>> {
        let mut all: ByKey<Function> = ByKey::new();
        self.functions().for_each(|func, here| {
            let function = all.value(func)?;
            function.total.merge(&here.total);
            function.off_ns = function.off_ns.wrapping_add(here.off_ns.get());
            function.wait_ns = function.wait_ns.wrapping_add(here.wait_ns.get());
            function.block_ns = function.block_ns.wrapping_add(here.block_ns.get());
            Ok(())
        })?;
        Ok(all)
    }

    fn merged_tasks(&self) -> Result<ByKey<Times>> {
        let mut all: ByKey<Times> = ByKey::new();
        self.tasks().for_each(|key, here| {
            let times = all.value(key)?;
            if times.heard_ns <= here.heard_ns.get() {
                times.comm = here.comm.get();
                times.heard_ns = here.heard_ns.get();
            }
            times.run.merge(&here.run);
            times.wait.merge(&here.wait);
            Ok(())
        })?;
        Ok(all)
    }

    /// Prints it. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn show(&self, out: &SeqFile) -> Result {
        seq_print!(
            out,
            "# {} KiB; quantiles are off by 6.25 % at most\n",
            self.size() / 1024
        );
        seq_print!(
            out,
            "# found no room: {} calls, {} times of tasks\n",
            self.functions().lost(),
            self.tasks().lost()
        );
        let functions = self.merged_functions()?;
        let mut order = RBTree::new();
        for (func, function) in functions.iter().filter(|(_, of)| of.total.count != 0) {
            let key = (Reverse(function.total.sum_ns), func);
            order.try_create_and_insert(key, function, GFP_KERNEL)?;
        }
        seq_print!(
            out,
            "# calls        total          run         wait        block {SPREAD}  function\n"
        );
        for ((_, func), function) in &order {
            seq_print!(
                out,
                "{:7} {:12} {:12} {:12} {:12}",
                function.total.count,
                Us(function.total.sum_ns),
                Us(function.total.sum_ns.saturating_sub(function.off_ns)),
                Us(function.wait_ns),
                Us(function.block_ns)
            );
            show_spread(out, &function.total);
            seq_print!(out, "  ");
            tracefs::write_symbol(out, *func as usize);
            seq_print!(out, "\n");
        }
        let tasks = self.merged_tasks()?;
        seq_print!(out, "# times        total what {SPREAD}  task\n");
        for (key, times) in tasks.iter() {
            let pid = key >> PID_SHIFT;
            for (what, spread) in [("run ", &times.run), ("wait", &times.wait)] {
                if spread.count == 0 {
                    continue;
                }
                seq_print!(out, "{:7} {:12} {what}", spread.count, Us(spread.sum_ns));
                show_spread(out, spread);
                seq_print!(out, "  ");
                tracefs::write_bytes(out, times.comm.escaped().as_bytes());
                seq_print!(out, "-{pid}\n");
            }
        }
        Ok(())
    }
}
