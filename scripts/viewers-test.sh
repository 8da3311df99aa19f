#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: viewers-test.sh
#
# Shows the recordings of tools/ferrotrace/tests/data in the programs that users have: Perfetto,
# speedscope, a browser and KernelShark (tests/viewers/run.py). Fetches an environment and these
# programs first, about 1 GB, into the cache. The last line of output is
# `N passed, N failed, N skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

key=$(cat "$top/tests/viewers/downloads" "$top/scripts/viewers-fetch.sh" | without_comments |
	sha256sum | cut -c1-12)
viewers=$cache/viewers-$key
"$top/scripts/tools.sh"
export PACKAGES=packages-viewers
(
	flock 9
	[ -e "$viewers" ] || "$top/scripts/env.sh" "$top/scripts/viewers-fetch.sh" "$viewers"
) 9>"$cache/lock-viewers"
case $(uname -m) in
aarch64) native=arm64 ;;
*) native=x86_64 ;;
esac
work=$top/build/viewers
rm -rf "$work"
mkdir -p "$work"
"$top/scripts/env.sh" python3 "$top/tests/viewers/run.py" "$viewers" \
	"$top/build/tools-$native/ferrotrace" "$work" \
	"$top"/tools/ferrotrace/tests/data/*-events.dat.gz \
	"$top/tools/ferrotrace/tests/data/compact.dat.gz" \
	"$top/tools/ferrotrace/tests/data/sections.dat.gz" \
	"$top/tools/ferrotrace/tests/data/chains.dat.gz"
