#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: ARCH=... KERNEL=... [PERCENT=...] [VARIABLE=...] test-lane.sh
#
# Builds the module for one kernel, and the kernel if it is missing, and runs its tests
# (test-arch.sh). With PERCENT, no case begins after this part of the time from the build of the
# module to DEADLINE; if the module is not built by DEADLINE, no case runs. The last line of output
# is `N passed, N failed, N skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

if [ -z "${PERCENT:-}" ]; then
	KTRACE_TESTS=1 "$top/scripts/build.sh"
	unset DEADLINE
	exec "$top/scripts/test-arch.sh"
fi
# The kernel may still be missing.
left=$((DEADLINE - $(date +%s)))
status=0
if [ $left -gt 0 ]; then
	KTRACE_TESTS=1 timeout $left "$top/scripts/build.sh" || status=$?
fi
now=$(date +%s)
if [ "$now" -ge "$DEADLINE" ]; then
	echo "ok 1 $KERNEL-$ARCH # SKIP no time left"
	echo '0 passed, 0 failed, 1 skipped'
	exit
fi
[ $status = 0 ] || exit $status
DEADLINE=$((now + (DEADLINE - now) * PERCENT / 100))
export DEADLINE
exec "$top/scripts/test-arch.sh"
