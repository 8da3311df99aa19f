#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: clients-make.sh ARCH DIRECTORY
#
# Makes DIRECTORY/clients.cpio, another archive for the initramfs: trace-cmd, perf and bpftrace, and
# a small compiler as a workload (bench/surroundings), from Debian's packages, with the libraries
# that they load and nothing else. The packages are only unpacked, so those of another architecture
# need no emulation. Run in the build environment.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/../scripts/lib.sh"
# shellcheck source=scripts/fetch.sh
. "$top/scripts/fetch.sh"
arch=$1 dir=$2
deb=$(debian_arch "$arch")
tree=$dir/tree root=$dir/root

# Fetch as for a machine without any package. perf is that of the newest kernel.
fetch() {
	: >"$dir/status"
	fetch_into "$dir/packages" --yes --download-only -o Dir::State::status="$dir/status" \
		-o Dir::Cache::archives="$dir/packages" -o Dir::Cache::pkgcache= \
		-o Dir::Cache::srcpkgcache= \
		-o APT::Architecture="$deb" -o APT::Architectures="$deb" \
		install trace-cmd libtracecmd1 linux-perf/trixie-backports bpftrace tcc
	for package in "$dir"/packages/*.deb; do
		dpkg -x "$package" "$tree"
	done
}

# take FILE [FROM]: copies a file of the packages, and each library that it is linked with, once.
take() {
	[ ! -e "$root/$1" ] || return 0
	mkdir -p "$root/${1%/*}"
	cp -L "$tree/${2:-$1}" "$root/$1"
	for library in $(readelf -d "$root/$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'); do
		case $library in
		# This one is copied to the path that the programs use.
		ld-linux*) ;;
		*) take "$lib/$library" ;;
		esac
	done
}

pack() {
	lib=$(cd "$tree" && echo usr/lib/*-linux-gnu)
	for program in trace-cmd perf bpftrace tcc; do
		take usr/bin/$program
	done
	for plugin in "$tree/$lib"/traceevent/plugins/*.so; do
		take "${plugin#"$tree/"}"
	done
	# For the command ferrotrace; trace-cmd itself is not linked with it.
	take "$lib/libtracecmd.so.1"
	cp -R "$tree/$lib/tcc" "$root/$lib/"
	linker=$(readelf -l "$root/usr/bin/trace-cmd" |
		sed -n 's/.*program interpreter: \/\(.*\)\]$/\1/p')
	take "$linker" "$lib/${linker##*/}"
	cd "$root"
	find . | LC_ALL=C sort | cpio --quiet -o -H newc --owner 0:0 >"$dir/clients.cpio"
}

steps 2 "clients $arch"
step 'fetching trace-cmd, perf, bpftrace and tcc (100 MB)' fetch
step 'packing them' pack
