#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Disk usage of kept changes and evidence: df, prune, discard of several.

load ../lib/suite.bash

setup() {
	suite_setup && suite_ungoverned
	LIMITS=()
}

teardown() {
	suite_end_deliveries
	custody_teardown
}

custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

asked() { # STATUS WORDS...
	local want=$1
	shift
	run --separate-stderr custody "$@"
	[ "$status" -eq "$want" ] || custody_fail "custody $*: status $status"
}

# failed SCRIPT [WORDS...]: a run that ends with status 3; ID is its session.
failed() {
	local script=$1
	shift
	custody_run "${LIMITS[@]}" "$@" -- sh -c "$script; exit 3"
	assert_status 3
	ID=$(custody_result .session)
}

changed() {
	custody_run "${LIMITS[@]}" -- sh -c "echo $1 >new"
	assert_status 0
	ID=$(custody_result .session)
}

as_both() {
	LIMITS=()
	"$@"
	suite_setup_user
	suite_profile u '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	chmod 0644 "$PROFILE"
	LIMITS=(--profile "$PROFILE")
	"$@"
}

upper() { # NAME: of the session ID
	echo "$CUSTODY_ROOT/sandbox/sessions/$ID/u/$1"
}

age() { # ID SECONDS: as if its run had ended then, by the file that df and prune read
	local layer=$CUSTODY_ROOT/sandbox/sessions/$1/layer.json text
	text=$(jq -c --argjson s "$2" '.ended_us -= $s * 1000000' "$layer")
	printf %s "$text" >"$layer"
}

DATA='head -c 1000000 /dev/urandom >big'

