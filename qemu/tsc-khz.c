// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the frequency, in kHz, of the counter of this machine that QEMU presents to an emulated
 * guest as its TSC. Each reading of the counter is between two readings of the clock. Of many
 * attempts, the one with the shortest interval is used, so a loaded machine does not matter.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define TRIES 1000
#define BETWEEN_NS 200000000

struct sample {
	uint64_t ticks;
	int64_t ns;
};

static uint64_t read_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	asm volatile("mrs %0, cntvct_el0" : "=r" (ticks));
	return ticks;
#else
#error "QEMU has another counter on this architecture"
#endif
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static struct sample take_sample(void)
{
	struct sample best = { 0 };
	int64_t shortest = INT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		int64_t before = now_ns();
		uint64_t ticks = read_ticks();
		int64_t after = now_ns();

		if (after - before < shortest) {
			shortest = after - before;
			best.ticks = ticks;
			best.ns = before + shortest / 2;
		}
	}
	return best;
}

int main(void)
{
	const struct timespec between = { .tv_nsec = BETWEEN_NS };
	struct sample first = take_sample(), last;

	nanosleep(&between, NULL);
	last = take_sample();
	printf("%.0f\n", (last.ticks - first.ticks) * 1e6 / (last.ns - first.ns));
	return 0;
}
