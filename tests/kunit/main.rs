// SPDX-License-Identifier: GPL-2.0

//! KUnit suites of code that needs no tracing: filters, words of compact records, the table of
//! tasks.
//!
//! The host tests (`tests/host`) test the same code more thoroughly, but with a library of the
//! host. Here, the code uses the kernel's allocator and atomics, with overflow checks, KASAN, and
//! several CPUs. The suites run when the module is loaded; the case `basic/kunit` reads the
//! results.

use kernel::prelude::*;

#[allow(dead_code)]
#[path = "../../src/filter/mod.rs"]
mod filter;

#[allow(dead_code)]
#[path = "../../src/profile/histogram.rs"]
mod histograms;

#[allow(dead_code)]
#[path = "../../src/ktrace/compact/encoding.rs"]
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

/// The loaded module, which has no function of its own.
struct Suites;

impl kernel::Module for Suites {
    fn init(_: &'static ThisModule) -> Result<Self> {
        Ok(Self)
    }
}
