#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A caller may pass on ignored signals, pipes without a reader, limits.  In each case, a run is
# recorded whole or does not begin.
# shellcheck disable=SC2016,SC2154 # scripts for the inside; set by bats

load ../lib/suite.bash

setup() {
	suite_setup
	CALLER=$BATS_TEST_DIRNAME/../lib/caller.py
	SEG=$CUSTODY_ROOT/sandbox/ledger/00000000000000000000.ndjson
}
teardown() {
	custody_teardown
}

# caller WORD... -- COMMAND...: a hang is a failure, not a suite that never ends.
caller() {
	run --separate-stderr timeout -k 1 60 "${CUSTODY_AS[@]}" python3 "$CALLER" "$@"
}

# whole N: N runs began, each has its end, nothing is left, nothing is lost.
whole() {
	[ "$(grep -c '"k":"session.intent"' "$SEG")" -eq "$1" ] || custody_fail "not $1 intents: $(cut -c 1-400 "$SEG")"
	! grep -q '"reason":"lost"' "$SEG" || custody_fail "a session was lost: $(cut -c 1-400 "$SEG")"
	[ -z "$(sessions_left)" ] || custody_fail "left: $(sessions_left)"
	"$CUSTODY" ledger verify --json | jq -e '.integrity.verdict == "ok" and .completeness.verdict == "ok"' >/dev/null ||
		custody_fail "$("$CUSTODY" ledger verify)"
}

@test "ISO-4: a caller that ignores SIGCHLD gets the exit status of the command" {
	caller ignore=CHLD -- "$CUSTODY" run -- sh -c 'echo in; exit 3'
	assert_status 3
	[ "$output" = in ]
	caller ignore=CHLD,PIPE,USR1,ALRM,XCPU,XFSZ -- "$CUSTODY" run -- sh -c 'grep SigIgn /proc/self/status'
	assert_status 0
	[[ $output =~ 0000000000000000$ ]] || custody_fail "inherited: $output"
	whole 2
}

@test "ROOT-7: unread messages do not stop the supervisor: the exit is reported as it was" {
	# A run that prints a message: its evidence.
	caller deaf=2 -- "$CUSTODY" run -- sh -c 'kill -9 $$'
	assert_status 137
	jq -e 'select(.k == "session.end") | .d.reason == "signaled" and .d.evidence' "$SEG" >/dev/null ||
		custody_fail "$(tail -n 1 "$SEG")"
	caller deaf=1,2 -- "$CUSTODY" run -- sh -c 'echo out; echo err >&2; kill -9 $$'
	whole 2
}

@test "apply: reaches its record when its output is not read" {
	"$CUSTODY" run -- sh -c 'for i in $(seq 400); do echo x >a-name-that-fills-the-buffer-soon-$i; done'
	id=$("$CUSTODY" sessions --json | jq -r '.sessions[0].session')
	caller deaf=1 -- "$CUSTODY" apply "$id"
	assert_status 125 # the output was not delivered
	[ "$(find . -name 'a-name-*' | wc -l)" -eq 400 ]
	jq -e 'select(.k == "review.applied") | .d.written == 400' "$SEG" >/dev/null || custody_fail "$(tail -n 1 "$SEG")"
}

@test "GOV-1: a file size limit of the caller's is a refusal with words, or the run is recorded whole" {
	local size
	for size in 0 1 512 "$(($(stat -c %s "$SEG") + 300))"; do
		# Through a pipe, for a file could not take the words either.
		run bash -c 'timeout -k 1 60 "$@" 2>&1 | cat; exit "${PIPESTATUS[0]}"' - "${CUSTODY_AS[@]}" python3 "$CALLER" \
			fsize="$size" -- "$CUSTODY" run -- sh -c 'touch /tmp/x; echo it ran'
		assert_status 125
		[[ $output == custody*": "* && $output != *"it ran"* ]] || custody_fail "fsize=$size: $output"
	done
	"$CUSTODY" run -- true
	"$CUSTODY" ledger verify
}
