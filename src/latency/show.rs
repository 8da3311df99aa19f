// SPDX-License-Identifier: GPL-2.0

//! Prints the longest stretches: one line for each kind, with that of the CPU that had the longest.

use kernel::{
    prelude::*,
    seq_file::SeqFile,
    seq_print,
    sync::atomic::Relaxed, //
};

use super::{
    word,
    Latency,
    KINDS, //
};
use crate::{
    ktrace::{
        array::tracefs,
        task::Comm, //
    },
    profile::{
        gone::Gone,
        show::{
            show_function,
            Us, //
        },
    },
};

/// The names of the kinds of stretches.
const NAMES: [&str; KINDS] = [
    "irqs-off",
    "irqs-off/softirq",
    "irqs-off/hardirq",
    "preempt-off",
];

impl Latency {
    /// Prints the longest stretches. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn show(&self, out: &SeqFile, gone: &Gone) -> Result {
        let lost = self.lost.load(Relaxed);
        seq_print!(out, "# dropped: {} comparisons\n", lost);
        seq_print!(
            out,
            "# what                 longest   calls          gap CPU          begun  {}\n",
            "first <-caller to last <-caller by task"
        );
        for (kind, name) in NAMES.into_iter().enumerate() {
            let cpus = self.cpus.iter().enumerate();
            let of_cpus = cpus.filter_map(|(cpu, all)| Some((all.longest.get(kind)?.read(), cpu)));
            // The words begin with the duration.
            let Some((words, cpu)) = of_cpus.max() else {
                continue;
            };
            let get = |index: usize| words.get(index).copied().unwrap_or(0);
            if get(word::TOTAL) == 0 {
                continue;
            }
            let begun_us = get(word::BEGUN) / 1000;
            seq_print!(
                out,
                "{name:16} {:12} {:7} {:12} {cpu:3} {:7}.{:06}  ",
                Us(get(word::TOTAL)),
                get(word::CALLS),
                Us(get(word::GAP)),
                begun_us / 1_000_000,
                begun_us % 1_000_000
            );
            let show_place = |func: usize, caller: usize| -> Result {
                show_function(out, get(func), gone)?;
                seq_print!(out, " <-");
                show_function(out, get(caller), gone)?;
                Ok(())
            };
            show_place(word::FUNC, word::CALLER)?;
            seq_print!(out, " to ");
            show_place(word::LAST_FUNC, word::LAST_CALLER)?;
            seq_print!(out, " by ");
            let comm = Comm::from_words(word::COMM.map(get));
            tracefs::write_bytes(out, comm.escaped().as_bytes());
            seq_print!(out, "-{}\n", get(word::PID));
        }
        Ok(())
    }
}
