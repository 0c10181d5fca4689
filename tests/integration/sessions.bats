#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# What ran and what runs: run -d, sessions, show, logs, stop.

load ../lib/suite.bash

setup() {
	suite_setup
	unset CUSTODY_LANE CUSTODY_ALLOW_PROD
	SESSIONS=$CUSTODY_ROOT/sandbox/sessions
	PIDS=()
}

teardown() {
	local id
	for id in "$CUSTODY_ROOT"/run/sessions/*; do
		id=${id##*/}
		custody stop "$id" --time 0 >/dev/null 2>&1 || custody stop "$id" --time 0 --lane prod >/dev/null 2>&1 || true
	done
	[ "${#PIDS[@]}" -eq 0 ] || kill "${PIDS[@]}" 2>/dev/null || true
	custody_teardown
}

custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

# asked STATUS WORDS...: without a terminal; $output and $stderr.
asked() {
	local want=${1#-} expect=()
	[ "$1" = "$want" ] || expect=("$1") # bats warns of 127 unless it is expected
	shift
	run "${expect[@]}" --separate-stderr "${CUSTODY_AS[@]}" setsid --wait "$CUSTODY" "$@" </dev/null
	assert_status "$want"
}

# detach [OPTIONS] -- CMD...: $ID.
detach() {
	asked 0 run -d "$@"
	ID=$output
	[[ $ID =~ ^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$ ]] || custody_fail "no id: '$ID'"
}

has_ended() { # ID
	[ "$(note "$1" .state)" = ended ] && [ ! -e "$CUSTODY_ROOT/run/sessions/$1" ]
}

note() { # ID FILTER
	jq -r "$2" "$SESSIONS/$1/session.json"
}

ended() { # ID: of its record
	custody ledger export --kind session.end --session "$1" 2>/dev/null | jq -r "${2:-'"\(.d.reason) \(.d.code)"'}"
}

logged() { # ID TEXT
	grep -qsF -- "$2" "$SESSIONS/$1/stdio.log"
}

is_gone() { # PID
	[ ! -e "/proc/$1/stat" ] || grep -q ') Z ' "/proc/$1/stat"
}

@test "run -d: prints the id once the command runs, and lets the caller go" {
	detach --name web --agent bob --worker w1 --issue 7 -- sh -c 'echo out; echo err >&2; cat; echo read; exec sleep 1000'
	wait_until logged "$ID" read
	[ "$(custody logs "$ID")" = $'out\nerr\nread' ]
	[ "$(note "$ID" '[.state, .name, .agent, .worker, .issue, .lane, .profile, .workspace, .detached] | join(" ")')" = \
		"running web bob w1 7 sandbox offline overlay true" ]
	[ "$(custody sessions --json | jq -r '.schema_version, .sessions[0].session, .sessions[0].state, (.sessions[0].pid > 0)' | paste -sd ' ')" = "1 $ID running true" ]
	asked 0 stop "$ID"
	[ "$output" = "$ID" ]
	[ "$(ended "$ID" '"\(.d.reason) \(.d.code)"')" = "operator 143" ]
	has_ended "$ID"
}

@test "run -d: the supervisor is in no session, terminal or pipe of its caller" {
	local pid
	# Everything that is inherited: a reader of the other end must see end of file when the caller exits.
	ID=$(setsid --wait "$CUSTODY" run -d -- sleep 1000 8>&1 </dev/null 3>&-)
	pid=$(note "$ID" .supervisor.pid)
	[ "$(readlink "/proc/$pid/fd/0" "/proc/$pid/fd/1" | sort -u)" = /dev/null ]
	[ "/proc/$pid/fd/2" -ef "$SESSIONS/$ID/stdio.log" ]
	[ "$(readlink "/proc/$pid"/fd/* | grep -c '^/dev/pts')" -eq 0 ]
	# Field 6 is its session, 7 its terminal.
	[ "$(sed 's/.*) //' "/proc/$pid/stat" | cut -d ' ' -f 4,5)" = "$pid 0" ]
}

@test "run -d: a caller's hang-up does not reach it" {
	# The whole process group of the caller is gone, as at a logout.
	ID=$(setsid --wait bash -c '"$0" run -d -- sh -c "echo up; exec sleep 1000"; trap "" HUP; kill -HUP 0' "$CUSTODY" </dev/null 3>&-)
	wait_until logged "$ID" up
	[ "$(custody sessions --json | jq -r '.sessions[].state')" = running ]
	asked 0 stop "$ID"
}

@test "run -d: a refusal is reported to the caller, with its status, and leaves nothing behind" {
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"rules":[{"effect":"ask","argv":["echo","ask"]},{"effect":"deny","argv":["echo","deny"],"why":"not here"}]}' >"$CUSTODY_ROOT/etc/custody.json"
	asked 113 run -d -- echo deny
	[ -z "$output" ]
	assert_stderr_has 'denied by policy'
	asked 114 run -d -- echo ask
	assert_stderr_has 'custody approve'
	asked 116 run -d --lane prod -- true
	asked 125 run -d --profile nowhere -- true
	asked -127 run -d -- /nowhere/at/all
	assert_stderr_has 'No such file'
	[ -z "$output" ]
	asked 126 run -d -- /etc/passwd
	asked 125 run -d -t -- true
	assert_stderr_has "cannot be used together"
	asked 125 shell -d
	[ -z "$(sessions_left)" ]
	# Those that were not even started are no sessions.
	[ "$(custody sessions --all --json | jq '[.sessions[].exit.code] | sort == [126, 127]')" = true ]
}

