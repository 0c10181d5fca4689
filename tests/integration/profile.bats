#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later

load ../lib/suite.bash

setup() {
	suite_setup
	admin=$CUSTODY_ROOT/etc/profiles
	own=$CUSTODY_HOME/work/.custody/profiles
	mkdir -p "$admin" "$own"
}

teardown() {
	custody_teardown
}

profile() {
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" profile "$@"
}

# write DIR NAME [BODY]: a profile; BODY follows the name, with a comma in front.
write() {
	printf '{"schema": 1, "name": "%s"%s}\n' "$2" "${3:-}" >"$1/$2.json"
	chmod 0644 "$1/$2.json"
}

# refused FILE WORDS: check says no, once, in one line, and a run with it executes nothing.
refused() {
	profile check "$1"
	assert_status 1
	[ -z "$output" ]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	assert_stderr_has "$2"
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$1" -- sh -c 'echo ran'
	assert_status 125
	[[ $output != *ran* ]]
	assert_stderr_has "$2"
}

@test "profile ls: names the shipped profiles, and those of the admin and the worktree" {
	write "$admin" mine ', "description": "of the admin"'
	write "$own" tree ', "description": "of the tree"'
	profile ls
	assert_status 0
	for name in offline scratch review build; do
		[[ $output == *"$name"*shipped* ]]
	done
	grep -Eq '^mine +admin +of the admin$' <<<"$output"
	grep -Eq '^tree +worktree +of the tree$' <<<"$output"
	[ -z "$stderr" ]
}

@test "profile ls --json: a document with a version, invalid files with their fault" {
	write "$admin" broken ', "limts": {}'
	profile ls --json
	assert_status 0
	[ "$(jq -r .schema_version <<<"$output")" = 1 ]
	[ "$(jq -r '.profiles[] | select(.name == "offline") | .valid' <<<"$output")" = true ]
	[ "$(jq -r '.profiles[] | select(.name == "broken") | .valid' <<<"$output")" = false ]
	jq -r '.profiles[] | select(.name == "broken") | .error' <<<"$output" | grep -q "did you mean 'limits'"
}

@test "profile ls: the admin's profile hides the shipped one" {
	write "$admin" offline ', "description": "ours"'
	profile ls
	[ "$(grep -c '^offline ' <<<"$output")" -eq 1 ]
	grep -Eq '^offline +admin +ours$' <<<"$output"
}

@test "profile show: prints the merged profile, itself a valid profile" {
	profile show review
	assert_status 0
	[ "$(jq -r .workspace.mode <<<"$output")" = ro ]
	[ "$(jq -r .limits.cpu <<<"$output")" = "200%" ]
	[ "$(jq -r .extends <<<"$output")" = null ]
	printf '%s\n' "$output" >"$CUSTODY_HOME/review.json"
	profile check "$CUSTODY_HOME/review.json"
	assert_status 0
}

@test "profile show --origin: prints file and line of each value" {
	write "$admin" base ', "limits": {"pids": 9, "cpu": 50}'
	write "$admin" child ', "extends": "base",
"limits": {"pids": 8}'
	profile show --origin child
	assert_status 0
	grep -Eq "^/limits/pids	8	.*/child.json:2:[0-9]+$" <<<"$output"
	grep -Eq "^/limits/cpu	50	.*/base.json:1:[0-9]+$" <<<"$output"
	grep -Eq "^/limits/memory	\"2G\"	default$" <<<"$output"
}

@test "profile show --origin: its pointers work in remove" {
	write "$admin" base ', "filesystem": {"ro": ["/opt/a", "/opt/b"]}'
	profile show --origin base
	pointer=$(awk -F'\t' '$2 == "\"/opt/b\"" { print $1 }' <<<"$output")
	write "$admin" child ", \"extends\": \"base\", \"remove\": [\"$pointer\"]"
	profile show child
	assert_status 0
	[ "$(jq -c .filesystem.ro <<<"$output")" = '["/opt/a"]' ]
}

