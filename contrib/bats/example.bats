#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Example of a project's tests with custody.  Run it: bats contrib/bats/example.bats

load custody.bash

setup() {
	custody_setup
}

teardown() {
	custody_teardown
}

@test "CARD-6: a command sees its worktree and custody returns its status" {
	echo hello >greeting
	custody_run -- cat greeting
	assert_status 0
	assert_reason exited
	assert_output_has hello
}

@test "CARD-6: a write of a command does not change the original" {
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

@test "CARD-6: a command that exceeds its time limit is killed" {
	custody_run --timeout 1s -- sleep 60
	assert_status 124
	assert_reason timeout
}

@test "CARD-6: the layers are proven" {
	custody_run -- true
	assert_layer seccomp
	assert_layer network-namespace
	assert_layer user-namespace
}
