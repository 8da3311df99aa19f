#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: distclean.sh
#
# Removes the tool chain, the kernels, and the records of passed tests from the cache directory.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

for dir in "$cache"/env-* "$cache/kernels" "$cache/clients" "$cache/test-all"; do
	[ -e "$dir" ] || continue
	say "removing $dir"
	# Files unpacked in a user namespace may belong to IDs that exist only in such a namespace.
	rm -rf "$dir" 2>/dev/null ||
		unshare --user --map-root-user --map-auto rm -rf "$dir" 2>/dev/null ||
		sudo rm -rf "$dir"
done
rm -rf "$cache"/busybox-* "$cache/lock"