@test "profile show --json: has version, digest and origins" {
	profile show --json --origin offline
	assert_status 0
	[ "$(jq -r .schema_version <<<"$output")" = 1 ]
	jq -r .digest <<<"$output" | grep -Eq '^sha256:[0-9a-f]{64}$'
	[ "$(jq -r '.origins["/limits/memory"].line > 0' <<<"$output")" = true ]
	[ "$(jq -r '.origins["/limits/files"].default' <<<"$output")" = true ]
}

@test "profile show: an unknown name lists where was searched and the nearest" {
	profile show oflin
	assert_status 125
	assert_stderr_has "did you mean 'offline'?"
	assert_stderr_has "$admin"
	assert_stderr_has "$own"
	[ -z "$output" ]
}

@test "profile check: valid files, also without a slash in the name" {
	write . good
	profile check good.json
	assert_status 0
	assert_output_has "good.json: valid"
}

@test "profile check: one bad file among good ones is a no" {
	write . good
	write . bad ', "x": 1'
	profile check good.json bad.json
	assert_status 1
	assert_output_has "good.json: valid"
	assert_stderr_has "bad.json:1:"
}

@test "profile check --json: each file with its answer" {
	write . good
	write . bad ', "limits": {"memory": "1X"}'
	profile check --json good.json bad.json
	assert_status 1
	[ "$(jq -c '[.files[].valid]' <<<"$output")" = '[true,false]' ]
	jq -r '.files[1].error' <<<"$output" | grep -q "'1X' is not a size"
	[ -z "$stderr" ]
}

@test "profile check: a section of a later version is valid, and a run with it is refused by name" {
	write "$admin" later ', "trust": {"context_file": "ai.project.json"}'
	profile check "$admin/later.json"
	assert_status 0
	assert_stderr_has "section 'trust' (key 'trust.context_file') is not implemented"
	run --separate-stderr "$CUSTODY" run --profile later -- sh -c 'echo ran'
	assert_status 125
	[[ $output != *ran* ]]
	assert_stderr_has "section 'trust'"
}

@test "profile diff: equal is 0, different is 1 with the keys that loosen" {
	profile diff offline offline
	assert_status 0
	[ -z "$output" ]
	profile diff offline build
	assert_status 1
	assert_output_has "@ limits.memory: looser"
	assert_output_has '- limits.memory "2G"'
	assert_output_has '+ limits.memory "8G"'
	profile diff offline review
	assert_output_has "@ workspace.mode: tighter"
}

@test "profile diff: two spellings of one number are equal" {
	write "$admin" a ', "limits": {"memory": "1G", "time": "60m"}'
	write "$admin" b ', "limits": {"memory": 1073741824, "time": 3600}'
	profile diff a b
	assert_status 0
}

@test "profile diff --json" {
	profile diff --json offline review
	assert_status 1
	[ "$(jq -r .schema_version <<<"$output")" = 1 ]
	[ "$(jq -r '.differences[] | select(.key == "workspace.mode") | .b' <<<"$output")" = ro ]
}

@test "profile schema: one JSON Schema with every shipped key" {
	profile schema
	assert_status 0
	[ "$(jq -r .additionalProperties <<<"$output")" = false ]
	[ "$(jq -r '.properties.limits.properties.memory.default' <<<"$output")" = 2G ]
	[ "$(jq -r '.properties.workspace.properties.mode.enum | length' <<<"$output")" = 4 ]
}

@test "profile trust: a worktree profile may tighten, not loosen, until it is trusted" {
	write "$own" tight ', "extends": "offline", "limits": {"memory": "1G"}'
	profile show tight
	assert_status 0
	write "$own" loose ', "extends": "offline", "limits": {"memory": "4G"}'
	profile show loose
	assert_status 125
	assert_stderr_has "'limits.memory' is looser than in 'offline'"
	assert_stderr_has "custody profile trust $own/loose.json"
	profile trust "$own/loose.json"
	assert_status 0
	assert_output_has "$(sha256sum <"$own/loose.json" | cut -d' ' -f1)"
	profile show loose
	assert_status 0
	[ "$(stat -c %a "$CUSTODY_ROOT/etc/trust.json")" = 600 ]
}

