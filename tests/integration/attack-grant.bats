#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2030,SC2031,SC2119,SC2120,SC2154 # bats' subshells
#
# Attacks on the number of uses of a grant: another state directory, a removed one, a borrowed identity of a ledger, a
# fleet that the caller invented.  The approver's key is on another machine, the caller owns the state.

load ../lib/suite.bash
load ../lib/approval.bash

DIGEST_KEY=$(printf '%064d' 7)

setup() {
	approval_setup
	make_alice
	configure
}

# The approver's machine, and the entry for `approvers`.
make_alice() {
	far=$CUSTODY_HOME/far
	mkdir "$far"
	approval_config "\"digest_key\":\"$DIGEST_KEY\"" "$far"
	entry=$(CUSTODY_ROOT=$far "$CUSTODY" key new alice)
}

teardown() {
	custody_teardown
}

# configure [MEMBERS] [ROOT]: ROOT accepts alice's signature.
configure() {
	approval_config "\"digest_key\":\"$DIGEST_KEY\",\"approvers\":[$entry]${1:+,$1}" "${2:-}"
}

# alice OPTIONS...: answers $request of this root; the grant is $CUSTODY_HOME/grant.json.
alice() {
	rm -f "$CUSTODY_HOME/grant.json" "$CUSTODY_HOME/request.json"
	"$CUSTODY" pending "$request" --json >"$CUSTODY_HOME/request.json"
	CUSTODY_ROOT=$far "$CUSTODY" approve "$CUSTODY_HOME/request.json" --yes --as alice \
		--output "$CUSTODY_HOME/grant.json" "$@"
}

use() { # ROOT WORDS...
	local root=$1
	shift
	CUSTODY_ROOT=$root run --separate-stderr alone "$CUSTODY" run --grant "$CUSTODY_HOME/grant.json" -- echo ask "$@"
}

refused_as() { # TEXT
	[ "$status" -eq 114 ] || custody_fail "status $status: $stderr"
	[[ $output != *ask* ]] || custody_fail "it ran"
	[[ $stderr == *"$1"* ]] || custody_fail "another reason: $stderr"
}

ledger_key() { # ROOT
	CUSTODY_ROOT=$1 "$CUSTODY" ledger show --key
}

@test "GOV-11: a grant for one use is worth nothing in another state directory" {
	ask once
	alice
	use "$CUSTODY_ROOT" once
	assert_status 0
	mkdir "$CUSTODY_HOME/second"
	configure "" "$CUSTODY_HOME/second"
	use "$CUSTODY_HOME/second" once
	refused_as "another ledger"
	[[ $stderr == *"custody approve"* ]] || custody_fail "no fix: $stderr"
	[ -z "$(find "$CUSTODY_HOME/second/sandbox/grants" -name '*.json')" ]
}

@test "GOV-11: nor where the state was removed" {
	ask again
	alice
	use "$CUSTODY_ROOT" again
	assert_status 0
	rm -rf "$CUSTODY_ROOT/sandbox"
	use "$CUSTODY_ROOT" again
	refused_as "another ledger"
}

# forget: no trace of a grant outside of the ledger, and no record in it after the first two.
forget() {
	rm -rf "$CUSTODY_ROOT/sandbox/grants"
	head -n 2 "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson >"$CUSTODY_HOME/cut"
	cat "$CUSTODY_HOME/cut" >"$CUSTODY_ROOT/sandbox/ledger/00000000000000000000.ndjson"
}

@test "GOV-11: nor where its use was cut from the ledger and a person accepted that, or a new seal was made" {
	ask cut
	alice
	use "$CUSTODY_ROOT" cut
	assert_status 0
	forget
	"$CUSTODY" ledger repair --accept-loss
	use "$CUSTODY_ROOT" cut
	refused_as "another ledger"
	ask again
	alice
	use "$CUSTODY_ROOT" again
	assert_status 0
	forget
	rm "$CUSTODY_ROOT/sandbox/ledger-keys/seal"
	"$CUSTODY" ledger repair --new-seal
	use "$CUSTODY_ROOT" again
	refused_as "another ledger"
	ask third
	alice
	use "$CUSTODY_ROOT" third
	assert_status 0
	rm -rf "$CUSTODY_ROOT/sandbox/grants" "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson "$CUSTODY_ROOT/sandbox/ledger-keys/seal"
	"$CUSTODY" ledger repair --new-seal
	use "$CUSTODY_ROOT" third
	refused_as "another ledger"
}

