// SPDX-License-Identifier: GPL-2.0

//! KUnit suites of what needs no tracing: the policy, words of compact records, the table of tasks.
//!
//! The host's tests (`tests/host`) ask more of the same code, but with a library of the host's. Here it has the
//! kernel's allocator and atomics, overflow checks and KASAN, and other CPUs. The suites run when
//! the module is loaded; its case (`basic/kunit`) reads the results.

use kernel::prelude::*;

#[allow(dead_code)]
#[path = "../../src/filter/mod.rs"]
mod filter;

#[allow(dead_code)]
#[path = "../../src/profile/spread.rs"]
mod spreads;

#[allow(dead_code)]
#[path = "../../src/ktrace/compact/word.rs"]
pub mod words;

#[allow(dead_code)]
pub mod ktrace;

mod suites;

module! {
    type: Suites,
    name: "ktrace_kunit",
    authors: ["The ferrotrace authors"],
    description: "KUnit suites, for tests",
    license: "GPL",
}

/// The loaded module, which does nothing itself.
struct Suites;

impl kernel::Module for Suites {
    fn init(_: &'static ThisModule) -> Result<Self> {
        Ok(Self)
    }
}
