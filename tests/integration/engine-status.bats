#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The true end of a governed container, for an engine that reaps at once; on kernels that keep the status for a pidfd (Linux 6.15),
# and on older ones, whose answer a filter gives.  By hand, with a bundle.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for other shells; variables of one test; status is set by bats

load ../lib/suite.bash
load ../lib/oci.bash
load ../lib/engine.bash

setup_file() {
	make -s -C "${CUSTODY_BUILD:?a finished build directory}" tests/lib/no-pidfd-exit tests/lib/reap-at-once >/dev/null
}
setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	LIB=$CUSTODY_BUILD/tests/lib
	OLD=("$LIB/no-pidfd-exit")
	ROUNDS=${CUSTODY_ROUNDS:-5}
	engine_setup
	isolated
	export RT ROOT B CUSTODY
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	[ -z "${LOAD:-}" ] || kill "${LOAD[@]}"
	oci_teardown
}
ends() { # N: exec.end records
	[ "$(count exec.end)" -eq "$1" ]
}
adopted() {
	[ "$(parent_of "$PID")" != "$PARENT" ]
}
# under_load: processes that keep every processor busy.
under_load() {
	local _
	LOAD=()
	for _ in $(seq "$(nproc)"); do
		nice -n 5 sh -c 'while :; do :; done' 3>&- &
		LOAD+=("$!")
	done
}
# engine SCRIPT [OPTION...]: an engine creates, starts, runs SCRIPT, and reaps at once; $output is the wait status.
engine() {
	local script=$1
	shift
	output=$("${KERNEL[@]}" "$LIB/reap-at-once" "$CUSTODY_HOME/pid" sh -c '
		rt() { "$RT" --root "$ROOT" --cgroup-manager disabled "$@"; }
		rt create --pid-file "$0" -b "$B" x </dev/null >/dev/null && rt start x && eval "$1"' "$CUSTODY_HOME/pid" "$script")
	rt delete x
}
# recorded KIND REASON CODE SIGNAL SOURCE
recorded() {
	local is
	is=$(last "$1" '"\(.d.reason) \(.d.code) \(.d.signal) \(.d.source)"')
	[ "$is" = "${*:2}" ] || { echo "$is"; return 1; }
}
# started: a container x of this shell, which is no engine: its caller adopts the process.
started() {
	"${KERNEL[@]}" "$RT" --root "$ROOT" --cgroup-manager disabled create --pid-file "$CUSTODY_HOME/pid" -b "$B" x </dev/null >/dev/null 3>&-
	rt start x
	PID=$(cat "$CUSTODY_HOME/pid")
	PARENT=$(parent_of "$PID")
}
parent_of() {
	awk '/^PPid:/ { print $2 }' "/proc/$1/status"
}
name_of() {
	cat "/proc/$1/comm"
}

@test "CARD-5: an engine that reaps at once, before Linux 6.15: the true status each time" {
	KERNEL=("${OLD[@]}")
	under_load
	for ((i = 1; i <= ROUNDS; i++)); do
		command_is "exit $i"
		engine :
		[ "$output" = "exited $i" ]
		recorded session.end exited "$i" null wait
	done
	nothing_left
	complete
}
@test "CARD-5: before Linux 6.15: the true signal" {
	KERNEL=("${OLD[@]}")
	under_load
	command_is 'exec busybox sleep 100'
	for ((i = 1; i <= ROUNDS; i++)); do
		engine 'rt kill x KILL'
		[ "$output" = 'signaled 9' ]
		recorded session.end signaled 137 9 wait
	done
	# Not that of a shell which exits with the same code.
	command_is 'exit 137'
	engine :
	recorded session.end exited 137 null wait
	# Without a PID namespace of its own: signals that the first process of one does not get, and orphans.
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	command_is '(busybox true & exit 0); (busybox sleep 0.1 & exit 0); kill -SEGV $$'
	judged
	asked B
	approve
	engine :
	[ "$output" = 'signaled 11' ]
	recorded session.end signaled 139 11 wait
	nothing_left
}
@test "CARD-5: GOV-15: before Linux 6.15: the true status of commands" {
	KERNEL=("${OLD[@]}")
	under_load
	isolated '"exec":"allow"'
	command_is 'exec busybox sleep 100'
	started
	for ((i = 1; i <= ROUNDS; i++)); do
		output=$("${KERNEL[@]}" "$LIB/reap-at-once" "$CUSTODY_HOME/exec" "$RT" --root "$ROOT" --cgroup-manager disabled \
			exec --detach --pid-file "$CUSTODY_HOME/exec" x sh -c "exit $i" </dev/null)
		[ "$output" = "exited $i" ]
		wait_until ends "$i"
		recorded exec.end exited "$i" null wait
	done
	# In the foreground custody-runtime is the parent.
	status=0
	"${KERNEL[@]}" "$RT" --root "$ROOT" --cgroup-manager disabled exec x sh -c 'exit 137' </dev/null || status=$?
	[ "$status" -eq 137 ]
	wait_until ends $((ROUNDS + 1))
	recorded exec.end exited 137 null wait
	"${KERNEL[@]}" "$RT" --root "$ROOT" --cgroup-manager disabled exec x sh -c 'kill -TERM $$' </dev/null || true
	wait_until ends $((ROUNDS + 2))
	recorded exec.end signaled 143 15 wait
	# Those that run when the container ends.
	"${KERNEL[@]}" "$RT" --root "$ROOT" --cgroup-manager disabled exec --detach x busybox sleep 100 </dev/null >/dev/null 3>&-
	rt kill x KILL
	wait_until ended x
	rt delete x
	recorded exec.end signaled 137 9 wait
	recorded session.end signaled 137 9 wait
	nothing_left
	complete
}
@test "CARD-5: before Linux 6.15: custody-parent holds nothing of the engine, and goes with the container" {
	KERNEL=("${OLD[@]}")
	command_is 'exec busybox sleep 100'
	started
	[ "$(name_of "$PARENT")" = custody-parent ]
	[ "$(ls "/proc/$PARENT/fd")" = 0 ]
	grep -q '^SigBlk:.fffffffe7ffbfeff\|^SigBlk:.*ffff' "/proc/$PARENT/status"
	[ "$(awk '/^VmRSS:/ { print $2 }' "/proc/$PARENT/status")" -le 200 ]
	rt kill x KILL
	wait_until gone "$PARENT"
	rt delete x
	nothing_left
}
@test "CARD-5: before Linux 6.15: custody-parent is killed: the container goes on, and its end is recorded" {
	KERNEL=("${OLD[@]}")
	command_is 'exec busybox sleep 100'
	started
	kill -9 "$PARENT"
	wait_until adopted
	[ "$(status_of x)" = running ]
	rt kill x KILL
	wait_until ended x
	rt delete x
	recorded session.end signaled 137 9 proc || recorded session.end lost 125 null warden
	nothing_left
	complete
}
@test "CARD-5: before Linux 6.15: the warden is killed: the engine gets its container's end all the same" {
	KERNEL=("${OLD[@]}")
	command_is 'exec busybox sleep 100'
	engine 'kill -9 "$("$CUSTODY" sessions --json | jq -r ".sessions[0].pid")"'
	[ "$output" = 'signaled 9' ]
	recorded session.end lost 125 null keeper
	nothing_left
}
@test "CARD-5: before Linux 6.15: run in the foreground" {
	KERNEL=("${OLD[@]}")
	command_is 'exit 7'
	status=0
	"${KERNEL[@]}" "$RT" --root "$ROOT" --cgroup-manager disabled run -b "$B" x </dev/null || status=$?
	[ "$status" -eq 7 ]
	recorded session.end exited 7 null wait
	nothing_left
}
@test "CARD-5: before Linux 6.15: without custody-parent no container is created" {
	KERNEL=("${OLD[@]}")
	command_is 'echo ran >/work/mark'
	try unshare --mount sh -c 'mount --bind /dev/null "$1" && shift && exec "$@"' sh "${CUSTODY%/bin/*}/libexec/custody/custody-parent" \
		"${KERNEL[@]}" "$RT" --root "$ROOT" --cgroup-manager disabled create -b "$B" x
	refused custody-parent 'make install'
	[ ! -e "$B/rootfs/work/mark" ]
	nothing_left
}
@test "CARD-5: since Linux 6.15: no custody-parent, and the same statuses" {
	"$CUSTODY" doctor --engine podman --json | jq -e '.checks[] | select(.id == "ENGINE-EXIT-STATUS") | .text | test("kernel keeps")' ||
		skip 'missing: ENGINE-EXIT-STATUS'
	KERNEL=()
	under_load
	command_is 'exec busybox sleep 100'
	started
	[ "$(name_of "$PARENT")" != custody-parent ]
	rt delete --force x
	for ((i = 1; i <= ROUNDS; i++)); do
		command_is "exit $i"
		engine :
		[ "$output" = "exited $i" ]
		[ "$(last session.end '"\(.d.reason) \(.d.code)"')" = "exited $i" ]
	done
	nothing_left
}
