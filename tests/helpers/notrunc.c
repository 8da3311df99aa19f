// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: notrunc COMMAND [ARGUMENT...]
 *
 * Runs a command that is not permitted to truncate files (Landlock): opening a file
 * with O_TRUNC is refused by the kernel after the file has been opened. The exit status
 * is 125 if Landlock is not available.
 */
#define _GNU_SOURCE
#include <linux/landlock.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct landlock_ruleset_attr attr = { .handled_access_fs = LANDLOCK_ACCESS_FS_TRUNCATE };
	int ruleset;

	if (argc < 2)
		return 2;
	ruleset = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_landlock_restrict_self, ruleset, 0)) {
		perror("landlock");
		return 125;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
