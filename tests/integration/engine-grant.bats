#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Grants of containers: repeated starts, returned uses, grants that came with the container, a fleet.  By hand, with a bundle.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for other shells; variables of one test; status is set by bats

load ../lib/suite.bash
load ../lib/oci.bash
load ../lib/engine.bash

DIGEST_KEY='"digest_key":"'$(printf '%064d' 7)'"'

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	engine_setup
	judged
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	oci_teardown
}
grants() { # FILTER
	"$CUSTODY" grants --json --all | jq -r "$1"
}
# annotate FILE: the grant as an annotation.
annotate() {
	edit ".annotations[\"custody.grant\"] = $(jq -Rs . <"$1")"
}
# far [OPTION...]: alice, on another machine, answers the request; the grant is $CUSTODY_HOME/grant.
far() {
	"$CUSTODY" pending "$(request)" --json >"$CUSTODY_HOME/request.json"
	rm -f "$CUSTODY_HOME/grant"
	CUSTODY_ROOT=$CUSTODY_HOME/far "$CUSTODY" approve "$CUSTODY_HOME/request.json" --yes --as alice \
		--output "$CUSTODY_HOME/grant" "$@"
}
# alice [MEMBERS]: her machine, and a configuration here that lists her key.
alice() {
	mkdir -p "$CUSTODY_HOME/far/etc"
	echo "{$DIGEST_KEY${1:+,$1}}" >"$CUSTODY_HOME/far/etc/custody.json"
	KEY=$(CUSTODY_ROOT=$CUSTODY_HOME/far "$CUSTODY" key new alice)
	judged "$DIGEST_KEY,\"approvers\":[$KEY]"
}
# no_grant TEXT: create with the annotation is refused for this reason, and nothing is left of it.
no_grant() {
	try rt create -b "$B" x
	refused "$1"
	nothing_left
	[ "$(count grant.consume)" -eq "${2:-0}" ]
}

