// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: fuzz SEED OPERATIONS WRITERS [noclock]
 *
 * Performs OPERATIONS random operations in the tracing directory, with WRITERS
 * concurrent processes: valid, partly valid and invalid writes to control files,
 * options, filters, triggers and the kernel's own files of trace arrays; changes of
 * the tracer; instances that are created and removed; readers that are killed.
 *
 * Each writer also has an instance of its own and a model of the contents of its
 * control files: what was accepted, and nothing else. Prints how many operations were
 * accepted and refused; if the contents of a file differ from the model, prints the
 * difference, with exit status 1. The same seed leads to the same operations, except
 * for interactions of writers. With `noclock`, trace_clock is not changed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define ENTRIES 2000
#define SHARED 3

static uint64_t state;
static unsigned int writer, number, accepted, refused;
static uint64_t seed;
static bool noclock;

static uint32_t roll(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 32) % below;
}

#define one_of(list) ((list)[roll(LENGTH(list))])

/* A text buffer. */
struct text {
	char bytes[1 << 16];
	size_t len;
};

static void start(struct text *text)
{
	text->len = 0;
	text->bytes[0] = 0;
}

static void add(struct text *text, const char *bytes, size_t len)
{
	if (len > sizeof(text->bytes) - 1 - text->len)
		len = sizeof(text->bytes) - 1 - text->len;
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	text->bytes[text->len] = 0;
}

static void adds(struct text *text, const char *string)
{
	add(text, string, strlen(string));
}

static void add_number(struct text *text, uint32_t n)
{
	char digits[12];

	snprintf(digits, sizeof(digits), "%u", n);
	adds(text, digits);
}

static void add_junk(struct text *text)
{
	size_t n = roll(roll(8) ? 20 : 5000);

	while (n--) {
		char byte = roll(256);

		add(text, &byte, 1);
	}
}

/* The expected contents of a list: words without duplicates. */
struct list {
	char *words[ENTRIES];
	size_t n;
};

static void clear(struct list *list)
{
	while (list->n)
		free(list->words[--list->n]);
}

static bool has(const struct list *list, const char *word)
{
	for (size_t i = 0; i < list->n; i++) {
		if (!strcmp(list->words[i], word))
			return true;
	}
	return false;
}

static void put(struct list *list, const char *word)
{
	if (list->n < ENTRIES && !has(list, word))
		list->words[list->n++] = strdup(word);
}

/* Adds the words of a text to a list; `#` starts a comment. */
static void put_all(struct list *list, char *text)
{
	char *line, *word, *lines, *words;

	for (line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
		for (word = strtok_r(line, " \t\r", &words); word && *word != '#';
		     word = strtok_r(NULL, " \t\r", &words))
			put(list, word);
	}
}

static bool is_same(const struct list *a, const struct list *b)
{
	for (size_t i = 0; i < a->n; i++) {
		if (!has(b, a->words[i]))
			return false;
	}
	return a->n == b->n;
}

/* Reports an error and exits; `wrote` is the text that was written, or NULL. */
static void wrong(const char *file, const char *did, const char *detail,
		  const struct text *wrote)
{
	size_t i;

	printf("seed %llu, writer %u, operation %u: %s, after %s: %s\n",
	       (unsigned long long)seed, writer, number, file, did, detail);
	if (wrote) {
		printf("written was (%zu bytes): ", wrote->len);
		for (i = 0; i < wrote->len && i < 1000; i++) {
			unsigned char byte = wrote->bytes[i];

			if (byte < ' ' || byte > '~')
				printf("\\x%02x", byte);
			else
				putchar(byte);
		}
		putchar('\n');
	}
	fflush(stdout);
	_exit(1);
}

/*
 * Writes a text. Returns whether all of it was accepted; sets `pieces` to the size of each write(),
 * or 0 if there was one.
 */
static size_t pieces;

