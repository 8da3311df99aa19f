// SPDX-License-Identifier: GPL-2.0

//! The events in `events/ferrotrace/`: a task's life as states.
//!
//! Each that tells a time tells it when it is over, in ns of the trace clock in use, so that of one
//! task they follow upon each other without a gap: `task_block` and `task_wakeup` when it is woken,
//! `task_wait` when it gets a CPU, `task_run` when it leaves it. `docs/events.md` tells users more.
//!
//! An event is written to a trace array if the filter there wants the task that it is about.

use crate::{
    fgraph::CallTimes,
    ktrace::{
        compact::pack::Head,
        event::{
            field::{
                Address,
                DynArray,
                Pid,
                Str, //
            },
            format::Names,
            trace_event,
            trace_symbols, //
        },
        gate,
        sched::{
            caller_of,
            STATE_NAMES, //
        },
        task::{
            self,
            Comm,
            Task, //
        },
        trace_array::TraceArray, //
    },
    sched::accounts::{
        Block,
        Totals,
        Waker, //
    },
    watch::Watch, //
};

/// Whether the filter of a trace array wants a task. Called by probes alone.
fn wanted(tr: &TraceArray, task: Task<'_>) -> bool {
    gate::wants(tr, task::mask_of::<Watch>(task))
}

/// What woke a task: the bits of [`Waker::context`].
pub(crate) const CONTEXTS: Names = &[(0, c"task"), (1, c"softirq"), (2, c"hardirq"), (3, c"nmi")];

trace_symbols! {
    /// Since when a task had to wait for a CPU.
    pub(crate) enum Since: u8 {
        /// Since it was made runnable.
        Woken = 0 => c"woken",
        /// Since it had to leave a CPU, or gave it up without going to sleep.
        Preempted = 1 => c"preempted",
    }
}

trace_event! {
    system ferrotrace;

    /// A task becomes runnable.
    pub(crate) event task_wakeup(task: Task<'_>, target_cpu: u32, waker: &Waker);

    counted as user;
    about task;
    only if |tr| wanted(tr, task);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        prio: i32 = task.prio(),
        target_cpu: u32 = target_cpu,
        waker_comm: Comm = waker.comm,
        waker_pid: Pid = Pid(waker.pid),
        waker_context: u8 = waker.context,
    }

    print "comm={} pid={} prio={} target_cpu={:03} waker_comm={} waker_pid={} waker_context={}",
        comm, pid, prio, target_cpu, waker_comm, waker_pid, symbolic(waker_context, CONTEXTS);
}

trace_event! {
    system ferrotrace;

    /// A runnable task gets a CPU.
    pub(crate) event task_wait(task: Task<'_>, wait_ns: u64, since: Since, behind: Task<'_>);

    counted as user;
    about task;
    only if |tr| wanted(tr, task);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        prio: i32 = task.prio(),
        since: Since = since,
        wait_ns: u64 = wait_ns,
        behind_comm: Comm = behind.comm(),
        behind_pid: Pid = Pid(behind.pid()),
        behind_prio: i32 = behind.prio(),
    }

    print "comm={} pid={} prio={} wait={} [ns] since={} behind_comm={} behind_pid={} behind_prio={}",
        comm, pid, prio, wait_ns, since, behind_comm, behind_pid, behind_prio;
}

trace_event! {
    system ferrotrace;

    /// A task leaves the CPU.
    pub(crate) event task_run(task: Task<'_>, run_ns: u64, state: u32);

    counted as user;
    only if |tr| wanted(tr, task);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        prio: i32 = task.prio(),
        state: u32 = state,
        run_ns: u64 = run_ns,
    }

    print "comm={} pid={} prio={} run={} [ns] state={}",
        comm, pid, prio, run_ns, symbolic(state, STATE_NAMES);
}

trace_event! {
    system ferrotrace;

    /// A blocked task is woken.
    pub(crate) event task_block(task: Task<'_>, block: &Block, waker: &Waker);

    counted as user;
    about task;
    only if |tr| wanted(tr, task);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        prio: i32 = task.prio(),
        state: u32 = block.state,
        block_ns: u64 = block.ns,
        caller: Address = Address(caller_of(task)),
        waker_comm: Comm = waker.comm,
        waker_pid: Pid = Pid(waker.pid),
        waker_context: u8 = waker.context,
    }

    print "comm={} pid={} prio={} block={} [ns] state={} caller={} waker_comm={} waker_pid={} waker_context={}",
        comm, pid, prio, block_ns, symbolic(state, STATE_NAMES), caller, waker_comm, waker_pid,
        symbolic(waker_context, CONTEXTS);
}

