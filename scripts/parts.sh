# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For scripts that run tests in parts, each of which closes with a line `N passed, N failed, N skipped`,
# and close with such a line over all of them. After lib.sh.

part_out=$(mktemp "${TMPDIR:-/tmp}/ferrotrace.XXXXXX")
part_jobs='' part_workers=''
trap 'rm -rf "$part_out" "$part_out.failures" ${part_jobs:+"$part_jobs"}' EXIT
trap 'kill $part_workers ${!:-} 2>/dev/null; exit 130' INT
trap 'kill $part_workers ${!:-} 2>/dev/null; exit 143' TERM
passed=0 failed=0 skipped=0

# took START COMMAND...: how long it took since then, if that is worth a line.
took() {
	took_seconds=$(($(date +%s) - $1))
	shift
	[ $took_seconds -lt 20 ] || echo "# $((took_seconds / 60)) min $((took_seconds % 60)) s for $*" |
		sed 's, /[^ ]*/scripts/, scripts/,'
}

# count NAME COMMAND...: shows what it says, and counts its closing line.
count() {
	part_name=$1
	shift
	"$@" | tee "$part_out"
	part_counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
		"$part_out" | tail -n 1)
	# What ends without its closing line has failed, whatever it was about to say.
	read -r part_passed part_failed part_skipped <<-EOF2
		${part_counts:-0 1 0}
	EOF2
	passed=$((passed + part_passed)) failed=$((failed + part_failed))
	skipped=$((skipped + part_skipped))
	[ -n "$part_counts" ] || echo "no closing line: $part_name" >>"$part_out.failures"
	failures <"$part_out" >>"$part_out.failures"
}

# failures: those in an output; of each its first lines, with the reason, and its last ones, with what was seen.
failures() {
	awk '
		function tell() {
			for (i = n > 15 ? n - 14 : 1; i <= n; i++)
				print last[i]
			n = 0
		}
		/^(ok|KTAP version|not ok|guest status) |^the kernel complained/ || / passed, [0-9]+ failed, / ||
			/^[0-9]+ result\(s\) missing/ { tell(); lines = 0 }
		/^(not ok|guest status|the kernel complained|[0-9]+ result\(s\) missing)/ { lines = 1; first = 5 }
		!lines { next }
		first-- > 0 { print; next }
		{ last[++n] = $0 }
		END { tell() }'
}

# part COMMAND...: one part, and how long it took.
part() {
	part_start=$(date +%s)
	count "$*" "$@"
	took "$part_start" "$@"
}

# take_jobs COMMAND: does what nobody else has taken yet of the jobs in $part_jobs, in their order.
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

# tell_job NUMBER VARIABLE...: writes to $SUMMARY how a job ended, and the cases for which no time
# was left.
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
		echo "==$job_name: $part_passed passed, $part_failed failed, $part_skipped skipped," \
			"in $((job_took / 60)) min $((job_took % 60)) s"
		job_left=$(sed -n 's/^ok [0-9]* \([^ ]*\) # SKIP no time left$/\1/p' "$job_output" | xargs)
		[ -z "$job_left" ] || echo "==$job_name: no time was left for $job_left"
	} >>"$SUMMARY"
}

# parts_at_once COMMAND VARIABLES...: parts that use one processor of the machine and take long, two at a time, those that
# take longest first: the command with each of these sets of variables. Shown in that order, each as it comes.
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
		count "$part_variables $part_command" tail -n +1 -s 0.2 -f --pid="$(cat "$part_jobs/$part_job/pid")" \
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

# recall_failures: what failed, once more, where it is seen, at the end of a long output.
recall_failures() {
	[ ! -s "$part_out.failures" ] || sed '1i == what failed:' "$part_out.failures"
}

# close_parts: the closing line; false if anything failed.
close_parts() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}
