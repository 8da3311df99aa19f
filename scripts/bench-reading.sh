#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: bench-reading.sh
#
# Measures how fast the command `ferrotrace` reads a recording of two million records, in comparison
# with trace-cmd, and prints a table (bench/reading.py). Fails if it is too slow, needs too much
# memory, or needs more memory than for a quarter of the records. The recordings, build/reading.dat
# and build/reading-quarter.dat, are made in a guest once.

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
quarter=$top/build/reading-quarter.dat

# All functions, and all states, of a program that makes many system calls.
record() {
	say 'making recordings ...'
	ARCH=$arch KERNEL=debian "$top/scripts/build.sh"
	mkdir "$work/extra"
	"$top/scripts/env.sh" strip -o "$work/extra/ferrotrace" "$top/build/tools-$arch/ferrotrace"
	LOAD=1 EXTRA=$work/extra OUT=$work/out CLIENTS=trace-cmd MEM=3000 TIMEOUT=900 \
		LOG=$top/build/reading.log ARCH=$arch KERNEL=debian CMD="cd /out
			for calls in $1 $(($1 / 4)); do
				ferrotrace record -b 256M -o reading-\$calls.dat \\
					dd if=/dev/zero of=/dev/null bs=1 count=\$calls
			done" \
		"$top/qemu/run.sh" >&2
	mv "$work/out/reading-$(($1 / 4)).dat" "$quarter"
	mv "$work/out/reading-$1.dat" "$recording"
}

ARCH=$arch "$top/scripts/tools.sh"
if [ ! -e "$recording" ] || [ ! -e "$quarter" ]; then
	record 66000
fi
clients=$("$top/qemu/clients.sh" "$arch" trace-cmd)
"$top/scripts/env.sh" cpio --quiet -i -d -D "$work" usr/bin/trace-cmd \
	'usr/lib/*/traceevent/plugins/*' <"$clients"
"$top/scripts/env.sh" env TRACEEVENT_PLUGIN_DIR="$(echo "$work"/usr/lib/*/traceevent/plugins)" \
	python3 "$top/bench/reading.py" "$work/usr/bin/trace-cmd" \
	"$top/build/tools-$arch/ferrotrace" "$recording" "$quarter"
