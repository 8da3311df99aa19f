# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The commands of documents, which scripts/commands.py extracts, and what they print.

# open_document NAME: sets $document to the directory with the commands of a document, and prints
# which of them are not run, or in another form.
open_document() {
	document=/extra/docs/$1
	BLOCKS=$TMPDIR/$1
	export BLOCKS
	mkdir -p "$BLOCKS" "$TMPDIR/bin"
	cp "$document"/* "$BLOCKS"
	# System calls have other names on other architectures, as the tutorial says.
	sed -i "s/__x64_sys_/$SYS/g" "$BLOCKS"/*
	sed 's/^/listed: /' "$document/listed"
	printf '#!/bin/sh\nexec "$@"\n' >"$TMPDIR/bin/sudo"
	cat >"$TMPDIR/bin/with_slow_section" <<-'EOF2'
		#!/bin/sh
		# Usage: with_slow_section NAME SECTION COMMAND...
		# Runs a flight recorder in this directory until it has written a file, because
		# a section of the task NAME was slow.
		name=$1 section=$2
		shift 2
		"$@" &
		recorder=$!
		until cat "$TRACING"/instances/*/ferrotrace/triggers 2>/dev/null |
			grep -q "section $section .*# fired: 0$"; do
			sleep 0.1
		done
		printf '%s\n' "echo $name >/proc/self/comm" "echo 'B|'\$\$'|$section'" 'sleep 1' \
			'echo "E|$$"' >slow
		sh slow >"$TRACING/trace_marker"
		until [ -s trace.1.dat ]; do
			sleep 0.1
		done
		kill -INT $recorder
		wait $recorder
	EOF2
	chmod +x "$TMPDIR/bin"/*
	PATH=$TMPDIR/bin:$PATH
}

# list_kinds FILE: prints the kinds of lines in the file, each once. A kind is the line without
# widths of columns, with `w` for each name and `9` for each number. Names before `=` and `:` are
# kept, and so are the words of lines that begin with `#`. A call whose times are shown is printed
# in one line or in two, with or without its name at the end, depending on what happened during it:
# these forms count as one kind.
list_kinds() {
	sed -e 's/\] [.0-9A-Za-z]\{4,6\} /] flags /' -e 's/[+!#*@$] *\([0-9.]* us\)/\1/' \
		-e 's,} /\* [a-z0-9_]* run=,} /* run=,' -e 's,[a-z0-9_]*(); /\* run=,} /* run=,' \
		-e 's/\[[0-9a-f]\{8,\}\]/[9]/' -e 's/0x[0-9a-f]*/9/g' -e 's/=-[0-9]/=9/g' \
		-e 's/<\([a-z]*\)>-/\1-/' "$1" | awk '
		{
			text = $0
			kind = ""
			heading = /^ *#/
			name = "[A-Za-z_]([A-Za-z0-9_.$\\/-]|:[^ ])*"
			while (match(text, name)) {
				word = substr(text, RSTART, RLENGTH)
				after = substr(text, RSTART + RLENGTH, 1)
				kept = heading || after == "=" || after == ":"
				kind = kind substr(text, 1, RSTART - 1) (kept ? word : "w")
				text = substr(text, RSTART + RLENGTH)
			}
			kind = kind text
			gsub(/[0-9][0-9,.]*/, "9", kind)
			gsub(/[ \t]+/, " ", kind)
			sub(/^ /, "", kind)
			sub(/ $/, "", kind)
			if (kind != "") print kind
		}' | sort -u
}

# compare_kinds WHAT EXPECTED ACTUAL: succeeds if the output of a command has the kinds of lines
# that the document shows: all that begin with `#`, and most of the others, since what happens in a
# moment differs from time to time. `...` in the document are any text, and a call may have a
# comment with its times. All names before `=` and `:` must be there.
compare_kinds() {
	list_kinds "$2" >"$TMPDIR/expected"
	list_kinds "$3" >"$TMPDIR/actual"
	_same=0 _all=0 _headings=
	while read -r _kind; do
		[ "$_kind" != ... ] || continue
		_all=$((_all + 1))
		_pattern=$(echo "$_kind" | sed -e 's/[].*^$\\+?(){}|[]/\\&/g' \
			-e 's/ *\\\.\\\.\\\. */.*/g' \
			-e 's/w\\(\\);$/(&|\\})( .*)?/' -e 's/\\}$/&( .*)?/')
		if grep -Eqx -e "$_pattern" "$TMPDIR/actual"; then
			_same=$((_same + 1))
		else
			echo "$1: no line like: $_kind"
			case $_kind in
			'#'*) _headings=1 ;;
			esac
		fi
	done <"$TMPDIR/expected"
	grep -o '[A-Za-z_][A-Za-z0-9_]*[=:]' "$TMPDIR/expected" | sort -u >"$TMPDIR/names"
	_names=$(grep -o '[A-Za-z_][A-Za-z0-9_]*[=:]' "$TMPDIR/actual" | sort -u |
		grep -vFx -f - "$TMPDIR/names" | xargs)
	echo "$1: $_same of $_all kinds of lines"
	if [ -n "$_names$_headings" ] || [ $((_same * 10)) -lt $((_all * 6)) ]; then
		cat "$3"
		echo "$1: the output is of another kind; names missing: ${_names:-none}"
		return 1
	fi
}

# run_section SCRIPT: runs a section of the document, between before_section and after_section of
# the case. Succeeds if all outputs that the document shows are of the same kinds.
run_section() {
	before_section
	sh -e "$1" || {
		tail -n 20 "${1%.sh}"-*.actual
		fail "$title: a command failed"
	}
	after_section
	for _actual in "${1%.sh}"-*.actual; do
		if grep -e 'write error' -e 'Invalid argument' -e 'No such file' -e 'not found' \
			-e 'cannot create' "$_actual"; then
			fail "$title: a command failed"
		fi
		_shown=${_actual%.actual}.expected
		[ ! -e "$_shown" ] || compare_kinds "$title, ${_actual##*/}" "$_shown" "$_actual" ||
			return
	done
}

# run_sections: runs all sections of the document. On a loaded host, less may happen in a second
# than the document shows, so each section has three tries. Sets $sections and $outputs to the
# numbers of sections and of outputs that were compared.
run_sections() {
	sections=0
	for _script in "$BLOCKS"/[0-9]*.sh; do
		read -r title <"$_script"
		title=${title#\# }
		run_section "$_script" || run_section "$_script" || run_section "$_script" ||
			fail "$title: the output is of another kind"
		sections=$((sections + 1))
	done
	# shellcheck disable=SC2034 # for the case
	outputs=$(find "$BLOCKS" -name '*.expected' | wc -l)
}

# run_inline: runs each command in the text of the document, from the same state. Sets $commands to
# their number.
run_inline() {
	commands=0
	while read -r _command; do
		load_module
		clear_triggers
		reset_trace_array .
		echo "in the text: $_command"
		sh -ec "$_command" >"$TMPDIR/output" 2>&1 </dev/null || {
			cat "$TMPDIR/output"
			fail "a command in the text failed: $_command"
		}
		commands=$((commands + 1))
	done <"$BLOCKS/inline"
}
