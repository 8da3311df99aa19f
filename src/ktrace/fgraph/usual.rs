// SPDX-License-Identifier: GPL-2.0

//! What the C side shares with this one: a hook as the kernel knows it, and which calls are as usual.

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
    abi,
    atomic::AtomicPtr,
    once::Once,
    shared::same_as_c,
    symbols::Data, //
};

/// When the entry of a call is written; `enum ktrace_when` in `fgraph.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum When {
    /// Only if the call takes as long as [`Usual::least_ns`], if ever.
    IfLong = 0,
    /// When a callee begins, or together with the return.
    IfNeeded = 1,
    /// When the call begins.
    AtCall = 2,
}

impl When {
    /// From the value that [`Usual::when`] holds.
    #[inline]
    pub fn read(from: &Atomic<u32>) -> Self {
        match from.read_once() {
            0 => Self::IfLong,
            1 => Self::IfNeeded,
            _ => Self::AtCall,
        }
    }
}

/// Which calls take the shortest way, which is in C, inlined into the hook; `fgraph.c` says what it looks at.
/// What [`super::GraphHook::called`] would do for them is to keep a frame with the number of the task's switches, to
/// set bits of the task's word, and to write the entry if [`When`] says so. What is referred to is read at each call.
///
/// The count in the task's word is how many calls have found the shadow stack full; a return that finds
/// it different does not take that way.
#[derive(Clone, Copy)]
pub struct Usual<'a> {
    /// Bits of the task's word that tell whether something is special.
    pub special: u32,
    /// How these are set when nothing is.
    pub settled: u32,
    /// Bits that such a call sets.
    pub opens: u32,
    /// The one of these that says that there may be open calls whose entries are not written. A call whose entry is
    /// written when it begins does not set it. If it is set, calls are not usual unless entries are written
    /// [`When::IfLong`]. It is cleared when something was written.
    pub unwritten: u32,
    /// The flag of a frame that says that the entry is written.
    pub written: u32,
    /// When the entry is written, as a [`When`].
    pub when: &'a Atomic<u32>,
    /// Calls that are less deep than this, as far as the hook is concerned.
    pub below: &'a Atomic<u32>,
    /// What is shorter, in ns, is not written, nor reported; 0 is no limit.
    pub least_ns: &'a Atomic<u64>,
    /// All is reported, however short, and callers do not matter.
    pub adds_up: bool,
}

/// The same for C; `struct ktrace_usual` in `fgraph.h`.
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

/// What is known of shadow stacks: where the kernel puts a hook's word, and how they end before and after a frame
/// of it. Without that, no word is as it should be.
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

    /// What no word of a task is like.
    const NONE: Self = Self::new(usize::MAX);
}

/// What the C side shares with this; `struct ktrace_graph` in `fgraph.h`.
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

/// As a frame has its tag and flags.
fn kept(tag_flags: u32) -> u64 {
    u64::from(tag_flags) << u32::BITS
}

impl Shared {
    /// Of a hook with that place in the gate, whose frames have these flags when they have no others.
    pub(super) fn new(usual: Option<Usual<'_>>, slot: u32, tag_flags: u32, mult: u32) -> Self {
        Self {
            ops: pin_init::zeroed(),
            usual: match &usual {
                Some(usual) => UsualPointers::new(usual),
                None => UsualPointers::NONE,
            },
            max_depth: Data::GraphMaxDepth.as_ptr::<c_void>(),
            // The C side has it point to the first of these.
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

    /// Whether nobody knows yet where the kernel puts things.
    ///
    /// # Safety
    ///
    /// `shared` is that of a hook that is alive.
    #[inline]
    pub(super) unsafe fn is_unsettled(shared: NonNull<Self>) -> bool {
        let shared = shared.as_ptr();
        // SAFETY: By the precondition; the C side writes the pointer as a whole.
        unsafe {
            let place = (&raw const (*shared).place).read_volatile();
            place == (&raw const (*shared).places).cast()
        }
    }
}
