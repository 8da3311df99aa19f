#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [ARCH=...] [KERNEL=...] demo.sh
#
# Boots a guest, traces a workload there with the tracing files and with the command `ferrotrace`,
# and shows the trace and a summary. Makes build/demo.html and build/demo.pftrace from the
# recording. tests/demo is the script in the guest.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
arch=${ARCH:-x86_64} kernel=${KERNEL:-debian}
case $(uname -m) in
aarch64) native=arm64 ;;
*) native=x86_64 ;;
esac

work=$(mktemp -d "${TMPDIR:-/tmp}/ferrotrace.XXXXXX")
tools=
trap '[ -z "$tools" ] || kill $tools 2>/dev/null || :; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Build the command, for this machine and for the guest, while the kernel is fetched.
"$top/scripts/env.sh" true
{
	ARCH=$native "$top/scripts/tools.sh" &&
		{ [ "$arch" = $native ] || ARCH=$arch "$top/scripts/tools.sh"; }
} >"$work/tools" 2>&1 &
tools=$!
"$top/scripts/build.sh"
say 'building the command ferrotrace ...'
wait $tools || {
	cat "$work/tools" >&2
	die 'the command could not be built'
}
tools=
mkdir "$work/extra"
cross=$(cross_compile "$arch")
"$top/scripts/env.sh" "${cross#*=}strip" -o "$work/extra/ferrotrace" \
	"$top/build/tools-$arch/ferrotrace"

say "booting $kernel $arch under QEMU ..."
# The demo itself loads the module, to show the command.
LOAD=0 EXTRA=$work/extra OUT=$work/out CLIENTS=trace-cmd CMD='sh /tests/demo' \
	"$top/qemu/run.sh"

cp "$work/out/trace.dat" "$top/build/demo.dat"
ferrotrace() {
	"$top/scripts/env.sh" "$top/build/tools-$native/ferrotrace" "$@"
}
ferrotrace html "$top/build/demo.dat" -o "$top/build/demo.html"
ferrotrace timeline "$top/build/demo.dat" -o "$top/build/demo.pftrace"
cat <<EOF2

The recording, as a page for any browser and as a timeline for Perfetto (README.md has its address):

  $top/build/demo.html
  $top/build/demo.pftrace
EOF2
