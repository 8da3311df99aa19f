# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Functions that find and fetch kernels of the Debian archive; for use in the build environment.

# fetch_into DIRECTORY APT-GET-ARGUMENT...: runs apt-get in the directory; repeats it with updated
# lists if it fails, as the archive may have changed since the environment was created.
fetch_into() {
	rm -rf "$1"
	mkdir -p "$1"
	fetch_dir=$1
	shift
	(cd "$fetch_dir" && apt-get -q "$@") || {
		apt-get -q update
		(cd "$fetch_dir" && apt-get -q "$@")
	}
}

# unpack_tar TARBALL DIRECTORY: unpacks the tarball completely or not at all.
unpack_tar() {
	rm -rf "$2.new"
	mkdir "$2.new"
	tar -xf "$1" -C "$2.new" --strip-components=1
	mv "$2.new" "$2"
}

# versions PACKAGE: prints the versions of a package, newest first.
versions() {
	apt-cache madison "$1" 2>/dev/null | cut -d'|' -f2 | tr -d ' '
}

# source_package VERSION: prints the name of the source package.
source_package() {
	echo "linux-source-$(expr "$1" : '\([0-9]*\.[0-9]*\)')"
}

# usable RELEASE VERSION DEBIAN-ARCH: succeeds if headers, source and a bootable image exist.
usable() {
	for package in "linux-headers-$1:$3" "linux-binary-$1:$3" "$(source_package "$2")"; do
		versions "$package" | grep -Fqx "$2" || return 1
	done
}

# rust_matches CONFIG: succeeds if the Rust code of this kernel was compiled with the available
# compiler. Crate metadata of another version cannot be read, and symbol names differ.
rust_matches() {
	grep -Fqx "CONFIG_RUSTC_VERSION_TEXT=\"$(rustc --version)\"" "$1"
}

# pick_version ARCH: sets $release and $version to the pinned ones if they are still available,
# otherwise to the newest usable ones; in that case, sets $note to a message.
pick_version() {
	note=
	# shellcheck source=qemu/kernel.pin disable=SC2154 # top is set by those who source this
	. "$top/qemu/kernel.pin"
	deb=$(debian_arch "$1")
	release=$release-$deb
	usable "$release" "$version" "$deb" && return
	apt-get -q update >/dev/null 2>&1 || :
	usable "$release" "$version" "$deb" && return
	pinned=$release
	for release in $(apt-cache pkgnames linux-binary- |
		sed -n "s/^linux-binary-\([0-9.]*+deb[0-9]*-$deb\)\$/\1/p" | sort -Vr); do
		version=$(versions "linux-headers-$release:$deb" | head -n 1)
		usable "$release" "$version" "$deb" || continue
		probe=$(mktemp -d)
		fetch_into "$probe" download "linux-headers-$release:$deb=$version" >/dev/null 2>&1
		dpkg -x "$probe"/*.deb "$probe"
		status=0
		rust_matches "$probe/usr/src/linux-headers-$release/.config" || status=1
		rm -rf "$probe"
		if [ $status = 0 ]; then
			# shellcheck disable=SC2034 # used by those who source this
			note="this is $release, as Debian no longer has the pinned $pinned"
			return
		fi
	done
	die "Debian has neither the pinned kernel $pinned nor another that suits $(rustc --version)"
}
