// SPDX-License-Identifier: GPL-2.0

//! The comm of a task: the name that the kernel shows for it.

use core::ffi::CStr;

use kernel::prelude::*;

use crate::ktrace::{
    escape::{
        Escaped,
        MAX_NAME, //
    },
    private::cstr_ext::CStrExt, //
};

/// The length of a comm with its terminating zero, in bytes (`TASK_COMM_LEN`).
pub const COMM_LEN: usize = 16;
const _: () = assert!(MAX_NAME == COMM_LEN - 1);

/// The comm of a task: at most 15 bytes, padded with zeros.
#[derive(Clone, Copy, Default, PartialEq, Eq, Zeroable)]
#[repr(transparent)]
pub struct Comm {
    bytes: [u8; COMM_LEN],
}

/// Returns the bytes of `word` below the lowest zero byte, and whether there is a zero byte.
#[inline]
fn until_zero(word: u64) -> (u64, bool) {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // The highest bit of each zero byte, and possibly of bytes above the lowest zero byte.
    let zeros = word.wrapping_sub(ONES) & !word & (ONES << 7);
    match zeros {
        0 => (word, false),
        // Keep the bytes below the one that has the lowest bit set.
        zeros => (word & (zeros ^ zeros.wrapping_sub(1)) >> 8, true),
    }
}

impl Comm {
    /// Creates a comm from `name`, truncated to 15 bytes as in the kernel.
    pub fn new(name: &[u8]) -> Self {
        let mut comm = [0; COMM_LEN];
        for (to, from) in comm.iter_mut().zip(name.iter().take(COMM_LEN - 1)) {
            if *from == 0 {
                break;
            }
            *to = *from;
        }
        Self { bytes: comm }
    }

    /// Creates a comm from the 16 bytes of two words, in memory order.
    #[inline]
    pub fn from_words(words: [u64; 2]) -> Self {
        let [low, high] = words.map(u64::from_le);
        // The last byte always becomes zero.
        let high = high << 8 >> 8;
        let (low, ends) = until_zero(low);
        let high = if ends { 0 } else { until_zero(high).0 };
        let bits = u128::from(low) | u128::from(high) << 64;
        Self {
            bytes: bits.to_le_bytes(),
        }
    }

    /// Returns the comm as two words in memory order, as [`Comm::from_words`] takes them.
    #[inline]
    pub fn to_words(self) -> [u64; 2] {
        let bits = u128::from_le_bytes(self.bytes);
        [bits as u64, (bits >> 64) as u64].map(u64::to_le)
    }

    /// Creates a comm from a C string, truncated to 15 bytes.
    ///
    /// # Safety
    ///
    /// `name` must point to a C string.
    #[doc(hidden)]
    pub unsafe fn from_char_ptr(name: *const c_char) -> Self {
        // SAFETY: The caller guarantees that `name` is a C string; it is only used in this
        // function.
        Self::new(unsafe { CStr::from_chars(name) }.to_bytes())
    }

    /// Returns the comm with its padding of zeros.
    pub fn to_array(self) -> [u8; COMM_LEN] {
        self.bytes
    }

    /// Returns the comm escaped for text output.
    pub fn escaped(&self) -> Escaped {
        Escaped::new(self.as_bytes())
    }

    /// Returns the bytes of the comm without padding.
    pub fn as_bytes(&self) -> &[u8] {
        let end = self.bytes.iter().position(|&b| b == 0).unwrap_or(COMM_LEN);
        self.bytes.get(..end).unwrap_or(&[])
    }
}

/// Returns the comm of the idle task of `cpu`, as `init_idle()` sets it (kernel/sched/core.c).
pub fn idle_comm(cpu: u32) -> Comm {
    const PREFIX: &[u8] = b"swapper/";
    let mut name = [0; COMM_LEN];
    let mut digits = 1;
    while cpu.checked_div(10u32.wrapping_pow(digits)).unwrap_or(0) != 0 && digits < 10 {
        digits = digits.wrapping_add(1);
    }
    for (to, from) in name.iter_mut().zip(PREFIX) {
        *to = *from;
    }
    let mut rest = cpu;
    let end = PREFIX.len().wrapping_add(digits as usize);
    for place in name
        .get_mut(PREFIX.len()..end)
        .unwrap_or(&mut [])
        .iter_mut()
        .rev()
    {
        *place = b'0'.wrapping_add((rest % 10) as u8);
        rest /= 10;
    }
    Comm::new(&name)
}
