# SPDX-License-Identifier: GPL-2.0-or-later
# Governed steps of Slurm: questions, approvals, refusals and records, how steps end, and their evidence.  Two nodes on this
# machine: the state of n1 is this sandbox's, n2 has a CUSTODY_ROOT of its own, as a second machine has.
# shellcheck disable=SC2016 # scripts for the inside
load lib.bash
load slurm.bash
load ../../contrib/bats/custody.bash
load governed.bash

setup_file() {
	start_slurm
	mkdir -p "$SUITE/volume"
	make_bundle "$SUITE/marked" "$SUITE/volume"
	make_bundle "$SUITE/annotated"
	jq '.annotations = {"custody.worktree": "/root"}' "$SUITE/annotated/config.json" >"$SUITE/new"
	mv "$SUITE/new" "$SUITE/annotated/config.json"
}
teardown_file() {
	stop_slurm
}
setup() {
	governed_setup
}
teardown() {
	scancel --user root
	scancel --user tester
	until_ok test -z "$(squeue -h)"
	until_ok nothing_left || { nothing_left || true; return 1; }
	no_state
	complete
	rm -rf "$SUITE/volume"
}
# step [OPTION...] CMD...: on n1, with an environment that a site controls.
step() {
	srun --quiet --nodelist=n1 --export=PATH,SUITE_WORD --container="${BUNDLE:-$SUITE/bundle}" "$@"
}
mark() { # [OPTION...]
	BUNDLE=$SUITE/marked step "$@" sh -c 'echo ran >>/data/mark'
}
# running [OPTION...]: a step that has printed "ready"; srun's pid in $srun, the container's first process in $pid.
running() {
	: >"$SUITE/out"
	step "$@" ready >"$SUITE/out" 2>&1 3>&- &
	srun=$!
	until_ok grep -q ready "$SUITE/out"
	pid=$(pgrep -n -x ready)
	[ -d "/proc/$pid" ]
}
# ended: waits for srun of `running`; sets $status.
ended() {
	status=0
	wait "$srun" || status=$?
	until_ok test ! -d "/proc/$pid"
}

