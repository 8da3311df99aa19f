/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The headers for which build.rs generates bindings. */
#include <event-parse.h>
#include <kbuffer.h>
#include <tracefs.h>
#include <trace-cmd.h>

/*
 * The text of uname(2) of the machine that recorded, or null. libtracecmd exports this function,
 * but declares it in a private header only.
 */
const char *tracecmd_get_uname(struct tracecmd_input *handle);