@test "run -d: approved before it detaches, and the grant is used up" {
	local request
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"rules":[{"effect":"ask","argv":["echo","ask"]}]}' >"$CUSTODY_ROOT/etc/custody.json"
	asked 114 run -d -- echo ask
	request=$(grep -oE 'custody approve [0-9a-f]{16}' <<<"$stderr" | head -n 1 | cut -d ' ' -f 3)
	custody approve "$request" --yes >/dev/null
	detach -- echo ask
	wait_until has_ended "$ID"
	[ "$(custody logs "$ID")" = ask ]
	asked 114 run -d -- echo ask
}

@test "run -d: --json, --result and --status-fd" {
	local id
	asked 0 run -d --json --result "$CUSTODY_HOME/r.json" -- sh -c 'exit 3'
	id=$(jq -r 'select(.schema_version == 1) | .session' <<<"$output")
	wait_until test -s "$CUSTODY_HOME/r.json"
	[ "$(jq -r '[.session, .exit.reason, .exit.code] | join(" ")' "$CUSTODY_HOME/r.json")" = "$id exited 3" ]
	wait_until has_ended "$id"
	[ "$(note "$id" '[.exit.reason, .exit.code, .exit.abnormal] | join(" ")')" = "exited 3 true" ]
	[ -d "$(note "$id" .evidence)" ]
	"$CUSTODY" run -d --status-fd 7 -- true 7>"$CUSTODY_HOME/events" </dev/null 3>&- >/dev/null
	wait_until grep -q exited "$CUSTODY_HOME/events"
	[ "$(jq -r .event "$CUSTODY_HOME/events" | paste -sd ' ')" = "created started exited" ]
	wait_until eval '[ -z "$(sessions_left)" ]'
}

@test "run -d: a signal to the waiting caller before the command runs ends the run" {
	# The caller waits for an approval that never comes.
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"rules":[{"effect":"ask","argv":["echo","ask"]}]}' >"$CUSTODY_ROOT/etc/custody.json"
	"$CUSTODY" run -d --wait -- echo ask >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" </dev/null 3>&- &
	local pid=$! rc=0
	wait_until eval '[ "$("$CUSTODY" pending --json | jq ".requests | length")" = 1 ]'
	kill -TERM "$pid"
	wait "$pid" || rc=$?
	[ "$rc" -eq 143 ]
	[ ! -s "$CUSTODY_HOME/out" ]
	[ -z "$(sessions_left)" ]
}

