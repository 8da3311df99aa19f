#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [VARIABLE=...] test.sh
#
# Runs all tests: those of the host, of the viewers of recordings, of the test runner, the limits of
# costs, and those in a guest, for KERNEL on ARCH, or on both architectures at the same time.
# KERNEL=debug selects the two debug kernels. T selects some of the tests in the guest by patterns,
# and leaves out the others; T=lockdown, T=oops, T=reboot, T=clients and T=record select the tests
# under lockdown, during kernel oopses, across a reboot, with trace-cmd, perf and bpftrace, and of
# the command, each of which needs a boot of its own. VIEWERS=0 leaves out the tests of viewers,
# which run with KERNEL=debian only, because they do not depend on the kernel.
# With RETRY=1, a case that failed is run again twice, and counts as passed if it passes both times.
# BRIEF=1 reduces repetitions that wait for a rare fault to a tenth, and runs some tests that take
# many minutes on one architecture only. The last line of output is `N passed, N failed, N skipped`.

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
	if [ "$KERNEL" = debian ]; then
		[ "${VIEWERS:-1}" = 0 ] || part env -u ARCH "$top/scripts/viewers-test.sh"
		# The limits of costs apply to one kernel.
		part "$top/scripts/bench.sh" check
	fi
fi
# In shares: one of the two kernels takes 1.5 times as long as the other.
if [ "$KERNEL" = debug ]; then
	for arch in ${ARCH:-x86_64 arm64}; do
		export ARCH="$arch"
		if [ -n "${T:-}" ]; then
			parts_at_once "$top/scripts/test-arch.sh" KERNEL=memory KERNEL=lockdep
		else
			parts_at_once "$top/scripts/test-arch.sh" \
				'KERNEL=memory SHARE=1/2' 'KERNEL=memory SHARE=2/2' \
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
