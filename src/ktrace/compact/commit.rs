// SPDX-License-Identifier: GPL-2.0

//! Commits the records of interrupts that found a writer active.

use core::{
    mem::offset_of,
    ptr::{
        addr_of,
        addr_of_mut, //
    },
};

use kernel::prelude::*;

use crate::ktrace::{
    private::abi,
    time::counter, //
};

/// Flags in a pointer from one page of a ring buffer to the next (`RB_FLAG_MASK`).
pub(super) const RING_FLAGS: usize = 3;

/// The bits of a page's `write` that are an index (`RB_WRITE_MASK`); the other bits count how often
/// the page was put into use.
pub(super) const WRITE_INDEX: usize = 0xf_ffff;

/// Commits the records that interrupts could not commit while `committing` was raised, as
/// `rb_end_commit()` does.
///
/// It is not enough to write and discard a record: that fails if recording is disabled, and goes to
/// the other buffer if the interrupt has taken a snapshot.
///
/// # Safety
///
/// `part` must be this CPU's part of a live buffer, and preemption must be off.
#[cold]
#[inline(never)]
pub(super) unsafe fn catch_up(part: *mut abi::ring_buffer_per_cpu) {
    // SAFETY: `part` is this CPU's part of a live buffer, as the caller guarantees. Only single
    // words are accessed. Only this CPU writes `committing`, and an interrupt restores its value.
    // `commit_all()` is called only if no other context has raised it.
    unsafe {
        let committing: *mut usize = addr_of_mut!((*part).committing).cast();
        let commits: *const usize = addr_of!((*part).commits).cast();
        loop {
            let before = commits.read_volatile();
            let others = committing.read_volatile();
            committing.write_volatile(others.wrapping_add(1));
            // Otherwise, this is an interrupt itself, and the interrupted writer commits
            // everything.
            if others == 0 {
                commit_all(part);
            }
            committing.write_volatile(others);
            // An interrupt may have written after the commit, while the counter was still raised.
            if others != 0 || commits.read_volatile() == before {
                break;
            }
        }
    }
}

/// Commits everything that was written, as `rb_set_commit_to_write()` does.
///
/// # Safety
///
/// `part` must be this CPU's part of a live buffer, preemption must be off, and only the caller may
/// have raised `committing`.
unsafe fn commit_all(part: *mut abi::ring_buffer_per_cpu) {
    // SAFETY: The caller raised `committing` from zero, so it owns the commit page: no reader takes
    // the pages from there to the tail page, and no writer wraps around to them. They are linked to
    // each other. Everything to commit is on them, and complete, because interrupts finish their
    // writes before this code continues. All else is single words.
    unsafe {
        let commit_page = addr_of_mut!((*part).commit_page);
        let tail_page = addr_of!((*part).tail_page);
        let set = |page: *mut abi::buffer_page| {
            let write = addr_of!((*page).write).cast::<usize>().read_volatile() & WRITE_INDEX;
            let commit: *mut usize = addr_of_mut!((*(*page).page).commit).cast();
            if commit.read_volatile() != write {
                // Readers must see the data before the index.
                counter::full_barrier();
                commit.write_volatile(write);
            }
        };
        // Interrupts may move the tail further, but not forever. The kernel has the same limit.
        for _ in 0..(*part).nr_pages.saturating_mul(100) {
            let page = commit_page.read_volatile();
            set(page);
            if page == tail_page.read_volatile() {
                break;
            }
            // Repeated: the interrupt that moved the tail may have filled this page before.
            set(page);
            let next = addr_of!((*page).list.next).read_volatile();
            let next = next.map_addr(|addr| addr & !RING_FLAGS);
            let next: *mut abi::buffer_page = next
                .cast::<u8>()
                .wrapping_sub(offset_of!(abi::buffer_page, list))
                .cast();
            commit_page.write_volatile(next);
            let meta = (*part).ring_meta;
            if !meta.is_null() {
                // For reading the buffer after a crash.
                let place = addr_of_mut!((*meta).commit_buffer);
                place.write_volatile((*next).page.addr() as c_ulong);
            }
        }
    }
}
