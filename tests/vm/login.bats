#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# An ordinary user in a login session of a systemd host: every limit holds, through a scope that the user's systemd gives.
# shellcheck disable=SC2016,SC2034,SC2154 # scripts for other shells; for the assertions; set by bats

load ../lib/suite.bash

setup() {
	[ "$(id -u)" -ne 0 ] || skip 'run by guest.sh, as a user'
	suite_setup_user
}
teardown() {
	[ -z "${STOPPED:-}" ] || kill -CONT "$STOPPED"
	custody_teardown
}

assert_limits() {
	assert_layer memory-limit && assert_layer pids-limit && assert_layer cpu-limit && assert_layer cgroup-namespace
}
scopes() { # of runs that systemd or the kernel still knows
	systemctl --user list-units --all --no-legend 'custody-*.scope'
	find "/sys/fs/cgroup/user.slice/user-$(id -u).slice" -name 'custody-*'
}
no_scopes() {
	[ -z "$(scopes)" ]
}
own_cgroup() { # [PID]
	sed s/0::// "/proc/${1:-self}/cgroup"
}
session_cgroup() { # ID
	cat "$CUSTODY_ROOT/run/sessions/$1/cgroup"
}
# detached WORDS...: a session in the background; ID and SUPERVISOR.
detached() {
	ID=$("${CUSTODY_AS[@]}" "$CUSTODY" run -d "$@" 3>&-)
	SUPERVISOR=$("${CUSTODY_AS[@]}" "$CUSTODY" sessions --json | jq -r --arg id "$ID" '.. | objects | select(.session? == $id) | .pid')
}

@test "PLAT-3: straight from a login session every limit is proven; no scope stays" {
	[[ $(own_cgroup) == */session-*.scope ]] || custody_fail "not a login session: $(own_cgroup)"
	custody_run -- sh -c 'exit 5'
	assert_status 5
	assert_limits
	[ -z "$stderr" ]
	wait_until no_scopes
}
@test "PLAT-3: the limits hold: memory and pids" {
	custody_run --memory 32M -- sh -c 'head -c 200M /dev/zero | tail >/dev/null'
	assert_reason oom
	custody_run --pids-limit 6 -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 5 & done; wait'
	assert_reason pids-limit
	wait_until no_scopes
}
@test "PLAT-3: without XDG_RUNTIME_DIR, and with another user's, the same" {
	local dir
	for dir in '' /run/user/0 /; do
		run --separate-stderr "${CUSTODY_AS[@]}" XDG_RUNTIME_DIR="$dir" DBUS_SESSION_BUS_ADDRESS=unixexec:path=/bin/false \
			"$CUSTODY" run --json -- true
		assert_status 0
		CUSTODY_RESULT=${lines[-1]}
		assert_limits
	done
}
@test "PLAT-3: of a run only its command and the holder are in the scope; the description has the session" {
	local scope
	detached -- sleep 1000
	scope=$(session_cgroup "$ID")
	[[ $scope == */custody-$ID.scope/custody-$ID ]]
	scope=${scope%/*}
	[ -z "$(cat "$scope/cgroup.procs")" ]
	[ "$(cat "$scope"/*/cgroup.procs | wc -l)" -eq "$(($(wc -l <"$scope/custody-$ID/cgroup.procs") + 1))" ]
	[ "$(cat /proc/"$(cat "$scope/custody-holder/cgroup.procs")"/comm)" = custody-scope ]
	[ "$(own_cgroup "$SUPERVISOR")" = "$(own_cgroup)" ]
	systemctl --user show -p Description "custody-$ID.scope" | grep -qF "$ID"
	# A further command joins, and is limited with it.
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" exec "$ID" -- cat /proc/self/cgroup
	assert_status 0
	[ "$output" = 0::/ ]
	"${CUSTODY_AS[@]}" "$CUSTODY" stop "$ID"
	wait_until no_scopes
}
@test "PLAT-3: the scope ends by itself when the supervisor is killed with -9" {
	detached -- sleep 1000
	[ -n "$(scopes)" ]
	kill -9 "$SUPERVISOR"
	wait_until no_scopes
	# Its directories are left to the next start.
	custody_run -- true
	assert_status 0
}
@test "PLAT-3: systemd stops the scope: the command ends, and the run has its result" {
	detached -- sleep 1000
	systemctl --user stop "custody-$ID.scope"
	custody_is_over "$CUSTODY_ROOT/sandbox/sessions/$ID" || wait_until custody_is_over "$CUSTODY_ROOT/sandbox/sessions/$ID"
	wait_until no_scopes
}
@test "PLAT-3: runs at once have a scope each, and the limits of one outlive the other" {
	local first dir
	detached -- sleep 1000
	first=$ID dir=$(session_cgroup "$ID")
	custody_run -- true
	assert_status 0
	assert_limits
	detached --memory 64M -- sleep 1000
	"${CUSTODY_AS[@]}" "$CUSTODY" stop "$first"
	dir=$(session_cgroup "$ID")
	[ "$(cat "$dir/memory.max")" = $((64 << 20)) ]
	[ -e "$dir/cpu.max" ]
	"${CUSTODY_AS[@]}" "$CUSTODY" stop "$ID"
	wait_until no_scopes
}
@test "PLAT-3: in a delegated scope no other one is asked for" {
	run --separate-stderr systemd-run -q --user --scope -p Delegate=yes -- "$CUSTODY" run --json --status-fd 2 -- sleep 2
	assert_status 0
	CUSTODY_RESULT=${lines[-1]}
	assert_limits
	[ -z "$(journalctl --user -q -b -o cat 2>/dev/null | grep -F "$(custody_result .session).scope")" ]
	run --separate-stderr systemd-run -q --user --scope -p Delegate=yes -- bash -c '
		id=$("$CUSTODY" run -d -- sleep 1000) && cat "$CUSTODY_ROOT/run/sessions/$id/cgroup" && "$CUSTODY" stop "$id"'
	assert_status 0
	[[ ${lines[0]} == */custody-* && ${lines[0]} != *custody-*.scope/* ]]
}
@test "PLAT-3: a systemd that hangs: refused after a bounded time, by name, and nothing runs" {
	STOPPED=$(systemctl show -P MainPID "user@$(id -u).service")
	kill -STOP "$STOPPED"
	custody_run -- touch ran
	assert_status 125
	assert_stderr_has "'memory-limit'"
	assert_stderr_has 'did not answer within 5 seconds'
	[ ! -e ran ]
	# systemd continues: the request that timed out makes no scope later.
	kill -CONT "$STOPPED"
	STOPPED=''
	systemctl --user list-units >/dev/null
	wait_until no_scopes
}
@test "login: in a delegated scope memory and pids limits hold" {
	run --separate-stderr systemd-run -q --user --scope -p Delegate=yes -- \
		"$CUSTODY" run --json --memory 32M -- sh -c 'head -c 200M /dev/zero | tail >/dev/null'
	CUSTODY_RESULT=${lines[-1]}
	assert_reason oom
	assert_limits
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
	[ -z "$output" ] || custody_fail 'the scope is not as it was'
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
@test "login: doctor reports the limits as available, in the session and in a delegated scope" {
	local before=()
	for before in '' 'systemd-run -q --user --scope -p Delegate=yes --'; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr $before "$CUSTODY" doctor --json
		jq -e 'all(.checks[] | select(.id | test("^HOST-CGROUP|(MEMORY|PIDS|CPU)-LIMIT$")); .state == "ok")' <<<"$output" ||
			custody_fail "$(jq -c '.checks[] | select(.state != "ok")' <<<"$output")"
	done
}
