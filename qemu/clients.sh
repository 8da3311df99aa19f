#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: clients.sh ARCH all|trace-cmd
#
# Prints the path of an archive for the initramfs with trace-cmd, perf and bpftrace, or with
# trace-cmd only. It is made first if it is missing. All kernels use the same archive, so it is kept
# in the cache.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/../scripts/lib.sh"
arch=$1 set=$2

key=$(without_comments <"$top/qemu/clients-make.sh" | sha256sum | cut -c1-12)
clients=$cache/clients/$arch-$set-$key.cpio
if [ ! -e "$clients" ]; then
	mkdir -p "$cache/clients"
	(
		flock 9
		[ -e "$clients" ] || {
			work=$cache/clients/$arch.new
			rm -rf "$work"
			mkdir "$work"
			"$top/scripts/env.sh" "$top/qemu/clients-make.sh" "$arch" "$work" "$set"
			mv "$work/clients.cpio" "$clients"
			rm -rf "$work"
		}
	) 9>"$cache/clients/lock"
fi
printf '%s\n' "$clients"
