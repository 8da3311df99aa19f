#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: clients-make.sh ARCH DIRECTORY all|trace-cmd
#
# Makes DIRECTORY/clients.cpio, another archive for the initramfs: trace-cmd, and with `all` also
# perf, bpftrace, bpftool (bench/compare), and a small compiler as a workload (bench/surroundings).
# They are from Debian's packages, with the libraries that they load and nothing else. The packages
# are only unpacked, so those of another architecture need no emulation. Run in the build
# environment.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/../scripts/lib.sh"
# shellcheck source=scripts/fetch.sh
. "$top/scripts/fetch.sh"
arch=$1 dir=$2 set=$3
deb=$(debian_arch "$arch")
tree=$dir/tree root=$dir/root
case $set in
all)
	what='trace-cmd, perf, bpftrace, bpftool and tcc (100 MB)'
	more='linux-perf/trixie-backports bpftool/trixie-backports bpftrace tcc'
	programs='trace-cmd perf bpftrace bpftool tcc' ;;
trace-cmd) what=trace-cmd more='' programs=trace-cmd ;;
esac

# Fetch as for a machine without any package. perf is that of the newest kernel.
fetch() {
	: >"$dir/status"
	# shellcheck disable=SC2086 # words are meant
	fetch_into "$dir/packages" --yes --download-only -o Dir::State::status="$dir/status" \
		-o Dir::Cache::archives="$dir/packages" -o Dir::Cache::pkgcache= \
		-o Dir::Cache::srcpkgcache= \
		-o APT::Architecture="$deb" -o APT::Architectures="$deb" \
		install trace-cmd libtracecmd1 $more
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
	for program in $programs; do
		take "usr/bin/$program" "$(cd "$tree" && echo usr/*bin/"$program")"
	done
	for plugin in "$tree/$lib"/traceevent/plugins/*.so; do
		take "${plugin#"$tree/"}"
	done
	# For the command ferrotrace; trace-cmd itself is not linked with them.
	for library in tracecmd.so.1 gcc_s.so.1 m.so.6; do
		take "$lib/lib$library"
	done
	[ "$set" != all ] || cp -R "$tree/$lib/tcc" "$root/$lib/"
	linker=$(readelf -l "$root/usr/bin/trace-cmd" |
		sed -n 's/.*program interpreter: \/\(.*\)\]$/\1/p')
	take "$linker" "$lib/${linker##*/}"
	cd "$root"
	find . | LC_ALL=C sort | cpio --quiet -o -H newc --owner 0:0 >"$dir/clients.cpio"
}

steps 2 "clients $arch"
step "fetching $what" fetch
step 'packing' pack