static bool write_as(const char *file, const struct text *text, int how)
{
	size_t chunk = roll(10) ? text->len : 1 + roll(100), at = 0, len;
	int fd = open(file, O_WRONLY | O_NONBLOCK | how);
	bool good = true;
	ssize_t n;

	pieces = chunk < text->len ? chunk : 0;

	if (fd < 0) {
		refused++;
		return false;
	}
	while (good && at < text->len) {
		len = text->len - at < chunk ? text->len - at : chunk;
		n = write(fd, text->bytes + at, len);
		good = n > 0;
		at += good ? n : 0;
	}
	good = !close(fd) && good;
	if (good)
		accepted++;
	else
		refused++;
	return good;
}

static bool say(const char *file, const char *string)
{
	static struct text text;

	start(&text);
	adds(&text, string);
	return write_as(file, &text, O_TRUNC);
}

/* Reads a file. Returns false if it does not exist (any more). */
static bool look(const char *file, struct text *text)
{
	int fd = open(file, O_RDONLY | O_NONBLOCK);
	char piece[4096];
	size_t total = 0;
	ssize_t n;

	start(text);
	if (fd < 0)
		return false;
	while (total < 1 << 20 && (n = read(fd, piece, sizeof(piece))) > 0) {
		add(text, piece, n);
		total += n;
	}
	close(fd);
	return true;
}

/* The control files that contain lists. */
static const struct {
	const char *name;
	enum kind { IDS, CGROUPS, NAMES } kind;
} lists[] = {
	{ "set_pid", IDS }, { "set_notrace_pid", IDS }, { "set_tgid", IDS },
	{ "set_notrace_tgid", IDS }, { "set_cgroup", CGROUPS }, { "set_notrace_cgroup", CGROUPS },
	{ "set_comm", NAMES }, { "set_notrace_comm", NAMES },
};

static struct list model[LENGTH(lists)];

/* Selects a list. Name filters are selected rarely, since each change waits while one is active. */
static size_t some_list(void)
{
	return roll(50) ? roll(6) : 6 + roll(2);
}

static void add_id(struct text *text)
{
	static const uint32_t edges[] = { 0, 1, 4194303, 4194304 };

	switch (roll(4)) {
	case 0:
		add_number(text, one_of(edges));
		break;
	case 1:
		add_number(text, getpid());
		break;
	default:
		add_number(text, roll(4194305));
	}
}

static void add_name(struct text *text)
{
	static const char letters[] = "abcxyz019-_.*??*";
	size_t n = 1 + roll(8);

	if (!roll(4)) {
		adds(text, roll(2) ? "fuzz*" : "[a-f]uz?");
		return;
	}
	while (n--)
		add(text, letters + roll(sizeof(letters) - 1), 1);
}

/* Adds the root, or a number that is not the id of a cgroup: that would be read as its path. */
static void add_cgroup(struct text *text)
{
	char id[24];

	snprintf(id, sizeof(id), "%llu", (1ull << 40) + roll(1000));
	adds(text, roll(8) ? id : "/");
}

/* Makes a text for a list. Returns true if all its words are valid. */
static bool make_list(struct text *text, enum kind kind)
{
	static const char *const bad[] = {
		"-1", "4194305", "99999999999999999999", "0x10", "1-5", "!", "[a", "[]",
		"a-name-of-over-fifteen-letters", "\\", "\"", "1,2",
	};
	static const char *const no_cgroups[] = {
		"-1", "0", "/none", "//none", "x", "99999999999999999999", "0x10", "*", "\"",
	};
	uint32_t n = roll(20) ? roll(6) : roll(200);
	bool good = true;

	start(text);
	while (n--) {
		if (!roll(40)) {
			adds(text, kind == CGROUPS ? one_of(no_cgroups) : one_of(bad));
			good = false;
		} else if (kind == NAMES) {
			add_name(text);
		} else if (kind == CGROUPS) {
			add_cgroup(text);
		} else {
			add_id(text);
		}
		if (!roll(60)) {
			add_junk(text);
			good = false;
		}
		adds(text, roll(5) ? " " : "\n");
	}
	if (!roll(20))
		adds(text, "\n# a comment 7 x\n");
	return good;
}

