#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [ARCH=...] [JSON=FILE] bench.sh [check]
#
# Counts the guest's instructions that tracing adds to an operation, ours and the kernel's own, on the
# stock kernel of one architecture or of both (bench/rows), and prints a table (bench/report.py); into
# FILE the same as JSON. With `check`, compares with bench/limits instead, and closes with one line,
# `N passed, N failed, N skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
how=${1:-table}
[ -z "${JSON:-}" ] || : >>"$JSON" || die "JSON=$JSON: cannot be written"

# count ARCHITECTURE: what its guest prints, into build/bench-ARCHITECTURE/.
count() {
	_out=$top/build/bench-$1
	_status=0
	ICOUNT=1 SMP=1 MEM=2500 LOAD=0 EXTRA=$_out/extra CMD="sh /extra/rows $rows" \
		TIMEOUT=${TIMEOUT:-900} LOG=$_out/console.log ARCH=$1 KERNEL=debian \
		"$top/qemu/run.sh" >"$_out/$1" || _status=$?
	if [ "$_status" != 0 ]; then
		cat "$_out/$1" >&2
		die "the guest failed (status $_status); its console: $_out/console.log"
	fi
}

rows=
[ "$how" != check ] || rows=limits
set --
for arch in ${ARCH:-x86_64 arm64}; do
	[ "$how" = check ] || say "counting on $arch ..."
	ARCH=$arch KERNEL=debian KTRACE_TESTS=1 "$top/scripts/build.sh"
	out=$top/build/bench-$arch
	rm -rf "$out"
	mkdir -p "$out/extra"
	cp "$top/bench/rows" "$out/extra/rows"
	cross=$(cross_compile "$arch")
	"$top/scripts/env.sh" "${cross#*=}strip" --strip-debug -o "$out/extra/ktrace_test.ko" \
		"$top/build/debian-$arch/ktrace_test.ko"
	"$top/scripts/env.sh" "${cross#*=}gcc" -static -O2 -Wall -Wextra -Werror -pthread \
		-o "$out/extra/measure" "$top/bench/measure.c"
	set -- "$@" "$out/$arch"
done
# Side by side: to an instruction it is the same however long it takes.
guests=
trap 'kill $guests 2>/dev/null; exit 130' INT
trap 'kill $guests 2>/dev/null; exit 143' TERM
for arch in ${ARCH:-x86_64 arm64}; do
	count "$arch" &
	guests="$guests $!"
done
for guest in $guests; do
	wait "$guest"
done
"$top/scripts/env.sh" python3 "$top/bench/report.py" "$how" "${JSON:-}" "$top/bench/limits" "$@"
