#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: ARCH=... KERNEL=... [PERCENT=...] [VARIABLE=...] test-lane.sh
#
# Builds the module for one kernel, and the kernel if that is missing, and runs its tests
# (test-arch.sh). With PERCENT, no case begins after this part of the time that is left until
# DEADLINE. Closes with one line, `N passed, N failed, N skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

KTRACE_TESTS=1 "$top/scripts/build.sh"
if [ -n "${PERCENT:-}" ]; then
	now=$(date +%s)
	DEADLINE=$((now + (DEADLINE - now) * PERCENT / 100))
	export DEADLINE
else
	unset DEADLINE
fi
exec "$top/scripts/test-arch.sh"
