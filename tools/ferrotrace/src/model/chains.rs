// SPDX-License-Identifier: MIT OR Apache-2.0

//! Puts the events of a chain of wakeups together.
//!
//! The kernel writes one event for each part of a chain, when the blocked task is woken. Events of
//! other tasks, also parts of their chains, can be between them, because other CPUs wrote them.

use rustc_hash::FxHashMap;

use super::task::TaskId;
use crate::recording::{
    context_name, //
    Blocked,
    Comm,
    Event,
    FuncId,
    Kind,
    TaskName,
};

/// The number of parts after which the kernel ends a chain.
const MAX_LINKS: usize = 8;

/// Says whether a waker was blocked itself while the task before it in the chain was blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Was {
    /// It was blocked, in this function if it is known.
    Blocked(Option<FuncId>),
    /// It was not blocked, or not long; or it is an interrupt.
    Awake,
    /// The kernel does not know whether it was blocked.
    Unknown,
}

/// A part of a chain: a waker, and what it was blocked on itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The waker, and where and in which state it was blocked.
    pub blocked: Blocked,
    /// The name of the interrupt, if the waker is one and its name is known.
    pub irq: Comm,
    /// Says whether the waker was blocked.
    pub was: Was,
    /// For how much of the interval the waker was blocked, in ns.
    pub ns: u64,
}

impl Link {
    /// Returns whether the chain ends here.
    fn is_end(&self) -> bool {
        self.blocked.waker.context != 0 || !matches!(self.was, Was::Blocked(_))
    }

    /// Returns what equal chains have in common.
    pub fn step(&self) -> Step {
        let waker = self.blocked.waker;
        Step {
            comm: match waker.context {
                0 => waker.task.comm,
                _ => Comm::default(),
            },
            context: waker.context,
            irq: self.irq,
            was: self.was,
        }
    }
}

/// A part of a chain without ids and times. The task under an interrupt is left out: it is not
/// related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The name of the waker.
    pub comm: Comm,
    /// The context of the waker, as in [`Waker`](crate::recording::Waker).
    pub context: u8,
    /// The name of the interrupt.
    pub irq: Comm,
    /// Says whether the waker was blocked.
    pub was: Was,
}

impl Step {
    /// Returns the waker and the place where it was blocked, as text.
    fn text<'a>(&self, function: impl Fn(FuncId) -> &'a str) -> String {
        match (self.context, self.was) {
            (0, Was::Blocked(place)) => format!("{} ({})", self.comm, place.map_or("?", function)),
            (0, Was::Awake) => self.comm.to_string(),
            (0, Was::Unknown) => format!("{} (not known)", self.comm),
            _ if self.irq.is_empty() => context_name(self.context).to_owned(),
            _ => format!("{} {}", context_name(self.context), self.irq),
        }
    }
}

/// Returns the text of a chain, for example `server (unix_stream_read_generic) <- hardirq`. It ends
/// with `...` if the end of the chain is not known.
pub fn chain_text<'a>(steps: &[Step], function: impl Fn(FuncId) -> &'a str) -> String {
    let mut parts: Vec<_> = steps.iter().map(|step| step.text(&function)).collect();
    let last = steps.last();
    if last.is_some_and(|last| last.context == 0 && matches!(last.was, Was::Blocked(_))) {
        parts.push("...".to_owned());
    }
    parts.join(" <- ")
}

/// The chain of wakeups that ended a blocked interval of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The time of the first event of the chain: the task was woken.
    pub time: u64,
    /// The task that was blocked.
    pub task: TaskName,
    /// The task that was blocked.
    pub id: TaskId,
    /// How long it was blocked, in ns.
    pub block_ns: u64,
    /// The wakers, from the one that woke the task on.
    pub links: Vec<Link>,
}

impl Chain {
    /// Returns what equal chains have in common.
    pub fn steps(&self) -> Vec<Step> {
        self.links.iter().map(Link::step).collect()
    }
}

/// The chains whose end was not seen yet.
#[derive(Default)]
pub struct Chains {
    open: FxHashMap<TaskId, Chain>,
}

