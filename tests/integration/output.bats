#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2154 # scripts for the inside; set by bats
#
# Lists for people: titles, local time, cut to the terminal; JSON stays UTC.

load ../lib/suite.bash

setup() {
	LIMITS=() PROFILE_NAME=offline
	if [[ $BATS_TEST_DESCRIPTION == *"as a user"* ]]; then setup_user; else suite_setup; fi
	export TZ=XYZ-5:30 # no zone file has it
	unset NO_COLOR
}
teardown() {
	custody_teardown
}

custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

# An ordinary user's cgroups may be without limits.
setup_user() {
	suite_setup_user
	suite_profile u '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	chmod 0644 "$PROFILE"
	LIMITS=(--profile "$PROFILE") PROFILE_NAME=u
}

# on_terminal COLUMNS WORDS...: `custody WORDS` on a terminal of that width; $lines.
on_terminal() {
	run "${CUSTODY_AS[@]}" python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" -- \
		sh -c 'stty cols "$1"; shift; exec "$@" 2>/dev/null' sh "$1" "$CUSTODY" "${@:2}"
	[ "$status" -eq 0 ] || custody_fail "custody ${*:2}: $status: $output"
	output=$(sed '$d' <<<"$output" | sed '$d') # the line of terminal.py
	mapfile -t lines <<<"$output"
}

# widest: columns of the widest line of $output, by wide characters of the locale.
widest() {
	python3 -c 'import sys
print(max(len(line) for line in sys.stdin.read().splitlines()))' <<<"$output"
}

# local_of UTC: the time as it is printed in the zone of the tests.
local_of() {
	TZ=XYZ-5:30 date -d "$1" '+%Y-%m-%d %H:%M:%S'
}

make_sessions() {
	custody_run "${LIMITS[@]}" --agent bob --name first -- sh -c 'echo x >file; exit 3'
	assert_status 3
	ID=$(custody_result .session)
	custody_run "${LIMITS[@]}" -- true
	assert_status 0
	LAST=$(custody_result .session)
}

lists_are_tables() {
	make_sessions
	local started taken
	started=$(custody show "$ID" --json | jq -r .session.started)
	[[ $started == *Z ]]
	run custody sessions --all
	[ "${lines[0]}" = 'SESSION                    STATE         STARTED (XYZ)     AGENT     NAME      COMMAND' ] || custody_fail "$output"
	[[ ${lines[1]} == "$LAST  exited 0      "*'  -         -         true' ]] || custody_fail "$output"
	[ "${lines[2]}" = "$ID  exited 3 +    $(local_of "$started" | cut -c -16)  bob       first     sh -c 'echo x >file; exit 3'" ] || custody_fail "$output"
	[ "${#lines[@]}" -eq 3 ]

	taken=$(custody evidence ls --json | jq -r '.evidence[0].taken')
	run custody evidence ls
	[ "${lines[0]}" = 'EVIDENCE                   REASON    STATE         SIZE  TAKEN (XYZ)       AGENT     COMMAND' ] || custody_fail "$output"
	[[ ${lines[1]} == "$ID  exited    complete  "*"  $(local_of "$taken" | cut -c -16)  bob       sh -c 'echo x >file; exit 3'" ]] || custody_fail "$output"

	run custody show "$ID"
	assert_output_has "started    $(local_of "$started") XYZ"
	assert_output_has "changes    kept: custody diff $ID, apply or discard"
	[ "$(grep -c '^TIME (XYZ)           RECORD            STATUS    DETAILS$' <<<"$output")" -eq 1 ] || custody_fail "$output"
	grep -qE "^2[0-9: -]{18}  session.intent    ok        sh -c 'echo x >file; exit 3', profile $PROFILE_NAME, level A$" <<<"$output"
	grep -qE '^2[0-9: -]{18}  session.start     ok        [0-9]+ layers proven(, [a-z-]+=[a-z-]+)*, pid [0-9]+$' <<<"$output"
	grep -qE "^2[0-9: -]{18}  session.end       abnormal  exited 3, [0-9]+ ms, evidence .*/$ID$" <<<"$output"
	[[ $output != *'{"'* ]] || custody_fail "JSON: $output"
}

@test "output: sessions, evidence ls and show are tables in local time, JSON is UTC" {
	lists_are_tables
}

@test "output: the same as a user" {
	lists_are_tables
}

