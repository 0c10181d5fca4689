#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# Inspection of what a session sends out through its broker: what it finds is not sent, and is nowhere afterwards.

load ../lib/suite.bash
load ../lib/approval.bash

# In two parts, so that no scanner finds them in this file.
TOKEN="ghp""_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"
KEY="-----BEGIN PRIVATE"" KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\\n"

setup() {
	suite_setup
	prepare
}

teardown() {
	custody_teardown
}

as_user() {
	custody_teardown
	suite_setup_user
	prepare
}

prepare() {
	export NO_COLOR=1
	OUT=$CUSTODY_HOME/done
	mkdir -p "$OUT"
	cp "$BATS_TEST_DIRNAME/../lib/broker_client.py" "$CUSTODY_HOME/work/"
	# What arrives at the tool, and how often it ran.
	printf '%s\n' '#!/bin/sh' "cat >>'$OUT/sent'" "echo '\"sent\"'" >"$OUT/send.sh"
	chmod 755 "$OUT/send.sh"
	tools
}

# tools [JSON]: custody.json with the tool 'send' of level LEVEL and these members.
tools() {
	suite_ungoverned "$(jq -cn --arg exec "$OUT/send.sh" --arg level "${LEVEL:-A}" --argjson more "${1:-{\}}" \
		'{broker: {tools: [{name: "send", exec: [$exec], level: $level, network: "test"} + $more]}}')"
	suite_profile tools '{"broker": {"tools": ["ping", "note.write", "send"]},
		"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	[ "${#CUSTODY_AS[@]}" -eq 0 ] || [ "$(id -u)" -ne 0 ] ||
		chown -R "$SUITE_UID:$SUITE_UID" "$CUSTODY_ROOT" "$PROFILE" "$CUSTODY_HOME/work" "$OUT"
}

# inside PYTHON: runs it with the client of the tests; the script is no argument of the session, so no record has it.
inside() {
	{
		echo 'from broker_client import *'
		echo "$1"
	} >"$CUSTODY_HOME/work/script.py"
	custody_run --profile "$PROFILE" -- python3 -B script.py
	rm "$CUSTODY_HOME/work/script.py"
}

records() { # KIND [JQ-FILTER]: of the lane's ledger
	"${CUSTODY_AS[@]}" "$CUSTODY" ledger show --json | jq -c "if type == \"object\" and .records then .records[] else . end | select(.k == \"$1\") | ${2:-.}"
}

# nowhere TEXT...: in no file of custody's directories but copies of the worktree, and not in the output.
nowhere() {
	local text
	for text; do
		run ! grep -rlF --exclude=script.py -- "$text" "$CUSTODY_ROOT"
		[[ $stderr$PRINTED != *"$text"* ]]
	done
}

@test "ISO-10: a planted secret refuses the call by rule and place, and is nowhere afterwards" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		inside "import base64, urllib.parse
secret, key = '$TOKEN', '$KEY'
s = connect()
def refused(params, rule, place):
    r = ask(s, line('send', params))
    assert not r['ok'] and r['code'] == 'inspection', r
    assert rule + ' in ' + place in r['error'], r
    assert secret not in r['error'] and key[:40] not in r['error'], r
refused({'body': 'see ' + secret}, 'secret.token.github', '/body')
refused({'a': [1, {'b': 'x\\n' + secret}]}, 'secret.token.github', '/a/1/b:2')
refused({secret: 1}, 'secret.token.github', '/#0')
refused({'deep': {secret: {'x': secret}}}, 'secret.token.github', '/deep/#0')
refused({'body': base64.b64encode(('x ' + secret).encode()).decode()}, 'secret.token.github', '/body')
refused({'body': secret.encode().hex()}, 'secret.token.github', '/body')
refused({'body': ''.join('%%%02x' % c for c in secret.encode())}, 'secret.token.github', '/body')
refused({'body': key}, 'secret.pem', '/body')
refused({'path': '/proc/self/environ'}, 'proc.path', '/path')
refused({'path': '/home/x/.ssh/id_rsa'}, 'path.ssh', '/path')
r = ask(s, line('note.write', {'text': secret}))
assert r['code'] == 'inspection', r
# A built-in tool that only reads sends nothing.
assert ask(s, line('ping', {'x': secret}))['data'] == 'pong'
assert ask(s, line('send', {'body': 'a text'}))['data'] == 'sent'"
		assert_status 0
		assert_reason inspection
		PRINTED=$output
		[ "$(cat "$OUT/sent")" = '{"body":"a text"}' ]
		[ -z "$(find "$CUSTODY_ROOT" -name notes.ndjson)" ]
		[ "$(records tool.refused .d.refused | sort | uniq -c | tr -s ' ')" = ' 11 "inspection"' ]
		[ "$(records tool.refused .d.found | head -1)" = '["secret.token.github in /body"]' ]
		# They have used the budget.
		[ "$(records tool.call .d.call | tr '\n' ' ')" = '12 13 ' ]
		nowhere "$TOKEN" "$(printf %s "$TOKEN" | od -An -tx1 | tr -d ' \n')" MIIEvQIBADANBgkqhkiG9w0BAQEFAASC
		"${CUSTODY_AS[@]}" "$CUSTODY" ledger show | grep -q "send, inspection, found 'secret.token.github in /body'"
		id=$(custody_result .session)
		run "${CUSTODY_AS[@]}" "$CUSTODY" show "$id"
		[[ $output == *inspection* && $output != *"$TOKEN"* ]]
	done
}

