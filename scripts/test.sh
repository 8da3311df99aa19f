#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [VARIABLE=...] test.sh
#
# All tests: those of the host, those of the runner itself, limits of costs, and those in a guest, for
# KERNEL on ARCH, or on both architectures. T, patterns, selects some of those in the guest and leaves out
# the rest; T=lockdown and T=clients are those under lockdown and those of trace-cmd, perf and
# bpftrace, which have boots of their own. Closes with one line, `N passed, N failed, N skipped`,
# over all.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

# part COMMAND...: one part, whose own closing line is counted.
out=$(mktemp "${TMPDIR:-/tmp}/ferrotrace.XXXXXX")
trap 'rm -f "$out" "$out.2"' EXIT
trap 'kill ${!:-} 2>/dev/null; exit 130' INT
trap 'kill ${!:-} 2>/dev/null; exit 143' TERM
passed=0 failed=0 skipped=0
part() {
	"$@" | tee "$out"
	counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
		"$out" | tail -n 1)
	# What ends without its closing line has failed, whatever it was about to say.
	# shellcheck disable=SC2086 # words are meant
	add ${counts:-0 1 0}
}

# halves COMMAND...: the cases in two guests at once, each with half of them. For guests that use one
# processor of the machine and take long.
halves() {
	SHARE=2/2 "$@" >"$out.2" 2>&1 &
	part env SHARE=1/2 "$@"
	wait $! || :
	part cat "$out.2"
}

add() {
	passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

kernel=${KERNEL:-debian}
for arch in ${ARCH:-x86_64 arm64}; do
	ARCH=$arch KERNEL=$kernel KTRACE_TESTS=1 "$top/scripts/build.sh"
done

if [ -z "${T:-}" ]; then
	part "$top/scripts/host-test.sh"
	# Of the kernel it only wants that it boots, and a slow one teaches nothing more.
	[ "$kernel" = debug ] || part "$top/scripts/selftest.sh"
	# Nor does the code that its checkers add.
	for arch in ${ARCH:-x86_64 arm64}; do
		[ "$kernel" = debug ] || part "$top/scripts/nop-test.sh" "$arch" "$kernel"
	done
	[ "$kernel" = debug ] || part "$top/scripts/compile-fail.sh" "${ARCH:-x86_64}" "$kernel"
	# Times to the microsecond, for which the host must not matter.
	for arch in ${ARCH:-x86_64 arm64}; do
		[ "$kernel" = debug ] ||
			part env ICOUNT=1 SMP=1 "$top/scripts/guest-tests.sh" "$arch" "$kernel" \
				events/sums graph/followed
	done
	# Limits of costs are those on one kernel.
	[ "$kernel" != debian ] || part "$top/scripts/bench.sh" check
fi
# The words of T are patterns for the guest.
set -f
for arch in ${ARCH:-x86_64 arm64}; do
	case ${T:-} in
	lockdown | clients) ;;
	*)
		how=part
		[ "$kernel-$arch${T:-}" != debug-x86_64 ] || how=halves
		# shellcheck disable=SC2086 # words are meant
		$how "$top/scripts/guest-tests.sh" "$arch" "$kernel" ${T:-} ;;
	esac
	for boot in clients lockdown; do
		case ${T:-$boot} in
		"$boot")
			part env CASES=$boot "$top/scripts/guest-tests.sh" "$arch" "$kernel" ;;
		esac
	done
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
