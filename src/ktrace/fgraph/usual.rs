// SPDX-License-Identifier: GPL-2.0

//! What the C side shares with this one: a hook as the kernel knows it, and which calls are as usual.

use core::ptr::{
    null,
    null_mut, //
};

use kernel::{
    prelude::*,
    sync::atomic::Atomic, //
};

use crate::ktrace::{
    abi,
    symbols::Data, //
};

/// Which calls need nothing but to be timed, before they return: what [`super::GraphHook::called`] would do for
/// them is to keep a frame with the number of the task's switches, no flags, and to set bits of the task's
/// word. These take the shortest way, which is in C, inlined into the hook; `fgraph.c` says what it looks at.
/// What is referred to is read at each call.
///
/// The upper half of the task's word is how many calls have found the shadow stack full; a return that
/// finds it different does not take that way.
#[derive(Clone, Copy)]
pub struct Usual<'a> {
    /// Bits of the task's word that tell whether something is special.
    pub special: usize,
    /// How these are set when nothing is.
    pub settled: usize,
    /// Bits that such a call sets.
    pub opens: usize,
    /// The one of these that says that there may be callers to be written: if it is set, and there is no
    /// threshold, the call is not a usual one; nor is the return, if it is not. It is cleared when something
    /// was written.
    pub unwritten: usize,
    /// The flag of a frame that says that its beginning is written.
    pub written: u32,
    /// Calls that are less deep than this, as far as the hook is concerned.
    pub below: &'a Atomic<u32>,
    /// What is shorter, in ns, is not written, nor told; 0 is no limit.
    pub least_ns: &'a Atomic<u64>,
    /// All is told, however short, and callers do not matter.
    pub adds_up: bool,
}

/// The same for C; `struct ktrace_usual` in `fgraph.h`.
#[repr(C)]
struct UsualPointers {
    special: usize,
    opens: usize,
    unwritten: usize,
    below: *const Atomic<u32>,
    least_ns: *const Atomic<u64>,
    written: u32,
    adds_up: u32,
}

impl UsualPointers {
    const NONE: Self = Self {
        special: 0,
        opens: 0,
        unwritten: 0,
        below: null(),
        least_ns: null(),
        written: 0,
        adds_up: 0,
    };

    fn new(usual: &Usual<'_>) -> Self {
        Self {
            special: usual.special,
            opens: usual.opens,
            unwritten: usual.unwritten,
            below: usual.below,
            least_ns: usual.least_ns,
            written: usual.written,
            adds_up: u32::from(usual.adds_up),
        }
    }
}

/// What no word of a task is like.
pub(super) const UNSETTLED: usize = usize::MAX;

/// What the C side shares with this; `struct ktrace_graph` in `fgraph.h`.
#[repr(C)]
pub(super) struct Shared {
    pub(super) ops: abi::fgraph_ops,
    usual: UsualPointers,
    graph_hash: *const c_void,
    graph_notrace_hash: *const c_void,
    max_depth: *const c_void,
    settles: usize,
    pub(super) settled: usize,
    word_at: usize,
    top: usize,
    pub(super) packs: Atomic<*mut c_void>,
    bit: u32,
    tag_flags: u32,
    mult: u32,
}

impl Shared {
    /// Of a hook with that place in the gate, whose frames have these flags when they have no others.
    pub(super) fn new(usual: Option<Usual<'_>>, slot: u32, tag_flags: u32, mult: u32) -> Self {
        Self {
            ops: abi::fgraph_ops::default(),
            usual: match &usual {
                Some(usual) => UsualPointers::new(usual),
                None => UsualPointers::NONE,
            },
            graph_hash: Data::GraphHash.as_ptr::<c_void>(),
            graph_notrace_hash: Data::GraphNotraceHash.as_ptr::<c_void>(),
            max_depth: Data::GraphMaxDepth.as_ptr::<c_void>(),
            settles: usual.map_or(UNSETTLED, |usual| usual.settled),
            settled: UNSETTLED,
            word_at: 0,
            top: 0,
            packs: Atomic::new(null_mut()),
            bit: 1u32.wrapping_shl(slot),
            tag_flags,
            mult,
        }
    }
}
