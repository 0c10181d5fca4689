#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# Commands that look like reads, in a writable worktree: none may start without being asked.  The words are judged one
# by one in tests/unit/test-policy-commands (hostile.txt) and test-command-options.

load ../lib/suite.bash
load ../lib/approval.bash

setup() {
	unset CUSTODY_LANE CUSTODY_ALLOW_PROD
	approval_setup
	jq -n '{schema: 1, name: "rw", extends: "offline", workspace: {mode: "rw"}}' >"$CUSTODY_HOME/rw.json"
	printf 'one\n' >f
	printf 'BEGIN { print > "written" }\n' >e.awk
	printf '#!/bin/sh\ntouch written\n' >evil
	chmod +x evil
	mkdir DIR
}

teardown() {
	custody_teardown
}

state_of_tree() {
	find . -printf '%p %m %s\n' | sort
}

# refused COMMAND...: it asks, and nothing of it happened.
refused() {
	local before
	before=$(state_of_tree)
	run --separate-stderr alone "$CUSTODY" run --profile "$CUSTODY_HOME/rw.json" -- "$@"
	assert_status 114
	[ "$(state_of_tree)" = "$before" ] || custody_fail "the tree changed: $*"
}

starts() {
	run --separate-stderr alone "$CUSTODY" run --profile "$CUSTODY_HOME/rw.json" -- "$@"
	assert_status 0
}

@test "GOV-5: an option that runs or writes does not hide in a read" {
	refused bash -c "true & wait -n -p 'a[\$(rm -rf ./*)]'"
	refused sed 's/[/x/;s,],.*/rm -rf */e;#,p' f
	refused sed -ie '1e ./evil' f
	refused awk -W exec e.awk
	refused awk -f e.awk
	refused chmod -R -rwx DIR
	refused /usr/bin/time -o written -f TEXT true
	refused dpkg -x a DIR
	refused sort -uowritten f
	refused apt list -o "Dir::Bin::dpkg=$PWD/evil"
	refused env -S './evil x'
	refused sh -c 'PATH=.:$PATH; ls'
	refused sh -c 'read PATH <f; ls'
}

@test "GOV-5: everyday reads start in a writable worktree" {
	starts ls -la
	starts sh -c 'cat f | sort -u | head -n 1'
	starts grep -rn one .
	starts sed -n 1,2p f
	starts awk '{print $1}' f
}

@test "GOV-16: git starts in a writable worktree only if its configuration names no program" {
	git init -q .
	starts git status --short
	git config core.fsmonitor ./evil
	refused git status --short
	refused git clean -fdx -enone
	git config --unset core.fsmonitor
	printf '#!/bin/sh\ntouch written\n' >.git/hooks/post-index-change
	chmod +x .git/hooks/post-index-change
	refused git status --short
	rm .git/hooks/post-index-change
	starts git status --short
	git init -q DIR
	git -C DIR config core.fsmonitor ../evil
	refused git -C DIR status --short
	refused sh -c 'cd DIR && git status --short'
	refused env GIT_DIR=DIR/.git git status
	[ ! -e written ]
}
