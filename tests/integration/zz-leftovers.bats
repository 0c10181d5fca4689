#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs last: the suites before it left the host as they found it.

load ../lib/suite.bash

# Processes that are exiting are given time; remaining ones are named.
none_new_of() { # KIND
	local new
	wait_until all_gone "$1" 2>/dev/null && return
	new=$(leftovers_new "$LEFTOVERS_BEFORE" | grep "^$1 ")
	echo "left behind:" "$new" >&2
	return 1
}
all_gone() {
	! leftovers_new "$LEFTOVERS_BEFORE" | grep -q "^$1 "
}

@test "leftovers: no process" {
	none_new_of process
}

@test "leftovers: no mount" {
	none_new_of mount
}

@test "leftovers: no cgroup in any hierarchy" {
	none_new_of cgroup
}

@test "leftovers: no session directory and no temporary file" {
	none_new_of file
}

@test "leftovers: nodes of /dev still belong to whom they belonged" {
	none_new_of owner
}

@test "leftovers: the detector sees a process" {
	local before=$BATS_TEST_TMPDIR/before fifo=$BATS_TEST_TMPDIR/fifo pid found=no
	leftovers_list >"$before"
	mkfifo "$fifo"
	cp "$(command -v sh)" "$BATS_TEST_TMPDIR/custody-detect"
	"$BATS_TEST_TMPDIR/custody-detect" -c 'read -r line' <"$fifo" 3>&- &
	pid=$!
	exec 9>"$fifo"
	wait_until grep -q custody-detect "/proc/$pid/comm"
	leftovers_new "$before" | grep -q "^process $pid " && found=yes
	exec 9>&-
	wait "$pid" || true
	[ "$found" = yes ]
}

@test "leftovers: the detector sees a file" {
	local before=$BATS_TEST_TMPDIR/before file=${TMPDIR:-/tmp}/custody-detector-$$
	leftovers_list >"$before"
	touch "$file"
	run leftovers_new "$before"
	rm -f "$file"
	[[ $output == *"file $file"* ]]
}

@test "leftovers: the detector sees a cgroup in each hierarchy that can be written" {
	local before=$BATS_TEST_TMPDIR/before root dir made=()
	leftovers_list >"$before"
	while read -r root; do
		dir=$root/custody-detector-$$
		mkdir "$dir" 2>/dev/null && made+=("$dir")
	done < <(sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*\) .* - cgroup2\{0,1\} .*/\1/p' /proc/self/mountinfo)
	run leftovers_new "$before"
	for dir in "${made[@]}"; do
		rmdir "$dir"
	done
	for dir in "${made[@]}"; do
		[[ $output == *"cgroup $dir"* ]]
	done
}
