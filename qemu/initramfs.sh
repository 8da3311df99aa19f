#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: initramfs.sh ARCH DIRECTORY
#
# Makes the part of the initramfs that every boot has, DIRECTORY/base.cpio: busybox, init, the tests
# and their helper programs. Run in the build environment.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/../scripts/lib.sh"
# shellcheck source=scripts/fetch.sh
. "$top/scripts/fetch.sh"
arch=$1 dir=$2

busybox=$cache/busybox-$arch
if [ ! -e "$busybox" ]; then
	deb=$(debian_arch "$arch")
	fetch_into "$dir/busybox" download "busybox-static:$deb" >/dev/null
	dpkg -x "$dir"/busybox/*.deb "$dir/busybox"
	mv "$dir/busybox/usr/bin/busybox" "$busybox"
	rm -rf "$dir/busybox"
fi

root=$dir/root
rm -rf "$root"
for d in bin lib dev proc sys tmp run root extra etc; do
	mkdir -p "$root/$d"
done
cp "$busybox" "$root/bin/busybox"
# busybox has the same applets on all architectures.
/usr/bin/busybox --list | while read -r applet; do
	[ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
done
install -m 755 "$top/qemu/init" "$root/init"
# Tests with an unprivileged user need the second one.
printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'guest:x:65534:65534:guest:/:/bin/sh' \
	>"$root/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"

if [ -d "$top/tests" ]; then
	cp -R "$top/tests" "$root/tests"
fi
cross=$(cross_compile "$arch")
for source in "$top"/tests/helpers/*.c; do
	[ -e "$source" ] || continue
	helper=${source##*/}
	"${cross#*=}gcc" -static -O2 -Wall -Wextra -Werror -pthread -o "$root/bin/${helper%.c}" \
		"$source"
done

cd "$root"
find . | LC_ALL=C sort | cpio --quiet -o -H newc --owner 0:0 >"$dir/base.cpio.new"
mv "$dir/base.cpio.new" "$dir/base.cpio"