impl Chains {
    /// Takes an event. If it is a part of a chain, passes the chains that end with it to `emit`.
    ///
    /// A chain without an end, because its records were lost, ends when the next chain of its task
    /// begins. Parts of a chain whose beginning was lost are left out.
    pub(super) fn event(&mut self, event: &Event<'_>, mut emit: impl FnMut(&Chain)) {
        let Kind::Chain {
            task,
            hop,
            block_ns,
            blocked,
            irq,
            is_known,
            waker_block_ns,
        } = event.kind
        else {
            return;
        };
        let id = TaskId::new(task.pid, event.cpu);
        if hop == 1 {
            let chain = Chain {
                time: event.time,
                task,
                id,
                block_ns,
                links: Vec::new(),
            };
            if let Some(without_end) = self.open.insert(id, chain) {
                emit(&without_end);
            }
        }
        let Some(chain) = self.open.get_mut(&id) else {
            return;
        };
        if chain.links.len() + 1 != usize::from(hop) || chain.block_ns != block_ns {
            return;
        }
        let link = Link {
            blocked,
            irq,
            was: match (is_known, waker_block_ns) {
                (false, _) => Was::Unknown,
                (true, 0) => Was::Awake,
                (true, _) => Was::Blocked(blocked.caller),
            },
            ns: waker_block_ns,
        };
        chain.links.push(link);
        if link.is_end() || chain.links.len() == MAX_LINKS {
            if let Some(chain) = self.open.remove(&id) {
                emit(&chain);
            }
        }
    }

