# SPDX-License-Identifier: GPL-2.0-or-later
# Processes around governed containers of podman or docker are killed: each container's end is recorded, and nothing is left.
# shellcheck disable=SC2016 # scripts for the inside
load lib.bash
load docker.bash
load ../../contrib/bats/custody.bash
load governed.bash

setup_file() { governed_setup_file; }
teardown_file() { governed_teardown_file; }
setup() { governed_setup; }
teardown() { governed_teardown; }

# half NAME [OPTION...]: a container that has changed its worktree, /data, and waits.
half() {
	local name=$1
	shift
	"$ENGINE" run -d --name "$name" -w /data "$@" box sh -c 'echo half >new; exec ready'
	until_ok said "$name" ready
}
kept_half() {
	is half "$(cat "$(last session.end .d.evidence)/worktree/new")"
}
is_over() { # NAME
	is false "$("$ENGINE" inspect -f '{{.State.Running}}' "$1")"
}
ended() { # COUNT
	[ "$(records session.end)" -eq "$1" ]
}

@test "ISO-7: a killed warden: its backup kills the container, keeps its worktree and records lost (sample)" {
	half one
	kill -9 "$(warden_of one)"
	until_ok is_over one
	until_ok ended 1
	is 'lost keeper' "$(last session.end '"\(.d.reason) \(.d.source)"')"
	kept_half
	# The engine removes what is left, and starts it again if that is allowed.
	"$ENGINE" start one
	until_ok said one ready
	is 2 "$(records session.start)"
}
@test "ISO-7: a killed backup is none: the warden goes on" {
	half one
	kill -9 "$(backup_of one)"
	"$ENGINE" kill -s TERM one
	is 3 "$("$ENGINE" wait one)"
	"$ENGINE" rm one
	ended_as exited 3
}
@test "ISO-7: warden and backup killed: the next start closes the record, kills the container and keeps its worktree" {
	local warden
	half one
	warden=$(warden_of one)
	kill -9 "$(backup_of one)" "$warden"
	until_ok process_is_over "$warden"
	run "$ENGINE" run --rm box true
	is 0 "$status"
	until_ok is_over one
	is 'lost sweep' "$(lost_end)"
	is half "$(cat "$("$CUSTODY" ledger show --json --kind session.end | jq -r '.records[] | select(.d.reason == "lost") | .d.evidence')/worktree/new")"
}
lost_end() {
	"$CUSTODY" ledger show --json --kind session.end | jq -r '.records[] | select(.d.reason == "lost") | "\(.d.reason) \(.d.source)"'
}
@test "ISO-7: warden and backup killed: removal by the engine alone closes the record" {
	local warden
	half one
	warden=$(warden_of one)
	kill -9 "$(backup_of one)" "$warden"
	until_ok process_is_over "$warden"
	"$ENGINE" rm -f one
	until_ok ended 1
	is lost "$(last session.end .d.reason)"
	until_ok nothing_left
}
@test "CARD-4: the warden outlives signals that reach the engine's processes, and is in no cgroup of the container" {
	local p warden
	half one
	warden=$(warden_of one)
	for p in $(wardens); do
		kill -HUP "$p"
		run ! grep -q "$("$ENGINE" inspect -f '{{.Id}}' one)" "/proc/$p/cgroup"
		is '' "$(find "/proc/$p/fd" -lname '*containers/storage*userdata*' -o -lname '/run/docker/*')"
	done
	is "$warden" "$(warden_of one)"
	is 2 "$(wardens | wc -l)"
	"$ENGINE" kill -s TERM one
	is 3 "$("$ENGINE" wait one)"
	"$ENGINE" rm one
	ended_as exited 3
}
@test "CARD-4: the first process is killed from outside: the signal is recorded" {
	half one
	kill -9 "$(pid_of one)"
	is 137 "$("$ENGINE" wait one)"
	"$ENGINE" rm one
	ended_as signaled 137
	kept_half
}
@test "CARD-4: the engine's parent of the container is killed: the end of the container is recorded" {
	local parent id
	half one
	id=$("$ENGINE" inspect -f '{{.Id}}' one)
	parent=$(awk '/^PPid:/ { print $2 }' "/proc/$(pid_of one)/status")
	kill -9 "$parent"
	until_ok process_is_over "$parent"
	# What an administrator does then.
	"$ENGINE" rm -f one || "$ENGINE" rm -f one
	# podman leaves the state to a conmon that is no more.
	[ "$ENGINE" != podman ] || "$RUNTIME" delete --force "$id"
	until_ok ended 1
	last session.end .d.reason | grep -qxE 'signaled|exited'
	kept_half
	until_ok nothing_left
}
@test "CARD-4: GOV-12: 50 governed containers at once start and stop (or CUSTODY_STORM of them), each with its records" {
	local i pids=() bad=0
	for i in $(seq "$STORM"); do
		"$ENGINE" run -d --name "c$i" box ready >/dev/null 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || bad=$((bad + 1)); done
	is 0 "$bad"
	is $((2 * STORM)) "$(wardens | wc -l)"
	for i in $(seq "$STORM"); do until_ok said "c$i" ready; done
	is "$STORM" "$("$CUSTODY" sessions --json | jq '.sessions | length')"
	remove_all
	until_ok nothing_left
	is "$STORM" "$(records session.start)"
	is "$STORM" "$(records session.end)"
}
