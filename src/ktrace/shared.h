/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Input of bindgen: the structs that C and Rust share. The build records the layout
 * that C gives them, and shared.rs compares it with that of the Rust definitions. The
 * kernel's types come from its BTF, because bindgen cannot process these headers.
 */
#include "vmlinux.h"

#define __percpu
#define static_assert(expr) _Static_assert(expr, #expr)
#define offsetof __builtin_offsetof

#include "compact/compact.h"
#include "fgraph/fgraph.h"
