// SPDX-License-Identifier: MIT OR Apache-2.0

//! Adds up the sections that programs marked, and lists the triggers that fired.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::Sort;
use crate::{
    model::Split,
    recording::{
        printable, //
        Comm,
        Event,
        Kind,
        TaskName,
    },
};

/// The sums of the sections that have one name, in the tasks that have one name.
#[derive(Clone, Debug)]
pub struct SectionSums {
    /// The name of the tasks.
    pub comm: Comm,
    /// The name of the sections.
    pub name: String,
    /// The number of sections.
    pub count: u64,
    /// Their time.
    pub total: u64,
    /// The parts of this time; `None` if the sections are asynchronous, that is, of no thread.
    pub split: Option<Split>,
    /// The longest one.
    pub max: u64,
}

impl SectionSums {
    /// Returns the number to sort by. The parts of asynchronous sections are 0.
    fn key(&self, sort: Sort) -> u64 {
        let split = self.split.unwrap_or_default();
        match sort {
            Sort::All | Sort::Total | Sort::Own => self.total,
            Sort::Run => split.run,
            Sort::Wait => split.wait,
            Sort::Block => split.block,
        }
    }
}

/// A trigger rule that fired.
#[derive(Clone, Debug)]
pub struct Trigger {
    /// The time of the event.
    pub time: u64,
    /// The task that it was about.
    pub task: TaskName,
    /// The number of the rule's line.
    pub rule: u32,
    /// The number that the rule compared.
    pub value: i64,
    /// The rule.
    pub text: String,
}

impl Trigger {
    /// Returns the trigger of an event, if it is one.
    pub fn of(event: &Event<'_>) -> Option<Self> {
        let Kind::Trigger {
            task,
            rule,
            value,
            text,
        } = event.kind
        else {
            return None;
        };
        Some(Self {
            time: event.time,
            task,
            rule,
            value,
            text: printable(text),
        })
    }
}

/// The sums of all sections.
#[derive(Default)]
pub struct Sections {
    /// The sums by the name of the section, for each name of tasks and each kind.
    by_task: FxHashMap<(Comm, bool), FxHashMap<Vec<u8>, SectionSums>>,
}

impl Sections {
    /// Adds the section that ended with an event, if one did.
    pub fn add(&mut self, event: &Event<'_>) {
        let Kind::Section {
            task,
            is_async,
            name,
            total_ns,
            run_ns,
            wait_ns,
            block_ns,
            ..
        } = event.kind
        else {
            return;
        };
        let by_name = self.by_task.entry((task.comm, is_async)).or_default();
        if !by_name.contains_key(name) {
            let sums = SectionSums {
                comm: task.comm,
                name: printable(name),
                count: 0,
                total: 0,
                split: (!is_async).then(Split::default),
                max: 0,
            };
            by_name.insert(name.to_vec(), sums);
        }
        if let Some(sums) = by_name.get_mut(name) {
            sums.count += 1;
            sums.total = sums.total.saturating_add(total_ns);
            sums.max = sums.max.max(total_ns);
            if let Some(split) = &mut sums.split {
                *split += Split {
                    run: run_ns,
                    wait: wait_ns,
                    block: block_ns,
                };
            }
        }
    }

    /// Removes all sums and returns them, sorted.
    pub fn take(&mut self, sort: Sort) -> Vec<SectionSums> {
        let by_task = self.by_task.drain();
        let mut all: Vec<_> = by_task
            .flat_map(|(_, by_name)| by_name.into_values())
            .collect();
        all.sort_by(|a, b| {
            let key = |sums: &SectionSums| Reverse((sums.key(sort), sums.total));
            let names = |sums: &SectionSums| (sums.comm.to_string(), sums.split.is_none());
            key(a)
                .cmp(&key(b))
                .then_with(|| a.name.cmp(&b.name))
                .then_with(|| names(a).cmp(&names(b)))
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(comm: &[u8], name: &'static [u8], times: Option<[u64; 3]>) -> Event<'static> {
        let [run_ns, wait_ns, block_ns] = times.unwrap_or_default();
        Event {
            time: 1000,
            cpu: 0,
            pid: 1,
            id: 1,
            data: &[],
            kind: Kind::Section {
                task: TaskName {
                    pid: 1,
                    comm: Comm::new(comm),
                },
                is_async: times.is_none(),
                cookie: 0,
                name,
                total_ns: times.map_or(50, |times| times.into_iter().sum()),
                run_ns,
                wait_ns,
                block_ns,
            },
        }
    }

    fn rows(sort: Sort) -> Vec<(String, String, u64, u64, u64)> {
        let mut sections = Sections::default();
        for event in [
            section(b"a", b"load", Some([1, 2, 30])),
            section(b"a", b"load", Some([5, 0, 0])),
            section(b"b", b"load", Some([10, 0, 0])),
            section(b"a", b"load", None),
            section(b"a", b"x\ny", Some([10, 0, 0])),
        ] {
            sections.add(&event);
        }
        let rows = sections.take(sort).into_iter().map(|sums| {
            let comm = sums.comm.to_string();
            (comm, sums.name, sums.count, sums.total, sums.max)
        });
        rows.collect()
    }

    fn row(comm: &str, name: &str, numbers: [u64; 3]) -> (String, String, u64, u64, u64) {
        let [count, total, max] = numbers;
        (comm.to_owned(), name.to_owned(), count, total, max)
    }

    #[test]
    fn sums_are_by_task_name_and_kind() {
        assert_eq!(
            rows(Sort::Total),
            [
                row("a", "load", [1, 50, 50]),
                row("a", "load", [2, 38, 33]),
                row("b", "load", [1, 10, 10]),
                row("a", "x\\ny", [1, 10, 10]),
            ]
        );
    }

    #[test]
    fn asynchronous_sections_have_no_parts() {
        let order: Vec<_> = rows(Sort::Block).into_iter().map(|row| row.3).collect();
        assert_eq!(order, [38, 50, 10, 10]);
        let order: Vec<_> = rows(Sort::Run).into_iter().map(|row| row.3).collect();
        assert_eq!(order, [10, 10, 38, 50]);
    }

    #[test]
    fn other_events_are_neither() {
        let mut event = section(b"a", b"load", None);
        assert!(Trigger::of(&event).is_none());
        event.kind = Kind::Trigger {
            task: TaskName::default(),
            rule: 3,
            value: -5,
            text: b"exit-task do stop",
        };
        let mut sections = Sections::default();
        sections.add(&event);
        assert!(sections.take(Sort::Total).is_empty());
        let trigger = Trigger::of(&event).expect("a trigger");
        assert_eq!((trigger.time, trigger.rule, trigger.value), (1000, 3, -5));
        assert_eq!(trigger.text, "exit-task do stop");
    }
}
