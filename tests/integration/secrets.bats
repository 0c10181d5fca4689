#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016 # ${cwd} is the profile's
# Secrets at the top level of the worktree are hidden inside, and neither applied nor captured.

load ../lib/suite.bash

setup() {
	suite_setup
	make_tree
}

teardown() { custody_teardown; }

as_user() {
	suite_setup_user
	make_tree
	[ "$(id -u)" -ne 0 ] || chown -R "$SUITE_UID:$SUITE_UID" "$PWD"
}

hidden_names=(.env .env.local .netrc .ssh/id .aws/credentials .kube/config .docker/config.json id_ed25519 a.pem b.key sub/linked)

make_tree() {
	local n
	mkdir -p .ssh .aws .kube .docker sub
	for n in "${hidden_names[@]}"; do
		printf -- '-----BEGIN PRIVATE KEY-----\nTOPSECRET %s\n' "$n" >"$n"
	done
	ln -s sub/linked .env.linked
	for n in .env.example id_ed25519.pub id_map.c cert.pem public.key .docker/other sub/.env; do
		printf 'SHOWN %s\n' "$n" >"$n"
	done
	find . -type f -print0 | sort -z | xargs -0 sha256sum >"$CUSTODY_HOME/sums"
}

tree_is_unchanged() {
	find . -type f -print0 | sort -z | xargs -0 sha256sum | diff - "$CUSTODY_HOME/sums"
}

# Reads, replaces, moves and removes; renames of a parent directory as well.
# shellcheck disable=SC2016 # expanded inside
ATTACK='grep -rs TOPSECRET . ; cat .env a.pem .env.linked
for f in .env .netrc a.pem; do ln "$f" linked; mv "$f" moved; rm -f "$f"; cp "$f" copied; echo over >"$f"; done
mv .docker away; cat away/config.json; mv sub gone; cat gone/linked; rm -rf .ssh .aws; grep -rs TOPSECRET . /proc/self/root"$PWD"
true'

modes_hide() {
	local mode
	for mode in overlay ro rw; do
		suite_profile "$mode" "{\"workspace\": {\"mode\": \"$mode\", \"protect\": []}, \"filesystem\": {\"hide\": [\"\${cwd}/sub/linked\"]},
			\"enforce\": {\"optional\": [\"memory-limit\", \"pids-limit\", \"cpu-limit\"]}}"
		chmod 0644 "$PROFILE"
		custody_run --yes --profile "$PROFILE" -- sh -c 'grep -rh SHOWN . | sort; grep -rs TOPSECRET .; cat .env .env.linked; ls -A .ssh .aws .kube; true'
		assert_status 0
		assert_output_has "SHOWN .env.example"
		assert_output_has "SHOWN id_ed25519.pub"
		assert_output_has "SHOWN id_map.c"
		assert_output_has "SHOWN cert.pem"
		assert_output_has "SHOWN sub/.env"
		[[ $output != *TOPSECRET* && $output != *credentials* ]]
		tree_is_unchanged
	done
}

@test "ISO-12: secrets at the worktree's top level are hidden in overlay, ro and rw; other files are shown" {
	modes_hide
}

@test "ISO-12: rootless: secrets at the worktree's top level are hidden in overlay, ro and rw; other files are shown" {
	as_user
	modes_hide
}

@test "ISO-12: a command cannot read, move or remove a hidden secret; apply does not change it" {
	custody_run -- sh -c "$ATTACK"
	assert_status 0
	[[ $output != *TOPSECRET* ]]
	tree_is_unchanged
	run "$CUSTODY" diff
	[[ $output == *b/copied* && $output != *[+-]TOPSECRET* && $output != *" a/.env"* ]]
	"$CUSTODY" apply
	[ -e copied ]
	local n
	for n in .env .env.local .netrc .ssh/id .aws/credentials .kube/config id_ed25519 a.pem b.key; do
		grep -qF "TOPSECRET $n" "$n"
	done
}

