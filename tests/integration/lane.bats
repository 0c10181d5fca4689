#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # words for another shell; bats' subshells; set by bats
# Two lanes: state of one is never used by the other.

load ../lib/suite.bash

setup() {
	suite_setup
	unset CUSTODY_ALLOW_PROD CUSTODY_LANE
	MARK=$CUSTODY_HOME/work/ran
	# Writes where the host sees it: what ran is known.
	cat >"$CUSTODY_HOME/mark.json" <<-END
		{ "schema": 1, "name": "mark", "extends": "offline", "workspace": { "mode": "rw" } }
	END
}
teardown() { custody_teardown; }

# Neither the command nor anything that would become its session.
nothing_ran() {
	[ ! -e "$MARK" ]
	[ -z "$(ls -A "$CUSTODY_ROOT/run/sessions" 2>/dev/null)" ]
	[ -z "$(ls -A "$CUSTODY_ROOT/prod/sessions" 2>/dev/null)" ]
}

# The command line that the message ends with.
line() {
	sed -n 's/.*to start it: //p' <<<"$stderr"
}

@test "LANE-1: unset, blank and the aliases of sandbox need no key" {
	for lane in sandbox test SANDBOX ' Test ' ''; do
		run -0 --separate-stderr "$CUSTODY" run --lane "$lane" --profile review -- true
	done
	CUSTODY_LANE="test" run -0 --separate-stderr "$CUSTODY" run --profile review -- true
	[ ! -e "$CUSTODY_ROOT/prod" ]
	for lane in staging $'sandbox\n' 'prod,sandbox'; do
		run -125 --separate-stderr "$CUSTODY" run --lane "$lane" --profile review -- true
		[[ "$stderr" == *"expected sandbox"*"prod"* ]]
		CUSTODY_LANE=$lane run -125 --separate-stderr "$CUSTODY" run --profile review -- true
	done
	nothing_ran
}

@test "LANE-2: prod with one key or none starts nothing and names the missing key" {
	for lane in prod 'Prod ' PRODUCTION; do
		run -116 --separate-stderr "$CUSTODY" run --lane "$lane" --profile "$CUSTODY_HOME/mark.json" -- touch ran
		[[ "$stderr" == *"missing: --allow-prod and CUSTODY_ALLOW_PROD; nothing was started"* ]]
		run -116 --separate-stderr "$CUSTODY" run --allow-prod --lane "$lane" --profile "$CUSTODY_HOME/mark.json" -- touch ran
		[[ "$stderr" == *"missing: CUSTODY_ALLOW_PROD;"* ]]
		CUSTODY_ALLOW_PROD=1 run -116 --separate-stderr "$CUSTODY" run --lane "$lane" --profile "$CUSTODY_HOME/mark.json" -- touch ran
		[[ "$stderr" == *"missing: --allow-prod;"* ]]
	done
	for value in '' 0 false no off 2 ' 1' 'yes please'; do
		CUSTODY_ALLOW_PROD=$value run -116 --separate-stderr "$CUSTODY" run --allow-prod --lane prod -- touch ran
	done
	nothing_ran
	[ ! -e "$CUSTODY_ROOT/prod" ]
	# Each of the 17 refusals is in the sandbox lane's ledger.
	run -0 --separate-stderr "$CUSTODY" ledger show --json --kind lane.refused
	[ "$(jq '[.records[] | select(.d.refused == "lane" and .d.lane == "prod" and .status == "denied")] | length' <<<"$output")" -eq 17 ]
	[ "$("$CUSTODY" ledger show --json --kind session.refused | jq '.records | length')" -eq 0 ]
	"$CUSTODY" ledger verify >/dev/null
}

@test "LANE-2: the command line of the refusal, pasted into sh, works" {
	local words=(sh -c 'printf "<%s>" "$@"' it\'s 'a b' '' '$HOME `id` \n' $'new\nline' '*')
	run -116 --separate-stderr "$CUSTODY" run --lane prod --profile review -- "${words[@]}"
	nothing_ran
	[ -n "$(line)" ]
	run -0 --separate-stderr sh -c "$(line)"
	[ "$output" = $'<a b><><$HOME `id` \\n><new\nline><*>' ]
	# Also when the lane came from elsewhere, and only one key was missing.
	CUSTODY_LANE=prod CUSTODY_ALLOW_PROD=1 run -116 --separate-stderr "$CUSTODY" run --profile review -- echo it ran
	run -0 --separate-stderr sh -c "$(line)"
	[ "$output" = 'it ran' ]
}

@test "LANE-3: no other verb that starts something has its own way around the gate" {
	run -116 --separate-stderr "$CUSTODY" shell --lane prod -- </dev/null
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"lane": "prod"}' >"$CUSTODY_ROOT/etc/custody.json"
	run -116 --separate-stderr "$CUSTODY" run --profile review -- touch ran
	CUSTODY_ALLOW_PROD=1 run -116 --separate-stderr "$CUSTODY" run --profile review -- touch ran
	nothing_ran
}

