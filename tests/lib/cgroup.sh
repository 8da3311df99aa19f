# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
# A hierarchy of cgroups for one case.

# make_cgroups: mounts the unified hierarchy, and creates `one`, `one/below` and `two` in a cgroup
# of this case. Sets $cgroups to its directory, and $top to its path.
make_cgroups() {
	_mount=$TMPDIR/cgroups
	mkdir "$_mount"
	trap 'remove_cgroups; rm -rf "$TMPDIR"' EXIT
	mount -t cgroup2 none "$_mount" || exit_unsupported
	top=/case-$$ cgroups=$_mount/case-$$
	mkdir "$cgroups" "$cgroups/one" "$cgroups/one/below" "$cgroups/two"
}

# enter CGROUP [PID]: moves a process, or this shell, to a cgroup of this case; `.` is the top one.
enter() {
	echo "${2:-$$}" >"$cgroups/$1/cgroup.procs"
}

remove_cgroups() {
	_cgroups=$(find "$cgroups" -depth -type d) || :
	for _cgroup in $_cgroups; do
		while read -r _pid; do
			echo "$_pid" >"$_mount/cgroup.procs" || :
		done <"$_cgroup/cgroup.procs"
		rmdir "$_cgroup" || :
	done 2>/dev/null
	umount "$_mount"
}
