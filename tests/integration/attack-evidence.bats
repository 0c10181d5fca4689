#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2154 # scripts for the inside; set by bats
#
# Evidence of a run, and users who try to get more out of it than a copy.

load ../lib/suite.bash

setup() {
	suite_setup
}
teardown() {
	custody_teardown
}

@test "ISO-5: restore --exact creates no device or set-id file in a directory of another user" {
	[ "$(id -u)" -eq 0 ] || skip "--exact needs root"
	custody_run -- sh -c 'mkfifo pipe; echo x >file; kill -9 $$'
	assert_status 137
	id=$("$CUSTODY" evidence ls --json | jq -r '.evidence[0].id')
	mkdir "$CUSTODY_HOME/theirs" "$CUSTODY_HOME/open"
	chown 64321 "$CUSTODY_HOME/theirs"
	chmod 0777 "$CUSTODY_HOME/open"
	for dir in theirs open; do
		run --separate-stderr "$CUSTODY" evidence restore "$id" "$CUSTODY_HOME/$dir" --exact
		assert_status 125
		assert_stderr_has "other users can write '$CUSTODY_HOME/$dir'"
		[ -z "$(ls -A "$CUSTODY_HOME/$dir")" ] || custody_fail "restored: $(ls -lA "$CUSTODY_HOME/$dir")"
	done
	"$CUSTODY" evidence restore "$id" "$CUSTODY_HOME/ours" --exact
	[ -p "$CUSTODY_HOME/ours/pipe" ] && [ "$(cat "$CUSTODY_HOME/ours/file")" = x ]
}
