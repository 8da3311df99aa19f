#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: base.sh ARCH
#
# Prints the path of the initramfs that every boot of ARCH starts from. It is made only if its
# contents have changed.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/../scripts/lib.sh"
arch=$1

key=$(cd "$top" && find tests qemu/init qemu/initramfs.sh -type f -exec sha256sum {} + |
	LC_ALL=C sort | sha256sum | cut -c1-12)
dir=$top/build/initramfs-$arch
base=$dir/$key.cpio
if [ ! -e "$base" ]; then
	mkdir -p "$dir"
	(
		flock 9
		[ -e "$base" ] || {
			rm -f "$dir"/*.cpio
			steps 1 initramfs
			step "$arch" "$top/scripts/env.sh" "$top/qemu/initramfs.sh" "$arch" "$dir"
			mv "$dir/base.cpio" "$base"
		}
	) 9>"$dir/lock"
fi
printf '%s\n' "$base"
