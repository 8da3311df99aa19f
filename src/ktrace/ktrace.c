// SPDX-License-Identifier: GPL-2.0
/*
 * All C files of ktrace in one, for modules that do not list each of them in their Kbuild:
 * tests/module and samples/. Each module needs its own, because the functions know their module.
 */
#include "helpers.c"
#include "private/symbols.c"
#include "private/modules.c"
#include "private/probes.c"
#include "array/event_files.c"
#include "array/instances.c"
#include "time/clock.c"
#include "time/delay.c"
#include "record/context.c"
#include "record/marker_export.c"
#include "task/task.c"
#include "task/trace_mask.c"
#include "task/saved_cmdlines.c"
#include "task/sched.c"
#include "task/signals.c"
#include "compact/compact.c"
#include "compact/selftest.c"
#include "hook/ftrace_ops.c"
#include "fgraph/fgraph.c"
#include "fgraph/layout.c"
#include "fgraph/markers.c"
#include "fgraph/call_watch.c"
#include "event/event.c"
#include "unbound.c"
