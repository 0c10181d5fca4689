#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154,SC2317 # scripts for the inside; bats' subshells; functions as arguments
#
# CARD-3, GOV-11: between `create` and `start` of a bundle everything may happen to its approval and to its supervisor.  The
# payload runs only after the grant was consumed and the start recorded.

load ../lib/suite.bash
load ../lib/runtime.bash

RUNTIMES=(crun runc custody-runtime)

setup() {
	PATH=$(dirname "$(readlink -f "$CUSTODY")"):$PATH
	suite_setup
	umask 022
	lay_out
}

teardown() {
	local dir name
	for name in "${RUNTIMES[@]}"; do
		for dir in "$CUSTODY_HOME/state-$name"/*/; do
			[ ! -d "$dir" ] || runtime "$name" delete --force "$(basename "$dir")" 2>/dev/null || true
		done
	done
	custody_teardown
}

# A writable tree: what the payload does is seen on the host, and its level is B.
lay_out() {
	printf 'touch ran\n' >script.sh
	[ "$(id -u)" -ne 0 ] || chown -hR "$(owner)" .
	profile rw '{"workspace": {"mode": "rw"}}'
	mkdir -p "$CUSTODY_ROOT/etc"
	jq -n --argjson uid "$("${CUSTODY_AS[@]}" id -u)" '{provenance: [{uid: $uid, intention: "explicit"}]}' >"$CUSTODY_ROOT/etc/custody.json"
	[ "$(id -u)" -ne 0 ] || [ ${#CUSTODY_AS[@]} -eq 0 ] || chown -R "$SUITE_UID" "$CUSTODY_ROOT/etc"
}

# each CMD...: CMD with RUNTIME set to each runtime.  Plain calls: bash would ignore failures inside `||`.
each() {
	for RUNTIME in "${RUNTIMES[@]}"; do
		echo "under $RUNTIME" >&2
		"$@"
	done
}

last() { # KIND FILTER
	custody ledger show --json | jq -r --arg k "$1" "[.records[] | select(.k == \$k)] | last | $2"
}
told() { # KIND COUNT
	[ "$(records "$1")" -ge "$2" ]
}
empty() { # DIR
	[ -z "$(ls "$1")" ]
}

create() { # ID
	runtime "$RUNTIME" create -b "$BUNDLE" "$1" < <(:) >>"$CUSTODY_HOME/out" 2>>"$CUSTODY_HOME/err"
}
start() { # ID
	runtime "$RUNTIME" start "$1" >>"$CUSTODY_HOME/out" 2>>"$CUSTODY_HOME/err"
}
delete() { # ID
	runtime "$RUNTIME" delete --force "$1" >>"$CUSTODY_HOME/out" 2>>"$CUSTODY_HOME/err"
}

# approved [APPROVE-OPTIONS]: files the request and approves it.
approved() {
	run create "custody-test-asked-$$"
	[ "$status" -ne 0 ]
	runtime_settle
	REQUEST=$(custody pending --json | jq -r '.requests[0].id')
	GRANT=$(custody approve "$REQUEST" --yes "$@" 2>/dev/null | grep -o 'grant [0-9a-f]*' | cut -d' ' -f2)
}

grant_state() { # WORD: the grant is in that state
	[ "$(custody grants --all --json | jq -r --arg id "$GRANT" '.grants[] | select(.id == $id) | .state')" = "$1" ]
}

# nothing_happened BEFORE: the container's session is over; starts, uses and the tree are as they were.
nothing_happened() {
	wait_until told session.refused $((REFUSED + 1))
	delete "$ID"
	wait_until empty "$CUSTODY_ROOT/run/sessions"
	[ ! -e ran ] || custody_fail "the payload ran"
	[ "$(records session.start)" -eq "$STARTS" ]
	[ "$(records grant.consume)" -eq "$USES" ]
	[ "$(records session.end)" -eq "$ENDS" ]
	wait_until empty "$CUSTODY_ROOT/sandbox/open"
	custody ledger verify >/dev/null
}
count_records() {
	REFUSED=$(records session.refused) STARTS=$(records session.start) USES=$(records grant.consume) ENDS=$(records session.end)
}

revoked() {
	ID=custody-test-revoked-$RUNTIME-$$
	approved
	create "$ID"
	count_records
	custody revoke "$GRANT" >/dev/null
	start "$ID" || true
	nothing_happened
	[ "$(last session.refused '[.d.refused, .status] | join(" ")')" = 'approval denied' ]
	[[ $(last session.refused .d.why) == *revoked* ]]
}

expired() {
	ID=custody-test-expired-$RUNTIME-$$
	approved --for 2
	create "$ID"
	count_records
	wait_until grant_state expired
	start "$ID" || true
	nothing_happened
	[ "$(last session.refused '[.d.refused, .status] | join(" ")')" = 'approval denied' ]
	[[ $(last session.refused .d.why) == *expired* ]]
}

@test "CARD-3: GOV-11: revoked between create and start: the payload never runs, and the ledger has the reason" {
	bundle --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	each revoked
}

@test "CARD-3: GOV-11: expired between create and start: the payload never runs, and the ledger has the reason" {
	bundle --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	each expired
}

@test "CARD-3: GOV-11: a user's bundle, revoked or expired between create and start, never runs" {
	suite_setup_user
	lay_out
	bundle --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	each revoked
	RUNTIME=crun
	expired
}

# both_halves: the pids of this test's custody-warden and of its backup.
both_halves() {
	local dir
	for dir in /proc/[0-9]*; do
		[ "$(cat "$dir/comm" 2>/dev/null)" = custody-warden ] || continue
		[[ $(readlink "$dir/fd/4") != "$CUSTODY_ROOT/run/sessions/"* ]] || echo "${dir#/proc/}"
	done
}
dead() { # PID: gone, or a zombie
	[[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) != [!ZX]* ]]
}
no_container() { # ID
	[ "$(runtime "$RUNTIME" state "$1" 2>/dev/null | jq -r .status)" != running ]
}

# Both halves at once: the backup would kill the container, which then could not be started.
unsupervised() {
	local pids pid
	ID=custody-test-unsupervised-$RUNTIME-$$
	approved
	create "$ID"
	mapfile -t pids < <(both_halves)
	[ ${#pids[@]} -eq 2 ]
	kill -STOP "${pids[@]}"
	kill -9 "${pids[@]}"
	for pid in "${pids[@]}"; do
		wait_until dead "$pid"
	done
	count_records
	start "$ID" || true
	wait_until no_container "$ID"
	[ ! -e ran ] || custody_fail "the payload ran"
	custody recover >/dev/null
	delete "$ID"
	[ "$(records session.start)" -eq "$STARTS" ]
	[ "$(records grant.consume)" -eq "$USES" ]
	wait_until empty "$CUSTODY_ROOT/sandbox/open"
	custody ledger verify >/dev/null
	# The approval was not used: another start may have it, once.
	ID=$ID-again
	create "$ID"
	start "$ID"
	wait_until told session.end $((ENDS + 2))
	[ -e ran ]
	rm ran
	[ "$(records grant.consume)" -eq $((USES + 1)) ]
	delete "$ID"
	wait_until empty "$CUSTODY_ROOT/run/sessions"
}

@test "CARD-3: GOV-11: the warden killed between create and start: the payload never runs, and the approval stays unused" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	bundle --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	each unsupervised
}

# The gate from inside: as the payload, and as a process that entered the created container before its start.
CONNECT='import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    s.connect("/run/custody/gate/socket")
    s.settimeout(20)
    s.send(b"TSUC" + (7).to_bytes(4, "little") + bytes(248))
    print("answer", s.recv(300))
except OSError as e:
    print("error", type(e).__name__)'

payload_finds_no_gate() {
	runtime_run "$RUNTIME" "$BUNDLE"
	assert_status 0
	[[ $output == *'error FileNotFoundError'* ]] || custody_fail "$output"
	[[ $output == *'left: []'* ]] || custody_fail "$output"
	[[ $output == *'write: OSError 30'* ]] || custody_fail "$output"
	[[ $output == *"fds: ['0', '1', '2', '3']"* ]] || custody_fail "$output"
}

@test "CARD-3: the payload finds neither the gate's socket nor a descriptor of it, and cannot make one" {
	bundle -- python3 -c "$CONNECT
import os
s.close()
print('left:', os.listdir('/run/custody/gate'))
try:
    open('/run/custody/gate/socket', 'w')
except OSError as e:
    print('write: OSError', e.errno)
print('fds:', sorted(os.listdir('/proc/self/fd')))"
	each payload_finds_no_gate
}

# runc executes in a created container; crun does not.
@test "CARD-3: GOV-11: a process that enters a created container gets no answer at the gate, and does not use the approval" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	RUNTIME=runc
	ID=custody-test-entered-$$
	bundle --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	approved
	create "$ID"
	count_records
	run runtime runc exec "$ID" /usr/bin/python3 -c "$CONNECT" < <(:)
	# The connection is closed: before the message is sent, or instead of an answer.
	[[ $output == *"answer b''"* || $output == *'error BrokenPipeError'* || $output == *'error ConnectionResetError'* ]] ||
		custody_fail "$output"
	[ "$(records session.start)" -eq "$STARTS" ]
	[ "$(records grant.consume)" -eq "$USES" ]
	# Many at once do not keep init from it.
	run runtime runc exec "$ID" /usr/bin/python3 -c 'import socket
held = []
for _ in range(200):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("/run/custody/gate/socket")
    held.append(s)
print("connected", len(held))' < <(:)
	[[ $output == *"connected 200"* ]] || custody_fail "$output"
	start "$ID"
	wait_until told session.end $((ENDS + 1))
	[ -e ran ]
	[ "$(records grant.consume)" -eq $((USES + 1)) ]
	delete "$ID"
}

# Two containers of one bundle with one use: the second is created after the first one's warden was killed, which frees the
# reservation.
@test "CARD-3: GOV-11: of two created containers that race for one use, one runs" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	local pids one=custody-test-one-$$ two=custody-test-two-$$
	echo 'mktemp XXXXXX.made' >script.sh
	bundle --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	RUNTIME=crun
	approved
	create "$one"
	mapfile -t pids < <(both_halves)
	kill -STOP "${pids[@]}"
	kill -9 "${pids[@]}"
	create "$two"
	start "$one" &
	pids=($!)
	start "$two" &
	pids+=($!)
	wait "${pids[@]}" || true
	wait_until told session.end 1
	wait_until no_container "$one"
	[ "$(find . -name '*.made' | wc -l)" -eq 1 ]
	[ "$(records grant.consume)" -eq 1 ]
	delete "$one"
	delete "$two"
	custody recover >/dev/null
	custody ledger verify >/dev/null
}

@test "CARD-3: a layer that is missing under another runtime: refused with the reason, and the approval is returned" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	RUNTIME=crun
	ID=custody-test-layer-$$
	bundle --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	approved
	create "$ID"
	count_records
	# The runtime's copy of the configuration decides at `start`; here a writable mount comes in between.
	nsenter -t "$(runtime crun state "$ID" | jq .pid)" -m mount -t tmpfs none /usr/share || skip 'cannot enter the container'
	start "$ID"
	nothing_happened
	[ "$(last session.refused .d.refused)" = setup-failed ]
	[[ $(last session.refused .d.why) == *'layer is missing'* ]]
	[ "$(records grant.release)" -ge 1 ]
}

@test "CARD-3: GOV-11: without init the grant is consumed and the start recorded before create returns" {
	ID=custody-test-plain-$$
	profile plain '{"workspace": {"mode": "rw"}, "process": {"init": false}}'
	bundle --profile "$CUSTODY_HOME/plain.json" -- sh script.sh
	consumed() {
		ID=custody-test-plain-$RUNTIME-$$
		approved
		count_records
		create "$ID"
		[ "$(records session.start)" -eq $((STARTS + 1)) ]
		[ "$(records grant.consume)" -eq $((USES + 1)) ]
		delete "$ID"
		wait_until told session.end $((ENDS + 1))
		wait_until empty "$CUSTODY_ROOT/run/sessions"
		custody ledger verify >/dev/null
	}
	each consumed
}

@test "CARD-3: a profile whose filter keeps custody-init from the gate cannot be written as a bundle" {
	profile deaf '{"seccomp": {"deny": ["connect"]}}'
	run --separate-stderr custody bundle -o "$CUSTODY_HOME/bundle" --profile "$CUSTODY_HOME/deaf.json" -- true
	[ "$status" -ne 0 ]
	assert_stderr_has "seccomp.deny has 'connect'"
	[ ! -e "$CUSTODY_HOME/bundle/config.json" ]
}
