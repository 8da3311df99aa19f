#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: compile-fail.sh ARCH KERNEL
#
# Tests the compiler's messages for incorrect uses of ktrace: each file of tests/compile-fail/ must
# be refused with an error that points at the line marked `//~ TEXT` and contains that text. A file
# without such a mark must be accepted. The files are compiled with the same arguments as the module
# of tests/module/. The last line of output is `N passed, N failed, N skipped`.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
# Use the first of several architectures.
arch=${1%% *} kernel=$2
out=$top/build/$kernel-$arch
work=$out/compile-fail

words=$(sed -n -e '1s/^savedcmd_[^ ]* := //p' "$out/tests/module/.main.o.cmd" | cut -d';' -f1 |
	sed -e 's/ --emit=[^ ]*//g' -e 's/ --out-dir [^ ]*//' -e 's/ --crate-name [^ ]*//' \
		-e 's/ [^ ]*\/main\.rs//')
mkdir -p "$work"
passed=0 failed=0
for file in "$top"/tests/compile-fail/*.rs; do
	name=$(basename "$file" .rs)
	line=$(sed -n '/\/\/~ /=' "$file")
	text=$(sed -n 's/.*\/\/~ //p' "$file")
	"$top/scripts/env.sh" env RUSTC_BOOTSTRAP=1 KTRACE_GENERATED="$out/generated" \
		sh -c "cd '$out' && $words \
		-Awarnings --crate-name compile_fail --emit=metadata='$work/$name.rmeta' '$file'" \
		>"$work/$name.log" 2>&1 && status=accepted || status=refused
	if [ -z "$line" ] && [ "$status" = accepted ]; then
		echo "ok $name"
		passed=$((passed + 1))
		continue
	fi
	# Find an error with this text whose location, the first line with an arrow, is the marked
	# line.
	if [ "$status" = refused ] &&
		awk -v line="$line" -v text="$text" -v file="compile-fail/$name.rs" '
		/^error/ { error = $0; next }
		error && (index($0, file ":" line ":")) { if (index(error whole, text)) found = 1 }
		error { whole = whole $0 }
		END { exit !found }' "$work/$name.log"; then
		echo "ok $name"
		passed=$((passed + 1))
	else
		echo "not ok $name: it was $status; no error at line $line says '$text'"
		sed 's/^/# /' "$work/$name.log" | head -n 60
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
