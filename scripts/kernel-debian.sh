#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: kernel-debian.sh debian|RELEASE ARCH DIRECTORY
#
# Unpacks a Debian kernel and prepares its source, so that modules in Rust can be built for it: the
# header packages lack the metadata of the kernel's crates, which must be built. kernel.sh calls it,
# in the build environment.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=scripts/fetch.sh
. "$top/scripts/fetch.sh"
kernel=$1 arch=$2 dir=$3

[ ! -e "$dir/complete" ] || exit 0
deb=$(debian_arch "$arch")
note=
case $kernel in
debian)
	pick_version "$arch" ;;
*)
	release=$kernel
	version=$(versions "linux-headers-$release:$deb" | head -n 1)
	if [ -z "$version" ] || ! usable "$release" "$version" "$deb"; then
		die "Debian (trixie-backports) does not have headers, source and image of $release"
	fi ;;
esac
source=$cache/kernels/source-$version
tree=$dir/tree
tmp=$dir/tmp
args="ARCH=$arch$(cross_compile "$arch")"

fetch() {
	mkdir -p "$dir"
	set -- "linux-headers-$release:$deb=$version" "linux-binary-$release:$deb=$version"
	[ -d "$source" ] || set -- "$@" "$(source_package "$version")=$version"
	fetch_into "$tmp" download "$@"
	for package in "$tmp"/*.deb; do
		dpkg -x "$package" "$tmp"
	done
	rust_matches "$tmp/usr/src/linux-headers-$release/.config" || {
		echo "$release was not built with $(rustc --version), the installed version"
		grep RUSTC_VERSION_TEXT "$tmp/usr/src/linux-headers-$release/.config" ||
			echo "its CONFIG_RUST is off"
		return 1
	}
}

unpack() {
	[ -d "$source" ] || unpack_tar "$tmp"/usr/src/linux-source-*.tar.xz "$source"
}

# Pass KERNELRELEASE, as no file of the source contains Debian's ABI name.
prepare() {
	mkdir -p "$tree"
	cp "$tmp/usr/src/linux-headers-$release/.config" "$tree"
	# shellcheck disable=SC2086 # words are meant
	make -C "$source" O="$tree" $args KERNELRELEASE="$release" -j"$(nproc)" \
		olddefconfig prepare modules_prepare
	cp "$tmp/usr/src/linux-headers-$release/Module.symvers" \
		"$tmp/usr/src/linux-headers-$release/vmlinux" "$tree"
}

finish() {
	cp "$tmp/usr/lib/modules/$release/vmlinuz" "$dir/image"
	echo "$release" >"$dir/release"
	echo "$args KERNELRELEASE=$release" >"$dir/args"
	[ -z "$note" ] || echo "$note" >"$dir/note"
	rm -rf "$tmp"
	: >"$dir/complete"
}

rm -rf "$dir"
steps 4 "kernel $release"
step 'fetching packages' fetch
step 'unpacking the source' unpack
step "preparing it for modules (a minute or two)" prepare
step 'tidying up' finish