@test "profile trust: a changed file is not trusted any more" {
	write "$own" loose ', "limits": {"memory": "4G"}'
	profile trust "$own/loose.json"
	assert_status 0
	write "$own" loose ', "limits": {"memory": "5G"}'
	profile show loose
	assert_status 125
	assert_stderr_has "it was trusted, but the file has changed since"
}

@test "profile trust --rm: removes the trust; a second time fails" {
	write "$own" loose ', "limits": {"memory": "4G"}'
	profile trust "$own/loose.json"
	profile trust --rm "$own/loose.json"
	assert_status 0
	profile show loose
	assert_status 125
	profile trust --rm "$own/loose.json"
	assert_status 1
	assert_stderr_has "is not in the trust file"
}

@test "profile trust --rm: works when the file is gone" {
	write "$own" loose ', "limits": {"memory": "4G"}'
	profile trust "$own/loose.json"
	rm "$own/loose.json"
	profile trust --rm "$own/loose.json"
	assert_status 0
}

@test "profile trust: a file that is no profile is not trusted" {
	echo '{' >"$own/bad.json"
	profile trust "$own/bad.json"
	assert_status 125
	[ ! -e "$CUSTODY_ROOT/etc/trust.json" ]
}

@test "profile trust: the rule holds for a run" {
	write "$own" loose ', "limits": {"memory": "4G"}'
	run --separate-stderr "$CUSTODY" run --profile loose -- sh -c 'echo ran'
	assert_status 125
	[[ $output != *ran* ]]
	assert_stderr_has "is looser than in 'offline'"
}

@test "profile trust: two at the same time lose nothing" {
	for i in 1 2 3 4 5 6 7 8; do
		write "$own" "p$i" ', "limits": {"memory": "4G"}'
	done
	local pids=()
	for i in 1 2 3 4 5 6 7 8; do
		"$CUSTODY" profile trust "$own/p$i.json" >/dev/null 2>&1 &
		pids+=($!)
	done
	# Not all children: with BATS_TEST_TIMEOUT the clock is one of them.
	wait "${pids[@]}"
	[ "$(jq '.trusted | length' "$CUSTODY_ROOT/etc/trust.json")" -eq 8 ]
}

@test "profile: usage errors are 64 and print the usage" {
	profile
	assert_status 64
	profile nonsense
	assert_status 64
	assert_stderr_has "unknown command 'nonsense'"
	profile show
	assert_status 64
	assert_stderr_has "usage: custody profile show"
	profile ls --origin
	assert_status 64
	assert_stderr_has "unknown option '--origin'"
	profile diff offline
	assert_status 64
}

@test "profile: a full disk is noticed" {
	[ -c /dev/full ]
	run bash -c '"$1" profile schema >/dev/full' _ "$CUSTODY"
	assert_status 125
}

@test "bad profile: missing" {
	refused ./gone.json "gone.json"
}

@test "bad profile: unreadable" {
	custody_teardown
	suite_setup_user
	write . secret
	chmod 0 secret.json
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" secret.json
	refused ./secret.json "cannot be read: chmod u+r"
}

@test "bad profile: writable by other users, by its group" {
	write "$CUSTODY_HOME" p
	chmod 0666 "$CUSTODY_HOME/p.json"
	refused "$CUSTODY_HOME/p.json" "writable by other users: chmod go-w"
	chmod 0664 "$CUSTODY_HOME/p.json"
	refused "$CUSTODY_HOME/p.json" "writable by its group: chmod go-w"
}

@test "bad profile: owned by another user" {
	skip_without root # only root can create a file of another user
	write "$CUSTODY_HOME" p
	chown 12345 "$CUSTODY_HOME/p.json"
	refused "$CUSTODY_HOME/p.json" "belongs to uid 12345"
}

@test "bad profile: symbolic link" {
	write "$CUSTODY_HOME" p
	ln -s p.json "$CUSTODY_HOME/l.json"
	refused "$CUSTODY_HOME/l.json" "is a symbolic link"
}

