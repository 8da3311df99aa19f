#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [VARIABLE=...] build.sh [--install] [DIRECTORY]
#
# Builds the module into build/KERNEL-ARCH/, or build/kdir/ if KDIR names a kernel tree. With
# --install, copies it to ferrotrace.ko and prints for which kernel it is. If in that case none of
# KERNEL, ARCH and KDIR is given, the module is built for the running kernel, if possible.
#
# DIRECTORY contains another module that uses ktrace (samples/thermal). It is built into a directory
# below build/, with the name of DIRECTORY at its end, and copied to DIRECTORY.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

install=
if [ "${1-}" = --install ]; then
	install=1
	shift
fi
source=$top suffix=
if [ $# -gt 0 ]; then
	source=$(CDPATH='' cd -- "$1" 2>/dev/null && pwd -P) || die "$1: no such directory"
	suffix=-${source##*/}
fi

if [ -n "${KDIR:-}" ]; then
	out=$top/build/kdir$suffix
	SOURCE=$source "$top/scripts/build-kdir.sh" "$KDIR" "$out"
	for_kernel="the tree $KDIR"
else
	kernel=${KERNEL:-debian} arch=${ARCH:-x86_64} dir=
	if [ -n "$install" ] && [ -z "${KERNEL:-}${ARCH:-}" ]; then
		case $(uname -m) in
		aarch64) arch=arm64 ;;
		esac
		running=$(uname -r)
		case $running in
		[0-9]*+deb[0-9]*-amd64 | [0-9]*+deb[0-9]*-arm64 | [0-9]*+deb[0-9]*-arm64-16k)
			if dir=$("$top/scripts/kernel.sh" "$running" "$arch"); then
				kernel=$running
			fi ;;
		esac
	fi
	[ -n "$dir" ] || dir=$("$top/scripts/kernel.sh" "$kernel" "$arch")
	out=$top/build/$kernel-$arch$suffix
	for_kernel="$(cat "$dir/release") ($arch)"
	SOURCE=$source "$top/scripts/kbuild.sh" "$dir" "$out"
fi

if [ -n "$install" ]; then
	# Test modules may be there too.
	set -- "$out/ferrotrace.ko"
	[ "$source" = "$top" ] || set -- "$out"/*.ko
	cp "$@" "$source/"
	echo "${1##*/} is for $for_kernel; this machine runs $(uname -r)"
fi
