# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Definitions for all scripts here: paths, and functions that print progress and errors.

set -eu

# shellcheck disable=SC2034 # used by the scripts that source this
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
home=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
cache=${XDG_CACHE_HOME:-$home/.cache}/ferrotrace

# The kernels that are built here (qemu/LANE.config), and those of them that are debug kernels.
# shellcheck disable=SC2034 # used by the scripts that source this
lanes='mainline lockdep memory rt up lts' checked='lockdep memory'

# contains WORDS WORD: succeeds if it is one of the words.
contains() {
	case " $1 " in
	*" $2 "*) ;;
	*) return 1 ;;
	esac
}

say() {
	printf '%s\n' "$*" >&2
}

die() {
	say "${0##*/}: $*"
	exit 1
}

# Kbuild cannot build in or from a path with such characters.
case $top$cache in
*[[:space:]:%#]*)
	die "neither '$top' nor '$cache' may contain white space, ':', '%' or '#'" ;;
esac

# steps N TITLE: announces N steps.
steps() {
	step_total=$1 step_title=$2 step_nr=0
}

# step TEXT COMMAND...: runs one step of a longer job. Its output goes to a log file, which is shown
# if the step fails. On a terminal, the seconds are counted; otherwise they are printed at the end.
# The command must not be the background job: a shell without job control shields background jobs
# from Ctrl-C.
step() {
	step_nr=$((step_nr + 1))
	step_line=$(printf '%s [%d/%d] %s ...' "$step_title" "$step_nr" "$step_total" "$1")
	shift
	step_start=$(date +%s)
	step_log=$(mktemp "${TMPDIR:-/tmp}/ferrotrace.XXXXXX")
	step_ticker=
	trap 'step_end; exit 129' HUP
	trap 'step_end; exit 130' INT
	trap 'step_end; exit 143' TERM
	if [ -t 2 ]; then
		while printf '\r%s %d s' "$step_line" $(($(date +%s) - step_start)) >&2; do
			sleep 1
		done &
		step_ticker=$!
	else
		printf '%s' "$step_line" >&2
	fi
	# Not `"$@" || ...`: that would disable -e in the called functions.
	set +e
	(
		set -e
		"$@"
	) </dev/null >"$step_log" 2>&1
	step_status=$?
	set -e
	if [ "$step_status" != 0 ]; then
		say ' failed:'
		tail -n 40 "$step_log" >&2
		step_end
		die "step '${step_line% ...}' failed (status $step_status)"
	fi
	[ -z "$step_ticker" ] || printf '\r%s' "$step_line" >&2
	say " $(($(date +%s) - step_start)) s"
	step_end
}

step_end() {
	trap - HUP INT TERM
	if [ -n "$step_ticker" ]; then
		kill "$step_ticker" 2>/dev/null || :
		step_ticker=
	fi
	rm -f "$step_log"
}

# without_comments: copies its input without comments and empty lines, for the keys of the cache.
# Options of a kernel that are not set look like comments.
without_comments() {
	sed -e '/^# CONFIG_/p' -e '/^[[:space:]]*#/d' -e '/^[[:space:]]*$/d'
}

# debian_arch ARCH: prints Debian's name of the architecture.
debian_arch() {
	case $1 in
	x86_64) echo amd64 ;;
	arm64) echo arm64 ;;
	esac
}

# cross_compile ARCH: prints the make arguments to build for another architecture with gcc.
cross_compile() {
	case $1-$(uname -m) in
	arm64-aarch64 | x86_64-x86_64) ;;
	arm64-*) echo ' CROSS_COMPILE=aarch64-linux-gnu-' ;;
	x86_64-*) echo ' CROSS_COMPILE=x86_64-linux-gnu-' ;;
	esac
}