@test "bad profile: FIFO, directory, device" {
	mkfifo "$CUSTODY_HOME/fifo.json"
	mkdir "$CUSTODY_HOME/dir.json"
	refused "$CUSTODY_HOME/fifo.json" "is a FIFO, not a file"
	refused "$CUSTODY_HOME/dir.json" "is a directory, not a file"
	refused /dev/zero "is a device, not a file"
}

@test "bad profile: 1 GB is not read" {
	truncate -s 1G "$CUSTODY_HOME/huge.json"
	refused "$CUSTODY_HOME/huge.json" "has 1073741824 bytes, more than the limit of 262144"
}

@test "bad profile: binary" {
	head -c 4096 "$CUSTODY" >"$CUSTODY_HOME/bin.json"
	refused "$CUSTODY_HOME/bin.json" "NUL byte"
}

@test "bad profile: unknown key, wrong type, trailing comma, doubled key" {
	write . p ', "limits": {"memroy": "1G"}'
	refused ./p.json "unknown key 'limits.memroy': did you mean 'memory'?"
	write . p ', "limits": {"memory": true}'
	refused ./p.json "'limits.memory' must be a size"
	write . p ', "limits": {"pids": 512,}'
	refused ./p.json "p.json:1:"
	write . p ', "limits": {}, "limits": {}'
	refused ./p.json "p.json:1:"
}

@test "bad profile: dangers are refused with the word that allows them" {
	# shellcheck disable=SC2016 # custody's variable, not the shell's
	write "$CUSTODY_HOME" p ', "filesystem": {"rw": ["${home}"]}'
	refused "$CUSTODY_HOME/p.json" "add \"rw-home\" to 'dangerous'"
	write "$CUSTODY_HOME" p ', "filesystem": {"rw": ["/:/host"]}'
	refused "$CUSTODY_HOME/p.json" "add \"rw-root\" to 'dangerous'"
	write "$CUSTODY_HOME" p ', "filesystem": {"ro": ["/var/run/docker.sock"]}'
	refused "$CUSTODY_HOME/p.json" "add \"engine-socket\" to 'dangerous'"
	write "$CUSTODY_HOME" p ', "network": {"mode": "host"}'
	refused "$CUSTODY_HOME/p.json" "add \"host-network\" to 'dangerous'"
	write "$CUSTODY_HOME" p ', "dangerous": ["no-user-namespace"]'
	refused "$CUSTODY_HOME/p.json" "add \"host-root\" to 'dangerous'"
}

@test "bad profile: a circle of extends is shown" {
	write "$admin" a ', "extends": "b"'
	write "$admin" b ', "extends": "a"'
	profile show a
	assert_status 125
	assert_stderr_has "a -> b -> a"
}

@test "profile: works for a user in a user namespace of one id" {
	custody_teardown
	suite_setup_user
	CUSTODY_AS+=(unshare -r)
	profile show offline
	assert_status 0
}

