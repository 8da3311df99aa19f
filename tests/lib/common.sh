# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Variables and functions for all test cases: the module, waiting, and how often to repeat a test.
# tests/case sources all files of this folder. The working directory of a case is the tracing
# directory. $TESTS is the directory of the tests, $MODULE the path of the module, $TMPDIR an empty
# directory for the case.

# The function that tests trace if any function will do. Only workers call it.
case $(uname -m) in
aarch64) SYS=__arm64_sys_ ;;
*) SYS=__x64_sys_ ;;
esac
# shellcheck disable=SC2034 # for cases and other files here
FN=${SYS}sched_get_priority_max

# The shell that runs the case. The kernel's ftracetest sets it, because $$ is another shell there.
: "${PID:=$$}"

# The last CPU, as a number and as a mask.
last_cpu=$(($(nproc) - 1))
# shellcheck disable=SC2034 # for cases
last_mask=$(printf '%x' $((1 << last_cpu)))

# is_realtime: succeeds if softirqs and most interrupts run in threads (PREEMPT_RT).
is_realtime() {
	grep -q '^CONFIG_PREEMPT_RT=y' /kernel.config
}

# load_module: loads the module unless it is loaded.
load_module() {
	if [ -d /sys/module/ferrotrace ]; then
		# It may be unloading, if a case was stopped during its rmmod.
		read -r _state </sys/module/ferrotrace/initstate && [ "$_state" = live ] && return
		wait_until 60 test ! -d /sys/module/ferrotrace
	fi
	insmod "$MODULE"
}

# unload_module: unloads the module if it is loaded.
unload_module() {
	[ ! -d /sys/module/ferrotrace ] || rmmod ferrotrace
}

# read_uptime: sets $seconds_up to the time since boot, in seconds.
read_uptime() {
	read -r seconds_up _ </proc/uptime
	seconds_up=${seconds_up%.*}
}

# wait_until SECONDS COMMAND...: repeats the command until it succeeds, and fails if it does not
# within that time. There are at least 20 attempts, so that a pause of the guest by its host does
# not matter.
wait_until() {
	read_uptime
	_end=$((seconds_up + $1)) _tries=20
	shift
	until "$@"; do
		_tries=$((_tries - 1))
		read_uptime
		[ "$seconds_up" -le $_end ] || [ $_tries -gt 0 ] || fail "timeout waiting for: $*"
		sleep 0.05
	done
}

# repetitions NUMBER DEBUG: prints how often to repeat a test for a rare fault: NUMBER times, or
# DEBUG times on a debug kernel, which is slower and detects faults earlier. With BRIEF=1 a tenth of
# that, but at least 12 (if it is more than 12).
repetitions() {
	set -- "$1" "$2" "$1"
	[ "$CHECKED" = 0 ] || set -- "$1" "$2" "$2"
	if [ "$BRIEF" = 1 ] && [ "$3" -gt 12 ]; then
		set -- "$1" "$2" $(($3 / 10))
		[ "$3" -ge 12 ] || set -- "$1" "$2" 12
	fi
	echo "$3"
}