# A command that may write prepares what the next one reads: both runs, as the caller of this function.
second_run_reads_nothing() {
	local json='{"workspace": {"mode": "rw", "protect": []}, "filesystem": {"hide": ["${cwd}/sub/linked", "${cwd}/sub/deep/hidden"]},
		"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	mkdir -p sub/deep
	echo TOPSECRET hidden >sub/deep/hidden
	[ "$(id -u)" -ne 0 ] || chown -R --reference=. .
	suite_profile rw "$json"
	chmod 0644 "$PROFILE"
	custody_run --profile "$PROFILE" -- sh -c 'mv .docker away; mv sub gone; mv sub/deep gone; mv .ssh shown; mv .env .env.example; rm .env.linked
		cat away/config.json gone/linked .docker/config.json sub/linked; grep -rs TOPSECRET .; echo over'
	assert_status 0
	assert_output_has over
	[[ $output != *TOPSECRET* ]]
	custody_run --profile "$PROFILE" -- sh -c 'ls -d .docker sub/deep; grep -rs TOPSECRET .; true'
	assert_output_has .docker
	assert_output_has sub/deep
	[[ $output != *TOPSECRET* ]]
	[ "$(cat .docker/config.json sub/deep/hidden | grep -c TOPSECRET)" -eq 2 ]
}

@test "ISO-12: in mode rw a command cannot move a hidden file to where the next run reads it" {
	suite_ungoverned
	second_run_reads_nothing
}

@test "ISO-12: rootless: in mode rw a command cannot move a hidden file to where the next run reads it" {
	SUITE_UNGOVERNED=1
	as_user
	second_run_reads_nothing
}

@test "ISO-12: in mode rw a secret that only a link names refuses the run: the link could be removed" {
	suite_ungoverned
	suite_profile rw '{"workspace": {"mode": "rw", "protect": []}}'
	custody_run --profile "$PROFILE" -- sh -c 'rm .env.linked; echo started'
	assert_status 125
	assert_stderr_has "'sub/linked'"
	assert_stderr_has '${cwd}/sub/linked'
	[[ $output != *started* ]]
	[ -L .env.linked ]
	# A link to a file that is hidden by its own name is no obstacle.
	ln -sfn .env .env.linked
	custody_run --profile "$PROFILE" -- sh -c 'rm .env.linked; cat .env; echo started'
	assert_status 0
	[ "$output" = started ]
}

@test "ISO-12: in mode rw a link in a path of filesystem.hide refuses the run; its target is hidden" {
	local path
	suite_ungoverned
	rm .env.linked
	mkdir real
	echo TOPSECRET real >real/file
	ln -s real by
	ln -s real/file direct
	for path in by/file direct; do
		suite_profile rw "{\"workspace\": {\"mode\": \"rw\", \"protect\": []}, \"filesystem\": {\"hide\": [\"\${cwd}/$path\"]}}"
		custody_run --profile "$PROFILE" -- sh -c 'rm by direct; echo started'
		assert_status 125
		assert_stderr_has "is a symbolic link"
		[[ $output != *started* ]]
	done
	suite_profile rw '{"workspace": {"mode": "rw", "protect": []}, "filesystem": {"hide": ["${cwd}/real/file"]}}'
	custody_run --profile "$PROFILE" -- sh -c 'mv real x; cat real/file by/file direct; echo started'
	assert_status 0
	[ "$output" = started ]
}

@test "GOV-7: a hidden file in a disposable root does not ask" {
	suite_profile rw '{"workspace": {"mode": "rw"}}'
	custody_run --profile "$PROFILE" --sandbox s --disposable -- sh -c 'mkdir .docker; echo TOPSECRET >.docker/config.json'
	assert_status 0
	custody_run --profile "$PROFILE" --sandbox s -- sh -c 'mv .docker x; grep -rs TOPSECRET .; echo started'
	assert_status 0
	[ "$output" = started ]
}

@test "ISO-12: names of secrets count in any case" {
	echo TOPSECRET >.ENV
	echo 'TOPSECRET PRIVATE KEY' >Server.KEY
	echo SHOWN >.Env.Example
	custody_run -- sh -c 'cat .Env.Example; grep -rs TOPSECRET .; true'
	assert_status 0
	[ "$output" = SHOWN ]
}

