// SPDX-License-Identifier: GPL-2.0

//! Prints the times by path as folded stacks: one line for each path and each of run, interrupts,
//! wait and block, the longest time first.

use core::cmp::Reverse;

use kernel::{
    prelude::*,
    rbtree::RBTree,
    seq_file::SeqFile,
    seq_print, //
};

use super::{
    by_key::ByKey,
    gone::Gone,
    paths::{
        Paths,
        MAX_DEPTH, //
    },
    show::FunctionNames, //
};

/// The merged values of a path.
#[derive(Zeroable)]
struct PathRow {
    func: u64,
    callers: u64,
    times: PathTimes,
}

/// The run times without interrupts, the times of interrupts, and the wait and block times, in ns.
#[derive(Clone, Copy, Zeroable)]
struct PathTimes {
    ns: [u64; 4],
}

/// The last element of a line, for each of the times.
const SUFFIXES: [&str; 4] = ["", ";[irq]", ";[wait]", ";[block]"];

impl PathTimes {
    fn add(&mut self, other: &Self) {
        for (to, from) in self.ns.iter_mut().zip(other.ns) {
            *to = to.wrapping_add(from);
        }
    }

    /// Returns the times without those of callees. If a call has not returned, but its callees
    /// have, nothing is left.
    fn without(mut self, callees: &Self) -> Self {
        for (to, from) in self.ns.iter_mut().zip(callees.ns) {
            *to = to.saturating_sub(from);
        }
        self
    }
}

impl Paths {
    /// Prints all paths. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn show(&self, out: &SeqFile, gone: &Gone) -> Result {
        let all = ByKey::merged(self.table(), |path: &mut PathRow, here| {
            // Another CPU may not have completed its entry.
            if here.func.get() != 0 {
                path.func = here.func.get();
                path.callers = here.callers.get();
            }
            let irq_ns = here.irq_ns.get();
            let run_ns = here.run_ns.get().saturating_sub(irq_ns);
            path.times.add(&PathTimes {
                ns: [run_ns, irq_ns, here.wait_ns.get(), here.block_ns.get()],
            });
        })?;
        let mut callees: ByKey<PathTimes> = ByKey::new();
        for (_, path) in all.iter().filter(|(_, path)| path.callers != 0) {
            callees.value(path.callers)?.add(&path.times);
        }
        let mut order = RBTree::new();
        for (key, path) in all.iter().filter(|(_, path)| path.func != 0) {
            let own = match callees.get(key) {
                Some(callees) => path.times.without(callees),
                None => path.times,
            };
            for (ns, suffix) in own.ns.into_iter().zip(SUFFIXES).filter(|(ns, _)| *ns != 0) {
                order.try_create_and_insert((Reverse(ns), key, suffix), (), GFP_KERNEL)?;
            }
        }
        let names = FunctionNames::new(all.iter().map(|(_, path)| path.func))?;
        for (Reverse(ns), key, suffix) in order.keys() {
            let mut functions = KVec::new();
            let mut next = *key;
            while let Some(path) = all.get(next).filter(|_| functions.len() < MAX_DEPTH) {
                functions.push(path.func, GFP_KERNEL)?;
                next = path.callers;
            }
            for (n, func) in functions.iter().rev().enumerate() {
                if n != 0 {
                    seq_print!(out, ";");
                }
                names.show(out, *func, gone)?;
            }
            seq_print!(out, "{} {}\n", suffix, ns);
        }
        Ok(())
    }
}
