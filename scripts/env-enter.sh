#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: env-enter.sh ENVIRONMENT UID:GID|'' COMMAND [ARGUMENT...]
#
# The inner part of env.sh, called as root of a new mount namespace: mounts the system directories
# of the environment over those of the machine, visible only to this command, and runs the command.

set -eu
env=$1 user=$2
shift 2

# Resolve host names and trust certificates as the machine does.
for f in resolv.conf hosts ssl/certs/ca-certificates.crt; do
	if [ -e /etc/$f ] && [ -e "$env/etc/$f" ]; then
		mount --bind "$(readlink -f /etc/$f)" "$env/etc/$f"
	fi
done
# Mount /usr last: it contains mount itself.
for dir in var/lib/apt var/lib/dpkg var/cache/apt etc usr; do
	if [ -d "/$dir" ]; then
		mount --rbind "$env/$dir" "/$dir"
	fi
done

# The caller may be a make, whose options and variables must not affect a make in the environment.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL GNUMAKEFLAGS
export PATH=/usr/sbin:/usr/bin LC_ALL=C.UTF-8

if [ -n "$user" ]; then
	exec setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups "$@"
fi
exec "$@"
