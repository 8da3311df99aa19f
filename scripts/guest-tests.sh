#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: guest-tests.sh ARCH KERNEL [PATTERN...]
#
# Boots one guest, runs the test cases there (those that match a pattern) and evaluates the results:
# a case that failed, was unresolved or unsupported, or has no result counts as failed; so do a
# guest that died or hung, and a kernel log with warnings. The last line of output is `N passed, N
# failed, N skipped`.
#
# CASES=DIRECTORY runs the cases of another directory than tests/cases: selftest, without the
# module; lockdown and oops, which need a boot of their own; reboot, in a guest that crashes and
# boots again; clients, which needs a guest with more programs.
#
# SHARE=1/2 runs every second case of tests/cases, SHARE=2/2 the other ones: in two boots at the
# same time. ALSO=PATTERN,... also runs the cases that match (tests/run describes the order). With
# RETRY=1, a case that failed is run again twice, and counts as passed if it passes both times.
# DEADLINE, in seconds of date +%s: cases that have not begun by then are skipped. Kernels that are
# built here panic on a warning.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

arch=$1 kernel=$2
shift 2
out=$top/build/$kernel-$arch
name=${CASES:-cases}${SHARE:+-${SHARE%/*}}
results=$out/$name.ktap
log=$out/$name.log
mkdir -p "$out"

# Do not boot a guest only to skip all of its cases.
if [ -n "${DEADLINE:-}" ] && [ "$(date +%s)" -ge "$DEADLINE" ]; then
	echo "ok 1 ${CASES:-cases} # SKIP no time left"
	echo '0 passed, 0 failed, 1 skipped'
	exit
fi

# Messages in the kernel log that report an error. (Leaked memory is a separate result, tests/run.)
complaints='WARNING:|BUG:|BUG |Oops|KASAN:|UBSAN:|Kernel panic|general protection|Internal error'
complaints="$complaints|Unable to handle|suspicious RCU|possible recursive|possible circular"
complaints="$complaints|inconsistent lock|irq lock inversion|bad unlock balance|held lock freed"
complaints="$complaints|Invalid wait context|sleeping function called|scheduling while atomic"
complaints="$complaints|self-detected stall|detected stalls|rcu: INFO|soft lockup|hard LOCKUP"
complaints="$complaints|blocked for more than|ODEBUG:|list_add corruption"
complaints="$complaints|list_del corruption|Freeing unused.*failed|refcount_t:|DEBUG_LOCKS_WARN_ON"
complaints="$complaints|CFI failure|Missing ENDBR|Delta way too big|Bad page"
# Messages that the kernel also prints without ferrotrace (docs/limitations.md).
known='WARNING: stack going in the wrong direction\? at return_to_handler'
# In these directories, the tests cause them intentionally.
case ${CASES:-} in
oops)
	known="$known|kernel NULL pointer dereference.* 0000000000000000|Oops: 0002 "
	known="$known|Internal error: Oops: "
	;;
reboot) known="$known|Kernel panic - not syncing: sysrq triggered crash" ;;
esac

# A kernel that warned during boot has stopped checking: do not run tests in that guest (status 99).
troubled=99
command="if dmesg | grep -Eq '$complaints'; then exit $troubled; fi; "
# The patterns are for the shell in the guest: they are quoted for this shell and for that one.
command="${command}sh /tests/run -d /tests/${CASES:-cases}"
[ "${RETRY:-0}" = 0 ] || command="$command -r"
[ -z "${SHARE:-}" ] || command="$command -s $SHARE"
[ -z "${ALSO:-}" ] || command="$command -a '$(echo "$ALSO" | sed "s/'//g; s/,/ /g")'"
if [ -n "${DEADLINE:-}" ]; then
	left=$((DEADLINE - $(date +%s)))
	command="$command -t $((left > 0 ? left : 0))"
fi
for pattern; do
	command="$command '$(printf '%s' "$pattern" | sed "s/'/'\\\\''/g")'"
done
dir=$("$top/scripts/kernel.sh" -q "$kernel" "$arch")
extra=
case ${CASES:-} in
clients) export CLIENTS=1 ;;
record) export CLIENTS=trace-cmd ;;
esac
if [ "${CASES:-}" = selftest ]; then
	export MODULE=/nonexistent
else
	extra=$out/extra-$name
	rm -rf "$extra"
	mkdir "$extra"
	"$top/scripts/env.sh" "$top/scripts/test-modules.sh" "${CASES:-cases}" "$arch" "$dir" \
		"$out" "$extra"
	# The seed of random tests, their duration and number of rounds, and the selected test of
	# the kernel.
	[ -z "${SEED:-}" ] || echo "$SEED" >"$extra/seed"
	[ -z "${ROUNDS:-}" ] || echo "$ROUNDS" >"$extra/rounds"
	[ -z "${MINUTES:-}" ] || echo "$MINUTES" >"$extra/minutes"
	[ -z "${ONLY:-}" ] || echo "$ONLY" >"$extra/only"
fi

echo "# $kernel $arch ($(cat "$dir/release"))${CASES:+: $CASES}${SHARE:+, share $SHARE}"
# The kernel prints events to its log only if a boot parameter allows it.
append='tp_printk tp_printk_stop_on_boot'
if [ "${CASES:-}" = reboot ]; then
	# A buffer at a fixed address, since address randomisation is off.
	append="$append nokaslr reserve_mem=4M:4096:kept trace_instance=kept^traceoff@kept"
	export REBOOT=1
fi
! contains "$lanes" "$kernel" || append="$append panic_on_warn=1"
for try in 1 2 3; do
	rm -f "$results.status"
	{
		APPEND=$append LOAD=0 CMD=$command EXTRA=$extra LOG=$log \
			ARCH=$arch KERNEL=$kernel TIMEOUT=${TIMEOUT:-3600} "$top/qemu/run.sh" ||
			echo $? >"$results.status"
	} | tee "$results"
	status=$(cat "$results.status" 2>/dev/null) || status=0
	# The guest may have died of a warning.
	[ "$status" != 125 ] || grep -q '^KTAP' "$results" || status=$troubled
	if [ $try = 3 ] || [ "$status" != $troubled ]; then
		break
	fi
	echo '# the kernel complained as it booted, before there was a module: booting once more'
	grep -E "$complaints" "$log" | sed 's/^/# /' || :
done

# Print the cases with the longest run times.
sed -n 's/^\(not \)*ok [0-9]* \([^ ]*\) .* (\([0-9.]*\) s)$/\3 \2/p' "$results" | sort -rn |
	head -n 10 | awk '
		$1 >= 5 { text = text (text ? ", " : "") $2 " " $1 " s" }
		END { if (text) print "# took longest: " text }'

read -r passed failed skipped missing <<EOF2
$(awk '
	/^1\.\.[0-9]+/ && !planned { planned = 1; plan = substr($0, 4) + 0 }
	/^ok / { if ($0 ~ / # SKIP/) skipped++; else passed++ }
	/^not ok / { failed++ }
	END {
		missing = planned ? plan - passed - failed - skipped : 1
		print passed + 0, failed + 0, skipped + 0, missing
	}' "$results")
EOF2
if [ "$missing" != 0 ]; then
	echo "$missing result(s) missing"
	failed=$((failed + (missing > 0 ? missing : 1)))
fi

if [ -e "$results.status" ]; then
	echo "guest status $(cat "$results.status"); its console: $log"
	rm -f "$results.status"
	failed=$((failed + 1))
fi

if grep -E "$complaints" "$log" | grep -Ev "$known" >"$results.complaints"; then
	echo "the kernel complained, see $log:"
	grep -E "ferrotrace-test: |$complaints" "$log" | grep -Ev "$known" | awk '
		/ferrotrace-test: / { test = $0; next }
		{ if (test) print "  " test; test = ""; print "    " $0 }'
	failed=$((failed + 1))
fi
rm -f "$results.complaints"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
