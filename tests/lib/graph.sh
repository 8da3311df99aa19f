# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The call graph. Most tests trace the tree of calls in tests/module/tree.c.

# load_test_module: loads the test module, which contains the tree.
load_test_module() {
	insmod /extra/ktrace_test.ko
}

# run_call_tree WHAT [NUMBER]: has this task call one of the functions of the tree.
run_call_tree() {
	echo "tree $*" >"$TRACING/ktrace_test/fire"
}

# start_graph [DIRECTORY [FUNCTION...]]: records the call graph of this task in that trace array;
# functions of the tree, if none are named.
start_graph() {
	_graph_dir=${1:-.}
	[ $# = 0 ] || shift
	[ $# != 0 ] || set -- 'tree_*'
	echo "$PID" >"$_graph_dir/ferrotrace/set_pid"
	echo "$*" >"$_graph_dir/set_ftrace_filter" || return
	echo 1 >"$_graph_dir/options/ferro-graph"
	echo ferrotrace >"$_graph_dir/current_tracer"
}

# list_calls [FILE]: prints the calls in a trace, without columns and comments.
list_calls() {
	sed -n -e '/^#/d' -e 's, \[ktrace_test\],,' -e 's,^.*|  \( *[a-z_0-9.}]\),\1,' \
		-e 's, /\*.*,,' -e '/[;{}]$/p' "${1:-trace}"
}

# join_leaf_lines: prints calls that contain no other calls in one line. The trace shows entry and
# exit on separate lines if the call ended on another CPU; graph/layout tests when it does that.
join_leaf_lines() {
	awk '
		held && $0 == indent "}" { print indent name "();"; held = 0; next }
		held { print line; held = 0 }
		/\(\) \{$/ {
			line = name = indent = $0
			sub(/[^ ].*/, "", indent)
			sub(/^ */, "", name)
			sub(/\(\) \{$/, "", name)
			held = 1
			next
		}
		{ print }
		END { if (held) print line }'
}

# has_call_graph TEXT [FILE]: succeeds if the trace contains exactly these calls.
has_call_graph() {
	echo "$1" | join_leaf_lines >"$TMPDIR/expected"
	list_calls "${2:-trace}" | join_leaf_lines >"$TMPDIR/calls"
	cmp -s "$TMPDIR/expected" "$TMPDIR/calls"
}

# assert_call_graph TEXT [FILE]: fails unless the trace contains exactly these calls.
assert_call_graph() {
	has_call_graph "$@" || {
		diff "$TMPDIR/expected" "$TMPDIR/calls" || :
		cat "${2:-trace}"
		fail 'the call graph is different'
	}
}

# read_call_duration FUNCTION [FILE]: sets $duration to the duration of the last call of the
# function, in ns.
read_call_duration() {
	duration=$(sed 's, \[ktrace_test\],,' "${2:-trace}" | awk -F'[|]' -v name="$1" '
		# The line of the end of a call that contains other calls has no function name.
		match($2, "^ *" name "\\(\\)? \\{") { indent = $2; sub(/[^ ].*/, "", indent) }
		match($2, "^ *" name "\\(\\);") || (indent != "" && $2 ~ "^" indent "}") {
			us = $1; sub(/^.*\) */, "", us); sub(/^[^0-9]*/, "", us); sub(/ .*/, "", us)
			indent = ""
		}
		END { printf "%.0f\n", us * 1000 }')
	[ "$duration" -gt 0 ] || fail "$1 has no duration"
}

# assert_times_add_up FUNCTION: fails unless the parts of the time of the last call of the function
# add up to its duration. Sets the variables of read_call_duration and read_call_times.
assert_times_add_up() {
	read_call_times "$1"
	read_call_duration "$1"
	# The duration has three decimal places, or fewer if it is long.
	assert_range "run, wait and block of $1" $((run_ns + wait_ns + block_ns)) \
		$((duration - 1000)) $((duration + 1000))
}

# read_call_times FUNCTION [FILE]: sets $run_ns, $wait_ns, $block_ns, $switches and $why to the
# times of the last call of the function.
read_call_times() {
	# shellcheck disable=SC2034 # for the case
	read -r run_ns wait_ns block_ns switches why <<-EOF2
		$(sed 's, \[ktrace_test\],,g' "${2:-trace}" | awk -v name="$1" '
			$0 ~ "  " name "\\(\\) \\{" { indent = index($0, name) }
			$0 ~ "  " name "\\(\\); /\\*" || (indent && index($0, "} /*") == indent) {
				line = $0; sub(/.* run=/, "", line); indent = 0
			}
			END {
				gsub(/wait=|block=| us|switches=|\*\//, "", line)
				n = split(line, part, " ")
				for (i = 5; i <= n; i++) why = why " " part[i]
				if (n >= 4)
					printf "%.0f %.0f %.0f %d%s\n", part[1] * 1000,
						part[2] * 1000, part[3] * 1000, part[4], why
			}')
	EOF2
	[ -n "$run_ns" ] || {
		cat "${2:-trace}"
		fail "the trace has no times of $1"
	}
}
