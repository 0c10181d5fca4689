#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Signals to custody itself, and its sudden death.

load ../lib/suite.bash

setup() {
	suite_setup
}

teardown() {
	custody_teardown
}

# Processes are known by their ids and start times, never by their command lines: another suite may run the same.
# members PID: every process below PID as "pid start-time", one a line.
members() {
	local pid queue=("$1") stat
	while [ ${#queue[@]} -gt 0 ]; do
		pid=${queue[0]}
		queue=("${queue[@]:1}")
		for pid in $(cat "/proc/$pid/task/"*/children 2>/dev/null); do
			stat=$(cat "/proc/$pid/stat" 2>/dev/null) || continue
			stat=${stat##*) }
			read -ra stat <<<"$stat"
			echo "$pid ${stat[19]}"
			queue+=("$pid")
		done
	done
}
# all_gone LIST: none of these processes is there any more; a zombie is gone.
all_gone() {
	local pid start stat
	while read -r pid start; do
		[ -n "$pid" ] || continue
		stat=$(cat "/proc/$pid/stat" 2>/dev/null) || continue
		read -ra stat <<<"${stat##*) }"
		[ "${stat[19]}" != "$start" ] || [ "${stat[0]}" = Z ] || return 1
	done <<<"$1"
}
# in_container: those of $PID that are in another pid namespace, that is all but the supervisor's own helpers.
in_container() {
	local pid start
	members "$PID" | while read -r pid start; do
		[ "$(readlink "/proc/$pid/ns/pid")" = "$(readlink /proc/self/ns/pid)" ] || echo "$pid $start"
	done
}
# until_members N: the container has that many processes; they are in $MEMBERS.
until_members() {
	wait_until has_members "$1"
	MEMBERS=$(in_container)
}
has_members() {
	[ "$(in_container | wc -l)" -ge "$1" ]
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
		start "${sig%:*}" -- sleep 1000
		until_members 2
		kill "-${sig%:*}" "$PID"
		finish "${sig%:*}"
		assert_status "${sig#*:}"
		assert_reason cancelled
		all_gone "$MEMBERS"
	done
}

@test "ROOT-7: a command that ignores TERM is killed after the grace, with its process tree" {
	printf '{"schema":1,"name":"p","extends":"offline","limits":{"grace":"1s"}}' >"$CUSTODY_HOME/p.json"
	start deaf --profile "$CUSTODY_HOME/p.json" -- sh -c 'trap "" TERM INT HUP; (setsid sleep 1000 &); echo ready; sleep 1000; sleep 1000; sleep 1000'
	wait_until grep -q ready "$CUSTODY_HOME/deaf.out"
	until_members 4
	kill -TERM "$PID"
	finish deaf
	assert_status 143
	assert_reason cancelled
	all_gone "$MEMBERS"
}

@test "ROOT-7: a second signal does not wait for the grace" {
	# The wait is shorter than that.
	printf '{"schema":1,"name":"p","extends":"offline","limits":{"grace":"3600s"}}' >"$CUSTODY_HOME/p.json"
	"$CUSTODY" profile trust "$CUSTODY_HOME/p.json"
	start twice --profile "$CUSTODY_HOME/p.json" -- sh -c 'trap "" TERM; echo ready; sleep 1000; sleep 1000; sleep 1000'
	wait_until grep -q ready "$CUSTODY_HOME/twice.out"
	kill -TERM "$PID"
	# Until the first one was taken, the two would be one.
	wait_until sh -c "! grep -q '^ShdPnd:.*4...$' /proc/$PID/status"
	kill -TERM "$PID"
	finish twice
	assert_status 143
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
	mkfifo "$CUSTODY_HOME/go"
	suite_channel "$CUSTODY_HOME/go"
	trap '' HUP
	start nohup -p "$PROFILE" -v "$CUSTODY_HOME/go:/go:ro" -- sh -c 'read -r line </go; exit 4'
	trap - HUP
	kill -HUP "$PID"
	echo >"$CUSTODY_HOME/go"
	finish nohup
	assert_status 4
	assert_reason exited
}

@test "ROOT-7: HUP, INT or TERM at any step: nothing is left, and no next start is needed for that" {
	local sig call n rc all=0
	custody_run -- true
	for sig in HUP:129 INT:130 TERM:143; do
		# The n-th call of each kind: as far as there are so many.  Without -f only the supervisor is meant.
		for call in mkdirat mkdir flock fsync fdatasync openat unlinkat rmdir socketpair clone,clone3 sendmsg,sendto poll; do
			for n in $(seq 12 | sample 2); do
				rc=0
				env --default-signal=INT strace -qq -o "$CUSTODY_HOME/trace" -e "trace=$call" \
					-e "inject=$call:signal=${sig%:*}:when=$n" "$CUSTODY" run --result "$CUSTODY_HOME/r.json" -- true \
					>"$CUSTODY_HOME/out" 2>&1 </dev/null 3>&- || rc=$?
				if [ "$rc" -ne 0 ]; then
					all=$((all + 1))
					[ "$rc" -eq "${sig#*:}" ] || { echo "$sig at $call $n: $rc" && cat "$CUSTODY_HOME/out" && return 1; }
				fi
				[ -z "$(sessions_left)" ] ||
					{ echo "$sig at $call $n: a session is left" && return 1; }
			done
		done
	done
	echo "$all signals came in time"
	[ "$all" -gt 10 ]
	# Each recorded start has its recorded end.
	"$CUSTODY" ledger verify
}

@test "ISO-7: the supervisor killed with -9: its container dies with it, the next start cleans up" {
	start gone -- sh -c 'setsid sleep 1000 & exec sleep 1000'
	until_members 3
	local session
	session=$(ls "$CUSTODY_ROOT/run/sessions")
	[ -n "$session" ]
	kill -9 "$PID"
	wait "$PID" || true
	exec 6<&-
	wait_until all_gone "$MEMBERS"
	[ -d "$CUSTODY_ROOT/run/sessions/$session" ]
	custody_run -- true
	assert_status 0
	[ -z "$(ls -A "$CUSTODY_ROOT/run/sessions")" ]
	[ -z "$(sessions_left)" ]
	[ -z "$(find /sys/fs/cgroup -name "custody-$session")" ]
}

@test "ISO-7: killed with -9 at any moment, nothing stays after the next start" {
	local i all=''
	for i in $(seq 30); do
		"$CUSTODY" run -- sleep 1000 >/dev/null 2>&1 </dev/null 3>&- &
		PID=$!
		# Some moment between the first instruction and a running command.
		timeout "0.$(printf %03d $((i * 2)))" tail --pid=$PID -f /dev/null || true
		# Nothing is made any more while the list is taken.
		kill -STOP $PID 2>/dev/null || true
		all+=$(members $PID)$'\n'
		kill -9 $PID 2>/dev/null || true
		wait $PID 2>/dev/null || true
	done
	custody_run -- true
	assert_status 0
	wait_until all_gone "$all"
	[ -z "$(ls -A "$CUSTODY_ROOT/run/sessions")" ]
	[ -z "$(sessions_left)" ]
}

@test "ISO-7: a session that lives is not swept" {
	start alive -- sleep 1000
	until_members 2
	custody_run -- true
	assert_status 0
	[ -n "$(ls "$CUSTODY_ROOT/run/sessions")" ]
	[ "$(in_container)" = "$MEMBERS" ]
	kill -TERM "$PID"
	finish alive
	assert_reason cancelled
}

@test "ISO-4: an init that is killed from outside is lost, not a status of the command" {
	start lost -- sleep 1000
	until_members 2
	# The first one is the supervisor's child; the others are below it.
	kill -9 "$(sed -n '1s/ .*//p' <<<"$MEMBERS")"
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
