// SPDX-License-Identifier: GPL-2.0

//! Defines the flags in the task data word of the hook, and the functions that compute and test
//! them. The count in the word is the number of the task's calls that found the shadow stack full.
//!
//! The word is not cleared when the hook is unregistered. The kernel reuses the index of a hook
//! after 16 others, and the next hook with this index finds the old word. function_graph would
//! interpret one of the lowest five bits as its own flag (`TRACE_GRAPH_NOTRACE`,
//! kernel/trace/trace.h) and ignore the task, so these bits are not used.

use crate::ktrace::fgraph::{
    Open,
    When,
    SHORT_TAG_BITS, //
};

/// The task is inside a function of `set_graph_function`, whose depth is in [`DEPTH`].
pub(super) const CHOSEN: u32 = 1 << 5;
/// That function was called in a hardware interrupt, which is therefore traced.
pub(super) const CHOSEN_IRQ: u32 = 1 << 6;
/// The task is inside a function of `set_graph_notrace`.
pub(super) const NOTRACE: u32 = 1 << 7;
/// There may be open calls whose entries are not written.
pub(super) const UNWRITTEN: u32 = 1 << 8;
/// The hook has initialized the word, so that calls of the task that find the shadow stack full
/// are counted.
pub(super) const SEEN: u32 = 1 << 9;
/// There may be frames without saved off-CPU times: calls that have not lost the CPU.
pub(super) const NOT_SAVED: u32 = 1 << 10;
/// Together with [`UNWRITTEN`]: these may be more than the innermost call.
pub(super) const UNWRITTEN_CALLERS: u32 = 1 << 11;
/// Both flags.
pub(super) const ANY_UNWRITTEN: u32 = UNWRITTEN | UNWRITTEN_CALLERS;
/// The depth, in 8 bits: a shadow stack of 4 KiB has room for fewer calls, of at least three words
/// each.
pub(super) const DEPTH_SHIFT: u32 = 12;
pub(super) const DEPTH: u32 = 0xff << DEPTH_SHIFT;
/// The lowest bits of the hook's tag. They distinguish the word from that of another hook,
/// which is ignored.
const TAG_SHIFT: u32 = 20;
pub(super) const TAG: u32 = ((1 << SHORT_TAG_BITS) - 1) << TAG_SHIFT;
const _: () = assert!(TAG_SHIFT + SHORT_TAG_BITS <= u32::BITS);

/// Returns the flags that a call sets, depending on when its entry is written.
#[inline]
pub(super) fn set_on_entry(when: When) -> u32 {
    match when {
        When::IfLong => ANY_UNWRITTEN | NOT_SAVED,
        When::IfNeeded => UNWRITTEN | NOT_SAVED,
        When::AtCall | When::AtCallPacked => NOT_SAVED,
    }
}

/// Returns the flags of a task inside a function of `set_graph_function`, after a return at this
/// depth.
#[cold]
pub(super) fn chosen_after(state: u32, depth: i32) -> u32 {
    let depth = depth.max(0) as u32;
    match depth << DEPTH_SHIFT & DEPTH == state & DEPTH {
        true => state & !(CHOSEN | CHOSEN_IRQ),
        false => state,
    }
}

/// Returns the flags in the task data word of a hook with this tag, if no other flag is set.
#[inline]
pub(super) fn initial(tag: u32) -> u32 {
    SEEN | tag << TAG_SHIFT & TAG
}

/// Returns whether this hook has initialized the task data word.
#[inline]
pub(super) fn is_initialized(state: u32, open: &Open<'_>) -> bool {
    state & (SEEN | TAG) == initial(open.tag())
}
