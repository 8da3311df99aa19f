#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [PACKAGES=FILE] env.sh COMMAND [ARGUMENT...]
#
# Runs a command in the build environment: a Debian tool chain in the cache directory, whose /usr
# and /etc replace those of the machine in a mount namespace of the command. All other directories
# are those of the machine, at their own paths. If the environment is missing, it is created first.
# PACKAGES=packages-viewers uses an environment with the packages in scripts/packages-viewers.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

[ $# -gt 0 ] || die 'usage: env.sh COMMAND [ARGUMENT...]'
if [ -e /etc/ferrotrace-env ]; then
	exec "$@"
fi

# need PROGRAM [PACKAGE]: installs a program that the machine itself must have.
need() {
	package=${2:-$1}
	command -v "$1" >/dev/null && return
	install="apt-get install --no-install-recommends --yes $package"
	if ! command -v apt-get >/dev/null; then
		die "$1 is missing: install it (Debian calls the package $package)"
	elif [ "$(id -u)" = 0 ]; then
		sudo=
	elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
		sudo=sudo
	else
		die "$1 is missing; as root: $install"
	fi
	say "installing $package, which this machine lacks"
	# Discard the output of the first attempt: errors about old or missing package lists are
	# confusing.
	# shellcheck disable=SC2086 # words are meant
	{
		$sudo $install >/dev/null 2>&1 ||
			{ $sudo apt-get update && $sudo $install; } >/dev/null
	} ||
		die "$package could not be installed; try by hand: $sudo $install"
}

export PACKAGES="${PACKAGES:-packages}"
key=$(cat "$top/scripts/$PACKAGES" "$top/scripts/env-make.sh" | without_comments | sha256sum |
	cut -c1-12)
env=$cache/env-$key

# Use root, root of a user namespace, or sudo, whichever is available to this user.
userns='unshare --user --map-root-user --map-auto'
if [ "$(id -u)" = 0 ]; then
	become=
else
	[ -e "$env" ] || need newuidmap uidmap
	if $userns --mount true 2>/dev/null; then
		become=$userns
	elif command -v sudo >/dev/null; then
		become=sudo
	else
		die 'needs root, sudo, or user namespaces' \
			'with a range of ids in /etc/subuid and /etc/subgid'
	fi
fi

if [ ! -e "$env" ]; then
	need mmdebstrap
	mkdir -p "$cache"
	(
		flock 9
		[ -e "$env" ] || become=$become "$top/scripts/env-make.sh" "$env" "$key"
	) 9>"$cache/lock"
fi

case $become in
'') set -- unshare --mount "$top/scripts/env-enter.sh" "$env" '' "$@" ;;
sudo) set -- sudo --preserve-env unshare --mount \
	"$top/scripts/env-enter.sh" "$env" "$(id -u):$(id -g)" "$@" ;;
*) set -- unshare --user --map-root-user --map-auto --mount \
	"$top/scripts/env-enter.sh" "$env" '' "$@" ;;
esac
exec "$@"
