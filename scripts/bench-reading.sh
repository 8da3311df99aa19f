#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: bench-reading.sh
#
# Measures how fast the command `ferrotrace` reads a recording of two million records, in comparison
# with trace-cmd, and prints a table (bench/reading.py). Fails if it is too slow or needs too much
# memory. The recording, build/reading.dat, is made in a guest once.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

case $(uname -m) in
aarch64) arch=arm64 ;;
*) arch=x86_64 ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/ferrotrace.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
recording=$top/build/reading.dat

# All functions, and all states, of a program that makes many system calls.
record() {
	say 'making a recording ...'
	ARCH=$arch KERNEL=debian "$top/scripts/build.sh"
	mkdir "$work/extra"
	"$top/scripts/env.sh" strip -o "$work/extra/ferrotrace" "$top/build/tools-$arch/ferrotrace"
	LOAD=1 EXTRA=$work/extra OUT=$work/out CLIENTS=trace-cmd MEM=3000 TIMEOUT=900 \
		LOG=$top/build/reading.log ARCH=$arch KERNEL=debian CMD="cd /out
			ferrotrace record -b 256M -o reading.dat \\
				dd if=/dev/zero of=/dev/null bs=1 count=$1" \
		"$top/qemu/run.sh" >&2
	mv "$work/out/reading.dat" "$recording"
}

ARCH=$arch "$top/scripts/tools.sh"
[ -e "$recording" ] || record 66000
clients=$("$top/qemu/clients.sh" "$arch" trace-cmd)
"$top/scripts/env.sh" cpio --quiet -i -d -D "$work" usr/bin/trace-cmd \
	'usr/lib/*/traceevent/plugins/*' <"$clients"
"$top/scripts/env.sh" env TRACEEVENT_PLUGIN_DIR="$(echo "$work"/usr/lib/*/traceevent/plugins)" \
	python3 "$top/bench/reading.py" "$work/usr/bin/trace-cmd" \
	"$top/build/tools-$arch/ferrotrace" "$recording"
