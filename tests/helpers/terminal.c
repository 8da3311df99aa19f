// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: terminal COLUMNS ROWS COMMAND [ARGUMENT...]
 *
 * Runs a command in a pseudo terminal of this size. Bytes from standard input are
 * typed there, and what the command shows is written to standard output. The exit
 * status is that of the command, 128+N if signal N killed it. If this program is
 * killed, the terminal hangs up.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Copies some bytes. Returns 0 at the end of the input. */
static int copy(int from, int to)
{
	char buffer[4096];
	ssize_t len = read(from, buffer, sizeof(buffer));

	return len > 0 && write(to, buffer, len) == len;
}

int main(int argc, char **argv)
{
	struct winsize size = {};
	struct pollfd fds[2];
	int terminal, status;
	pid_t child;

	if (argc < 4) {
		fprintf(stderr, "usage: terminal COLUMNS ROWS COMMAND [ARGUMENT...]\n");
		return 2;
	}
	size.ws_col = atoi(argv[1]);
	size.ws_row = atoi(argv[2]);
	child = forkpty(&terminal, NULL, NULL, &size);
	if (child < 0) {
		perror("forkpty");
		return 2;
	}
	if (!child) {
		execvp(argv[3], argv + 3);
		perror(argv[3]);
		_exit(127);
	}
	fds[0] = (struct pollfd){ .fd = terminal, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			break;
		if (fds[0].revents && !copy(terminal, STDOUT_FILENO))
			break;
		if (fds[1].revents && !copy(STDIN_FILENO, terminal))
			fds[1].fd = -1;
	}
	if (waitpid(child, &status, 0) != child)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