@test "GOV-8: GOV-11: srun: refused with the line that approves it; approved: one start, all recorded (sample)" {
	asks
	run mark
	assert_denied
	assert_request "$CUSTODY_REQUEST" 1
	is 0 "$(marks)"
	is approval "$(last session.refused .d.refused)"
	run mark
	assert_denied
	assert_request "$CUSTODY_REQUEST" 2
	approve --uses 1
	run mark
	is 0 "$status"
	is 1 "$(marks)"
	ended_as exited 0
	run mark
	assert_denied
	is 1 "$(marks)"
	is 1 "$(records session.start)"
}
@test "GOV-9: srun: the same step has one digest, another one has another, and the refusal says what changed (sample)" {
	local first
	asks
	export SUITE_WORD=one
	run mark
	assert_denied
	first=$CUSTODY_REQUEST
	approve --uses 3
	mark
	# Another job, another node.
	mark --nodelist=n2
	mark
	is 3 "$(marks)"
	SUITE_WORD=two run mark
	assert_denied
	[ "$CUSTODY_REQUEST" != "$first" ]
	has 'env.SUITE_WORD: changed'
	BUNDLE=$SUITE/marked run step sh -c 'echo more >>/data/mark'
	assert_denied
	has 'since the last approval: ' "argv[2]: was 'echo ran"
	jq '.mounts += [{destination: "/x", type: "bind", source: "/usr", options: ["rbind", "ro"]}]' "$SUITE/marked/config.json" >"$SUITE/config"
	mount --bind "$SUITE/config" "$SUITE/marked/config.json"
	run mark
	umount "$SUITE/marked/config.json"
	assert_denied
	has /usr
	is 3 "$(marks)"
}
@test "GOV-9: a variable of Slurm with a value that Slurm does not give is another step" {
	asks
	run mark
	assert_denied
	approve
	SLURM_ARRAY_TASK_ID='1;id' run mark
	assert_denied
	has env.SLURM_ARRAY_TASK_ID
	is 0 "$(marks)"
	SLURM_ARRAY_TASK_ID=1 run mark
	is 1 "$(marks)"
}
@test "GOV-1: a rule that denies: no request, nothing runs, recorded" {
	judges '"rules":[{"effect":"deny","profile":"container","why":"closed for today"}]'
	run mark
	[ "$status" -ne 0 ]
	has 'denied by policy'
	is 0 "$(marks)"
	is policy "$(last session.refused .d.refused)"
	is 0 "$(pending '.requests | length')"
}
@test "GOV-11: LANE-3: a fleet: a grant that is asked for on one node counts on the other, with its own uses (sample)" {
	local key digest_key members fleet node
	key=$(CUSTODY_ROOT=$SUITE/far "$CUSTODY" key new alice)
	digest_key=$(printf '%064d' 7)
	members="\"digest_key\":\"$digest_key\",\"approvers\":[$key],\"rules\":[{\"effect\":\"ask\",\"profile\":\"container\"}]"
	second_node
	fleet=$(jq -nc --arg a "$("$CUSTODY" ledger show --key)" --arg b "$(on_n2 ledger show --key)" '[{name: "cluster", ledgers: [$a, $b]}]')
	judges "$members,\"fleets\":$fleet"
	cp /etc/custody/custody.json "$SUITE/n2/etc/custody.json"
	mkdir -p "$SUITE/far/etc"
	echo "{\"digest_key\":\"$digest_key\",\"fleets\":$fleet}" >"$SUITE/far/etc/custody.json"
	run mark
	assert_denied
	"$CUSTODY" pending "$CUSTODY_REQUEST" --json >"$SUITE/request.json"
	# For n1 alone: worth nothing on n2.
	CUSTODY_ROOT=$SUITE/far "$CUSTODY" approve "$SUITE/request.json" --yes --as alice --output "$SUITE/alone.json"
	carry "$SUITE/alone.json"
	run mark --nodelist=n2
	has 'another ledger' 'custody approve'
	is 0 "$(marks)"
	CUSTODY_ROOT=$SUITE/far "$CUSTODY" approve "$SUITE/request.json" --yes --as alice --fleet cluster --output "$SUITE/fleet.json"
	carry "$SUITE/fleet.json"
	for node in n2 n1; do
		run mark --nodelist=$node
		is 0 "$status"
		run mark --nodelist=$node
		assert_denied
	done
	is 2 "$(marks)"
	is 1 "$(on_n2 ledger show --json | jq '[.records[] | select(.k == "session.start")] | length')"
	on_n2 ledger verify | grep -q 'completeness:  ok'
	carry
	first_state
}
# second_node: n2 with a state of its own; first_state: as before.
second_node() {
	rm -rf "$SUITE/n2"
	mkdir -p "$SUITE/n2/etc"
	stop_slurmd n2
	CUSTODY_ROOT=$SUITE/n2 launch_slurmd n2
	on_n2 ledger init >/dev/null
	until_ok nodes_are_idle
}
first_state() {
	stop_slurmd n2
	launch_slurmd n2
	until_ok nodes_are_idle
}
on_n2() {
	CUSTODY_ROOT=$SUITE/n2 "$CUSTODY" "$@"
}
# carry [GRANT]: as the bundle's annotation; without: none.
carry() {
	jq --rawfile grant "${1:-/dev/null}" 'if $grant == "" then del(.annotations) else .annotations["custody.grant"] = $grant end' \
		"$SUITE/marked/config.json" >"$SUITE/new"
	cp "$SUITE/new" "$SUITE/marked/config.json"
}
@test "CARD-5: a crash: evidence with the true exit code (sample)" {
	allows
	BUNDLE=$SUITE/annotated run step sh -c 'echo half >/root/result; echo bad >&2; exit 5'
	is 5 "$status"
	newest
	is 'exited 5' "$(custody_result '"\(.exit.reason) \(.exit.code)"')"
	assert_evidence result
	BUNDLE=$SUITE/annotated running
	kill -9 "$pid"
	ended
	is 137 "$status"
	newest
	is 'signaled 9' "$(custody_result '"\(.exit.reason) \(.exit.signal)"')"
	assert_evidence
}
newest() {
	CUSTODY_RESULT=$("$CUSTODY" sessions --all --json | jq -c '.sessions[0]')
}
@test "CARD-5: scancel: the record is closed with the reason, evidence is kept, nothing is left (sample)" {
	allows
	BUNDLE=$SUITE/annotated running
	scancel "$(squeue -h -o %A)"
	ended
	[ "$status" -ne 0 ]
	until_ok nothing_left
	# Slurm sends TERM, on which `ready` exits with 3.
	ended_as exited 3
	newest
	assert_evidence
}
@test "CARD-5: scancel of a command that ignores TERM: Slurm kills the step, and the record has the signal" {
	allows
	: >"$SUITE/out"
	BUNDLE=$SUITE/annotated step sh -c 'trap "" TERM; echo half >/root/result; echo ready; while :; do sleep 1; done' >"$SUITE/out" 2>&1 3>&- &
	srun=$!
	until_ok grep -q ready "$SUITE/out"
	scancel "$(squeue -h -t R -o %A)"
	wait "$srun" || true
	until_ok nothing_left
	newest
	is 'signaled 9' "$(custody_result '"\(.exit.reason) \(.exit.signal)"')"
	assert_evidence result
}
@test "GOV-11: an array job of 50 steps (or CUSTODY_STORM of them): one request, one approval, each step a start" {
	asks
	mkdir -p "$SUITE/jobs"
	array
	is "$STORM" "$(grep -l 'custody approve' "$SUITE/jobs"/* | wc -l)"
	is 0 "$(marks)"
	is "1 $STORM" "$(pending '"\(.requests | length) \(.requests[0].count)"')"
	approve "$(pending '.requests[0].id')" --uses "$STORM"
	array
	is "$STORM" "$(marks)"
	is "$STORM" "$(sort -u "$SUITE/volume/mark" | wc -l)"
	is "$STORM" "$(records session.end)"
	is "$STORM" "$(records grant.consume)"
}
array() {
	rm -f "$SUITE/jobs"/*
	printf '%s\n' '#!/bin/sh' "srun --quiet --export=PATH --container=$SUITE/marked sh -c 'echo \$SLURM_ARRAY_TASK_ID >>/data/mark'" >"$SUITE/job"
	sbatch --wait --nodelist=n1 --export=PATH --output="$SUITE/jobs/%a" --array="1-$STORM" "$SUITE/job" || true
}
@test "GOV-8: an ordinary user's step is asked and recorded in the user's state" {
	make_bundle "$SUITE/rootless"
	configure '{"sandbox":{"enabled":true},"security_profile":"balanced","provenance":[{"uid":'"$USER_ID"',"intention":"explicit"}],
		"rules":[{"effect":"ask","profile":"container"}],"forensics":{"keep_free":"64M"}}'
	run user_step
	assert_denied
	[[ $output != *inside* ]]
	as_user approve "$CUSTODY_REQUEST" --yes
	run user_step
	has inside
	is 5 "$status"
	is 0 "$(records session.start)"
	is 1 "$(as_user ledger show --json | jq '[.records[] | select(.k == "session.end" and .d.reason == "exited" and .d.code == 5)] | length')"
}
user_step() {
	srun --quiet --nodelist=n1 --export=PATH --uid="$USER_ID" --gid="$USER_ID" --container="$SUITE/rootless" sh -c 'echo inside; exit 5'
}
as_user() {
	env -u XDG_RUNTIME_DIR HOME=/run/tester setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups "$CUSTODY" "$@"
}
@test "CARD-4: killed wardens: the step is killed and recorded as lost" {
	allows
	running
	kill_wardens
	ended
	[ "$status" -ne 0 ]
	until_ok lost
}
# kill_wardens: the older one; its backup records that.
kill_wardens() {
	kill -9 "$(wardens | head -n 1)"
}
lost() {
	is lost "$(last session.end .d.reason)"
}
