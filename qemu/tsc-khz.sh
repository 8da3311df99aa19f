#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: tsc-khz.sh
#
# Prints the TSC frequency of emulated guests in kHz (tsc-khz.c). It is measured once per boot of
# this machine.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/../scripts/lib.sh"

boot=$(cat /proc/sys/kernel/random/boot_id)
known=$cache/tsc-khz
if ! grep -qs "^$boot [1-9][0-9]*\$" "$known"; then
	work=$(mktemp -d "${TMPDIR:-/tmp}/ferrotrace.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	"$top/scripts/env.sh" gcc -O2 -Wall -Wextra -Werror -o "$work/tsc-khz" "$top/qemu/tsc-khz.c"
	echo "$boot $("$work/tsc-khz")" >"$work/known"
	cp "$work/known" "$known.$$"
	mv "$known.$$" "$known"
fi
sed -n "s/^$boot //p" "$known"
