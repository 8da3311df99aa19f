// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: measure [-n OPERATIONS] [-w WINDOWS] [-t TASKS] OPERATION|now
 *
 * Measures the cost of one operation in ticks of the machine's raw counter, which are instructions
 * of the guest under QEMU's -icount. Each window consists of OPERATIONS operations. The minimum of
 * all windows is printed, so that timer ticks and other tasks do not count. The cost of fork and
 * exec varies, so their windows have one operation, and the median is printed. With -w 0, the
 * operations are done once, without output. With -t, there are TASKS more sleeping tasks with this
 * name.
 *   getppid  a cheap system call
 *   read     a system call that calls other functions: reads a byte from /dev/null
 *   switch   this task yields the CPU to another task and gets it back: two switches
 *   wake     this task wakes another task, and sleeps until that task wakes it
 *   rename   this task renames itself
 *   fork     this task forks a child that exits, and waits for it
 *   exec     this task starts a child that executes this program, which returns immediately
 *   pause    this task sleeps forever
 *   marker   this task writes 12 bytes to trace_marker
 *   nap      this task sleeps for 200 us: 5,000 times a second, which are 10,000 switches
 * `measure now` prints the value of the counter.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static int null_fd;
static int marker_fd;
static int there[2], back[2];
static atomic_int done;

#ifdef __x86_64__
static uint64_t counter(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) :: "memory");
	return (uint64_t)high << 32 | low;
}

/* With -icount, a tick and an instruction both take one ns. */
static double per_tick(void)
{
	return 1;
}
#else
static uint64_t counter(void)
{
	uint64_t count;

	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(count) :: "memory");
	return count;
}

static double per_tick(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return 1e9 / hz;
}
#endif

static void do_getppid(void)
{
	syscall(SYS_getppid);
}

static void do_read(void)
{
	char byte;

	if (syscall(SYS_read, null_fd, &byte, 1) < 0)
		err(1, "/dev/null");
}

static void do_switch(void)
{
	syscall(SYS_sched_yield);
}

static void do_wake(void)
{
	char byte = 0;

	if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
		err(1, "pipe");
}

static void do_pause(void)
{
	pause();
}

static void do_nap(void)
{
	struct timespec time = { .tv_nsec = 200000 };

	nanosleep(&time, NULL);
}

static void do_marker(void)
{
	if (write(marker_fd, "I|1|measure\n", 12) != 12)
		err(1, "trace_marker");
}

static void do_rename(void)
{
	prctl(PR_SET_NAME, "measure");
}

static void wait_for_child(pid_t child)
{
	if (child < 0 || waitpid(child, NULL, 0) != child)
		err(1, "child");
}

static void do_fork(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	wait_for_child(child);
}

static void do_exec(void)
{
	static char *const args[] = { "measure", "return", NULL };
	pid_t child = vfork();

	if (!child) {
		execv("/proc/self/exe", args);
		_exit(1);
	}
	wait_for_child(child);
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void *switch_back(void *unused)
{
	while (!done)
		syscall(SYS_sched_yield);
	return unused;
}

static void *wake_back(void *unused)
{
	char byte;

	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return unused;
}

static void *sleep_on(void *unused)
{
	pause();
	return unused;
}

static const struct {
	const char *name;
	void (*call)(void);
	void *(*other)(void *unused);
	long windows; /* if not 0: the median of this number of windows, one operation each */
} operations[] = {
	{ "getppid", do_getppid, NULL, 0 },
	{ "read", do_read, NULL, 0 },
	{ "switch", do_switch, switch_back, 0 },
	{ "wake", do_wake, wake_back, 0 },
	{ "rename", do_rename, NULL, 0 },
	{ "marker", do_marker, NULL, 0 },
	{ "fork", do_fork, NULL, 101 },
	{ "exec", do_exec, NULL, 101 },
	{ "pause", do_pause, NULL, 0 },
	{ "nap", do_nap, NULL, 0 },
};

static void start(void *(*func)(void *unused))
{
	pthread_attr_t attr;
	pthread_t thread;
	int ret;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	ret = pthread_create(&thread, &attr, func, NULL);
	if (ret) {
		errno = ret;
		err(1, "thread");
	}
}

int main(int argc, char **argv)
{
	struct sched_param param = { .sched_priority = 1 };
	long n = 200, windows = 40, tasks = 0, i, w;
	uint64_t *took, result;
	void (*call)(void);
	unsigned int op;
	int option;

	while ((option = getopt(argc, argv, "n:w:t:")) != -1) {
		switch (option) {
		case 'n':
			n = atol(optarg);
			break;
		case 'w':
			windows = atol(optarg);
			break;
		case 't':
			tasks = atol(optarg);
			break;
		default:
			return 2;
		}
	}
	if (optind < argc && !strcmp(argv[optind], "now")) {
		printf("%.0f\n", counter() * per_tick());
		return 0;
	}
	if (optind < argc && !strcmp(argv[optind], "return"))
		return 0;
	for (op = 0; op < ARRAY_SIZE(operations); op++)
		if (optind < argc && !strcmp(argv[optind], operations[op].name))
			break;
	if (op == ARRAY_SIZE(operations) || n < 1)
		errx(2, "no such operation");
	call = operations[op].call;
	if (operations[op].windows && windows) {
		windows = operations[op].windows;
		n = 1;
	}
	took = calloc(windows + 1, sizeof(*took));
	if (!took)
		err(1, "windows");

	null_fd = open("/dev/null", O_RDONLY);
	if (null_fd < 0 || pipe(there) || pipe(back))
		err(1, "files");
	marker_fd = open("/sys/kernel/tracing/trace_marker", O_WRONLY);
	if (mlockall(MCL_CURRENT))
		err(1, "memory");
	for (i = 0; i < tasks; i++)
		start(sleep_on);
	/* Threads inherit the policy: a task that yields switches to the other thread only. */
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		err(1, "priority");
	if (operations[op].other)
		start(operations[op].other);

	for (w = 0; w < windows; w++) {
		uint64_t begin = counter();

		for (i = 0; i < n; i++)
			call();
		took[w] = counter() - begin;
	}
	qsort(took, windows, sizeof(*took), compare);
	result = took[operations[op].windows ? windows / 2 : 0];
	if (windows)
		printf("%.2f\n", result * per_tick() / n);
	else
		for (i = 0; i < n; i++)
			call();
	done = 1;
	exit(0);
}
