#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: host-test.sh [PATTERN...]
#
# The tests of pure logic, which need no kernel; the compiler is the build environment's.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

exec "$top/scripts/env.sh" env OUT="$top/build/host-tests" "$top/tests/host/run" "$@"
