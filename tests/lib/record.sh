# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
# The command `ferrotrace record` (tests/record). A case sets $dat, $said and $report, the names of
# files, and stores what list_top prints in $TMPDIR/before.

# record [ARGUMENT...]: records to $dat and sets $status. Messages are in $said.
record() {
	rm -f "$dat"
	status=0
	/extra/ferrotrace record -o "$dat" "$@" 2>"$said" || status=$?
}

# start_record [ARGUMENT...]: records in the background, as $recording.
start_record() {
	rm -f "$dat"
	/extra/ferrotrace record -o "$dat" "$@" 2>"$said" &
	recording=$!
}

# catches_signals PID: succeeds if a process handles SIGINT, which a shell has its background
# processes ignore at first.
catches_signals() {
	grep -q '^SigCgt:.*[2367abef]$' "/proc/$1/status"
}

# await_recording: waits until trace-cmd records for $recording, which has noticed this.
await_recording() {
	wait_until 60 is_recording "$recording"
	sleep 0.5
}

# is_recording PID: succeeds if the command of the trace-cmd of this process, which reports that the
# recording has begun, has done so and sleeps. Sets $recorder to the PID of that trace-cmd.
is_recording() {
	for _pid in $(pidof ferrotrace); do
		_parent=$(sed -n 's/^PPid:.//p' "/proc/$_pid/status" 2>/dev/null) || continue
		if grep -qs __hold "/proc/$_pid/cmdline" &&
			grep -qs -- "-B.ferrotrace-$1.-" "/proc/$_parent/cmdline"; then
			# shellcheck disable=SC2034 # for the case
			recorder=$_parent
			is_asleep "$_pid"
			return
		fi
	done
	return 1
}

# end_record: waits for the end of $recording, and sets $status.
end_record() {
	status=0
	wait "$recording" || status=$?
}

# start_in_terminal COMMAND...: runs a command in the background, in a pseudo terminal, as
# $terminal. What it shows is in the file $shown.
start_in_terminal() {
	rm -f "$TMPDIR/keys" "$shown"
	mkfifo "$TMPDIR/keys"
	terminal 120 24 "$@" <"$TMPDIR/keys" >"$shown" &
	terminal=$!
	exec 8>"$TMPDIR/keys"
}

# press_ctrl_c: types Ctrl-C in this terminal.
press_ctrl_c() {
	printf '\003' >&8
}

# end_in_terminal: waits for the end of $terminal, and sets $status.
end_in_terminal() {
	status=0
	wait "$terminal" || status=$?
	exec 8>&-
	cat "$shown"
}

# list_top: prints settings of the top trace array.
list_top() {
	grep . tracing_on current_tracer events/enable trace_clock set_ftrace_filter \
		ferrotrace/set_* ferrotrace/follow_fork options/* \
		/proc/sys/kernel/ftrace_enabled || :
}

# assert_clean: fails unless nothing is left of a recording, except its file.
assert_clean() {
	assert_eq instances "$(ls instances)" ''
	list_top >"$TMPDIR/now"
	diff "$TMPDIR/before" "$TMPDIR/now" || fail 'settings are changed'
	for _file in "$dat".*; do
		[ ! -e "$_file" ] || fail "left: $_file"
	done
	if pidof ferrotrace trace-cmd; then
		fail 'a process is left'
	fi
}

# assert_recorded STATUS: fails unless the recording ended with this status, and wrote a file.
assert_recorded() {
	cat "$said"
	assert_eq status "$status" "$1"
	grep -q "^$dat: [0-9]* calls of .* lost 0" "$said" || fail 'no result is shown'
	[ -s "$dat" ] || fail 'there is no file'
	assert_clean
}

# assert_refused STATUS MESSAGE: fails unless there is this message, and no file.
assert_refused() {
	cat "$said"
	assert_eq status "$status" "$1"
	grep -q -e "$2" "$said" || fail "not the message '$2'"
	[ ! -e "$dat" ] || fail 'there is a file'
	assert_clean
}

# read_recording STATUS: does this, and writes the text of the file to $report. Under emulation,
# trace-cmd takes seconds to read its header.
read_recording() {
	assert_recorded "$1"
	trace-cmd report --verbose=warning -i "$dat" >"$report" 2>&1
}

# tasks: prints the tasks that made calls, according to $report.
tasks() {
	sed -n 's,^[^:]*: *\([^ ]*\)  *\[0[0-9]*\] .* funcgraph_entry: .*,\1,p' "$report" | sort -u
}