@test "ISO-7: a detached supervisor killed with -9 is lost, and recover reports it" {
	local pid
	detach -- sh -c 'echo new >new; echo ready; exec sleep 1000'
	wait_until logged "$ID" ready
	pid=$(note "$ID" .supervisor.pid)
	kill -9 "$pid"
	wait_until is_gone "$pid"
	[ "$(custody sessions --json | jq -r '.sessions[0].state')" = lost ]
	asked 1 stop "$ID"
	assert_stderr_has 'custody recover'
	asked 0 recover
	[ "$(note "$ID" '[.state, .exit.reason, .exit.code] | join(" ")')" = "ended lost 125" ]
	[ "$(custody logs "$ID")" = ready ]
	[ "$(custody show "$ID" --json | jq -r .session.evidence)" = "$CUSTODY_ROOT/forensics/$ID" ]
	[ "$(cat "$CUSTODY_ROOT/forensics/$ID/worktree/new")" = new ]
	[ -z "$(sessions_left)" ]
	custody ledger verify >/dev/null
}

@test "run -d: an ordinary user detaches, reads and stops as well" {
	custody_teardown
	suite_setup_user
	SESSIONS=$CUSTODY_ROOT/sandbox/sessions
	printf '{"schema":1,"name":"u","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' >"$CUSTODY_HOME/u.json"
	detach --profile "$CUSTODY_HOME/u.json" -- sh -c 'echo here; exec sleep 1000'
	wait_until logged "$ID" here
	[ "$(custody logs "$ID")" = here ]
	asked 0 stop "$ID"
	[ "$(note "$ID" '[.exit.reason, .exit.code, .rootless] | join(" ")')" = "operator 143 true" ]
	[ -z "$(sessions_left)" ]
}

@test "sessions: a run in the foreground is listed while it runs, and with --all after it" {
	mkfifo "$CUSTODY_HOME/ready"
	"$CUSTODY" run --name fore -- sh -c 'echo ready; exec sleep 1000' >"$CUSTODY_HOME/ready" 2>/dev/null </dev/null 3>&- &
	local pid=$! line rc=0
	read -r line <"$CUSTODY_HOME/ready"
	asked 0 sessions
	assert_output_has running
	assert_output_has 'fore '
	asked 1 logs fore
	assert_stderr_has 'was not detached'
	asked 0 stop fore
	wait "$pid" || rc=$?
	[ "$rc" -eq 143 ]
	asked 0 sessions
	[ -z "$output" ]
	assert_stderr_has --all
	asked 0 sessions --all
	assert_output_has 'operator 143'
}

@test "sessions: newest first, without doctor's own" {
	custody_run --name one -- true
	custody_run --name two -- true
	custody doctor >/dev/null 2>&1 || true
	[ "$(custody sessions --all --json | jq -r '.sessions[].name' | paste -sd ' ')" = "two one" ]
}

@test "sessions: secrets of the command line are not in the note" {
	custody_run -- echo --password=hunter2 --token hunter2
	assert_status 0
	run grep -r hunter2 "$CUSTODY_ROOT/sandbox"
	assert_status 1
	asked 0 sessions --all
	assert_output_has '[redacted]'
}

@test "sessions: control sequences are escaped" {
	custody_run --name $'\e]0;owned\a' --agent $'\e[2J' -- echo $'\e[31mred\u202e\r\n\tx' "it's"
	assert_status 0
	local id
	id=$(custody_result .session)
	for verb in 'sessions --all' "show $id"; do
		# shellcheck disable=SC2086 # words
		asked 0 $verb
		[[ $output != *[$'\e\r\t\a']* && $output != *$'\u202e'* ]] || custody_fail "$verb sends it"
		assert_output_has '\x1B[31mred'
	done
	[ "$(custody sessions --all --json | jq -r '.sessions[0].argv[1]')" = $'\e[31mred\u202e\r\n\tx' ]
}

@test "show: the note, the records and the evidence, as the ledger has them" {
	custody_run --name boom -- sh -c 'echo x >file; kill -9 $$'
	local id
	id=$(custody_result .session)
	asked 0 show "$id"
	assert_output_has "$CUSTODY_ROOT/forensics/$id"
	assert_output_has session.intent
	assert_output_has session.end
	asked 0 show boom --json
	[ "$(jq -r '[.schema_version, .session.session, .session.exit.reason, .session.changed, (.records | map(.k) | join(","))] | join(" ")' <<<"$output")" = \
		"1 $id signaled true session.intent,session.start,session.end" ]
	[ "$(jq -r .session.evidence <<<"$output")" = "$CUSTODY_ROOT/forensics/$id" ]
	# The record as it was hashed, byte for byte.
	grep -qF "$(tail -n 1 "$CUSTODY_ROOT/sandbox/ledger/00000000000000000000.ndjson")" <<<"$output"
}

