#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: nop-test.sh ARCH KERNEL
#
# Tests that a disabled trace event is one no-op: in a function that only fires an event
# (tests/module/events.rs), there may be nothing else between entry and return. The last line of
# output is `N passed, N failed, N skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
arch=$1 kernel=$2
cross=$(cross_compile "$arch")

# Skip instructions that belong to the function, not to the event: landing pads, and the protection
# of the return address.
code=$("$top/scripts/env.sh" "${cross#*=}objdump" --disassemble=ktrace_test_bare \
	--no-show-raw-insn \
	"$top/build/$kernel-$arch/ktrace_test.ko" |
	awk '
		/<ktrace_test_bare>:$/ { inside = 1; next }
		!inside || !NF { next }
		{
			sub(/^[ \t]*[0-9a-f]+:[ \t]*/, "")
			sub(/[ \t]*(\/\/|#|<).*/, "")
			gsub(/[ \t]+/, " ")
		}
		/^(endbr64|bti c|paciasp|autiasp|hint )/ { next }
		{ print }
		/^(ret|jmp)/ { exit }')
# A jump to the common return is a return.
case $(echo "$code" | tr '\n' ';') in
'nop;ret;' | 'xchg %ax,%ax;ret;' | 'xchg %ax,%ax;jmp '*';' | 'nopl '*';ret;' | 'nopl '*';jmp '*';')
	echo "ok: on $kernel $arch an event that is off is one no-op"
	echo '1 passed, 0 failed, 0 skipped' ;;
*)
	echo "not ok: on $kernel $arch an event that is off is more than one no-op:"
	echo "$code"
	echo '0 passed, 1 failed, 0 skipped'
	exit 1 ;;
esac
