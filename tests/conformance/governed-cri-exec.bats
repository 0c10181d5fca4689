# SPDX-License-Identifier: GPL-2.0-or-later
# Governed pods of containerd's CRI plug-in, and containers of ctr: exec, probes, and updates that the kubelet repeats.
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

# executes CMD...: in the container $ID, with `run`'s results.
executes() {
	run cri exec "$ID" -- "$@"
}
has_ended() { # NUMBER
	[ "$(records exec.end)" -eq "$1" ]
}

@test "GOV-15: cri exec: asked, with the line that approves it; approved it runs once (sample)" {
	allows
	pod
	running
	asks
	executes sh -c "$MARK; exit 9"
	assert_denied
	is 0 "$(marks)"
	is approval "$(last exec.refused .d.refused)"
	approve --uses 1
	executes sh -c "$MARK; exit 9"
	is 9 "$status"
	is 1 "$(marks)"
	until_ok has_ended 1
	is 'exited 9' "$(last exec.end '"\(.d.reason) \(.d.code)"')"
	executes sh -c "$MARK; exit 9"
	assert_denied
	is 1 "$(marks)"
}
@test "GOV-15: cri: probes of custody.exec.allow need no question, other commands do (sample)" {
	allows
	pod probed 'annotation=custody.exec.allow=[["cat","/data/file"],["sh","-c","exit 1"]]'
	running
	asks
	for _ in 1 2 3; do
		executes cat /data/file
		is from-the-image "$output"
	done
	# A probe that fails is an answer, too.
	executes sh -c 'exit 1'
	is 1 "$status"
	is 0 "$(pending '.requests | length')"
	is custody.exec.allow "$(last exec.intent .d.approval.by)"
	executes cat /data/file /etc/passwd
	assert_denied
	executes sh -c "$MARK"
	assert_denied
	is 0 "$(marks)"
	until_ok has_ended 4
}
@test "GOV-9: GOV-15: cri: another list of probes is another container" {
	asks
	pod plain
	mark
	assert_denied
	approve --uses 2
	pod probed 'annotation=custody.exec.allow=[["cat","/data/file"]]'
	mark
	assert_denied
	has custody.exec.allow
	is 0 "$(marks)"
}
@test "GOV-15: cri update: more memory is clamped and succeeds; repeated it fills no ledger; less passes (sample)" {
	allows
	pod
	running memory=33554432
	for _ in $(seq 10); do
		cri update "$ID" 67108864
	done
	is 33554432 "$(memory_limit)"
	is 1 "$(records container.update)"
	is clamped "$(last container.update .status)"
	cri update "$ID" 25165824
	is 25165824 "$(memory_limit)"
	is ok "$(last container.update .status)"
	cri update "$ID" 33554432
	is 33554432 "$(memory_limit)"
	is 3 "$(records container.update)"
	[[ $(cri status "$ID") == RUNNING* ]]
}
memory_limit() {
	if is_v2; then cgroup_file "$(pid_of "$ID")" memory memory.max; else cgroup_file "$(pid_of "$ID")" memory memory.limit_in_bytes; fi
}
@test "GOV-15: ctr exec: asked; approved it runs" {
	allows
	ctr run --runc-binary "$RUNTIME" -d "$IMAGE" one sleep 1000
	asks
	run ctr task exec --exec-id e1 one sh -c 'echo ran; exit 3'
	assert_denied
	[[ $output != *ran* ]]
	approve
	run ctr task exec --exec-id e2 one sh -c 'echo ran; exit 3'
	is 3 "$status"
	is ran "$output"
}
