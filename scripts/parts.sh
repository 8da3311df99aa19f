# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For scripts that run tests in parts, each of which closes with a line `N passed, N failed, N skipped`,
# and close with such a line over all of them. After lib.sh.

part_out=$(mktemp "${TMPDIR:-/tmp}/ferrotrace.XXXXXX")
trap 'rm -f "$part_out" "$part_out.2" "$part_out.failures"' EXIT
trap 'kill ${!:-} 2>/dev/null; exit 130' INT
trap 'kill ${!:-} 2>/dev/null; exit 143' TERM
passed=0 failed=0 skipped=0

# part COMMAND...: one part, whose own closing line is counted.
part() {
	part_start=$(date +%s)
	"$@" | tee "$part_out"
	part_seconds=$(($(date +%s) - part_start))
	[ $part_seconds -lt 20 ] || echo "# $((part_seconds / 60)) min $((part_seconds % 60)) s for $*" |
		sed 's, /[^ ]*/scripts/, scripts/,'
	part_counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
		"$part_out" | tail -n 1)
	# What ends without its closing line has failed, whatever it was about to say.
	read -r part_passed part_failed part_skipped <<-EOF2
		${part_counts:-0 1 0}
	EOF2
	passed=$((passed + part_passed)) failed=$((failed + part_failed))
	skipped=$((skipped + part_skipped))
	[ -n "$part_counts" ] || echo "no closing line: $*" >>"$part_out.failures"
	awk '
		/^(not ok|guest status|the kernel complained|[0-9]+ result\(s\) missing)/ { lines = 20 }
		/^(ok|KTAP version) / || / passed, [0-9]+ failed, / { lines = 0 }
		lines-- > 0' "$part_out" >>"$part_out.failures"
}

# two_parts VARIABLE ONE OTHER COMMAND...: two parts at once, which differ in a variable. For what uses one
# processor of the machine and takes long.
two_parts() {
	part_variable=$1 part_one=$2 part_other=$3
	shift 3
	env "$part_variable=$part_other" "$@" >"$part_out.2" 2>&1 &
	part env "$part_variable=$part_one" "$@"
	wait $! || :
	part cat "$part_out.2"
}

# recall_failures: what failed, once more, where it is seen, at the end of a long output.
recall_failures() {
	[ ! -s "$part_out.failures" ] || sed '1i == what failed:' "$part_out.failures"
}

# close_parts: the closing line; false if anything failed.
close_parts() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}
