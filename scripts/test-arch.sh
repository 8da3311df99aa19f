#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: ARCH=... KERNEL=... [T=...] [FIRST=...] test-arch.sh
#
# The tests of one architecture: those without a guest, and those that run in guests, tests/cases, tests/clients,
# tests/lockdown and tests/oops; or those of the latter, tests/upstream, tests/soak and tests/rounds, that T selects, see test.sh. What one architecture is enough for is
# tested on FIRST, if several are tested at once. With SHARE=N/TOTAL, a share of tests/cases (guest-tests.sh), and of the
# other boots all with the first. Closes with one line, `N passed, N failed, N skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=scripts/parts.sh
. "$(dirname -- "$0")/parts.sh"

# A kernel that looks for mistakes has nothing to add to these: its checkers' code is not looked at, and it is slow.
if [ -z "${T:-}" ] && ! contains "$checked" "$KERNEL"; then
	part "$top/scripts/nop-test.sh" "$ARCH" "$KERNEL"
	# Times to the microsecond, for which the host must not matter.
	part env ICOUNT=1 SMP=1 "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL" events/sums events/ending graph/followed
	if [ "$ARCH" = "${FIRST:-$ARCH}" ]; then
		part "$top/scripts/compile-fail.sh" "$ARCH" "$KERNEL"
		part "$top/scripts/selftest.sh"
	fi
fi

# The words of T are patterns for the guest.
set -f
case ${T:-} in
lockdown | oops | clients | upstream | soak | rounds) ;;
*)
	# shellcheck disable=SC2086 # words are meant
	part "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL" ${T:-} ;;
esac
# The kernel's own tests take so long that they have to be asked for.
boots=${T:-clients lockdown oops}
case ${SHARE:-1/1} in
1/*) ;;
*) boots= ;;
esac
unset SHARE
for boot in $boots; do
	case $boot in
	clients | lockdown | oops) part env CASES="$boot" "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL" ;;
	soak) part env CASES=soak TIMEOUT=$((${MINUTES:-30} * 120 + 1200)) "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL" ;;
	rounds) part env CASES=rounds SMP=4 TIMEOUT=$((${ROUNDS:-1000} * 10 + 1200)) "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL" ;;
	upstream) part env CASES=upstream TIMEOUT=14400 "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL" ;;
	esac
done
close_parts
