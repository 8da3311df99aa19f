// SPDX-License-Identifier: MIT OR Apache-2.0

//! Adds up chains of wakeups.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::{
    model::{
        chain_text,
        Chain,
        Step,
        Sum, //
    },
    recording::{
        Comm,
        FuncId, //
    },
};

/// The sums of equal chains in the tasks that have one name.
#[derive(Clone, Debug)]
pub struct ChainSums {
    /// The name of the tasks that were blocked.
    pub comm: Comm,
    /// The wakers, with the places where they were blocked.
    pub steps: Vec<Step>,
    /// The blocked intervals that the chains ended.
    pub sum: Sum,
}

impl ChainSums {
    /// Returns the text of the chain. `names` are those of the functions.
    pub fn text(&self, names: &[String]) -> String {
        let name = |func: FuncId| names.get(func.index()).map_or("?", String::as_str);
        chain_text(&self.steps, name)
    }
}

/// The sums of all chains.
#[derive(Default)]
pub struct Chains {
    by_steps: FxHashMap<(Comm, Vec<Step>), Sum>,
}

impl Chains {
    /// Adds a chain.
    pub fn add(&mut self, chain: &Chain) {
        let key = (chain.task.comm, chain.steps());
        self.by_steps.entry(key).or_default().add(chain.block_ns);
    }

    /// Removes all sums and returns them, sorted by their time.
    pub fn take(&mut self) -> Vec<ChainSums> {
        let chains = self.by_steps.drain();
        let mut all: Vec<_> = chains
            .map(|((comm, steps), sum)| ChainSums { comm, steps, sum })
            .collect();
        all.sort_by_cached_key(|chain| {
            let steps = chain_text(&chain.steps, |_| "");
            let places: Vec<_> = chain.steps.iter().map(|step| step.was).collect();
            (
                Reverse(chain.sum.total),
                chain.comm.to_string(),
                steps,
                places,
            )
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{
            Link,
            TaskId,
            Was, //
        },
        recording::{
            Blocked,
            TaskName,
            Waker, //
        },
    };

    /// Returns a chain in which a task waited for wakers that were blocked in these functions.
    fn chain(comm: &str, block_ns: u64, wakers: &[(&str, Option<u32>)]) -> Chain {
        let link = |(comm, func): &(&str, Option<u32>)| {
            let task = TaskName {
                pid: 7,
                comm: Comm::new(comm.as_bytes()),
            };
            let caller = func.map(FuncId::new);
            Link {
                blocked: Blocked {
                    state: 1,
                    caller,
                    waker: Waker { task, context: 0 },
                },
                irq: Comm::default(),
                was: caller.map_or(Was::Awake, |func| Was::Blocked(Some(func))),
                ns: block_ns / 2,
            }
        };
        Chain {
            time: 1000,
            task: TaskName {
                pid: 1,
                comm: Comm::new(comm.as_bytes()),
            },
            id: TaskId::new(1, 0),
            block_ns,
            links: wakers.iter().map(link).collect(),
        }
    }

    #[test]
    fn equal_chains_are_added_up() {
        let mut chains = Chains::default();
        for chain in [
            chain("app", 10, &[("kworker/u8:3", Some(1)), ("dd", None)]),
            chain("app", 30, &[("kworker/u8:3", Some(0)), ("dd", None)]),
            chain("app", 15, &[("kworker/u8:3", Some(1)), ("dd", None)]),
            chain("app", 25, &[("kworker/u8:4", Some(1)), ("dd", None)]),
            chain("b", 60, &[("kworker/u8:3", Some(1)), ("dd", None)]),
            chain("app", 25, &[("dd", None)]),
        ] {
            chains.add(&chain);
        }
        let names = ["do_wait", "poll"].map(str::to_owned);
        let rows: Vec<_> = chains
            .take()
            .into_iter()
            .map(|row| {
                let Sum { count, total, max } = row.sum;
                let text = format!("{}: {}", row.comm, row.text(&names));
                (text, count, total, max)
            })
            .collect();
        let row = |text: &str, count, total, max| (text.to_owned(), count, total, max);
        assert_eq!(
            rows,
            [
                row("b: kworker/u8:3 (poll) <- dd", 1, 60, 60),
                row("app: kworker/u8:3 (do_wait) <- dd", 1, 30, 30),
                row("app: dd", 1, 25, 25),
                row("app: kworker/u8:3 (poll) <- dd", 2, 25, 15),
                row("app: kworker/u8:4 (poll) <- dd", 1, 25, 25),
            ]
        );
        assert!(chains.take().is_empty());
    }
}
