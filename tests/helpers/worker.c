// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: worker DIRECTORY NAME
 *
 * A task that executes commands of a test. Commands are read from the FIFO
 * DIRECTORY/NAME.in, one per line. When a command is done, the worker writes a line
 * to DIRECTORY/NAME.out. So a test knows exactly which calls were made, and that
 * they have returned. The functions for tests are in tests/lib/workers.sh.
 *
 *	id		answers with the thread ID and the process ID
 *	call [N [WHAT]]	makes N (1) system calls WHAT (see calls[])
 *	spin [WHAT]	makes system calls until the next command arrives
 *	stop		ends a spin, and answers with its number of calls
 *	name TEXT	renames this thread
 *	rename TID TEXT	renames another thread of this process
 *	cpu N		runs on this CPU only
 *	write FILE TEXT	writes TEXT to a file
 *	keep FILE TEXT	writes TEXT to a file and leaves it open until exec (O_CLOEXEC)
 *	fork NAME [ID]	creates a process, which is a worker NAME; answers with its PID,
 *			which is ID if given
 *	enter NAME DIR	creates a process in the cgroup with this directory, which is a worker
 *			NAME; answers with its PID
 *	thread NAME	creates a thread, which is a worker NAME; answers with its TID
 *	exec PATH	executes PATH with the same arguments; the new program answers
 *	reap		waits for all children
 *	exit		exits without an answer; only this thread, unless it is the last
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct worker {
	char name[32];
	int in, out;
	/* Input from the FIFO that was not processed yet. */
	char input[256];
	size_t len;
};

static const char *directory;

static void die(const char *what)
{
	fprintf(stderr, "worker: %s: %s\n", what, strerror(errno));
	_exit(2);
}

static void path_of(const struct worker *self, const char *which, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s.%s", directory, self->name, which);
}

static void answer(const struct worker *self, const char *format, ...)
{
	char line[128];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (write(self->out, line, len) != len)
		die(self->name);
}

/*
 * Opens each FIFO for reading and writing, so that read() does not return end of file when the
 * other side closes its end.
 */
static void open_fifos(struct worker *self)
{
	char path[PATH_MAX];

	path_of(self, "in", path);
	self->in = open(path, O_RDWR | O_CLOEXEC);
	if (self->in < 0)
		die(path);
	path_of(self, "out", path);
	self->out = open(path, O_RDWR | O_CLOEXEC);
	if (self->out < 0)
		die(path);
}

static int zero, null;

static void call_max(void)
{
	syscall(SYS_sched_get_priority_max, SCHED_OTHER);
}

static void call_min(void)
{
	syscall(SYS_sched_get_priority_min, SCHED_OTHER);
}

static void call_yield(void)
{
	syscall(SYS_sched_yield);
}

static void call_read(void)
{
	char byte;

	if (read(zero, &byte, 1) != 1)
		die("/dev/zero");
}

static void call_write(void)
{
	if (write(null, "", 1) != 1)
		die("/dev/null");
}

static void call_sleep(void)
{
	struct timespec time = { .tv_nsec = 1000 };

	nanosleep(&time, NULL);
}

/* Longer than the time needed to fall asleep, even on the slowest machine. */
static void call_nap(void)
{
	struct timespec time = { .tv_nsec = 20000000 };

	nanosleep(&time, NULL);
}

static void call_doze(void)
{
	struct timespec time = { .tv_nsec = 5000000 };

	nanosleep(&time, NULL);
}

static void call_burn(void)
{
	int i;

	for (i = 0; i < 100000; i++)
		__asm__ __volatile__("" : : "r" (i));
}

/* The first entry is the call that tests trace if any call will do: only workers make it. */
typedef void call_fn(void);

static const struct {
	const char *name;
	call_fn *call;
} calls[] = {
	{ "max", call_max },
	{ "min", call_min },
	{ "yield", call_yield },
	{ "read", call_read },
	{ "write", call_write },
	{ "sleep", call_sleep },
	{ "nap", call_nap },
	{ "doze", call_doze },
	/* Not a system call: spends user time. */
	{ "burn", call_burn },
};

static call_fn *find_call(const char *name)
{
	size_t i;

	if (!*name)
		return calls[0].call;
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].call;
	errno = ENOENT;
	die(name);
	return NULL;
}

static unsigned long spin(const struct worker *self, call_fn *call)
{
	struct pollfd fd = { .fd = self->in, .events = POLLIN };
	unsigned long n = 0, i;

	do {
		for (i = 0; i < 50; i++)
			call();
		n += i;
	} while (!poll(&fd, 1, 0));
	return n;
}

static void *act(void *arg);

static struct worker *new_worker(const char *name)
{
	struct worker *new = calloc(1, sizeof(*new));

	if (!new)
		die("calloc");
	snprintf(new->name, sizeof(new->name), "%s", name);
	return new;
}

/*
 * Forks with this PID, or with a PID that the kernel chooses if it is 0; in the cgroup with this
 * directory, or in the caller's if it is NULL.
 */
