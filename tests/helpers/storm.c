// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: storm forks NUMBER
 *        storm renames NUMBER
 *        storm memory NUMBER
 *
 * forks: creates that many children, about 20 at a time, each of which calls
 * sched_get_priority_max(2) once and exits.
 * renames: creates that many threads, which wait for each other. Then each takes the
 * name hit-N, makes that call, takes the name miss-N, and makes the call again.
 * Both print the number of calls, for renames only of those with a name hit-N.
 * memory: allocates that many MiB and keeps them until it is killed.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_A_TIME 20

static pthread_barrier_t together;

static void call(void)
{
	syscall(SYS_sched_get_priority_max, SCHED_OTHER);
}

static void *rename_and_call(void *arg)
{
	unsigned long number = (unsigned long)arg;
	char name[16];

	pthread_barrier_wait(&together);
	snprintf(name, sizeof(name), "hit-%lu", number);
	prctl(PR_SET_NAME, name);
	call();
	snprintf(name, sizeof(name), "miss-%lu", number);
	prctl(PR_SET_NAME, name);
	call();
	return NULL;
}

static int renames(unsigned long number)
{
	pthread_t *threads = calloc(number, sizeof(*threads));
	pthread_attr_t small;
	unsigned long i;

	pthread_barrier_init(&together, NULL, number);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (i = 0; i < number; i++) {
		if (pthread_create(&threads[i], &small, rename_and_call, (void *)i)) {
			perror("pthread_create");
			return 1;
		}
	}
	for (i = 0; i < number; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int forks(unsigned long number)
{
	unsigned long i;

	for (i = 0; i < number; i++) {
		pid_t child = fork();

		if (child < 0) {
			perror("fork");
			return 1;
		}
		if (!child) {
			call();
			_exit(0);
		}
		if (i >= AT_A_TIME)
			wait(NULL);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

static int memory(unsigned long number)
{
	if (mmap(NULL, number << 20, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	unsigned long number = argc == 3 ? strtoul(argv[2], NULL, 0) : 0;
	int failed;

	if (!number)
		return 2;
	if (!strcmp(argv[1], "memory"))
		return memory(number);
	failed = strcmp(argv[1], "forks") ? renames(number) : forks(number);
	printf("%lu\n", number);
	return failed;
}
