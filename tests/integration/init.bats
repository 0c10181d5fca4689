#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2154 # scripts for the inside; set by bats
#
# ISO-1: custody-init executes nothing unless every layer holds.  tests/unit/test-init-run.c acts as the supervisor; here
# init runs under other people's runtimes, with bundles from which one layer was taken out by hand.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	jq -n '{schema: 1, name: "plain", extends: "offline", workspace: {mode: "tmpfs"}}' >"$CUSTODY_HOME/plain.json"
}

teardown() {
	custody_teardown
}

# without LAYER JQ-FILTER: under both runtimes the whole bundle runs; edited it is refused, by name.
without() {
	bundle --profile "$CUSTODY_HOME/plain.json" -- echo the payload ran
	# The filter itself changes something, not only the removal of the hook.
	if cmp -s <(jq "$2" "$BUNDLE/config.json") <(jq . "$BUNDLE/config.json"); then
		custody_fail "nothing was taken out by: $2"
	fi
	jq "$2 | $RUNTIME_UNJUDGED" "$BUNDLE/config.json" >"$CUSTODY_HOME/edited"
	for runtime in crun runc; do
		runtime_run "$runtime" "$BUNDLE"
		assert_status 0
		assert_output_has 'the payload ran'
	done
	cp "$CUSTODY_HOME/edited" "$BUNDLE/config.json"
	for runtime in crun runc; do
		runtime_run "$runtime" "$BUNDLE"
		assert_status 125
		[[ $output != *'payload ran'* ]]
		assert_stderr_has "custody-init: layer '$1' is missing: "
		[ "$(grep -c '^custody-init: ' <<<"$stderr")" -eq 1 ]
	done
}

drop_ns() {
	printf 'del(.linux.namespaces[] | select(.type == "%s"))' "$1"
}

@test "ISO-1: a bundle without its network namespace executes nothing" {
	without network-namespace "$(drop_ns network)"
}

@test "ISO-1: a bundle without its ipc namespace executes nothing" {
	without ipc-namespace "$(drop_ns ipc) | del(.mounts[] | select(.type == \"mqueue\"))"
}

@test "ISO-1: a bundle without its uts namespace executes nothing" {
	without uts-namespace "$(drop_ns uts) | del(.hostname)"
}

@test "ISO-1: a bundle without its cgroup namespace executes nothing" {
	without cgroup-namespace "$(drop_ns cgroup)"
}

@test "ISO-1: a bundle with a writable root executes nothing" {
	without read-only-root '.root.readonly = false'
}

# more OPTION...: the bundle with a directory of the host that its subject does not name.
more() {
	mkdir "$CUSTODY_HOME/more"
	jq -rn --arg dir "$CUSTODY_HOME/more" --args '".mounts += [" + ({destination: "/srv", type: "bind", source: $dir,
		options: $ARGS.positional} | tojson) + "]"' "$@"
}

@test "ISO-1: a bundle that shows more of the host, writable, executes nothing" {
	without read-only-root "$(more rbind rw rnosuid rnodev)"
	assert_stderr_has '/srv is writable'
}

@test "ISO-1: a bundle that shows more of the host, with set-id programs and devices, executes nothing" {
	without read-only-root "$(more rbind rro)"
	assert_stderr_has '/srv is not nosuid,nodev'
}

@test "ISO-1: a bundle without masked paths executes nothing" {
	without masked-paths '.linux.maskedPaths = []'
}

@test "ISO-1: a bundle with a writable /proc/sys executes nothing" {
	without masked-paths '.linux.readonlyPaths = []'
}

@test "ISO-1: a bundle with a device of the host executes nothing" {
	local device
	device=$(find /dev -maxdepth 1 -type c ! -name null ! -name zero ! -name full ! -name '*random' ! -name 'tty*' \
		! -name ptmx ! -name console -print -quit)
	[ -n "$device" ]
	without private-devices '.mounts += [{destination: "'"$device"'", type: "bind", source: "'"$device"'", options: ["rbind"]}]'
}

@test "ISO-1: a bundle with another worktree than asked for executes nothing" {
	without worktree '(.hooks.createRuntime[] | select(.args[1] == "mount") | .args[2]) |= (fromjson | .mounts = [] | tojson)'
}

