#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [ARCH=...] [KERNEL=...] setup.sh
#
# Fetches and builds everything that the other commands need, for one architecture or both.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

"$top/scripts/env.sh" true
kernels=${KERNEL:-debian}
[ "$kernels" != debug ] || kernels=$checked
for arch in ${ARCH:-x86_64 arm64}; do
	for kernel in $kernels; do
		"$top/scripts/kernel.sh" "$kernel" "$arch"
	done
	"$top/qemu/clients.sh" "$arch" all
done