@test "show: by prefix, by name, and never one of several" {
	local one two day
	custody_run --name same -- true
	one=$(custody_result .session)
	custody_run --name same -- true
	two=$(custody_result .session)
	day=${one%%T*}
	custody_run --name '' -- true
	for word in "$day" same ''; do
		asked 1 show "$word"
		[ -z "$output" ]
	done
	asked 1 show same
	assert_stderr_has "$one"
	assert_stderr_has "$two"
	# However much of the id two of them share.
	[ "$(custody show "$one" --json | jq -r .session.session)" = "$one" ]
	[ "$(custody show "${one%?}" --json | jq -r .session.session)" = "$one" ] || [ "${one%?}" = "${two%?}" ]
	asked 1 show unknown
	assert_stderr_has 'no session'
	for word in . .. / ../sessions "../sessions/$one" "$one/."; do
		asked 1 show "$word"
	done
	# A name that is given again is that of the one that lives.
	detach --name same -- sleep 1000
	[ "$(custody show same --json | jq -r .session.session)" = "$ID" ]
	asked 0 stop same
	[ "$output" = "$ID" ]
	asked 1 stop same
}

@test "sessions: usage errors" {
	for words in 'sessions x' 'sessions --bogus' 'show a b' 'show --all a' 'logs a b' 'logs --time 3 a' \
		'stop a b' 'stop a --time' 'stop a --time soon' 'stop a --time -1' 'stop a --time 99999999999'; do
		# shellcheck disable=SC2086 # words
		asked 64 $words
		[ -n "$stderr" ]
	done
	asked 1 stop unknown
	asked 1 logs unknown
	asked 1 show unknown
}

@test "LANE-6: the other lane's sessions are neither shown nor stopped" {
	local id pid
	id=$(CUSTODY_ALLOW_PROD=1 setsid --wait "$CUSTODY" run -d --lane prod --allow-prod --profile review --name there -- sleep 1000 </dev/null 3>&-)
	pid=$(jq -r .supervisor.pid "$CUSTODY_ROOT/prod/sessions/$id/session.json")
	asked 0 sessions --all --json
	[ "$(jq '.sessions | length' <<<"$output")" = 0 ]
	for verb in show logs stop; do
		asked 1 $verb "$id"
		asked 1 $verb there
	done
	[ -e "/proc/$pid" ]
	# Its note, copied, still belongs to the other lane.
	mkdir -p "$SESSIONS"
	cp -a "$CUSTODY_ROOT/prod/sessions/$id" "$SESSIONS/$id"
	asked 116 stop "$id"
	asked 116 show "$id"
	rm -r "${SESSIONS:?}/$id"
	[ -e "/proc/$pid" ]
	[ "$(custody sessions --lane prod --json | jq -r '.sessions[0].session')" = "$id" ]
	asked 0 stop there --lane prod
	[ "$(custody ledger export --lane prod --kind operator.stop 2>/dev/null | jq -r .session)" = "$id" ]
}

@test "logs: bounded, and the last output is kept" {
	detach -- sh -c 'i=0; while [ $i -lt 26 ]; do head -c 1000000 /dev/zero | tr "\0" a; echo; i=$((i + 1)); done; echo last'
	wait_until has_ended "$ID"
	[ "$(du -bc "$SESSIONS/$ID"/stdio.log* | tail -n 1 | cut -f 1)" -le 10485760 ]
	[ -e "$SESSIONS/$ID/stdio.log.1" ]
	custody logs "$ID" >"$CUSTODY_HOME/log"
	[ "$(tail -n 1 "$CUSTODY_HOME/log")" = last ]
	[ "$(stat -c %s "$CUSTODY_HOME/log")" -gt 5242880 ]
	[ "$(stat -c %a "$SESSIONS/$ID/stdio.log")" = 600 ]
	# Killed while it turned the log over: the older half is what there is.
	rm "$SESSIONS/$ID/stdio.log"
	[ "$(custody logs "$ID" | sha256sum)" = "$(sha256sum <"$SESSIONS/$ID/stdio.log.1")" ]
}

