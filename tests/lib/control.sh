# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Reads and writes control files, and checks their contents and the errors of writes.

# read_entries FILE: sets $content to the settings in the file, without the header, in one line.
read_entries() {
	content=$(grep -v '^#' "$1" | tr '\n' ' ') || :
	content=${content% }
}

# assert_file_entries FILE [ENTRY...]: fails unless the file contains exactly these entries.
assert_file_entries() {
	_checked=$1
	shift
	read_entries "$_checked"
	assert_eq "$_checked" "$content" "$*"
}

# assert_write_result RESULT OPTION... FILE: writes standard input to the file with ftwrite, and
# checks the result that ftwrite prints: `ok`, or for example `write EINVAL`.
assert_write_result() {
	_expected=$1
	shift
	_outcome=$(ftwrite "$@")
	assert_eq "outcome of ftwrite $*" "$_outcome" "$_expected"
}

# list_settings: prints the contents of all control files that set the filter. A case that tests
# other control files redefines it.
list_settings() {
	cat ferrotrace/set_* ferrotrace/follow_fork
}

# assert_write_refused RESULT MESSAGE [OPTION...] FILE: writes standard input to the file, and
# checks that ftwrite prints this result, for example `write EINVAL`, that the settings are not
# changed, and that error_log contains the message.
assert_write_refused() {
	_refusal=$1 _message=$2
	shift 2
	list_settings >"$TMPDIR/before"
	: >error_log
	assert_write_result "$_refusal" "$@"
	list_settings >"$TMPDIR/after"
	cmp "$TMPDIR/before" "$TMPDIR/after" || fail "a bad write has changed something"
	# The message may have characters that are special in patterns.
	sed -n 's/.* error: //p' error_log | grep -Fqx -e "$_message" || {
		cat error_log
		fail "error_log does not say '$_message'"
	}
}
