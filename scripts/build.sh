#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [VARIABLE=...] build.sh [--install]
#
# Builds the module into build/KERNEL-ARCH/, or build/kdir/ if KDIR names a kernel tree. With
# --install, copies it to ferrotrace.ko and prints for which kernel it is. If in that case none of
# KERNEL, ARCH and KDIR is given, the module is built for the running kernel, if possible.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

install=
[ "${1-}" != --install ] || install=1

if [ -n "${KDIR:-}" ]; then
	"$top/scripts/build-kdir.sh" "$KDIR"
	out=$top/build/kdir
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
	out=$top/build/$kernel-$arch
	for_kernel="$(cat "$dir/release") ($arch)"
	"$top/scripts/kbuild.sh" "$dir" "$out"
fi

if [ -n "$install" ]; then
	cp "$out/ferrotrace.ko" "$top/ferrotrace.ko"
	echo "ferrotrace.ko is for $for_kernel; this machine runs $(uname -r)"
fi