@test "logs -f: everything, until the session ends" {
	mkfifo "$CUSTODY_HOME/go"
	suite_channel "$CUSTODY_HOME/go"
	detach -p "$PROFILE" -v "$CUSTODY_HOME/go:/go:ro" -- sh -c 'echo first; read line </go; seq 20000; echo last'
	custody logs -f "$ID" >"$CUSTODY_HOME/log" 3>&- &
	local pid=$!
	wait_until grep -q first "$CUSTODY_HOME/log"
	echo >"$CUSTODY_HOME/go"
	wait "$pid"
	[ "$(sha256sum <"$CUSTODY_HOME/log")" = "$({ echo first && seq 20000 && echo last; } | sha256sum)" ]
	wait_until has_ended "$ID"
	# Of one that ended: all of it, at once.
	[ "$(custody logs -f "$ID" | sha256sum)" = "$(sha256sum <"$CUSTODY_HOME/log")" ]
}

@test "logs -f: exits when its reader is gone, and the session continues" {
	mkfifo "$CUSTODY_HOME/pipe"
	detach -- sh -c 'echo first; exec sleep 1000'
	custody logs -f "$ID" >"$CUSTODY_HOME/pipe" 3>&- &
	local pid=$! line
	exec 6<"$CUSTODY_HOME/pipe"
	read -r line <&6
	[ "$line" = first ]
	exec 6<&-
	wait "$pid"
	[ "$(custody sessions --json | jq -r '.sessions[0].state')" = running ]
}

@test "logs: a terminal gets no commands, a pipe gets the bytes" {
	detach -- printf 'a\033[2Jb\tc\nd\000e\n'
	wait_until has_ended "$ID"
	[ "$(custody logs "$ID" | od -An -c | tr -d ' \n')" = 'a033[2Jb\tc\nd\0e\n' ]
	run python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$CUSTODY" logs "$ID" </dev/null
	[[ $output == *'a\x1B[2Jb'* && $output == *'d\x00e'* ]]
	[[ $output != *$'\e[2J'* ]]
}

@test "stop: a stopped supervisor is named, with the commands that go on, and then the run stops" {
	local pid
	detach -- sh -c 'trap "exit 0" TERM; echo ready; while :; do sleep 0.05; done'
	wait_until logged "$ID" ready
	pid=$(note "$ID" .supervisor.pid)
	kill -STOP "$pid"
	custody stop "$ID" >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" 3>&- &
	PIDS+=($!)
	wait_until grep -q "supervisor $pid, which is stopped" "$CUSTODY_HOME/err"
	grep -q "kill -CONT $pid" "$CUSTODY_HOME/err"
	grep -q "custody recover" "$CUSTODY_HOME/err"
	kill -CONT "$pid"
	wait "${PIDS[0]}"
	[ "$(cat "$CUSTODY_HOME/out")" = "$ID" ]
	[ "$(ended "$ID" '"\(.d.reason) \(.d.code)"')" = "operator 143" ]
}

@test "stop: TERM, then the grace, then KILL" {
	# The shell prints which process got the signal.
	detach -- sh -c 'trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.05; done'
	wait_until logged "$ID" ready
	asked 0 stop "$ID" --json
	[ "$(jq -r '[.schema_version, .session.exit.reason, .session.exit.code] | join(" ")' <<<"$output")" = "1 operator 143" ]
	custody logs "$ID" | grep -qx bye
	detach -- sh -c 'trap "" TERM; echo ready; while :; do sleep 0.05; done'
	wait_until logged "$ID" ready
	asked 0 stop "$ID" --time 1
	[ "$(ended "$ID" '"\(.d.reason) \(.d.code)"')" = "operator 137" ]
	detach -- sh -c 'trap "" TERM; echo ready; while :; do sleep 0.05; done'
	wait_until logged "$ID" ready
	asked 0 stop "$ID" --time 0
	[ "$(ended "$ID" '"\(.d.reason) \(.d.code)"')" = "operator 137" ]
	# Who did it is on the record, in front of the end.
	[ "$(custody ledger export --session "$ID" 2>/dev/null | jq -r .k | tail -n 2 | paste -sd ' ')" = "operator.stop session.end" ]
	[ "$(custody ledger export --kind operator.stop --session "$ID" 2>/dev/null | jq -r .d.uid)" = "$(id -u)" ]
}

