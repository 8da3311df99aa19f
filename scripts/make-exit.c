// SPDX-License-Identifier: GPL-2.0
/*
 * A function for GNU make: $(exit-from FILE) removes the file and ends make with the status in
 * the file. By itself, make turns every failure into status 2; `make run CMD=...` must exit with
 * the status of the command in the guest.
 */
#include <gnumake.h>
#include <stdio.h>
#include <stdlib.h>

int plugin_is_GPL_compatible;

static char *exit_from(const char *name, unsigned int argc, char **argv)
{
	FILE *file = fopen(argv[0], "r");
	int status = 2;

	(void)name;
	(void)argc;
	if (file) {
		if (fscanf(file, "%d", &status) != 1)
			status = 2;
		fclose(file);
		remove(argv[0]);
	}
	exit(status);
}

int make_exit_gmk_setup(void)
{
	gmk_add_function("exit-from", exit_from, 1, 1, GMK_FUNC_DEFAULT);
	return 1;
}
