#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Terms of a grant: uses, expiry, approver, machine.

load ../lib/suite.bash
load ../lib/approval.bash

setup() {
	approval_setup
}

teardown() {
	custody_teardown
}

@test "GOV-11: uses are counted" {
	ask uses
	approve "$request" --uses 2
	for _ in 1 2; do
		run --separate-stderr alone "$CUSTODY" run -- echo ask uses
		assert_status 0
	done
	ask uses
	assert_status 114
	[ "$(grants '.grants[0] | "\(.used)/\(.uses) \(.state)"')" = "2/2 consumed" ]
}

@test "GOV-11: a grant ends with its time" {
	ask expiry
	approve "$request" --for 1
	is_expired() { [ "$(grants '.grants[0].state')" = expired ]; }
	wait_until is_expired
	ask expiry
	assert_status 114
	[[ $output != *"ask expiry"* ]]
}

@test "GOV-11: a revoked grant starts nothing" {
	ask revoked
	approve "$request"
	id=$(grants '.grants[0].id')
	run --separate-stderr "$CUSTODY" revoke "$id" --reason oops
	assert_status 0
	ask revoked
	assert_status 114
	[ "$(grants '.grants[0].state')" = revoked ]
	[ "$(records approval.revoke)" = 1 ]
	run --separate-stderr "$CUSTODY" revoke 0000000000000000
	assert_status 125
}

@test "GOV-11: of racing starts as many run as were approved" {
	ask race
	approve "$request" --uses 2
	pids=()
	for i in 1 2 3 4 5 6 7 8; do
		alone "$CUSTODY" run -- echo ask race >"$CUSTODY_HOME/out.$i" 2>"$CUSTODY_HOME/err.$i" 3>&- &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || true
	done
	[ "$(cat "$CUSTODY_HOME"/out.* | grep -c 'ask race')" = 2 ]
	[ "$(grants '.grants[0].used')" = 2 ]
	[ "$(records grant.consume)" = 2 ]
}

@test "GOV-11: of two that wait for one approval one starts, the other waits on" {
	for i in 1 2; do
		alone "$CUSTODY" run --wait -- echo ask twins >"$CUSTODY_HOME/out.$i" 2>"$CUSTODY_HOME/err.$i" 3>&- &
		pids[i]=$!
		wait_until grep -q 'custody approve' "$CUSTODY_HOME/err.$i"
	done
	ran() { [ "$(cat "$CUSTODY_HOME"/out.* | wc -l)" = "$1" ]; }
	is_open() { [ "$(pending '[.requests[] | select(.state == "open")] | length')" = 1 ]; }
	ran 0
	approve "$(pending '.requests[0].id')"
	wait_until ran 1
	wait_until is_open
	approve "$(pending '.requests[0].id')"
	wait "${pids[1]}"
	wait "${pids[2]}"
	ran 2
	[ "$(records grant.consume)" = 2 ]
}

@test "GOV-11: an edited grant, and a planted one, start nothing" {
	ask edited
	approve "$request"
	file=$(find "$CUSTODY_ROOT/sandbox/grants" -name '*.json' | head -n 1)
	cp "$file" "$CUSTODY_HOME/copy.json"
	sed -i 's/"uses":1/"uses":9/' "$file"
	ask edited
	assert_status 114
	[ "$(grants '.grants[0].state')" = edited ]
}

@test "GOV-13: a grant from another machine with a listed key, as a file" {
	far=$CUSTODY_HOME/far
	mkdir "$far"
	key=$(printf '%064d' 7)
	approval_config "\"digest_key\":\"$key\"" "$far"
	entry=$(CUSTODY_ROOT=$far "$CUSTODY" key new alice)
	approval_config "\"digest_key\":\"$key\",\"approvers\":[$entry]"
	ask carried
	assert_status 114
	"$CUSTODY" pending "$request" --json >"$CUSTODY_HOME/request.json"
	# No local key counts here.
	run --separate-stderr "$CUSTODY" approve "$request" --yes
	assert_status 125
	CUSTODY_ROOT=$far run --separate-stderr "$CUSTODY" approve "$CUSTODY_HOME/request.json" --yes --as alice --output "$CUSTODY_HOME/grant.json"
	assert_status 0
	run --separate-stderr alone "$CUSTODY" run --grant "$CUSTODY_HOME/grant.json" -- echo ask carried
	assert_status 0
	assert_output_has "ask carried"
	run --separate-stderr alone "$CUSTODY" run --grant "$CUSTODY_HOME/grant.json" -- echo ask carried
	assert_status 114
	# For another command it is not valid, and neither is one by an unlisted key.
	run --separate-stderr alone "$CUSTODY" run --grant "$CUSTODY_HOME/grant.json" -- echo ask other
	[ "$status" -ne 0 ]
	[[ $output != *"ask other"* ]]
}

