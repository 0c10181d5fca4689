#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# How a project tests with custody.  Run it: bats contrib/bats/example.bats

load custody.bash

setup() {
	custody_setup
}

teardown() {
	custody_teardown
}

@test "CARD-6: a command sees its worktree and its status comes back" {
	echo hello >greeting
	custody_run -- cat greeting
	assert_status 0
	assert_reason exited
	assert_output_has hello
}

@test "CARD-6: what a command writes does not reach the original" {
	custody_run -- sh -c 'echo changed >file; cat file'
	assert_status 0
	assert_output_has changed
	[ ! -e file ]
}

@test "CARD-6: a failing command is not an error of custody" {
	custody_run -- sh -c 'exit 3'
	assert_status 3
	assert_reason exited
}

@test "CARD-6: a command that takes too long is stopped" {
	custody_run --timeout 1s -- sleep 60
	assert_status 124
	assert_reason timeout
}

@test "CARD-6: the layers were proven, not promised" {
	custody_run -- true
	assert_layer seccomp
	assert_layer network-namespace
	assert_layer user-namespace
}
