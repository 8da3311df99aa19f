# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Run, wait and block times of tasks in the events of events/ferrotrace/, compared with the
# statistics and events of the scheduler.

# list_task_times PID [DIRECTORY]: prints a line for each event with a duration of that thread: its
# timestamp and duration, both in ns, and its kind (run, wait or block).
list_task_times() {
	sed -n "s/^.* \([0-9]*\)\.\([0-9]*\): task_\(run\|wait\|block\): \
comm=.* pid=$1 .*\(run\|wait\|block\)=\([0-9]*\) \[ns\].*/\1\2000 \5 \3/p" "${2:-.}/trace"
}

# read_schedstat TID: sets $ran_ns, $waited_ns and $slices to the scheduler's own statistics.
read_schedstat() {
	# shellcheck disable=SC2034 # for the case
	read -r ran_ns waited_ns slices <"/proc/$1/task/$1/schedstat"
}

# assert_no_gaps PID: checks that the durations of the events after the first one add up to the time
# since the first one. An event is written some time after the transition it reports, usually
# immediately. The events with the smallest delay, among the first third and among the last third,
# show whether time was lost or added in between.
assert_no_gaps() {
	list_task_times "$1" >"$TMPDIR/times"
	awk '
		NR == 1 { begin = $1 }
		NR > 1 { reported += $2 }
		{ late[NR] = $1 - begin - reported }
		function soonest(from, to, i, least) {
			least = late[from]
			for (i = from; i <= to; i++)
				if (late[i] < least) least = late[i]
			return least
		}
		END {
			third = int(NR / 3)
			off = soonest(NR - third + 1, NR) - soonest(1, third)
			printf "%d events, %.0f ns reported, off by %.0f ns\n", NR, reported, off
			if (off < 0) off = -off
			exit !(NR >= 3 && off < (NR < 30 ? 50000000 : 500000))
		}' "$TMPDIR/times" || {
		cat "$TMPDIR/times"
		fail "the times of $1 do not add up"
	}
}

# assert_close WHAT OURS THEIRS TIMES EXACT SLACK: compares two durations. Both sides read the clock
# at each switch, one after the other. If instructions are the clock (ICOUNT), this is a difference
# of EXACT ns each time. Otherwise, the host may have paused the guest in between, and what is
# running time to one side is waiting time to the other: SLACK, in ns, allows for that.
assert_close() {
	echo "$1: $2 ns, schedstat: $3 ns, $4 times on a CPU"
	awk -v ours="$2" -v theirs="$3" -v n="$4" -v each="$5" -v slack="$6" \
		-v exact="$ICOUNT" 'BEGIN {
		off = ours - theirs
		if (off < 0) off = -off
		exit !(off <= (exact ? each * (n + 1) : 100000 * n + theirs / 50 + slack))
	}' || fail "$1 of $2 ns, where schedstat has $3 ns"
}

# sum_times run|wait|block: prints the sum of these durations that assert_no_gaps has listed.
sum_times() {
	awk -v what="$1" '$3 == what { sum += $2 } END { printf "%.0f\n", sum }' "$TMPDIR/times"
}

# compare_with_schedstat NAME COMMAND...: runs a command that makes the worker do something, and
# compares the times that events report, from sleep to sleep, with the scheduler's statistics.
# shellcheck disable=SC2154 # worker_pid sets $pid
compare_with_schedstat() {
	_loaded=$1
	shift
	echo "== $*"
	echo >trace
	wait_until_asleep "$_loaded"
	worker_pid "$_loaded"
	read_schedstat "$pid"
	_ran=$ran_ns _waited=$waited_ns _slices=$slices
	echo 1 >events/ferrotrace/enable
	"$@"
	wait_until_asleep "$_loaded"
	echo 0 >events/ferrotrace/enable
	worker_pid "$_loaded"
	read_schedstat "$pid"
	assert_no_gaps "$pid"
	slices=$((slices - _slices))
	[ "$slices" -ge 1 ] || fail 'it did not even run'
	# The clock of a run queue stops between a wakeup and the switch that follows immediately:
	# schedstat counts these microseconds as running, the events count them as waiting.
	assert_close 'time on the CPU' "$(sum_times run)" \
		$((ran_ns - _ran)) "$slices" 10000 100000000
	assert_close 'time spent waiting' "$(sum_times wait)" \
		$((waited_ns - _waited)) "$slices" 10000 100000000
	assert_close 'both' "$(($(sum_times run) + $(sum_times wait)))" \
		$((ran_ns - _ran + waited_ns - _waited)) "$slices" 1500 20000000
}

# start_sched_trace: starts recording the kernel's own scheduler events in instances/kernels, for
# sum_blocked_us.
start_sched_trace() {
	make_instance kernels
	for _event in sched_switch sched_waking; do
		echo 1 >instances/kernels/events/sched/$_event/enable
	done
}

# sum_blocked_us THREAD: prints how long the thread slept uninterruptibly, according to the kernel's
# own events.
sum_blocked_us() {
	sed -n 's/.* \([0-9]*\.[0-9]*\): sched_[a-z]*: /\1 /p' instances/kernels/trace |
		awk -v "thread=$1" '
		$0 ~ " prev_pid=" thread " .* prev_state=D" { since = $1 }
		since && $0 ~ " pid=" thread " " { sum += $1 - since; since = 0 }
		END { printf "%.0f\n", sum * 1000000 }'
}
