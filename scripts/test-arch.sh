#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: ARCH=... KERNEL=... [T=...] [FIRST=...] test-arch.sh
#
# The tests of one architecture: those without a guest, and those that run in guests, tests/cases, tests/clients,
# tests/lockdown, tests/oops and tests/reboot; or those of the latter, tests/upstream, tests/soak and tests/rounds, that T selects, see test.sh. What one architecture is enough for is
# tested on FIRST, if several are tested at once. With SHARE=N/TOTAL, it runs a share of tests/cases
# (guest-tests.sh) and of the rest; with ALSO=PATTERN,... also what the patterns name.
# Closes with one line, `N passed, N failed, N skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=scripts/parts.sh
. "$(dirname -- "$0")/parts.sh"

share=${SHARE:-1/1} pieces=0
also=$(echo "${ALSO:-}" | tr , ' ')

# in_share PIECE: whether it is part of this share. Each piece but tests/cases is part of the one
# share that follows from their order, and of each whose ALSO names it.
in_share() {
	pieces=$((pieces + 1))
	[ $((pieces % ${share#*/})) = $((${share%/*} % ${share#*/})) ] || contains "$also" "$1"
}

# once COMMAND...: one part, which has no shares of its own.
once() {
	part env -u SHARE -u ALSO "$@"
}

# A kernel that looks for mistakes has nothing to add to these: its checkers' code is not looked at, and it is slow.
if [ -z "${T:-}" ] && ! contains "$checked" "$KERNEL"; then
	! in_share nop || once "$top/scripts/nop-test.sh" "$ARCH" "$KERNEL"
	# Times to the microsecond, for which the host must not matter.
	! in_share icount ||
		once ICOUNT=1 SMP=1 "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL" events/sums \
			events/ending graph/followed
	if [ "$ARCH" = "${FIRST:-$ARCH}" ]; then
		! in_share compile-fail || once "$top/scripts/compile-fail.sh" "$ARCH" "$KERNEL"
		! in_share selftest || once "$top/scripts/selftest.sh"
	fi
fi

# run_cases: those of tests/cases.
run_cases() {
	# The words of T are patterns for the guest.
	set -f
	# shellcheck disable=SC2086 # words are meant
	part "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL" ${T:-}
}

# boot FOLDER [VARIABLE...]: the cases of another folder, in a boot of their own.
boot() {
	folder=$1
	shift
	once CASES="$folder" "$@" "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL"
}

# run_boots: the boots of each share. The kernel's own tests take so long that they have to be asked for.
run_boots() {
	for name in clients lockdown oops; do
		! in_share $name || boot $name
	done
	# What a reboot leaves does not depend on the kernel's checks, and is the same on each architecture.
	if ! contains "$checked" "$KERNEL" && [ "$ARCH" = "${FIRST:-$ARCH}" ]; then
		! in_share reboot || boot reboot
	fi
}

case ${T:-} in
lockdown | oops | reboot | clients) boot "$T" ;;
soak) boot soak TIMEOUT=$((${MINUTES:-30} * 120 + 1200)) ;;
rounds) boot rounds SMP=4 TIMEOUT=$((${ROUNDS:-1000} * 10 + 1200)) ;;
upstream) boot upstream TIMEOUT=14400 ;;
'')
	# Where time may run out, what is short comes first.
	[ -z "${DEADLINE:-}" ] || run_boots
	run_cases
	[ -n "${DEADLINE:-}" ] || run_boots ;;
*) run_cases ;;
esac
close_parts
