#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: env-enter.sh ENVIRONMENT UID:GID|'' COMMAND [ARGUMENT...]
#
# The inner half of env.sh, called as root of a new mount namespace: puts the environment's system
# directories over the machine's, where only this command sees it, and runs the command.

set -eu
env=$1 user=$2
shift 2

# Names are resolved as the machine does it.
for f in resolv.conf hosts; do
	if [ -e /etc/$f ]; then
		mount --bind "$(readlink -f /etc/$f)" "$env/etc/$f"
	fi
done
# /usr comes last: mount itself is in there.
for dir in var/lib/apt var/lib/dpkg var/cache/apt etc usr; do
	if [ -d "/$dir" ]; then
		mount --rbind "$env/$dir" "/$dir"
	fi
done

# The caller may be a make with options and variables of its own, no business of a make in here.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL GNUMAKEFLAGS
export PATH=/usr/sbin:/usr/bin LC_ALL=C.UTF-8

if [ -n "$user" ]; then
	exec setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups "$@"
fi
exec "$@"
