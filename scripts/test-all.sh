#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [ARCH=...] [ROWS='NAME...'] test-all.sh
#
# Runs every test on every kernel for which there is a configuration, on one architecture or on
# both. Also runs the kernel's own tests of tracing four times (tests/upstream), a thousand rounds
# of insmod and rmmod (tests/rounds), and half an hour of the stress test (tests/soak). With BRIEF=1
# (see test.sh), the full number of repetitions is still used on the stock kernel, and in the cases
# with faults on a kernel where allocations can fail.
#
# This takes many hours, as each kernel is built first if it is not in the cache. It can be
# interrupted and continues where it was: a row that passed on the same code is not run again, in
# any clone, since the cache records it. So several clones can run different rows at the same time.
# A failure does not end the run. ROWS selects rows by the names in the table.
#
# Writes a table with one line per row to build/test-all.md, and the output to build/test-all/. The
# last line of output is `N passed, N failed, N skipped`, for all rows.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

logs=$top/build/test-all
rows=$cache/test-all
mkdir -p "$logs" "$rows"
find "$rows" -type f -mtime +30 -delete
table=$top/build/test-all.md
passed=0 failed=0 skipped=0
# The state of the code: all files except documentation.
code=$(cd "$top" && git ls-files -z -- . ':!docs' ':!*.md' | xargs -0 sha256sum | sha256sum)
{
	echo "$(git -C "$top" log -1 --format='Commit %h'), $(date +%F)"
	echo
	echo '| kernel | architecture | passed | failed | skipped | minutes |'
	echo '| --- | --- | ---: | ---: | ---: | ---: |'
} >"$table"

# one NAME KERNEL ARCH [VARIABLE=...]: runs `make test` for one row.
one() {
	name=$1 kernel=$2 arch=$3
	shift 3
	[ -z "${ROWS:-}" ] || contains "$ROWS" "$name" || return 0
	echo "== $name, $arch"
	start=$(date +%s)
	log=$logs/$name-$arch.log
	set -- "BRIEF=${BRIEF:-}" "ROUNDS=${ROUNDS:-}" "MINUTES=${MINUTES:-}" "$@" \
		"KERNEL=$kernel" "ARCH=$arch" RETRY=1
	row=$rows/$(echo "$code $*" | sha256sum | cut -c1-16)
	if [ -e "$row" ]; then
		read -r p s <"$row"
		passed=$((passed + p)) skipped=$((skipped + s))
		echo 'it has passed on this code'
		sed -n 2p "$row" | tee -a "$table"
		return
	fi
	env "$@" "$top/scripts/test.sh" </dev/null >"$log" 2>&1 || :
	counts=$(sed -n \
		's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
		"$log" | tail -n 1)
	read -r p f s <<-EOF2
		$counts
	EOF2
	# A row without a last line has failed.
	[ -n "$p" ] || p=0 f=1 s=0
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	line="| $name | $arch | $p | $f | $s | $((($(date +%s) - start + 30) / 60)) |"
	if [ "$f" = 0 ]; then
		printf '%s\n' "$p $s" "$line" >"$row.$$"
		mv "$row.$$" "$row"
	else
		sed -n '/^== what failed:/,$p' "$log"
	fi
	echo "$line" | tee -a "$table"
}

# others ARCH: prints other kernels of Debian: the pinned release with PREEMPT_RT, on arm64 with
# pages of 16 KiB, and the newest one.
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

viewers=1
for arch in ${ARCH:-x86_64 arm64}; do
	one 'debian' debian "$arch" T= BRIEF= TIMEOUT=14400 VIEWERS=$viewers
	viewers=0
	for kernel in $lanes $(others "$arch"); do
		# arm64 has no kernels without SMP.
		[ "$kernel-$arch" != up-arm64 ] || continue
		one "$kernel" "$kernel" "$arch" T= TIMEOUT=14400
	done
	if [ "${BRIEF:-}" = 1 ]; then
		one faults memory "$arch" T='faults/[!f]*' BRIEF= TIMEOUT=14400
		one fuzz memory "$arch" T='faults/fuzz' BRIEF= TIMEOUT=14400
	fi
	# One of the kernel's own tests waits, under emulation, for CPUs that wait for each other.
	one upstream debian "$arch" T=upstream ONLY=-ftrace/fgraph-multi-filter.tc
	one upstream-filter debian "$arch" T=upstream ONLY=ftrace/fgraph-multi-filter.tc SMP=1
	one rounds debian "$arch" T=rounds
	for kernel in $checked; do
		one "soak-$kernel" "$kernel" "$arch" T=soak
	done
done
[ $((passed + failed)) != 0 ] || die "ROWS='${ROWS:-}': there is no such row"
echo "the table is in $table"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
