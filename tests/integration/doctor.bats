#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2030,SC2031,SC2154 # bats' subshells; set by bats

load ../lib/suite.bash

setup() {
	suite_setup
	mkdir "$CUSTODY_HOME/tmp"
	chmod 1777 "$CUSTODY_HOME/tmp"
	export TMPDIR=$CUSTODY_HOME/tmp
}

# Whatever doctor lays out for its canary is gone afterwards.
teardown() {
	local left
	left=$(ls -A "$CUSTODY_HOME/tmp")
	custody_teardown
	[ -z "$left" ]
}

doctor() {
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" doctor "$@"
}

# profile WORDS: $PROFILE extends offline with these words under `dangerous`.
profile() {
	PROFILE=$CUSTODY_HOME/dangerous.json
	jq -n --args '{schema: 1, name: "dangerous", extends: "offline", dangerous: $ARGS.positional}' "$@" >"$PROFILE"
	chmod 0644 "$PROFILE"
}

# Ids of all errors, one line.
errors() {
	jq -r '[.checks[] | select(.severity == "error") | .id] | join(" ")' <<<"$output"
}

# switched_off LAYER [WORD...]: exactly this layer's line fails, and the canary got through it.
switched_off() {
	local layer=$1
	shift
	profile "no-$layer" "$@"
	doctor --json --profile "$PROFILE"
	assert_status 1
	[ "$(errors)" = "LAYER-${layer^^}" ] || custody_fail "expected only LAYER-${layer^^} to fail, got: $(errors)"
	jq -e --arg name "$layer" '.layers[] | select(.name == $name) | .state == "missing" and any(.tries[]; .stopped == false)' \
		<<<"$output" >/dev/null || custody_fail "the canary did not get through '$layer'"
	jq -e --arg name "$layer" '[.layers[] | select(.name != $name) | .tries[]] | length > 20 and all(.stopped)' \
		<<<"$output" >/dev/null || custody_fail "the canary got through another layer than '$layer'"
}

# The default profile has limits: only where they can be had every line can be ok.
root_only() {
	skip_without HOST-IDMAP HOST-CGROUP
}

@test "ISO-1: every layer of the default profile stops its attacks, seen from a container" {
	root_only
	doctor
	assert_status 0
	output=$(tr -s ' \n' ' ' <<<"$output") # lines are wrapped for people
	assert_output_has 'every required layer holds'
	assert_output_has 'mount (EPERM)'
	assert_output_has 'find a route out (ENETUNREACH)'
	assert_output_has 'create a file in /usr (EROFS)'
	assert_output_has 'read /etc/shadow (ENOENT)'
	[ -z "$stderr" ]
}

@test "ISO-16: doctor --json lists checks and layers, each with its requirement" {
	doctor --json
	jq -e '.schema_version == 1 and (.checks | length > 30) and (.layers | length == 24)' <<<"$output"
	jq -e 'all(.checks[]; (.id | test("^(HOST|LAYER|CONFIG|STATE|APPROVAL)-[A-Z0-9-]+$")) and (.severity | IN("info", "warn", "error"))
		and (.state | IN("ok", "missing", "limited", "unused", "unknown")) and has("text") and has("remedy"))' <<<"$output"
	jq -e '[.checks[].id] | length == (unique | length)' <<<"$output"
	jq -e 'all(.checks[] | select(.state == "missing"); .remedy != null)' <<<"$output"
	jq -e 'all(.layers[]; (.needs | length > 3) and (.stops | length > 3))' <<<"$output"
}

@test "ISO-1: without the user namespace exactly that line fails" {
	root_only
	switched_off user-namespace host-root
}

@test "ISO-1: without one namespace exactly that line fails" {
	root_only
	for layer in network-namespace ipc-namespace uts-namespace cgroup-namespace; do
		switched_off "$layer"
	done
}

@test "ISO-1: without one restriction of files exactly that line fails" {
	root_only
	for layer in read-only-root masked-paths private-devices; do
		switched_off "$layer"
	done
}

@test "ISO-1: without one restriction of the process exactly that line fails" {
	root_only
	for layer in capabilities no-new-privs seccomp environment; do
		switched_off "$layer"
	done
}

@test "ISO-1: a limit, or a mandatory layer, switched off: exactly that line fails" {
	root_only
	for layer in memory-limit pids-limit cpu-limit disk-limit time-limit worktree session descriptors; do
		profile "no-$layer"
		doctor --json --profile "$PROFILE"
		assert_status 1
		[ "$(errors)" = "LAYER-${layer^^}" ] || custody_fail "expected only LAYER-${layer^^} to fail, got: $(errors)"
		jq -e 'all(.layers[].tries[]; .stopped)' <<<"$output" >/dev/null || custody_fail 'something got through'
	done
}

