#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# custody-runtime update of a governed container: it may only tighten.  By hand, with a bundle and a cgroup.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for other shells; variables of one test; status is set by bats

load ../lib/suite.bash
load ../lib/oci.bash
load ../lib/engine.bash

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	engine_setup
	command_is 'exec busybox sleep 1000'
	edit '.linux.resources = {memory: {limit: 67108864}, pids: {limit: 100}, cpu: {quota: 50000, period: 100000}}'
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	oci_teardown
}
# With a cgroup of its own: the limits are there.
rt() {
	"$RT" --root "$ROOT" "$@"
}
up() {
	rt run -d -b "$B" x </dev/null
}
down() {
	rt kill x KILL
	wait_until ended x
	rt delete x
	nothing_left
	complete
}
cri() {
	edit '.annotations["io.kubernetes.cri.container-type"] = "container"'
}
# update JSON
update() {
	try rt update --resources <(cat <<<"$1") x
}
# file CONTROLLER V1-NAME V2-NAME: content of a cgroup file of x.
file() {
	local line list
	list=$(cat "/proc/$(rt state x | jq .pid)/cgroup")
	if line=$(grep -E "^[0-9]+:([^:]*,)?$1(,[^:]*)?:" <<<"$list"); then
		cat "/sys/fs/cgroup/$1/${line#*:*:/}/$2"
	else
		cat "/sys/fs/cgroup$(sed -n 's/^0:://p' <<<"$list")/$3"
	fi
}
memory() { file memory memory.limit_in_bytes memory.max; }
pids() { file pids pids.max pids.max; }
quota() { file cpu cpu.cfs_quota_us cpu.max | cut -d' ' -f1; }
period() { file cpu cpu.cfs_period_us cpu.max | sed 's/.* //'; }
# denied WORDS...: refused in words, and no limit is another.
denied() {
	local word
	[ "$status" -eq 1 ] || { echo "status $status: $output" && return 1; }
	for word in 'not updated' 'nothing was changed' 'create the container again' "$@"; do
		[[ $output == *"$word"* ]] || { echo "no '$word' in: $output" && return 1; }
	done
	[ "$(last container.update .status)" = denied ]
}
passed() {
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
}