trace_event! {
    system ferrotrace;

    /// A task that does not run goes to another CPU.
    pub(crate) event task_migrate(task: Task<'_>, orig_cpu: u32, dest_cpu: u32);

    counted as user;
    about task;
    only if |tr| wanted(tr, task);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        prio: i32 = task.prio(),
        orig_cpu: u32 = orig_cpu,
        dest_cpu: u32 = dest_cpu,
    }

    print "comm={} pid={} prio={} orig_cpu={} dest_cpu={}", comm, pid, prio, orig_cpu, dest_cpu;
}

trace_event! {
    system ferrotrace;

    /// A task makes another one: written where either of them is wanted.
    pub(crate) event task_fork(parent: Task<'_>, child: Task<'_>);

    counted as user;
    only if |tr| wanted(tr, parent) || wanted(tr, child);

    record {
        comm: Comm = parent.comm(),
        pid: Pid = Pid(parent.pid()),
        child_comm: Comm = child.comm(),
        child_pid: Pid = Pid(child.pid()),
        child_tgid: Pid = Pid(child.tgid()),
    }

    print "comm={} pid={} child_comm={} child_pid={} child_tgid={}",
        comm, pid, child_comm, child_pid, child_tgid;
}

trace_event! {
    system ferrotrace;

    /// A task executes a program.
    pub(crate) event task_exec(task: Task<'_>, old_pid: i32, old_comm: &Comm, filename: &&[u8]);

    counted as user;
    only if |tr| wanted(tr, task);

    record {
        filename: Str = *filename,
        old_comm: Comm = *old_comm,
        old_pid: Pid = Pid(old_pid),
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
    }

    print "filename={} old_comm={} old_pid={} comm={} pid={}",
        filename, old_comm, old_pid, comm, pid;
}

trace_event! {
    system ferrotrace;

    /// A task gets another name: written where it is wanted by either. `old_mask` is the mask of
    /// the old one.
    pub(crate) event task_comm(task: Task<'_>, comm: &Comm, old_mask: u32);

    counted as user;
    about task;
    only if |tr| wanted(tr, task) || gate::wants(tr, old_mask);

    record {
        pid: Pid = Pid(task.pid()),
        old_comm: Comm = task.comm(),
        comm: Comm = *comm,
    }

    print "pid={} old_comm={} comm={}", pid, old_comm, comm;
}

trace_event! {
    system ferrotrace;

    /// A task exits: what it has done since it was first seen.
    pub(crate) event task_exit(task: Task<'_>, group_dead: bool, totals: &Totals);

    counted as user;
    only if |tr| wanted(tr, task);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        prio: i32 = task.prio(),
        group_dead: bool = group_dead,
        run_ns: u64 = totals.run_ns,
        wait_ns: u64 = totals.wait_ns,
        block_ns: u64 = totals.block_ns,
    }

    print "comm={} pid={} prio={} group_dead={} run={} [ns] wait={} [ns] block={} [ns]",
        comm, pid, prio, group_dead, run_ns, wait_ns, block_ns;
}

trace_event! {
    // Next to the graph tracer's own `funcgraph_entry` and `funcgraph_exit`, where programs that read
    // their formats find it, and nobody looks for an event to turn on.
    system ftrace;

    /// Where the time of a call went that lost the CPU: goes with the record of its return, before
    /// that. Written by the tracer, not to be turned on.
    pub(crate) event funcgraph_times(times: &CallTimes);

    written by hand;

    record {
        func: Address = Address(times.func),
        depth: i32 = times.depth,
        run_ns: u64 = times.run_ns,
        wait_ns: u64 = times.wait_ns,
        block_ns: u64 = times.block_ns,
        switches: u32 = times.switches,
        state: u32 = times.blocked.state,
        caller: Address = Address(times.blocked.caller),
        waker_comm: Comm = times.blocked.waker.comm,
        waker_pid: Pid = Pid(times.blocked.waker.pid),
        waker_context: u8 = times.blocked.waker.context,
    }

    print "func={} run={} [ns] wait={} [ns] block={} [ns] switches={} state={} caller={} waker_comm={} waker_pid={} waker_context={}",
        func, run_ns, wait_ns, block_ns, switches, symbolic(state, STATE_NAMES), caller, waker_comm,
        waker_pid, symbolic(waker_context, CONTEXTS);
}

trace_event! {
    // As above.
    system ftrace;

    /// Calls in compact form ([`crate::ktrace::compact`]): what stands before them. Written by the
    /// tracer, not to be turned on.
    pub(crate) event funcgraph_pack(head: &Head);

    written by hand;
    printed item_by_item;

    record {
        start: u8 = head.start,
        repeats: u8 = head.repeats,
        taken: u8 = head.taken,
        site_shift: u8 = head.site_shift,
        serial: u32 = head.serial,
        mult: u32 = head.mult,
        text: u32 = head.text,
        // Written by hand, as all of it is.
        words: DynArray<u64> = &[],
    }

    // For clients that do not know how to show what is in it; the kernel does.
    print "calls in compact form, {} bytes: plugin_ferrotrace.so shows them (docs/compact.md of ferrotrace)",
        len(words);
}
