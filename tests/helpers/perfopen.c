// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: perfopen ID
 *
 * Opens the tracepoint event with this ID as perf does for all tasks of CPU 0, and
 * prints the result: `ok`, or `perf_event_open` and its errno. Exit closes the event.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
	};

	if (argc != 2)
		return 2;
	attr.config = strtoul(argv[1], NULL, 0);
	if (syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0) < 0)
		printf("perf_event_open %s\n", strerrorname_np(errno));
	else
		puts("ok");
	return 0;
}