static void check_list(const char *file, size_t which, const char *did, const struct text *wrote)
{
	static char detail[100];
	static struct text text;
	static struct list is;

	if (!look(file, &text))
		wrong(file, did, "it can't be read", wrote);
	clear(&is);
	put_all(&is, text.bytes);
	if (!is_same(&is, &model[which])) {
		snprintf(detail, sizeof(detail), "it has %zu entries instead of %zu", is.n,
			 model[which].n);
		wrong(file, did, detail, wrote);
	}
}

/* Writes to one of the lists of this writer's own instance and checks it. */
static void own_list(void)
{
	static struct text text, copy;
	size_t which = some_list();
	int how = roll(2) ? O_TRUNC : O_APPEND;
	bool good, done;
	char file[80];

	snprintf(file, sizeof(file), "instances/own%u/ferrotrace/%s", writer, lists[which].name);
	good = make_list(&text, lists[which].kind);
	done = write_as(file, &text, how);
	if (done ? !good : !!pieces) {
		/*
		 * A random word may happen to be valid, or some pieces were accepted and others
		 * were not. The result is not checked here: use it as the model.
		 */
		clear(&model[which]);
		if (look(file, &copy))
			put_all(&model[which], copy.bytes);
		return;
	}
	if (done) {
		if (how == O_TRUNC)
			clear(&model[which]);
		copy = text;
		put_all(&model[which], copy.bytes);
	}
	check_list(file, which, done ? "an accepted write" : "a refused one", &text);
	if (lists[which].kind == NAMES && roll(8) && say(file, "")) {
		clear(&model[which]);
		check_list(file, which, "an empty write", NULL);
	}
}

static void own_number(void)
{
	static const char *const names[] = { "follow_fork", "max_graph_depth", "tracing_thresh" };
	static const char *const values[] = {
		"0", "1", "2", "7", "255", "256", "-1", "x", "1000000", "99999999999", "", "1 2",
	};
	static struct text before, after, text;
	const char *name = one_of(names), *value = one_of(values);
	char file[80], *line;
	bool done;

	snprintf(file, sizeof(file), "instances/own%u/ferrotrace/%s", writer, name);
	if (!look(file, &before))
		wrong(file, "nothing", "it can't be read", NULL);
	start(&text);
	adds(&text, value);
	done = write_as(file, &text, O_TRUNC);
	/* With several writes, each is a number of its own. */
	if (pieces)
		return;
	look(file, &after);
	line = strchr(after.bytes, '\n');
	if (!done && strcmp(before.bytes, after.bytes))
		wrong(file, "a refused write", after.bytes, &text);
	/* After the first line, an accepted plain number reads as it was written. */
	if (done && *value && strspn(value, "0123456789") == strlen(value) && line &&
	    strncmp(name, "tracing_thresh", 14) && strncmp(line + 1, value, strlen(value)))
		wrong(file, "an accepted write", after.bytes, &text);
}

/* Selects a trace array, which may not exist. */
static const char *array(void)
{
	static char name[80];
	uint32_t n = roll(SHARED + 3);

	if (n < SHARED)
		snprintf(name, sizeof(name), "instances/shared%u", n);
	else if (n == SHARED)
		snprintf(name, sizeof(name), "instances/own%u", writer);
	else
		return ".";
	return name;
}

static void shared_list(void)
{
	static struct text text;
	size_t which = some_list();
	char file[160];
	const char *where = array();

	/* There is a model of this writer's own instance. */
	if (strstr(where, "own"))
		return own_list();
	snprintf(file, sizeof(file), "%s/ferrotrace/%s", where, lists[which].name);
	make_list(&text, lists[which].kind);
	if (roll(20))
		write_as(file, &text, roll(2) ? O_TRUNC : O_APPEND);
	else
		write_as(file, &text, 0);
	if (lists[which].kind == NAMES && roll(20))
		say(file, "");
}

