// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: race itself NUMBER
 *        race other NUMBER
 *        race filter 1
 *        race busy 1
 *        race id ID
 *
 * itself, other: starts that many threads, one after another, each of which takes the
 * name hit-N while another thread renames it to miss-N. One of the two renames, which
 * begins first, is slow (slowname.c): that by the thread itself, or that by the other
 * thread. Prints how often the slow one ended last, when all renames are done, and
 * continues to run until it is killed.
 * filter: as other, but the filter for names is set after the slow rename has begun and
 * before the thread's own one: hit-* is written to ferrotrace/set_comm. Only rounds are
 * counted in which that write returns before the slow rename ends.
 * busy: as other; then the renamed thread sleeps for 1.2 s, prints "busy", and spins
 * until the process gets SIGUSR1.
 * id: creates a child with PID ID as soon as ID is free; the child calls
 * sched_get_priority_max(2) once. Prints "waiting" before, and then the number of
 * attempts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Less than the time that a slow rename takes. */
#define BETWEEN_US 5000
#define BUSY_AFTER_US 1200000

/*
 * The state of the current thread: 0 not started, 1 ready, 2 may take its name, 3 has taken its
 * name.
 */
static atomic_int turn;
static atomic_int comm_fd;
/* Whether the other thread's rename begins first. */
static bool is_late;
/* Descriptor of set_comm, if the filter is set during the renames, otherwise -1. */
static int filter_fd = -1;
static atomic_bool is_filtering;
static struct timespec done, filtered;
/* Whether a thread spins after its renames, and until when. */
static bool is_busy;
static atomic_bool is_enough;

/* Two threads that race need one CPU each. */
static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
}

static void enough(int signal)
{
	(void)signal;
	atomic_store(&is_enough, true);
}

static void *take_name(void *arg)
{
	char name[16], path[64];

	stay_on(1);
	snprintf(name, sizeof(name), "hit-%lu", (unsigned long)arg);
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", gettid());
	atomic_store(&comm_fd, open(path, O_WRONLY | O_CLOEXEC));
	atomic_store(&turn, 1);
	while (atomic_load(&turn) != 2)
		sched_yield();
	if (is_late)
		usleep(BETWEEN_US);
	while (filter_fd >= 0 && !atomic_load(&is_filtering))
		sched_yield();
	if (filter_fd >= 0)
		usleep(BETWEEN_US);
	prctl(PR_SET_NAME, name);
	clock_gettime(CLOCK_MONOTONIC, &done);
	atomic_store(&turn, 3);
	if (is_busy) {
		usleep(BUSY_AFTER_US);
		puts("busy");
		fflush(stdout);
		while (!atomic_load(&is_enough))
			;
	}
	for (;;)
		pause();
	return NULL;
}

static void *put_filter(void *arg)
{
	const char *list = arg;
	ssize_t len = strlen(list);

	stay_on(1);
	while (atomic_load(&turn) != 2)
		sched_yield();
	usleep(BETWEEN_US);
	atomic_store(&is_filtering, true);
	if (write(filter_fd, list, len) != len)
		perror("set_comm");
	clock_gettime(CLOCK_MONOTONIC, &filtered);
	return NULL;
}

static int is_before(const struct timespec *one, const struct timespec *other)
{
	if (one->tv_sec != other->tv_sec)
		return one->tv_sec < other->tv_sec;
	return one->tv_nsec < other->tv_nsec;
}

static int names(unsigned long number)
{
	unsigned long i, raced = 0;
	pthread_attr_t small;

	stay_on(0);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (i = 0; i < number; i++) {
		struct timespec written;
		char name[16];
		pthread_t thread, filter;
		bool in_time = true;
		int fd, len;

		atomic_store(&turn, 0);
		if (filter_fd >= 0 && pthread_create(&filter, &small, put_filter, "hit-*\n")) {
			perror("pthread_create");
			return 1;
		}
		if (pthread_create(&thread, &small, take_name, (void *)i)) {
			perror("pthread_create");
			return 1;
		}
		while (atomic_load(&turn) != 1)
			sched_yield();
		fd = atomic_load(&comm_fd);
		len = snprintf(name, sizeof(name), "miss-%lu", i);
		atomic_store(&turn, 2);
		if (!is_late)
			usleep(BETWEEN_US);
		if (write(fd, name, len) != len) {
			perror("comm");
			return 1;
		}
		clock_gettime(CLOCK_MONOTONIC, &written);
		while (atomic_load(&turn) != 3)
			sched_yield();
		close(fd);
		if (filter_fd >= 0) {
			pthread_join(filter, NULL);
			in_time = is_before(&filtered, &written);
		}
		/* Count the round if the rename that began first has ended last. */
		raced += in_time && is_before(&done, &written) == is_late;
	}
	printf("%lu\n", raced);
	fflush(stdout);
	for (;;)
		pause();
}

static int take_id(pid_t id)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&id,
		.set_tid_size = 1,
	};
	unsigned long tries = 0;
	pid_t pid;

	puts("waiting");
	fflush(stdout);
	do {
		tries++;
		pid = syscall(SYS_clone3, &args, sizeof(args));
	} while (pid < 0 && errno == EEXIST);
	if (pid < 0) {
		perror("clone3");
		return 1;
	}
	if (!pid) {
		syscall(SYS_sched_get_priority_max, SCHED_OTHER);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	printf("%lu\n", tries);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long number = argc == 3 ? strtoul(argv[2], NULL, 0) : 0;

	if (!number)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strcmp(argv[1], "id"))
		return take_id(number);
	is_late = strcmp(argv[1], "itself");
	is_busy = !strcmp(argv[1], "busy");
	signal(SIGUSR1, enough);
	if (!strcmp(argv[1], "filter")) {
		if (number != 1)
			return 2;
		filter_fd = open("ferrotrace/set_comm", O_WRONLY | O_APPEND);
		if (filter_fd < 0) {
			perror("set_comm");
			return 1;
		}
	}
	return names(number);
}
