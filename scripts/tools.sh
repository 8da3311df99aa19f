#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [ARCH=...] [PLUGINS=DIRECTORY] [BIN=DIRECTORY] [DATADIR=DIRECTORY] [RUSTC=...]
#        tools.sh [--install]
#        [ARCH=...] tools.sh cargo COMMAND [ARGUMENT...]
#
# Builds the user-space part: the plugin of libtraceevent with which trace-cmd, perf and KernelShark
# read compact records, and the command `ferrotrace`. The results are in build/tools-ARCH/.
# --install copies the plugin to ~/.local/lib/traceevent/plugins, where all of them look for
# plugins, or to PLUGINS, and the command to ~/.local/bin, or to BIN. Its man pages and the
# completions for bash, zsh and fish are copied to the directory share next to BIN, or to DATADIR.
# If the command does not start on this machine, --install prints what the machine lacks, and exits
# with 1.
# The second form runs cargo for the command, for example `tools.sh cargo test`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

case $(uname -m) in
aarch64) native=arm64 ;;
*) native=x86_64 ;;
esac
arch=${ARCH:-$native}
out=$top/build/tools-$arch
plugin=$out/plugin_ferrotrace.so

case $arch in
x86_64) target=x86_64-unknown-linux-gnu ;;
arm64) target=aarch64-unknown-linux-gnu ;;
*) die "ARCH=$arch: neither x86_64 nor arm64" ;;
esac

# run_cargo COMMAND [ARGUMENT...]: runs cargo in tools/ferrotrace. Crates are kept in the cache.
run_cargo() {
	command=$1
	shift
	cd "$top/tools/ferrotrace"
	"$top/scripts/env.sh" env CARGO_HOME="$cache/cargo" CARGO_TARGET_DIR="$top/build/cargo" \
		CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=x86_64-linux-gnu-gcc \
		CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
		cargo "$command" --locked --target "$target" "$@"
}

build_command() (
	run_cargo build --release --quiet
	cp "$top/build/cargo/$target/release/ferrotrace" "$out/"
	[ "$arch" = $native ] || return 0
	rm -rf "$out/man" "$out/completions"
	for what in man completions; do
		"$top/scripts/env.sh" "$out/ferrotrace" generate $what "$out/$what"
	done
)

# Build the plugin without the standard library, so that it needs no newer C library than the
# machine's.
build_plugin() {
	"$top/scripts/env.sh" bindgen --use-core --no-layout-tests --no-doc-comments \
		--formatter=none \
		--allowlist-function 'tep_(register|unregister)_event_handler' \
		--allowlist-function 'tep_find_(event_by_name|any_field|function)' \
		--allowlist-function 'tep_(read_number|test_flag|print_event)' \
		--allowlist-function 'tep_data_(pid|comm_from_pid)|trace_seq_printf' \
		--allowlist-var 'TEP_PRINT_.*' --output "$out/traceevent.rs" \
		/usr/include/traceevent/event-parse.h -- -I/usr/include/traceevent
	"$top/scripts/env.sh" env TRACEEVENT_BINDINGS="$out/traceevent.rs" "${RUSTC:-rustc}" \
		--edition 2021 --target $target \
		-C linker="$(echo "$target" | sed 's/-unknown//')-gcc" \
		-C opt-level=2 -C panic=abort -C strip=symbols \
		-D warnings --crate-type cdylib --crate-name plugin_ferrotrace -o "$plugin" \
		"$top/tools/traceevent/plugin.rs"
}

install() {
	plugins=${PLUGINS:-$home/.local/lib/traceevent/plugins}
	mkdir -p "$plugins"
	cp "$plugin" "$plugins/"
	echo "${plugin##*/} is in $plugins"
	bin=${BIN:-$home/.local/bin}
	mkdir -p "$bin"
	cp "$out/ferrotrace" "$bin/"
	echo "ferrotrace is in $bin"
	share=${DATADIR:-${bin%/*}/share}
	for dir in man/man1 bash-completion/completions zsh/site-functions \
		fish/vendor_completions.d; do
		mkdir -p "$share/$dir"
	done
	cp "$out/man/"*.1 "$share/man/man1/"
	cp "$out/completions/ferrotrace.bash" "$share/bash-completion/completions/ferrotrace"
	cp "$out/completions/_ferrotrace" "$share/zsh/site-functions/"
	cp "$out/completions/ferrotrace.fish" "$share/fish/vendor_completions.d/"
	echo "its man pages and completions are in $share"
}

# check_start: fails, and prints what the machine lacks, unless the installed command starts. It was
# built in the build environment, whose libraries may be newer than those of the machine.
check_start() {
	error=$("$bin/ferrotrace" --version 2>&1) && return
	say "$bin/ferrotrace does not start on this machine:"
	libraries=$(ldd "$bin/ferrotrace" 2>&1) || :
	newest=$(echo "$libraries" | sed -n 's/.*version .GLIBC_\([0-9.]*\). not found.*/\1/p' |
		sort -Vu | tail -n 1)
	absent=$(echo "$libraries" | sed -n 's/^[[:space:]]*\(lib[^ ]*\) => not found$/\1/p' |
		xargs)
	if [ -n "$newest" ]; then
		say "  this distribution is too old: the command needs glibc $newest or newer" \
			"(Debian 13), and this machine has" \
			"$(getconf GNU_LIBC_VERSION 2>/dev/null || echo another C library)."
		say "  It reads recordings here with: $top/scripts/env.sh $bin/ferrotrace"
	elif [ -n "$absent" ]; then
		say "  missing: $absent (Debian: sudo apt install trace-cmd libtracecmd1)"
	else
		say "  $error"
	fi
	return 1
}

if [ "${1-}" = cargo ]; then
	shift
	run_cargo "$@"
	exit
fi
mkdir -p "$out"
# Tests that run at the same time may build the same files.
exec 8>"$out/lock"
flock 8
build_plugin
[ -n "${RUSTC:-}" ] || build_command
flock -u 8
if [ "${1-}" = --install ]; then
	[ "$arch" = $native ] || die "for $arch, which this machine is not: it is in $out"
	install
	check_start
fi