@test "ISO-10: inspection comes before the approval: no request shows the secret" {
	LEVEL=B tools
	inside "assert call('send', {'body': '$TOKEN'}) == ['inspection']
assert call('send', {'body': 'a text'}) == ['approval']"
	assert_status 0
	[ "$("$CUSTODY" pending --json | jq '.requests | length')" -eq 1 ]
	PRINTED=$output
	nowhere "$TOKEN"
	[ ! -e "$OUT/sent" ]
}

@test "ISO-10: the value of a variable of a tool is found in any of the usual spellings" {
	export FORGE_TOKEN='wf 7/Quite&Ordinary=Words'
	tools '{"env": ["FORGE_TOKEN"]}'
	inside "import base64, urllib.parse, json
v = 'wf 7/Quite' + '&Ordinary=Words'
for text in [v, base64.b64encode(v.encode()).decode(), base64.b64encode(b'xy' + v.encode()).decode(),
             base64.urlsafe_b64encode(v.encode()).decode().rstrip('='), v.encode().hex(), v.encode().hex().upper(),
             urllib.parse.quote(v), urllib.parse.quote(v, safe=''), json.dumps(v).replace('/', '\\\\/'),
             base64.b64encode(json.dumps({'a': urllib.parse.quote(v)}).encode()).decode()]:
    r = ask(connect(), line('send', {'x': text}))
    assert r.get('code') == 'inspection' and 'secret.known in /x' in r['error'], (text, r)
assert call('send', {'x': 'wf 7/Quite'}) == 'sent'"
	assert_status 0
	assert_reason inspection
	PRINTED=$output
	nowhere "$FORGE_TOKEN" "$(printf %s "$FORGE_TOKEN" | base64)"
}

@test "ISO-10: inspect_allow of the declaration allows the rules that it names, and is in the subject" {
	inside 'assert call("send", {"path": "a/.env"}) == ["inspection"]'
	assert_status 0
	assert_reason inspection
	before=$("$CUSTODY" check --json --profile "$PROFILE" -- true | jq -r .digest)
	tools '{"inspect_allow": ["path.env"]}'
	inside "assert call('send', {'path': 'a/.env'}) == 'sent'
assert call('send', {'path': 'a/.ssh/x'}) == ['inspection']"
	assert_status 0
	after=$("$CUSTODY" check --json --profile "$PROFILE" -- true | jq -r .digest)
	[ -n "$before" ] && [ "$before" != null ] && [ "$before" != "$after" ]
	inside "assert call('send', {'path': 'a/.env'}) == 'sent'"
	assert_status 0
	assert_reason exited
}

@test "ISO-10: a rule that does not exist or cannot be allowed is refused by name, and nothing runs" {
	local rule
	for rule in secret.known secret.nothing; do
		tools "{\"inspect_allow\": [\"$rule\"]}"
		inside 'open("ran", "w")'
		[ "$status" -ne 0 ]
		[[ $stderr == *"'$rule'"* ]]
		[ ! -e "$CUSTODY_HOME/work/ran" ]
	done
}

@test "ISO-10: refusals beyond 256 still end the session as inspection" {
	tools
	inside "s = connect()
for n in range(256):
    assert ask(s, line('none'))['code'] == 'tool'
assert ask(s, line('send', {'x': '$TOKEN'}))['code'] == 'inspection'"
	assert_status 0
	assert_reason inspection
	[ "$(records tool.refused 'select(.d.refused == "inspection") | .d.found[0]')" = '"secret.token.github in /x"' ]
}