@test "stop: a plain TERM of another process is a cancellation, not an operator's stop" {
	detach -- sleep 1000
	kill -TERM "$(note "$ID" .supervisor.pid)"
	wait_until has_ended "$ID"
	[ "$(note "$ID" '[.exit.reason, .exit.code] | join(" ")')" = "cancelled 143" ]
}

@test "stop: a second one shortens the grace, and both wait for the end" {
	detach -- sh -c 'trap "" TERM; echo ready; while :; do sleep 0.05; done'
	wait_until logged "$ID" ready
	custody stop "$ID" --time 1000 >"$CUSTODY_HOME/one" 3>&- &
	local pid=$!
	wait_until eval '[ -n "$(custody ledger export --kind operator.stop 2>/dev/null)" ]'
	asked 0 stop "$ID" --time 0
	wait "$pid"
	[ "$(cat "$CUSTODY_HOME/one")" = "$ID" ]
	[ "$(custody ledger export --kind session.end --session "$ID" 2>/dev/null | wc -l)" -eq 1 ]
	custody ledger verify >/dev/null
}

@test "stop: two with the same grace, and one that comes as it ends" {
	local pids rc
	for _ in 1 2 3; do
		detach -- sh -c 'echo ready; exec sleep 1000'
		pids=()
		for _ in 1 2 3; do
			custody stop "$ID" >/dev/null 2>&1 3>&- &
			pids+=($!)
		done
		# Each one ended it, or found it ended.
		for pid in "${pids[@]}"; do
			rc=0
			wait "$pid" || rc=$?
			[ "$rc" -le 1 ] || custody_fail "stop ended with $rc"
		done
		has_ended "$ID"
		[ "$(ended "$ID" '"\(.d.reason) \(.d.code)"')" = "operator 143" ]
		detach -- true
		run --separate-stderr "$CUSTODY" stop "$ID"
		[ "$status" -le 1 ]
		wait_until has_ended "$ID"
	done
	custody ledger verify >/dev/null
}

# forge ID PID: a note that says that ID lives and PID is its supervisor, since when PID really started.
forge() {
	local start
	start=$(sed 's/.*) //' "/proc/$2/stat" | cut -d ' ' -f 20)
	chmod u+w "$SESSIONS/$1/session.json"
	jq -c --argjson pid "$2" --argjson start "$start" '.state = "running" | .supervisor.pid = $pid | .supervisor.start = $start' \
		"$SESSIONS/$1/session.json" >"$CUSTODY_HOME/forged"
	cat "$CUSTODY_HOME/forged" >"$SESSIONS/$1/session.json"
}

@test "stop: signals no process that only a note names" {
	local bystander holder start
	sleep 1000 3>&- &
	bystander=$!
	PIDS+=("$bystander")
	custody_run -- true
	ID=$(custody_result .session)
	# A reused pid: no process holds the session's lock.
	forge "$ID" "$bystander"
	asked 1 stop "$ID"
	assert_stderr_has 'custody recover'
	# The lock is held, but by another process.
	mkdir "$CUSTODY_ROOT/run/sessions/$ID"
	exec 6<"$CUSTODY_ROOT/run/sessions/$ID"
	flock -x 6
	[ "$(custody sessions --json | jq -r '.sessions[0].state')" = running ]
	asked 1 stop "$ID"
	# And even a holder is not signalled when its start is another's.
	sleep 1000 6<&6 3>&- &
	holder=$!
	PIDS+=("$holder")
	forge "$ID" "$holder"
	start=$(note "$ID" .supervisor.start)
	jq -c '.supervisor.start += 1' "$SESSIONS/$ID/session.json" >"$CUSTODY_HOME/forged"
	cat "$CUSTODY_HOME/forged" >"$SESSIONS/$ID/session.json"
	[ "$(note "$ID" .supervisor.start)" -eq $((start + 1)) ]
	asked 1 stop "$ID"
	exec 6<&-
	kill -0 "$bystander"
	kill -0 "$holder"
	[ -z "$(custody ledger export --kind operator.stop 2>/dev/null)" ]
	kill "$holder"
	wait "$holder" || true
	rmdir "$CUSTODY_ROOT/run/sessions/$ID"
	asked 0 recover
}

