#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: host-test.sh [PATTERN...]
#
# Runs the tests of code that needs no kernel, with the compiler of the build environment.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

exec "$top/scripts/env.sh" env OUT="$top/build/host-tests" "$top/tests/host/run" "$@"
