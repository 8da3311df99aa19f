// SPDX-License-Identifier: GPL-2.0

//! ferrotrace: what did the kernel do for these processes, and where did the time go.
//!
//! This file is the wiring: what is registered when the module is loaded, in which order, and
//! undone in reverse. `docs/architecture.md` has the map.

pub mod ktrace;

mod arrays;
mod control;
mod events;
mod fgraph;
mod filter;
mod limits;
mod name;
mod profile;
mod recorder;
mod sched;
mod show;
mod tracer;
mod watch;
mod word;

use kernel::{
    prelude::*,
    sync::Arc, //
};

use arrays::{
    State,
    STATE, //
};

use filter::{
    error::Fault,
    verdict::Filter, //
};

use ktrace::compact::selftest;
use ktrace::compact::suspend::Watch as SuspendWatch;
use ktrace::error_log::ErrorLog;
use ktrace::event::users::Counting;
use ktrace::instances::Watch as InstanceWatch;
use ktrace::modules::Watch as ModuleWatch;
use ktrace::{
    fgraph::drop_graph_functions,
    live,
    symbols::{
        self,
        Resolved, //
    },
    trace_array::TypesLock,
    tracefs::FileOps,
    tracer::Registration, //
};

module! {
    type: Ferrotrace,
    name: "ferrotrace",
    authors: ["The ferrotrace authors"],
    description: "Traces what the kernel does for chosen processes",
    license: "GPL",
}

/// The loaded module. Fields are dropped in their order.
struct Ferrotrace {
    /// First, so that no instance is looked at any more while the rest goes.
    _instances: InstanceWatch,
    _modules: ModuleWatch,
    _users: Counting,
    _suspend: SuspendWatch,
    _state: Loaded,
}

/// Everything that trace arrays have of us, there until drop.
struct Loaded(Resolved);

impl Drop for Loaded {
    fn drop(&mut self) {
        let state = {
            let lock = TypesLock::new(self.0);
            let mut place = STATE.lock();
            if let Some(state) = place.as_mut() {
                state.clear(&lock);
            }
            place.take()
        };
        // The tracer and the table of operations go last, and without the locks: they take them.
        drop(state);
        drop_graph_functions();
    }
}

impl kernel::Module for Ferrotrace {
    fn init(module: &'static ThisModule) -> Result<Self> {
        let resolved = symbols::resolve(module)?;
        selftest::run(resolved)?;
        let files = FileOps::new(resolved)?;
        let errors = Arc::new(ErrorLog::new(resolved, &Fault::MESSAGES)?, GFP_KERNEL)?;
        let no_filter = Arc::new(Filter::default(), GFP_KERNEL)?;
        {
            let lock = TypesLock::new(resolved);
            let tracer = Registration::new(resolved, &lock)?;
            *STATE.lock() = Some(State::new(resolved, files, tracer, errors, no_filter));
        }
        let loaded = Loaded(resolved);
        let suspend = SuspendWatch::new(resolved)?;
        let users = Counting::new(resolved)?;
        let modules = ModuleWatch::new(resolved)?;
        let instances = InstanceWatch::new(resolved)?;
        // After the probes are in place, so that no instance is missed.
        let lock = TypesLock::new(resolved);
        if let Some(state) = STATE.lock().as_mut() {
            state.reconcile(&lock)?;
            state.see_graph_functions()?;
            state.see_events(&lock);
        }
        // Nothing can fail any more. What user space has seen of the module so far was of no use to it.
        live::set(&lock);
        Ok(Self {
            _instances: instances,
            _modules: modules,
            _users: users,
            _suspend: suspend,
            _state: loaded,
        })
    }
}
