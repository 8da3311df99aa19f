#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: check.sh [CHECK...]
#
# Runs all checks that do not run the module: rustfmt, clippy, rustdoc, shellcheck, the kernel's
# checkpatch, scripts/style.py (language, columns, subjects), scripts/layers.py (layers),
# scripts/messages.py (messages), scripts/commands.py (commands) and bench/docs.py (numbers), or
# some of these. No check may have a finding. All tools are those of the build environment. The last
# line of output is `N passed, N failed, 0 skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"

arch=x86_64
dir=$("$top/scripts/kernel.sh" debian $arch)
source=$(readlink -f "$dir/tree/source")
out=$top/build/check
cd "$top"

# files PATTERN...: prints matching files that are in the repository or could be committed.
files() {
	git ls-files --cached --others --exclude-standard -- "$@" | sort | while read -r file; do
		[ ! -e "$file" ] || echo "$file"
	done
}

in_env() {
	"$top/scripts/env.sh" "$@"
}

check_rustfmt() {
	files '*.rs' | in_env xargs rustfmt --check --config-path "$source/.rustfmt.toml"
}

# Start from scratch each time: clippy does not check what is up to date.
check_clippy() {
	rm -rf "$out/src"
	"$top/scripts/kbuild.sh" "$dir" "$out" KTRACE_TESTS=1 CLIPPY=1 KRUSTFLAGS=-Dwarnings \
		KCFLAGS=-Werror
	RUSTC=clippy-driver "$top/scripts/tools.sh"
	"$top/scripts/tools.sh" cargo clippy --all-targets -- -Dwarnings
}

# After clippy: uses the arguments of the compiler, which Kbuild keeps.
check_rustdoc() {
	words=$(sed -n -e '1s/^savedcmd_[^ ]* := //p' "$out/src/.lib.o.cmd" |
		sed -e 's/ --emit=[^ ]*//g' -e 's/ --crate-type [^ ]*//' -e 's/ --out-dir [^ ]*//' \
			-e 's/ [^ ]*\(rustc\|clippy-driver\) / rustdoc /')
	words="$words --crate-name ferrotrace --output doc"
	words="$words --document-private-items -Dwarnings"
	# Generated types refer to each other in long chains.
	words="$words -Zcrate-attr='recursion_limit=\"1024\"'"
	in_env env RUSTC_BOOTSTRAP=1 KTRACE_GENERATED="$out/generated" \
		sh -c "cd '$out' && $words"
}

# In cases, shellcheck cannot see variables that functions set (SC2154).
check_shellcheck() {
	{
		files '*.sh'
		files ':!*.sh' ':!*.tc' | while read -r file; do
			! head -n 2 "$file" | grep -Eq '^#!/bin/sh|^# shellcheck shell=sh' ||
				echo "$file"
		done
	} | in_env xargs shellcheck --external-sources
	files '*.tc' | in_env xargs shellcheck --shell=sh --exclude=SC2154
}

# The ignored types apply to patches for the kernel's own tree, and to a macro of its headers.
check_checkpatch() {
	files '*.c' '*.h' '*.rs' '*.sh' '*.tc' Makefile Kbuild qemu/init tests/run tests/case \
		tests/host/run .ci/run ci/run |
		in_env xargs perl "$source/scripts/checkpatch.pl" --no-tree --terse --quiet \
			--no-summary --show-types --max-line-length=100 \
			--ignore=FILE_PATH_CHANGES,PREFER_DEFINED_ATTRIBUTE_MACRO -f
}

check_language() {
	files . | in_env python3 scripts/style.py language
}

check_columns() {
	files . | in_env python3 scripts/style.py columns
}

check_layers() {
	files src | in_env python3 scripts/layers.py
}

check_messages() {
	files src | in_env python3 scripts/messages.py
}

check_commands() {
	in_env python3 scripts/commands.py check
}

check_numbers() {
	in_env python3 bench/docs.py check
}

# Commits after this one must have such subjects. A shallow clone may not contain it.
subjects_since=b040ff8b6b042ec04ead5bdbb4d7082757db0d9a
check_subjects() {
	git rev-parse --verify --quiet HEAD >/dev/null || return 0
	if git rev-parse --verify --quiet "$subjects_since^{commit}" >/dev/null; then
		set -- "$subjects_since..HEAD"
	else
		set -- -1
	fi
	git log --no-merges --format='%h %s' "$@" | in_env python3 scripts/style.py subjects
}

passed=0 failed=0
mkdir -p "$out"
[ $# -gt 0 ] || set -- language columns subjects layers messages commands numbers \
	rustfmt clippy rustdoc shellcheck checkpatch
for name; do
	start=$(date +%s)
	# A single line of bindgen's output can have megabytes.
	{
		set +e
		(
			set -e
			"check_$name"
		) </dev/null 2>&1
		echo $? >"$out/status"
	} | cut -c1-300 | head -n 1000 >"$out/$name.log"
	if [ "$(cat "$out/status")" = 0 ]; then
		passed=$((passed + 1))
		say "$name: nothing ($(($(date +%s) - start)) s)"
	else
		failed=$((failed + 1))
		say "$name:"
		cat "$out/$name.log" >&2
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
