# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2317
# The result of a case, what it requires, and checks of single values.

# The kernel's ftracetest has functions of these names, with statuses of its own.
if ! command -v exit_unresolved >/dev/null; then
	exit_pass() {
		exit 0
	}

	exit_fail() {
		exit 1
	}

	# exit_unresolved: neither passed nor failed, the test could not be carried out.
	exit_unresolved() {
		exit 70
	}

	# exit_unsupported: the kernel lacks a feature that the test needs.
	exit_unsupported() {
		exit 71
	}
fi

fail() {
	echo "FAIL: $*"
	exit_fail
}

require() {
	case $1 in
	*:tracer) grep -qw "${1%:*}" "$TRACING/available_tracers" ;;
	*:program) command -v "${1%:*}" >/dev/null ;;
	*:option) grep -q "^${1%:*}=[ym]" /kernel.config ;;
	/*) [ -e "$1" ] ;;
	*) [ -e "$TRACING/$1" ] ;;
	esac || {
		echo "this kernel or guest lacks $1"
		exit_unsupported
	}
}

# assert_eq WHAT ACTUAL EXPECTED: fails if the values differ.
assert_eq() {
	[ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"
}

# assert_range WHAT ACTUAL LEAST MOST: fails unless the number is within these limits.
assert_range() {
	if [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
		fail "$1 is $2, not within $3 and $4"
	fi
}