several() {
	local one two three
	changed one
	one=$ID
	changed two
	two=$ID
	changed three
	three=$ID
	# One wrong word: nothing is discarded.
	asked 1 discard "$one" nosuch
	[ -e "$CUSTODY_ROOT/sandbox/sessions/$one/u" ]
	asked 64 discard --all "$one"
	asked 64 discard --older 1h "$one"
	asked 64 discard --older soon
	asked 0 discard --dry-run "$one" "$two"
	[ "$(grep -c '^would discard' <<<"$output")" -eq 2 ]
	[ -e "$CUSTODY_ROOT/sandbox/sessions/$one/u" ]
	# The same session twice is one.
	asked 0 discard "$one" "${two: -8}" "$one"
	[ "$output" = "discarded the changes of session $one
discarded the changes of session $two" ]
	changed four
	age "$three" 7200
	asked 0 discard --older 1h
	[ "$output" = "discarded the changes of session $three" ]
	asked 0 discard --older 1h
	[ -z "$output" ]
	cd "$CUSTODY_HOME" || return
	asked 0 discard --all
	assert_output_has "$ID"
	cd "$CUSTODY_HOME/work" || return
	asked 0 discard --all
	[ "$(custody ledger show --kind review.discard --json | grep -c review.discard)" -eq 4 ]
	[ ! -e new ]
}

@test "ISO-3: discard takes several sessions, --all and --older; each is a record" {
	as_both several
}

@test "ISO-3: discard --all asks on a terminal, and No discards nothing" {
	changed one
	run python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" expect:'[y/N]' 'send:n\n' -- "$CUSTODY" discard --all
	[ "$status" -eq 1 ]
	[ -e "$(upper new)" ]
	run python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" expect:'[y/N]' 'send:\n' -- "$CUSTODY" prune --all
	[ "$status" -eq 1 ]
	[ -e "$(upper new)" ]
	run python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" expect:'[y/N]' 'send:y\n' -- "$CUSTODY" discard --all
	[ "$status" -eq 0 ]
	[ ! -e "$(upper new)" ]
}

pruned() {
	local old pinned
	failed "$DATA"
	old=$ID
	failed 'echo 1 >a'
	pinned=$ID
	asked 0 evidence pin "$pinned"
	age "$old" 90000
	# By the rules of the configuration nothing has expired.
	asked 0 prune
	[ "$output" = "0 removed" ]
	asked 0 prune --older 1d --dry-run
	assert_output_has "would remove changes   $old"
	[ -e "$CUSTODY_ROOT/sandbox/sessions/$old/u" ]
	asked 0 prune --older 1d --json
	[ "$(jq -c '[.pruned[] | [.kind, .id, .why]]' <<<"$output")" = "[[\"changes\",\"$old\",\"by-hand\"]]" ]
	[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$old/u" ]
	asked 0 evidence verify "$old"
	asked 0 prune --all
	[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$pinned/u" ]
	[ "$(ls "$CUSTODY_ROOT/forensics")" = "$pinned" ]
	asked 0 evidence verify "$pinned"
	[ "$(custody ledger show --kind review.expire --json | grep -c by-hand)" -eq 2 ]
	[ "$(custody ledger show --kind evidence.prune --json | grep -c by-hand)" -eq 1 ]
	asked 0 ledger verify || [ "$status" -eq 4 ]
}

@test "ISO-6: prune removes by the rules, --older and --all by hand; pinned evidence stays" {
	as_both pruned
}

@test "ISO-6: a running session, and one that another process reviews, are not pruned" {
	local runs
	runs=$(custody run -d -- sh -c 'echo 1 >a; exec sleep 1000')
	changed one
	exec {lock}<"$CUSTODY_ROOT/sandbox/sessions/$ID"
	flock -x "$lock"
	asked 0 prune --all
	[ -e "$(upper new)" ]
	asked 1 discard "$ID"
	[ -e "$(upper new)" ]
	exec {lock}<&-
	asked 0 prune --all
	[ ! -e "$(upper new)" ]
	[ -e "$CUSTODY_ROOT/sandbox/sessions/$runs/u/a" ]
	asked 0 stop --time 0 "$runs"
}

@test "LANE-7: prune and discard of several need both keys in prod, looking does not" {
	CUSTODY_ALLOW_PROD=1 custody_run --lane prod --allow-prod -- sh -c 'echo 1 >new; exit 3'
	ID=$(custody_result .session)
	for words in 'prune --all' 'prune --older 0' 'discard --all' 'discard --older 0' 'discard last'; do
		# shellcheck disable=SC2086 # words
		run env -u CUSTODY_ALLOW_PROD "$CUSTODY" $words --lane prod
		[ "$status" -eq 116 ]
		# shellcheck disable=SC2086 # words
		run env CUSTODY_ALLOW_PROD=1 "$CUSTODY" $words --lane prod
		[ "$status" -eq 116 ]
		[ -e "$CUSTODY_ROOT/prod/sessions/$ID/u/new" ]
		[ -e "$CUSTODY_ROOT/forensics/$ID" ]
	done
	# What the other lane has does not count.
	asked 0 prune --all
	[ "$output" = "0 removed" ]
	asked 0 prune --all --dry-run --lane prod
	asked 0 discard --all --dry-run --lane prod
	asked 0 df --lane prod
	assert_output_has "$ID"
	asked 0 df
	[[ $output != *"$ID"* ]]
	run env CUSTODY_ALLOW_PROD=1 "$CUSTODY" prune --all --lane prod --allow-prod
	[ "$status" -eq 0 ]
	[ ! -e "$CUSTODY_ROOT/prod/sessions/$ID/u" ]
	[ ! -e "$CUSTODY_ROOT/forensics/$ID" ]
	[ "$(jq -r 'select(.k == "lane.override") | .d.action' "$CUSTODY_ROOT"/prod/ledger/*.ndjson | grep -cx prune)" -eq 1 ]
}

listed() {
	failed "$DATA"
	custody_run "${LIMITS[@]}" -- true
	custody_run "${LIMITS[@]}" --sandbox box -- true
	asked 0 df
	assert_output_has "session   $ID"
	assert_output_has "evidence  $ID"
	assert_output_has 'sandbox   box'
	assert_output_has 'notes of ended sessions'
	assert_output_has 'together'
	asked 0 df --json
	[ "$(jq -c '[.schema_version, .lane, ([.items[].kind] | unique), .unreadable]' <<<"$output")" = '[1,"sandbox",["evidence","sandbox","session"],[]]' ]
	[ "$(jq '.items | all(.age_s >= 0 and .age_s < 3600)' <<<"$output")" = true ]
	[ "$(jq '(.totals.session + .totals.evidence + .totals.sandbox) == ([.items[].bytes] | add)' <<<"$output")" = true ]
}

@test "ISO-6: df lists sessions, evidence and sandbox roots with sizes and ages" {
	as_both listed
}

@test "ISO-6: df counts what it can read, and names the rest" {
	changed one
	failed "$(printf 'echo 1 >"$(printf "a\\033[2Jb")"')"
	printf '{' >"$CUSTODY_ROOT/sandbox/sessions/$ID/session.json.x"
	chmod 0600 "$CUSTODY_ROOT/sandbox/sessions/$ID/session.json"
	printf '{' >"$CUSTODY_ROOT/sandbox/sessions/$ID/session.json"
	mkdir -p "$CUSTODY_ROOT/sandbox/sandbox"
	ln -s / "$CUSTODY_ROOT/sandbox/sandbox/link"
	asked 0 df
	assert_output_has "evidence  $ID"
	assert_stderr_has "cannot read session $ID"
	assert_stderr_has 'cannot read sandbox link'
	[[ $output$stderr != *$'\033'* ]]
	asked 0 df --json
	[ "$(jq '.unreadable | length' <<<"$output")" -eq 2 ]
	rm "$CUSTODY_ROOT/sandbox/sandbox/link" "$CUSTODY_ROOT/sandbox/sessions/$ID/session.json.x"
	rm -r "$CUSTODY_ROOT/sandbox/sessions/$ID"
}
