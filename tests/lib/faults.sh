# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Injected allocation failures: tests/helpers/failnth.c makes allocations fail, one after another.

# read_function_range FUNCTION: sets $range_start and $range_end to the addresses of a kernel
# function.
read_function_range() {
	read -r range_start range_end <<-EOF2
		$(awk -v name="$1" '
			found && $1 != start { print "0x" start, "0x" $1; exit }
			$3 == name { start = $1; found = 1 }' /proc/kallsyms)
	EOF2
	[ -n "$range_end" ] || fail "there is no function $1"
}

# select_faults_in_range [START END]: selects the allocations to fail: all kinds, if a function in
# that range of addresses is on the stack (default: any), except those of kmemleak, which has a
# reserve.
select_faults_in_range() {
	read_function_range kmemleak_alloc
	for _fault in /sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc; do
		echo N >$_fault/ignore-gfp-wait
		echo 0 >$_fault/verbose
		echo 32 >$_fault/stacktrace-depth
		echo "${1:-0}" >$_fault/require-start
		echo "${2:-0xffffffffffffffff}" >$_fault/require-end
		echo "$range_start" >$_fault/reject-start
		echo "$range_end" >$_fault/reject-end
	done
	echo N >/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem
	echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
}

# reject_faults_in_function FUNCTION: no allocation fails in that function and in the functions that
# it calls, instead of in those of kmemleak.
reject_faults_in_function() {
	read_function_range "$1"
	for _fault in /sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc; do
		echo "$range_start" >$_fault/reject-start
		echo "$range_end" >$_fault/reject-end
	done
}

# select_faults_in_module: selects allocations on behalf of the module.
select_faults_in_module() {
	_start=$(sed -n 's/^ferrotrace .* 0x\([0-9a-f]*\).*/\1/p' /proc/modules)
	_size=$(sed -n 's/^ferrotrace \([0-9]*\) .*/\1/p' /proc/modules)
	# The shell's numbers end at 2^63 - 1.
	_high=${_start%????????}
	_low=$(printf '%08x' $((0x${_start#"$_high"} + _size)))
	select_faults_in_range "0x$_start" "0x$_high$_low"
}

# select_faults_in_function FUNCTION: selects allocations in that function and in the functions that
# it calls.
select_faults_in_function() {
	read_function_range "$1"
	select_faults_in_range "$range_start" "$range_end"
}

# inject_each_fault write FILE FROM TO | read FILE: makes each allocation fail in turn. Sets $points
# to the number of allocations and $failures to the number of attempts that failed.
# helpers/failnth.c describes the checks.
inject_each_fault() {
	failnth 1-100000 "$@" >"$TMPDIR/faults" || fail "$(cat "$TMPDIR/faults")"
	read -r points failures <"$TMPDIR/faults"
	echo "$*: $failures of $points"
	[ "$points" -gt 0 ] || fail "$*: no allocation failed"
}

# fault_step NUMBER: prints the distance to the next allocation that is made to fail: NUMBER with
# BRIEF=1, otherwise 1, so that each one is tried.
fault_step() {
	[ "$BRIEF" = 1 ] || set -- 1
	echo "$1"
}
