#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: ARCH=... KERNEL=... [T=...] [FIRST=...] [LANES=record] test-arch.sh
#
# Runs the tests of one architecture: those without a guest, and those in guests: tests/cases,
# tests/clients, tests/lockdown, tests/oops, tests/record and tests/reboot. T selects some of those
# in guests, or tests/upstream, tests/soak or tests/rounds, see test.sh. Tests for which one
# architecture is enough run on FIRST only, if several architectures are tested at the same time.
# With LANES=record, tests/record does not run on FIRST: the caller decides whether it runs there,
# with T=record. SHARE=N/TOTAL runs a share of tests/cases (guest-tests.sh) and of the rest;
# ALSO=PATTERN,... also runs what the patterns select. The last line of output is `N passed, N
# failed, N skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=scripts/parts.sh
. "$(dirname -- "$0")/parts.sh"

share=${SHARE:-1/1} pieces=0
also=$(echo "${ALSO:-}" | tr , ' ')

# in_share PIECE: succeeds if the piece is part of this share. Each piece other than tests/cases is
# part of one share, by their order, and of each share whose ALSO names it.
in_share() {
	pieces=$((pieces + 1))
	[ $((pieces % ${share#*/})) = $((${share%/*} % ${share#*/})) ] || contains "$also" "$1"
}

# once COMMAND...: runs one part that has no shares.
once() {
	part env -u SHARE -u ALSO "$@"
}

# A debug kernel adds nothing to these tests: the code for its checks is not of interest, and it is
# slow.
if [ -z "${T:-}" ] && ! contains "$checked" "$KERNEL"; then
	! in_share nop || once "$top/scripts/nop-test.sh" "$ARCH" "$KERNEL"
	# Times to the microsecond, independent of the host.
	! in_share icount ||
		once ICOUNT=1 SMP=1 "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL" \
			events/schedstat-match events/enable-during-exit graph/followed
	if [ "$ARCH" = "${FIRST:-$ARCH}" ]; then
		! in_share compile-fail || once "$top/scripts/compile-fail.sh" "$ARCH" "$KERNEL"
		! in_share selftest || once "$top/scripts/selftest.sh"
	fi
fi

# run_cases: runs the cases of tests/cases.
run_cases() {
	# The words of T are patterns for the guest.
	set -f
	# shellcheck disable=SC2086 # words are meant
	part "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL" ${T:-}
}

# boot DIRECTORY [VARIABLE...]: runs the cases of another directory, in a boot of their own.
boot() {
	folder=$1
	shift
	once CASES="$folder" "$@" "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL"
}

# run_boots: runs the other boots of this share. The kernel's own tests take long and run only on
# request.
run_boots() {
	for name in clients lockdown oops; do
		! in_share $name || boot $name
	done
	if ! contains "$checked" "$KERNEL" &&
		{ [ "${LANES:-}" != record ] || [ "$ARCH" != "${FIRST:-$ARCH}" ]; }; then
		! in_share record || boot record
	fi
	# The result of a reboot depends neither on the kernel's checks nor on the architecture.
	if ! contains "$checked" "$KERNEL" && [ "$ARCH" = "${FIRST:-$ARCH}" ]; then
		! in_share reboot || boot reboot
	fi
}

case ${T:-} in
lockdown | oops | reboot | clients | record) boot "$T" ;;
soak) boot soak TIMEOUT=$((${MINUTES:-30} * 120 + 1200)) ;;
rounds) boot rounds SMP=4 TIMEOUT=$((${ROUNDS:-1000} * 10 + 1200)) ;;
upstream) boot upstream TIMEOUT=14400 ;;
'')
	# With a deadline, run short tests first.
	[ -z "${DEADLINE:-}" ] || run_boots
	run_cases
	[ -n "${DEADLINE:-}" ] || run_boots ;;
*) run_cases ;;
esac
close_parts