@test "ISO-5: evidence of the whole tree contains no hidden secret" {
	local taken
	custody_run -- sh -c 'echo made >made; kill -9 $$'
	assert_status 137
	taken=$(custody_result .evidence)
	[ "$(cat "$taken/worktree/made" "$taken/worktree/sub/.env")" = "made
SHOWN sub/.env" ]
	run grep -rl TOPSECRET "$taken"
	[ "$status" -eq 1 ]
}

@test "GOV-9: the subject has the patterns, not the files: a new secret changes no digest" {
	local before after
	before=$("$CUSTODY" check --json -- true | jq -r .digest)
	echo TOPSECRET >.env.new
	"$CUSTODY" check --json -- true >"$CUSTODY_HOME/check.json"
	after=$(jq -r .digest "$CUSTODY_HOME/check.json")
	[ -n "$before" ] && [ "$before" = "$after" ]
	jq -e '.subject.secrets | index(".env")' "$CUSTODY_HOME/check.json"
	run grep -F .env.new "$CUSTODY_HOME/check.json"
	[ "$status" -eq 1 ]
	[ "$("$CUSTODY" check --json --show-secrets -- true | jq -r .digest)" != "$after" ]
}

@test "ISO-12: --show-secrets and workspace.show_secrets show them; a profile of the worktree cannot" {
	custody_run --show-secrets -- cat .env
	assert_status 0
	assert_output_has TOPSECRET
	suite_profile shown '{"workspace": {"show_secrets": true}}'
	custody_run --profile "$PROFILE" -- cat .env
	assert_output_has TOPSECRET
	mkdir -p .custody/profiles
	printf '{"schema":1,"name":"sly","extends":"offline","workspace":{"show_secrets":true}}' >.custody/profiles/sly.json
	custody_run --profile sly -- cat .env
	assert_status 125
	assert_stderr_has workspace.show_secrets
	[[ $output != *TOPSECRET* ]]
}

@test "ISO-12: a hidden secret is no operand: its bytes are not sealed into the container" {
	echo 'echo TOPSECRET ran' >.env
	custody_run -- sh .env
	[[ $output != *TOPSECRET* ]]
}

@test "ISO-12: links out of the tree, to the tree, loops, FIFOs and directories with these names are no obstacle" {
	rm -rf .env .env.linked .ssh .aws
	ln -s / .env
	ln -s . .ssh
	ln -s .aws .aws
	mkfifo f.key .env.fifo
	mkdir d.pem id_dir .env.dir
	echo SHOWN >.env.dir/file
	custody_run -- cat .env.dir/file sub/.env
	assert_status 0
	assert_output_has "SHOWN sub/.env"
}

@test "ISO-12: a secret whose name cannot be hidden refuses the run by name; nothing starts" {
	printf TOPSECRET >$'.env.\nx'
	custody_run -- sh -c 'echo started'
	assert_status 125
	assert_stderr_has "cannot be hidden"
	assert_stderr_has -- --show-secrets
	[[ $output != *started* ]]
}

@test "ISO-12: the hidden files are named once on a terminal, not on a pipe" {
	custody_run -- true
	[[ $stderr != *hidden* ]]
	run script -qec "'$CUSTODY' run -- true" /dev/null
	[ "$(grep -c "hidden inside: .*'.env'.*--show-secrets" <<<"$output")" -eq 1 ]
}

@test "ISO-12: a bundle hides the secrets that exist when it is made" {
	"$CUSTODY" bundle -o "$CUSTODY_HOME/b" -- true
	jq -e --arg p "$PWD/.env" '.linux.maskedPaths | index($p)' "$CUSTODY_HOME/b/config.json"
}

@test "ISO-12: a file that replaces a secret by -v is shown" {
	echo other >"$CUSTODY_HOME/other"
	custody_run -v "$CUSTODY_HOME/other:$PWD/.env" -- cat .env
	assert_status 0
	[ "$output" = other ]
}
