#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [BASE=COMMIT] [DEADLINE=SECONDS] [SUMMARY=FILE] test-change.sh
#
# Runs the tests that a change has to pass, in a limited time. On the stock kernel for x86_64, these
# are all tests, but those of the command `ferrotrace` (tests/record and tests/viewers) only if the
# change affects it. On the debug kernels (lockdep and memory, x86_64) and on the stock kernel for
# arm64, these are a share, which rotates with the number of commits, and the cases that the change
# affects (change.sh). There, tests that have not begun at DEADLINE, in seconds of date +%s, are
# skipped; cases that the change affects run first. The stock kernel for x86_64 has no deadline.
# Cases outside the shares are not counted. Writes to SUMMARY what the change affects, and what each
# kernel ran. The last line of output is `N passed, N failed, N skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=scripts/parts.sh
. "$(dirname -- "$0")/parts.sh"

# The number of changes until each case has run everywhere. It is a prime, so that changes with
# several commits do not always get the same share.
shares=5
"$top/scripts/change.sh" >"$part_out"
# shellcheck source=/dev/null
. "$part_out"
# shellcheck disable=SC2154 # from change.sh
also=${also:-} base=${base:-} number=${number:-0}

# share OFFSET: prints a share; each kernel gets a different one.
share() {
	echo "$(((number + $1) % shares + 1))/$shares"
}

if [ -n "${SUMMARY:-}" ]; then
	since=$(echo "$base" | cut -c1-12)
	echo "== the change${since:+ since $since} touches: ${also:-nothing that is known}" \
		>>"$SUMMARY"
fi
export RETRY=1 BRIEF=1 FIRST=x86_64 LANES=record
export DEADLINE="${DEADLINE:-$(($(date +%s) + 24 * 3600))}"

for arch in x86_64 arm64; do
	KERNEL=debian ARCH=$arch KTRACE_TESTS=1 "$top/scripts/build.sh"
done
part "$top/scripts/host-test.sh"
part env -u ARCH "$top/scripts/tools-test.sh"
# For both architectures at once, this takes no longer than for one.
part env -u ARCH KERNEL=debian "$top/scripts/bench.sh" check

# affects PIECE: succeeds if the change affects this piece.
affects() {
	contains "$(echo "$also" | tr , ' ')" "$1"
}

! affects viewers || part env -u ARCH "$top/scripts/viewers-test.sh"
record_lane=
! affects record || record_lane='KERNEL=debian ARCH=x86_64 T=record'

# Two at a time. The percentages of the remaining time are chosen so that the last three have two
# processors until the deadline.
part_also=${also:+ALSO=$also}
parts_at_once "$top/scripts/test-lane.sh" \
	"KERNEL=debian ARCH=x86_64 SHARE=1/2" \
	"KERNEL=debian ARCH=x86_64 SHARE=2/2" \
	${record_lane:+"$record_lane"} \
	"KERNEL=memory ARCH=x86_64 SHARE=$(share 0) PERCENT=100 $part_also" \
	"KERNEL=lockdep ARCH=x86_64 SHARE=$(share 1) PERCENT=60 $part_also" \
	"KERNEL=debian ARCH=arm64 SHARE=$(share 2) PERCENT=100 $part_also"
recall_failures
# The next change is compared with this commit.
if [ "$failed" = 0 ] && [ -z "$(git -C "$top" status --porcelain 2>&1)" ]; then
	git -C "$top" rev-parse HEAD >>"$cache/changes-passed"
fi
close_parts
