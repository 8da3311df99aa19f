# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Trigger rules: how often they have fired, and the events that they have written.

# read_fired LINE [DIRECTORY]: sets $fired to how often the rule in that line has fired.
read_fired() {
	# shellcheck disable=SC2034 # for the caller
	fired=$(grep -v '^#' "${2:-.}/ferrotrace/triggers" |
		sed -n "$1s/.*# fired: \([0-9]*\).*/\1/p")
}

# read_late LINE: sets $late to how many us late the actions of the rule in that line have taken
# effect at most; empty if none has.
read_late() {
	# shellcheck disable=SC2034 # for the caller
	late=$(grep -v '^#' ferrotrace/triggers |
		sed -n "$1s/.*, actions at most \([0-9]*\) us late$/\1/p")
}

# assert_fired TIMES LINE [DIRECTORY]: fails unless the rule in that line has fired so often.
assert_fired() {
	read_fired "$2" "${3:-}"
	assert_eq "rule $2 has fired" "$fired" "$1"
}

# set_rules RULE...: replaces the rules of the top trace array.
set_rules() {
	printf '%s\n' "$@" >ferrotrace/triggers
}
