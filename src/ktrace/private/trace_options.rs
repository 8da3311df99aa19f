// SPDX-License-Identifier: GPL-2.0

//! The options of a trace array, as bits of its flags (`TRACE_ITER_*`).
//!
//! C header: `kernel/trace/trace.h`. Older kernels define an enum of the flags, newer ones an enum
//! of their bit numbers. BTF contains only the one that the kernel itself uses.

use super::abi;

/// Returns the flags of the options that are enabled in a trace array.
///
/// # Safety
///
/// `tr` must be alive.
pub(in crate::ktrace) unsafe fn flags(tr: *const abi::trace_array) -> u64 {
    // SAFETY: The caller guarantees that `tr` is alive. Options are changed by writing this one
    // word as a whole. It has 32 bits in older kernels.
    #[allow(clippy::useless_conversion)]
    unsafe {
        u64::from((*tr).trace_flags)
    }
}

macro_rules! options {
    ($($name:ident = $bit:ident or $flag:ident;)*) => {$(
        #[doc = concat!("`TRACE_ITER_", stringify!($name), "`.")]
        pub(in crate::ktrace) const $name: u64 = {
            #[cfg(has_trace_iterator_bits)]
            {
                1 << abi::$bit
            }
            #[cfg(not(has_trace_iterator_bits))]
            {
                abi::$flag as u64
            }
        };
    )*};
}

options! {
    PRINT_PARENT = trace_iterator_bits_TRACE_ITER_PRINT_PARENT_BIT
        or trace_iterator_flags_TRACE_ITER_PRINT_PARENT;
    SYM_OFFSET = trace_iterator_bits_TRACE_ITER_SYM_OFFSET_BIT
        or trace_iterator_flags_TRACE_ITER_SYM_OFFSET;
    SYM_ADDR = trace_iterator_bits_TRACE_ITER_SYM_ADDR_BIT
        or trace_iterator_flags_TRACE_ITER_SYM_ADDR;
    CONTEXT_INFO = trace_iterator_bits_TRACE_ITER_CONTEXT_INFO_BIT
        or trace_iterator_flags_TRACE_ITER_CONTEXT_INFO;
    LATENCY_FMT = trace_iterator_bits_TRACE_ITER_LATENCY_FMT_BIT
        or trace_iterator_flags_TRACE_ITER_LATENCY_FMT;
}

/// `TRACE_ITER_BITMASK_LIST`; 0 in older kernels, which have only one format for bitmasks.
#[cfg(has_trace_iterator_bits)]
pub(in crate::ktrace) const BITMASK_LIST: u64 =
    1 << abi::trace_iterator_bits_TRACE_ITER_BITMASK_LIST_BIT;
#[cfg(not(has_trace_iterator_bits))]
pub(in crate::ktrace) const BITMASK_LIST: u64 = 0;
