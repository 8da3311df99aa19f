// SPDX-License-Identifier: GPL-2.0
/* The function that probes in dynamic_events attach to, for the event of thermal.rs. */
#include <linux/types.h>

#include "../../src/ktrace/event/probestub.h"

KTRACE_PROBESTUB(thermal_temperature, const void *zone, u32 id, s32 temp_prev, s32 temp)
