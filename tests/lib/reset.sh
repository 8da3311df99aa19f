# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Restores the state in which each case starts: settings of all trace arrays, triggers, CPUs.

# clear_file FILE: opens the file with O_TRUNC, without writing, which clears its settings.
clear_file() {
	[ ! -e "$1" ] || : >"$1"
}

# write_if_exists VALUE FILE...: writes the value to those of the files that exist.
write_if_exists() {
	_value=$1
	shift
	for _file; do
		[ ! -e "$_file" ] || echo "$_value" >"$_file"
	done
}

# list_triggers: prints all triggers of the events of ferrotrace and of the test module, without
# comments.
list_triggers() {
	cat "$TRACING"/events/ferrotrace/*/trigger \
		"$TRACING"/events/ktrace_test/*/trigger 2>/dev/null |
		grep -v '^#'
}

# clear_triggers: removes these triggers. A trigger that uses a variable of another one must be
# removed first, so this may take several rounds.
clear_triggers() {
	for _round in 1 2 3; do
		list_triggers >/dev/null || return 0
		for _file in "$TRACING"/events/ferrotrace/*/trigger \
			"$TRACING"/events/ktrace_test/*/trigger; do
			[ -e "$_file" ] || continue
			grep -v '^#' "$_file" | while read -r _trigger; do
				# The listing ends with statistics in brackets, which the write must
				# omit.
				echo "!${_trigger% \[*\]}" >"$_file" 2>/dev/null || :
			done
		done
	done
}

# reset_trace_array DIRECTORY: restores the settings that a trace array has after boot.
reset_trace_array() {
	echo 0 >"$1/tracing_on"
	echo nop >"$1/current_tracer"
	write_if_exists 0 "$1/events/enable" "$1/events/ferrotrace/filter" \
		"$1/events/raw_syscalls/filter"
	for _file in set_ftrace_filter set_ftrace_notrace set_graph_function set_graph_notrace \
		set_ftrace_pid set_ftrace_notrace_pid set_event_pid set_event_notrace_pid; do
		clear_file "$1/$_file"
	done
	for _file in "$1"/ferrotrace/set_*; do
		clear_file "$_file"
	done
	for _file in tracing_thresh max_graph_depth chain_thresh triggers; do
		clear_file "$1/ferrotrace/$_file"
	done
	# These persist until they are cleared.
	clear_file "$1/ferrotrace/profile"
	clear_file "$1/ferrotrace/latency"
	clear_file "$1/ferrotrace/max_stack"
	write_if_exists 0 "$1/ferrotrace/follow_fork" "$1/ferrotrace/follow_work" \
		"$1"/options/ferro-* \
		"$1/options/function-fork" "$1/options/event-fork" \
		"$1/options/func-args" "$1/options/func_stack_trace" \
		"$1/options/stacktrace" "$1/options/latency-format" "$1/options/pause-on-trace" \
		"$1/options/record-tgid" "$1/options/raw" "$1/options/hex" "$1/options/bin"
	write_if_exists 1 "$1/options/overwrite" "$1/options/irq-info" "$1/options/context-info" \
		"$1/options/record-cmd"
	# Most tests record entries only; tests of the call graph enable ferro-graph.
	for _option in offcpu irqs cpu overhead duration; do
		write_if_exists 1 "$1/options/ferro-$_option"
	done
	# On some kernels, the options of the kernel's own tracers are shared by all trace arrays.
	write_if_exists 0 "$1"/options/funcgraph-*
	for _option in irqs cpu overhead duration; do
		write_if_exists 1 "$1/options/funcgraph-$_option"
	done
	echo local >"$1/trace_clock"
	printf '%x\n' $(((1 << $(nproc)) - 1)) >"$1/tracing_cpumask"
	grep -q -e expanded -e '^1408$' "$1/buffer_size_kb" || echo 1408 >"$1/buffer_size_kb"
	write_if_exists 0 "$1/snapshot"
	clear_file "$1/trace"
	echo 1 >"$1/tracing_on"
}

# reset_tracing: restores the state in which each case starts.
reset_tracing() {
	if [ -e "$MODULE" ]; then
		load_module
	fi
	write_if_exists 1 /sys/devices/system/cpu/cpu[1-9]*/online /proc/sys/kernel/ftrace_enabled
	for _instance in "$TRACING"/instances/*; do
		# A persistent buffer (tests/reboot) contains records from before the reboot.
		if [ ! -d "$_instance" ] || [ -e "$_instance/last_boot_info" ]; then
			continue
		fi
		reset_trace_array "$_instance"
		rmdir "$_instance"
	done
	# A trigger may turn tracing off at any time.
	clear_triggers
	reset_trace_array "$TRACING"
	for _file in dynamic_events kprobe_events uprobe_events synthetic_events; do
		clear_file "$TRACING/$_file" 2>/dev/null || :
	done
	write_if_exists 0 "$TRACING/max_graph_depth" "$TRACING/tracing_thresh"
	# The kernel stores comms in a small table. A task of an earlier case may still use the
	# entry that a new task gets, and overwrite it. Setting the size empties the table.
	echo 1024 >"$TRACING/saved_cmdlines_size"
	clear_file "$TRACING/error_log"
	# A task that was killed with its case may still sleep in the test module for a while.
	[ ! -d /sys/module/ktrace_test ] || wait_until 60 rmmod ktrace_test
	[ ! -d /sys/module/thermal_sample ] || wait_until 60 rmmod thermal_sample
	TMPDIR=$(mktemp -d /tmp/case.XXXXXX)
	export TMPDIR
	trap 'rm -rf "$TMPDIR"' EXIT
}
