// SPDX-License-Identifier: GPL-2.0

//! The kernel's doubly linked lists.
//!
//! C header: `include/linux/list.h`.

use super::abi;

/// Calls `visit` with each element of a kernel list. `visit` may remove the element that it gets.
///
/// # Safety
///
/// `head` must be an initialised list that nothing changes until this returns, except that `visit`
/// may remove the element that it gets.
pub(in crate::ktrace) unsafe fn for_each(
    head: *mut abi::list_head,
    mut visit: impl FnMut(*mut abi::list_head),
) {
    // SAFETY: The list is initialised and does not change, so every pointer leads to an element or
    // back to the head. `next` is read before `visit` may remove the element.
    unsafe {
        let mut at = (*head).next;
        while at != head {
            let next = (*at).next;
            visit(at);
            at = next;
        }
    }
}

/// Removes `this` from its list.
///
/// # Safety
///
/// `this` must be on a list that no other code reads or changes at the same time.
pub(in crate::ktrace) unsafe fn del(this: *mut abi::list_head) {
    // SAFETY: `this` is on a list, so both neighbours are valid; no other code accesses them.
    unsafe {
        let (prev, next) = ((*this).prev, (*this).next);
        (*prev).next = next;
        (*next).prev = prev;
    }
}

/// Inserts `new` directly after `head`.
///
/// # Safety
///
/// `head` must be an initialised list that no other code reads or changes at the same time, and
/// `new` must not be on a list.
#[cfg(has_tracers)]
pub(in crate::ktrace) unsafe fn add(head: *mut abi::list_head, new: *mut abi::list_head) {
    // SAFETY: `head` is an initialised list that no other code accesses, so it and its successor
    // are valid, and `new` is on no list.
    unsafe {
        let next = (*head).next;
        (*new).next = next;
        (*new).prev = head;
        (*next).prev = new;
        (*head).next = new;
    }
}
