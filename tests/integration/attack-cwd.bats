#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A working directory that resolves through /proc to a descriptor of the process that makes the container is a directory
# of the host.  The command must not start there, whichever way the path is written.
# shellcheck disable=SC2016,SC2154 # scripts for the inside; set by bats

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	suite_ungoverned
	MORE=()
}
teardown() {
	custody_teardown
}

# The payload leaves a mark in its working directory, which must then be found nowhere on the host.
MARK='>custody-was-here && echo it ran'

# outside_is_clean: no payload ran in a directory of the host.
outside_is_clean() {
	[ -z "$(find "$CUSTODY_HOME" "$CUSTODY_ROOT" -name custody-was-here)" ] ||
		custody_fail "written outside: $(find "$CUSTODY_HOME" "$CUSTODY_ROOT" -name custody-was-here)"
}

# refused TEXT WORD...: `custody run WORD...` executes nothing and names the reason.
refused() {
	local text=$1
	shift
	custody_run "${MORE[@]}" "$@" -- sh -c "$MARK"
	assert_status 125
	assert_stderr_has "$text"
	[ -z "$output" ] || custody_fail "it ran: $output"
	outside_is_clean
}

through_links() {
	local target
	for target in /proc/1/fd/6/. /proc/self/fd/5 /proc/1/fd/4 /proc/self/fd/7/.. /proc/1/task/1/fd/6 \
		/proc/thread-self/fd/6 /proc/1/fd/16 /proc/self/cwd/../../proc/1/fd/6; do
		rm -f build
		ln -s "$target" build
		refused working -w build
	done
	# These exist: what refuses them is where they lead.
	for target in /proc /proc/1 /proc/sys /proc/1/fd /dev /dev/pts; do
		rm -f build
		ln -s "$target" build
		refused working -w build
		assert_reason setup-failed
		assert_stderr_has "layer 'working-directory' is missing: "
	done
	rm -f build
	mkdir sub
	ln -s ../sub/. sub/again
	ln -s sub/again build
	custody_run "${MORE[@]}" -w build -- pwd -P
	assert_status 0
	[[ $output == */sub ]] || custody_fail "$output"
}

@test "ISO-1: a working directory below /proc, /dev or /sys is refused" {
	local dir
	for dir in /proc/self/fd/5 /proc/self/fd/6 /proc/1/fd/6/. //proc/./1/fd/6 /proc /dev /dev/shm /dev/fd/6 /sys /sys/fs; do
		refused "is below" -w "$dir"
	done
}

@test "ISO-1: a link in the worktree leads no command out of its container" {
	through_links
}

@test "ISO-1: a link in the worktree leads no command out of its container, as a user" {
	suite_setup_user
	suite_profile user '{"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
	chmod 0644 "$PROFILE"
	MORE=(--profile "$PROFILE")
	through_links
}

@test "ISO-1: a profile of the worktree names a working directory below the workspace only" {
	local dir
	mkdir -p .custody/profiles
	for dir in /proc/self/fd/6 /dev/fd/6 /etc /tmp /workx /; do
		jq -n --arg d "$dir" '{schema: 1, name: "mine", extends: "offline", process: {cwd: $d}}' >.custody/profiles/mine.json
		refused "process.cwd" --profile .custody/profiles/mine.json
	done
	jq -n '{schema: 1, name: "mine", extends: "offline", process: {cwd: "/work/.custody"}}' >.custody/profiles/mine.json
	custody_run --profile .custody/profiles/mine.json -- pwd
	assert_status 0
	[ "$output" = /work/.custody ]
}

@test "ISO-1: bundles under crun and runc: a link in the worktree leads no command out of its container" {
	local target
	for target in /proc/1/fd/6/. /proc/self/fd/7 /proc/1 /dev; do
		mkdir build
		bundle -w build -- sh -c "$MARK"
		[ "$(jq -r .process.cwd "$BUNDLE/config.json")" = / ]
		rmdir build
		ln -s "$target" build
		for runtime in crun runc; do
			runtime_run "$runtime" "$BUNDLE"
			assert_status 125
			assert_stderr_has "custody-init: layer 'working-directory' is missing: "
			[ -z "$output" ]
			outside_is_clean
		done
		rm build
	done
}

@test "ISO-1: without init a bundle starts at a mount point, not below one" {
	local dir
	mkdir sub
	suite_profile bare '{"process":{"init":false}}'
	for dir in sub "$PWD/sub" /work/sub /tmp/x /bin; do
		run --separate-stderr "$CUSTODY" bundle -o "$CUSTODY_HOME/none" --profile "$PROFILE" -w "$dir" -- pwd
		assert_status 125
		assert_stderr_has "working directory '"
		[ ! -e "$CUSTODY_HOME/none" ]
	done
	bundle --profile "$PROFILE" -- pwd
	runtime_run crun "$BUNDLE"
	assert_status 0
	[ "$output" = "$PWD" ]
}

@test "ISO-1: a working directory that is missing in a private directory is made, and refused elsewhere" {
	custody_run -w /tmp/a/b -- pwd
	assert_status 0
	[ "$output" = /tmp/a/b ]
	custody_run -w /usr/custody-missing -- pwd
	assert_status 125
	assert_reason setup-failed
	assert_stderr_has "cannot enter /usr/custody-missing: ENOENT"
}