@test "ISO-1: without a pid or mount namespace nothing is executed at all" {
	for layer in pid-namespace mount-namespace; do
		profile "no-$layer"
		custody_run --profile "$PROFILE" -- sh -c 'echo the payload ran'
		assert_status 125
		[[ $output != *'payload ran'* ]]
		doctor --json --profile "$PROFILE"
		assert_status 1
		[[ $(errors) == HOST-CANARY\ *LAYER-"${layer^^}"* ]]
	done
}

@test "ISO-13: doctor names the mechanism of the disk limit: periodic checks, or the size of the tmpfs" {
	suite_ungoverned
	doctor --json
	jq -e '.checks[] | select(.id == "LAYER-DISK-LIMIT") | .text | contains("checking the size of the upper four times a second")' <<<"$output"
	doctor --json --profile scratch
	jq -e '.checks[] | select(.id == "LAYER-DISK-LIMIT") | .text | contains("the size of the tmpfs")' <<<"$output"
}

@test "ISO-2: a filter that kills is seen by the canary as well" {
	root_only
	jq -n '{schema: 1, name: "kills", extends: "offline", seccomp: {violation: "kill"}}' >"$CUSTODY_HOME/kills.json"
	doctor --json --profile "$CUSTODY_HOME/kills.json"
	assert_status 0
	jq -e 'any(.layers[] | select(.name == "seccomp") | .tries[]; .try == "mount" and .by == "SIGSYS")' <<<"$output"
}

@test "doctor: the canary gets nothing into the original worktree, and doctor sees it when it does" {
	root_only
	jq -n '{schema: 1, name: "rw", extends: "offline", workspace: {mode: "rw"}}' >"$CUSTODY_HOME/rw.json"
	doctor --json --profile "$CUSTODY_HOME/rw.json"
	assert_status 0
	jq -e '.layers[] | select(.name == "worktree") | .state == "ok" and (.tries | length == 0)' <<<"$output"
	doctor --json --profile review
	assert_status 0
	jq -e 'any(.layers[] | select(.name == "worktree") | .tries[]; .by == "EROFS")' <<<"$output"
	# Sockets and FIFOs of the host in trees that are only read.
	jq -e '[.layers[].tries[] | select(.try | test("socket in|FIFO in"))] | length == 4 and all(.stopped)' <<<"$output"
}

@test "doctor: as a user it explains the single id and names the missing limits" {
	custody_teardown
	unset TMPDIR # it was below the removed directory
	suite_setup_user
	mkdir "$CUSTODY_HOME/tmp"
	chmod 1777 "$CUSTODY_HOME/tmp"
	export TMPDIR=$CUSTODY_HOME/tmp
	doctor --json
	jq -e 'any(.checks[]; .id == "HOST-SUBUID" and .state == "limited")' <<<"$output"
	# Whatever the host delegates: a limit that is missing is an error with a remedy, everything else still holds.
	jq -e 'all(.checks[] | select(.severity == "error"); (.id == "HOST-CGROUP") and .remedy != null)' \
		<<<"$output"
	jq -e 'any(.layers[] | select(.name == "seccomp") | .tries[]; .try == "mount" and .by == "EPERM")' <<<"$output"
}

@test "doctor: --explain explains each id of a report, and the nearest of a mistyped one" {
	doctor --json
	for id in $(jq -r '.checks[].id' <<<"$output"); do
		doctor --explain "$id"
		assert_status 0
		[ "${#output}" -gt 40 ]
	done
	doctor --explain LAYER-SECOMP
	assert_status 64
	assert_stderr_has "did you mean 'LAYER-SECCOMP'"
}

@test "doctor: mistakes on the command line are named" {
	doctor --jsn
	assert_status 64
	assert_stderr_has "unknown option '--jsn'; did you mean '--json'?"
	doctor --explain
	assert_status 64
	assert_stderr_has '--explain needs a value'
	doctor --profile no-such-profile
	assert_status 125
	assert_stderr_has no-such-profile
	[ -z "$output" ]
}

@test "doctor: names libcrun and the CVEs it is exposed to" {
	doctor --json
	jq -e '.checks[] | select(.id == "HOST-LIBCRUN") | .text | test("libcrun [0-9]")' <<<"$output"
	if jq -e '.checks[] | select(.id == "HOST-LIBCRUN") | .text | test("libcrun 1\\.([0-9]|1[0-9]|2[0-7])(\\.|;|$)")' <<<"$output" >/dev/null; then
		jq -e '.checks[] | select(.id == "HOST-LIBCRUN") | .text | contains("CVE-2026-47766")
			and contains("CVE-2026-88264") and contains("CVE-2026-88265") and test("remains: [^;]*CVE-2025-52881")' <<<"$output"
	fi
}
