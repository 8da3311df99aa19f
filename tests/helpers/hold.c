// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: hold FILE...
 *
 * Looks up each FILE without opening it (O_PATH): neither the file system nor a
 * driver is called. The results are descriptors 3, 4 and so on, which other processes
 * can open as /proc/PID/fd/3. Prints `ready`, then waits until it is killed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (open(argv[i], O_PATH) != i + 2) {
			perror(argv[i]);
			return 2;
		}
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
