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

set --
for arch in ${ARCH:-x86_64 arm64}; do
	[ "$how" = check ] || say "counting on $arch ..."
	ARCH=$arch KERNEL=debian "$top/scripts/build.sh"
	out=$top/build/bench-$arch
	rm -rf "$out"
	mkdir -p "$out/extra"
	cp "$top/bench/rows" "$out/extra/rows"
	cross=$(cross_compile "$arch")
	"$top/scripts/env.sh" "${cross#*=}gcc" -static -O2 -Wall -Wextra -Werror -pthread \
		-o "$out/extra/measure" "$top/bench/measure.c"
	status=0
	ICOUNT=1 SMP=1 MEM=2500 LOAD=0 EXTRA=$out/extra CMD='sh /extra/rows' TIMEOUT=${TIMEOUT:-900} \
		LOG=$out/console.log ARCH=$arch KERNEL=debian "$top/qemu/run.sh" >"$out/$arch" || status=$?
	if [ "$status" != 0 ]; then
		cat "$out/$arch" >&2
		die "the guest failed (status $status); its console: $out/console.log"
	fi
	set -- "$@" "$out/$arch"
done
"$top/scripts/env.sh" python3 "$top/bench/report.py" "$how" "${JSON:-}" "$top/bench/limits" "$@"
