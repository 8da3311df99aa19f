#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [BASE=COMMIT] change.sh
#
# Decides which tests a change needs on kernels that run only a share of them, and prints it as
# three assignments:
#   number=N    a number that grows by one from commit to commit, for shares that rotate
#   base=COMMIT what the change is compared with; empty if that is unknown
#   also=...    the folders and cases of tests that the change touches, as ALSO of guest-tests.sh
#               takes them
# The change is what happened since BASE. Without BASE, that is the latest commit before HEAD that
# passed test-change.sh on this machine (the cache has a list); without one, the latest that is a
# day older than HEAD, or the oldest that there is. Uncommitted changes count. Works in any clone,
# also a shallow one, and without git, where it knows nothing of changes.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
cd "$top"

# shallow: whether the history was cut off, so that the number of commits says nothing.
shallow() {
	[ "$(git rev-parse --is-shallow-repository)" = true ]
}

# passed_before: the latest commit before HEAD that is in the list.
passed_before() {
	[ -s "$cache/changes-passed" ] || return 0
	git rev-list HEAD | tail -n +2 | grep -Fxm 1 -f "$cache/changes-passed" || :
}

# day_before: the latest commit that is a day older than HEAD, or the oldest.
day_before() {
	time=$(git log -1 --format=%ct)
	found=$(git rev-list -1 --before=$((time - 86400)) HEAD)
	[ -n "$found" ] || found=$(git rev-list --max-parents=0 HEAD | tail -n 1)
	[ "$found" = "$(git rev-parse HEAD)" ] || echo "$found"
}

# touched: of each file of a list, the tests that are about it. Those that no folder is about have
# no line: the shares cover them.
touched() {
	while read -r file; do
		case $file in
		tests/cases/*.tc)
			name=${file#tests/cases/}
			# It may have been removed.
			[ ! -e "$file" ] || echo "0 ${name%.tc}"
			echo "1 ${name%/*}/*" ;;
		tests/clients/* | tools/traceevent/* | qemu/clients*) echo 1 clients ;;
		tests/lockdown/*) echo 1 lockdown ;;
		tests/oops/*) echo 1 oops ;;
		tests/module/tree* | tests/module/fgraph* | tests/module/dead*) echo '1 graph/*' ;;
		tests/module/compact*) echo '1 compact/*' ;;
		tests/module/event* | tests/module/sched*) echo '1 events/*' ;;
		tests/kunit/*) echo 0 basic/kunit ;;
		tests/slowname/*) echo '1 filter/*' ;;
		tests/failcall/*) echo 0 faults/registers ;;
		src/*compact*) echo '1 compact/*' ;;
		src/fgraph* | src/*/fgraph* | src/show* | src/limits* | src/profile/*) echo '1 graph/*' ;;
		src/filter/* | src/watch/* | src/ktrace/task* | src/ktrace/gate* | src/ktrace/pid_map*)
			echo '1 filter/*' ;;
		src/control* | src/ktrace/tracefs* | src/ktrace/error_log*) echo '1 control/*' ;;
		src/sched/* | src/events* | src/ktrace/event* | src/ktrace/sched*) echo '1 events/*' ;;
		src/recorder* | src/ktrace/records* | src/ktrace/ftrace_ops*) echo '1 record/*' ;;
		src/ktrace/*option* | src/ktrace/iter* | src/ktrace/seq* | src/ktrace/tracer*) echo '1 files/*' ;;
		src/lib.rs | src/arrays* | src/ktrace/*instances* | src/ktrace/symbols* | \
			src/ktrace/abi* | src/ktrace/btf*)
			echo '1 basic/*' ;;
		esac
	done
}

# few_cases: of a change to many cases, no case comes before the share, or there would be no time
# for it.
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
