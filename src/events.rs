// SPDX-License-Identifier: GPL-2.0

//! The events in `events/ferrotrace/`, which report the life of a task as a sequence of states.
//!
//! An event that reports a duration is generated at the end of the interval, in ns of the current
//! trace clock. The intervals of one task are contiguous: `task_block` and `task_wakeup` are
//! generated when the task is woken, `task_wait` when it gets a CPU, and `task_run` when it leaves
//! the CPU. `docs/reference/events.md` documents the events for users.
//!
//! An event is written to a trace array if the filter of this trace array selects the task of the
//! event.

use crate::{
    chain_thresholds::is_wanted,
    ktrace::{
        array::trace_array::TraceArray,
        compact::head::PackHeader,
        event::{
            field::{
                Address,
                DynArray,
                Pid,
                Str, //
            },
            trace_event,
            trace_symbols, //
        },
        task::{
            sched_state::{
                caller_of,
                STATE_NAMES, //
            },
            task_mask::mask_of,
            trace_mask,
            Comm,
            Task, //
        },
        value_names::ValueNames, //
    },
    task_filter::TaskFilter,
    task_times::{
        sections::Section,
        types::{
            Block,
            CallTimes,
            ChainLink,
            Totals,
            WaitBehind,
            Waker,
            Work, //
        }, //
    },
    trigger_rule::RuleText,
};

/// Returns whether the filter of a trace array selects a task. To be called by probes only.
fn wanted(tr: &TraceArray, task: Task<'_>) -> bool {
    trace_mask::wants(tr, mask_of::<TaskFilter>(task))
}

/// Names of the contexts that can wake a task: the values of [`Waker::context`].
pub(crate) const CONTEXTS: ValueNames =
    &[(0, c"task"), (1, c"softirq"), (2, c"hardirq"), (3, c"nmi")];

trace_symbols! {
    /// The transition with which the wait of a task for a CPU began.
    pub(crate) enum Since: u8 {
        /// The task was woken.
        Woken = 0 => c"woken",
        /// The task was preempted, or yielded its CPU without sleeping.
        Preempted = 1 => c"preempted",
    }
}

trace_event! {
    system ferrotrace;

    /// Reports that a task becomes runnable.
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

    /// Reports that a runnable task gets a CPU, and how long it has waited.
    pub(crate) event task_wait(task: Task<'_>, wait_ns: u64, since: Since, prev: Task<'_>);

    counted as user;
    about task;
    only if |tr| wanted(tr, task);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        prio: i32 = task.prio(),
        since: Since = since,
        wait_ns: u64 = wait_ns,
        prev_comm: Comm = prev.comm(),
        prev_pid: Pid = Pid(prev.pid()),
        prev_prio: i32 = prev.prio(),
    }

    print "comm={} pid={} prio={} wait={} [ns] since={} prev_comm={} prev_pid={} prev_prio={}",
        comm, pid, prio, wait_ns, since, prev_comm, prev_pid, prev_prio;
}

trace_event! {
    system ferrotrace;

    /// Reports that a task leaves the CPU, how long it has run, and how much of that was the time
    /// of interrupts on top of it.
    pub(crate) event task_run(task: Task<'_>, run_ns: u64, state: u32, irq_ns: u64);

    counted as user;
    only if |tr| wanted(tr, task);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        prio: i32 = task.prio(),
        state: u32 = state,
        run_ns: u64 = run_ns,
        irq_ns: u64 = irq_ns,
    }

    print "comm={} pid={} prio={} run={} [ns] irq={} [ns] state={}",
        comm, pid, prio, run_ns, irq_ns, symbolic(state, STATE_NAMES);
}

