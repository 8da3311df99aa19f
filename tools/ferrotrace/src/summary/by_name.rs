// SPDX-License-Identifier: MIT OR Apache-2.0

//! Adds up rows about tasks of the same name, as programs have that start many short processes.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    hash::Hash, //
};

use rustc_hash::FxHashMap;

use crate::{
    model::{
        Place,
        Sum, //
    },
    recording::{
        Comm,
        FuncId,
        TaskName, //
    },
};

/// Where tasks were blocked, with the name of the waker.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct NamedPlace {
    /// The function in which they slept.
    pub caller: Option<FuncId>,
    /// The state, a bit mask of the kernel.
    pub state: u32,
    /// The context of the waker; 0 is a task.
    pub context: u8,
    /// The name of the waker; empty unless it is a task.
    pub comm: Comm,
}

/// The sum of the rows of tasks that have one name.
pub struct Named<K> {
    /// The properties that the rows have in common.
    pub key: K,
    /// The sum of all their intervals.
    pub sum: Sum,
    pids: BTreeSet<i32>,
}

impl<K> Named<K> {
    /// Returns the text for the tasks of this name: `sh-120`, or `sh (3 tasks)`.
    pub fn tasks(&self, comm: Comm) -> String {
        match self.pids.first() {
            Some(&pid) if self.pids.len() == 1 => TaskName { pid, comm }.to_string(),
            _ => format!("{comm} ({} tasks)", self.pids.len()),
        }
    }

    /// Returns whether the only task is an idle task.
    pub fn is_idle(&self) -> bool {
        self.pids.iter().all(|pid| *pid == 0)
    }
}

/// Adds up the places where tasks were blocked by the names of wakers, sorted by time.
pub fn blocked(rows: &[(Place, Sum)]) -> Vec<Named<NamedPlace>> {
    add_up(rows.iter().map(|(place, sum)| {
        let key = NamedPlace {
            caller: place.caller,
            state: place.state,
            context: place.waker.context,
            comm: place.waker.task.comm,
        };
        (key, place.waker.task.pid, sum)
    }))
}

/// Adds up rows of tasks by their names, sorted by time.
pub fn tasks(rows: &[(TaskName, Sum)]) -> Vec<Named<Comm>> {
    add_up(rows.iter().map(|(task, sum)| (task.comm, task.pid, sum)))
}

fn add_up<'a, K: Copy + Eq + Hash>(rows: impl Iterator<Item = (K, i32, &'a Sum)>) -> Vec<Named<K>> {
    let mut places: FxHashMap<K, usize> = FxHashMap::default();
    let mut all: Vec<Named<K>> = Vec::new();
    for (key, pid, sum) in rows {
        let at = *places.entry(key).or_insert(all.len());
        if at == all.len() {
            all.push(Named {
                key,
                sum: Sum::default(),
                pids: BTreeSet::new(),
            });
        }
        let named = &mut all[at];
        named.pids.insert(pid);
        named.sum.count += sum.count;
        named.sum.total = named.sum.total.saturating_add(sum.total);
        named.sum.max = named.sum.max.max(sum.max);
    }
    // Rows of the same time keep their order.
    all.sort_by_key(|named| Reverse(named.sum.total));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_one_name_are_added_up() {
        let row = |comm: &[u8], pid, ns: u64| {
            let comm = Comm::new(comm);
            let mut sum = Sum::default();
            sum.add(ns);
            (TaskName { pid, comm }, sum)
        };
        let rows = [
            row(b"dd", 5, 50),
            row(b"sh", 1, 40),
            row(b"sh", 2, 30),
            row(b"sh", 2, 1),
        ];
        let rows = tasks(&rows);
        let texts: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row.tasks(row.key),
                    row.sum.count,
                    row.sum.total,
                    row.sum.max,
                )
            })
            .collect();
        assert_eq!(
            texts,
            [
                ("sh (2 tasks)".to_owned(), 3, 71, 40),
                ("dd-5".to_owned(), 1, 50, 50),
            ]
        );
        assert!(!rows[0].is_idle());
    }
}
