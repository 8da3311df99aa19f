// SPDX-License-Identifier: GPL-2.0

//! What tells what a hook has left on a task's shadow stack from what others have.

/// How many bits of a tag, the lowest, are all that a task's word has room for.
pub const SHORT_BITS: u32 = 12;

/// The tag of a hook, the one with that number.
///
/// The kernel has 16 places for hooks, and gives them out in turn: as long as nobody else takes one, hook `n` and
/// hook `n + 4096` have the same. So that the lowest bits are not the same as well, they go on by one more each time
/// they have come round; it takes 65520 hooks until one has both in common with one that was before it.
pub(crate) const fn of_number(number: u32) -> u32 {
    number.wrapping_add(number >> SHORT_BITS)
}