@test "profile schema: the man page names every key" {
	page=$BATS_TEST_DIRNAME/../../docs/man/custody-profile.5.md
	profile schema
	# shellcheck disable=SC2016 # jq's variable
	keys=$(jq -r '.properties | to_entries[] | .key as $s | if .value.properties then .value.properties | keys[] |
		"\($s).\(.)" else $s end' <<<"$output")
	[ "$(wc -l <<<"$keys")" -gt 40 ]
	while read -r key; do
		grep -qF "\`$key\`" "$page" || {
			[ "$key" = "\$schema" ] || { echo "the man page lacks $key" && false; }
		}
	done <<<"$keys"
}

# default_profile WORDS...: the profile of a run that names none.
default_profile() {
	run --separate-stderr "${CUSTODY_AS[@]}" "$@" "$CUSTODY" check --json -- true
	jq -r .subject.profile.name <<<"$output"
}

@test "LANE-1: default profile: CUSTODY_PROFILE, then the worktree's .custody/profile, then custody.json, then offline" {
	local as
	for as in suite_setup suite_setup_user; do
		custody_teardown
		"$as"
		[ "$(default_profile)" = offline ]
		mkdir -p "$CUSTODY_ROOT/etc"
		echo '{"profile": "build"}' >"$CUSTODY_ROOT/etc/custody.json"
		[ "$(default_profile)" = build ]
		mkdir -p .custody
		printf ' review \n\n' >.custody/profile
		[ "$as" = suite_setup ] || [ "$(id -u)" -ne 0 ] || chown -R "$SUITE_UID" .custody
		default_profile
		[ "$(default_profile env CUSTODY_PROFILE=scratch)" = scratch ]
		[ "$(default_profile env CUSTODY_PROFILE=)" = review ] || custody_fail "$output $stderr"
		run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" check --json -p offline -- true
		[ "$(jq -r .subject.profile.name <<<"$output")" = offline ]
		run --separate-stderr "${CUSTODY_AS[@]}" env CUSTODY_PROFILE='no such' "$CUSTODY" run -- echo RAN
		assert_status 125
		[[ $output != *RAN* ]]
		assert_stderr_has CUSTODY_PROFILE
	done
}

@test "attack: .custody/profile of the worktree may only tighten, unless it is trusted" {
	mkdir -p .custody/profiles "$CUSTODY_ROOT/etc/profiles"
	jq -n '{schema: 1, name: "wide", extends: "offline", network: {mode: "host"}, dangerous: ["host-network"]}' >"$CUSTODY_ROOT/etc/profiles/wide.json"
	jq -n '{schema: 1, name: "own", extends: "wide", limits: {pids: 20}}' >.custody/profiles/own.json
	jq -n '{schema: 1, name: "tight", extends: "offline", limits: {pids: 20}}' >.custody/profiles/tight.json
	for name in wide own; do
		echo "$name" >.custody/profile
		custody_run -- echo RAN
		assert_status 125
		[[ $output != *RAN* ]]
		assert_stderr_has "may only tighten"
		assert_stderr_has "custody profile trust $PWD/.custody/profile"
		"$CUSTODY" ledger show --kind session.refused --json | grep '"refused":"profile"' >/dev/null
	done
	# Named by the caller it is the caller's choice.
	custody_run -p tight -- echo RAN
	assert_status 0
	echo tight >.custody/profile
	custody_run -- echo RAN
	assert_status 0
	[ "$(jq -r .profile <<<"$CUSTODY_RESULT")" = tight ]
	# Trusted, until it changes.
	echo wide >.custody/profile
	"$CUSTODY" profile trust .custody/profile
	[ "$(default_profile)" = wide ]
	echo own >.custody/profile
	custody_run -- echo RAN
	assert_status 125
	assert_stderr_has "has changed since"
	[[ $output != *RAN* ]]
}

@test "attack: a hostile .custody/profile is refused by name and hangs nothing" {
	mkdir -p .custody
	printf 'offline\nbuild\n' >.custody/profile
	custody_run -- echo RAN
	assert_status 125
	assert_stderr_has "must hold the name of one profile"
	printf '../../etc/x\n' >.custody/profile
	custody_run -- echo RAN
	assert_status 125
	printf 'off\0line' >.custody/profile
	custody_run -- echo RAN
	assert_status 125
	: >.custody/profile
	custody_run -- echo RAN
	assert_status 125
	[[ $output != *RAN* ]]
	rm .custody/profile
	ln -s /etc/passwd .custody/profile
	custody_run -- echo RAN
	assert_status 125
	assert_stderr_has "symbolic link"
	rm .custody/profile
	mkfifo .custody/profile
	custody_run -- echo RAN
	assert_status 125
	assert_stderr_has "FIFO"
	[[ $output != *RAN* ]]
	rm .custody/profile
	mkdir .custody/profile
	custody_run -- echo RAN
	assert_status 125
	rmdir .custody/profile
	truncate -s 1G .custody/profile
	custody_run -- echo RAN
	assert_status 125
	assert_stderr_has "more than the limit"
	[[ $output != *RAN* ]]
}