@test "ISO-1: a bundle with a capability executes nothing" {
	without capabilities '.process.capabilities.bounding = ["CAP_CHOWN"]'
}

@test "ISO-1: a bundle without no_new_privs executes nothing" {
	without no-new-privs '.process.noNewPrivileges = false'
}

@test "ISO-1: a bundle without its filter executes nothing" {
	without seccomp 'del(.linux.seccomp)'
}

@test "ISO-1: a filter that allows everything is no filter" {
	without seccomp '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["acct"], action: "SCMP_ACT_ERRNO"}]}'
}

@test "ISO-12: a bundle with a variable more than it lists executes nothing, and the value is not shown" {
	without environment '.process.env += ["TOKEN=s3cret"]'
	[[ $stderr == *TOKEN* ]]
	[[ $stderr != *s3cret* ]]
}

@test "init: it refuses unless it is PID 1 of a PID namespace" {
	# In a namespace of its own: if this were broken, all visible processes would be killed.
	run --separate-stderr unshare -Upfr --mount-proc sh -c '"$1" -- touch "$2"; echo "status $?"' sh \
		"$(dirname "$CUSTODY")/../libexec/custody/custody-init" "$CUSTODY_HOME/work/ran"
	assert_output_has 'status 125'
	assert_stderr_has 'not PID 1 of a PID namespace'
	[ ! -e ran ]
}

# terminal crun|runc: the bundle with a terminal of the runtime's making; $output is what the screen showed.
terminal() {
	jq '.process.terminal = true' "$BUNDLE/config.json" >"$CUSTODY_HOME/edited"
	cp "$CUSTODY_HOME/edited" "$BUNDLE/config.json"
	{
		echo '#!/bin/bash'
		declare -f runtime
		printf 'CUSTODY_AS=() CUSTODY_HOME=%q\nruntime %q run -b %q custody-test-tty-%d\n' "$CUSTODY_HOME" "$1" "$BUNDLE" $$
	} >"$CUSTODY_HOME/on-a-terminal"
	chmod +x "$CUSTODY_HOME/on-a-terminal"
	status=0
	# Not script(1): at the end of its own input it may leave before the command, with status 0.
	output=$(python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" -- "$CUSTODY_HOME/on-a-terminal" </dev/null) || status=$?
}

@test "init: under a foreign runtime with a terminal the payload's session controls it" {
	for runtime in crun runc; do
		bundle --profile "$CUSTODY_HOME/plain.json" -- sh -c 'test -t 0 && : </dev/tty && tty; ps -o stat= -p $$; exit 7'
		terminal "$runtime"
		runtime_settle
		assert_status 7
		assert_output_has /dev/pts/0
		# session leader, in the foreground; it may not have gone to sleep yet, and the suite may run at a lower priority
		grep -Eq '[SRD]N?s\+' <<<"$output"
	done
}

@test "ISO-13: the command does not change when init runs, by pid, group or user" {
	custody_run -- python3 -c 'import ctypes, os
def refused(call, *words):
    try:
        call(*words)
    except OSError as e:
        return e.errno == 1
    return False
libc = ctypes.CDLL(None, use_errno=True)
before = os.getpriority(os.PRIO_PROCESS, 1)
def ioprio(which, who):
    if libc.syscall(251, which, who, 3 << 13) < 0:
        raise OSError(ctypes.get_errno(), "")
print(all([refused(os.setpriority, os.PRIO_PROCESS, 1, 19), refused(os.setpriority, os.PRIO_PGRP, 1, 19),
    refused(os.setpriority, os.PRIO_USER, 0, 19), refused(os.sched_setscheduler, 1, os.SCHED_IDLE, os.sched_param(0)),
    refused(os.sched_setaffinity, 1, [0]), os.uname().machine != "x86_64" or refused(ioprio, 3, os.getuid())]),
    os.getpriority(os.PRIO_PROCESS, 1) == before)
os.setpriority(os.PRIO_PROCESS, 0, 19)
print(os.getpriority(os.PRIO_PROCESS, 0))'
	assert_status 0
	[ "$output" = $'True True\n19' ]
}
