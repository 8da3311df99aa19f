#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: tools-test.sh
#
# Tests `make tools`: the plugin is installed where libtraceevent looks for it, or in the directory
# that was given. It can be loaded, and needs only symbols that every C library and every
# libtraceevent has. Man pages and completions are installed next to the command. If the command
# does not start on this machine, the exit status and a message say so. The tests of the command
# `ferrotrace` that need no kernel pass. The last line of output is
# `N passed, N failed, N skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/ferrotrace.XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# check NAME: runs the test function test_NAME, whose result is that of its last command.
check() {
	name=$1
	if "test_$name" >"$work/log" 2>&1; then
		echo "ok tools/$name"
		passed=$((passed + 1))
	else
		echo "not ok tools/$name"
		sed 's/^/# /' "$work/log"
		failed=$((failed + 1))
	fi
}

# pages DIRECTORY: checks that it has the man pages and the completions.
pages() {
	grep -q '^.TH ferrotrace.-record 1 ' "$1/man/man1/ferrotrace-record.1" &&
		test -e "$1/man/man1/ferrotrace.1" &&
		test -e "$1/bash-completion/completions/ferrotrace" &&
		test -e "$1/zsh/site-functions/_ferrotrace" &&
		test -e "$1/fish/vendor_completions.d/ferrotrace.fish"
}

# installed DIRECTORY STATUS: checks that the status of the installation, and its messages in
# $work/messages, say whether the command starts on this machine.
installed() {
	cat "$work/messages"
	if "$1/ferrotrace" --version; then
		test "$2" = 0 && test ! -s "$work/messages"
	else
		test "$2" = 1 && grep 'does not start on this machine' "$work/messages" &&
			grep 'too old\|apt install' "$work/messages"
	fi
}

# Use another home directory, but the same caches.
test_at_home() {
	status=0
	XDG_CACHE_HOME=${cache%/ferrotrace} HOME=$work/home "$top/scripts/tools.sh" --install \
		2>"$work/messages" || status=$?
	installed "$work/home/.local/bin" "$status" &&
		test -e "$work/home/.local/lib/traceevent/plugins/plugin_ferrotrace.so" &&
		"$top/scripts/env.sh" "$work/home/.local/bin/ferrotrace" --version &&
		pages "$work/home/.local/share"
}

test_elsewhere() {
	status=0
	PLUGINS=$work/plugins BIN=$work/bin "$top/scripts/tools.sh" --install \
		2>"$work/messages" || status=$?
	installed "$work/bin" "$status" &&
		test -e "$work/plugins/plugin_ferrotrace.so" &&
		pages "$work/share"
}

# In the build environment, the command starts.
test_in_env() {
	PLUGINS=$work/env BIN=$work/env "$top/scripts/env.sh" "$top/scripts/tools.sh" --install \
		2>"$work/messages" && test ! -s "$work/messages"
}

# A library is missing, and the C library is new enough: with programs that print what they would
# print then.
test_missing_library() {
	mkdir "$work/fake"
	cat >"$work/fake/ldd" <<-'EOF2'
		#!/bin/sh
		printf '\tlibc.so.6 => /lib/libc.so.6 (0x00007eff)\n'
		printf '\tlibtracecmd.so.1 => not found\n'
	EOF2
	chmod +x "$work/fake/ldd"
	status=0
	PATH=$work/fake:$PATH PLUGINS=$work/missing BIN=$work/missing \
		"$top/scripts/tools.sh" --install 2>"$work/messages" || status=$?
	cat "$work/messages"
	# The command starts if the machine has the library.
	test $status = 0 ||
		grep 'missing: libtracecmd.so.1 (Debian: sudo apt install trace-cmd' \
			"$work/messages"
}

test_symbols() {
	"$top/scripts/env.sh" objdump -T "$work/plugins/plugin_ferrotrace.so" >"$work/symbols" &&
		grep ' tep_plugin_loader$' "$work/symbols" &&
		grep ' tep_plugin_unloader$' "$work/symbols" || return 1
	# Undefined symbols must have no versions, and no other names than these.
	! grep -e 'GLIBC_' -e 'GCC_' "$work/symbols" || return 1
	! sed -n 's/.*\*UND\*.* //p' "$work/symbols" |
		grep -v -e '^tep_' -e '^trace_seq_' -e '^mem[a-z]*$' -e '^bcmp$' -e '^strlen$' \
			-e '^abort$' -e '^_'
}

test_other_arch() {
	case $(uname -m) in
	aarch64) other=x86_64 ;;
	*) other=arm64 ;;
	esac
	if ARCH=$other PLUGINS=$work/other BIN=$work/other "$top/scripts/tools.sh" --install; then
		return 1
	fi
	test ! -e "$work/other"
}

test_command() {
	"$top/scripts/tools.sh" cargo test --quiet
}

for name in at_home elsewhere in_env missing_library symbols other_arch command; do
	check $name
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
