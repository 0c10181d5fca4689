# SPDX-License-Identifier: GPL-2.0-or-later
# Governed pods of containerd's CRI plug-in, and containers of ctr: questions, approvals, refusals and records, how containers end, and
# their evidence.
# shellcheck disable=SC2016 # scripts for the inside
load lib.bash
load containerd.bash
load ../../contrib/bats/custody.bash
load governed.bash
load governed-cri.bash

setup_file() { governed_cri_setup_file; }
teardown_file() { stop_containerd; }
setup() { governed_cri_setup; }
teardown() { governed_cri_teardown; }

@test "CARD-4: cri: a pause container starts without a question, confined and recorded (sample)" {
	local pid
	asks
	pod
	is 0 "$(pending '.requests | length')"
	is /pause "$(last session.intent '.d.command[0]')"
	is 'pause container' "$(last session.intent .d.approval.by)"
	pid=$(pid_of "$POD")
	grep -q $'^Seccomp:\t2' "/proc/$pid/status"
	grep -q $'^NoNewPrivs:\t1' "/proc/$pid/status"
	grep -q $'^CapBnd:\t0000000000000000' "/proc/$pid/status"
	cri stop-pod "$POD"
	until_ok nothing_left
	# containerd kills it: its normal end, without evidence.
	session "$POD"
	assert_reason signaled
	is null "$(custody_result .evidence)"
}
@test "CARD-4: a container that says it is a pod's, but does more, is asked (sample)" {
	local note='--annotation io.kubernetes.cri.container-type=sandbox'
	asks
	mkdir -p "$SUITE/volume"
	# shellcheck disable=SC2086 # two words
	{
		asked $note "$IMAGE" one sh -c 'echo ran'
		asked $note "$IMAGE" one /pause now
		asked $note --mount "type=bind,src=$SUITE/volume,dst=/volume,options=rbind:rw" "$IMAGE" one /pause
		asked $note --mount "type=bind,src=/bin/busybox,dst=/pause,options=rbind:ro" "$IMAGE" one /pause
		asked "$IMAGE" one /pause
		run ctr run --runc-binary "$RUNTIME" --rm $note --device /dev/fuse "$IMAGE" one /pause
		[ "$status" -ne 0 ]
		has no-private-devices
		# Capabilities that were asked for are taken away.
		ctr run --runc-binary "$RUNTIME" -d $note --cap-add CAP_SYS_ADMIN "$IMAGE" one /pause
	}
	grep -q $'^CapBnd:\t0000000000000000' "/proc/$(pid_of one default)/status"
	is 1 "$(records session.start)"
}
asked() { # CTR-RUN-ARGUMENTS...
	run ctr run --runc-binary "$RUNTIME" --rm "$@"
	assert_denied
	[[ $output != *ran* ]]
	ctr container rm one 2>/dev/null || true
}
@test "GOV-8: GOV-11: cri: refused with the line that approves it; approved: the next create starts, all recorded (sample)" {
	asks
	pod
	mark
	assert_denied
	assert_request "$CUSTODY_REQUEST" 1
	is 0 "$(marks)"
	is approval "$(last session.refused .d.refused)"
	approve --uses 1
	mark
	is 0 "$status"
	ended
	is 1 "$(marks)"
	is 'EXITED 0 Completed' "$(cri status "$ID")"
	session
	assert_reason exited
	mark
	assert_denied
	is 1 "$(marks)"
}
@test "GOV-13: cri: ten creates of a kubelet's back-off are one request with a counter, and burn no grant" {
	local n
	asks
	pod
	for n in $(seq 10); do
		mark
		assert_denied
		assert_request "$CUSTODY_REQUEST" "$n"
	done
	is 1 "$(pending '.requests | length')"
	# A command that does not exist fails after the grant was reserved: it is given back.
	try -- nosuch
	assert_denied
	approve --uses 1
	for n in $(seq 10); do
		try -- nosuch
		[ "$status" -ne 0 ]
		has nosuch
		[[ $output != *'custody approve'* ]]
	done
	is 1 "$(records session.start)"
}
@test "GOV-9: cri: the same container has one digest in each pod, another one another, and the refusal says what changed" {
	local first
	asks
	pod one
	mark env=A=1
	assert_denied
	first=$CUSTODY_REQUEST
	approve --uses 2
	mark env=A=1
	is 0 "$status"
	pod two
	mark env=A=1
	is 0 "$status"
	ended
	until_ok test "$(marks)" = 2
	mark env=A=2
	assert_denied
	[ "$CUSTODY_REQUEST" != "$first" ]
	has 'since the last approval: ' 'env.A: changed'
	mark env=A=1 "mount=$SUITE/box:/x"
	assert_denied
	has "$SUITE/box"
	try env=A=1 -- sh -c 'echo more >>/volume/mark'
	assert_denied
	has "argv[2]: was 'echo ran"
	is 2 "$(marks)"
}
@test "GOV-9: cri: an image is identified by its layers, or by the digest that names it" {
	local digest
	asks
	pod
	mark
	assert_denied
	approve --uses 2
	mark
	is 0 "$status"
	ended
	[ "$(last session.intent .d.image)" != null ]
	digest=$(image_by_digest)
	try "image=box.local/named@$digest" -- sh -c "$MARK"
	assert_denied
	has image
	approve
	try "image=box.local/named@$digest" -- sh -c "$MARK"
	is 0 "$status"
	ended
	[[ $(last session.intent .d.image) == *"$digest"* ]]
	is 2 "$(marks)"
}
# image_by_digest: prints the digest of an image that has no other name: box with another command.
image_by_digest() {
	local dir=$SUITE/oci digest
	jq '.config.Cmd = ["named"]' "$dir/config.json" >"$SUITE/new"
	mv "$SUITE/new" "$dir/config.json"
	sed -i 's|box.local/[a-z]*:latest|box.local/named:latest|' "$dir/manifest.json"
	tar -C "$dir" -cf "$SUITE/named.tar" manifest.json config.json layer
	ctr -n k8s.io images import "$SUITE/named.tar" >/dev/null
	digest=$(ctr -n k8s.io images ls 'name==box.local/named:latest' | awk 'END { print $3 }')
	ctr -n k8s.io images tag box.local/named:latest "box.local/named@$digest" >/dev/null
	ctr -n k8s.io images rm box.local/named:latest >/dev/null
	echo "$digest"
}
@test "GOV-11: cri: a grant in an annotation of the pod" {
	local key
	key=$(CUSTODY_ROOT=$SUITE/far "$CUSTODY" key new alice)
	judges "\"digest_key\":\"$(printf '%064d' 7)\",\"approvers\":[$key],\"rules\":[{\"effect\":\"ask\",\"profile\":\"container\"}]"
	pod
	mark
	assert_denied
	"$CUSTODY" pending "$CUSTODY_REQUEST" --json >"$SUITE/request.json"
	rm -f "$SUITE/grant.json"
	CUSTODY_ROOT=$SUITE/far "$CUSTODY" approve "$SUITE/request.json" --yes --as alice --output "$SUITE/grant.json"
	mark
	assert_denied
	pod granted "annotation=custody.grant=$(cat "$SUITE/grant.json")"
	mark
	is 0 "$status"
	ended
	is 1 "$(marks)"
}
@test "CARD-5: cri: a crash: evidence of the worktree that the pod names, with the true exit code (sample)" {
	allows
	# An emptyDir, which the kubelet removes with the pod.
	pod crash annotation=custody.worktree=/empty
	try "mount=$(empty_dir crash):/empty" -- sh -c 'echo half >/empty/result; exit 5'
	ended
	is 'EXITED 5 Error' "$(cri status "$ID")"
	until_ok ended_as exited 5
	session
	assert_evidence result
	# A directory of the host keeps its files: only a crash takes all of it.
	pod bind annotation=custody.worktree=/volume
	echo before >"$SUITE/volume/before"
	running
	kill -9 "$(pid_of "$ID")"
	ended
	is 'EXITED 137 Error' "$(cri status "$ID")"
	until_ok ended_as signaled 137
	session
	assert_evidence before
}
empty_dir() { # POD
	local dir
	dir=/var/lib/kubelet/pods/$(cri uid "$1")/volumes/kubernetes.io~empty-dir/empty
	mkdir -p "$dir"
	echo "$dir"
}
@test "GOV-9: cri: volumes that the kubelet makes for a pod are the same in each pod, those of the host are not" {
	local name
	asks
	for name in one two; do
		pod "$name"
		try "mount=$(empty_dir "$name"):/empty" "mount=$(log_of "$name"):/dev/termination-log" -- sh -c 'echo ran >/empty/mark'
		if [ "$name" = one ]; then
			assert_denied
			approve --uses 5
		else
			is 0 "$status"
		fi
	done
	ended
	[ -s "$(empty_dir two)/mark" ]
	# The directory of another pod, or a link in place of the volume, is a directory like others.
	asked_for "$(empty_dir one)"
	mv "$(empty_dir two)" "$SUITE/moved"
	ln -s "$SUITE/moved" "${SUITE:+/var/lib/kubelet/pods/$(cri uid two)/volumes/kubernetes.io~empty-dir/empty}"
	asked_for "/var/lib/kubelet/pods/$(cri uid two)/volumes/kubernetes.io~empty-dir/empty"
	# containerd has followed that link; with ctr nothing does.
	for name in one two; do
		run ctr run --runc-binary "$RUNTIME" --rm --annotation "io.kubernetes.cri.sandbox-uid=$(cri uid $name)" \
			--mount "type=bind,src=/var/lib/kubelet/pods/$(cri uid $name)/volumes/kubernetes.io~empty-dir/empty,dst=/empty,options=rbind:rw" \
			"$IMAGE" one sh -c 'echo ran >/empty/mark'
		assert_denied
		approve --uses 5
		ctr container rm one 2>/dev/null || true
	done
	is 3 "$(grants '.grants | length')"
	is 1 "$(wc -l <"$SUITE/moved/mark")"
}
asked_for() { # SOURCE
	try "mount=$1:/empty" "mount=$(log_of two):/dev/termination-log" -- sh -c 'echo ran >/empty/mark'
	assert_denied
	has 'since the last approval: '
}
log_of() { # POD: a file with a drawn name
	local dir
	dir=/var/lib/kubelet/pods/$(cri uid "$1")/containers/web
	mkdir -p "$dir"
	printf -v dir '%s/%08x' "$dir" $RANDOM
	: >"$dir"
	echo "$dir"
}
@test "ISO-4: cri: out of memory is the reason (sample)" {
	allows
	pod
	try memory=16777216 -- sh -c 'dd if=/dev/zero of=/dev/null bs=64M count=1'
	ended
	is 'EXITED 137 OOMKilled' "$(cri status "$ID")"
	until_ok test "$(last session.end .d.reason)" = oom
	session
	assert_evidence
}
@test "CARD-4: cri: containerd restarts: wardens and containers go on, and the end is recorded" {
	local before
	allows
	pod
	running
	before=$(wardens)
	stop_containerd
	is "$before" "$(wardens)"
	launch_containerd
	until_ok cri version
	[[ $(cri status "$ID") == RUNNING* ]]
	cri stop "$ID" 5
	is 'EXITED 3 Error' "$(cri status "$ID")"
	session
	is 'exited 3' "$(custody_result '"\(.exit.reason) \(.exit.code)"')"
}
@test "CARD-4: cri: a killed shim: the container ends, its record has the end or lost, nothing is left" {
	local pid shim
	allows
	pod
	running
	pid=$(pid_of "$ID")
	shim=$(ps -o ppid= -p "$pid" | tr -d ' ')
	# Before Linux 6.15.
	! grep -q custody-parent "/proc/$shim/comm" || shim=$(ps -o ppid= -p "$shim" | tr -d ' ')
	grep -q containerd-shim "/proc/$shim/comm"
	kill -9 "$shim"
	until_ok test ! -d "/proc/$pid"
	# containerd 1.7 does not remove a pod before it has noticed; 2 forgets the state of its containers, with crun as well.
	ended
	until_ok has_ended
	[ "$(containerd_major)" = 1 ] || "$RUNTIME" --root /run/containerd/runc/k8s.io delete --force "$ID"
	until_ok nothing_left
	session
	[[ $(custody_result .exit.reason) =~ ^(lost|signaled)$ ]]
}
has_ended() { # the container and its pod's
	[ "$(records session.end)" -eq 2 ]
}
@test "CARD-4: cri: a killed warden: the container is killed and recorded as lost" {
	allows
	pod
	running
	kill -9 "$("$CUSTODY" sessions --json | jq -r --arg id "$ID" '.sessions[] | select(.container == $id) | .pid')"
	ended
	is 137 "$(cri status "$ID" | cut -d ' ' -f 2)"
	until_ok lost
}
lost() {
	session
	assert_reason lost
}
@test "GOV-8: ctr: refused, approved, one start (sample)" {
	asks
	mount=(--mount "type=bind,src=$SUITE/volume,dst=/volume,options=rbind:rw")
	asked "${mount[@]}" "$IMAGE" one sh -c "$MARK"
	is 0 "$(marks)"
	approve
	run ctr run --runc-binary "$RUNTIME" --rm "${mount[@]}" "$IMAGE" two sh -c "$MARK; exit 4"
	assert_denied
	run ctr run --runc-binary "$RUNTIME" --rm "${mount[@]}" "$IMAGE" three sh -c "$MARK"
	is 0 "$status"
	is 1 "$(marks)"
	ended_as exited 0
	ctr container rm two 2>/dev/null || true
}
@test "CARD-5: ctr: a crash with evidence" {
	allows
	run ctr run --runc-binary "$RUNTIME" --rm --annotation custody.worktree=/root "$IMAGE" one sh -c 'echo half >/root/result; exit 5'
	is 5 "$status"
	ended_as exited 5
	CUSTODY_RESULT=$("$CUSTODY" sessions --all --json | jq -c '.sessions[0]')
	assert_evidence result
}
@test "ISO-8: cri: a container of a pod calls tools, its pause container has no broker" {
	profile tools '{"broker":{"tools":["ping"]}}'
	configure '{"sandbox":{"enabled":true,"profile":"tools"},"security_profile":"balanced",'"$EXPLICIT"',
		"rules":[{"effect":"allow","profile":"tools"}]}'
	pod
	is '' "$(pgrep -x custody-broker || true)"
	[ ! -e "/proc/$(pid_of "$POD")/root/run/custody" ]
	rm -f "$SUITE/web.log"
	start -- sh -c '/run/custody/custody-call ping; exec ready'
	until_ok grep -q ready "$SUITE/web.log"
	grep -q pong "$SUITE/web.log"
	is ping "$(last tool.call .d.tool)"
	is 1 "$(pgrep -cx custody-broker)"
	kill -9 "$(pgrep -x custody-broker)"
	ended
	until_ok session_is lost
}
session_is() { # REASON: the newest end
	is "$1" "$(last session.end .d.reason)"
}