@test "LANE-4: a profile of the other class is refused, both are named" {
	export CUSTODY_ALLOW_PROD=1
	for class in test prod; do
		printf '{ "schema": 1, "name": "%s", "network": { "class": "%s" } }' $class $class >"$CUSTODY_HOME/$class.json"
	done
	printf '{ "schema": 1, "name": "none" }' >"$CUSTODY_HOME/none.json"
	for name in test none; do
		run -116 --separate-stderr "$CUSTODY" run --allow-prod --lane prod --profile "$CUSTODY_HOME/$name.json" -- /bin/true
		[[ "$stderr" == *"is of network class 'test', lane 'prod' is of class 'prod': refused"* ]]
	done
	run -116 --separate-stderr "$CUSTODY" run --profile "$CUSTODY_HOME/prod.json" -- /bin/true
	[[ "$stderr" == *"is of network class 'prod', lane 'sandbox' is of class 'test': refused"* ]]
	nothing_ran
	run -0 --separate-stderr "$CUSTODY" run --allow-prod --lane prod --profile "$CUSTODY_HOME/prod.json" -- /bin/true
	run -0 --separate-stderr "$CUSTODY" run --profile "$CUSTODY_HOME/test.json" -- /bin/true
}

@test "LANE-5: each lane has its own state and ledger; the sandbox lane's is marked disposable" {
	export CUSTODY_ALLOW_PROD=1
	run -0 --separate-stderr "$CUSTODY" run -- true
	run -0 --separate-stderr "$CUSTODY" run --allow-prod --lane prod -- echo only-in-prod
	[ "$(cat "$CUSTODY_ROOT/sandbox/lane")" = sandbox ] && [ "$(cat "$CUSTODY_ROOT/prod/lane")" = prod ]
	[ "$(cat "$CUSTODY_ROOT/sandbox/version")" = 1 ] && [ "$(cat "$CUSTODY_ROOT/prod/version")" = 1 ]
	grep -q disposable "$CUSTODY_ROOT/sandbox/README"
	[ ! -e "$CUSTODY_ROOT/prod/README" ]
	grep -rq only-in-prod "$CUSTODY_ROOT/prod/ledger"
	run ! grep -r only-in-prod "$CUSTODY_ROOT/sandbox"
	run -0 --separate-stderr "$CUSTODY" ledger show --lane prod --kind session.intent --json
	[[ "$output" == *only-in-prod* ]]
	run -0 --separate-stderr "$CUSTODY" ledger show --kind session.intent --json
	[[ "$output" != *only-in-prod* ]]
}

@test "LANE-6: state that is stamped for the other lane, or not at all, is refused" {
	run -0 --separate-stderr "$CUSTODY" run -- true
	echo prod >"$CUSTODY_ROOT/sandbox/lane"
	run -116 --separate-stderr "$CUSTODY" run --profile "$CUSTODY_HOME/mark.json" -- touch ran
	rm "$CUSTODY_ROOT/sandbox/lane"
	run -116 --separate-stderr "$CUSTODY" run --profile "$CUSTODY_HOME/mark.json" -- touch ran
	mkdir "$CUSTODY_ROOT/sandbox/lane"
	run --separate-stderr "$CUSTODY" run --profile "$CUSTODY_HOME/mark.json" -- touch ran
	[ "$status" -ne 0 ]
	rmdir "$CUSTODY_ROOT/sandbox/lane"
	echo sandbox >"$CUSTODY_ROOT/sandbox/lane"
	echo 2 >"$CUSTODY_ROOT/sandbox/version"
	run -125 --separate-stderr "$CUSTODY" run --profile "$CUSTODY_HOME/mark.json" -- touch ran
	[[ "$stderr" == *"version 2"*"mv '"* ]]
	rm "$CUSTODY_ROOT/sandbox/version"
	mkfifo "$CUSTODY_ROOT/sandbox/version"
	run -125 --separate-stderr timeout 60 "$CUSTODY" run --profile "$CUSTODY_HOME/mark.json" -- touch ran
	nothing_ran
}

