# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What every script here shares: where things are, and how progress and errors are shown.

set -eu

# shellcheck disable=SC2034 # used by those who source this
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
home=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
cache=${XDG_CACHE_HOME:-$home/.cache}/ferrotrace

# The kernels that are built here (qemu/LANE.config), and those of them that look for mistakes, which takes time.
# shellcheck disable=SC2034 # as above
lanes='mainline lockdep memory rt up lts' checked='lockdep memory'

# contains WORDS WORD: whether it is one of them.
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

# Kbuild can build neither in nor from a path with such characters in it.
case $top$cache in
*[[:space:]:%#]*)
	die "neither '$top' nor '$cache' may contain white space, ':', '%' or '#'" ;;
esac

# steps N TITLE: N steps follow.
steps() {
	step_total=$1 step_title=$2 step_nr=0
}

# step TEXT COMMAND...: one step of a longer job. What it prints goes to a log file, shown when it
# fails. The seconds count up on a terminal; elsewhere they are printed at the end. The command
# must not be the background job: a shell without job control shields those from Ctrl-C.
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
	# Not `"$@" || ...`: that would switch off -e inside the functions called.
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

# debian_arch ARCH: what Debian calls it.
debian_arch() {
	case $1 in
	x86_64) echo amd64 ;;
	arm64) echo arm64 ;;
	esac
}

# cross_compile ARCH: what make needs to build for another architecture with gcc.
cross_compile() {
	case $1-$(uname -m) in
	arm64-aarch64 | x86_64-x86_64) ;;
	arm64-*) echo ' CROSS_COMPILE=aarch64-linux-gnu-' ;;
	x86_64-*) echo ' CROSS_COMPILE=x86_64-linux-gnu-' ;;
	esac
}