@test "sessions: a note that is garbage, a link or a FIFO stops nothing and hides no session" {
	local bad kind
	custody_run --name good -- true
	custody_run --name bad -- true
	bad=$(custody_result .session)
	for kind in garbage empty half link fifo directory huge; do
		rm -rf "$SESSIONS/$bad/session.json"
		case $kind in
		garbage) printf '\x00\xff{{{' >"$SESSIONS/$bad/session.json" ;;
		empty) : >"$SESSIONS/$bad/session.json" ;;
		half) echo '{"schema_version":1,"session":"' >"$SESSIONS/$bad/session.json" ;;
		link) ln -s /etc/passwd "$SESSIONS/$bad/session.json" ;;
		fifo) mkfifo "$SESSIONS/$bad/session.json" ;;
		directory) mkdir "$SESSIONS/$bad/session.json" ;;
		huge) head -c 2000000 /dev/zero >"$SESSIONS/$bad/session.json" ;;
		esac
		run --separate-stderr timeout 60 "$CUSTODY" sessions --all --json
		assert_status 0
		[ "$(jq -r '.sessions[].name' <<<"$output")" = good ]
		[ "$(jq -r '.unreadable | length' <<<"$output")" = 1 ]
		assert_stderr_has "$bad"
		for verb in show logs stop; do
			run --separate-stderr timeout 60 "$CUSTODY" $verb "$bad"
			assert_status 125
		done
	done
	# A later start does not keep an unreadable note.
	rm "$CUSTODY_ROOT/run/swept-sandbox"
	custody_run -- true
	assert_status 0
	[ ! -e "$SESSIONS/$bad" ]
	[ "$(custody show good --json | jq -r .session.name)" = good ]
}

@test "logs: a log that is a link or a FIFO is neither followed nor waited for" {
	detach -- echo text
	wait_until has_ended "$ID"
	rm "$SESSIONS/$ID/stdio.log"
	run timeout 60 "$CUSTODY" logs "$ID"
	assert_status 1
	ln -s /etc/passwd "$SESSIONS/$ID/stdio.log"
	run timeout 60 "$CUSTODY" logs "$ID"
	assert_status 125
	[[ $output != *root:* ]]
	rm "$SESSIONS/$ID/stdio.log"
	mkfifo "$SESSIONS/$ID/stdio.log"
	run timeout 60 "$CUSTODY" logs -f "$ID"
	assert_status 125
	rm "$SESSIONS/$ID/stdio.log"
}

@test "sessions: old ones are removed at a start, the newest stay" {
	local id
	custody_run --name now -- true
	id=$(custody_result .session)
	cp -a "$SESSIONS/$id" "$SESSIONS/20200101T000000Z-00000000"
	# Not at every start, but a minute later.
	custody_run -- true
	[ -e "$SESSIONS/20200101T000000Z-00000000" ]
	touch -d '2 minutes ago' "$CUSTODY_ROOT/run/swept-sandbox"
	custody_run -- true
	[ ! -e "$SESSIONS/20200101T000000Z-00000000" ]
	[ -e "$SESSIONS/$id/session.json" ]
}

@test "sessions: a disk that the payload filled: the note has how it ended, and nothing is left" {
	skip_without root # only root can mount
	local script='
		mount -t tmpfs -o size=3m tmpfs "$CUSTODY_ROOT" || exit 99
		"$CUSTODY" ledger init >/dev/null
		"$CUSTODY" run --name full -- sh -c "cat /dev/zero >fill; echo full >more; exit 3" >/dev/null 2>&1
		echo $?
		"$CUSTODY" sessions --all --json | jq -r ".sessions[] | \"\(.state) \(.exit.reason) \(.exit.code)\""
		find "$CUSTODY_ROOT/run/sessions" -mindepth 1
		find "$CUSTODY_ROOT/sandbox/sessions" -name w'
	run unshare -m sh -c "$script" sh
	assert_status 0
	[ "$output" = $'3\nended exited 3' ] || custody_fail "$output"
}
