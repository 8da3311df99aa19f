/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The headers for which build.rs generates bindings. */
#include <event-parse.h>
#include <tracefs.h>
#include <trace-cmd.h>

/*
 * libtracecmd exports these functions, but declares them in a private header only. The first
 * returns the text of uname(2) of the machine that recorded, or null. The second
 * takes a reference to a record, which tracecmd_free_record() releases.
 */
const char *tracecmd_get_uname(struct tracecmd_input *handle);
void tracecmd_record_ref(struct tep_record *record);