@test "GOV-11: twenty refused starts are one request with a counter, and a record each" {
	local i first size=0
	asked B
	first=$(request)
	size=$(stat -c %s "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson)
	for i in {2..20}; do
		try rt create -b "$B" x
		refused "custody approve $first"
	done
	[ "$("$CUSTODY" pending --json | jq -c '[.requests[] | [.id, .count]]')" = "[[\"$first\",20]]" ]
	[ "$(count approval.request)" -eq 1 ]
	[ "$(count session.refused)" -eq 20 ]
	# The request is recorded once, so 19 more starts are 19 more records, each no larger than the first refusal with its request.
	[ "$("$CUSTODY" ledger show --json | jq '.records | length')" -eq 22 ]
	[ "$(stat -c %s "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson)" -le $((size * 20)) ]
	[ "$(find "$CUSTODY_ROOT/sandbox/requests" -name '*.json' | wc -l)" -eq 1 ]
	"$CUSTODY" deny "$first"
	for i in {1..20}; do
		try rt create -b "$B" x
		refused 'denied by'
	done
	[ "$(count approval.request)" -eq 1 ]
	nothing_left
	complete
}
@test "GOV-11: a create that fails later gives its use back; back-off burns none" {
	local i
	edit '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "test -e '"$CUSTODY_HOME"'/ready"]}]'
	asked B
	approve --uses 1
	for i in {1..10}; do
		try rt create -b "$B" x
		[ "$status" -eq 1 ]
		[[ $output != *'needs approval'* ]]
	done
	[ "$(grants '.grants[0] | "\(.used) \(.uses)"')" = '0 1' ]
	[ "$(count grant.reserve)" -eq 10 ]
	[ "$(count grant.release)" -eq 10 ]
	[ "$(count approval.request)" -eq 1 ]
	nothing_left
	touch "$CUSTODY_HOME/ready"
	live
	[ "$output" = ran ]
	[ "$(grants '.grants[0].used')" -eq 1 ]
	nothing_left
	complete
}
@test "GOV-11: a program that is missing gives its use back" {
	edit '.process.args = ["/bin/nosuch"]'
	asked B
	approve
	try rt create -b "$B" x
	refused 'no such file or directory'
	try rt create -b "$B" x
	refused 'no such file or directory'
	[ "$(grants '.grants[0].used')" -eq 0 ]
	[ "$(count approval.request)" -eq 1 ]
	nothing_left
	complete
}
# restart N: N starts of the same container in a row, as an engine does it that restarts; on an overlay, whose image is identified.
restart() {
	status=0
	unshare -m --propagation private bash -euc '
		mount -t tmpfs tmpfs "$1/layers"
		mkdir "$1/layers/up" "$1/layers/work"
		mount -t overlay -o "lowerdir=$1/lower,upperdir=$1/layers/up,workdir=$1/layers/work" overlay "$1/rootfs"
		for ((i = 0; i < $4; i++)); do
			"$2" --root "$3" --cgroup-manager disabled run -b "$1" x
		done' sh "$B" "$RT" "$ROOT" "$1" >"$CUSTODY_HOME/out" 2>&1 </dev/null || status=$?
	output=$(cat "$CUSTODY_HOME/out")
}
@test "GOV-11: a container that an engine restarts for ever: a use for each start, then one request" {
	mv "$B/rootfs" "$B/lower"
	mkdir "$B/rootfs" "$B/layers"
	restart 1
	[ "$status" -ne 0 ]
	approve --uses 3
	restart 5
	[ "$status" -ne 0 ]
	[ "$(grep -cx ran <<<"$output")" -eq 3 ]
	[ "$(count grant.consume)" -eq 3 ]
	[ "$("$CUSTODY" pending --json | jq '.requests | length')" -eq 1 ]
	# The request of before: the same digest.
	restart 1
	restart 1
	[ "$("$CUSTODY" pending --json | jq '.requests | length')" -eq 1 ]
	nothing_left
	complete
}
@test "GOV-13: a grant from another machine as an annotation: once; edited, of another container, revoked, expired: each by its reason" {
	alice
	asked B
	far
	annotate "$CUSTODY_HOME/grant"
	live
	[ "$output" = ran ]
	no_grant 'custody approve' 1
	# Edited: the signature does not verify.
	sed 's/"uses":1/"uses":9/' "$CUSTODY_HOME/grant" >"$CUSTODY_HOME/edited"
	cmp -s "$CUSTODY_HOME/grant" "$CUSTODY_HOME/edited" && false
	annotate "$CUSTODY_HOME/edited"
	no_grant 'custody.grant' 1
	[[ $output == *signature* || $output == *edited* ]] || { echo "$output" && return 1; }
	# Of another container.
	far
	command_is 'echo other'
	annotate "$CUSTODY_HOME/grant"
	no_grant 'another digest' 1
	# The lane is part of the statement.
	[ "$(jq -r .statement.lane "$CUSTODY_HOME/grant")" = sandbox ]
	complete
}
@test "GOV-13: a grant that is expired, and one of another lane, start nothing" {
	alice
	asked B
	far --for 1s
	annotate "$CUSTODY_HOME/grant"
	wait_until expired
	no_grant 'expired'
	# Asked in prod, used here, and the reverse.
	edit 'del(.annotations["custody.grant"])'
	CUSTODY_ALLOW_PROD=1 try rt --lane prod --allow-prod create -b "$B" x
	[ "$status" -eq 1 ]
	"$CUSTODY" pending "$("$CUSTODY" pending --json --lane prod | jq -r '.requests[0].id')" --json --lane prod >"$CUSTODY_HOME/request.json"
	CUSTODY_ROOT=$CUSTODY_HOME/far CUSTODY_ALLOW_PROD=1 "$CUSTODY" key new alice --lane prod --allow-prod >/dev/null
	CUSTODY_ROOT=$CUSTODY_HOME/far CUSTODY_ALLOW_PROD=1 "$CUSTODY" approve "$CUSTODY_HOME/request.json" --yes --as alice \
		--lane prod --allow-prod --output "$CUSTODY_HOME/grant.prod"
	annotate "$CUSTODY_HOME/grant.prod"
	no_grant 'custody.grant'
	[[ $output == *lane* ]] || { echo "$output" && return 1; }
	complete
}
expired() {
	local end
	end=$(jq .statement.not_after_us "$CUSTODY_HOME/grant")
	[ "$(date +%s%6N)" -gt "$end" ]
}
@test "GOV-13: LANE-3: a fleet's grant starts the container once on each of its nodes, and on no other" {
	local one two three fleet root
	for root in second third; do
		mkdir -p "$CUSTODY_HOME/$root/etc"
		CUSTODY_ROOT=$CUSTODY_HOME/$root "$CUSTODY" ledger init >/dev/null
	done
	one=$("$CUSTODY" ledger show --key)
	two=$(CUSTODY_ROOT=$CUSTODY_HOME/second "$CUSTODY" ledger show --key)
	three=$(CUSTODY_ROOT=$CUSTODY_HOME/third "$CUSTODY" ledger show --key)
	fleet="\"fleets\":[{\"name\":\"web\",\"ledgers\":[\"$one\",\"$two\"]}]"
	alice "$fleet"
	asked B
	far --fleet web
	annotate "$CUSTODY_HOME/grant"
	# The admin of this node has not named the fleet.
	no_grant 'fleet'
	judged "$DIGEST_KEY,\"approvers\":[$KEY],$fleet"
	cp "$CUSTODY_ROOT/etc/custody.json" "$CUSTODY_HOME/second/etc/custody.json"
	sed "s|$two|$three|" "$CUSTODY_ROOT/etc/custody.json" >"$CUSTODY_HOME/third/etc/custody.json"
	for root in "$CUSTODY_ROOT" "$CUSTODY_HOME/second"; do
		CUSTODY_ROOT=$root live
		[ "$output" = ran ]
		CUSTODY_ROOT=$root no_grant 'custody approve' 1
	done
	# A fleet of the same name with a ledger that the approver did not sign.
	CUSTODY_ROOT=$CUSTODY_HOME/third no_grant 'fleet'
	# The single grant of one ledger is worth nothing on the other.
	far
	annotate "$CUSTODY_HOME/grant"
	CUSTODY_ROOT=$CUSTODY_HOME/second no_grant 'another ledger' 1
	live
	[ "$output" = ran ]
	complete
}
@test "GOV-6: a level C of a container is for no fleet" {
	local one
	one=$("$CUSTODY" ledger show --key)
	alice "\"fleets\":[{\"name\":\"web\",\"ledgers\":[\"$one\"]}]"
	command_is 'rm -rf /'
	asked C
	run far --fleet web
	[ "$status" -ne 0 ]
	[[ $output == *'one ledger, not for a fleet'* ]] || { echo "$output" && return 1; }
	[ ! -e "$CUSTODY_HOME/grant" ]
	nothing_left
}
