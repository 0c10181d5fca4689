#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# custody.wait: create waits for an approval.  And the verbs that no governed container has.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for other shells; variables of one test; status is set by bats

load ../lib/suite.bash
load ../lib/oci.bash
load ../lib/engine.bash

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	engine_setup
	judged
	creators=()
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	[ "${#creators[@]}" -eq 0 ] || kill -9 "${creators[@]}" 2>/dev/null || true
	oci_teardown
}
waits() { # TIME
	edit ".annotations[\"custody.wait\"] = \"$1\""
}
# begin [ID]: create in the background, which has filed its request; its pid is $creator.
begin() {
	# Not rt: its pid would be that of a shell.
	"$RT" --root "$ROOT" --cgroup-manager disabled create -b "$B" "${1:-x}" >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" </dev/null &
	creator=$!
	creators+=("$creator")
	wait_until has_requests "${2:-1}"
}
has_requests() { # COUNT
	[ "$("$CUSTODY" pending --json | jq '[.requests[].count] | add // 0')" -ge "$1" ]
}
# ends: the exit status of $creator is $status, its error $output.
ends() {
	status=0
	wait "$creator" || status=$?
	output=$(cat "$CUSTODY_HOME/err")
}

@test "GOV-11: create waits for the approval and goes on; the use is that of its start" {
	waits 10m
	begin
	[ ! -e "$ROOT/x" ]
	[ "$(count session.intent)" -eq 0 ]
	approve
	ends
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
	[ "$(count grant.consume)" -eq 0 ]
	rt start x
	wait_until ended x
	rt delete x
	[ "$(cat "$CUSTODY_HOME/out")" = ran ]
	[ "$(count grant.consume)" -eq 1 ]
	[ "$(count approval.request)" -eq 1 ]
	nothing_left
	complete
}
@test "GOV-11: without an answer it is refused when the time is over" {
	waits 1s
	try rt create -b "$B" x
	refused 'no decision within the time of custody.wait' "custody approve $(request)"
	[ "$(last session.refused .d.refused)" = approval ]
	nothing_left
	complete
	# The request stays: an approval counts for the next one.
	approve
	live
	[ "$output" = ran ]
}
@test "GOV-11: a no ends the wait" {
	waits 1h
	begin
	"$CUSTODY" deny "$(request)" --reason 'not today'
	ends
	refused 'denied by' 'not today'
	nothing_left
	complete
}
@test "GOV-11: a create that is killed while it waits leaves its request and nothing else" {
	waits 1h
	begin
	kill -9 "$creator"
	wait "$creator" || true
	wait_until nothing_left
	[ "$("$CUSTODY" pending --json | jq '.requests | length')" -eq 1 ]
	approve
	live
	[ "$output" = ran ]
	complete
}
@test "GOV-11: of two that wait for one approval one starts, the other waits on for its own" {
	local first second
	waits 10m
	begin x
	first=$creator
	begin y 2
	second=$creator
	approve
	wait_until eval '[ -e "$ROOT/x/custody.json" ] || [ -e "$ROOT/y/custody.json" ]'
	wait_until has_requests 1
	kill -0 "$first" || kill -0 "$second"
	approve
	wait "$first"
	wait "$second"
	rt start x
	rt start y
	wait_until ended x
	wait_until ended y
	rt delete x
	rt delete y
	[ "$(count grant.consume)" -eq 2 ]
	nothing_left
	complete
}
@test "GOV-9: a program that changes while create waits is not the one that was approved" {
	waits 10m
	begin
	cp /bin/true "$CUSTODY_HOME/other"
	cp -f "$CUSTODY_HOME/other" "$B/rootfs/bin/busybox"
	approve
	ends
	refused 'changed while an approval was waited for'
	[ "$(last session.refused .d.refused)" = digest ]
	# The use is free again.
	[ "$("$CUSTODY" grants --json | jq '.grants[0] | .used')" -eq 0 ]
	[ "$(count grant.release)" -eq 1 ]
	[ ! -s "$CUSTODY_HOME/out" ]
	nothing_left
	complete
}
@test "GOV-11: what needs no approval does not wait; an invalid time is refused by name" {
	local time
	isolated
	waits 1h
	live
	[ "$output" = ran ]
	judged
	for time in soon 0 0s -1 2h 3601 '' '1 h' 99999999999999999999s; do
		waits "$time"
		try rt create -b "$B" x
		refused custody.wait
		[ "$(last session.refused .d.refused)" = config ]
	done
	[ "$(count approval.request)" -eq 0 ]
	nothing_left
}
@test "GOV-15: GOV-8: no governed container is checkpointed or restored; both switches off: not in this libcrun" {
	local verb n=0
	isolated
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	for verb in checkpoint restore; do
		try rt "$verb" --image-path "$CUSTODY_HOME/image" x
		[ "$status" -eq 1 ]
		[[ $output == *"$verb: refused"* ]] || { echo "$output" && return 1; }
		n=$((n + 1))
		[ "$(count session.refused)" -eq "$n" ]
		[ "$(last session.refused '.d.refused, .d.action')" = $'unsupported\n'"$verb" ]
		# A probe is no attempt.
		try rt "$verb" --help
		[[ $output == *'not in this libcrun'* ]]
		[ "$(count session.refused)" -eq "$n" ]
	done
	[ ! -e "$CUSTODY_HOME/image" ]
	try rt restore --bundle "$B" --image-path "$CUSTODY_HOME/image" y
	[ "$status" -eq 1 ]
	[ ! -e "$ROOT/y" ]
	rt delete --force x
	complete
	conf '"sandbox":{"enabled":false},"security_profile":"off"'
	try rt restore --image-path "$CUSTODY_HOME/image" x
	[ "$status" -eq 1 ]
	[[ $output == *'not in this libcrun'* ]]
	# With the end of x, which was never started.
	[ "$(count session.refused)" -eq 4 ]
	echo '{' >"$CUSTODY_ROOT/etc/custody.json"
	try rt restore x
	[ "$status" -eq 1 ]
	[[ $output == *custody.json:* ]]
}
