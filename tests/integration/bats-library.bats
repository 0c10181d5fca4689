#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# CARD-6: the assertions of contrib/bats/custody.bash fail when they should.  A script replaces custody here.

load ../lib/suite.bash

setup() {
	suite_setup
	cat >"$CUSTODY_HOME/custody" <<'END'
#!/bin/bash
# As configured: prints, writes a result, exits with a status.
case $1 in
run)
	shift
	while [ "$1" != -- ]; do
		[ "$1" != --result ] || printf '%s' "$FAKE_RESULT" >"$2"
		shift
	done
	echo "to stdout"
	echo "to stderr" >&2
	exit "${FAKE_STATUS:-0}"
	;;
doctor) printf '%s' "$FAKE_DOCTOR" ;;
pending) printf '%s' '{"requests":[{"id":"0123456789abcdef","count":2}]}' ;;
sessions) printf '%s' '{"sessions":[{"container":"abc","exit":{"reason":"exited","code":7},"evidence":null},
	{"container":"abc","exit":{"reason":"oom","code":137},"evidence":null}]}' ;;
esac
END
	chmod +x "$CUSTODY_HOME/custody"
	export CUSTODY=$CUSTODY_HOME/custody
	export FAKE_RESULT='{"exit":{"reason":"timeout","code":124},"layers":[{"name":"seccomp","state":"proven"},
		{"name":"memory-limit","state":"optional-missing"}],"evidence":null}'
	export FAKE_DOCTOR='{"checks":[{"id":"seccomp","state":"ok"},{"id":"cgroup-memory","state":"missing"}]}'
	# The cache belongs to the real doctor.
	export BATS_SUITE_TMPDIR=$CUSTODY_HOME
}

teardown() {
	custody_teardown
}

@test "CARD-6: custody_run keeps status, both streams and the result" {
	FAKE_STATUS=124 custody_run -- sleep 60
	assert_status 124
	assert_output_has 'to stdout'
	assert_stderr_has 'to stderr'
	assert_reason timeout
	assert_layer seccomp
	assert_layer memory-limit optional-missing
	[ "$(custody_result .exit.code)" = 124 ]
}

@test "CARD-6: each assertion fails on another value and prints the actual one" {
	custody_run -- true
	run ! assert_status 1
	[[ $output == *'expected status 1, got 0'* ]]
	custody_run -- true
	run ! assert_reason exited
	[[ $output == *"expected the exit reason 'exited', got 'timeout'"* ]]
	run ! assert_layer memory-limit
	[[ $output == *"expected layer 'memory-limit' to be proven, got optional-missing"* ]]
	run ! assert_layer user-namespace
	[[ $output == *'got absent'* ]]
	run ! assert_output_has 'nothing of the kind'
}

@test "CARD-6: without a result document the assertions fail" {
	FAKE_RESULT='' custody_run -- true
	run ! assert_reason exited
	[[ $output == *'missing result document'* ]]
	run ! assert_layer seccomp
	run ! assert_evidence
}

@test "CARD-6: assert_evidence fails with a clear message without evidence, and reads existing evidence" {
	custody_run -- true
	run ! assert_evidence
	[[ $output == *'names no evidence'* ]]
	mkdir -p "$CUSTODY_HOME/evidence/worktree"
	touch "$CUSTODY_HOME/evidence/worktree/kept"
	FAKE_RESULT="{\"exit\":{\"reason\":\"oom\"},\"evidence\":\"$CUSTODY_HOME/evidence\"}" custody_run -- true
	assert_evidence
	assert_evidence kept
	run ! assert_evidence lost
	FAKE_RESULT='{"evidence":"/nonexistent"}' custody_run -- true
	run ! assert_evidence
}

@test "CARD-6: skip_without continues if nothing is missing and fails on an unknown id" {
	skip_without seccomp
	run ! skip_without no-such-capability
	[[ $output == *'seccomp cgroup-memory'* ]]
}

@test "CARD-6: skip_without names the capability that is missing" {
	# In a file of its own: a skip ends the test that calls it.
	printf 'load %s\n@%s "inner" {\n\tskip_without seccomp cgroup-memory\n\tfalse\n}\n' \
		"$BATS_TEST_DIRNAME/../../contrib/bats/custody.bash" test >"$CUSTODY_HOME/inner.bats"
	run env -u BATS_RUN_TMPDIR bats --tap "$CUSTODY_HOME/inner.bats"
	[[ $output == *'ok 1 inner # skip missing: cgroup-memory'* ]]
}

@test "CARD-6: custody_teardown fails when a session is left, and removes it" {
	local home=$CUSTODY_HOME
	mkdir -p "$CUSTODY_ROOT/run/sessions/20260101T000000Z-00000000"
	run ! custody_teardown
	[[ $output == *'20260101T000000Z-00000000'* ]]
	[ ! -e "$home" ]
}

@test "CARD-6: assert_denied needs a failure and the line that approves, assert_request the pending request" {
	run sh -c 'echo "custody: approval needed; custody approve 0123456789abcdef" >&2; exit 126'
	assert_denied
	[ "$CUSTODY_REQUEST" = 0123456789abcdef ]
	assert_request
	assert_request "$CUSTODY_REQUEST" 2
	run ! assert_request "$CUSTODY_REQUEST" 3
	[[ $output == *'filed 3 times, got 2'* ]]
	run ! assert_request 1111111111111111
	[[ $output == *'pending: 0123456789abcdef'* ]]
	run sh -c 'echo "custody approve 0123456789abcdef"'
	run ! assert_denied
	[[ $output == *'but the command started'* ]]
	run sh -c 'echo refused >&2; exit 126'
	run ! assert_denied
	[[ $output == *"lacks 'custody approve ID'"* ]]
}

@test "CARD-6: custody_container takes the newest session of an engine's container" {
	# An engine that knows the name `one`.
	printf '%s\n' '#!/bin/sh' '[ "$4" = one ] && echo abc' >"$CUSTODY_HOME/engine"
	chmod +x "$CUSTODY_HOME/engine"
	custody_container "$CUSTODY_HOME/engine" one
	assert_reason exited
	[ "$(custody_result .exit.code)" = 7 ]
	custody_container "$CUSTODY_HOME/engine" abc
	assert_reason exited
	run ! assert_evidence
	run ! custody_container "$CUSTODY_HOME/engine" two
	[[ $output == *"has no session: it is not governed"* ]]
}
