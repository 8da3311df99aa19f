#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [ARCH=...] [JSON=FILE] bench.sh [check | compare | scale]
#
# Counts the guest instructions that tracing adds to an operation, for ferrotrace and for the
# kernel's own tracers, on the stock kernel of one architecture or of both (bench/rows,
# bench/surroundings). Prints a table (bench/report.py), and another one with ratios of time
# (bench/wallclock); writes the same data to FILE as JSON. Then measures how fast the command reads
# a recording (scripts/bench-reading.sh). With `check`, only compares the numbers of the first table
# with bench/limits, and prints `N passed, N failed, N skipped` as the last line. With `compare`,
# asks the same questions of ferrotrace and of other tools instead (bench/compare). With `scale`,
# measures costs for numbers of tasks, trace arrays, patterns and CPUs (bench/scale, bench/cpus).

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
how=${1:-table}
[ -z "${JSON:-}" ] || : >>"$JSON" || die "JSON=$JSON: cannot be written"

# count ARCHITECTURE ROWS ICOUNT CPUS CLIENTS [MEMORY]: runs a guest, with this memory in MiB, and
# writes its output to build/bench-ARCHITECTURE/ROWS.
count() {
	_out=$top/build/bench-$1
	_status=0
	ICOUNT=$3 SMP=$4 CLIENTS=$5 MEM=${6:-2500} LOAD=0 EXTRA=$_out/extra CMD="sh /extra/$2" \
		TIMEOUT=${TIMEOUT:-1800} LOG=$_out/${2%% *}.log ARCH=$1 KERNEL=debian \
		"$top/qemu/run.sh" >"$_out/${2%% *}" || _status=$?
	if [ "$_status" != 0 ]; then
		cat "$_out/${2%% *}" >&2
		die "the guest failed (status $_status); its console: $_out/${2%% *}.log"
	fi
}

# count_all ARCHITECTURE: writes all rows of it to build/bench-ARCHITECTURE/ARCHITECTURE.
count_all() {
	case $how in
	check) count "$1" 'rows limits' 1 1 trace-cmd ;;
	compare) count "$1" compare 1 1 1 ;;
	scale)
		# 100,000 sleeping tasks take 5 GB.
		count "$1" scale 1 1 0 7000
		count "$1" cpus 1 64 0 ;;
	*)
		count "$1" wallclock 0 1 0
		count "$1" rows 1 1 trace-cmd
		count "$1" surroundings 1 8 1 ;;
	esac
	for _rows in rows surroundings compare scale cpus; do
		[ ! -e "$_out/$_rows" ] || cat "$_out/$_rows"
	done >"$_out/$1"
}

# pack_job ARCHITECTURE DIRECTORY: makes job.tar.gz, which bench/surroundings compiles: three
# programs of this project and the headers that they include.
pack_job() {
	# shellcheck disable=SC2016 # for the shell inside
	"$top/scripts/env.sh" sh -ec '
		job=$2/job
		mkdir "$job"
		for program in worker ftwrite workload; do
			cp "$3/tests/helpers/$program.c" "$job"
		done
		"$1"gcc -M "$job"/*.c | tr " " "\n" | grep "^/.*\.h$" | grep -v /lib/gcc | sort -u |
			xargs cp --parents -t "$job"
		cd "$job"
		for dir in usr/include usr/include/*-linux-gnu usr/*-linux-gnu/include \
			usr/lib/linux/uapi/*; do
			[ ! -d "$dir" ] || echo "-I$dir"
		done >include
		tar czf ../job.tar.gz ./*
		rm -r "$job"' sh "$(cross_compile "$1" | sed 's/.*=//')" "$2" "$top"
}

set --
for arch in ${ARCH:-x86_64 arm64}; do
	[ "$how" = check ] || say "counting on $arch ..."
	ARCH=$arch KERNEL=debian KTRACE_TESTS=1 "$top/scripts/build.sh"
	out=$top/build/bench-$arch
	rm -rf "$out"
	mkdir -p "$out/extra"
	for script in functions rows surroundings wallclock compare scale cpus slow.bt states.bt; do
		cp "$top/bench/$script" "$out/extra"
	done
	[ "$how" != table ] || pack_job "$arch" "$out/extra"
	cross=$(cross_compile "$arch")
	"$top/scripts/env.sh" "${cross#*=}strip" --strip-debug -o "$out/extra/ktrace_test.ko" \
		"$top/build/debian-$arch/ktrace_test.ko"
	ARCH=$arch "$top/scripts/tools.sh"
	"$top/scripts/env.sh" "${cross#*=}strip" -o "$out/extra/ferrotrace" \
		"$top/build/tools-$arch/ferrotrace"
	for program in measure crowd; do
		"$top/scripts/env.sh" "${cross#*=}gcc" -static -O2 -Wall -Wextra -Werror -pthread \
			-o "$out/extra/$program" "$top/bench/$program.c"
	done
	"$top/scripts/env.sh" clang-19 -target bpf -mcpu=v3 -ffreestanding -g -O2 \
		-Wall -Wextra -Werror -D"__${arch}__" -o "$out/extra/slow.bpf.o" \
		-c "$top/bench/slow.bpf.c"
	set -- "$@" "$out/$arch"
done
# Run the guests concurrently: the number of instructions does not depend on how long they take.
guests=
trap 'kill $guests 2>/dev/null; exit 130' INT
trap 'kill $guests 2>/dev/null; exit 143' TERM
for arch in ${ARCH:-x86_64 arm64}; do
	count_all "$arch" &
	guests="$guests $!"
done
for guest in $guests; do
	wait "$guest"
done
"$top/scripts/env.sh" python3 "$top/bench/report.py" "$how" "${JSON:-}" "$top/bench/limits" "$@"
[ "$how" != table ] || "$top/scripts/bench-reading.sh"
