// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: ftwrite [-a] [-n] [-b] [-c BYTES] FILE
 *
 * Writes its standard input to FILE and prints the result: `ok`, or the first call
 * that failed and its errno, as in `write EINVAL`. FILE is opened as by `>`, with -a
 * as by `>>`, with -n without O_TRUNC and O_APPEND. Everything is written with one
 * call, or with -c in pieces of BYTES bytes, up to the first one that fails; with -b
 * from an invalid address.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int report(const char *what)
{
	printf("%s %s\n", what, strerrorname_np(errno));
	return 0;
}

int main(int argc, char **argv)
{
	size_t chunk = 0, size = 0, len = 0, at = 0, piece;
	int how = O_TRUNC, bad = 0, option, fd, failed = 0;
	char *data = NULL;
	ssize_t n;

	while ((option = getopt(argc, argv, "anbc:")) != -1) {
		switch (option) {
		case 'a':
			how = O_APPEND;
			break;
		case 'n':
			how = 0;
			break;
		case 'b':
			bad = 1;
			break;
		case 'c':
			chunk = strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	if (optind != argc - 1)
		return 2;
	do {
		if (len == size) {
			size += 1 << 20;
			data = realloc(data, size);
			if (!data)
				return 2;
		}
		n = read(0, data + len, size - len);
		if (n < 0)
			return 2;
		len += n;
	} while (n);

	fd = open(argv[optind], O_WRONLY | how);
	if (fd < 0)
		return report("open");
	while (at < len && !failed) {
		piece = chunk && chunk < len - at ? chunk : len - at;
		n = write(fd, bad ? (char *)1 : data + at, piece);
		if (n < 0)
			failed = report("write") + 1;
		else
			at += n;
	}
	if (close(fd) && !failed)
		failed = report("close") + 1;
	if (!failed)
		puts("ok");
	return 0;
}