@test "GOV-9: a request whose subject does not match its digest is not shown" {
	ask honest
	"$CUSTODY" pending "$request" --json | sed 's/honest/harmless/g' >"$CUSTODY_HOME/request.json"
	run --separate-stderr "$CUSTODY" approve "$CUSTODY_HOME/request.json" --yes
	assert_status 125
	[ "$(grants '.grants | length')" = 0 ]
}

@test "GOV-13: a grant by an unlisted key is refused by name" {
	far=$CUSTODY_HOME/far
	mkdir "$far"
	key=$(printf '%064d' 7)
	approval_config "\"digest_key\":\"$key\"" "$far"
	approval_config "\"digest_key\":\"$key\""
	ask stranger
	"$CUSTODY" pending "$request" --json >"$CUSTODY_HOME/request.json"
	CUSTODY_ROOT=$far "$CUSTODY" approve "$CUSTODY_HOME/request.json" --yes --output "$CUSTODY_HOME/grant.json"
	run --separate-stderr alone "$CUSTODY" run --grant "$CUSTODY_HOME/grant.json" -- echo ask stranger
	[ "$status" -ne 0 ]
	[[ $output != *"ask stranger"* ]]
}

# far NAME UID: a user with a machine and a key of their own; prints the entry for `approvers`.
far() {
	mkdir "$CUSTODY_HOME/$1"
	approval_config "\"digest_key\":\"$digest_key\"" "$CUSTODY_HOME/$1"
	chown -R "$2:$2" "$CUSTODY_HOME/$1"
	far_custody "$1" "$2" key new "$1"
}
far_custody() { # NAME UID WORDS...
	local name=$1 uid=$2
	shift 2
	CUSTODY_ROOT=$CUSTODY_HOME/$name setpriv --reuid "$uid" --regid "$uid" --clear-groups --inh-caps=-all "$CUSTODY" "$@"
}

@test "GOV-13: min_approvals counts people, not signatures" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	digest_key=$(printf '%064d' 7)
	approvers=$(far alice 64321),$(far bob 64322)
	approval_config "\"digest_key\":\"$digest_key\",\"min_approvals\":2,\"approvers\":[$approvers]"
	ask two
	assert_status 114
	"$CUSTODY" pending "$request" --json >"$CUSTODY_HOME/request.json"
	chmod 0644 "$CUSTODY_HOME/request.json"
	for grant in alice.1 alice.2 bob.1; do
		name=${grant%.*} uid=64321
		[ "$name" = alice ] || uid=64322
		far_custody "$name" "$uid" approve "$CUSTODY_HOME/request.json" --yes --output "$CUSTODY_HOME/$name/$grant.json"
	done
	run --separate-stderr alone "$CUSTODY" run --grant "$CUSTODY_HOME/alice/alice.1.json" -- echo ask two
	assert_status 114
	run --separate-stderr alone "$CUSTODY" run --grant "$CUSTODY_HOME/alice/alice.2.json" -- echo ask two
	assert_status 114
	run --separate-stderr alone "$CUSTODY" run --grant "$CUSTODY_HOME/bob/bob.1.json" -- echo ask two
	assert_status 0
	assert_output_has "ask two"
}

@test "GOV-13: two keys of one user are one approver" {
	approval_config '"min_approvals":2'
	"$CUSTODY" key new alice
	"$CUSTODY" key new bob
	ask two
	approve "$request" --as alice
	run --separate-stderr approve "$request" --as bob
	assert_output_has "not enough yet"
	run --separate-stderr alone "$CUSTODY" run -- echo ask two
	assert_status 114
}

@test "GOV-13: allow_self: false: requester and approver are different users" {
	approval_config '"allow_self":false'
	on_terminal -- "$CUSTODY" run -- echo ask self
	assert_status 114
	assert_output_has allow_self
	[[ $output != *Approve\?* ]]
	ask self
	run --separate-stderr "$CUSTODY" approve "$request" --yes
	run --separate-stderr alone "$CUSTODY" run -- echo ask self
	assert_status 114
}

@test "approval: key new, ls and show name the keys that count" {
	run --separate-stderr "$CUSTODY" key ls
	assert_status 0
	run --separate-stderr "$CUSTODY" key new alice
	assert_status 0
	[ "$(jq -r .name <<<"$output")" = alice ]
	[[ $(jq -r .key <<<"$output") =~ ^ed25519:[0-9a-f]{64}$ ]]
	run --separate-stderr "$CUSTODY" key new alice
	assert_status 125
	run --separate-stderr "$CUSTODY" key ls --json
	[ "$(jq -r '.keys[] | "\(.name) \(.counts) \(.local)"' <<<"$output")" = "alice true true" ]
	run --separate-stderr "$CUSTODY" key show bob
	assert_status 125
	run --separate-stderr "$CUSTODY" key new '../x'
	assert_status 125
	! find "$CUSTODY_HOME" -name 'x*.json' | grep . || custody_fail "a key outside"
}
