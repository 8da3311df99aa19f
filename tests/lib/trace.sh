# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Records traces in trace arrays, counts records, and checks which tasks are traced.

# make_instance NAME...: creates trace arrays instances/NAME.
make_instance() {
	for _instance; do
		mkdir "instances/$_instance"
	done
}

# start_tracing [DIRECTORY [NAME...]]: selects the ferrotrace tracer in that trace array and records
# function entries of $FN, or of the named functions.
start_tracing() {
	_start_dir=${1:-.}
	[ $# = 0 ] || shift
	[ $# != 0 ] || set -- "$FN"
	echo "$*" >"$_start_dir/set_ftrace_filter"
	echo 0 >"$_start_dir/options/ferro-graph"
	echo ferrotrace >"$_start_dir/current_tracer"
}

# read_stat NAME [DIRECTORY]: sets $stat to the value of that line of `stats`.
read_stat() {
	stat=$(sed -n "s/^$1: //p" "${2:-.}/ferrotrace/stats")
	[ -n "$stat" ] || fail "stats has no '$1'"
}

# read_dropped [DIRECTORY]: sets $dropped to the total number of dropped records.
read_dropped() {
	# shellcheck disable=SC2034 # for the case
	dropped=$(awk '/^(overrun|dropped events|recursion|shadow stack overrun): / { sum += $NF }
		END { print sum + 0 }' "${1:-.}/ferrotrace/stats")
}

# count_records TID [FUNCTION [DIRECTORY]]: sets $count to the number of records of that function
# and thread.
count_records() {
	count=$(grep -c -e "-$1 .* ${2:-$FN} <-" "${3:-.}/trace") || [ "$count" = 0 ]
}

# assert_traced TRACED UNTRACED [DIRECTORY]: has each worker make some calls. Checks that all calls
# of the workers in the first list are recorded exactly once, and no calls of those in the second
# list.
# shellcheck disable=SC2154 # worker_pid sets $pid
assert_traced() {
	echo >"${3:-.}/trace"
	for _worker in $1 $2; do
		worker_run "$_worker" call 3
	done
	for _worker in $1; do
		worker_pid "$_worker"
		count_records "$pid" "$FN" "${3:-.}"
		assert_eq "number of records of '$_worker' (pid $pid)" "$count" 3
	done
	for _worker in $2; do
		worker_pid "$_worker"
		count_records "$pid" "$FN" "${3:-.}"
		assert_eq "number of records of '$_worker' (pid $pid)" "$count" 0
	done
}

# load_trace_unload ROUND: loads the module, traces workers `a` and `b` while worker `busy` makes
# calls, with settings that depend on the number of the round, and unloads the module. The module
# must not be loaded before.
# shellcheck disable=SC2154 # start_workers has set these
load_trace_unload() {
	insmod "$MODULE"
	echo "$FN" >set_ftrace_filter
	case $(($1 % 3)) in
	0) echo "$pid_a" >ferrotrace/set_pid ;;
	1) echo "$pid_a" >ferrotrace/set_tgid ;;
	2) echo "$pid_b $pid_busy" >ferrotrace/set_notrace_tgid ;;
	esac
	# Record entries, which are counted below, in every fourth round, and calls in the others.
	[ $(($1 % 4)) != 0 ] || echo 0 >options/ferro-graph
	echo ferrotrace >current_tracer
	worker_run a call 2
	worker_run b call 2
	if [ $(($1 % 4)) = 0 ]; then
		count_records "$pid_a"
		assert_eq 'records of a' "$count" 2
		count_records "$pid_b"
		assert_eq 'records of b' "$count" 0
	fi
	echo nop >current_tracer
	# In every second round, rmmod has to remove the filter.
	[ $(($1 % 2)) = 0 ] || : >ferrotrace/set_pid
	rmmod ferrotrace
}

# repeat_until CHECK COMMAND...: empties the traces and runs the command, until the check succeeds,
# at most 100 times. A loaded machine makes calls take longer sometimes, but not every time.
repeat_until() {
	_check=$1
	shift
	_left=100
	while [ $_left -gt 0 ]; do
		_left=$((_left - 1))
		for _trace in trace instances/*/trace; do
			[ ! -e "$_trace" ] || echo >"$_trace"
		done
		"$@"
		! $_check || return 0
	done
	cat trace
	fail "never was '$_check' true after: $*"
}