@test "GOV-11: nor with another HOME or XDG_STATE_HOME of an ordinary user" {
	suite_setup_user
	make_alice
	mkdir -p "$CUSTODY_HOME/home/.config/custody" "$CUSTODY_HOME/second" "$CUSTODY_HOME/third/.config"
	chmod 0755 "$CUSTODY_HOME"
	printf '{"digest_key":"%s","approvers":[%s],"rules":[{"effect":"ask","argv":["echo","ask"]}]}' "$DIGEST_KEY" "$entry" \
		>"$CUSTODY_HOME/home/.config/custody/custody.json"
	printf '{"schema":1,"name":"p","extends":"review","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' >"$CUSTODY_HOME/p.json"
	cp -r "$CUSTODY_HOME/home/.config/custody" "$CUSTODY_HOME/third/.config/"
	[ "$(id -u)" -ne 0 ] || chown -R "$SUITE_UID:$SUITE_UID" "$CUSTODY_HOME/home" "$CUSTODY_HOME/second" "$CUSTODY_HOME/third"
	cd "$CUSTODY_HOME/work"
	as() { # VARIABLE... -- WORDS
		local v=()
		while [ "$1" != -- ]; do
			v+=("$1")
			shift
		done
		shift
		run --separate-stderr alone "${CUSTODY_AS[@]}" env -u CUSTODY_ROOT "${v[@]}" "$CUSTODY" "$@"
	}
	as -- run -p "$CUSTODY_HOME/p.json" -- echo ask home
	assert_status 114
	request=$(sed -n 's/.*custody approve \([0-9a-f]\{16\}\).*/\1/p' <<<"$stderr" | head -n 1)
	as -- pending "$request" --json
	printf '%s\n' "$output" >"$CUSTODY_HOME/request.json"
	CUSTODY_ROOT=$far "$CUSTODY" approve "$CUSTODY_HOME/request.json" --yes --as alice --output "$CUSTODY_HOME/grant.json"
	chmod 0644 "$CUSTODY_HOME/grant.json"
	as -- run -p "$CUSTODY_HOME/p.json" --grant "$CUSTODY_HOME/grant.json" -- echo ask home
	assert_status 0
	as "XDG_STATE_HOME=$CUSTODY_HOME/second" -- run -p "$CUSTODY_HOME/p.json" --grant "$CUSTODY_HOME/grant.json" -- echo ask home
	refused_as "another ledger"
	as "HOME=$CUSTODY_HOME/third" "XDG_CONFIG_HOME=$CUSTODY_HOME/home/.config" -- \
		run -p "$CUSTODY_HOME/p.json" --grant "$CUSTODY_HOME/grant.json" -- echo ask home
	[ "$status" -ne 0 ]
	[[ $output != *ask* ]]
	"${CUSTODY_AS[@]}" rm -rf "$CUSTODY_HOME/home/.local/state/custody/sandbox"
	as -- run -p "$CUSTODY_HOME/p.json" --grant "$CUSTODY_HOME/grant.json" -- echo ask home
	refused_as "another ledger"
}

@test "GOV-11: nor in a state that borrows the public key of the ledger" {
	ask borrowed
	alice
	mkdir "$CUSTODY_HOME/second"
	configure "" "$CUSTODY_HOME/second"
	CUSTODY_ROOT=$CUSTODY_HOME/second "$CUSTODY" ledger init >/dev/null
	cp "$CUSTODY_ROOT/sandbox/ledger/public" "$CUSTODY_HOME/second/sandbox/ledger/public"
	use "$CUSTODY_HOME/second" borrowed
	[ "$status" -ne 0 ]
	[[ $output != *ask* ]] || custody_fail "it ran"
	[[ $stderr == *"does not match its public key"* ]] || custody_fail "another reason: $stderr"
}

