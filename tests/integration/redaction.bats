#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154,SC2317 # scripts for the inside; bats' subshells; functions as arguments
#
# Everyday 9: a secret in a command line is stored and shown nowhere, whatever becomes of the run.

bats_require_minimum_version 1.5.0
load ../lib/suite.bash
load ../lib/approval.bash
load ../lib/runtime.bash

SECRET=Tr0ub4dor.3-of~it
SCRIPT='echo "$API_KEY $2"'
MARK='\[redacted [0-9a-f]{8}, 17 bytes\]'

setup() {
	approval_setup '"governance": {"security_profile": "off"}'
}
teardown() {
	[ -z "${PID:-}" ] || kill "$PID" 2>/dev/null || true
	custody_teardown
}

# nowhere: the secret is in no file of custody, and not in what the last command wrote.
nowhere() {
	local hits
	hits=$(grep -rlaF -- "$SECRET" "$CUSTODY_ROOT" || true)
	[ -z "$hits" ] || custody_fail "the secret is in $hits" || return
	[[ ${output:-}${stderr:-} != *"$SECRET"* ]] || custody_fail "the secret was shown: ${output:-} ${stderr:-}"
}

# listed SESSION: and in nothing that is shown of it.
listed() {
	run --separate-stderr custody show "$1" --json
	assert_status 0
	[[ $output =~ $MARK ]] || custody_fail "no placeholder: $output" || return
	nowhere
	run --separate-stderr custody show "$1"
	nowhere
	run --separate-stderr custody sessions --all
	nowhere
	run --separate-stderr custody sessions --all --json
	[[ $output =~ $MARK ]]
	nowhere
	run --separate-stderr custody ledger show --json
	[[ $output =~ $MARK ]]
	nowhere
}

# Three spellings of the same secret.
words=("API_KEY=$SECRET" sh -c "$SCRIPT" sh --token "$SECRET" "--password=$SECRET")

allowed() {
	profile plain '{}'
	custody_run --profile "$CUSTODY_HOME/plain.json" -- env "${words[@]}"
	assert_status 0
	[ "$output" = "$SECRET $SECRET" ] # the command has the true words
	output=
	[[ $(custody_result '.command | join(" ")') =~ API_KEY=$MARK.*--token\ $MARK\ --password=$MARK ]]
	[[ $CUSTODY_RESULT != *"$SECRET"* ]]
	nowhere
	listed "$(custody_result .session)"
}

@test "redaction: a command that runs leaves its secrets nowhere" {
	allowed
}

@test "redaction: the same as an ordinary user" {
	custody_teardown
	approval_setup_user '"governance": {"security_profile": "off"}'
	allowed
}

@test "redaction: evidence of a run that fails, or that a signal ends, has none" {
	local end
	for end in 'exit 3' 'kill -SEGV $$'; do
		custody_run -- env "API_KEY=$SECRET" sh -c "$end" sh --token "$SECRET"
		[ "$status" -ne 0 ]
		assert_evidence
		dir=$(custody_result .evidence)
		for file in subject.json config.json metadata.json; do
			[[ $(cat "$dir/$file") =~ $MARK ]] || custody_fail "no placeholder in $file"
		done
		nowhere
		listed "$(custody_result .session)"
	done
	custody evidence verify "$(custody_result .session)"
}

