#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [VARIABLE=...] test.sh
#
# All tests: those of the host, those of the runner itself, limits of costs, and those in a guest, for
# KERNEL on ARCH, or on both architectures, at once; KERNEL=debug is the two that look for mistakes. T, patterns, selects some of those in the guest and
# leaves out the rest; T=lockdown, T=oops and T=clients are those under lockdown, while the kernel oopses, and those of trace-cmd,
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
if [ "$KERNEL" = debug ]; then
	for arch in ${ARCH:-x86_64 arm64}; do
		export ARCH="$arch"
		# shellcheck disable=SC2086 # words are meant
		two_parts KERNEL $kernels "$top/scripts/test-arch.sh"
	done
elif [ -n "${ARCH:-}" ]; then
	part "$top/scripts/test-arch.sh"
else
	FIRST=x86_64 two_parts ARCH x86_64 arm64 "$top/scripts/test-arch.sh"
fi
recall_failures
close_parts
