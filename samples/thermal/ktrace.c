// SPDX-License-Identifier: GPL-2.0
/* ktrace is built into each module that uses it. */
#include "../../src/ktrace/ktrace.c"
