// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: failnth N insmod|mkdir|rmdir PATH
 *        failnth N fork ID
 *        failnth FIRST-LAST write FILE FROM TO
 *        failnth FIRST-LAST read FILE [any]
 *
 * Performs an operation in which the Nth allocation fails (fail-nth). The files in
 * debugfs select the allocations that count; see select_faults_in_range() in tests/lib/faults.sh.
 *
 * If N is 0, no allocation fails, and any kernel will do. The first form prints the
 * result: `ok`, or the call that failed and its errno, as in `mkdir ENOMEM`. The exit
 * status is 0, or 1 if no allocation failed because there are fewer than N. The second
 * form does the same; its child has that PID and calls sched_get_priority_max(2) once.
 * The third form writes TO to a file that contains FROM, for each N from FIRST to LAST,
 * or until there are no more allocations. It checks that each write either fails and
 * changes nothing, and succeeds when repeated, or takes effect. The fourth form checks
 * that reading FILE either fails with ENOMEM, or returns the usual text (`any`: any
 * text). Both print the number of failed allocations and of failed attempts, or, with
 * exit status 1, which check failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int control;

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	exit(1);
}

static void arm(unsigned int n)
{
	char number[16];
	int len = snprintf(number, sizeof(number), "%u", n);

	if (pwrite(control, number, len, 0) != len)
		die("fail-nth: %s", strerrorname_np(errno));
}

/* Returns whether an allocation has failed; disables failures. */
static int disarm(void)
{
	char number[16] = "";

	if (pread(control, number, sizeof(number) - 1, 0) <= 0)
		die("fail-nth: %s", strerrorname_np(errno));
	arm(0);
	return !atoi(number);
}

#define ROOM (1 << 16)

/*
 * Reads a file, which must be smaller than ROOM. Returns the call that failed, with its errno in
 * `errno`, or NULL.
 */
static const char *get(const char *file, char *text)
{
	int fd = open(file, O_RDONLY), error;
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return "open";
	while ((n = read(fd, text + len, ROOM - 1 - len)) > 0)
		len += n;
	error = errno;
	close(fd);
	text[len] = 0;
	errno = error;
	return n < 0 ? "read" : NULL;
}

static void look(const char *file, char *text)
{
	const char *failed = get(file, text);

	if (failed)
		die("%s: %s %s", file, failed, strerrorname_np(errno));
}

/* Writes a file. Returns the call that failed, with its errno in `errno`, or NULL. */
static const char *put(const char *file, const char *text)
{
	const char *failed = NULL;
	size_t len = strlen(text);
	int error = 0;
	int fd = open(file, O_WRONLY | O_TRUNC);

	if (fd < 0)
		return "open";
	if (len && write(fd, text, len) != (ssize_t)len) {
		failed = "write";
		error = errno;
	}
	if (close(fd) && !failed)
		return "close";
	errno = error;
	return failed;
}

static void must_put(const char *file, const char *text, unsigned int n)
{
	const char *failed = put(file, text);

	if (failed)
		die("%s: '%s' after allocation %u failed: %s %s", file, text, n, failed,
		    strerrorname_np(errno));
}

/*
 * Exits with an error message if two texts differ; it contains the first line that differs of each.
 */
static void must_be(const char *file, const char *when, unsigned int n, const char *is,
		    const char *wanted)
{
	size_t at = 0, i;

	if (!strcmp(is, wanted))
		return;
	for (i = 0; is[i] == wanted[i]; i++) {
		if (is[i] == '\n')
			at = i + 1;
	}
	die("%s: allocation %u: %s: it is '%.*s', not '%.*s'", file, n, when,
	    (int)strcspn(is + at, "\n"), is + at, (int)strcspn(wanted + at, "\n"), wanted + at);
}

static int writes(unsigned int n, unsigned int last, const char *file, const char *from,
		  const char *to)
{
	static char before[ROOM], after[ROOM], is[ROOM];
	unsigned int points = 0, failures = 0;
	const char *failed;
	int error, hit;

	must_put(file, from, 0);
	look(file, before);
	must_put(file, to, 0);
	look(file, after);
	if (!strcmp(before, after))
		die("%s: '%s' and '%s' are the same", file, from, to);
	for (; n <= last; n++) {
		must_put(file, from, n);
		arm(n);
		failed = put(file, to);
		error = errno;
		hit = disarm();
		look(file, is);
		if (failed && error != ENOMEM)
			die("%s: allocation %u: %s %s", file, n, failed, strerrorname_np(error));
		must_be(file, failed ? "refused" : "accepted", n, is, failed ? before : after);
		if (!hit)
			break;
		points++;
		failures += !!failed;
		must_put(file, to, n);
		look(file, is);
		must_be(file, "tried again", n, is, after);
	}
	printf("%u %u\n", points, failures);
	return 0;
}

static int reads(unsigned int n, unsigned int last, const char *file, int any)
{
	static char before[ROOM], is[ROOM];
	unsigned int points = 0, failures = 0;
	const char *failed;
	int error, hit;

	look(file, before);
	for (; n <= last; n++) {
		arm(n);
		failed = get(file, is);
		error = errno;
		hit = disarm();
		if (failed && error != ENOMEM)
			die("%s: allocation %u: %s %s", file, n, failed, strerrorname_np(error));
		if (!failed && !any)
			must_be(file, "read", n, is, before);
		if (!hit)
			break;
		points++;
		failures += !!failed;
	}
	printf("%u %u\n", points, failures);
	return 0;
}

static int load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : syscall(SYS_finit_module, fd, "", 0);
}

/* The child stops first, until allocations of its parent no longer fail. */
static int clone_as(pid_t id)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&id,
		.set_tid_size = 1,
	};
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (!pid) {
		raise(SIGSTOP);
		syscall(SYS_sched_get_priority_max, SCHED_OTHER);
		_exit(0);
	}
	return pid < 0 ? -1 : 0;
}

static void let_go(pid_t id)
{
	int status;

	if (waitpid(id, &status, WUNTRACED) != id || !WIFSTOPPED(status) || kill(id, SIGCONT) ||
	    waitpid(id, &status, 0) != id || status)
		die("child %d: status %d", id, status);
}

static int once(unsigned int n, const char *what, const char *path)
{
	int result, error;

	if (n)
		arm(n);
	errno = EINVAL;
	if (!strcmp(what, "insmod"))
		result = load(path);
	else if (!strcmp(what, "mkdir"))
		result = mkdir(path, 0755);
	else if (!strcmp(what, "fork"))
		result = clone_as(atoi(path));
	else
		result = rmdir(path);
	error = errno;
	n = n ? disarm() : 1;
	if (!result && !strcmp(what, "fork"))
		let_go(atoi(path));
	if (result)
		printf("%s %s\n", what, strerrorname_np(error));
	else
		puts("ok");
	return !n;
}

int main(int argc, char **argv)
{
	unsigned int first, last;

	control = open("/proc/self/fail-nth", O_RDWR);
	if (control < 0 && strcmp(argv[1] ?: "", "0"))
		die("fail-nth: %s", strerrorname_np(errno));
	if (argc == 6 && sscanf(argv[1], "%u-%u", &first, &last) == 2 && !strcmp(argv[2], "write"))
		return writes(first, last, argv[3], argv[4], argv[5]);
	if (argc >= 4 && sscanf(argv[1], "%u-%u", &first, &last) == 2)
		return reads(first, last, argv[3], argc == 5);
	if (argc == 4)
		return once(atoi(argv[1]), argv[2], argv[3]);
	return 2;
}
