// SPDX-License-Identifier: GPL-2.0
/* Whether the CPU's counter can be used as a clock, for Rust (counter.rs). */
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/types.h>

#ifdef CONFIG_X86
#include <asm/tsc.h>
#else
#include <asm/arch_timer.h>
#include <asm/sysreg.h>
#endif

#include "../helpers.h"

#ifdef CONFIG_ARM64
/* Returns whether the counter of some CPU needs a workaround, which the kernel's clock applies. */
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

/* Returns the length of a counter tick in ns, times 2^22; 0 if the counter is not usable. */
u32 ktrace_counter_mult(void)
{
#ifdef CONFIG_X86
	if (check_tsc_unstable() || !tsc_khz)
		return 0;
	return div_u64(1000000ULL << 22, tsc_khz);
#else
	u32 rate = read_sysreg(cntfrq_el0);

	/* The firmware has to set the rate of the counter, and some firmware does not. */
	if (!rate || ktrace_counter_has_errata())
		return 0;
	return div_u64(1000000000ULL << 22, rate);
#endif
}