@test "redaction: a refusal has none, at a terminal, in the request and in the grant" {
	on_terminal 'expect:Approve?' 'send:v\n' 'expect:Approve?' 'send:n\n' -- "$CUSTODY" run -- echo ask --token "$SECRET"
	assert_status 114
	# It is shown once: the terminal echoes nothing of it.
	[[ $output =~ --token.*$MARK ]]
	nowhere
	ask --token "$SECRET"
	assert_status 114
	nowhere
	[[ $(pending '.requests[0].command') =~ --token\ \'$MARK ]] || custody_fail "$(pending .)"
	run --separate-stderr custody pending
	nowhere
	run --separate-stderr approve "$request"
	nowhere
	# Another secret needs another approval, this one does not.
	run --separate-stderr alone "$CUSTODY" run -- echo ask --token "$SECRET.other"
	assert_status 114
	run --separate-stderr alone "$CUSTODY" run -- echo ask --token "$SECRET"
	assert_status 0
	[ "$output" = "ask --token $SECRET" ]
	output=
	nowhere
}

@test "redaction: a typed placeholder is not that of a secret" {
	ask --token "$SECRET"
	shown=$(pending '.requests[0].command' | grep -oE "$MARK")
	approve "$request"
	run --separate-stderr alone "$CUSTODY" run -- echo ask --token "$shown"
	assert_status 114
	[[ $(pending '.requests[].command') != *"$shown"* ]]
}

# reads WORDS...: the last word, as an approver reads it.
reads() {
	custody check --json -- "$@" | jq -r '.subject.argv | last'
}

@test "redaction: no program, option, path or expansion hides behind a placeholder" {
	local word
	mkdir scripts npm_aaaaaaaaaaaaaaaa
	echo 'echo ran' >scripts/evil
	cp scripts/evil npm_aaaaaaaaaaaaaaaa/run
	for word in 'TOKEN=scripts/evil; sh $TOKEN' 'TOKEN=/usr/bin/env; $TOKEN' 'TOKEN=~/.ssh/id_rsa; cat $TOKEN' 'sh npm_aaaaaaaaaaaaaaaa/run' \
		'tool --token --output=/etc/passwd' 'token=../scripts/evil; $token' 'ghp_aaaaaaaaaaaaaaaa --all'; do
		[ "$(reads sh -c "$word")" = "$word" ] || custody_fail "hidden: $(reads sh -c "$word")"
	done
	for word in scripts/evil /usr/bin/env sha256sum ./missing --privileged; do
		[ "$(reads sh -c '"$1"' --token "$word")" = "$word" ]
		[ "$(reads x "--password=$word")" = "--password=$word" ]
	done
	# A value that is no file is hidden until there is one: then it is another subject.
	word=$(custody check --json -- sh -c 'TOKEN=scripts/later; sh $TOKEN' | jq -r '.digest, (.subject.argv | last)')
	[[ $word =~ TOKEN=\[redacted ]]
	touch scripts/later
	[ "$(custody check --json -- sh -c 'TOKEN=scripts/later; sh $TOKEN' | jq -r .digest)" != "${word%%$'\n'*}" ]
	[ "$(reads sh -c 'TOKEN=scripts/later; sh $TOKEN')" = 'TOKEN=scripts/later; sh $TOKEN' ]
}

@test "redaction: policy judges the true words" {
	mkdir -p "$CUSTODY_ROOT/etc"
	jq -n --arg secret "$SECRET" '{rules: [{effect: "deny", argv: ["echo", "--token", $secret]}]}' >"$CUSTODY_ROOT/etc/custody.json"
	custody_run -- echo --token "$SECRET"
	assert_status 113
	[ -z "$output" ]
	[[ $stderr$CUSTODY_RESULT != *"$SECRET"* ]]
	rm "$CUSTODY_ROOT/etc/custody.json"
	nowhere
	run -127 --separate-stderr custody run -- no-such-program --token "$SECRET"
	nowhere
}

@test "redaction: a detached run, and one whose supervisor is killed, leave none" {
	run --separate-stderr custody run -d --name away -- env "API_KEY=$SECRET" sleep 1000
	assert_status 0
	session=$(custody show away --json | jq -r .session.session)
	listed "$session"
	kill -9 "$(custody show away --json | jq .session.pid)"
	wait_until is_over "$session"
	custody_run -- true # recovers it
	nowhere
	listed "$session"
}
is_over() {
	custody show "$1" --json 2>/dev/null | jq -e '.session.state != "running"' >/dev/null
}

@test "CARD-3: a bundle has the true words only in config.json, and its hook takes no others" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	rm "$CUSTODY_ROOT/etc/custody.json"
	chown -hR "$(owner)" .
	profile plain '{}'
	bundle --profile "$CUSTODY_HOME/plain.json" -- env "${words[@]}"
	nowhere
	[ "$(grep -rlaF -- "$SECRET" "$BUNDLE")" = "$BUNDLE/config.json" ]
	[ "$(stat -c %a "$BUNDLE/config.json")" = 600 ]
	runs() {
		runtime_run "$RUNTIME" "$BUNDLE"
		[ "$status" -eq 0 ] || custody_fail "$stderr"
		[ "$output" = "$SECRET $SECRET" ]
		output=
		nowhere
	}
	both runs
	run --separate-stderr custody ledger show --json
	[[ $output =~ API_KEY=$MARK ]]
	# Edited: nothing runs.
	sed -i "s/$SECRET/$SECRET.other/" "$BUNDLE/config.json"
	edited() {
		runtime_run "$RUNTIME" "$BUNDLE"
		[ "$status" -ne 0 ]
		[ -z "$output" ]
		[[ $stderr == *'another value than was approved'* ]] || custody_fail "$stderr"
		nowhere
	}
	both edited
}

@test "CARD-3: evidence of a bundle has no secret" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	rm "$CUSTODY_ROOT/etc/custody.json"
	chown -hR "$(owner)" .
	profile plain '{}'
	bundle --profile "$CUSTODY_HOME/plain.json" -- env "API_KEY=$SECRET" sh -c 'exit 3'
	fails() {
		runtime_run "$RUNTIME" "$BUNDLE"
		[ "$status" -eq 3 ] || custody_fail "$stderr"
		nowhere
		dir=$(custody ledger show --json | jq -r '[.records[] | select(.k == "session.end")] | last | .d.evidence')
		for file in subject.json config.json metadata.json; do
			[[ $(cat "$dir/$file") =~ $MARK ]] || custody_fail "no placeholder in $file"
		done
	}
	both fails
}