@test "GOV-11: grants that are copied with their uses do not count in another state" {
	ask moved
	alice
	mkdir "$CUSTODY_HOME/second"
	configure "" "$CUSTODY_HOME/second"
	CUSTODY_ROOT=$CUSTODY_HOME/second "$CUSTODY" ledger init >/dev/null
	# Registered here, unused, then copied.
	use "$CUSTODY_ROOT" moved
	assert_status 0
	cp -a "$CUSTODY_ROOT/sandbox/grants" "$CUSTODY_HOME/second/sandbox/"
	sed -i 's/"used":1/"used":0/' "$CUSTODY_HOME"/second/sandbox/grants/*.uses
	CUSTODY_ROOT=$CUSTODY_HOME/second run --separate-stderr alone "$CUSTODY" run -- echo ask moved
	refused_as "is pending"
	[ "$(CUSTODY_ROOT=$CUSTODY_HOME/second grants '.grants[0].state')" = foreign-ledger ]
}

@test "GOV-6: a level C with its PIN is for the ledger that asked" {
	printf '271828\n' | CUSTODY_ROOT=$far "$CUSTODY" pin set alice --pin-fd 0
	entry=$(CUSTODY_ROOT=$far "$CUSTODY" key show alice)
	configure
	mkdir "$CUSTODY_HOME/tree"
	cd "$CUSTODY_HOME/tree"
	run --separate-stderr alone "$CUSTODY" run -- sh -c 'rm -rf *'
	assert_status 114
	request=$(sed -n 's/.*custody approve \([0-9a-f]\{16\}\).*/\1/p' <<<"$stderr" | head -n 1)
	"$CUSTODY" pending "$request" --json >"$CUSTODY_HOME/request.json"
	CUSTODY_ROOT=$far on_terminal 'expect:Approve?' 'send:y\n' 'expect:PIN' 'send:271828\n' -- "$CUSTODY" approve "$CUSTODY_HOME/request.json" --as alice --output "$CUSTODY_HOME/grant.json"
	assert_status 0
	rm -rf "$CUSTODY_ROOT/sandbox"
	run --separate-stderr alone "$CUSTODY" run --grant "$CUSTODY_HOME/grant.json" -- sh -c 'rm -rf *'
	refused_as "another ledger"
}

@test "GOV-11: a request that names no ledger is refused as that" {
	ask unbound
	"$CUSTODY" pending "$request" --json | jq -c 'del(.ledger)' >"$CUSTODY_HOME/old.json"
	CUSTODY_ROOT=$far run --separate-stderr "$CUSTODY" approve "$CUSTODY_HOME/old.json" --yes --as alice
	assert_status 125
	[[ $stderr == *"names no ledger"* ]]
}

@test "GOV-11: a fleet of the admin's: the uses count on each ledger, and on no other" {
	for name in second third; do
		mkdir "$CUSTODY_HOME/$name"
		configure "" "$CUSTODY_HOME/$name"
		CUSTODY_ROOT=$CUSTODY_HOME/$name "$CUSTODY" ledger init >/dev/null
	done
	one=$(ledger_key "$CUSTODY_ROOT") two=$(ledger_key "$CUSTODY_HOME/second") three=$(ledger_key "$CUSTODY_HOME/third")
	fleet="\"fleets\":[{\"name\":\"web\",\"ledgers\":[\"$one\",\"$two\"]}]"
	ask fleet
	# The approver's admin has no such fleet.
	run --separate-stderr alice --fleet web
	assert_status 125
	[[ $stderr == *"no fleet 'web'"* ]]
	approval_config "\"digest_key\":\"$DIGEST_KEY\",$fleet" "$far"
	run --separate-stderr alice --fleet web
	assert_status 0
	# Here the admin has not named the fleet yet.
	use "$CUSTODY_ROOT" fleet
	refused_as "granted for a fleet"
	configure "$fleet"
	configure "$fleet" "$CUSTODY_HOME/second"
	for root in "$CUSTODY_ROOT" "$CUSTODY_HOME/second"; do
		use "$root" fleet
		assert_status 0
		use "$root" fleet
		refused_as "is pending"
	done
	# A fleet of the same name with a ledger that the approver did not sign.
	configure "${fleet/$two/$three}" "$CUSTODY_HOME/third"
	use "$CUSTODY_HOME/third" fleet
	refused_as "granted for a fleet"
}

@test "GOV-6: a level C is for no fleet" {
	mkdir "$CUSTODY_HOME/tree"
	cd "$CUSTODY_HOME/tree"
	run --separate-stderr alone "$CUSTODY" run -- sh -c 'rm -rf *'
	assert_status 114
	request=$(sed -n 's/.*custody approve \([0-9a-f]\{16\}\).*/\1/p' <<<"$stderr" | head -n 1)
	approval_config "\"digest_key\":\"$DIGEST_KEY\",\"fleets\":[{\"name\":\"web\",\"ledgers\":[\"$(ledger_key "$CUSTODY_ROOT")\"]}]" "$far"
	run --separate-stderr alice --fleet web
	assert_status 125
	[[ $stderr == *"one ledger, not for a fleet"* ]] || custody_fail "$stderr"
}
