// SPDX-License-Identifier: GPL-2.0

//! Data that is shared with `fgraph.c`: a hook as the kernel knows it, and the conditions of the
//! fast path.

use core::ptr::{
    null,
    NonNull, //
};

use super::settings::has_any_functions;

use kernel::{
    prelude::*,
    sync::atomic::Atomic, //
};

use crate::ktrace::{
    private::{
        abi,
        callbacks::ktrace_overrun_t,
        symbols::Data, //
    },
    shared::same_as_c,
    sync::{
        atomic::AtomicPtr,
        read_once::ReadOnce, //
    },
};

/// When the entry of a call is written; `enum ktrace_when` in `fgraph.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum When {
    /// Only if the call takes as long as [`FastPathConfig::threshold_ns`], or never.
    IfLong = 0,
    /// When a callee begins, or together with the return.
    IfNeeded = 1,
    /// When the call begins.
    AtCall = 2,
    /// When the call begins, in a packed record if possible. Only for hooks without further data in
    /// entries.
    AtCallPacked = 3,
}

impl When {
    /// Reads the value of [`FastPathConfig::when`].
    #[inline]
    pub fn read(from: &Atomic<u32>) -> Self {
        match from.read_once() {
            0 => Self::IfLong,
            1 => Self::IfNeeded,
            2 => Self::AtCall,
            _ => Self::AtCallPacked,
        }
    }

    /// Returns whether each entry is written when its call begins.
    #[inline]
    pub fn is_at_call(self) -> bool {
        matches!(self, Self::AtCall | Self::AtCallPacked)
    }
}

/// Which calls take the fast path, which is in C, inlined into the hook.
///
/// For these calls, the fast path does what [`super::GraphHook::entry`] would do: it reserves a
/// frame with the number of the task's switches, sets bits of the task data word, and writes the
/// entry if [`When`] says so. The referenced values are read at each call.
///
/// The count in the task data word is the number of calls that found the shadow stack full. A
/// return that finds another count takes the slow path.
#[derive(Clone, Copy)]
pub struct FastPathConfig<'a> {
    /// The bits of the task data word that are compared with `slow_value`.
    pub slow_mask: u32,
    /// The values that the bits in `slow_mask` must have on the fast path.
    pub slow_value: u32,
    /// Bits that a fast-path call sets if entries are written [`When::IfLong`].
    pub set_if_long: u32,
    /// Bits that it sets if they are written [`When::IfNeeded`].
    pub set_if_needed: u32,
    /// Bits that it sets if they are written [`When::AtCall`] or [`When::AtCallPacked`].
    pub set_at_call: u32,
    /// The bits that say that there may be open calls whose entries are not written. They are
    /// cleared when something was written.
    pub unwritten: u32,
    /// The bit of `unwritten` that says that these may be more than the innermost call. A call
    /// whose entry is written [`When::IfNeeded`] does not set it, because the entry of its caller
    /// is written first. If it is set then, a call takes the slow path.
    pub unwritten_callers: u32,
    /// The flag of a frame that says that the entry is written.
    pub written: u32,
    /// When the entry is written, as a [`When`].
    pub when: &'a Atomic<u32>,
    /// The hook's limit: only calls less deep than this take the fast path.
    pub max_depth: &'a Atomic<u32>,
    /// Shorter calls, in ns, are neither written nor reported; 0 means no limit.
    pub threshold_ns: &'a Atomic<u64>,
    /// Whether each call is reported, however short; no entries of callers are needed.
    pub profile: bool,
}

/// The value of a [`FastPathConfig`] for C; `struct ktrace_fast_path` in `fgraph.h`.
#[repr(C)]
struct FastPathPointers {
    slow_mask: usize,
    set_if_long: usize,
    set_if_needed: usize,
    set_at_call: usize,
    unwritten_callers: usize,
    unwritten: usize,
    when: *const Atomic<u32>,
    max_depth: *const Atomic<u32>,
    threshold_ns: *const Atomic<u64>,
    written: u64,
    profile: u32,
}

same_as_c!(FastPathPointers, ktrace_fast_path);

