// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: crowd [-t TASKS] [-r ROUNDS] [-o ROUNDS]
 *        crowd spent FILE COMMAND...
 *
 * A process about which a question is asked, among TASKS busy processes. It reads a byte from
 * /dev/null 200 times in each of its ROUNDS (-r), and then reads from a timer that expires after
 * 2 ms. Each of the others reads a byte twice in each of its rounds (-o), and yields the CPU. All
 * begin when standard input ends. Before that, the id of the process and `ready` are printed; at
 * the end, the CPU time in ns that the process took, and the sum of what the others took. Under
 * QEMU's -icount, a nanosecond is an instruction.
 *
 * The second form runs COMMAND, and writes the CPU time in ns of it and its children to FILE. It
 * passes SIGINT on.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int null_fd;

static uint64_t cpu_time(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time))
		err(1, "clock");
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void read_null(long n)
{
	char byte;

	while (n--)
		if (read(null_fd, &byte, 1) < 0)
			err(1, "/dev/null");
}

static void wait_for_end(int fd)
{
	char byte;

	while (read(fd, &byte, 1) > 0)
		;
}

/* One of the busy processes. */
static void busy(long rounds)
{
	while (rounds--) {
		read_null(2);
		syscall(SYS_sched_yield);
	}
}

/* The process about which a question is asked. */
static void asked(long rounds)
{
	struct itimerspec spec = { .it_value.tv_nsec = 2000000 };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t expired;

	if (timer < 0)
		err(1, "timer");
	while (rounds--) {
		read_null(200);
		if (timerfd_settime(timer, 0, &spec, NULL) ||
		    read(timer, &expired, sizeof(expired)) != sizeof(expired))
			err(1, "timer");
	}
}

/* Starts a process, which writes its CPU time to `result` at the end. Returns its id. */
static pid_t start(const char *name, void (*work)(long rounds), long rounds, const int go[2],
		   const int result[2])
{
	pid_t child = fork();
	uint64_t took;

	if (child < 0)
		err(1, "fork");
	if (child)
		return child;
	close(go[1]);
	prctl(PR_SET_NAME, name);
	wait_for_end(go[0]);
	took = cpu_time();
	work(rounds);
	took = cpu_time() - took;
	if (write(result[1], &took, sizeof(took)) != sizeof(took))
		err(1, "pipe");
	_exit(0);
}

static uint64_t read_result(const int result[2])
{
	uint64_t took;

	if (read(result[0], &took, sizeof(took)) != sizeof(took))
		errx(1, "a process has failed");
	return took;
}

static int spent(const char *path, char **argv)
{
	struct rusage usage;
	int status, signal;
	sigset_t set;
	pid_t child;
	FILE *file;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		/* A shell without job control has background jobs ignore it. */
		sigaction(SIGINT, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		execvp(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	while (!sigwait(&set, &signal) && signal == SIGINT)
		kill(child, SIGINT);
	if (wait4(child, &status, 0, &usage) < 0)
		err(1, "wait");
	file = fopen(path, "w");
	if (!file)
		err(1, "%s", path);
	fprintf(file, "%ld000\n",
		(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000L +
		usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	if (fclose(file))
		err(1, "%s", path);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	long tasks = 200, rounds = 50, others_rounds = 200, i;
	int go[2], mine[2], others[2], option;
	uint64_t took, sum = 0;

	if (argc > 3 && !strcmp(argv[1], "spent"))
		return spent(argv[2], argv + 3);
	while ((option = getopt(argc, argv, "t:r:o:")) != -1) {
		switch (option) {
		case 't':
			tasks = atol(optarg);
			break;
		case 'r':
			rounds = atol(optarg);
			break;
		case 'o':
			others_rounds = atol(optarg);
			break;
		default:
			return 2;
		}
	}
	null_fd = open("/dev/null", O_RDONLY);
	if (null_fd < 0 || pipe(go) || pipe(mine) || pipe(others))
		err(1, "files");
	printf("%d\n", start("asked", asked, rounds, go, mine));
	fflush(stdout);
	for (i = 0; i < tasks; i++)
		start("busy", busy, others_rounds, go, others);
	close(go[0]);
	close(mine[1]);
	close(others[1]);
	puts("ready");
	fflush(stdout);
	wait_for_end(0);
	close(go[1]);
	took = read_result(mine);
	for (i = 0; i < tasks; i++)
		sum += read_result(others);
	printf("%llu %llu\n", (unsigned long long)took, (unsigned long long)sum);
	return 0;
}
