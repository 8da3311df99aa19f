// SPDX-License-Identifier: GPL-2.0

//! Implements the callbacks that ktrace requires of its module, for a module that does not use
//! them.

use crate::ktrace::{
    array::{
        instances::{
            bind_instances_changed,
            InstancesChanged, //
        },
        trace_array::TraceArray, //
    },
    event::users::{
        bind_event_users,
        EventUsers, //
    },
    fgraph::{
        bind_graph_hook,
        Call as GraphCall,
        GraphHook,
        Open,
        Return, //
    },
    hook::ftrace_ops::{
        bind_function_hook,
        Call,
        FunctionHook, //
    },
    output::{
        iter::Line,
        printed::Printed,
        tracer::{
            bind_tracer,
            Head,
            Tracer, //
        },
    },
    private::modules::{
        bind_text_leaves,
        LeavingText,
        TextLeaves, //
    },
    record::context::Context,
    task::{
        bind_task_hooks,
        sched::{
            bind_sched_hooks,
            Arriving,
            Leaving,
            SchedHooks, //
        },
        Comm,
        Task,
        TaskHooks, //
    },
};
use core::ffi::CStr;

use kernel::prelude::*;

type Name = &'static CStr;

/// A type that implements all callbacks and is never registered.
struct Nobody;

bind_function_hook!(Nobody);
bind_graph_hook!(Nobody);
bind_tracer!(Nobody);
bind_task_hooks!(Nobody);
bind_sched_hooks!(Nobody);
bind_instances_changed!(Nobody);
bind_text_leaves!(Nobody);
bind_event_users!(Nobody);

impl FunctionHook for Nobody {
    fn entry(&self, _: &Call<'_>) {}
    fn recursed(&self) {}
}

impl GraphHook for Nobody {
    fn entry(&self, _: &GraphCall<'_>) -> bool {
        false
    }
    fn ret(&self, _: &Return<'_>) {}
    fn sched_out(&self, _: &Open<'_>) {}
    fn interposed(&self, _: &Open<'_>, _: Context) {}
    fn task_exit(&self, _: &Open<'_>) {}
}

impl Tracer for Nobody {
    const NAME: Name = c"nobody";
    const OPTIONS: &'static [Name] = &[];
    const DEFAULT_OPTIONS: u32 = 0;
    type Reading = ();

    fn print(_: &mut Line<'_>, _: Option<&mut [()]>, _: usize) -> Printed {
        Printed::Unhandled
    }
    fn head(_: u32) -> Head {
        Head::Default
    }
    fn init(_: &TraceArray, _: u32) -> Result {
        Err(ENODEV)
    }
    fn reset(_: &TraceArray) {}
    fn set_options(_: &TraceArray, _: u32) -> Result {
        Ok(())
    }
}

impl TaskHooks for Nobody {
    fn mask(&self, _: i32) -> u32 {
        0
    }
    fn idle_mask(&self, _: u32) -> u32 {
        0
    }
    fn new_task(&self, _: Task<'_>, _: Task<'_>) {}
    fn renamed(&self, _: Task<'_>, _: Comm) {}
    fn prepare_exec(&self, _: Task<'_>) {}
    fn executed(&self, _: Task<'_>, _: i32) {}
    fn freed(&self, _: Task<'_>) {}
    fn settle(&self) {}
}

impl SchedHooks for Nobody {
    fn switch(&self, _: Leaving<'_>, _: Arriving<'_>, _: u64) {}
    fn waking(&self, _: Task<'_>, _: u32) {}
    fn wakeup(&self, _: Task<'_>, _: u32, _: bool, _: u64) {}
    fn migrate(&self, _: Task<'_>, _: u32, _: u32) {}
    fn fork(&self, _: Task<'_>, _: Task<'_>) {}
    fn prepare_exec(&self, _: Task<'_>) {}
    fn exec(&self, _: Task<'_>, _: i32, _: &[u8]) {}
    fn changes(&self, _: Task<'_>) {}
    fn rename(&self, _: Task<'_>, _: Comm) {}
    fn exit(&self, _: Task<'_>, _: bool, _: u64) {}
}

impl TextLeaves for Nobody {
    fn leaves(_: &LeavingText<'_>) {}
}

impl InstancesChanged for Nobody {
    fn changed() {}
}

impl EventUsers for Nobody {
    fn changed(_: bool) -> Result {
        Ok(())
    }
}
