#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# An ordinary user in a login session of a systemd host: refusals, and that the printed advice works.
# shellcheck disable=SC2016,SC2034,SC2154 # scripts for other shells; for the assertions; set by bats

load ../lib/suite.bash

setup() {
	[ "$(id -u)" -ne 0 ] || skip 'run by guest.sh, as a user'
	suite_setup_user
}
teardown() {
	custody_teardown
}

@test "login: the session's own cgroup has nothing to give: refused by name, nothing runs" {
	custody_run -- touch ran
	assert_status 125
	assert_stderr_has "'memory-limit'"
	assert_stderr_has 'systemd-run --user --scope -p Delegate=yes -- custody run'
	[ ! -e ran ]
}
@test "login: the command that the refusal prints works: every limit is proven" {
	run --separate-stderr systemd-run -q --user --scope -p Delegate=yes -- "$CUSTODY" run --json -- sh -c 'exit 5'
	assert_status 5
	CUSTODY_RESULT=${lines[-1]}
	assert_layer memory-limit
	assert_layer pids-limit
	assert_layer cpu-limit
	assert_layer cgroup-namespace
}
@test "login: in a delegated scope memory and pids limits hold" {
	run --separate-stderr systemd-run -q --user --scope -p Delegate=yes -- \
		"$CUSTODY" run --json --memory 32M -- sh -c 'head -c 200M /dev/zero | tail >/dev/null'
	CUSTODY_RESULT=${lines[-1]}
	assert_reason oom
	run --separate-stderr systemd-run -q --user --scope -p Delegate=yes -- \
		"$CUSTODY" run --json --pids-limit 6 -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 5 & done; wait'
	CUSTODY_RESULT=${lines[-1]}
	assert_reason pids-limit
}
@test "login: two runs at once in one delegated scope, one after the other in it" {
	run --separate-stderr systemd-run -q --user --scope -p Delegate=yes -- bash -c '
		"$CUSTODY" run -- true || exit 1
		"$CUSTODY" run -- sh -c "sleep 2; exit 3" & a=$!
		"$CUSTODY" run -- sh -c "sleep 2; exit 4" & b=$!
		wait $a; ra=$?; wait $b; echo $ra $?'
	echo "$output$stderr"
	[ "$output" = '3 4' ]
}
@test "login: a delegated scope is left as it was found" {
	run --separate-stderr systemd-run -q --user --scope -p Delegate=yes -- bash -c '
		dir=/sys/fs/cgroup$(sed s/0::// /proc/self/cgroup)
		"$CUSTODY" run -- true || exit 1
		find "$dir" -mindepth 1 -type d
		cat "$dir/cgroup.subtree_control"
		[ "/sys/fs/cgroup$(sed s/0::// /proc/self/cgroup)" = "$dir" ]'
	assert_status 0
	[ -z "$output" ]
}
@test "login: a killed supervisor's cgroup is gone after the next run in the scope" {
	run --separate-stderr systemd-run -q --user --scope -p Delegate=yes -- bash -c '
		dir=/sys/fs/cgroup$(sed s/0::// /proc/self/cgroup)
		mkfifo events
		"$CUSTODY" run --status-fd 5 -- sleep 1000 5>events >/dev/null 2>&1 </dev/null &
		grep -m1 started <events >/dev/null
		kill -9 $!
		wait $!
		"$CUSTODY" run -- true || exit 1
		find "$dir" -mindepth 1 -type d -name "custody-2*"'
	assert_status 0
	[ -z "$output" ]
}
@test "login: doctor reports the same" {
	run --separate-stderr "$CUSTODY" doctor --json
	jq -e 'any(.checks[]; .id == "HOST-CGROUP" and .state == "missing" and (.remedy | contains("--without memory-limit,pids-limit,cpu-limit")))' <<<"$output"
	run --separate-stderr systemd-run -q --user --scope -p Delegate=yes -- "$CUSTODY" doctor --json
	jq -e 'all(.checks[] | select(.id | test("^HOST-CGROUP|(MEMORY|PIDS|CPU)-LIMIT$")); .state == "ok")' <<<"$output" ||
		custody_fail "$(jq -c '.checks[] | select(.state != "ok")' <<<"$output")"
}
