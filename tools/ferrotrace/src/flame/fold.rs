// SPDX-License-Identifier: MIT OR Apache-2.0

//! Folded stacks: one line for each call path, with its own time.

use std::{
    borrow::Cow,
    collections::BTreeMap, //
};

use crate::model::Split;

use super::{
    stacks::{
        NodeId,
        Root,
        Stacks, //
    },
    Part, //
};

/// The frame on top of a path for the time in which it waited for a CPU.
pub(super) const WAIT: &str = "[wait]";
/// The frame on top of a path for the time in which it was blocked.
pub(super) const BLOCK: &str = "[block]";

/// What is the first frame of each stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// The name of the task: tasks of the same name share their stacks.
    ByName,
    /// The name and the thread id of the task.
    Apart,
}

/// The own time of a path.
#[derive(Clone, Debug, Default)]
struct Own<'a> {
    split: Split,
    /// The part of the block time for which the function that blocked is known.
    places: BTreeMap<&'a str, u64>,
}

/// The times of all stacks. The frames of a stack are a task and functions, the outermost first.
#[derive(Clone, Debug, Default)]
pub struct Folded<'a> {
    stacks: BTreeMap<Vec<Cow<'a, str>>, Own<'a>>,
}

impl Stacks {
    /// Returns the own time of each stack. `names` are the names of functions,
    /// [`Symbols::names`](crate::recording::Symbols::names).
    ///
    /// For each task, the sums of run, wait and block time are those of `ferrotrace summary`.
    pub fn fold<'a>(&self, names: &'a [String], threads: Threads) -> Folded<'a> {
        let name = |index: usize| names.get(index).map_or("?", String::as_str);
        let mut own = self.own_times();
        let mut places = vec![BTreeMap::<&str, u64>::new(); own.len()];
        for (path, func, ns) in self.blocked(&own) {
            *places[path].entry(name(func)).or_default() += ns;
        }
        let mut roots = vec![Cow::Borrowed(""); own.len()];
        for root in self.tasks.values() {
            roots[root.node] = frame(root, threads);
        }
        let mut paths: Vec<Vec<Cow<'a, str>>> = Vec::with_capacity(own.len());
        let mut folded = Folded::default();
        for (id, node) in self.nodes.iter().enumerate() {
            let path = match (node.caller, node.func) {
                (Some(caller), Some(func)) => {
                    let mut path = paths[caller].clone();
                    path.push(Cow::Borrowed(name(func.index())));
                    path
                }
                _ => vec![roots[id].clone()],
            };
            let sums = folded.stacks.entry(path.clone()).or_default();
            sums.split += std::mem::take(&mut own[id]);
            for (place, ns) in std::mem::take(&mut places[id]) {
                *sums.places.entry(place).or_default() += ns;
            }
            paths.push(path);
        }
        folded
    }

    /// Returns the time of each path without that of its callees.
    ///
    /// If records were lost, the calls of a path can have more time than the path itself, or than
    /// their task. Their times are then reduced in proportion.
    fn own_times(&self) -> Vec<Split> {
        let mut own: Vec<Split> = self.nodes.iter().map(|node| node.total).collect();
        if !self.has_states {
            for root in self.tasks.values() {
                own[root.node] = root.in_calls;
            }
        }
        let mut callees = vec![Split::default(); own.len()];
        for node in &self.nodes {
            if let Some(caller) = node.caller {
                callees[caller] += node.total;
            }
        }
        // Callers come first: their total is final before it is divided.
        let totals = own.clone();
        let mut limits = totals.clone();
        for (id, node) in self.nodes.iter().enumerate() {
            if let Some(caller) = node.caller {
                let total = reduced(totals[id], limits[caller], callees[caller]);
                limits[id] = total;
                own[id] = total;
                own[caller] = own[caller] - total;
            }
        }
        own
    }

    /// Returns the parts of the own block times whose place is known: path, function, and ns.
    fn blocked(&self, own: &[Split]) -> Vec<(NodeId, usize, u64)> {
        let mut places: Vec<_> = self.places.iter().collect();
        places.sort_unstable_by_key(|(key, _)| **key);
        let mut left: Vec<u64> = own.iter().map(|own| own.block).collect();
        let mut found = Vec::new();
        for by_states in [true, false] {
            for ((path, func), sums) in &places {
                let ns = match by_states {
                    true => sums.by_states,
                    false => sums.by_calls.saturating_sub(sums.by_states),
                };
                let ns = ns.min(left[*path]);
                left[*path] -= ns;
                if ns != 0 {
                    found.push((*path, func.index(), ns));
                }
            }
        }
        found
    }
}