static void option(void)
{
	static const char *const names[] = {
		"ferro-args", "ferro-stacktrace", "ferro-graph", "ferro-offcpu",
		"ferro-profile", "ferro-profile-paths", "ferro-retval", "ferro-retaddr",
		"ferro-irqs", "ferro-compact", "ferro-latency", "ferro-irq-time", "ferro-proc",
		"ferro-abstime", "ferro-tail", "ferro-max-stack", "overwrite", "latency-format",
		/* Not record-tgid: see docs/limitations.md. */
	};
	static const char *const values[] = { "0", "1", "0", "1", "2", "x", "" };
	char file[160];

	snprintf(file, sizeof(file), "%s/options/%s", array(), one_of(names));
	say(file, one_of(values));
}

static void kernel_file(void)
{
	static const char *const writes[][2] = {
		{ "trace_clock", "local" }, { "trace_clock", "global" }, { "trace_clock", "mono" },
		{ "trace_clock", "counter" }, { "trace_clock", "nonsense" },
		{ "buffer_size_kb", "64" }, { "buffer_size_kb", "16" }, { "buffer_size_kb", "300" },
		{ "tracing_on", "0" }, { "tracing_on", "1" }, { "tracing_on", "1" },
		{ "tracing_cpumask", "1" }, { "tracing_cpumask", "3" },
		{ "set_event_pid", "1 2 3" }, { "set_event_pid", "" },
		{ "set_ftrace_pid", "1" }, { "set_ftrace_pid", "" },
		{ "set_ftrace_filter", "vfs_read" }, { "set_ftrace_filter", "vfs_read vfs_write" },
		{ "set_ftrace_filter", "vfs_*e" }, { "set_graph_function", "vfs_read" },
		{ "set_graph_function", "" },
		{ "max_graph_depth", "2" }, { "max_graph_depth", "0" },
		{ "tracing_thresh", "10" }, { "tracing_thresh", "0" }, { "trace", "" },
		{ "snapshot", "0" }, { "snapshot", "1" }, { "trace_marker", "a mark\n" },
		{ "events/sched/enable", "0" }, { "events/sched/sched_switch/enable", "1" },
		{ "ferrotrace/profile", "" }, { "ferrotrace/profile_folded", "" },
		{ "ferrotrace/latency", "" }, { "ferrotrace/max_stack", "" },
		{ "ferrotrace/stats", "1" },
		{ "ferrotrace/triggers", "after 1ms do snapshot after 1us, stop\n" },
		{ "ferrotrace/triggers", "block if pid == 1 && block > 1us do start\n" },
		{ "ferrotrace/triggers", "exit vfs_read do stacktrace:9\nafter 1 do stop\n" },
		{ "ferrotrace/triggers", "irqs-off if total > 9us do stacktrace\n" },
		{ "ferrotrace/triggers", "preempt-off do start:9\n" },
		{ "ferrotrace/triggers", "" }, { "ferrotrace/triggers", "" },
	};
	size_t n = roll(LENGTH(writes));
	char file[160];

	snprintf(file, sizeof(file), "%s/%s", array(), writes[n][0]);
	if (noclock && !strcmp(writes[n][0], "trace_clock"))
		return;
	say(file, writes[n][1]);
}

static void event(void)
{
	static const char *const events[] = {
		"task_run", "task_wait", "task_block", "task_wakeup", "task_migrate", "task_fork",
		"task_exec", "task_set_comm", "task_exit", "task_section", "task_chain",
		"task_wait_behind", "task_work", "trigger",
	};
	static const char *const writes[][2] = {
		{ "enable", "1" }, { "enable", "0" }, { "enable", "x" }, { "filter", "pid > 5" },
		{ "filter", "0" }, { "filter", "comm == \"fuzz\" || prio < 3" }, { "filter", "((" },
		{ "filter", "nonsense == 1" },
		{ "trigger", "stacktrace" }, { "trigger", "!stacktrace" },
		{ "trigger", "traceoff:1" }, { "trigger", "!traceoff" },
		{ "trigger", "hist:keys=pid" },
		{ "trigger", "!hist:keys=pid" }, { "trigger", "hist:keys=comm:vals=run_ns" },
		{ "trigger", "!hist:keys=comm:vals=run_ns" }, { "trigger", "snapshot:1" },
		{ "trigger", "!snapshot" }, { "trigger", "junk:x if y" },
	};
	size_t n = roll(LENGTH(writes));
	char file[200];

	snprintf(file, sizeof(file), "%s/events/ferrotrace/%s/%s", array(), one_of(events),
		 writes[n][0]);
	say(file, writes[n][1]);
}

