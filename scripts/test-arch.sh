#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: ARCH=... KERNEL=... [T=...] test-arch.sh
#
# The tests that run in guests of one architecture: tests/cases, tests/clients and tests/lockdown, or
# those of them that T selects, see test.sh. Closes with one line, `N passed, N failed, N skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=scripts/parts.sh
. "$(dirname -- "$0")/parts.sh"

# guests PATTERN...: the cases, those of a whole debug kernel in two guests, for they take long.
guests() {
	if [ "$KERNEL$#" = debug0 ]; then
		two_parts SHARE 1/2 2/2 "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL"
	else
		part "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL" "$@"
	fi
}

# The words of T are patterns for the guest.
set -f
case ${T:-} in
lockdown | clients) ;;
*)
	# shellcheck disable=SC2086 # words are meant
	guests ${T:-} ;;
esac
for boot in clients lockdown; do
	case ${T:-$boot} in
	"$boot") part env CASES=$boot "$top/scripts/guest-tests.sh" "$ARCH" "$KERNEL" ;;
	esac
done
close_parts