static pid_t fork_as(pid_t id, const char *cgroup)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t pid;
	int fd = -1;

	if (id) {
		args.set_tid = (uintptr_t)&id;
		args.set_tid_size = 1;
	}
	if (cgroup) {
		fd = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			die(cgroup);
		args.flags = CLONE_INTO_CGROUP;
		args.cgroup = fd;
	}
	pid = id || cgroup ? syscall(SYS_clone3, &args, sizeof(args)) : fork();
	if (fd >= 0)
		close(fd);
	return pid;
}

static pid_t new_process(const char *name, pid_t id, const char *cgroup)
{
	pid_t pid = fork_as(id, cgroup);

	if (pid < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		act(new_worker(name));
		_exit(0);
	}
	return pid;
}

static pid_t thread_id;
static pthread_barrier_t thread_runs;

static void *new_thread_runs(void *arg)
{
	thread_id = gettid();
	pthread_barrier_wait(&thread_runs);
	return act(arg);
}

static pid_t new_thread(const char *name)
{
	pthread_t thread;
	pid_t id;

	pthread_barrier_init(&thread_runs, NULL, 2);
	if (pthread_create(&thread, NULL, new_thread_runs, new_worker(name)))
		die("pthread_create");
	pthread_barrier_wait(&thread_runs);
	id = thread_id;
	pthread_detach(thread);
	return id;
}

/* Executes one command. Returns 0 if the worker must exit. */
static int obey(struct worker *self, char *line, unsigned long spun)
{
	char word[16] = "", argument[128] = "", more[128] = "";
	long n;

	if (sscanf(line, "%15s %127s %127s", word, argument, more) < 1)
		return 1;
	if (!strcmp(word, "id")) {
		answer(self, "%d %d\n", gettid(), getpid());
	} else if (!strcmp(word, "call")) {
		call_fn *call = find_call(more);

		for (n = *argument ? atol(argument) : 1; n > 0; n--)
			call();
		answer(self, "ok\n");
	} else if (!strcmp(word, "spin")) {
		call_fn *call = find_call(argument);

		answer(self, "ok\n");
		return 1 + (int)spin(self, call);
	} else if (!strcmp(word, "stop")) {
		answer(self, "%lu\n", spun);
	} else if (!strcmp(word, "name")) {
		prctl(PR_SET_NAME, line + strlen("name "));
		answer(self, "ok\n");
	} else if (!strcmp(word, "rename")) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "/proc/self/task/%.16s/comm", argument);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, more, strlen(more)) < 0)
			die(path);
		close(fd);
		answer(self, "ok\n");
	} else if (!strcmp(word, "cpu")) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(atoi(argument), &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			die("sched_setaffinity");
		answer(self, "ok\n");
	} else if (!strcmp(word, "write") || !strcmp(word, "keep")) {
		int start, fd;

		if (sscanf(line, "%*s %*s %n", &start) < 0)
			die(line);
		fd = open(argument, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, line + start, strlen(line + start)) < 0)
			die(argument);
		if (strcmp(word, "keep"))
			close(fd);
		answer(self, "ok\n");
	} else if (!strcmp(word, "fork")) {
		answer(self, "%d\n", new_process(argument, atoi(more), NULL));
	} else if (!strcmp(word, "enter")) {
		answer(self, "%d\n", new_process(argument, 0, more));
	} else if (!strcmp(word, "thread")) {
		answer(self, "%d\n", new_thread(argument));
	} else if (!strcmp(word, "exec")) {
		execl(argument, argument, directory, self->name, NULL);
		die(argument);
	} else if (!strcmp(word, "reap")) {
		while (wait(NULL) > 0 || errno == EINTR)
			;
		answer(self, "ok\n");
	} else if (strcmp(word, "exit")) {
		errno = EINVAL;
		die(line);
	} else {
		return 0;
	}
	return 1;
}

static void *act(void *arg)
{
	struct worker *self = arg;
	unsigned long spun = 0;
	char *end;
	ssize_t n;
	int ret;

	if (!self->in)
		open_fifos(self);
	for (;;) {
		n = read(self->in, self->input + self->len, sizeof(self->input) - self->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die(self->name);
		self->len += n;
		self->input[self->len] = 0;
		while ((end = strchr(self->input, '\n'))) {
			*end = 0;
			ret = obey(self, self->input, spun);
			if (!ret) {
				close(self->in);
				close(self->out);
				if (gettid() == getpid())
					/* Other threads continue to run. */
					syscall(SYS_exit, 0);
				return NULL;
			}
			spun = ret - 1;
			self->len -= end + 1 - self->input;
			memmove(self->input, end + 1, self->len + 1);
		}
	}
}

int main(int argc, char **argv)
{
	struct worker *self;

	if (argc != 3) {
		fprintf(stderr, "usage: worker DIRECTORY NAME\n");
		return 2;
	}
	directory = argv[1];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (zero < 0 || null < 0)
		die("/dev");
	self = new_worker(argv[2]);
	open_fifos(self);
	answer(self, "%d\n", gettid());
	act(self);
	return 0;
}
