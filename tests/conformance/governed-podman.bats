# SPDX-License-Identifier: GPL-2.0-or-later
# Governed containers of podman: annotations, hooks, conmon, lanes, profiles, mapped ids and health checks.
# shellcheck disable=SC2016 # scripts for the inside
load lib.bash
load docker.bash
load ../../contrib/bats/custody.bash
load governed.bash

setup_file() { governed_setup_file; }
teardown_file() { governed_teardown_file; }
setup() { governed_setup; }
teardown() {
	rm -f /etc/containers/containers.conf.d/80-test.conf
	governed_teardown
}
mark() { # [OPTION...]
	run podman run --rm -v "$SUITE/volume:/volume" "$@" box sh -c 'echo ran >>/volume/mark'
}
keeps_status() { # the kernel
	"$CUSTODY" doctor --engine podman --json | jq -e '.checks[] | select(.id == "ENGINE-EXIT-STATUS") | .text | test("kernel keeps")'
}
ended_command() { # N
	[ "$(records exec.end)" -eq "$1" ]
}

@test "CARD-5: GOV-15: kernels before Linux 6.15: the same statuses and signals, of commands as well (sample)" {
	# docker's shim is started by its daemon: run-engine.sh with NO_PIDFD_EXIT=1.
	local i old_podman=(podman)
	if keeps_status; then
		cc -O1 -o "$SUITE/no-pidfd-exit" "$HERE/../lib/no-pidfd-exit.c"
		old_podman=("$SUITE/no-pidfd-exit" podman)
	fi
	judges '"rules":[{"effect":"allow","profile":"container"}],"exec":"allow"'
	for i in 1 2 3 4 5; do
		run "${old_podman[@]}" run --rm box sh -c "exit $i"
		is "$i" "$status"
		ended_as exited "$i"
		is wait "$(last session.end .d.source)"
	done
	"${old_podman[@]}" run -d --name one box sh -c 'echo ready; exec sleep 100'
	until_ok said one ready
	for i in 1 2 3 4 5; do
		run "${old_podman[@]}" exec one sh -c "exit $i"
		is "$i" "$status"
		until_ok ended_command "$i"
		is "$i wait" "$(last exec.end '"\(.d.code) \(.d.source)"')"
	done
	"${old_podman[@]}" kill one
	is 137 "$("${old_podman[@]}" wait one)"
	podman rm one
	ended_as signaled 137
	is '9 wait' "$(last session.end '"\(.d.signal) \(.d.source)"')"
}
@test "GOV-15: annotations that hand libcrun another program, filter or file are refused by name (sample)" {
	local name
	for name in run.oci.seccomp_bpf_data run.oci.hooks.stderr run.oci.handler run.oci.keep_original_groups module.wasm.image/variant \
		krun.cpus org.systemd.property.MemoryMax custody.nosuch; do
		mark --annotation "$name=x"
		[ "$status" -ne 0 ]
		has "'$name'"
	done
	is 0 "$(marks)"
	is config "$(last session.refused .d.refused)"
	mark --annotation anything.else=x
	is 1 "$(marks)"
}
@test "GOV-9: annotations are in the subject, those of custody where they matter" {
	asks
	mark --annotation a=b
	assert_denied
	approve --uses 9
	mark --annotation a=b
	mark --annotation a=b --annotation custody.wait=1s
	is 2 "$(marks)"
	mark --annotation a=c
	assert_denied
	has 'config.annotations.a: was '
	mark --annotation a=b --annotation custody.worktree=/tmp
	assert_denied
	has 'worktree: was '
}
@test "CARD-5: custody.worktree names the directory that is kept; one that is missing is refused" {
	run podman run --rm --annotation custody.worktree=/data -w /tmp box sh -c 'echo here >/data/new; echo not >other; exit 3'
	is 3 "$status"
	is here "$(cat "$(last session.end .d.evidence)/worktree/new")"
	[ ! -e "$(last session.end .d.evidence)/worktree/other" ]
	mark --annotation custody.worktree=/nosuch
	# Not 127: podman takes the system's words for a missing command.
	is 126 "$status"
	has custody.worktree /nosuch
	is 0 "$(marks)"
}
@test "GOV-13: a grant as an annotation starts it once" {
	local grant
	asks
	mark
	assert_denied
	approve --output "$SUITE/grant"
	grant=$(podman_field "custody.grant=$(cat "$SUITE/grant")")
	mark --annotation "$grant"
	is 0 "$status"
	mark --annotation "$grant"
	assert_denied
	is 1 "$(marks)"
	mark --annotation custody.grant=nonsense
	[ "$status" -ne 0 ]
	has custody.grant
}
@test "CARD-7: custody.profile chooses a tighter profile, never a looser one" {
	profile small '{"limits": {"pids": 9}}'
	profile open '{"dangerous": ["host-network", "no-network-namespace"]}'
	judges '"rules":[{"effect":"allow","profile":"container"},{"effect":"allow","profile":"small"},{"effect":"allow","profile":"open"}]'
	mark --annotation custody.profile=small
	is small "$(last session.intent .d.profile)"
	mark --annotation custody.profile=open --network host
	[ "$status" -ne 0 ]
	has looser
	is 1 "$(marks)"
	# An administrator's word is another thing.
	run podman --runtime-flag profile=open run --rm -v "$SUITE/volume:/volume" --network host box sh -c 'echo ran >>/volume/mark'
	is 2 "$(marks)"
}
@test "GOV-9: --uidmap: the image is identified by its layers, with podman 5 as well, and a grant counts as often as it says" {
	asks
	mapped box
	assert_denied
	approve --uses 2
	mapped box
	mapped box
	is 2 "$(records session.start)"
	echo more >"$SUITE/more"
	podman create --name made box true
	podman cp "$SUITE/more" made:/more
	podman commit -q made changed
	podman rm made
	mapped changed
	assert_denied
	has 'image: was'
	is 2 "$(records session.start)"
}
mapped() { # IMAGE
	run podman run --rm --uidmap 0:200000:65536 --gidmap 0:200000:65536 "$1" true
}
@test "GOV-9: hooks of a hooks directory are in the subject" {
	mkdir -p "$SUITE/hooks"
	printf '#!/bin/sh\ncat >/dev/null\n' >"$SUITE/hook"
	chmod +x "$SUITE/hook"
	echo '{"version":"1.0.0","hook":{"path":"'"$SUITE/hook"'"},"when":{"always":true},"stages":["prestart"]}' >"$SUITE/hooks/a.json"
	asks
	mark
	assert_denied
	approve
	run podman --hooks-dir "$SUITE/hooks" run --rm -v "$SUITE/volume:/volume" box sh -c 'echo ran >>/volume/mark'
	assert_denied
	has config.hooks "$SUITE/hook"
	is 0 "$(marks)"
}
@test "LANE-3: lane prod needs its option and CUSTODY_ALLOW_PROD by conmon_env_vars" {
	run podman --runtime-flag lane=prod --runtime-flag allow-prod run --rm box true
	[ "$status" -ne 0 ]
	has "lane 'prod' needs both" 'missing: CUSTODY_ALLOW_PROD'
	CUSTODY_ALLOW_PROD=1 run podman run --rm box true
	is 0 "$status"
	conmon_has 'CUSTODY_ALLOW_PROD=1'
	run podman --runtime-flag lane=prod run --rm box true
	[ "$status" -ne 0 ]
	has 'missing: --allow-prod'
	[ ! -e "$STATE/prod" ]
	run podman --runtime-flag lane=prod --runtime-flag allow-prod run --rm box echo hello
	is hello "$output"
	is 1 "$(records session.end --lane prod)"
	is 1 "$(records session.start)"
}
@test "LANE-3: podman 5 gives the runtime its caller's CUSTODY_ALLOW_PROD, podman 4 does not" {
	CUSTODY_ALLOW_PROD=1 run podman --runtime-flag lane=prod --runtime-flag allow-prod run --rm box true
	if [[ $(podman --version) == *' version 4.'* ]]; then
		[ "$status" -ne 0 ]
		has 'missing: CUSTODY_ALLOW_PROD'
		[ ! -e "$STATE/prod" ]
	else
		# The person who starts podman has given both keys, as for custody run.
		is 0 "$status"
		is 1 "$(records session.end --lane prod)"
		last lane.override .d.lane --lane prod | grep -qx prod
	fi
	run podman --runtime-flag lane=prod --runtime-flag allow-prod run --rm box true
	[ "$status" -ne 0 ]
	has 'missing: CUSTODY_ALLOW_PROD'
}
conmon_has() { # VARIABLE=VALUE...
	local list
	list=$(printf ', "%s"' "$@")
	printf '[engine]\nconmon_env_vars = ["PATH=%s"%s]\n' "$PATH" "$list" >/etc/containers/containers.conf.d/80-test.conf
}
@test "ISO-14: CUSTODY_SANDBOX_ENABLED by conmon_env_vars, both ways" {
	conmon_has CUSTODY_SANDBOX_ENABLED=0
	configure '{"sandbox":{"enabled":true}}'
	podman run --rm box true
	is 0 "$(records session.start)"
	conmon_has CUSTODY_SANDBOX_ENABLED=1
	configure '{"sandbox":{"enabled":false}}'
	podman run --rm box true
	is 1 "$(records session.start)"
}
@test "CARD-4: conmon is killed: the container runs on, and its end has the true status" {
	local id
	podman run -d --name one -w /data box sh -c 'echo half >new; exec ready'
	until_ok said one ready
	id=$(podman inspect -f '{{.Id}}' one)
	kill -9 "$(podman inspect -f '{{.State.ConmonPid}}' one)"
	kill -TERM "$(pid_of one)"
	until_ok one_end
	ended_as exited 3
	is half "$(cat "$(last session.end .d.evidence)/worktree/new")"
	podman rm -f -t 0 one || podman rm -f -t 0 one
	"$RUNTIME" delete --force "$id"
	until_ok nothing_left
}
one_end() {
	[ "$(records session.end)" -eq 1 ]
}
@test "GOV-15: podman's health check is asked, and runs if custody.exec.allow names it" {
	checked
	asks
	run podman healthcheck run box1
	[ "$status" -ne 0 ]
	is '["/bin/sh","-c","echo fine"]' "$(last exec.refused '.d.command | tostring')"
	podman rm -f -t 0 box1
	allows
	checked -u 7 -w /tmp --annotation "$(podman_field 'custody.exec.allow=[["/bin/sh","-c","echo fine"]]')"
	asks
	run podman healthcheck run box1
	is 0 "$status"
	until_ok has_ended 1
	is custody.exec.allow "$(last exec.intent .d.approval.by)"
	run podman exec -u 0 box1 /bin/sh -c 'echo fine'
	assert_denied
}
checked() { # [OPTION...]
	podman run -d --name box1 --health-cmd 'echo fine' "$@" box sh -c 'trap "exit 0" TERM; while :; do sleep 0.2; done'
}
has_ended() { # NUMBER
	[ "$(records exec.end)" -eq "$1" ]
}
