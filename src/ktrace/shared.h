/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Input of bindgen: the structs that C and Rust share. The build records the layout
 * that C gives them, and shared.rs compares it with that of the Rust definitions. The
 * kernel's types come from its BTF, because bindgen cannot process these headers.
 */
#include "vmlinux.h"

#ifdef __aarch64__
#define CONFIG_ARM64 1
#endif
#define __percpu
#define static_assert(expr) _Static_assert(expr, #expr)
#define offsetof __builtin_offsetof

#include "compact/compact.h"
#include "fgraph/fgraph.h"

/* Each member has one byte more than the value of a constant; see compact/words.rs. */
struct ktrace_words {
	char named_words[KTRACE_NAMED_WORDS + 1];
	char func_bits[KTRACE_FUNC_BITS + 1];
	char func_shift[KTRACE_FUNC_SHIFT + 1];
	char site_bits[KTRACE_SITE_BITS + 1];
	char site_shift[KTRACE_SITE_SHIFT + 1];
	char function_kind[(KTRACE_FUNCTION >> 62) + 1];
	char function_ip_shift[KTRACE_FUNCTION_IP_SHIFT + 1];
	char function_parent_shift[KTRACE_FUNCTION_PARENT_SHIFT + 1];
	char function_delta_bits[KTRACE_FUNCTION_DELTA_BITS + 1];
	char again_kind[(KTRACE_AGAIN >> 62) + 1];
	char again_second_shift[__builtin_ctzl(KTRACE_AGAIN_SECOND) + 1];
	char again_delta_bits[KTRACE_AGAIN_DELTA_BITS + 1];
	char change_kind[(KTRACE_CHANGE >> 60) + 1];
	char change_shift[KTRACE_CHANGE_SHIFT + 1];
	char change_delta_bits[KTRACE_CHANGE_DELTA_BITS + 1];
	char leaf_kind[(KTRACE_LEAF >> 60) + 1];
	char begin_kind[(KTRACE_BEGIN >> 60) + 1];
	char return_kind[(KTRACE_RETURN >> 60) + 1];
	char call_func_shift[KTRACE_CALL_FUNC_SHIFT + 1];
	char call_depth_shift[KTRACE_CALL_DEPTH_SHIFT + 1];
	char call_depth_bits[KTRACE_CALL_DEPTH_BITS + 1];
	char call_time_bits[KTRACE_CALL_TIME_BITS + 1];
	char call_delta_bits[KTRACE_CALL_DELTA_BITS + 1];
	char return_delta_bits[KTRACE_RETURN_DELTA_BITS + 1];
};
