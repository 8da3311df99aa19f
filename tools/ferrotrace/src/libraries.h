/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The headers for which build.rs generates bindings. */
#include <event-parse.h>
#include <kbuffer.h>
#include <tracefs.h>
#include <trace-cmd.h>
