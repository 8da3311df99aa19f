# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Workers: tasks that make calls on command. Their program is `worker`, see tests/helpers/worker.c.

# How many seconds a worker may take for an answer.
answer_limit=100
[ "$CHECKED" = 0 ] || answer_limit=300

# make_worker_fifos NAME...: creates the FIFOs for communication with these workers.
make_worker_fifos() {
	for _name; do
		rm -f "$TMPDIR/$_name.in" "$TMPDIR/$_name.out"
		mkfifo "$TMPDIR/$_name.in" "$TMPDIR/$_name.out"
	done
}

# worker_read_reply NAME: sets $reply to the next line that the worker prints.
worker_read_reply() {
	reply=
	# Open for reading and writing: a FIFO then neither blocks open() nor returns end of file.
	# shellcheck disable=SC3045 # busybox has it
	read -t "$answer_limit" -r reply <>"$TMPDIR/$1.out" || fail "no answer from worker $1"
}

# start_workers NAME...: starts workers and sets $pid_NAME for each.
start_workers() {
	for _worker; do
		make_worker_fifos "$_worker"
		worker "$TMPDIR" "$_worker" &
		worker_read_reply "$_worker"
		eval "pid_$_worker=$reply"
	done
}

# worker_send NAME COMMAND...: sends a command to a worker without waiting for the answer.
worker_send() {
	_to=$1
	shift
	echo "$*" >"$TMPDIR/$_to.in"
}

# worker_run NAME COMMAND...: sends a command to a worker, waits until it is done, and sets $reply
# to the answer.
worker_run() {
	worker_send "$@"
	worker_read_reply "$1"
}

# worker_fork NAME CHILD: has a worker fork another worker; sets $pid_CHILD.
worker_fork() {
	make_worker_fifos "$2"
	worker_run "$1" fork "$2"
	eval "pid_$2=$reply"
}

# worker_enter NAME CHILD DIRECTORY: has a worker create another worker in the cgroup with this
# directory; sets $pid_CHILD.
worker_enter() {
	make_worker_fifos "$2"
	worker_run "$1" enter "$2" "$3"
	eval "pid_$2=$reply"
}

# worker_thread NAME THREAD: has a worker create a thread that is a worker; sets $pid_THREAD.
worker_thread() {
	make_worker_fifos "$2"
	worker_run "$1" thread "$2"
	eval "pid_$2=$reply"
}

# worker_exec NAME COMM: has a worker execute a program whose file name is COMM; sets $pid_NAME.
worker_exec() {
	ln -sf "$(command -v worker)" "$TMPDIR/$2"
	worker_run "$1" exec "$TMPDIR/$2"
	eval "pid_$1=$reply"
}

# worker_pid NAME: sets $pid to the PID of a worker.
worker_pid() {
	eval "pid=\$pid_$1"
	[ -n "$pid" ] || fail "no worker $1"
}

# is_asleep PID: succeeds if the task is asleep and has left its run queue, not only set its state.
# Before that, the kernel does not report where it sleeps (wchan).
is_asleep() {
	grep -q '^State:.S' "/proc/$1/status" && ! grep -qx 0 "/proc/$1/wchan"
}

# wait_until_asleep NAME...: waits until these workers are asleep.
wait_until_asleep() {
	for _worker; do
		worker_pid "$_worker"
		wait_until 60 is_asleep "$pid"
	done
}
