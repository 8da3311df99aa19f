// SPDX-License-Identifier: GPL-2.0

//! Tags, which distinguish a hook's data on the shadow stack of a task from that of other hooks.

/// Number of low bits of a tag for which a task data word has room.
pub const SHORT_BITS: u32 = 12;

/// Returns the tag of the hook with that number.
///
/// The kernel has 16 indexes for hooks, and assigns them in turn: as long as no other user takes
/// one, hook `n` and hook `n + 4096` get the same index. The lowest 12 bits of their tags must not
/// be equal too, so these bits are increased by one more each time they wrap around. It takes 65520
/// hooks until a hook has both in common with an earlier one.
pub(crate) const fn of_number(number: u32) -> u32 {
    number.wrapping_add(number >> SHORT_BITS)
}