/// Returns a callee's part of the time of its caller: all of its time if the caller's is as long as
/// that of all callees.
fn reduced(total: Split, caller: Split, callees: Split) -> Split {
    let part = |total: u64, caller: u64, callees: u64| {
        if callees <= caller {
            return total;
        }
        let scaled = u128::from(total) * u128::from(caller) / u128::from(callees);
        u64::try_from(scaled).unwrap_or(total)
    };
    Split {
        run: part(total.run, caller.run, callees.run),
        wait: part(total.wait, caller.wait, callees.wait),
        block: part(total.block, caller.block, callees.block),
    }
}

/// Returns the frame of a task. Frames have no spaces and semicolons, as those of
/// stackcollapse-perf.pl, because these are the separators of folded stacks.
fn frame(root: &Root, threads: Threads) -> Cow<'static, str> {
    let comm = match root.name.comm.is_empty() {
        true => "[unknown]".to_owned(),
        false => root.name.comm.to_string().replace([' ', ';'], "_"),
    };
    match threads {
        Threads::ByName => comm.into(),
        Threads::Apart => format!("{comm}-{}", root.name.pid).into(),
    }
}

impl Folded<'_> {
    /// Returns the sum of all stacks in ns.
    pub fn sum(&self, part: Part) -> u64 {
        self.stacks.values().map(|own| part.of(&own.split)).sum()
    }

    /// Returns a line for each stack that has such a time: its frames, separated by semicolons,
    /// and its own time in ns. Lines are sorted by frames.
    ///
    /// Block time is in a frame of the function that blocked, if that is known, also if no call of
    /// it was recorded. With [`Part::Wall`], the frames `[wait]` and `[block]` are on top.
    pub fn lines(&self, part: Part) -> Vec<String> {
        let mut lines: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
        for (path, own) in &self.stacks {
            let path: Vec<_> = path.iter().map(Cow::as_ref).collect();
            // The first frame is the task.
            let functions = path.get(1..).unwrap_or_default();
            for (leaves, ns) in own.leaves(part, functions) {
                if ns != 0 {
                    *lines.entry([&path[..], &leaves].concat()).or_default() += ns;
                }
            }
        }
        let lines = lines.into_iter();
        lines
            .map(|(path, ns)| format!("{} {ns}", path.join(";")))
            .collect()
    }
}

impl<'a> Own<'a> {
    /// Returns the frames on top of the path for each part of its own time, and the time in ns.
    /// `functions` are those of the path: the one that blocked is often one of them.
    fn leaves(&self, part: Part, functions: &[&str]) -> Vec<(Vec<&'a str>, u64)> {
        let mark = |mark: &'static str| (part == Part::Wall).then_some(mark);
        let mut leaves = Vec::new();
        if matches!(part, Part::Wall | Part::Run) {
            leaves.push((Vec::new(), self.split.run));
        }
        if matches!(part, Part::Wall | Part::Wait) {
            leaves.push((mark(WAIT).into_iter().collect(), self.split.wait));
        }
        if matches!(part, Part::Wall | Part::Block) {
            let mut unknown = self.split.block;
            for (place, ns) in &self.places {
                unknown = unknown.saturating_sub(*ns);
                let place = Some(*place).filter(|place| !functions.contains(place));
                leaves.push((place.into_iter().chain(mark(BLOCK)).collect(), *ns));
            }
            leaves.push((mark(BLOCK).into_iter().collect(), unknown));
        }
        leaves
    }
}
