# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Programs that read what the kernel traces (tests/clients). Most tests let a client record while a
# worker makes calls, and compare its output with the trace of an instance.

# start_reference_trace PID: waits until the task is asleep, and starts recording its events in
# instances/reference.
start_reference_trace() {
	wait_until 60 is_asleep "$1"
	make_instance reference
	echo "$1" >instances/reference/ferrotrace/set_pid
	echo 1 >instances/reference/events/ferrotrace/enable
}

# stop_reference_and_unload: removes that instance and unloads the module.
stop_reference_and_unload() {
	rmdir instances/reference
	rmmod ferrotrace
}

# write_worker_script NAME COMMAND...: writes the program $TMPDIR/work, which sends a command to a
# worker and exits when the worker sleeps again.
# shellcheck disable=SC2154 # worker_pid sets $pid
write_worker_script() {
	_worker=$1
	shift
	worker_pid "$_worker"
	cat >"$TMPDIR/work" <<-EOF2
		#!/bin/sh
		echo '$*' >"$TMPDIR/$_worker.in"
		read -r answer <>"$TMPDIR/$_worker.out"
		# The condition of is_asleep().
		until grep -q '^State:.S' /proc/$pid/status && ! grep -qx 0 /proc/$pid/wchan; do
			sleep 0.1
		done
		sleep 0.1
	EOF2
	chmod +x "$TMPDIR/work"
}

# list_event_texts FILE [PATTERN]: prints the texts of the events with these names (default:
# task_*), without CPU and timestamp, one per line, sorted. libtraceevent prints a symbol without
# size and module, a quotation mark with a backslash, and a cpumask as a list: such differences are
# removed.
list_event_texts() {
	sed -n -e 's,\(+0x[0-9a-f]*\)/0x[0-9a-f]*\( \[[a-z_]*\]\)*,\1,g' \
		-e "s/([0,]*3)/(0-1)/" -e 's/\\"/"/g' \
		-e "s/^.*[ :]\(${2:-task_[a-z]*}\): */\1: /p" "$1" | sort
}

# assert_no_errors FILE: fails if a client printed an error message to the file.
assert_no_errors() {
	[ ! -s "$1" ] || {
		cat "$1"
		fail 'a client complains'
	}
}

# assert_same_events FILE [PATTERN [FILE]]: fails unless the first file and the second one (default:
# the trace of instances/reference) contain the same events, and at least one.
assert_same_events() {
	list_event_texts "$1" "${2:-}" >"$TMPDIR/texts"
	list_event_texts "${3:-instances/reference/trace}" "${2:-}" >"$TMPDIR/reference"
	[ -s "$TMPDIR/reference" ] || fail 'nothing happened'
	diff "$TMPDIR/reference" "$TMPDIR/texts" || fail 'the client shows other events'
}
