#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: become=... PACKAGES=... env-make.sh ENVIRONMENT KEY
#
# Creates the build environment; called by env.sh only. The key is derived from this file and the
# list of packages, scripts/$PACKAGES: if one of them changes, the environment is created again.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
env=$1 key=$2 list=$top/scripts/${PACKAGES:-packages}
become=${become-}

suite=trixie
arch=$(dpkg --print-architecture)
case $arch in
amd64) other=arm64 other_gnu=aarch64 ;;
arm64) other=amd64 other_gnu=x86-64 ;;
*) die "this is a machine of architecture $arch; only amd64 and arm64 are supported" ;;
esac

packages=$(sed -e 's/#.*//' -e "s/^gcc-%/gcc-$other_gnu/" -e "s/%/$other/" \
	"$list" | tr -s '[:space:]' ,)

# Completely or not at all: if this is interrupted, only the temporary directory is incomplete.
tmp=$env.new
work=$(mktemp -d "${TMPDIR:-/var/tmp}/ferrotrace.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Use the settings of the machine's own apt, for example a proxy, or time limits for a slow mirror.
apt-config dump | grep -E '^Acquire::(https?|ftp|Check-|Retries|Force)' >"$work/apt.conf" || :
cat >>"$work/apt.conf" <<-EOF2
	Acquire::Retries "3";
	Acquire::Languages "none";
	APT::Sandbox::User "root";
	APT::Install-Recommends "false";
EOF2

# Take backports and source packages from the mirror that mmdebstrap uses.
cat >"$work/hook" <<-'EOF2'
	#!/bin/sh
	set -eu
	list=$1/etc/apt/sources.list
	sed -n "s/ $suite main\$/ $suite-backports main/p" "$list" >"$list.d/backports.list"
	sed 's/^deb /deb-src /' "$list.d/backports.list" >"$list.d/source.list"
	test -s "$list.d/source.list"
	cp "$work/apt.conf" "$1/etc/apt/apt.conf.d/90ferrotrace"
	chroot "$1" apt-get update
	: >>"$1/etc/hosts"
	rm -f "$1/etc/resolv.conf"
	: >"$1/etc/resolv.conf"
	echo "$key" >"$1/etc/ferrotrace-env"
EOF2
chmod +x "$work/hook"
chmod 755 "$work"

case $become in
'' | sudo) mode=root ;;
*) mode=unshare ;;
esac

# The user namespace of mmdebstrap has no access to a private home directory: use /var/tmp and a
# pipe. tar stops reading at the end mark of the archive, but the padding after it must be read,
# too, or mmdebstrap fails if it has not written it by then. Leave out device nodes: the machine's
# /dev is used.
bootstrap() {
	export suite key other work
	$become rm -rf "$tmp"
	mkdir "$tmp"
	{
		# shellcheck disable=SC2086 # nothing, or sudo
		TMPDIR=/var/tmp ${sudo:+sudo --preserve-env} mmdebstrap --mode=$mode \
			--variant=minbase --architectures="$arch,$other" --include="$packages" \
			--aptopt="$work/apt.conf" \
			--dpkgopt='path-exclude=/usr/share/doc/*' \
			--dpkgopt='path-exclude=/usr/share/man/*' \
			--dpkgopt='path-exclude=/usr/share/locale/*' \
			--skip=cleanup/apt/lists,cleanup/reproducible \
			--customize-hook="$work/hook" "$suite" - || echo failed >"$work/failed"
	} | {
		$become tar -x -C "$tmp" --exclude='./dev/*'
		cat >/dev/null
	}
	[ ! -e "$work/failed" ]
	if [ "$become" = sudo ]; then
		sudo chown -R "$(id -u):$(id -g)" "$tmp/var/lib/apt" "$tmp/var/cache/apt"
	fi
	mv "$tmp" "$env"
}

sudo=
[ "$become" != sudo ] || sudo=1
steps 1 environment
step "Debian $suite with ${list##*/} (about 1 GB to fetch, some minutes)" bootstrap
