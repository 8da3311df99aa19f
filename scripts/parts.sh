# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For scripts that run tests in parts, each of which prints `N passed, N failed, N skipped` as its
# last line, and that print such a line for all of them. Source lib.sh first.

part_out=$(mktemp "${TMPDIR:-/tmp}/ferrotrace.XXXXXX")
part_jobs='' part_workers=''
trap 'rm -rf "$part_out" "$part_out.failures" ${part_jobs:+"$part_jobs"}' EXIT
trap 'kill $part_workers ${!:-} 2>/dev/null; exit 130' INT
trap 'kill $part_workers ${!:-} 2>/dev/null; exit 143' TERM
passed=0 failed=0 skipped=0

# took START COMMAND...: prints the time since then, if it is at least 20 seconds.
took() {
	took_seconds=$(($(date +%s) - $1))
	shift
	[ $took_seconds -lt 20 ] ||
		echo "# $((took_seconds / 60)) min $((took_seconds % 60)) s for $*" |
		sed 's, /[^ ]*/scripts/, scripts/,'
}

# count NAME COMMAND...: shows the output of the command, and adds the numbers of its last line.
count() {
	part_name=$1
	shift
	"$@" | tee "$part_out"
	part_counts=$(sed -n \
		's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
		"$part_out" | tail -n 1)
	# A part that ends without such a line has failed.
	read -r part_passed part_failed part_skipped <<-EOF2
		${part_counts:-0 1 0}
	EOF2
	passed=$((passed + part_passed)) failed=$((failed + part_failed))
	skipped=$((skipped + part_skipped))
	[ -n "$part_counts" ] || echo "no closing line: $part_name" >>"$part_out.failures"
	failures <"$part_out" >>"$part_out.failures"
}

# failures: filters the failures in an output: for each, the first lines, with the reason, and the
# last ones.
failures() {
	awk '
		function tell() {
			for (i = n > 15 ? n - 14 : 1; i <= n; i++)
				print last[i]
			n = 0
		}
		/^(ok|KTAP version|not ok|guest status) |^the kernel complained/ ||
			/ passed, [0-9]+ failed, / ||
			/^[0-9]+ result\(s\) missing/ { tell(); lines = 0 }
		/^(not ok|guest status|the kernel complained|[0-9]+ result\(s\) missing)/ {
			lines = 1
			first = 5
		}
		!lines { next }
		first-- > 0 { print; next }
		{ last[++n] = $0 }
		END { tell() }'
}

# part COMMAND...: runs one part, and prints the time that it took.
part() {
	part_start=$(date +%s)
	count "$*" "$@"
	took "$part_start" "$@"
}

# take_jobs COMMAND: runs jobs in $part_jobs that the other worker has not started yet, in their
# order.
take_jobs() {
	trap 'kill ${!:-} 2>/dev/null; exit 143' TERM
	job=0
	while read -r variables; do
		job=$((job + 1))
		mkdir "$part_jobs/$job" 2>/dev/null || continue
		job_start=$(date +%s)
		# shellcheck disable=SC2086 # words are meant
		env $variables "$1" >"$part_jobs/$job/output" 2>&1 </dev/null &
		echo $! >"$part_jobs/$job/pid"
		wait $! || :
		echo $(($(date +%s) - job_start)) >"$part_jobs/$job/seconds"
		# shellcheck disable=SC2086
		took "$job_start" $variables "$1" >"$part_jobs/$job/took"
		: >"$part_jobs/$job/done"
	done <"$part_jobs/list"
}

# tell_job NUMBER VARIABLE...: writes the result of a job to $SUMMARY, and the cases for which there
# was no time.
tell_job() {
	job_output=$part_jobs/$1/output
	shift
	job_name=
	for job_variable; do
		case $job_variable in
		KERNEL=* | ARCH=*) job_name="$job_name ${job_variable#*=}" ;;
		SHARE=*) job_name="$job_name, share ${job_variable#*=}" ;;
		esac
	done
	read -r job_took <"${job_output%output}seconds"
	{
		echo "==$job_name: $part_passed passed, $part_failed failed," \
			"$part_skipped skipped, in $((job_took / 60)) min $((job_took % 60)) s"
		job_left=$(sed -n 's/^ok [0-9]* \([^ ]*\) # SKIP no time left$/\1/p' \
			"$job_output" | xargs)
		[ -z "$job_left" ] || echo "==$job_name: no time was left for $job_left"
	} >>"$SUMMARY"
}

# parts_at_once COMMAND VARIABLES...: runs the command with each of these sets of variables, two at
# a time. For parts that use one processor and take long; those that take longest should be first.
# The output is shown in that order.
parts_at_once() {
	part_command=$1
	shift
	part_jobs=$(mktemp -d "${TMPDIR:-/tmp}/ferrotrace.XXXXXX")
	printf '%s\n' "$@" >"$part_jobs/list"
	take_jobs "$part_command" &
	part_workers=$!
	take_jobs "$part_command" &
	part_workers="$part_workers $!"
	part_job=0
	for part_variables; do
		part_job=$((part_job + 1))
		until [ -s "$part_jobs/$part_job/pid" ]; do
			sleep 0.2
		done
		count "$part_variables $part_command" \
			tail -n +1 -s 0.2 -f --pid="$(cat "$part_jobs/$part_job/pid")" \
			"$part_jobs/$part_job/output"
		until [ -e "$part_jobs/$part_job/done" ]; do
			sleep 0.2
		done
		cat "$part_jobs/$part_job/took"
		# shellcheck disable=SC2086
		[ -z "${SUMMARY:-}" ] || tell_job $part_job $part_variables
	done
	wait
	rm -rf "$part_jobs"
	part_jobs='' part_workers=''
}

# recall_failures: repeats all failures at the end of a long output.
recall_failures() {
	[ ! -s "$part_out.failures" ] || sed '1i == what failed:' "$part_out.failures"
}

# close_parts: prints the last line; fails if any test failed.
close_parts() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}
