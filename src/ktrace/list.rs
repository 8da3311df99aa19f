// SPDX-License-Identifier: GPL-2.0

//! Lists of the kernel, linked in both directions.
//!
//! C header: `include/linux/list.h`.

use super::abi;

/// Iterates over a list of the kernel whose elements may be removed on the way.
///
/// # Safety
///
/// `head` must be an initialised list that holds still but for what `visit` does to the element it
/// is given.
pub(super) unsafe fn for_each(
    head: *mut abi::list_head,
    mut visit: impl FnMut(*mut abi::list_head),
) {
    // SAFETY: By the precondition every pointer leads to an element or back to the head.
    unsafe {
        let mut at = (*head).next;
        while at != head {
            let next = (*at).next;
            visit(at);
            at = next;
        }
    }
}

/// Takes `this` off the list it is on.
///
/// # Safety
///
/// `this` must be on a list that nobody else looks at or changes meanwhile.
pub(super) unsafe fn del(this: *mut abi::list_head) {
    // SAFETY: By the precondition.
    unsafe {
        let (prev, next) = ((*this).prev, (*this).next);
        (*prev).next = next;
        (*next).prev = prev;
    }
}

/// Puts `new` behind `head`.
///
/// # Safety
///
/// `head` must be an initialised list that nobody else looks at or changes meanwhile, and `new` be
/// on none.
#[cfg(has_tracers)]
pub(super) unsafe fn add(head: *mut abi::list_head, new: *mut abi::list_head) {
    // SAFETY: By the preconditions.
    unsafe {
        let next = (*head).next;
        (*new).next = next;
        (*new).prev = head;
        (*next).prev = new;
        (*head).next = new;
    }
}
