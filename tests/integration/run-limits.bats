#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Limits are enforced, and the result names the limit.

load ../lib/suite.bash

setup() {
	suite_setup
	# A number of seconds that no other test sleeps for, here or in a suite next door.
	LONG=$((100000 + BASHPID))
}

teardown() {
	custody_teardown
}

@test "ISO-13: memory: over the limit is killed and reported as oom" {
	custody_run --memory 32M -- sh -c 'head -c 200M /dev/zero | tail >/dev/null; exit $?'
	[ "$status" -ne 0 ]
	assert_reason oom
	[ "$(custody_result .exit.source)" = cgroup ]
	assert_stderr_has limits.memory
	assert_layer memory-limit
}

@test "ISO-13: memory: within the limit is left alone" {
	custody_run --memory 256M -- sh -c 'head -c 32M /dev/zero | tail -c 1 >/dev/null'
	assert_status 0
	assert_reason exited
}

@test "ISO-13: pids: a fork that is refused is the reason when the command fails" {
	custody_run --pids-limit 6 -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait'
	[ "$status" -ne 0 ]
	assert_reason pids-limit
	assert_stderr_has limits.pids
}

@test "ISO-13: pids: a fork bomb ends with its run" {
	custody_run --pids-limit 40 --timeout 2 -- sh -c 'b() { b | b & }; b; sleep 60'
	[ "$status" -ne 0 ]
	[[ $(custody_result .exit.reason) == timeout || $(custody_result .exit.reason) == pids-limit ]]
}

@test "ISO-13: time: TERM first, 124" {
	custody_run --timeout 3 -- sh -c 'trap "echo terminated; exit 0" TERM; sleep 60 & wait'
	assert_status 124
	assert_reason timeout
	assert_output_has terminated
	[ "$(custody_result .exit.source)" = supervisor ]
}

@test "ISO-13: time: a command that ignores TERM is killed after the grace, with all children" {
	printf '{"schema":1,"name":"p","extends":"offline","limits":{"grace":"1s"}}' >"$CUSTODY_HOME/p.json"
	custody_run --profile "$CUSTODY_HOME/p.json" --timeout 1 -- sh -c 'trap "" TERM; (trap "" TERM; sleep $1) & sleep $1; sleep $1' sh "$LONG"
	assert_status 124
	assert_reason timeout
	[ -z "$(pgrep -f "sleep $LONG")" ]
}

@test "ISO-13: disk: too much written ends the run with 137" {
	printf '{"schema":1,"name":"p","extends":"offline","limits":{"disk":"8M"}}' >"$CUSTODY_HOME/p.json"
	custody_run --profile "$CUSTODY_HOME/p.json" -- sh -c 'i=0; while :; do head -c 1M /dev/zero >f$i || exit 1; i=$((i+1)); done'
	assert_status 137
	assert_reason disk-limit
	assert_stderr_has limits.disk
	assert_layer disk-limit
}

@test "ISO-13: disk: a single file over the limit is disk-limit too" {
	printf '{"schema":1,"name":"p","extends":"offline","limits":{"disk":"4M"}}' >"$CUSTODY_HOME/p.json"
	custody_run --profile "$CUSTODY_HOME/p.json" -- dd if=/dev/zero of=f bs=1M count=16
	assert_status 137
	assert_reason disk-limit
}

@test "ISO-13: disk: a burst that is over before the next check is found at the end" {
	printf '{"schema":1,"name":"p","extends":"offline","limits":{"disk":"4M"}}' >"$CUSTODY_HOME/p.json"
	custody_run --profile "$CUSTODY_HOME/p.json" -- sh -c 'for i in 1 2 3; do head -c 3M /dev/zero >f$i; done'
	assert_status 137
	assert_reason disk-limit
}

@test "ISO-13: disk: a tree too deep to be counted is depth-limit, and is not called too many bytes" {
	printf '{"schema":1,"name":"p","extends":"offline","limits":{"disk":"512M"}}' >"$CUSTODY_HOME/p.json"
	custody_run --profile "$CUSTODY_HOME/p.json" -- sh -c 'i=0; while [ $i -lt 300 ]; do mkdir d && cd d || exit 1; i=$((i+1)); done'
	assert_status 137
	assert_reason depth-limit
	[ "$(custody_result .exit.source)" = supervisor ]
	assert_stderr_has "more than 256 levels of directories"
	[[ "$stderr" != *bytes* ]]
}

@test "ISO-13: cpu: half a processor is half a processor" {
	local used
	custody_run --cpus 0.5 --timeout 2 -- sh -c 'trap "times; exit" TERM; while :; do :; done'
	assert_reason timeout
	assert_layer cpu-limit
	# "0m0.99s 0m0.00s": user and system time of two seconds.
	used=$(sed -n '1s/m.*//p' <<<"$output"):$(sed -n '1s/^[0-9]*m\([0-9]*\).*/\1/p' <<<"$output")
	[ "$used" = 0:0 ] || [ "$used" = 0:1 ]
}

@test "ISO-2: a call that the filter kills for is reason seccomp, 159" {
	suite_ungoverned # unshare is a privilege tool
	printf '{"schema":1,"name":"p","extends":"offline","seccomp":{"violation":"kill"}}' >"$CUSTODY_HOME/p.json"
	custody_run --profile "$CUSTODY_HOME/p.json" -- unshare -r true
	assert_status 159
	# The kernel limits how many such records it writes, and without one the signal is only a signal.
	if [ "$(custody_result .exit.reason)" = signaled ]; then
		! dmesg | tail -n 20 | grep -q 'type=1326.*comm="unshare".*sig=31' || custody_fail "the kernel has a record of it"
	else
		assert_reason seccomp
	fi
}
