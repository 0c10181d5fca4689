#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Input and output of a run behave as without custody.

load ../lib/suite.bash

setup() {
	suite_setup
}

teardown() {
	custody_teardown
}

@test "run: stdout and stderr stay apart" {
	custody_run -- sh -c 'echo out; echo err >&2'
	assert_status 0
	[ "$output" = out ]
	[ "$stderr" = err ]
}

@test "run: stdout and stderr to one file keep their order" {
	"$CUSTODY" run -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done' >both 2>&1
	[ "$(paste -sd ' ' both)" = "o1 e1 o2 e2 o3 e3 o4 e4 o5 e5 o6 e6 o7 e7 o8 e8 o9 e9" ]
}

@test "run: every byte of a large output arrives" {
	local sum
	head -c 20000000 /dev/urandom >data
	sum=$(sha256sum <data)
	[ "$("$CUSTODY" run -- cat data | sha256sum)" = "$sum" ]
	"$CUSTODY" run -- cat data >copy
	[ "$(sha256sum <copy)" = "$sum" ]
	"$CUSTODY" run -- cat data >>copy2
	[ "$(sha256sum <copy2)" = "$sum" ]
}

@test "run: input comes through a pipe, from a file, and through neither" {
	local sum
	[ "$(echo hello | "$CUSTODY" run -- cat)" = hello ]
	head -c 3000000 /dev/urandom >data
	sum=$(sha256sum <data)
	[ "$("$CUSTODY" run -- sha256sum <data)" = "$sum" ]
	[ "$(head -c 3000000 data | "$CUSTODY" run -- sha256sum)" = "$sum" ]
	[ -z "$("$CUSTODY" run -- cat </dev/null)" ]
}

@test "run: closed input, output and error are no error" {
	local rc=0
	"$CUSTODY" run -- sh -c 'cat; exit 5' <&- || rc=$?
	[ "$rc" -eq 5 ]
	"$CUSTODY" run -- sh -c 'echo lost; exit 6' >&- || rc=$?
	[ "$rc" -eq 6 ]
	"$CUSTODY" run -- sh -c 'echo lost >&2; exit 7' 2>&- || rc=$?
	[ "$rc" -eq 7 ]
}

@test "run: nothing of a pipe is read that the command did not read" {
	[ "$(printf 'one\ntwo\n' | { "$CUSTODY" run -- sh -c 'read x; echo $x' >/dev/null; cat; })" = two ]
}

@test "run: nothing of a file is lost for the next reader" {
	seq 100000 >data
	{
		"$CUSTODY" run -- head -c 6 >first
		cat >rest
	} <data
	[ "$(cat first)" = "$(head -c 6 data)" ]
	# head itself reads ahead inside; what it never got stays in the file.
	[ -s rest ]
	[ "$(tail -n 1 rest)" = 100000 ]
}

@test "run: an output without a reader stops the command, not custody" {
	local rc
	set +e
	"$CUSTODY" run -- yes | head -n 1 >first
	rc=${PIPESTATUS[0]}
	set -e
	[ "$(cat first)" = y ]
	[ "$rc" -eq 141 ]
}

@test "run: a reader that closes while the command is silent is noticed at the next output" {
	mkfifo pause
	suite_channel "$PWD/pause"
	"$CUSTODY" run -p "$PROFILE" -v "$PWD/pause:/wait:ro" -- sh -c 'cat /wait >/dev/null; echo word; echo word; exit 9' > >(true) 2>/dev/null &
	local pid=$! rc=0
	: >pause
	wait "$pid" || rc=$?
	[ "$rc" -ne 0 ]
}

@test "run: output written before the exit arrives, however slow the reader" {
	local n
	n=$("$CUSTODY" run -- sh -c 'head -c 60000 /dev/zero; kill -9 $$' | dd bs=50 status=none | wc -c)
	[ "$n" -eq 60000 ]
}

@test "run: the owner of the caller's files does not change" {
	echo x >in
	chmod 0600 in
	"$CUSTODY" run -- cat <in >out 2>err
	[ "$(stat -c %u in out err | sort -u)" = "$(id -u)" ]
}

@test "--json: the result is a line of its own, whatever the output ends with" {
	local how
	for how in '{"exit":{"code":0}}' 'half a line' 'a line\n' ''; do
		run bash -c "\"\$CUSTODY\" run --json -- sh -c 'printf \"\$1\"; exit 3' sh '$how' 2>/dev/null"
		[ "$status" -eq 3 ]
		[ "$(tail -n 1 <<<"$output" | jq -r .exit.code)" = 3 ]
		[ "$(tail -n 1 <<<"$output" | jq -r .schema_version)" = 1 ]
		# No line is added where the last one is whole.
		[ "${#lines[@]}" -eq $((1 + (${#how} > 0))) ]
		# Both streams in one file.
		run bash -c "\"\$CUSTODY\" run -q --json -- sh -c 'printf \"\$1\" >&2; exit 3' sh '$how' 2>&1"
		[ "$(tail -n 1 <<<"$output" | jq -r .exit.code)" = 3 ]
	done
	# To a file, too.
	"$CUSTODY" run --json -- printf '{"exit":{"code":9}}' >"$CUSTODY_HOME/out" 2>/dev/null
	[ "$(tail -n 1 "$CUSTODY_HOME/out" | jq -r .exit.code)" = 0 ]
}

@test "run: a device, file, FIFO, socket or terminal of the caller keeps owner and mode" {
	local take='for fd in 0 1 2; do chmod 0 /proc/self/fd/$fd; chown 5 /proc/self/fd/$fd; done; exit 0'
	run python3 "${BATS_TEST_DIRNAME%/*}/lib/stdio-owner.py" "$CUSTODY_HOME" "$CUSTODY" run -- sh -c "$take"
	[ "$status" -eq 0 ]
	[ -z "$output" ] || { echo "$output" && return 1; }
}
