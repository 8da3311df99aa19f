// SPDX-License-Identifier: GPL-2.0

//! The layout of words in C and in Rust is the same: the fast path in `compact.h` writes what
//! [`encoding`](super::encoding) reads.

use super::encoding::{
    AGAIN,
    BEGIN,
    CALL_DEPTH_BITS,
    CALL_DEPTH_SHIFT,
    CALL_FUNC_SHIFT,
    CONTEXT,
    CONTEXT_SHIFT,
    DELTA_BITS,
    DELTA_OF_CALL,
    DELTA_OF_RETURN,
    FUNC,
    FUNCTION,
    FUNCTION_DELTA_BITS,
    FUNCTION_IP_SHIFT,
    FUNCTION_PARENT_SHIFT,
    KIND,
    LEAF,
    NAMED_WORDS,
    RETURN,
    SECOND_SHIFT,
    SITE,
    SUBKIND,
    TIME_BITS, //
};
use crate::ktrace::shared::same_as_c;

/// Each member has one byte more than the value of the constant in C.
#[allow(dead_code)]
#[repr(C)]
struct SharedConstants {
    named_words: [u8; NAMED_WORDS + 1],
    func_bits: [u8; FUNC.bits as usize + 1],
    func_shift: [u8; FUNC.shift as usize + 1],
    site_bits: [u8; SITE.bits as usize + 1],
    site_shift: [u8; SITE.shift as usize + 1],
    function_kind: [u8; (FUNCTION >> KIND) as usize + 1],
    function_ip_shift: [u8; FUNCTION_IP_SHIFT as usize + 1],
    function_parent_shift: [u8; FUNCTION_PARENT_SHIFT as usize + 1],
    function_delta_bits: [u8; FUNCTION_DELTA_BITS as usize + 1],
    again_kind: [u8; (AGAIN >> KIND) as usize + 1],
    again_second_shift: [u8; SECOND_SHIFT as usize + 1],
    again_delta_bits: [u8; DELTA_BITS as usize + 1],
    change_kind: [u8; (CONTEXT >> SUBKIND) as usize + 1],
    change_shift: [u8; CONTEXT_SHIFT as usize + 1],
    change_delta_bits: [u8; DELTA_BITS as usize + 1],
    leaf_kind: [u8; (LEAF >> SUBKIND) as usize + 1],
    begin_kind: [u8; (BEGIN >> SUBKIND) as usize + 1],
    return_kind: [u8; (RETURN >> SUBKIND) as usize + 1],
    call_func_shift: [u8; CALL_FUNC_SHIFT as usize + 1],
    call_depth_shift: [u8; CALL_DEPTH_SHIFT as usize + 1],
    call_depth_bits: [u8; CALL_DEPTH_BITS as usize + 1],
    call_time_bits: [u8; TIME_BITS as usize + 1],
    call_delta_bits: [u8; DELTA_OF_CALL as usize + 1],
    return_delta_bits: [u8; DELTA_OF_RETURN as usize + 1],
}
same_as_c!(SharedConstants, ktrace_words);