impl FastPathPointers {
    const NONE: Self = Self {
        slow_mask: 0,
        set_if_long: 0,
        set_if_needed: 0,
        set_at_call: 0,
        unwritten_callers: 0,
        unwritten: 0,
        when: null(),
        max_depth: null(),
        threshold_ns: null(),
        written: 0,
        profile: 0,
    };

    fn new(fast_path: &FastPathConfig<'_>) -> Self {
        Self {
            slow_mask: fast_path.slow_mask as usize,
            set_if_long: fast_path.set_if_long as usize,
            set_if_needed: fast_path.set_if_needed as usize,
            set_at_call: fast_path.set_at_call as usize,
            unwritten_callers: fast_path.unwritten_callers as usize,
            unwritten: fast_path.unwritten as usize,
            when: fast_path.when,
            max_depth: fast_path.max_depth,
            threshold_ns: fast_path.threshold_ns,
            written: frame_word(fast_path.written),
            profile: u32::from(fast_path.profile),
        }
    }
}

/// Where the kernel puts a hook's task data word, and the last words of shadow stacks before and
/// after a frame of the hook; `struct ktrace_layout` in `fgraph.h`. As long as this is not known,
/// no task data word matches `slow_value`.
#[repr(C)]
struct ShadowStackLayout {
    slow_value: usize,
    task_data_off: usize,
    entry_word: usize,
    data_word: usize,
    min_free: usize,
}

same_as_c!(ShadowStackLayout, ktrace_layout);

impl ShadowStackLayout {
    const fn new(slow_value: usize) -> Self {
        Self {
            slow_value,
            task_data_off: 0,
            entry_word: 0,
            data_word: 0,
            min_free: 0,
        }
    }

    /// A value that no task data word matches.
    const NONE: Self = Self::new(usize::MAX);
}

/// A hook for C; `struct ktrace_graph` in `fgraph.h`.
#[repr(C)]
pub(super) struct GraphHookForC {
    pub(super) ops: abi::fgraph_ops,
    fast_path: FastPathPointers,
    max_depth: *const c_void,
    layout: *const ShadowStackLayout,
    layouts: [ShadowStackLayout; 2],
    detected: usize,
    pub(super) packs: AtomicPtr<c_void>,
    bit: u32,
    mult: u32,
    tag: u64,
    are_chosen: u32,
    overrun: ktrace_overrun_t,
}

same_as_c!(GraphHookForC, ktrace_graph);

/// Converts a tag with flags to the format of a frame.
fn frame_word(tag_flags: u32) -> u64 {
    u64::from(tag_flags) << u32::BITS
}

impl GraphHookForC {
    /// Creates the data of a hook with this slot in the trace mask. `tag_flags` are its tag and the
    /// flags of a frame without any.
    pub(super) fn new(
        fast_path: Option<FastPathConfig<'_>>,
        slot: u32,
        tag_flags: u32,
        mult: u32,
        overrun: ktrace_overrun_t,
    ) -> Self {
        Self {
            ops: pin_init::zeroed(),
            fast_path: match &fast_path {
                Some(fast_path) => FastPathPointers::new(fast_path),
                None => FastPathPointers::NONE,
            },
            max_depth: Data::GraphMaxDepth.as_ptr::<c_void>(),
            // The C side lets it point to the first of `layouts`.
            layout: null(),
            layouts: [
                ShadowStackLayout::NONE,
                fast_path.map_or(ShadowStackLayout::NONE, |fast_path| {
                    ShadowStackLayout::new(fast_path.slow_value as usize)
                }),
            ],
            detected: 0,
            packs: AtomicPtr::null(),
            bit: 1u32.wrapping_shl(slot),
            mult,
            tag: frame_word(tag_flags),
            are_chosen: u32::from(has_any_functions()),
            overrun,
        }
    }

    /// Returns whether it is not known yet where the kernel puts data.
    ///
    /// # Safety
    ///
    /// `shared` must belong to a live hook.
    #[inline]
    pub(super) unsafe fn is_undetected(shared: NonNull<Self>) -> bool {
        let shared = shared.as_ptr();
        // SAFETY: `shared` is alive, as the caller guarantees; the C side writes the pointer as a
        // whole.
        unsafe {
            let layout = (&raw const (*shared).layout).read_volatile();
            layout == (&raw const (*shared).layouts).cast()
        }
    }
}
