#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [SOURCE=DIRECTORY] build-kdir.sh KERNEL-TREE OUTPUT
#
# Builds the module, or the one in the directory SOURCE, for a kernel tree of the user. Uses the
# tools of this machine if the Rust code of that kernel was compiled with them, otherwise those of
# the build environment. Lists everything that the tree lacks.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

out=$2
kdir=$(CDPATH='' cd -- "$1" 2>/dev/null && pwd -P) || die "KDIR=$1: no such folder"
config=$kdir/.config
[ -e "$config" ] || die "KDIR=$kdir: not a configured kernel tree (no .config)"

lacking=0
lack() {
	say "KDIR=$kdir: $*"
	lacking=1
}

for option in MODULES RUST KALLSYMS_ALL KPROBES FUNCTION_TRACER FUNCTION_GRAPH_TRACER \
	DYNAMIC_FTRACE_WITH_ARGS DEBUG_INFO_BTF; do
	grep -q "^CONFIG_$option=y" "$config" || lack "CONFIG_$option is not set"
done
[ -e "$kdir/scripts/module.lds" ] || lack 'not prepared for modules: make modules_prepare there'
[ -e "$kdir/Module.symvers" ] || lack 'no Module.symvers: build that kernel first'
if grep -q '^CONFIG_RUST=y' "$config"; then
	[ -e "$kdir/rust/libkernel.rmeta" ] || {
		release=$(cat "$kdir/include/config/kernel.release" 2>/dev/null) ||
			release=its-release
		lack "no metadata of the kernel's crates (rust/*.rmeta):" \
			"make modules_prepare there" \
			"(a Debian kernel's headers never have it: use make KERNEL=$release)"
	}
fi
if [ -e "$kdir/vmlinux" ]; then
	btf=$kdir/vmlinux
elif [ "$(cat "$kdir/include/config/kernel.release" 2>/dev/null)" = "$(uname -r)" ] &&
	[ -e /sys/kernel/btf/vmlinux ]; then
	btf=/sys/kernel/btf/vmlinux
else
	lack 'no vmlinux (needed for its BTF): build that kernel first'
fi

if grep -q '^CONFIG_X86_64=y' "$config"; then
	arch=x86_64
elif grep -q '^CONFIG_ARM64=y' "$config"; then
	arch=arm64
else
	lack 'neither for x86_64 nor for arm64'
fi

# Choose the tools: crate metadata can only be read by the compiler that wrote it.
wanted=$(sed -n 's/^CONFIG_RUSTC_VERSION_TEXT="\(.*\)"$/\1/p' "$config")
if [ -z "$wanted" ]; then
	lack 'not configured with a Rust compiler'
elif [ "$(rustc --version 2>/dev/null)" = "$wanted" ]; then
	tools=
	for tool in bindgen bpftool; do
		command -v $tool >/dev/null ||
			lack "its Rust is this machine's, but $tool is missing"
	done
else
	tools=$top/scripts/env.sh
	at_hand=$($tools rustc --version)
	[ "$at_hand" = "$wanted" ] || lack "its Rust was compiled by '$wanted'; here are" \
		"'$(rustc --version 2>/dev/null || echo no rustc)'" \
		"and, in the build environment, '$at_hand'"
	case $kdir in
	/usr/*) lack "the build environment can't see into /usr: copy the tree elsewhere" ;;
	esac
fi
[ $lacking = 0 ] || exit 1

args="ARCH=$arch"
if grep -q '^CONFIG_CC_IS_CLANG=y' "$config"; then
	major=$(($(sed -n 's/^CONFIG_CLANG_VERSION=//p' "$config") / 10000))
	if $tools sh -c "command -v clang-$major" >/dev/null; then
		args="$args LLVM=-$major"
	else
		args="$args LLVM=1"
	fi
else
	args="$args$(cross_compile "$arch")"
fi
mkdir -p "$out"
# shellcheck disable=SC2086 # words are meant
$tools make --no-print-directory -j"$(nproc)" -C "$kdir" M="${SOURCE:-$top}" MO="$out" \
	KTRACE_VMLINUX="$btf" $args modules >&2
