/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The structs that C and Rust share, for bindgen: it writes down where C has their
 * members, and shared.rs compares that with where Rust has them. With the kernel's
 * types from its BTF, as its headers are not for bindgen.
 */
#include "vmlinux.h"

#define __percpu
#define static_assert(expr) _Static_assert(expr, #expr)
#define offsetof __builtin_offsetof

#include "compact.h"
#include "fgraph.h"