trace_event! {
    system ferrotrace;

    /// Reports that a blocked task is woken, and how long it was blocked.
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

    /// Reports that a task that is not running is moved to another CPU.
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

    /// Reports that a task creates another task. Written if the filter selects either of them.
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

    /// Reports that a task executes a program.
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

    /// Reports that a task is renamed. Written if the filter selects the task by its new or its old
    /// name; `old_mask` is the mask for the old one.
    pub(crate) event task_set_comm(task: Task<'_>, comm: &Comm, old_mask: u32);

    counted as user;
    about task;
    only if |tr| wanted(tr, task) || trace_mask::wants(tr, old_mask);

    record {
        pid: Pid = Pid(task.pid()),
        old_comm: Comm = task.comm(),
        comm: Comm = *comm,
    }

    print "pid={} old_comm={} comm={}", pid, old_comm, comm;
}

trace_event! {
    system ferrotrace;

    /// Reports that a task exits, and its total times since it was first observed.
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
    system ferrotrace;

    /// Reports one waker in the chain of wakeups that ended a blocked interval of a task, and what
    /// this waker was blocked on itself during the interval.
    pub(crate) event task_chain(task: Task<'_>, link: &ChainLink);

    counted as user;
    about task;
    only if |tr| wanted(tr, task) && is_wanted(tr, link.block_ns);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        hop: u8 = link.hop,
        block_ns: u64 = link.block_ns,
        waker_comm: Comm = link.waker.comm,
        waker_pid: Pid = Pid(link.waker.pid),
        waker_context: u8 = link.waker.context,
        waker_irq: Comm = link.irq,
        known: bool = link.is_known,
        state: u32 = link.state,
        waker_block_ns: u64 = link.waker_block_ns,
        caller: Address = Address(link.caller),
    }

    print "comm={} pid={} block={} [ns] hop={} waker_comm={} waker_pid={} waker_context={} \
        waker_irq={} waker_block={} [ns] state={} caller={} known={}",
        comm, pid, block_ns, hop, waker_comm, waker_pid, symbolic(waker_context, CONTEXTS),
        waker_irq, waker_block_ns, symbolic(state, STATE_NAMES), caller, known;
}

trace_event! {
    system ferrotrace;

    /// Reports one of the tasks that had a CPU while a task waited for it.
    pub(crate) event task_wait_behind(task: Task<'_>, behind: &WaitBehind);

    counted as user;
    about task;
    only if |tr| wanted(tr, task) && is_wanted(tr, behind.wait_ns);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        rank: u8 = behind.rank,
        wait_ns: u64 = behind.wait_ns,
        runner_comm: Comm = behind.runner.comm,
        runner_pid: Pid = Pid(behind.runner.pid),
        runs: u32 = behind.runner.runs,
        run_ns: u64 = behind.runner.ns,
        complete: bool = behind.is_complete,
    }

    print "comm={} pid={} wait={} [ns] rank={} runner_comm={} runner_pid={} run={} [ns] runs={} \
        complete={}",
        comm, pid, wait_ns, rank, runner_comm, runner_pid, run_ns, runs, complete;
}

trace_event! {
    system ferrotrace;

    /// Reports that a worker has executed work that a traced task had queued, and how long it took.
    pub(crate) event task_work(task: Task<'_>, work: &Work);

    counted as user;
    only if |tr| wanted(tr, task);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        function: Address = Address(work.function),
        for_comm: Comm = work.comm,
        for_pid: Pid = Pid(work.pid),
        queued_ns: u64 = work.queued_ns,
        run_ns: u64 = work.run_ns,
        wait_ns: u64 = work.wait_ns,
        block_ns: u64 = work.block_ns,
    }

    print "comm={} pid={} function={} for_comm={} for_pid={} queued={} [ns] run={} [ns] \
        wait={} [ns] block={} [ns]",
        comm, pid, function, for_comm, for_pid, queued_ns, run_ns, wait_ns, block_ns;
}

/// Whether a section belongs to a thread: the values of [`Section::is_async`].
const SECTIONS: ValueNames = &[(0, c"sync"), (1, c"async")];

trace_event! {
    system ferrotrace;

    /// Reports the end of a section of the current task, which it has marked by writing to
    /// `trace_marker`, and how long the section took.
    pub(crate) event task_section(task: Task<'_>, section: &Section);

    counted as user;
    only if |tr| wanted(tr, task);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        kind: u8 = u8::from(section.is_async),
        total_ns: u64 = section.total_ns,
        run_ns: u64 = section.run_ns,
        irq_ns: u64 = section.irq_ns,
        wait_ns: u64 = section.wait_ns,
        block_ns: u64 = section.block_ns,
        cookie: i64 = section.cookie,
        name: Str = section.name(),
    }

    print "comm={} pid={} kind={} cookie={} total={} [ns] run={} [ns] irq={} [ns] wait={} [ns] \
        block={} [ns] name={}",
        comm, pid, symbolic(kind, SECTIONS), cookie, total_ns, run_ns, irq_ns, wait_ns, block_ns,
        name;
}

trace_event! {
    system ferrotrace;

    /// Reports that a rule of `ferrotrace/triggers` fires: the number of its line, its text, the
    /// task that it is about, and the number that it is about.
    ///
    /// The trace array of the rule gets the record in any case. Other trace arrays, perf and BPF
    /// get it as they get other events.
    pub(crate) event trigger(
        task: Task<'_>,
        rule: u32,
        value: i64,
        text: &RuleText,
        origin: &TraceArray,
    );

    about task;
    only if |tr| wanted(tr, task) && !core::ptr::eq(tr, origin);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        rule: u32 = rule,
        value: i64 = value,
        text: Str = text.as_bytes(),
    }

    print "comm={} pid={} rule={} value={} text={}", comm, pid, rule, value, text;
}

trace_event! {
    // In the same system as the `funcgraph_entry` and `funcgraph_exit` events of the graph tracer,
    // where programs that read their formats find it. It cannot be enabled, and users do not look
    // for events to enable there.
    system ftrace;

    /// Reports the run, wait and block times of a call that lost the CPU or was interrupted, and
    /// the time of interrupts within its run time, if it is measured. Written by the tracer
    /// directly before the record of the return; cannot be enabled.
    pub(crate) event funcgraph_times(times: &CallTimes);

    written by hand;

    record {
        func: Address = Address(times.func),
        depth: i32 = times.depth,
        run_ns: u64 = times.run_ns,
        irq_ns: u64 = times.irq_ns,
        wait_ns: u64 = times.wait_ns,
        block_ns: u64 = times.block_ns,
        switches: u32 = times.switches,
        state: u32 = times.blocked.state,
        caller: Address = Address(times.blocked.caller),
        waker_comm: Comm = times.blocked.waker.comm,
        waker_pid: Pid = Pid(times.blocked.waker.pid),
        waker_context: u8 = times.blocked.waker.context,
    }

    print "func={} run={} [ns] irq={} [ns] wait={} [ns] block={} [ns] switches={} state={} caller={} waker_comm={} waker_pid={} waker_context={}",
        func, run_ns, irq_ns, wait_ns, block_ns, switches, symbolic(state, STATE_NAMES), caller,
        waker_comm, waker_pid, symbolic(waker_context, CONTEXTS);
}

trace_event! {
    // See `funcgraph_times`.
    system ftrace;

    /// Has the header of a packed record, which is followed by several calls
    /// ([`crate::ktrace::compact`]). Written by the tracer; cannot be enabled.
    pub(crate) event funcgraph_pack(head: &PackHeader);

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
        // Like the whole record, this is written by the packer.
        words: DynArray<u64> = &[],
    }

    // This text is for clients without the plugin. The kernel prints the calls themselves.
    print "calls in compact form, {} bytes: plugin_ferrotrace.so shows them (docs/reference/compact.md of ferrotrace)",
        len(words);
}
