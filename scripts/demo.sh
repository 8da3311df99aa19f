#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [ARCH=...] [KERNEL=...] demo.sh
#
# Boots a guest, traces a workload there and shows the trace; tests/demo is the guest's half.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

say "booting ${KERNEL:-debian} ${ARCH:-x86_64} under QEMU ..."
# The module is loaded by the demo itself, for all to see.
LOAD=0 EXTRA='' CMD='sh /tests/demo' exec "$top/qemu/run.sh"
