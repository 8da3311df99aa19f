// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: pollfile FILE MILLISECONDS [READY]
 *
 * Opens a file, reads it, creates the file READY, and polls for news (POLLPRI). Prints `news`, or
 * `timeout`. After news, reads the file again, polls once more without waiting, and prints the
 * result as well: then it must be `timeout`.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "pollfile: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void read_all(int fd)
{
	char bytes[4096];
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET))
		die("lseek");
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		;
	if (n < 0)
		die("read");
}

/* Returns whether there is news within some ms. */
static int wait_for_news(int fd, int ms)
{
	struct pollfd poller = { .fd = fd, .events = POLLPRI };
	int ready = poll(&poller, 1, ms);

	if (ready < 0)
		die("poll");
	puts(ready ? "news" : "timeout");
	fflush(stdout);
	return ready;
}

int main(int argc, char **argv)
{
	struct pollfd poller = { .events = POLLIN | POLLOUT };
	int fd;

	if (argc < 3)
		return 2;
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		die(argv[1]);
	read_all(fd);
	if (argc > 3)
		close(open(argv[3], O_CREAT | O_WRONLY, 0600));
	if (wait_for_news(fd, atoi(argv[2]))) {
		poller.fd = fd;
		if (poll(&poller, 1, 0) != 1 || !(poller.revents & POLLIN))
			die("it cannot be read");
		read_all(fd);
		wait_for_news(fd, 0);
	}
	/* It can always be written. */
	poller.fd = fd;
	if (poll(&poller, 1, 0) != 1 || !(poller.revents & POLLOUT))
		die("it cannot be written");
	return 0;
}
