#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: kernel-vanilla.sh LANE ARCH DIRECTORY FRAGMENT...
#
# Builds a vanilla kernel from the upstream tarball in Debian's source package and these
# configuration fragments. kernel.sh calls it, in the build environment.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
# shellcheck source=scripts/fetch.sh
. "$top/scripts/fetch.sh"
kernel=$1 arch=$2 dir=$3
shift 3

[ ! -e "$dir/complete" ] || exit 0
pin=$top/qemu/$kernel.pin
[ -e "$pin" ] || pin=$top/qemu/vanilla.pin
# shellcheck source=qemu/vanilla.pin
. "$pin"
upstream=${version%%-*}
source=$cache/kernels/source-$upstream-vanilla
tree=$dir/tree

# The archive may no longer have the tarball, which is only known after an attempt. Any other
# failure is an error. In this case, lanes that do not need a particular version use the source of
# Debian's own kernel (linux-source).
fetch() {
	fetch_into "$source.tmp" source --download-only --tar-only "linux=$version" \
		>"$dir/fetch.log" 2>&1 || {
		cat "$dir/fetch.log"
		[ "$pin" = "$top/qemu/vanilla.pin" ] || return 1
		grep -Eq '404 |Can not find version' "$dir/fetch.log" || return 1
		pick_version "$arch"
		echo "$version" >"$dir/patched"
		patched=$cache/kernels/source-$version
		[ -d "$patched" ] ||
			fetch_into "$patched.tmp" download "$(source_package "$version")=$version"
	}
}

unpack() {
	if [ ! -e "$dir/patched" ]; then
		unpack_tar "$source.tmp/linux_$upstream.orig.tar.xz" "$source"
	else
		patched=$cache/kernels/source-$(cat "$dir/patched")
		if [ ! -d "$patched" ]; then
			dpkg -x "$patched.tmp"/*.deb "$patched.tmp"
			unpack_tar "$patched.tmp"/usr/src/linux-source-*.tar.xz "$patched"
		fi
		rm -rf "$patched.tmp"
	fi
	rm -rf "$source.tmp"
}

kmake() {
	nice make -C "$source" O="$tree" ARCH="$arch" LLVM=-19 KBUILD_BUILD_USER=ferrotrace \
		KBUILD_BUILD_HOST=localhost "$@"
}

# The result must contain all options of the fragments, of which later ones override earlier ones:
# Kconfig silently drops options with missing dependencies.
configure() {
	mkdir -p "$tree"
	kmake tinyconfig
	cat "$@" >"$dir/fragment.config"
	if [ -e "$dir/patched" ]; then
		echo 'CONFIG_LOCALVERSION="-debian-source"' >>"$dir/fragment.config"
	fi
	cat "$dir/fragment.config" >>"$tree/.config"
	kmake olddefconfig
	awk '
		/^(# )?CONFIG_/ {
			match($0, /CONFIG_[A-Za-z0-9_]*/)
			last[substr($0, RSTART, RLENGTH)] = $0
		}
		END { for (name in last) print last[name] }' "$dir/fragment.config" >"$dir/wanted"
	status=0
	while read -r line; do
		case $line in
		'# '*)
			name=${line#\# }
			! grep -q "^${name%% *}=" "$tree/.config" ;;
		*)
			grep -Fqx "$line" "$tree/.config" ;;
		esac || {
			echo "not taken: $line"
			status=1
		}
	done <"$dir/wanted"
	return $status
}

build() {
	case $arch in
	x86_64) image=arch/x86/boot/bzImage target=bzImage ;;
	arm64) image=arch/arm64/boot/Image target=Image ;;
	esac
	kmake -j"$(nproc)" "$target" modules
	cp "$tree/$image" "$dir/image"
	cp "$tree/include/config/kernel.release" "$dir/release"
	echo "ARCH=$arch LLVM=-19" >"$dir/args"
}

# Modules need neither objects nor archives. Keep vmlinux, with its line numbers.
trim() {
	find "$tree" \
		\( -path "$tree/scripts" -o -path "$tree/tools" -o -path "$tree/rust" \) -prune -o \
		\( -name '*.o' -o -name '*.a' -o -name '.*.cmd' -o -name '.tmp_vmlinux*' \
		-o -name 'vmlinux.unstripped' -o -name 'vmlinux.bin*' -o -name 'bzImage' \
		-o -name Image \) \
		-type f -exec rm -f {} +
	: >"$dir/complete"
}

rm -rf "$dir"
mkdir -p "$dir"
if [ -d "$source" ]; then
	steps 3 "kernel $kernel $arch"
else
	steps 5 "kernel $kernel $arch"
	step "fetching the source of $upstream" fetch
	step 'unpacking it' unpack
fi
if [ -e "$dir/patched" ]; then
	source=$cache/kernels/source-$(cat "$dir/patched")
	echo "NOT vanilla: the archive in use lacks linux_$upstream.orig.tar.xz, so it is" \
		"built from Debian's patched source of $(cat "$dir/patched")" >"$dir/note"
fi
step 'configuring' configure "$@"
step 'building (10 to 20 minutes on two processors)' build
step 'tidying up' trim
