#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# `custody exec`: a command in a running session, with the same layers, judged and recorded as a subject of its own.

load ../lib/suite.bash
load ../lib/approval.bash

setup() {
	approval_setup
	unset CUSTODY_LANE CUSTODY_ALLOW_PROD
	PIDS=()
}

teardown() {
	local id
	for id in "$CUSTODY_ROOT"/run/sessions/*; do
		custody stop "${id##*/}" --time 0 >/dev/null 2>&1 || true
	done
	[ "${#PIDS[@]}" -eq 0 ] || kill -9 "${PIDS[@]}" 2>/dev/null || true
	custody_teardown
}

# as_user: from here on an ordinary user.
as_user() {
	custody_teardown
	approval_setup_user
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

# session [OPTIONS] [-- CMD...]: $ID, a detached run.
session() {
	[[ " $* " == *" -- "* ]] || set -- "$@" -- sleep 1000
	asked 0 run -d --profile "${PROFILE:-offline}" "$@"
	ID=$output
	[[ $ID =~ ^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$ ]] || custody_fail "no id: '$ID'"
}

# A host may have no cgroup for an ordinary user.
weak_profile() {
	suite_profile weak '{"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
	[ "${#CUSTODY_AS[@]}" -eq 0 ] || [ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$PROFILE"
}

logged() { # TEXT
	custody logs "$ID" | grep -qF -- "$1"
}

# ledger FILTER [OPTIONS]: records as jq -r prints them.
ledger() {
	custody ledger export "${@:2}" 2>/dev/null | jq -r "$1"
}

kinds() {
	ledger .k --kind 'exec.*' | paste -sd ' '
}

note() { # FILTER
	jq -r "$1" "$CUSTODY_ROOT/sandbox/sessions/$ID/session.json"
}

# processes PATTERN: how many processes of the session have it in their command line.
processes() {
	local pid n=0 init
	init=$(ledger .d.pid --kind session.start --session "$ID")
	for pid in $(pgrep -f -- "$1"); do
		[ "$(readlink "/proc/$pid/ns/pid")" != "$(readlink "/proc/$init/ns/pid")" ] || n=$((n + 1))
	done
	echo "$n"
}

is_gone() { # PATTERN
	[ "$(processes "$1")" -eq 0 ]
}

# Everything that a process can see of its confinement, one line each.
FACTS='for ns in user pid mnt net ipc uts cgroup; do readlink /proc/self/ns/$ns; done
	cat /proc/self/uid_map /proc/self/gid_map /proc/self/cgroup
	grep -E "^(Uid|Gid|Groups|Umask|Cap|NoNewPrivs|Seccomp|SigBlk|SigIgn)" /proc/self/status
	cat /proc/self/mountinfo /proc/self/limits /proc/self/oom_score_adj
	pwd; env | grep -v ^_= | sort; readlink /proc/self/root; echo $(ls /proc/self/fd)'

same_layers() {
	weak_profile
	session -e COLOR=blue -- sh -c "$FACTS"'; echo complete; exec sleep 1000'
	wait_until logged complete
	custody logs "$ID" | sed '/^complete$/,$d' >"$CUSTODY_HOME/first"
	asked 0 exec "$ID" -- sh -c "$FACTS"
	diff "$CUSTODY_HOME/first" <(printf '%s\n' "$output")
	grep -qx 'NoNewPrivs:	1' <<<"$output"
	grep -qx 'Seccomp:	2' <<<"$output"
	grep -qx 'CapBnd:	0000000000000000' <<<"$output"
	grep -qx 'COLOR=blue' <<<"$output"
	# 3 is the directory that ls itself reads.
	[ "$(tail -n 1 <<<"$output")" = '0 1 2 3' ]
}

@test "GOV-15: exec: the command has every layer of the session" {
	same_layers
}

@test "GOV-15: exec: the command has every layer of the session, as a user" {
	as_user
	same_layers
}

@test "GOV-15: exec: the filter is the session's own, and forbids the same calls" {
	session
	asked 0 exec "$ID" -- python3 -c '
import ctypes, errno, os
c = ctypes.CDLL(None, use_errno=True)
print(c.unshare(0x10000000), errno.errorcode[ctypes.get_errno()])
print(open("/proc/self/status").read().split("Seccomp_filters:")[1].split()[0])'
	# That of the runtime, and the one that observes.
	[ "$output" = $'-1 EPERM\n2' ]
}

@test "exec: stdin, stdout, stderr and the exit status are those of the command" {
	session
	status=0
	printf 'in\nmore\n' | custody exec "$ID" -- sh -c 'read a; echo "out $a"; echo err >&2; exit 7' \
		>"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" || status=$?
	[ "$status" -eq 7 ]
	[ "$(cat "$CUSTODY_HOME/out")" = "out in" ]
	[ "$(cat "$CUSTODY_HOME/err")" = err ]
	# Opened by name again: the pipe belongs to the command.
	asked 0 exec "$ID" -- sh -c 'echo again >/dev/stdout'
	[ "$output" = again ]
	asked 143 exec "$ID" -- sh -c 'kill -TERM $$'
	asked -127 exec "$ID" -- no-such-program
	assert_stderr_has "cannot execute 'no-such-program' inside"
	asked -126 exec "$ID" -- /etc/passwd
	# The options of the command are not ours.
	asked 0 exec "$ID" echo -q --json
	[ "$output" = "-q --json" ]
}

@test "exec: variables are the session's, and -e changes them" {
	session -e A=run -e B=run
	CUSTODY_AS=(env A=caller C=caller D=caller)
	asked 0 exec -e B=exec -e D "$ID" -- sh -c 'echo "$A $B ${C-none} $D"'
	[ "$output" = "run exec none caller" ]
}

@test "exec: the directory is the session's, or -w" {
	mkdir -p sub/deep
	session
	asked 0 exec "$ID" -- pwd
	[ "$output" = "$PWD" ]
	asked 0 exec -w sub/deep "$ID" -- pwd
	[ "$output" = "$PWD/sub/deep" ]
	asked 125 exec -w /proc/1 "$ID" -- touch "$PWD/ran"
	assert_stderr_has "is below /proc"
	asked 125 exec -w none "$ID" -- touch "$PWD/ran"
	assert_stderr_has "layer 'working-directory' is missing: cannot enter"
	asked 0 exec "$ID" -- ls
	[ "$output" = sub ]
}

@test "exec: changes are the session's, and are reviewed with it" {
	session
	asked 0 exec last -- sh -c 'echo new >made-by-exec'
	[ ! -e made-by-exec ]
	asked 0 stop "$ID"
	asked 0 diff --stat "$ID"
	assert_output_has made-by-exec
}

every_kind_of_session() {
	local top=$PWD
	weak_profile
	# Its own files, and those of the session that it continues.
	asked 0 run --profile "$PROFILE" -- sh -c 'printf "#!/bin/sh\necho tool\n" >tool; chmod 755 tool; echo secret >.env'
	session --continue --home keep
	asked 0 exec "$ID" -- sh -c 'pwd; ./tool; cat .env; echo kept >~/note; rm tool'
	[ "$output" = "$PWD
tool" ]
	asked 0 diff "$ID"
	[[ $output != *b/tool* ]] || custody_fail 'the sum shows a file that exec removed'
	asked 0 stop "$ID"
	asked 0 run --profile "$PROFILE" --home keep -- sh -c 'cat ~/note'
	[ "$output" = kept ]
	asked 0 discard --all --yes
	# Policy judges a kept home as before.
	session --home keep
	asked 114 exec "$ID" -- sh -c 'rm -rf ~/*'
	asked 0 stop "$ID"
	session --sandbox box
	asked 0 exec "$ID" -- echo root
	[ "$output" = root ]
	asked 0 stop "$ID"
	"${CUSTODY_AS[@]}" git init -q main
	"${CUSTODY_AS[@]}" git -C main -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
	"${CUSTODY_AS[@]}" git -C main worktree add -q ../linked
	cd linked || return
	session
	asked 0 exec "$ID" -- git log --format=%s
	[ "$output" = first ]
	asked 0 stop "$ID"
	cd "$top" || return
}

@test "GOV-15: exec: also in a session that continues another, keeps a home, has a root or a repository" {
	every_kind_of_session
	as_user
	every_kind_of_session
}

@test "exec: a session by name, prefix, '-' and last; none runs: refused" {
	session --name web
	asked 0 exec web -- true
	asked 0 exec "${ID%????}" -- true
	asked 0 exec - -- true
	assert_stderr_has "run the command in session $ID"
	asked 0 exec -q last true
	[ -z "$stderr" ]
	asked 0 stop web
	asked 125 exec web -- true
	assert_stderr_has "has ended"
	asked 125 exec last -- true
	asked 125 exec no-such -- true
	asked 125 exec web
	assert_stderr_has "missing argument"
	[ "$(ledger .d.refused --kind exec.refused)" = session ]
}

judged() {
	weak_profile
	session
	asked 114 exec "$ID" -- sh -c 'rm -rf *'
	assert_stderr_has "level C"
	[ "$(kinds)" = exec.refused ]
	asked 114 exec "$ID" -- echo ask
	assert_stderr_has "custody approve"
	[ -z "$output" ]
	request=$(sed -n 's/.*custody approve \([0-9a-f]\{16\}\).*/\1/p' <<<"$stderr" | head -n 1)
	custody approve "$request" --yes
	# Another command, and the same one in no session, are other subjects.
	asked 114 exec "$ID" -- echo ask more
	asked 114 run --profile "$PROFILE" -- echo ask
	asked 0 exec "$ID" -- echo ask
	[ "$output" = ask ]
	# Used up.
	asked 114 exec "$ID" -- echo ask
	[ "$(ledger 'select(.k == "exec.intent") | .d.approval | "\(.level) \(.granted)"' --kind exec.intent)" = "B true" ]
}

@test "GOV-15: exec: judged by policy; a grant is bound to command and session" {
	judged
}

@test "GOV-15: exec: judged by policy; a grant is bound to command and session, as a user" {
	as_user
	judged
}

@test "GOV-15: exec: an unbounded delete needs a person with a PIN, and nothing ran" {
	touch keep
	session
	asked 114 exec "$ID" -- rm -rf .
	asked 114 exec "$ID" -- sh -c 'rm -rf *'
	asked 0 exec "$ID" -- ls
	[ "$output" = keep ]
	# One start, that of ls.
	[ "$(kinds)" = "exec.refused exec.refused exec.intent exec.start exec.end" ]
}

@test "GOV-15: exec: the card says that nothing is sealed and where the command runs" {
	session
	asked 114 exec "$ID" -- echo ask
	request=$(sed -n 's/.*custody approve \([0-9a-f]\{16\}\).*/\1/p' <<<"$stderr" | head -n 1)
	asked 0 pending "$request"
	assert_output_has "a running session with the subject $(note .digest | head -c 19)"
	assert_output_has "nothing: the session's processes may change every file"
	[ "$(custody pending --json "$request" | jq -r '.. | .exec? // empty | .subject? // empty' | head -n 1)" = "$(note .digest)" ]
}

@test "GOV-15: exec: custody.json denies, asks, or allows level B; level C always asks" {
	session
	approval_config '"exec":"deny"'
	asked 113 exec "$ID" -- true
	assert_stderr_has '"exec": "deny" in custody.json'
	[ "$(kinds)" = exec.refused ]
	approval_config '"exec":"allow"'
	asked 0 exec "$ID" -- echo ask
	[ "$output" = ask ]
	asked 114 exec "$ID" -- rm -rf .
	approval_config '"exec":"ask"'
	asked 114 exec "$ID" -- echo ask
	approval_config '"exec":"perhaps"'
	asked 125 exec "$ID" -- true
	approval_config
}

@test "GOV-15: exec: a profile may deny it, and cannot allow what custody.json asks for" {
	suite_profile closed '{"governance":{"exec":"deny"}}'
	session
	asked 113 exec "$ID" -- true
	assert_stderr_has "in the governance section of the profile"
	asked 0 stop "$ID"
	suite_profile open '{"governance":{"exec":"allow"}}'
	session
	asked 114 exec "$ID" -- echo ask
}

@test "GOV-15: exec: intent, start and end are records, also in the session's own chain" {
	session --name web
	asked 3 exec --agent bob --worker w1 --issue 7 web -- sh -c 'exit 3'
	[ "$(kinds)" = "exec.intent exec.start exec.end" ]
	[ "$(ledger '[.d.within, .d.action, .agent, .worker, .d.issue, (.d.command | join(" "))] | join(" ")' --kind exec.intent)" = \
		"$ID exec bob w1 7 sh -c exit 3" ]
	[ "$(ledger '"\(.d.reason) \(.d.code) \(.status)"' --kind exec.end)" = "exited 3 abnormal" ]
	[ "$(custody show --json web | jq -r '.records[].k' | paste -sd ' ')" = \
		"session.intent session.start exec.intent exec.start exec.end" ]
	[ "$(ledger .k --session "$ID" --kind 'exec.*' | paste -sd ' ')" = "exec.intent exec.start exec.end" ]
	[ "$(ledger '.d.layers | map(select(endswith("=proven"))) | length' --kind exec.start)" -ge 18 ]
	[ "$(ledger .d.digest --kind exec.intent)" != "$(note .digest)" ]
	[ "$(jq -r 'select(.k | startswith("session.exec")) | "\(.k) \(.d.code)"' "$CUSTODY_ROOT/sandbox/sessions/$ID/audit.ndjson" | paste -sd ' ')" = \
		"session.exec null session.exec.end 3" ]
	asked 0 stop web
	# The session ended as it would have without it.
	[ "$(ledger '"\(.d.reason) \(.d.code)"' --kind session.end)" = "operator 143" ]
	asked 0 ledger verify
	assert_output_has "integrity:     ok"
	[[ $output != *"without an end"* ]] || custody_fail "$output"
}

@test "exec: secrets of the command are redacted in the records" {
	session
	asked 0 exec "$ID" -- echo --password hunter2-is-secret
	! grep -rq hunter2-is-secret "$CUSTODY_ROOT/sandbox/ledger" "$CUSTODY_ROOT/sandbox/sessions" || custody_fail "in a record"
}

three_run() {
	[ "$(processes '^sleep 432')" -eq 3 ]
}

killed() {
	local pid
	weak_profile
	session
	mkfifo "$CUSTODY_HOME/up"
	"${CUSTODY_AS[@]}" "$CUSTODY" exec "$ID" -- sh -c 'setsid sleep 4321 & (sleep 4322 &); echo up; exec sleep 4323' >"$CUSTODY_HOME/up" 3>&- &
	pid=$!
	PIDS+=("$pid")
	read -r line <"$CUSTODY_HOME/up"
	[ "$line" = up ]
	wait_until three_run
	kill -9 "$pid"
	wait "$pid" || true
	wait_until is_gone '^sleep 432'
	# The session goes on, and the next start records the end.
	asked 0 exec "$ID" -- true
	asked 0 recover
	[ "$(ledger '"\(.d.reason) \(.d.code)"' --kind exec.end | head -n 2 | sort | paste -sd ' ')" = "exited 0 lost 125" ]
	[ "$(note .state)" = running ]
	grep -q '"k":"session.exec.end".*"reason":"lost"' "$CUSTODY_ROOT/sandbox/sessions/$ID/audit.ndjson"
	[ ! -e "$CUSTODY_ROOT/sandbox/forensics" ] || [ -z "$(ls "$CUSTODY_ROOT/sandbox/forensics")" ]
}

@test "GOV-15: exec: kill -9 of the caller ends every process of the command, and its end is recorded" {
	killed
}

@test "GOV-15: exec: kill -9 of the caller ends every process of the command, as a user" {
	as_user
	killed
}

@test "exec: when the command ends, its daemons end with it" {
	session
	asked 0 exec "$ID" -- sh -c 'setsid sleep 4324 >/dev/null 2>&1 & (setsid sh -c "sleep 4325; :" &) >/dev/null 2>&1; exit 0'
	is_gone '^sleep 432'
	[ "$(processes '^sleep 1000')" -eq 1 ]
}

@test "exec: signals are forwarded, and the status is that of the cancelled command" {
	local pid
	session
	mkfifo "$CUSTODY_HOME/up"
	"$CUSTODY" exec "$ID" -- sh -c 'trap "echo caught; exit 5" TERM; echo up; while :; do sleep 0.05; done' >"$CUSTODY_HOME/up" 3>&- &
	pid=$!
	PIDS+=("$pid")
	exec {up}<"$CUSTODY_HOME/up"
	read -r line <&"$up"
	kill -TERM "$pid"
	read -r line <&"$up"
	[ "$line" = caught ]
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 143 ]
	[ "$(ledger '"\(.d.reason) \(.d.code)"' --kind exec.end)" = "cancelled 143" ]
	exec {up}<&-
}

# in_background WORDS...: $PID, `custody exec $ID WORDS` once it has written a line.
in_background() {
	rm -f "$CUSTODY_HOME/up"
	mkfifo "$CUSTODY_HOME/up"
	"${CUSTODY_AS[@]}" "$CUSTODY" exec "$ID" "$@" >"$CUSTODY_HOME/up" 2>"$CUSTODY_HOME/err" 3>&- &
	PID=$!
	PIDS+=("$PID")
	read -r line <"$CUSTODY_HOME/up"
}

@test "exec: a stop of the session ends the command with it" {
	session
	in_background -- sh -c 'trap "" TERM INT HUP; echo up; while :; do sleep 0.1; done'
	asked 0 stop "$ID"
	status=0
	wait "$PID" || status=$?
	[ "$status" -eq 137 ]
	grep -q "the session ended, and the command with it" "$CUSTODY_HOME/err"
	[ "$(ledger '"\(.d.reason) \(.d.code)"' --kind session.end)" = "operator 143" ]
	[ "$(ledger '"\(.d.reason) \(.d.code)"' --kind exec.end)" = "signaled 137" ]
	asked 0 ledger verify
	[[ $output != *"without an end"* ]] || custody_fail "$output"
}

ended_with() { # CODE
	[ "$(ledger .d.code --kind session.end --session "$ID")" = "$1" ]
}

@test "exec: the session's time limit and the end of its command end it" {
	session --timeout 2s -- sh -c 'trap "" TERM; sleep 1000'
	in_background -- sh -c 'echo up; exec sleep 1000'
	status=0
	wait "$PID" || status=$?
	[ "$status" -eq 137 ]
	session -- sh -c 'until [ -e stop ]; do sleep 0.02; done; exit 4'
	in_background -- sh -c 'echo up; touch stop; exec sleep 1000'
	status=0
	wait "$PID" || status=$?
	[ "$status" -eq 137 ]
	wait_until ended_with 4
}

@test "exec: kill -9 of the supervisor ends the command" {
	session
	in_background -- sh -c 'echo up; exec sleep 4326'
	kill -9 "$(note .supervisor.pid)"
	status=0
	wait "$PID" || status=$?
	[ "$status" -eq 137 ]
	asked 125 exec "$ID" -- true
	assert_stderr_has "lost its supervisor: run custody recover"
	asked 0 recover
	[ -z "$(pgrep -f '^sleep 4326')" ]
	asked 0 ledger verify
	[[ $output != *"without an end"* ]] || custody_fail "$output"
}

@test "exec: counts against the limits of the session" {
	skip_without LAYER-PIDS-LIMIT
	session --pids-limit 5 -- sh -c 'sleep 1000 & sleep 1000 & sleep 1000 & echo full; wait'
	wait_until logged full
	asked 125 exec "$ID" -- true
	assert_stderr_has "cannot create a process"
	[ "$(kinds)" = "exec.intent exec.refused" ]
	session --pids-limit 6 -- sh -c 'sleep 1000 & sleep 1000 & sleep 1000 & echo full; wait'
	wait_until logged full
	asked -126 exec "$ID" -- true
	assert_stderr_has "(limits.pids of the session)"
	session --pids-limit 7 -- sh -c 'sleep 1000 & sleep 1000 & sleep 1000 & echo full; wait'
	wait_until logged full
	asked 0 exec "$ID" -- true
}

@test "exec: several at once; more than the session takes are refused" {
	local i
	session
	for i in $(seq 16); do
		in_background -- sh -c 'echo up; exec sleep 1000'
	done
	asked 125 exec "$ID" -- true
	assert_stderr_has "too many commands"
	kill -TERM "${PIDS[0]}"
	wait "${PIDS[0]}" || true
	asked 0 exec "$ID" -- true
}

@test "LANE-1: exec: a session of prod needs both keys, and nothing of prod is opened without them" {
	export CUSTODY_ALLOW_PROD=1
	asked 0 run -d --lane prod --allow-prod --profile offline -- sleep 1000
	ID=$output
	local before
	before=$(custody ledger export --lane prod 2>/dev/null | wc -l)
	asked 116 exec --lane prod "$ID" -- true
	unset CUSTODY_ALLOW_PROD
	asked 116 exec --lane prod --allow-prod "$ID" -- true
	[ "$(custody ledger export --lane prod 2>/dev/null | wc -l)" -eq "$before" ]
	# A session of the other lane is none here.
	asked 125 exec "$ID" -- true
	export CUSTODY_ALLOW_PROD=1
	asked 0 exec --lane prod --allow-prod "$ID" -- true
	asked 0 stop --lane prod "$ID" --time 0
}

@test "exec: -t gives a terminal of the session; a terminal stays one" {
	session
	asked 0 exec -t "$ID" -- sh -c 'tty; test -t 0 && test -t 1 && test -t 2 && echo ALL'
	assert_output_has /dev/pts/
	assert_output_has ALL
	on_terminal -- "$CUSTODY" exec "$ID" -- sh -c 'tty; test -t 0 && test -t 1 && test -t 2 && echo ALL; exit 3'
	assert_status 3
	assert_output_has /dev/pts/
	assert_output_has ALL
	assert_output_has "mode cooked"
}
