#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Requests and their answers without a terminal; approval-card.bats tests terminals, approval-grant.bats the terms of a grant.

load ../lib/suite.bash
load ../lib/approval.bash

setup() {
	approval_setup
}

teardown() {
	custody_teardown
}

@test "GOV-13: without a terminal: 114, one request per digest with a counter, and nothing ran" {
	ask one
	assert_status 114
	[[ $output != *one* ]]
	[ -n "$request" ]
	first=$request
	ask one
	assert_status 114
	[ "$request" = "$first" ]
	ask two
	[ "$request" != "$first" ]
	[ "$(pending '.schema_version')" = 1 ]
	[ "$(pending '.requests | length')" = 2 ]
	[ "$(pending ".requests[] | select(.id == \"$first\") | .count")" = 2 ]
	[ "$(pending ".requests[] | select(.id == \"$first\") | .level + .command")" = "Becho ask one" ]
	[[ $(pending '.requests[0].digest') == "sha256:$first"* ]]
	[ "$(records session.start)" = 0 ]
	# No key was made for a program that asks.
	[ "$("$CUSTODY" key ls --json | jq '.keys | length')" = 0 ]
}

@test "GOV-13: the command that the refusal prints works unchanged" {
	ask pasted
	line=$(grep -o 'CUSTODY_ROOT=.*custody approve .*' <<<"$stderr")
	[ -n "$line" ]
	unset CUSTODY_ROOT
	run --separate-stderr sh -c "$line --yes"
	assert_status 0
	assert_output_has "approved $request"
	export CUSTODY_ROOT=$CUSTODY_HOME/root
	run --separate-stderr alone "$CUSTODY" run -- echo ask pasted
	assert_status 0
	assert_output_has "ask pasted"
	# One start was approved.
	ask pasted
	assert_status 114
}

@test "GOV-13: the line works also where PATH does not lead to custody" {
	PATH=/usr/bin:/bin ask far
	line=$(grep -o 'CUSTODY_ROOT=.*custody approve .*' <<<"$stderr")
	run --separate-stderr env -i PATH=/usr/bin:/bin sh -c "$line --yes"
	assert_status 0
	assert_output_has "approved $request"
}

@test "GOV-13: input through a pipe is no answer" {
	run --separate-stderr bash -c 'yes | setsid --wait "$CUSTODY" run -- echo ask piped'
	assert_status 114
	[[ $output != *piped* ]]
}

@test "GOV-6: --yes without a terminal is no answer" {
	run --separate-stderr alone "$CUSTODY" run --yes -- echo ask x
	assert_status 114
	[ "$(grants '.grants | length')" = 0 ]
}

@test "approval: deny refuses it with its reason, also when it is requested again" {
	ask no
	run --separate-stderr "$CUSTODY" deny "$request" --reason $'use staging\e[2J'
	assert_status 0
	ask no
	assert_status 114
	assert_stderr_has 'use staging\x1B[2J'
	[[ $stderr != *$'\e'* ]]
	[ "$(pending '.requests[0].state')" = denied ]
	[ "$("$CUSTODY" pending --json | jq '.requests | length')" = 0 ]
	[ "$(records approval.deny)" = 1 ]
}

# polled CMD...: CMD without a terminal; TRACE lists how each wait of its first process ended.
polled() {
	TRACE=$CUSTODY_HOME/trace
	alone strace -qq -o "$TRACE" -e trace=poll -e signal=none "$@"
}

# Waits of the approval: two descriptors, and a limit of a second or more.  The last one ended with an event.
woken_by_an_event() {
	grep -E '^poll\(.*, 2, [0-9]{4,}\)' "$TRACE" >"$TRACE.long"
	[[ $(tail -n 1 "$TRACE.long") == *'revents=POLLIN'* ]]
}

@test "approval: a waiting run starts after the approval, and ends after a denial" {
	polled "$CUSTODY" run --wait -- echo ask waited >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" 3>&- &
	waiter=$!
	wait_until grep -q 'custody approve' "$CUSTODY_HOME/err"
	[ ! -s "$CUSTODY_HOME/out" ]
	approve "$(pending '.requests[0].id')"
	wait "$waiter"
	TRACE=$CUSTODY_HOME/trace
	# Without the event it would look once a minute.
	woken_by_an_event
	[ "$(cat "$CUSTODY_HOME/out")" = "ask waited" ]

	alone "$CUSTODY" run --wait -- echo ask denied >"$CUSTODY_HOME/out-denied" 2>"$CUSTODY_HOME/err-denied" 3>&- &
	waiter=$!
	wait_until grep -q 'custody approve' "$CUSTODY_HOME/err-denied"
	"$CUSTODY" deny "$(pending '.requests[0].id')" --reason because
	status=0
	wait "$waiter" || status=$?
	assert_status 114
	grep -q because "$CUSTODY_HOME/err-denied"
	[ ! -s "$CUSTODY_HOME/out-denied" ]
}

@test "approval: a wait ends with its time, and with a signal" {
	run --separate-stderr alone "$CUSTODY" run --wait=1 -- echo ask late
	assert_status 114
	assert_stderr_has "--wait"
	# setsid in between would keep the signal: this one has no terminal by its own session.
	python3 -c 'import os, sys; os.setsid(); os.execv(sys.argv[1], sys.argv[1:])' \
		"$CUSTODY" run --wait -- echo ask ended >/dev/null 2>"$CUSTODY_HOME/err" </dev/null 3>&- &
	waiter=$!
	wait_until grep -q 'custody approve' "$CUSTODY_HOME/err"
	kill -TERM "$waiter"
	status=0
	wait "$waiter" || status=$?
	assert_status 143
}

@test "approval: approved between filing and waiting is approved" {
	ask early
	approve "$request"
	run --separate-stderr alone "$CUSTODY" run --wait=60 -- echo ask early
	assert_status 0
	# In the very moment between the two.
	approval_config "\"on_request\":[\"$CUSTODY\",\"approve\",\"--yes\"]"
	run --separate-stderr polled "$CUSTODY" run --wait=600 -- echo ask between
	assert_status 0
	assert_output_has "ask between"
	# It has not slept until its next look.
	! grep -E '^poll\(.*, 2, [0-9]{4,}\) .*Timeout' "$CUSTODY_HOME/trace" || custody_fail "slept although it was approved"
}

@test "approval: the admin's on_request command runs once per request, and nothing of the payload is in its arguments" {
	cat >"$CUSTODY_HOME/tell" <<-'END'
		#!/bin/sh
		{ echo "$#:$*"; cat; } >>"$(dirname "$0")/told"
	END
	chmod +x "$CUSTODY_HOME/tell"
	approval_config "\"on_request\":[\"$CUSTODY_HOME/tell\",\"fixed\"]"
	ask 'secret $(touch x)'
	ask 'secret $(touch x)'
	assert_status 114
	[ "$(head -n 1 "$CUSTODY_HOME/told")" = "2:fixed $request" ]
	[ "$(wc -l <"$CUSTODY_HOME/told")" = 2 ]
	[ "$(tail -n 1 "$CUSTODY_HOME/told" | jq -r .id)" = "$request" ]
}

@test "approval: an on_request command that fails or is missing is reported and changes nothing" {
	for program in /bin/false /no/such/program; do
		approval_config "\"on_request\":[\"$program\"]"
		ask "$program"
		assert_status 114
		[ -n "$request" ]
		assert_stderr_has "on_request: '$program'"
		approve "$request"
	done
}

@test "approval: --yes of approve is for level B only" {
	run --separate-stderr alone "$CUSTODY" run -- sh -c 'rm -rf *'
	assert_status 114
	assert_stderr_has "custody pin set"
	id=$(pending '.requests[0].id')
	[ "$(pending '.requests[0].level')" = C ]
	set_pin 271828
	run --separate-stderr alone "$CUSTODY" approve "$id" --yes
	assert_status 125
	assert_stderr_has PIN
	run --separate-stderr alone "$CUSTODY" approve "$id"
	assert_status 125
	[ "$(grants '.grants | length')" = 0 ]
}

@test "approval: caps of custody.json are errors, never cut down" {
	approval_config '"grant_max":{"uses":5,"time":"1h"}'
	ask capped
	run --separate-stderr "$CUSTODY" approve "$request" --yes --uses 6
	assert_status 125
	assert_stderr_has grant_max
	run --separate-stderr "$CUSTODY" approve "$request" --yes --for 2h
	assert_status 125
	[ "$(grants '.grants | length')" = 0 ]
	run --separate-stderr "$CUSTODY" approve "$request" --yes --uses 5 --for 1h
	assert_status 0
}

@test "approval: usage is 64 and changes nothing" {
	ask usage
	for words in "approve" "approve $request --uses 0" "approve $request --uses x" "approve $request --for 1y" "approve $request --what" \
		"approve $request extra" "deny" "revoke" "key" "key what" "pin" "pin set --pin-fd x" "grants x"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr "$CUSTODY" $words
		assert_status 64
	done
	[ "$(grants '.grants | length')" = 0 ]
	run --separate-stderr "$CUSTODY" approve 0123456789abcdef --yes
	assert_status 125
}

@test "LANE-6: requests and grants of one lane are none in the other" {
	ask lanes
	CUSTODY_ALLOW_PROD=1 run --separate-stderr "$CUSTODY" approve "$request" --yes --lane prod --allow-prod
	assert_status 125
	[ "$("$CUSTODY" pending --json --lane prod | jq '.requests | length')" = 0 ]
	run --separate-stderr "$CUSTODY" pending --lane elsewhere
	assert_status 125
}

@test "GOV-13: another user can neither see nor approve, and no file is theirs to read" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	ask private
	as_other=(setpriv --reuid "$SUITE_UID" --regid "$SUITE_UID" --clear-groups --inh-caps=-all)
	run --separate-stderr "${as_other[@]}" "$CUSTODY" pending --json
	assert_status 125
	run --separate-stderr "${as_other[@]}" "$CUSTODY" approve "$request" --yes
	assert_status 125
	run "${as_other[@]}" cat "$CUSTODY_ROOT/sandbox/requests/$request.json"
	[ "$status" -ne 0 ]
	run "${as_other[@]}" ls "$CUSTODY_ROOT/sandbox/requests"
	[ "$status" -ne 0 ]
	[ "$(grants '.grants | length')" = 0 ]
	run "${as_other[@]}" find "$CUSTODY_ROOT/sandbox" \( -type f -readable -o -writable \) -print
	[[ $output != "$CUSTODY_ROOT"* ]]
}

@test "GOV-13: nothing of it works from inside a sandbox" {
	ask inside
	cp "$CUSTODY" custody
	run --separate-stderr alone "$CUSTODY" run -e "CUSTODY_ROOT=$CUSTODY_ROOT" -- \
		sh -c "ls -A $CUSTODY_ROOT 2>/dev/null | sed 's/^/seen: /'; ./custody pending --json; ./custody approve $request --yes; ./custody pin set"
	[[ $output != *"$request"* ]]
	[[ $output != *seen:* ]]
	[ "$(grants '.grants | length')" = 0 ]
	[ "$(pending ".requests[] | select(.id == \"$request\") | .state")" = open ]
}

@test "approval: pending shows the card of one, and the request for another machine" {
	ask $'a\tb'
	run --separate-stderr "$CUSTODY" pending "$request"
	assert_status 0
	assert_output_has "echo ask \$'a\\tb'"
	assert_output_has "sha256:$request"
	run --separate-stderr "$CUSTODY" pending "$request" --json
	[ "$(jq -r .lane <<<"$output")" = sandbox ]
	run --separate-stderr "$CUSTODY" pending
	assert_output_has "$request"
	[[ $output != *$'\t'* ]]
}

@test "approval: deny --all denies all pending requests; a damaged request can be removed by its name" {
	ask one
	ask two
	echo '{' >"$CUSTODY_ROOT/sandbox/requests/$request.json"
	run --separate-stderr "$CUSTODY" pending
	assert_status 0
	assert_output_has "damaged: 'custody deny ID' removes it"
	[ "$("$CUSTODY" pending --json | jq -c '[.requests[].state] | sort')" = '["damaged","open"]' ]
	run --separate-stderr "$CUSTODY" deny "$request"
	assert_status 0
	[ "$("$CUSTODY" pending --json | jq '.requests | length')" = 1 ]
	run --separate-stderr "$CUSTODY" deny --all "$request"
	assert_status 64
	run --separate-stderr "$CUSTODY" deny --all
	assert_status 0
	[ "$("$CUSTODY" pending --json --all | jq '.requests | length')" = 0 ]
	[ "$(records approval.drop)" = 2 ]
	[ "$(records approval.deny)" = 0 ]
}

@test "approval: deny --all counts the requests that 'custody pending' lists, and denied ones apart" {
	ask one
	ask two
	ask three
	"$CUSTODY" deny "$request" >/dev/null
	[ "$("$CUSTODY" pending --json | jq '.requests | length')" = 2 ]
	run --separate-stderr "$CUSTODY" deny --all
	assert_status 0
	[ "$output" = "cleared 2 pending requests and 1 denied one; they can be filed again" ] || custody_fail "$output"
	ask one
	run --separate-stderr "$CUSTODY" deny --all
	[ "$output" = "cleared 1 pending request; they can be filed again" ] || custody_fail "$output"
}

@test "GOV-1: where a decision cannot be written, nothing is decided" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	ask full
	cat >"$CUSTODY_HOME/try" <<-'END'
		set -eu
		refused() { if "$@"; then echo "went through: $*" >&2; exit 9; fi; }
		mount --bind "$CUSTODY_ROOT" "$CUSTODY_ROOT"
		mount -o remount,bind,ro "$CUSTODY_ROOT"
		refused "$CUSTODY" approve "$1" --yes
		refused "$CUSTODY" deny "$1"
		refused "$CUSTODY" key new other
		refused setsid --wait "$CUSTODY" run -- echo ask started
		umount "$CUSTODY_ROOT"
		cp -a "$CUSTODY_ROOT" "$CUSTODY_HOME/copy"
		mount -t tmpfs -o size=4m none "$CUSTODY_ROOT"
		cp -a "$CUSTODY_HOME/copy/." "$CUSTODY_ROOT"
		dd if=/dev/zero of="$CUSTODY_ROOT/fill" bs=4k 2>/dev/null || true
		refused "$CUSTODY" approve "$1" --yes
		refused setsid --wait "$CUSTODY" run -- echo ask started
		rm "$CUSTODY_ROOT/fill"
		"$CUSTODY" grants --all --json | jq -e '.grants == []'
		"$CUSTODY" approve "$1" --yes
	END
	run --separate-stderr unshare -m bash "$CUSTODY_HOME/try" "$request"
	assert_status 0
	[[ $output != *"ask started"* ]]
	assert_stderr_has "Read-only file system"
	assert_stderr_has "No space left"
	[ "$(grants '.grants | length')" = 0 ]
}
