#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [VARIABLE=...] test.sh
#
# All tests: those of the host, those of the runner itself, limits of costs, and those in a guest, for
# KERNEL on ARCH, or on both architectures, at once; KERNEL=debug is the two that look for mistakes. T, patterns, selects some of those in the guest and
# leaves out the rest; T=lockdown, T=oops, T=reboot and T=clients are those under lockdown, while the kernel oopses, across a reboot, and those of trace-cmd,
# perf and bpftrace, which have boots of their own. RETRY=1 runs a case that failed twice more, and lets it pass if
# it does both times. BRIEF=1 does a tenth of what is done often for a rare fault to show, and on one
# architecture what takes many minutes. Closes with one line, `N passed, N failed, N skipped`, over all.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=scripts/parts.sh
. "$(dirname -- "$0")/parts.sh"

export KERNEL="${KERNEL:-debian}"
kernels=$KERNEL
[ "$KERNEL" != debug ] || kernels=$checked
for kernel in $kernels; do
	for arch in ${ARCH:-x86_64 arm64}; do
		KERNEL=$kernel ARCH=$arch KTRACE_TESTS=1 "$top/scripts/build.sh"
	done
done

if [ -z "${T:-}" ]; then
	part "$top/scripts/host-test.sh"
	[ "$kernels" != "$KERNEL" ] || part env -u ARCH "$top/scripts/tools-test.sh"
	# Limits of costs are those on one kernel.
	[ "$KERNEL" != debian ] || part "$top/scripts/bench.sh" check
fi
# In shares: one of the two kernels takes half as long again as the other.
if [ "$KERNEL" = debug ]; then
	for arch in ${ARCH:-x86_64 arm64}; do
		export ARCH="$arch"
		if [ -n "${T:-}" ]; then
			parts_at_once "$top/scripts/test-arch.sh" KERNEL=memory KERNEL=lockdep
		else
			parts_at_once "$top/scripts/test-arch.sh" 'KERNEL=memory SHARE=1/2' 'KERNEL=memory SHARE=2/2' \
				'KERNEL=lockdep SHARE=1/2' 'KERNEL=lockdep SHARE=2/2'
		fi
	done
elif [ -n "${ARCH:-}" ]; then
	part "$top/scripts/test-arch.sh"
else
	FIRST=x86_64 parts_at_once "$top/scripts/test-arch.sh" ARCH=x86_64 ARCH=arm64
fi
recall_failures
close_parts
