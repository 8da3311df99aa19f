#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: selftest.sh
#
# Tests the test runner itself: it must report cases that fail, hang, cannot be resolved, lack
# something, make the kernel warn, or crash the guest.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

out=$(mktemp "${TMPDIR:-/tmp}/ferrotrace.XXXXXX")
trap 'rm -f "$out"' EXIT

# Ignore the settings of the other tests.
export RETRY=0 DEADLINE='' SHARE='' ALSO=''
passed=0 failed=0
# expect STATUS PATTERN LINE...: runs these cases, and checks the exit status and the output.
expect() {
	wanted=$1 pattern=$2
	shift 2
	status=0
	CASES=selftest TIMEOUT=600 "$top/scripts/guest-tests.sh" "${ARCH:-x86_64}" \
		"${KERNEL:-debian}" \
		"$pattern" >"$out" 2>&1 || status=$?
	good=1
	if [ $status != "$wanted" ]; then
		echo "runner: status $status instead of $wanted"
		good=0
	fi
	for line; do
		grep -Eq "$line" "$out" || {
			echo "runner: nothing said '$line'"
			good=0
		}
	done
	if [ $good = 1 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		sed 's/^/# /' "$out"
	fi
}

echo '# the test runner itself'
expect 0 outcomes/pass '^ok 1 outcomes/pass # .* \([0-9]+\.[0-9] s\)$' \
	'^1 passed, 0 failed, 0 skipped$'
DEADLINE=1
expect 0 outcomes/fail '^ok 1 selftest # SKIP no time left' '^0 passed, 0 failed, 1 skipped$'
# The case that hangs takes longer than this.
DEADLINE=$(($(date +%s) + 2))
expect 1 'outcomes/[hu]*' '^not ok 1 outcomes/hang' \
	'^ok 2 outcomes/unresolved # SKIP no time left' \
	'^0 passed, 1 failed, 2 skipped$'
DEADLINE=
expect 1 'outcomes/*' '^not ok . outcomes/fail' '^# the reason' \
	'^not ok . outcomes/hang # TIMEOUT' \
	'^not ok . outcomes/unresolved # UNRESOLVED' \
	'^not ok . outcomes/unsupported # UNSUPPORTED' \
	'^ok . outcomes/skipped # SKIP' '^ok . outcomes/cpus # SKIP only on 1000 CPUs' \
	'WARNING: made up by a test' \
	'^2 passed, 5 failed, 2 skipped$'
expect 1 'again/*' '^not ok . again/once' '^# FAIL: not yet' '^not ok . again/often' \
	'^# status 1 after: .* 1 \]' \
	'^0 passed, 2 failed, 0 skipped$'
RETRY=1
expect 1 'again/*' '^ok . again/once' '^# again/once failed once, then passed twice' \
	'^# FAIL: not yet' \
	'^not ok . again/often' '^1 passed, 1 failed, 0 skipped$'
RETRY=0
# Each share has one of two cases.
SHARE=2/2
expect 1 'again/*' '^not ok 1 again/once' '^0 passed, 1 failed, 0 skipped$'
SHARE=1/2
expect 1 'again/*' '^not ok 1 again/often' '^0 passed, 1 failed, 0 skipped$'
# The first of three cases, one that is named, and one that matches a pattern.
SHARE=1/3 ALSO='outcomes/skipped,outcomes/p*'
expect 0 'outcomes/[cps]*' '^ok 1 outcomes/skipped ' '^ok 2 outcomes/cpus ' '^ok 3 outcomes/pass ' \
	'^1 passed, 0 failed, 2 skipped$'
SHARE='' ALSO=''
expect 1 'death/*' '1 result.s. missing' 'guest status 125' 'Kernel panic' \
	'^0 passed, 3 failed, 0 skipped$'
expect 1 no/such/case 'no case matches' '^0 passed, 2 failed, 0 skipped$'
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
