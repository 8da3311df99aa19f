#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: kbuild.sh KERNEL-DIRECTORY OUTPUT [ARGUMENT...]
#
# Runs the kernel's build system on the module, or on the one in the directory SOURCE. The kernel's
# directory is one that kernel.sh has made.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
dir=$1 out=$2
shift 2

mkdir -p "$out"
# Tests that run at the same time may build the same files. The lock is held until make ends.
exec 8>"$out/lock"
flock 8
# Output goes to stderr: if a guest is run afterwards, stdout is for the guest.
# shellcheck disable=SC2046 # words are meant
exec "$top/scripts/env.sh" make --no-print-directory -j"$(nproc)" -C "$dir/tree" \
	M="${SOURCE:-$top}" MO="$out" $(cat "$dir/args") "$@" modules >&2
