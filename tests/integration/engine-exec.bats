#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# custody-runtime exec into a governed container: judged, tightened, recorded.  By hand, with a bundle.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for other shells; variables of one test; status is set by bats

load ../lib/suite.bash
load ../lib/oci.bash
load ../lib/engine.bash

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	engine_setup
	command_is 'exec busybox sleep 1000'
	edit '.process.cwd = "/work"'
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	oci_teardown
}

# up: a running container x.
up() {
	rt run -d -b "$B" x </dev/null
}
up_approved() {
	try rt create -b "$B" x
	approve
	up
}
down() {
	rt kill x KILL
	wait_until ended x
	rt delete x
	nothing_left
	complete
}
# process ARGV...: the container's own process with another command, as engines write it.  EDIT changes it.
process() {
	jq --args '.process | .args = $ARGS.positional | .terminal = false' "$ROOT/x/config.json" "$@" |
		jq "${EDIT:-.}" >"$CUSTODY_HOME/process.json"
}
# no_exec WORDS...: the last `try` was refused in words.
no_exec() {
	local word
	[ "$status" -ne 0 ] || { echo "status 0: $output" && return 1; }
	for word; do [[ $output == *"$word"* ]] || { echo "no '$word' in: $output" && return 1; }; done
}
has_ended() { # NUMBER
	[ "$(count exec.end)" -eq "$1" ]
}

@test "GOV-15: a command is judged and recorded: intent, start and end within the container's session" {
	isolated
	up
	try rt exec x busybox sh -c 'echo hello; exit 7'
	[ "$status" -eq 7 ] || { echo "$output" && return 1; }
	[ "$output" = hello ]
	wait_until has_ended 1
	"$CUSTODY" ledger show --json | jq -r '.records[].k' | grep '^exec' | diff - <(printf 'exec.%s\n' intent start end)
	[ "$(last exec.intent .d.within)" = "$(last session.intent .session)" ]
	[ "$(last exec.end .d.within)" = "$(last session.intent .session)" ]
	[ "$(last exec.end '"\(.d.reason):\(.d.code)"')" = exited:7 ]
	last exec.end .d.source | grep -qxE 'pidfd|proc'
	[ "$(last exec.intent .session)" = "$(last exec.end .session)" ]
	[ "$(last exec.intent .d.digest)" != "$(last session.intent .d.digest)" ]
	down
}