@test "GOV-15: an update that tightens passes and is recorded; it may be undone up to the approved limits" {
	isolated
	up
	update '{"memory":{"limit":33554432},"pids":{"limit":50},"cpu":{"quota":20000}}'
	passed
	[ "$(memory)" = 33554432 ]
	[ "$(pids)" = 50 ]
	[ "$(quota)" = 20000 ]
	[ "$(last container.update '.status, .d.by, .d.container')" = $'ok\nroot\nx' ]
	[ "$(last container.update .session)" = "$(last session.intent .session)" ]
	update '{"memory":{"limit":67108864},"pids":{"limit":100},"cpu":{"quota":50000}}'
	passed
	[ "$(memory)" = 67108864 ]
	[ "$(pids)" = 100 ]
	[ "$(quota)" = 50000 ]
	[ "$(count container.update)" -eq 2 ]
	down
}
@test "GOV-15: a person's update that loosens is refused with member, approved and asked value; nothing changes" {
	local json
	isolated
	up
	update '{"memory":{"limit":134217728},"pids":{"limit":50}}'
	denied "'memory.limit'" 67108864 134217728 '--memory 134217728'
	last container.update .d.looser[] | jq -e '.member == "memory.limit" and .approved == "67108864" and .asked == "134217728"'
	[ "$(last container.update '.d.set // "nothing"')" = nothing ]
	for json in '{"memory":{"limit":-1}}' '{"pids":{"limit":101}}' '{"pids":{"limit":-1}}' '{"cpu":{"quota":-1}}' \
		'{"cpu":{"quota":50001}}' '{"cpu":{"period":10000}}' '{"cpu":{"shares":2048}}' '{"cpu":{"realtimeRuntime":1}}' \
		'{"devices":[{"allow":true,"access":"rwm"}]}' '{"memory":{"disableOOMKiller":true}}' '{"blockIO":{"weight":900}}'; do
		update "$json"
		denied
	done
	[ "$(memory)" = 67108864 ]
	[ "$(pids)" = 100 ]
	[ "$(quota)" = 50000 ]
	[ "$(period)" = 100000 ]
	[ "$(count container.update)" -eq 12 ]
	# By options.
	try rt update --memory 128M x
	denied 'memory.limit'
	try rt update --pids-limit 60 x
	passed
	[ "$(pids)" = 60 ]
	down
}
@test "GOV-15: the approved limits are those of the profile where it lowered the engine's" {
	isolated
	mkdir -p "$CUSTODY_ROOT/etc/profiles"
	jq -n '{schema: 1, name: "strict", extends: "container", limits: {pids: 40}}' >"$CUSTODY_ROOT/etc/profiles/strict.json"
	edit '.annotations["custody.profile"] = "strict"'
	up
	[ "$(pids)" = 40 ]
	update '{"pids":{"limit":50}}'
	denied "'pids.limit'" 40 50
	[ "$(pids)" = 40 ]
	# The engine's own value, which podman 5 repeats with each call, stays the profile's.
	update '{"pids":{"limit":100},"memory":{"limit":33554432}}'
	passed
	[ "$(pids)" = 40 ]
	[ "$(memory)" = 33554432 ]
	[ "$(last container.update '.status, .d.set.pids.limit')" = $'ok\n40' ]
	down
}
@test "GOV-15: GOV-8: with security_profile alone it may only tighten as well; both switches off: as libcrun does" {
	judged
	try rt create -b "$B" x
	approve
	up
	update '{"pids":{"limit":101}}'
	denied "'pids.limit'"
	[ "$(pids)" = 100 ]
	down
	conf '"sandbox":{"enabled":false},"security_profile":"off"'
	up
	update '{"pids":{"limit":101}}'
	passed
	[ "$(pids)" = 101 ]
	[ "$(count container.update)" -eq 1 ]
	# Switched on later: a container that was created ungoverned stays so.
	isolated
	update '{"pids":{"limit":102}}'
	passed
	[ "$(pids)" = 102 ]
	rt delete --force x
}
@test "GOV-15: what docker sends for nothing changes nothing, and 'unlimited' is no way around" {
	isolated
	up
	update '{"blockIO":{"weight":0},"cpu":{"shares":0,"quota":0,"period":0,"realtimeRuntime":0,"realtimePeriod":0,"cpus":"","mems":""},
		"memory":{"limit":0,"swap":0,"reservation":0,"kernel":0,"kernelTCP":0},"pids":{"limit":0}}'
	passed
	[ "$(count container.update)" -eq 0 ]
	[ "$(memory)" = 67108864 ]
	[ "$(pids)" = 100 ]
	update '{"memory":{"limit":18446744073709551615}}'
	denied "'memory.limit'"
	update '{"memory":{"limit":9223372036854771712}}'
	denied "'memory.limit'"
	[ "$(memory)" = 67108864 ]
	down
}
@test "GOV-15: an update of CRI is clamped, returns 0, and the repeated call is recorded once" {
	local i ask='{"memory":{"limit":134217728},"pids":{"limit":50},"cpu":{"quota":-1,"period":100000,"shares":512}}'
	isolated
	cri
	up
	for i in {1..5}; do
		update "$ask"
		passed
	done
	[ "$(memory)" = 67108864 ]
	[ "$(pids)" = 50 ]
	[ "$(quota)" = 50000 ]
	[ "$(count container.update)" -eq 1 ]
	[ "$(last container.update .status)" = clamped ]
	[ "$(last container.update '[.d.looser[].member] | sort | join(" ")')" = 'cpu.quota memory.limit' ]
	[ "$(last container.update .d.set.pids.limit)" = 50 ]
	# Two calls that alternate and change nothing are recorded once each.
	for i in {1..3}; do
		update '{"pids":{"limit":200}}'
		passed
		update "$ask"
		passed
	done
	[ "$(count container.update)" -le 8 ]
	update '{"shiny":{"limit":1}}'
	[ "$status" -eq 1 ]
	down
}
@test "GOV-15: two updates of CRI that change nothing any more are recorded once each" {
	local i
	isolated
	cri
	up
	for i in {1..6}; do
		update '{"memory":{"limit":134217728}}'
		passed
		update '{"pids":{"limit":4000}}'
		passed
	done
	[ "$(count container.update)" -eq 2 ]
	[ "$(memory)" = 67108864 ]
	[ "$(pids)" = 100 ]
	down
}
@test "GOV-15: a limit that the kernel refuses leaves the others as they were, and is recorded" {
	isolated
	up
	update '{"pids":{"limit":50},"cpu":{"quota":1,"period":100000}}'
	[ "$status" -eq 1 ]
	[ "$(last container.update .status)" = failed ]
	[ "$(pids)" = 100 ]
	[ "$(quota)" = 50000 ]
	update '{"pids":{"limit":50}}'
	passed
	down
}
@test "GOV-15: without a record there is no update: a ledger that cannot be written, an end" {
	isolated
	up
	mv "$CUSTODY_ROOT/sandbox/ledger" "$CUSTODY_HOME/ledger"
	update '{"pids":{"limit":50}}'
	[ "$status" -eq 1 ]
	[ "$(pids)" = 100 ]
	mv "$CUSTODY_HOME/ledger" "$CUSTODY_ROOT/sandbox/ledger"
	update '{"pids":{"limit":50}}'
	passed
	rt kill x KILL
	wait_until ended x
	wait_until wardens_gone
	update '{"pids":{"limit":40}}'
	[ "$status" -eq 1 ]
	[[ $output == *ended* ]] || { echo "$output" && return 1; }
	rt delete x
	try rt update --pids-limit 5 nosuch
	[ "$status" -eq 1 ]
	nothing_left
	complete
}
wardens_gone() {
	[ -z "$(wardens)" ]
}
@test "GOV-15: a container that is created and not started; twenty updates at once" {
	local i pids=()
	isolated
	rt create -b "$B" x </dev/null
	update '{"pids":{"limit":101}}'
	denied "'pids.limit'"
	update '{"pids":{"limit":90}}'
	passed
	[ "$(pids)" = 90 ]
	for i in {41..60}; do
		rt update --pids-limit "$i" x </dev/null >"$CUSTODY_HOME/out.$i" 2>&1 &
		pids+=($!)
	done
	wait "${pids[@]}"
	[ "$(count container.update)" -eq 22 ]
	[ "$(pids)" = "$(last container.update .d.set.pids.limit)" ]
	rt start x
	down
}
@test "GOV-15: cpu.idle that rose in an update which failed does not fall again: the weight would be lost" {
	isolated
	up
	# On v1 the file is missing; on v2 the kernel refuses the list after it.
	update '{"cpu":{"idle":1,"cpus":"8000"}}'
	[ "$status" -eq 1 ]
	[ "$(last container.update .status)" = failed ]
	update '{"cpu":{"idle":0}}'
	denied 'cpu.idle'
	update '{"pids":{"limit":90}}'
	passed
	down
}
@test "GOV-15: no update passes between libcrun's create and the record" {
	isolated
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	mv "$ROOT/x/custody.json" "$CUSTODY_HOME/record"
	update '{"pids":{"limit":101}}'
	[ "$status" -eq 1 ]
	[[ $output == *'is being created'* ]] || { echo "$output" && return 1; }
	[ "$(pids)" = 100 ]
	mv "$CUSTODY_HOME/record" "$ROOT/x/custody.json"
	rt start x
	down
}
@test "GOV-15: pause and resume of a governed container ask nothing" {
	isolated
	up
	rt pause x
	[ "$(status_of x)" = paused ]
	update '{"pids":{"limit":60}}'
	passed
	rt resume x
	[ "$(pids)" = 60 ]
	down
}
