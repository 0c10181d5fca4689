#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Signals to custody itself, and its sudden death.

load ../lib/suite.bash

setup() {
	suite_setup
	# A number of seconds that no other test sleeps for, here or in a suite next door.
	LONG=$((100000 + BASHPID))
}

teardown() {
	custody_teardown
}

gone() { # PATTERN
	! pgrep -f "$1" >/dev/null
}

# start NAME [OPTIONS] -- CMD: in the background; returns when the command runs.
start() {
	local name=$1
	shift
	mkfifo "$CUSTODY_HOME/$name.events"
	"$CUSTODY" run --status-fd 5 --result "$CUSTODY_HOME/$name.json" "$@" 5>"$CUSTODY_HOME/$name.events" \
		>"$CUSTODY_HOME/$name.out" 2>"$CUSTODY_HOME/$name.err" </dev/null 3>&- &
	PID=$!
	exec 6<"$CUSTODY_HOME/$name.events"
	grep -m1 '"started"' <&6 >/dev/null
}

# finish NAME: waits, then $status and $CUSTODY_RESULT are those of the run.
finish() {
	status=0
	wait "$PID" || status=$?
	exec 6<&-
	CUSTODY_RESULT=$(cat "$CUSTODY_HOME/$1.json")
}

@test "ROOT-7: INT, TERM and HUP end the command: cancelled, 128 and the signal" {
	local sig
	for sig in INT:130 TERM:143 HUP:129; do
		start "${sig%:*}" -- sleep "$LONG"
		kill "-${sig%:*}" "$PID"
		finish "${sig%:*}"
		assert_status "${sig#*:}"
		assert_reason cancelled
		[ -z "$(pgrep -f "sleep $LONG")" ]
	done
}

@test "ROOT-7: who does not listen is killed after the grace, with the whole tree" {
	printf '{"schema":1,"name":"p","extends":"offline","limits":{"grace":"1s"}}' >"$CUSTODY_HOME/p.json"
	start deaf --profile "$CUSTODY_HOME/p.json" -- sh -c 'trap "" TERM INT HUP; (setsid sleep $1 &); echo ready; sleep $1; sleep $1; sleep $1' sh "$LONG"
	wait_until grep -q ready "$CUSTODY_HOME/deaf.out"
	kill -TERM "$PID"
	finish deaf
	assert_status 143
	assert_reason cancelled
	[ -z "$(pgrep -f "sleep $LONG")" ]
}

@test "ROOT-7: a second signal does not wait for the grace" {
	start twice -- sh -c 'trap "" TERM; echo ready; sleep $1; sleep $1; sleep $1' sh "$LONG"
	wait_until grep -q ready "$CUSTODY_HOME/twice.out"
	SECONDS=0
	kill -TERM "$PID"
	# Until the first one was taken, the two would be one.
	wait_until sh -c "! grep -q '^ShdPnd:.*4...$' /proc/$PID/status"
	kill -TERM "$PID"
	finish twice
	assert_status 143
	[ "$SECONDS" -lt 4 ]
}

@test "ROOT-7: a command may end in its own way: the reason stays cancelled" {
	start own -- sh -c 'trap "echo bye; exit 0" TERM; echo ready; sleep 100 & wait'
	wait_until grep -q ready "$CUSTODY_HOME/own.out"
	kill -TERM "$PID"
	finish own
	assert_status 143
	assert_reason cancelled
	grep -q bye "$CUSTODY_HOME/own.out"
}

@test "run: HUP under nohup is ignored" {
	trap '' HUP
	start nohup -- sh -c 'sleep 0.5; exit 4'
	trap - HUP
	kill -HUP "$PID"
	finish nohup
	assert_status 4
	assert_reason exited
}

@test "ISO-7: the supervisor killed with -9 takes the container along, the next start cleans up" {
	start gone -- sh -c 'setsid sleep $1 & exec sleep $1' sh "$LONG"
	local session
	session=$(ls "$CUSTODY_ROOT/run/sessions")
	[ -n "$session" ]
	kill -9 "$PID"
	wait "$PID" || true
	exec 6<&-
	wait_until gone "sleep $LONG"
	[ -d "$CUSTODY_ROOT/run/sessions/$session" ]
	custody_run -- true
	assert_status 0
	[ -z "$(ls -A "$CUSTODY_ROOT/run/sessions")" ]
	[ -z "$(ls -A "$CUSTODY_ROOT/sandbox/sessions")" ]
	[ -z "$(find /sys/fs/cgroup -name "custody-$session")" ]
}

@test "ISO-7: killed with -9 at any moment, nothing stays after the next start" {
	local i
	for i in $(seq 30); do
		"$CUSTODY" run -- sleep "$LONG" >/dev/null 2>&1 </dev/null 3>&- &
		# Some moment between the first instruction and a running command.
		timeout "0.$(printf %03d $((i * 2)))" tail --pid=$! -f /dev/null || true
		kill -9 $! 2>/dev/null || true
		wait $! 2>/dev/null || true
	done
	custody_run -- true
	assert_status 0
	wait_until gone "sleep $LONG"
	[ -z "$(ls -A "$CUSTODY_ROOT/run/sessions")" ]
	[ -z "$(ls -A "$CUSTODY_ROOT/sandbox/sessions")" ]
}

@test "ISO-7: a session that lives is not swept" {
	start alive -- sleep "$LONG"
	custody_run -- true
	assert_status 0
	[ -n "$(ls "$CUSTODY_ROOT/run/sessions")" ]
	pgrep -f "sleep $LONG" >/dev/null
	kill -TERM "$PID"
	finish alive
	assert_reason cancelled
}

@test "ISO-4: an init that is killed from outside is lost, not a status of the command" {
	start lost -- sleep "$LONG"
	kill -9 "$(pgrep -f "custody/init.*sleep $LONG")"
	finish lost
	assert_status 125
	assert_reason lost
}

@test "run: 100 at once, none fails" {
	local i bad=0 pids=()
	for i in $(seq 100); do
		"$CUSTODY" run -- sh -c "exit $((i % 50))" >"$CUSTODY_HOME/$i.out" 2>&1 </dev/null 3>&- &
		pids+=($!)
	done
	for i in $(seq 100); do
		local rc=0
		wait "${pids[i - 1]}" || rc=$?
		[ "$rc" -eq $((i % 50)) ] || { bad=1 && echo "run $i: $rc" && cat "$CUSTODY_HOME/$i.out"; }
	done
	[ "$bad" -eq 0 ]
	[ -z "$(ls -A "$CUSTODY_ROOT/run/sessions")" ]
}
