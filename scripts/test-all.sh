#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [ARCH=...] test-all.sh
#
# Every test on every kernel that there is a configuration for, on one architecture or on both, and the
# kernel's own tests of tracing four times over (tests/upstream), a thousand rounds of insmod and rmmod (tests/rounds), and half an hour of everything at once
# (tests/soak). Takes many hours, as each kernel is
# built first if it is not in the cache. Goes on after a failure. Writes a table, one line for
# each kernel, to build/test-all.md, and what was printed to build/test-all/; closes with one line,
# `N passed, N failed, N skipped`, over all.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

logs=$top/build/test-all
mkdir -p "$logs"
table=$top/build/test-all.md
passed=0 failed=0 skipped=0
{
	echo "$(git -C "$top" log -1 --format='Commit %h'), $(date +%F)"
	echo
	echo '| kernel | architecture | passed | failed | skipped | minutes |'
	echo '| --- | --- | ---: | ---: | ---: | ---: |'
} >"$table"

# one NAME KERNEL ARCH [VARIABLE=...]: what make test says of it.
one() {
	name=$1 kernel=$2 arch=$3
	shift 3
	echo "== $name, $arch"
	start=$(date +%s)
	log=$logs/$name-$arch.log
	env "$@" KERNEL="$kernel" ARCH="$arch" RETRY=1 "$top/scripts/test.sh" </dev/null >"$log" 2>&1 || :
	read -r p f s <<-EOF2
		$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log" | tail -n 1)
	EOF2
	# What ends without its closing line has failed.
	[ -n "$p" ] || p=0 f=1 s=0
	[ "$f" = 0 ] || sed -n '/^== what failed:/,$p' "$log"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	echo "| $name | $arch | $p | $f | $s | $((($(date +%s) - start + 30) / 60)) |" | tee -a "$table"
}

# others ARCH: what else Debian has: the pinned release with PREEMPT_RT, on arm64 with pages of 16 KiB, and the newest.
others() {
	# shellcheck source=qemu/kernel.pin
	. "$top/qemu/kernel.pin"
	deb=$(debian_arch "$1")
	echo "$release-rt-$deb"
	[ "$1" != arm64 ] || echo "$release-arm64-16k"
	"$top/scripts/env.sh" apt-cache pkgnames linux-binary- |
		sed -n "s/^linux-binary-\([0-9.]*+deb[0-9]*-$deb\)\$/\1/p" | sort -V | tail -n 1 |
		grep -Fvx "$release-$deb" || :
}

for arch in ${ARCH:-x86_64 arm64}; do
	for kernel in debian $lanes $(others "$arch"); do
		# arm64 has no kernels without SMP.
		[ "$kernel-$arch" != up-arm64 ] || continue
		one "$kernel" "$kernel" "$arch" T=
	done
	one upstream debian "$arch" T=upstream
	one rounds debian "$arch" T=rounds
	for kernel in $checked; do
		one "soak-$kernel" "$kernel" "$arch" T=soak
	done
done
echo "the table is in $table"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