@test "output: ledger show and tail are tables; --json gives the records themselves" {
	make_sessions
	run custody ledger show --session "$ID"
	[ "${lines[0]}" = 'TIME (XYZ)              SEQ  RECORD            STATUS    SESSION                    AGENT       DETAILS' ] || custody_fail "$output"
	[ "$(awk 'NR > 1 { print $4 }' <<<"$output" | paste -sd ' ')" = 'session.intent session.start session.end' ]
	[[ $output != *'{"'* ]] || custody_fail "JSON: $output"
	[ "$(custody ledger show --json --session "$ID" | jq -r '.records[0].t')" = \
		"$(custody ledger export --session "$ID" 2>/dev/null | head -n 1 | jq -r .t)" ]
	run custody ledger tail -n 1
	[ "${#lines[@]}" -eq 2 ]
	assert_output_has "session.end"
	custody ledger tail --json -n 3 >"$CUSTODY_HOME/tail"
	custody ledger export | tail -n 3 | cmp - "$CUSTODY_HOME/tail"
}

@test "output: a kind of record without a template lists its members" {
	custody ledger repair --new-key >/dev/null
	run custody ledger show --kind ledger.key
	[[ ${lines[1]} == *'  public custody/ledger/'* ]] || custody_fail "$output"
}

@test "output: on a terminal lines are cut to its width, and signs are explained" {
	make_sessions
	local width words
	for width in 20 40 80 200; do
		for words in 'sessions --all' 'evidence ls' 'ledger show' 'ledger tail'; do
			# shellcheck disable=SC2086 # words
			on_terminal $width $words
			[ "$(widest)" -le $width ] || custody_fail "$words: wider than $width: $output"
			[ "${#lines[@]}" -ge 2 ] || custody_fail "$words: $output"
		done
	done
	on_terminal 80 sessions --all
	[[ ${lines[0]} == 'SESSION                    STATE         STARTED (XYZ)     COMMAND' ]] || custody_fail "$output"
	[[ ${lines[2]} == *"  sh -c 'echo x >fil..." ]] || custody_fail "$output"
	[ "${lines[3]}" = '+ its changes are kept: custody diff SESSION, apply or discard' ] || custody_fail "$output"
	on_terminal 200 sessions --all
	[[ ${lines[2]} == *"  bob       first     sh -c 'echo x >file; exit 3'" ]] || custody_fail "$output"
	# Nothing is explained where no sign is.
	custody discard "$ID" >/dev/null 2>&1
	on_terminal 80 sessions --all
	[[ $output != *'its changes'* ]] || custody_fail "$output"
}

@test "output: without TERM, and where the terminal has no size, nothing is cut" {
	make_sessions
	run env -u TERM -u COLUMNS python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" -- "$CUSTODY" sessions --all
	assert_status 0
	assert_output_has "sh -c 'echo x >file; exit 3'"
}

@test "output: a wide name takes its columns, not its bytes" {
	custody_run --name $'\u65e5\u672c' -- true
	custody_run --name plain -- true
	run custody sessions --all
	[[ ${lines[1]} == *'plain     true' ]] || custody_fail "$output"
	[[ ${lines[2]} == *$'\u65e5\u672c      true' ]] || custody_fail "$output"
}

@test "output: a reader that leaves early is no failure that talks" {
	make_sessions
	local words
	for words in 'sessions --all' 'ledger show' 'evidence ls' 'show last' 'df'; do
		# Ignored SIGPIPE is what a caller in another language may pass on.
		for trap in '' "trap '' PIPE;"; do
			run --separate-stderr bash -c "$trap { \"\$CUSTODY\" $words 2>\"\$CUSTODY_HOME/err\"; } | true"
			# shellcheck disable=SC2154
			! grep -v "^custody show: session" "$CUSTODY_HOME/err" || custody_fail "$words: $(cat "$CUSTODY_HOME/err")"
		done
	done
}

@test "output: a write error that is none of a reader's is reported" {
	make_sessions
	run --separate-stderr bash -c '"$CUSTODY" sessions --all >/dev/full'
	[ "$status" -ne 0 ]
	assert_stderr_has 'cannot write to stdout: No space left on device'
}

@test "output: a note that cannot be read does not hide the other sessions" {
	make_sessions
	echo '{' >"$CUSTODY_ROOT/sandbox/sessions/$LAST/session.json"
	run --separate-stderr custody sessions --all
	assert_status 0
	assert_stderr_has "cannot read the note of $LAST"
	[[ ${lines[1]} == "$ID  "* ]] || custody_fail "$output"
}

@test "output: pending and grants are tables" {
	custody_run -- sh -c 'rm -rf *'
	assert_status 114
	run custody pending
	[ "${lines[0]}" = 'ID                LEVEL  COUNT  EXPIRES (XYZ)     AGENT     COMMAND' ] || custody_fail "$output"
	[[ ${lines[1]} == *"  C          1  2"*"  -         sh -c 'rm -rf *'" ]] || custody_fail "$output"
	on_terminal 20 pending
	[ "$(widest)" -le 20 ] || custody_fail "$output"
}