static void tracer(void)
{
	static const char *const names[] = {
		"ferrotrace", "nop", "ferrotrace", "function", "function_graph", "ferro", "blk",
	};
	char file[160];

	snprintf(file, sizeof(file), "%s/current_tracer", array());
	say(file, one_of(names));
}

static void instance(void)
{
	char name[80], file[160];

	snprintf(name, sizeof(name), "instances/shared%u", roll(SHARED));
	if (roll(2) ? mkdir(name, 0755) : rmdir(name)) {
		refused++;
		return;
	}
	accepted++;
	/* Limits the functions, in case a writer selects a tracer there. */
	snprintf(file, sizeof(file), "%s/set_ftrace_filter", name);
	say(file, "vfs_read");
}

static void reading(void)
{
	static const char *const names[] = {
		"trace", "trace_pipe", "ferrotrace/stats", "ferrotrace/profile",
		"ferrotrace/profile_folded", "ferrotrace/latency", "ferrotrace/max_stack",
		"ferrotrace/set_pid", "ferrotrace/set_comm",
		"per_cpu/cpu0/trace_pipe_raw", "per_cpu/cpu1/stats",
		"options/ferro-graph", "events/ferrotrace/task_run/hist", "snapshot",
	};
	static struct text text;
	char file[160];
	pid_t child;
	int fd;

	snprintf(file, sizeof(file), "%s/%s", array(), one_of(names));
	if (roll(20)) {
		if (look(file, &text))
			accepted++;
		else
			refused++;
		return;
	}
	/* A reader that reads until it is killed. */
	child = fork();
	if (!child) {
		fd = open(file, O_RDONLY);
		while (read(fd, text.bytes, sizeof(text.bytes)) > 0)
			;
		_exit(0);
	}
	usleep(roll(20000));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void run(unsigned int operations)
{
	static void (*const all[])(void) = {
		own_list, own_list, own_list, own_number, shared_list, shared_list, option, option,
		kernel_file, kernel_file, event, event, reading, reading, tracer, instance,
	};
	char file[160];
	size_t i;

	state = seed * 0x9e3779b97f4a7c15 + writer + 1;
	for (i = 0; i < 8; i++)
		roll(2);
	snprintf(file, sizeof(file), "instances/own%u", writer);
	if (mkdir(file, 0755))
		wrong(file, "mkdir", strerror(errno), NULL);
	snprintf(file, sizeof(file), "instances/own%u/set_ftrace_filter", writer);
	say(file, "vfs_write");
	for (number = 1; number <= operations; number++) {
		/* Operations that change the tracer or instances take long: do fewer of them. */
		i = roll(LENGTH(all));
		if ((all[i] == tracer || all[i] == instance) && roll(8))
			i = 0;
		all[i]();
	}
	for (i = 0; i < LENGTH(lists); i++) {
		snprintf(file, sizeof(file), "instances/own%u/ferrotrace/%s", writer,
			 lists[i].name);
		check_list(file, i, "all of it", NULL);
	}
}

int main(int argc, char **argv)
{
	unsigned int *totals, operations, writers;
	int status, bad = 0;

	noclock = argc == 5 && !strcmp(argv[4], "noclock");
	if (argc != (noclock ? 5 : 4))
		return 2;
	seed = strtoull(argv[1], NULL, 0);
	operations = atoi(argv[2]);
	writers = atoi(argv[3]);
	totals = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (totals == MAP_FAILED || !writers)
		return 2;
	for (writer = 0; writer < writers; writer++) {
		if (!fork()) {
			run(operations / writers);
			__atomic_fetch_add(&totals[0], accepted, __ATOMIC_RELAXED);
			__atomic_fetch_add(&totals[1], refused, __ATOMIC_RELAXED);
			return 0;
		}
	}
	while (wait(&status) > 0)
		bad |= status;
	printf("%u accepted, %u refused\n", totals[0], totals[1]);
	return bad ? 1 : 0;
}