    /// Passes the chains whose end was not seen to `emit`, in the order of their times.
    pub(super) fn finish(&mut self, emit: impl FnMut(&Chain)) {
        let mut chains: Vec<_> = self.open.drain().map(|(_, chain)| chain).collect();
        chains.sort_unstable_by_key(|chain| (chain.time, chain.id));
        chains.iter().for_each(emit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Waker;

    const NAMES: [&str; 2] = ["do_wait", "poll"];

    fn name(func: FuncId) -> &'static str {
        NAMES[func.index()]
    }

    /// The waker of a part: its name, its context, and for how long it was blocked in which
    /// function; `None` if this is not known.
    type Part = (&'static str, u8, Option<(u64, Option<u32>)>);

    /// Returns the event of a part of a chain of the task `pid`, which was blocked for 50 ns.
    fn event(time: u64, pid: i32, hop: u8, (comm, context, was): Part) -> Event<'static> {
        let (waker_block_ns, func) = was.unwrap_or_default();
        Event {
            time,
            cpu: 0,
            pid: 0,
            id: 1,
            data: &[],
            kind: Kind::Chain {
                task: TaskName {
                    pid,
                    comm: Comm::new(b"app"),
                },
                hop,
                block_ns: 50,
                blocked: Blocked {
                    state: u32::from(waker_block_ns != 0),
                    caller: func.map(FuncId::new),
                    waker: Waker {
                        task: TaskName {
                            pid: 9,
                            comm: Comm::new(comm.as_bytes()),
                        },
                        context,
                    },
                },
                irq: Comm::new(match context {
                    1 => b"NET_RX",
                    _ => b"",
                }),
                is_known: was.is_some(),
                waker_block_ns,
            },
        }
    }

    const WAITS: Part = ("server", 0, Some((40, Some(0))));
    const RUNS: Part = ("dd", 0, Some((0, None)));
    const IRQ: Part = ("swapper/1", 2, Some((0, None)));

    /// Returns the time, the task and the text of each chain, and how many ended before the end.
    fn chains(events: &[Event<'_>]) -> (Vec<(u64, i32, String)>, usize) {
        let mut chains = Chains::default();
        let mut found = Vec::new();
        let mut emit = |chain: &Chain| {
            found.push((chain.time, chain.id.pid(), chain_text(&chain.steps(), name)))
        };
        for event in events {
            chains.event(event, &mut emit);
        }
        let mut late = 0;
        chains.finish(|chain| {
            late += 1;
            emit(chain);
        });
        let ended = found.len() - late;
        (found, ended)
    }

    fn chain(time: u64, pid: i32, text: &str) -> (u64, i32, String) {
        (time, pid, text.to_owned())
    }

    #[test]
    fn parts_of_two_tasks_are_not_mixed() {
        let (found, ended) = chains(&[
            event(10, 1, 1, WAITS),
            event(11, 2, 1, ("kworker/u8:3", 0, Some((30, Some(1))))),
            event(12, 1, 2, IRQ),
            event(13, 2, 2, WAITS),
            event(14, 2, 3, RUNS),
        ]);
        let expected = [
            chain(10, 1, "server (do_wait) <- hardirq"),
            chain(11, 2, "kworker/u8:3 (poll) <- server (do_wait) <- dd"),
        ];
        assert_eq!((&found[..], ended), (&expected[..], 2));
    }

    #[test]
    fn a_chain_ends_at_an_unknown_waker() {
        let (found, ended) = chains(&[
            event(10, 1, 1, ("server", 0, Some((40, None)))),
            event(11, 1, 2, ("x\ny", 0, None)),
            event(12, 1, 1, ("swapper/1", 1, Some((0, None)))),
            event(13, 1, 1, ("swapper/1", 3, Some((0, None)))),
        ]);
        let expected = [
            chain(10, 1, "server (?) <- x\\ny (not known)"),
            chain(12, 1, "softirq NET_RX"),
            chain(13, 1, "nmi"),
        ];
        assert_eq!((&found[..], ended), (&expected[..], 3));
    }

    #[test]
    fn the_end_of_a_chain_can_be_missing() {
        let (found, ended) = chains(&[
            event(10, 1, 1, WAITS),
            event(11, 1, 2, WAITS),
            // The third part was lost.
            event(12, 1, 4, IRQ),
            event(20, 1, 1, WAITS),
            event(19, 2, 1, WAITS),
        ]);
        let expected = [
            chain(10, 1, "server (do_wait) <- server (do_wait) <- ..."),
            chain(19, 2, "server (do_wait) <- ..."),
            chain(20, 1, "server (do_wait) <- ..."),
        ];
        assert_eq!((&found[..], ended), (&expected[..], 1));
    }

    #[test]
    fn parts_without_a_beginning_are_left_out() {
        let mut other = event(12, 1, 2, IRQ);
        if let Kind::Chain { block_ns, .. } = &mut other.kind {
            *block_ns = 51;
        }
        let (found, _) = chains(&[
            event(9, 1, 2, IRQ),
            event(10, 1, 1, WAITS),
            // It is part of another chain.
            other,
            event(13, 1, 2, RUNS),
        ]);
        assert_eq!(found, [chain(10, 1, "server (do_wait) <- dd")]);
    }

    #[test]
    fn a_chain_has_at_most_eight_parts() {
        let events: Vec<_> = (1..=8).map(|hop| event(10, 1, hop, WAITS)).collect();
        let (found, ended) = chains(&events);
        assert_eq!((found.len(), ended), (1, 1));
        assert_eq!(found[0].2.matches("server (do_wait) <- ").count(), 8);
        assert!(found[0].2.ends_with(" <- ..."));
    }

    #[test]
    fn equal_chains_have_equal_steps() {
        let steps = |pid, part| {
            let mut steps = Vec::new();
            let mut chains = Chains::default();
            chains.event(&event(10, pid, 1, part), |chain| steps = chain.steps());
            chains.finish(|chain| steps = chain.steps());
            assert_eq!(steps.len(), 1);
            steps
        };
        assert_eq!(steps(1, IRQ), steps(2, ("swapper/0", 2, Some((0, None)))));
        assert_eq!(steps(1, WAITS), steps(2, ("server", 0, Some((7, Some(0))))));
        for other in [
            ("server2", 0, Some((40, Some(0)))),
            ("server", 0, Some((40, Some(1)))),
            ("server", 0, Some((0, None))),
            ("server", 0, None),
        ] {
            assert_ne!(steps(1, WAITS), steps(1, other), "{other:?}");
        }
        assert_ne!(steps(1, IRQ), steps(1, ("swapper/1", 1, Some((0, None)))));
    }
}
