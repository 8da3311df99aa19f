#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [ARCH=...] [KERNEL=...] demo.sh
#
# Boots a guest, traces a workload there and shows the trace. tests/demo is the script in the guest.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

say "booting ${KERNEL:-debian} ${ARCH:-x86_64} under QEMU ..."
# The demo itself loads the module, to show the command.
LOAD=0 EXTRA='' CMD='sh /tests/demo' exec "$top/qemu/run.sh"
