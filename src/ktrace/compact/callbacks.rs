// SPDX-License-Identifier: GPL-2.0

//! Contains the functions that the fast path in `compact.h` calls: they commit the records of
//! interrupts, and write an item again.

use kernel::prelude::*;

use super::{
    clock::Clock,
    commit::catch_up,
    encoding::{
        self,
        Item,
        PackedCall, //
    },
    percpu_pack::{
        PackContext,
        PackResult, //
    },
    state::PerCpuPack, //
};
use crate::ktrace::record::context::ktrace_context;
use crate::ktrace::record::{
    context::Context,
    is_recording, //
};

/// Commits the records of interrupts, for `compact.h`.
///
/// # Safety
///
/// Preemption must be off, no other context may use `pack`, and its `part` must be this CPU's part
/// of a live buffer.
#[no_mangle]
unsafe extern "C" fn ktrace_pack_catch_up(pack: *mut c_void) {
    // SAFETY: The caller guarantees that no other context uses `pack`, that `part` is this CPU's
    // part of a live buffer, and that preemption is off.
    unsafe { catch_up((*pack.cast::<PerCpuPack>()).part) };
}

/// Writes the last item of a pack again, because a reader may have read the page before.
///
/// # Safety
///
/// Preemption must be off, `pack` must be this CPU's and marked busy, and `item` must be its last
/// item.
unsafe fn rewrite(pack: *mut c_void, item: &Item) {
    // SAFETY: `pack` is busy, so no other context uses it. The trace array is alive, as its hook
    // is.
    unsafe {
        let local = &mut *pack.cast::<PerCpuPack>();
        let at = PackContext {
            tr: &*local.tr,
            kind: local.kind,
            context: Context::new(ktrace_context(), local.pid),
            // The fast path uses no other clock.
            clock: Clock {
                mult: local.mult,
                is_counter: true,
            },
        };
        let outcome = local.write_again(at, at.clock.now(), item);
        if outcome == PackResult::NotWritten && is_recording(at.tr) {
            local.lost = local.lost.wrapping_add(1);
        }
    }
}

/// Writes a function again, for `compact.h`.
///
/// # Safety
///
/// Preemption must be off, `pack` must be this CPU's and marked busy, and its last item must be
/// this function.
#[no_mangle]
unsafe extern "C" fn ktrace_pack_rewrite(pack: *mut c_void, ip: c_ulong, parent_ip: c_ulong) {
    // SAFETY: The caller guarantees what `rewrite()` requires.
    unsafe { rewrite(pack, &Item::Function { ip, parent_ip }) };
}

/// Writes the word of a call again, for `compact.h`. `kind` is as in `ktrace_pack_add_call()`.
///
/// # Safety
///
/// Preemption must be off, `pack` must be this CPU's and marked busy, and its last item must be
/// this call.
#[no_mangle]
unsafe extern "C" fn ktrace_pack_rewrite_call(
    pack: *mut c_void,
    kind: u64,
    func: c_ulong,
    depth: c_int,
    ns: u64,
) {
    let call = PackedCall { func, depth, ns };
    let item = match kind {
        encoding::BEGIN => Item::Begin(call),
        encoding::RETURN => Item::Return(call),
        _ => Item::Leaf(call),
    };
    // SAFETY: The caller guarantees what `rewrite()` requires.
    unsafe { rewrite(pack, &item) };
}
