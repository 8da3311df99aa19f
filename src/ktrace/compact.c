// SPDX-License-Identifier: GPL-2.0
/*
 * What compact records are made with, besides the shortest way (compact.h).
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/types.h>

#ifdef CONFIG_ARM64
#include <asm/arch_timer.h>
#endif

#include "compact.h"
#include "shim.h"

size_t ktrace_pack_size(void)
{
	return sizeof(struct ktrace_pack);
}

#ifdef CONFIG_ARM64
/* Whether some CPU's counter cannot be read as it is: the kernel's clock knows how. */
static bool ktrace_counter_has_errata(void)
{
#ifdef CONFIG_ARM_ARCH_TIMER_OOL_WORKAROUND
	const struct arch_timer_erratum_workaround *workaround;
	int cpu;

	for_each_possible_cpu(cpu) {
		workaround = per_cpu(timer_unstable_counter_workaround, cpu);
		if (workaround && workaround->read_cntvct_el0)
			return true;
	}
#endif
	return false;
}
#endif

/* How many ns a count of it is, times 2^22; 0 if it is of no use. */
u32 ktrace_counter_mult(void)
{
#ifdef CONFIG_X86
	if (check_tsc_unstable() || !tsc_khz)
		return 0;
	return div_u64(1000000ULL << 22, tsc_khz);
#else
	u32 rate = read_sysreg(cntfrq_el0);

	/* It is the firmware's to say how fast it counts, and some has not. */
	if (!rate || ktrace_counter_has_errata())
		return 0;
	return div_u64(1000000000ULL << 22, rate);
#endif
}

u64 ktrace_raw_context(u64 *flags)
{
	*flags = ktrace_raw_flags();
	return ktrace_raw_preempt();
}
