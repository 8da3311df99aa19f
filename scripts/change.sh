#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [BASE=COMMIT] change.sh
#
# Decides which tests a change needs on kernels that run only a share of them, and prints three
# assignments:
#   number=N    a number that increases by one with each commit, for shares that rotate
#   base=COMMIT the commit that the change is compared with; empty if it is unknown
#   also=...    the test directories and cases that the change affects, in the format of ALSO of
#               guest-tests.sh
# The change is everything since BASE. Without BASE, this is the latest commit before HEAD that
# passed test-change.sh on this machine (the cache has a list); if there is none, the latest commit
# that is a day older than HEAD, or the oldest one. Uncommitted changes count. Works in any clone,
# also in a shallow one, and without git, where changes are not known.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
cd "$top"

# shallow: succeeds if the history is truncated, so that the number of commits is not known.
shallow() {
	[ "$(git rev-parse --is-shallow-repository)" = true ]
}

# passed_before: prints the latest commit before HEAD that is in the list.
passed_before() {
	[ -s "$cache/changes-passed" ] || return 0
	git rev-list HEAD | tail -n +2 | grep -Fxm 1 -f "$cache/changes-passed" || :
}

# day_before: prints the latest commit that is a day older than HEAD, or the oldest one.
day_before() {
	time=$(git log -1 --format=%ct)
	found=$(git rev-list -1 --before=$((time - 86400)) HEAD)
	[ -n "$found" ] || found=$(git rev-list --max-parents=0 HEAD | tail -n 1)
	[ "$found" = "$(git rev-parse HEAD)" ] || echo "$found"
}

# touched: prints the tests for each file of a list. For a file without specific tests, nothing is
# printed: the shares cover it.
touched() {
	while read -r file; do
		case $file in
		tests/cases/*.tc)
			name=${file#tests/cases/}
			# The file may have been removed.
			[ ! -e "$file" ] || echo "0 ${name%.tc}"
			echo "1 ${name%/*}/*" ;;
		tests/clients/* | tools/traceevent/* | qemu/clients*) echo 1 clients ;;
		tests/record/*) echo 1 record ;;
		tests/viewers/* | scripts/viewers* | scripts/packages-viewers) echo 1 viewers ;;
		tools/ferrotrace/*) printf '1 record\n1 viewers\n' ;;
		tests/lockdown/*) echo 1 lockdown ;;
		tests/oops/*) echo 1 oops ;;
		tests/module/tree* | tests/module/fgraph* | tests/module/dead*) echo '1 graph/*' ;;
		tests/module/compact*) echo '1 compact/*' ;;
		tests/module/event* | tests/module/sched*) echo '1 events/*' ;;
		tests/kunit/*) echo 0 basic/kunit ;;
		tests/slowname/*) echo '1 filter/*' ;;
		tests/failcall/*) echo 0 faults/registers ;;
		src/ktrace/compact/* | src/ktrace/output/*) echo '1 compact/*' ;;
		src/fgraph* | src/*/fgraph/* | src/show* | src/thresholds* | src/profile/* | \
			src/latency/* | src/max_stack/* | \
			src/ktrace/task/cpu_events* | src/ktrace/task/irq_time* | \
			src/ktrace/hook/stack_depth*)
			echo '1 graph/*' ;;
		src/filter/* | src/task_filter/* | src/ktrace/task/task* | \
			src/ktrace/task/trace_mask* | src/ktrace/task/pid_map* | \
			src/ktrace/task/hooks* | src/ktrace/task/registration* | \
			src/ktrace/task/bind* | src/ktrace/task/comm* | src/ktrace/task/all_tasks*)
			echo '1 filter/*' ;;
		src/control* | src/ktrace/array/tracefs* | src/ktrace/array/error_log*)
			echo '1 control/*' ;;
		src/task_times/* | src/event* | src/ktrace/event/* | src/ktrace/task/sched*)
			echo '1 events/*' ;;
		src/function_trace* | src/option* | src/ktrace/record/* | src/ktrace/hook/*)
			echo '1 record/*' ;;
		src/triggers* | src/trigger_rule/*) echo '1 triggers/*' ;;
		src/chain* | src/waits*) echo '1 chains/*' ;;
		src/ktrace/array/options/*) echo '1 files/*' ;;
		src/lib.rs | src/arrays* | src/ktrace/array/* | src/ktrace/private/*)
			echo '1 basic/*' ;;
		esac
	done
}

# few_cases: if a change affects many cases, they do not run before the share, or there would be no
# time for it.
few_cases() {
	awk '$1 == 0 { cases++ } { line[NR] = $0 }
		END { for (i = 1; i <= NR; i++) if (cases <= 12 || line[i] !~ /^0/) print line[i] }'
}

number=0 base='' also=''
if git rev-parse --verify --quiet HEAD >/dev/null 2>&1; then
	if shallow; then
		number=$((0x$(git rev-parse HEAD | cut -c1-7)))
	else
		number=$(git rev-list --count HEAD)
	fi
	base=${BASE:-$(passed_before)}
	base=${base:-$(day_before)}
	[ -z "$base" ] || base=$(git rev-parse --verify --quiet "$base^{commit}") ||
		die "BASE=$BASE: no such commit"
	also=$({
		[ -z "$base" ] || git diff --name-only --no-renames "$base" HEAD
		git diff --name-only --no-renames HEAD
	} | touched | sort -u | few_cases | cut -d' ' -f2 | tr '\n' ,)
fi
echo "number=$number"
echo "base=$base"
echo "also='${also%,}'"
