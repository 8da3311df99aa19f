// SPDX-License-Identifier: GPL-2.0

//! ferrotrace records what the kernel does for selected tasks, and where their time goes.
//!
//! This file is the wiring: it registers everything when the module is loaded, and unregisters it
//! in reverse order. `docs/internals/architecture.md` gives an overview.

pub mod ktrace;

mod arrays;
mod atomic_comm;
mod chain_thresholds;
mod chains;
mod control;
mod event_users;
mod events;
mod fgraph;
mod filter;
mod function_trace;
mod install;
mod latency;
mod marker_text;
mod markers;
mod max_stack;
mod option;
mod profile;
mod relaxed_u64;
mod seen_call;
mod seq_words;
mod show;
mod task_filter;
mod task_probes;
mod task_times;
mod thresholds;
mod time_split;
mod tracer;
mod trigger_rule;
mod triggers;
mod waits;
mod works;

use kernel::{
    prelude::*,
    sync::Arc, //
};

use arrays::{
    profiles::Unloads,
    rules::take_rules,
    State,
    STATE, //
};
use event_users::EventUserCount;
use filter::{
    decision::Filter, //
    error::Fault,
};
use install::{
    Installed, //
    InstanceListener,
};
use ktrace::{
    array::{
        error_log::ErrorLog,
        instances::InstanceWatch,
        module_state,
        trace_array::TypesLock, //
    },
    compact::{
        selftest,
        suspend::SuspendWatch, //
    },
    event::users::UserCountGuard,
    fgraph::drop_graph_functions,
    private::{
        modules::ModuleWatch,
        symbols::Resolved, //
    },
    resolve, //
};

module! {
    type: Ferrotrace,
    name: "ferrotrace",
    authors: ["The ferrotrace authors"],
    description: "Traces what the kernel does for chosen processes",
    license: "GPL",
}

/// The loaded module. Its fields are dropped in the order of their declaration.
struct Ferrotrace {
    /// Dropped first, so that no instance notification arrives while the rest is removed.
    _instances: InstanceWatch,
    _modules: ModuleWatch,
    _users: UserCountGuard,
    _suspend: SuspendWatch,
    _state: Loaded,
}

/// Everything that the kernel's trace arrays hold of this module; removed on drop.
struct Loaded(Resolved);

impl Drop for Loaded {
    fn drop(&mut self) {
        // Rules hold references whose drop takes the locks.
        while let Some(hold) = take_rules() {
            drop(hold);
        }
        let state = {
            let lock = TypesLock::new(self.0);
            let mut place = STATE.lock();
            if let Some(state) = place.as_mut() {
                state.clear(&lock);
            }
            place.take()
        };
        // The tracer and the file operations are dropped last and without the locks, because
        // dropping them takes these locks.
        drop(state);
        drop_graph_functions();
    }
}

impl kernel::Module for Ferrotrace {
    fn init(module: &'static ThisModule) -> Result<Self> {
        let resolved = resolve::resolve(module)?;
        selftest::run(resolved)?;
        let errors = Arc::new(ErrorLog::new(resolved, &Fault::MESSAGES)?, GFP_KERNEL)?;
        let no_filter = Arc::new(Filter::default(), GFP_KERNEL)?;
        {
            let lock = TypesLock::new(resolved);
            let installed = Installed::new(resolved, &lock)?;
            *STATE.lock() = Some(State::new(resolved, installed, errors, no_filter));
        }
        let loaded = Loaded(resolved);
        let suspend = SuspendWatch::new(resolved)?;
        let users = UserCountGuard::new::<EventUserCount>(resolved)?;
        let modules = ModuleWatch::new::<Unloads>(resolved)?;
        let instances = InstanceWatch::new::<InstanceListener>(resolved)?;
        // This runs after the probes are attached, so that no new instance is missed.
        let lock = TypesLock::new(resolved);
        if let Some(state) = STATE.lock().as_mut() {
            state.reconcile(&lock, |_, _| ())?;
            state.sync_graph_functions()?;
            state.sync_events(&lock);
        }
        // Nothing can fail from here on. Until now, every access from user space was refused.
        module_state::set(&lock);
        Ok(Self {
            _instances: instances,
            _modules: modules,
            _users: users,
            _suspend: suspend,
            _state: loaded,
        })
    }
}
