#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: kernel.sh [-q] KERNEL ARCH
#
# Prepares a kernel to build modules for it and to boot it, unless this is done, and prints its
# directory:
#   tree/      for `make -C tree M=...`; its vmlinux contains the kernel's BTF
#   image      bzImage or Image
#   release    the output of `uname -r`
#   args       the variables that its make needs
#   note       a message for the user, if any; with -q, it is not printed
#
# KERNEL is `debian` (the pinned Debian kernel), the release of any other Debian kernel
# (`uname -r`), or a lane (a vanilla kernel, built here; lib.sh names them). ARCH is x86_64 or
# arm64.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

quiet=
if [ "${1-}" = -q ]; then
	quiet=1
	shift
fi
[ $# = 2 ] || die 'usage: kernel.sh [-q] KERNEL ARCH'
kernel=$1 arch=$2
case $arch in
x86_64 | arm64) ;;
*) die "ARCH=$arch: only x86_64 and arm64 are supported" ;;
esac

# shellcheck source=qemu/kernel.pin
. "$top/qemu/kernel.pin"
deb=$(debian_arch "$arch")
set --
case $kernel in
debian)
	dir=$cache/kernels/debian-$release-$deb
	recipe=debian ;;
debug)
	die "KERNEL=debug: these are two, say KERNEL=lockdep or KERNEL=memory" \
		"(make test and make setup take both)" ;;
'' | [!0-9]*)
	contains "$lanes" "$kernel" ||
		die "KERNEL=$kernel: neither debian, one of $lanes," \
			'nor the release of a Debian kernel'
	[ "$kernel-$arch" != up-arm64 ] || die 'KERNEL=up: arm64 has no kernels without SMP'
	recipe=vanilla
	for name in common "$arch" "$kernel" "$kernel-$arch"; do
		fragment=$top/qemu/$name.config
		[ ! -e "$fragment" ] || set -- "$@" "$fragment"
	done
	pin=$top/qemu/$kernel.pin
	[ -e "$pin" ] || pin=$top/qemu/vanilla.pin
	key=$(cat "$pin" "$top/scripts/kernel-$recipe.sh" "$@" | without_comments | sha256sum |
		cut -c1-12)
	dir=$cache/kernels/$kernel-$arch-$key ;;
[0-9]*-"$deb" | [0-9]*-"$deb"-*)
	dir=$cache/kernels/debian-$kernel
	recipe=debian
	# The directory of the pinned release has its name even if another release was used instead.
	if [ -e "$dir/complete" ] && [ "$(cat "$dir/release")" != "$kernel" ]; then
		die "KERNEL=$kernel: Debian no longer has it"
	fi ;;
*)
	die "KERNEL=$kernel: not for ARCH=$arch" \
		"(or say it as \`uname -r\` does, with -$deb at the end)" ;;
esac

if [ ! -e "$dir/complete" ]; then
	mkdir -p "$cache/kernels"
	# One at a time: two would use the same source tree and compete for the processors.
	flock --nonblock "$cache/kernels/lock" true ||
		say "waiting for another kernel that is being made in $cache/kernels"
	flock "$cache/kernels/lock" \
		"$top/scripts/env.sh" "$top/scripts/kernel-$recipe.sh" "$kernel" "$arch" "$dir" "$@"
fi
[ -n "$quiet" ] || [ ! -s "$dir/note" ] || say "KERNEL=$kernel: $(cat "$dir/note")"
printf '%s\n' "$dir"
