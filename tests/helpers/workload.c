// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: workload [ROUNDS]
 *
 * Generates something to trace: processes with different names, each of which repeats
 * one kind of operation ROUNDS (50) times, some milliseconds apart.
 *
 *	file-writer	writes a file in /tmp, reads it back and removes it
 *	pipe-producer	writes into a pipe
 *	pipe-consumer	reads from that pipe
 *	sleeper		sleeps
 *	forker		creates processes and waits for them
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static int pipe_ends[2];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void sleep_ms(long ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void write_file(void)
{
	const char *path = "/tmp/workload";
	char text[512];
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);

	if (fd < 0)
		die(path);
	memset(text, 'x', sizeof(text));
	if (write(fd, text, sizeof(text)) != sizeof(text))
		die("write");
	if (pread(fd, text, sizeof(text), 0) != sizeof(text))
		die("read");
	close(fd);
	unlink(path);
}

static void produce(void)
{
	if (write(pipe_ends[1], "ping", 4) != 4)
		die("write to the pipe");
}

static void consume(void)
{
	char text[4];

	if (read(pipe_ends[0], text, sizeof(text)) < 0)
		die("read from the pipe");
}

static void just_sleep(void)
{
	sleep_ms(5);
}

static void make_process(void)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

static const struct {
	const char *name;
	void (*once)(void);
} kinds[] = {
	{ "file-writer", write_file },
	{ "pipe-producer", produce },
	{ "pipe-consumer", consume },
	{ "sleeper", just_sleep },
	{ "forker", make_process },
};

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 50;
	int failed = 0;
	int status;

	if (pipe(pipe_ends))
		die("pipe");
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (child > 0)
			continue;
		prctl(PR_SET_NAME, kinds[i].name);
		for (int round = 0; round < rounds; round++) {
			kinds[i].once();
			sleep_ms(5);
		}
		exit(0);
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}
