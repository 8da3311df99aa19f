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
        symbols::Data, //
    },
    shared::same_as_c,
    sync::{
        atomic::AtomicPtr,
        read_once::Once, //
    },
};

/// When the entry of a call is written; `enum ktrace_when` in `fgraph.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum When {
    /// Only if the call takes as long as [`Usual::least_ns`], or never.
    IfLong = 0,
    /// When a callee begins, or together with the return.
    IfNeeded = 1,
    /// When the call begins.
    AtCall = 2,
}

impl When {
    /// Reads the value of [`Usual::when`].
    #[inline]
    pub fn read(from: &Atomic<u32>) -> Self {
        match from.read_once() {
            0 => Self::IfLong,
            1 => Self::IfNeeded,
            _ => Self::AtCall,
        }
    }
}

/// Which calls take the fast path, which is in C, inlined into the hook.
///
/// For these calls, the fast path does what [`super::GraphHook::called`] would do: it reserves a
/// frame with the number of the task's switches, sets bits of the task data word, and writes the
/// entry if [`When`] says so. The referenced values are read at each call.
///
/// The count in the task data word is the number of calls that found the shadow stack full. A
/// return that finds another count takes the slow path.
#[derive(Clone, Copy)]
pub struct Usual<'a> {
    /// The bits of the task data word that must have certain values.
    pub special: u32,
    /// These values: with any other value, a call takes the slow path.
    pub settled: u32,
    /// Bits that a fast-path call sets.
    pub opens: u32,
    /// The bit of `opens` that says that there may be open calls whose entries are not written. A
    /// call whose entry is written when it begins does not set it. If it is set, calls take the
    /// slow path unless entries are written [`When::IfLong`]. It is cleared when something was
    /// written.
    pub unwritten: u32,
    /// The flag of a frame that says that the entry is written.
    pub written: u32,
    /// When the entry is written, as a [`When`].
    pub when: &'a Atomic<u32>,
    /// The hook's limit: only calls less deep than this take the fast path.
    pub below: &'a Atomic<u32>,
    /// Shorter calls, in ns, are neither written nor reported; 0 means no limit.
    pub least_ns: &'a Atomic<u64>,
    /// Whether each call is reported, however short; no entries of callers are needed.
    pub adds_up: bool,
}

/// The value of a [`Usual`] for C; `struct ktrace_usual` in `fgraph.h`.
#[repr(C)]
struct UsualPointers {
    special: usize,
    opens: usize,
    unwritten: usize,
    when: *const Atomic<u32>,
    below: *const Atomic<u32>,
    least_ns: *const Atomic<u64>,
    written: u64,
    adds_up: u32,
}

same_as_c!(UsualPointers, ktrace_usual);

impl UsualPointers {
    const NONE: Self = Self {
        special: 0,
        opens: 0,
        unwritten: 0,
        when: null(),
        below: null(),
        least_ns: null(),
        written: 0,
        adds_up: 0,
    };

    fn new(usual: &Usual<'_>) -> Self {
        Self {
            special: usual.special as usize,
            opens: usual.opens as usize,
            unwritten: usual.unwritten as usize,
            when: usual.when,
            below: usual.below,
            least_ns: usual.least_ns,
            written: kept(usual.written),
            adds_up: u32::from(usual.adds_up),
        }
    }
}

/// Where the kernel puts a hook's task data word, and the last words of shadow stacks before and
/// after a frame of the hook; `struct ktrace_place` in `fgraph.h`. As long as this is not known, no
/// task data word matches `settled`.
#[repr(C)]
struct Place {
    settled: usize,
    word_at: usize,
    below: usize,
    top: usize,
    room: usize,
}

same_as_c!(Place, ktrace_place);

impl Place {
    const fn new(settled: usize) -> Self {
        Self {
            settled,
            word_at: 0,
            below: 0,
            top: 0,
            room: 0,
        }
    }

    /// A value that no task data word matches.
    const NONE: Self = Self::new(usize::MAX);
}

/// A hook for C; `struct ktrace_graph` in `fgraph.h`.
#[repr(C)]
pub(super) struct Shared {
    pub(super) ops: abi::fgraph_ops,
    usual: UsualPointers,
    max_depth: *const c_void,
    place: *const Place,
    places: [Place; 2],
    learned: usize,
    pub(super) packs: AtomicPtr<c_void>,
    bit: u32,
    mult: u32,
    tag: u64,
    are_chosen: u32,
}

same_as_c!(Shared, ktrace_graph);

/// Converts a tag with flags to the format of a frame.
fn kept(tag_flags: u32) -> u64 {
    u64::from(tag_flags) << u32::BITS
}

impl Shared {
    /// Creates the data of a hook with this slot in the trace mask. `tag_flags` are its tag and the
    /// flags of a frame without any.
    pub(super) fn new(usual: Option<Usual<'_>>, slot: u32, tag_flags: u32, mult: u32) -> Self {
        Self {
            ops: pin_init::zeroed(),
            usual: match &usual {
                Some(usual) => UsualPointers::new(usual),
                None => UsualPointers::NONE,
            },
            max_depth: Data::GraphMaxDepth.as_ptr::<c_void>(),
            // The C side lets it point to the first of `places`.
            place: null(),
            places: [
                Place::NONE,
                usual.map_or(Place::NONE, |usual| Place::new(usual.settled as usize)),
            ],
            learned: 0,
            packs: AtomicPtr::null(),
            bit: 1u32.wrapping_shl(slot),
            mult,
            tag: kept(tag_flags),
            are_chosen: u32::from(has_any_functions()),
        }
    }

    /// Returns whether it is not known yet where the kernel puts data.
    ///
    /// # Safety
    ///
    /// `shared` must belong to a live hook.
    #[inline]
    pub(super) unsafe fn is_unsettled(shared: NonNull<Self>) -> bool {
        let shared = shared.as_ptr();
        // SAFETY: `shared` is alive, as the caller guarantees; the C side writes the pointer as a
        // whole.
        unsafe {
            let place = (&raw const (*shared).place).read_volatile();
            place == (&raw const (*shared).places).cast()
        }
    }
}