@test "LANE-7: an override is a record with user and command, and only for the run that had both keys" {
	export CUSTODY_ALLOW_PROD=1
	run -0 --separate-stderr "$CUSTODY" run --allow-prod --lane prod --agent robin -- true
	run -116 --separate-stderr "$CUSTODY" run --lane prod -- true
	run -0 --separate-stderr "$CUSTODY" run -- true
	run -0 --separate-stderr "$CUSTODY" ledger export --lane prod --kind lane.override
	[ "$(wc -l <<<"$output")" = 1 ]
	[ "$(jq -r '.agent + " " + (.d.uid | tostring) + " " + .d.lane + " " + .d.command[0]' <<<"$output")" = "robin $(id -u) prod true" ]
	run ! grep -r lane.override "$CUSTODY_ROOT/sandbox/ledger"
	# Before anything of the session: its record is the first of it.
	override=$(grep -n lane.override "$CUSTODY_ROOT"/prod/ledger/*.ndjson | cut -d: -f1)
	start=$(grep -n session.start "$CUSTODY_ROOT"/prod/ledger/*.ndjson | cut -d: -f1)
	[ "$override" -lt "$start" ]
}

@test "LANE-1: a default lane of prod leaves doctor's own container in the sandbox lane" {
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"lane": "prod"}' >"$CUSTODY_ROOT/etc/custody.json"
	run --separate-stderr "$CUSTODY" doctor --json
	[ "$(jq -r '.checks[] | select(.id == "HOST-CANARY") | .state' <<<"$output")" = ok ]
	printf '{ "schema": 1, "name": "p", "extends": "offline", "network": { "class": "prod" } }' >"$CUSTODY_HOME/p.json"
	run --separate-stderr "$CUSTODY" doctor --json --profile "$CUSTODY_HOME/p.json"
	[ "$(jq -r '.checks[] | select(.id == "HOST-CANARY") | .state' <<<"$output")" = ok ]
	[ ! -e "$CUSTODY_ROOT/prod" ]
}

@test "LANE-2: check reports the missing key and prints the command of the run" {
	run --separate-stderr "$CUSTODY" check --json --lane prod --profile review -- echo it ran
	[ "$(jq -r .gate.open <<<"$output")" = false ]
	stderr=$(jq -r .gate.text <<<"$output")
	run -0 --separate-stderr sh -c "$(line)"
	[ "$(head -n 1 <<<"$output")" = 'it ran' ]
}

@test "LANE-2: as a user" {
	suite_setup_user
	MARK=$CUSTODY_HOME/work/ran
	printf '{"schema":1,"name":"p","extends":"review","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' \
		>"$CUSTODY_HOME/p.json"
	run -116 --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" run --lane prod --profile "$CUSTODY_HOME/p.json" -- echo it ran
	nothing_ran
	run -0 --separate-stderr "${CUSTODY_AS[@]}" sh -c "$(line)"
	[ "$output" = 'it ran' ]
	[ "$(cat "$CUSTODY_ROOT/prod/lane")" = prod ]
}

# Every entry of lane prod: type, mode, size, and content.
prod_state() {
	(cd "$CUSTODY_ROOT" && find prod forensics -printf '%p %y %m %s\n' | sort && find prod forensics -type f -exec sha256sum {} + | sort)
}

# prod WORDS...: with both keys.
prod() {
	CUSTODY_ALLOW_PROD=1 "$CUSTODY" "$@" --lane prod --allow-prod
}

# A lane prod with an open request, kept changes, evidence and an approver.
furnish() {
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"rules": [{"effect": "ask", "argv": ["echo", "ask"]}]}' >"$CUSTODY_ROOT/etc/custody.json"
	export CUSTODY_ALLOW_PROD=1
	run -114 --separate-stderr setsid --wait "$CUSTODY" run --allow-prod --lane prod -- echo ask one </dev/null
	REQUEST=$(sed -n 's/.*custody approve \([0-9a-f]\{16\}\).*/\1/p' <<<"$stderr" | head -n 1)
	run -3 --separate-stderr "$CUSTODY" run --allow-prod --lane prod -- sh -c 'touch changed; exit 3'
	SESSION=$("$CUSTODY" sessions --all --json --lane prod | jq -r '.sessions[0].session')
	EVIDENCE=$("$CUSTODY" evidence ls --json --lane prod | jq -r '.evidence[0].id')
	prod key new ann >/dev/null
	unset CUSTODY_ALLOW_PROD
}

@test "LANE-7: each command that changes prod needs both keys; without them prod is as it was" {
	local command words before
	furnish
	[ -n "$REQUEST" ] && [ -n "$SESSION" ] && [ -n "$EVIDENCE" ]
	before=$(prod_state)
	for command in "key new bob" "approve $REQUEST --yes" "deny --all" "pin set ann --pin-fd 0" "evidence unpin $EVIDENCE" \
		"evidence rm $EVIDENCE" "evidence prune" "ledger init" "ledger repair" "ledger repair --new-key" \
		"ledger repair --accept-loss" "ledger checkpoint" "apply $SESSION" "discard $SESSION" reset; do
		read -ra words <<<"$command"
		run -116 --separate-stderr "$CUSTODY" "${words[@]}" --lane prod <<<271828
		[[ $stderr == *"missing: --allow-prod and CUSTODY_ALLOW_PROD;"* ]]
		run -116 --separate-stderr "$CUSTODY" "${words[@]}" --lane prod --allow-prod <<<271828
		[[ $stderr == *"missing: CUSTODY_ALLOW_PROD;"* ]]
		CUSTODY_LANE=prod CUSTODY_ALLOW_PROD=1 run -116 --separate-stderr "$CUSTODY" "${words[@]}" <<<271828
		[[ $stderr == *"missing: --allow-prod;"* ]]
		[ "$(prod_state)" = "$before" ] || {
			diff <(echo "$before") <(prod_state) >&2
			custody_fail "custody $command changed prod"
		}
	done
}

@test "LANE-7: with both keys each is an override with user and command, and does its work" {
	furnish
	"$CUSTODY" evidence pin "$EVIDENCE" --lane prod
	prod key new bob
	prod approve "$REQUEST" --yes --as ann
	prod deny --all
	prod pin set ann --pin-fd 0 <<<271828
	prod evidence unpin "$EVIDENCE"
	prod evidence rm "$EVIDENCE"
	prod evidence prune
	prod ledger checkpoint
	prod ledger repair --new-key
	run -1 prod ledger init
	run -0 --separate-stderr "$CUSTODY" ledger export --lane prod --kind lane.override
	for action in "key new" approve "deny" "pin set" "evidence unpin" "evidence rm" "evidence prune" "ledger checkpoint" "ledger repair"; do
		jq -se --arg action "$action" --argjson uid "$(id -u)" 'any(.d.action == $action and .d.uid == $uid)' <<<"$output" >/dev/null ||
			custody_fail "no override of $action"
	done
	jq -se 'any(.d.action == "evidence rm" and .d.command[0] == "evidence")' <<<"$output" >/dev/null
	"$CUSTODY" ledger verify --lane prod >/dev/null
}

@test "LANE-7: what only withdraws or reads needs no key" {
	furnish
	"$CUSTODY" deny "$REQUEST" --lane prod
	"$CUSTODY" evidence prune --dry-run --lane prod
	"$CUSTODY" pending --lane prod >/dev/null
	"$CUSTODY" key ls --lane prod >/dev/null
	"$CUSTODY" recover --lane prod
	prod approve "$REQUEST" --yes --as ann
	"$CUSTODY" revoke "$("$CUSTODY" grants --json --lane prod | jq -r '.grants[0].id')" --lane prod
	"$CUSTODY" ledger verify --lane prod >/dev/null
}

@test "LANE-7: the command line of a refused command, pasted into sh, works" {
	furnish
	run -116 --separate-stderr "$CUSTODY" key new carol --lane prod
	run -0 --separate-stderr sh -c "$(sed -n 's/.*to do it: //p' <<<"$stderr")"
	[[ $output == *carol* ]]
	# So does the line that a run names for its approval.
	CUSTODY_ALLOW_PROD=1 run -114 --separate-stderr setsid --wait "$CUSTODY" run --allow-prod --lane prod -- echo ask two </dev/null
	run -0 --separate-stderr sh -c "$(sed -n 's/.*to review and decide: //p' <<<"$stderr" | head -n 1) --yes --as ann"
	[[ $output == approved* ]]
}

@test "LANE-2: a refusal is not recorded in a state that is stamped for the other lane" {
	furnish
	# The sandbox lane's place holds prod's state.
	rm -rf "$CUSTODY_ROOT/sandbox"
	mv "$CUSTODY_ROOT/prod" "$CUSTODY_ROOT/sandbox"
	before=$(cd "$CUSTODY_ROOT/sandbox" && find . -type f -exec sha256sum {} + | sort)
	run -116 --separate-stderr "$CUSTODY" run --lane prod -- true
	[ "$(cd "$CUSTODY_ROOT/sandbox" && find . -type f -exec sha256sum {} + | sort)" = "$before" ] || custody_fail "it was recorded there"
}
