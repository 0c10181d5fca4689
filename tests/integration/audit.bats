#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154,SC2317 # scripts for the inside; bats' subshells; functions as arguments
#
# CARD-3, CARD-5: under crun and runc an abnormal end leaves evidence and a whole story in the ledger, and nothing else.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	umask 022
	lay_out
}

teardown() {
	custody_teardown
}

lay_out() {
	mkdir -p dir
	echo original >kept
	echo inside >dir/file
	echo away >gone
	[ "$(id -u)" -ne 0 ] || chown -hR "$(owner)" .
	profile plain '{}'
}

owner() {
	if [ ${#CUSTODY_AS[@]} -gt 0 ]; then
		echo "$SUITE_UID:$SUITE_UID"
	else
		echo 64321:64322
	fi
}

profile() { # NAME JSON
	jq -n --arg name "$1" --argjson body "$2" '{schema: 1, name: $name, extends: "offline",
		enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}} + $body' >"$CUSTODY_HOME/$1.json"
	[ "$(id -u)" -ne 0 ] || [ ${#CUSTODY_AS[@]} -eq 0 ] || chown "$SUITE_UID" "$CUSTODY_HOME/$1.json"
}

write() { # CMD...: a bundle of profile plain
	bundle --profile "$CUSTODY_HOME/plain.json" -- "$@"
}

both() {
	for RUNTIME in crun runc; do
		echo "under $RUNTIME" >&2
		"$@"
	done
}

custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}
last() { # KIND FILTER
	custody ledger show --json | jq -r --arg k "$1" "[.records[] | select(.k == \$k)] | last | $2"
}
records() { # KIND: how many
	custody ledger show --json | jq --arg k "$1" '[.records[] | select(.k == $k)] | length'
}
taken() { # the directory of the session that ended last; "null": none
	last session.end .d.evidence
}
entry() { # PATH KEY: of its manifest
	jq -r --arg p "$1" "select(.p == \$p) | .$2" "$(taken)/manifest.ndjson"
}
metadata() { # FILTER
	jq -r "$1" "$(taken)/metadata.json"
}
store() { # how many are in the store
	find "$CUSTODY_ROOT/forensics" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l
}

# Nothing but the record and the evidence.
clean() {
	[ -z "$(ls "$CUSTODY_ROOT/run/sessions")" ] || custody_fail "session left: $(find "$CUSTODY_ROOT/run/sessions")"
	[ -z "$(ls "$CUSTODY_ROOT/sandbox/open")" ] || custody_fail 'a claim is left'
	[ -z "$(ls "$CUSTODY_ROOT/sandbox/sessions" 2>/dev/null)" ] || custody_fail 'state is left'
	custody ledger verify >/dev/null || custody_fail "$(custody ledger verify)"
}

# The evidence is whole, and is what the ledger says.
sound() {
	local name
	name=$(basename "$(taken)")
	custody evidence verify "$name" >/dev/null
	[ "$(sha256sum <"$(taken)/metadata.json" | cut -d' ' -f1)" = "$(last session.end .d.evidence_sha256)" ]
	[ "$name" = "$(last session.end .session)" ]
	[ "$(last session.intent .session)" = "$name" ]
}

runs() { # STATUS
	runtime_run "$RUNTIME" "$BUNDLE"
	[ "$status" -eq "$1" ] || custody_fail "status $status: $stderr"
	clean
}

@test "CARD-3: audit stands in every bundle, and taking it out is refused" {
	write true
	[ "$(jq -r '.hooks.poststop[0].args[1]' "$BUNDLE/config.json")" = audit ]
	[ "$(jq -r '.hooks.poststop[0].env | join(" ")' "$BUNDLE/config.json")" = 'LC_ALL=C' ]
	cp "$BUNDLE/config.json" "$CUSTODY_HOME/kept"
	without() {
		jq "$1" "$CUSTODY_HOME/kept" >"$BUNDLE/config.json"
		runtime_run "$RUNTIME" "$BUNDLE"
		[ "$status" -ne 0 ]
		assert_stderr_has 'config.json is not what the subject says'
		[ "$(store)" -eq 0 ]
		[ "$(records session.start)" -eq 0 ]
		clean
	}
	both without 'del(.hooks.poststop)'
	both without '.hooks.poststop[0].args += ["--env=HOME=/"]'
	both without '.hooks.createRuntime[1].args[2] |= sub("/run\""; "/ran\"")'
}

@test "CARD-3: ISO-4: a normal end is one record and nothing else" {
	write sh -c 'echo new >new; rm gone'
	normal() {
		runs 0
		[ "$(last session.end '[.d.reason, .d.code, .d.abnormal, .status] | join(" ")')" = 'exited 0 false ok' ]
		[ "$(taken)" = null ]
		[ "$(store)" -eq 0 ]
	}
	both normal
}

changes_are_kept() {
	runs 3
	[ "$(last session.end '[.d.reason, .d.code, .d.abnormal] | join(" ")')" = 'exited 3 true' ]
	sound
	[ "$(cat "$(taken)/worktree/new")" = new ]
	[ "$(cat "$(taken)/worktree/dir/file")" = "inside
more" ]
	[ ! -e "$(taken)/worktree/kept" ]
	[ "$(entry gone t)" = gone ]
	[ "$(entry new uid):$(entry new gid)" = "$(owner)" ]
	[ "$(metadata '[.scope, .status, .exit.code, .container, .bundle] | join(" ")')" = "changes complete 3 $CONTAINER $BUNDLE" ]
	# The original has not been touched.
	[ "$(cat kept gone dir/file)" = "original
away
inside" ]
}

@test "CARD-3: CARD-5: ISO-4: ISO-5: a status other than 0 keeps what was changed" {
	write sh -c 'echo new >new; echo more >>dir/file; rm gone; exit 3'
	both changes_are_kept
}

@test "CARD-3: CARD-5: ISO-5: a user's bundle leaves evidence as well" {
	suite_setup_user
	lay_out
	write sh -c 'echo new >new; echo more >>dir/file; rm gone; exit 3'
	RUNTIME=crun
	changes_are_kept
	write sh -c 'echo new >new; kill -SEGV $$'
	whole_tree 139
}

whole_tree() { # STATUS
	runs "$1"
	[ "$(last session.end .d.code)" = "$1" ]
	sound
	[ "$(cat "$(taken)/worktree/"{kept,new,gone,dir/file})" = "original
new
away
inside" ]
	[ "$(metadata '[.scope, .status] | join(" ")')" = 'all complete' ]
}

@test "CARD-3: CARD-5: ISO-4: a signal, as a shell tells it, keeps the whole tree" {
	write sh -c 'echo new >new; kill -SEGV $$'
	both whole_tree 139
}

@test "CARD-5: ISO-5: the evidence has subject and config as they ran, says what it has not, and no secret" {
	bundle --profile "$CUSTODY_HOME/plain.json" -e SECRET=hunter2 -- sh -c 'exit 3'
	files() {
		runs 3
		sound
		[ "$(cd "$(taken)" && echo *)" = 'SHA256SUMS config.json manifest.ndjson metadata.json subject.json worktree' ]
		[ "$(metadata '.absent | join(" ")')" = 'audit.ndjson stdio.log' ]
		cmp <(jq -cjS .subject "$BUNDLE/subject.json") "$(taken)/subject.json"
		[ "sha256:$(sha256sum <"$(taken)/subject.json" | cut -d' ' -f1)" = "$(metadata .digest)" ]
		cmp <(jq '.process.env |= map(sub("=.*"; "=[redacted]"))' "$BUNDLE/config.json") <(jq . "$(taken)/config.json")
		run grep -rl hunter2 "$(taken)"
		[ "$status" -eq 1 ]
		jq -e '.process.env | index("SECRET=[redacted]")' "$(taken)/config.json"
	}
	both files
}

started() { # ID CMD...: the container runs and its command has said so, through the file `ready` of its tree
	runtime "$RUNTIME" create -b "$BUNDLE" "$1" < <(:) >/dev/null
	runtime "$RUNTIME" start "$1"
	wait_until told session.start "$((STARTS += 1))"
}
told() { # KIND COUNT
	[ "$(records "$1")" -ge "$2" ]
}
# ready ID: its command is past the point where it wrote `new`.
ready() {
	wait_until exec_in "$1" test -e /work/new
}
exec_in() { # ID CMD...: without the runtime's exec, which a user may not have
	local pid
	pid=$(runtime "$RUNTIME" state "$1" | jq .pid)
	shift
	nsenter -t "$pid" -m -r -- "$@"
}

@test "CARD-3: CARD-5: ISO-4: killed from outside: the true signal, and the whole tree" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	STARTS=0
	write sh -c 'echo new >new; exec sleep 1000'
	killed() {
		local id=custody-test-killed-$RUNTIME-$$
		started "$id"
		ready "$id"
		runtime "$RUNTIME" kill "$id" KILL
		wait_until told session.end "$STARTS"
		runtime "$RUNTIME" delete "$id"
		clean
		[ "$(last session.end '[.d.reason, .d.signal, .d.code] | join(" ")')" = 'signaled 9 137' ]
		sound
		[ "$(cat "$(taken)/worktree/"{kept,new})" = "original
new" ]
	}
	both killed
}

@test "CARD-3: CARD-5: a running container that is deleted by force leaves evidence" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	STARTS=0
	write sh -c 'echo new >new; exec sleep 1000'
	forced() {
		local id=custody-test-forced-$RUNTIME-$$
		started "$id"
		ready "$id"
		runtime "$RUNTIME" delete --force "$id"
		runtime_settle
		clean
		[ "$(last session.end '[.d.reason, .d.signal] | join(" ")')" = 'signaled 9' ]
		sound
		[ "$(cat "$(taken)/worktree/new")" = new ]
	}
	both forced
}

@test "CARD-3: ISO-4: a refused container leaves a record and no evidence" {
	judged_strictly
	refused() {
		runtime_run "$RUNTIME" "$BUNDLE"
		[ "$status" -ne 0 ]
		assert_stderr_has 'needs approval'
		[ "$(last session.refused .status)" = denied ]
		[ "$(records session.start)" -eq 0 ]
		[ "$(store)" -eq 0 ]
		clean
	}
	profile plain '{"workspace": {"mode": "rw"}}'
	echo 'exit 3' >script.sh
	write sh script.sh
	both refused
}
judged_strictly() {
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{}' >"$CUSTODY_ROOT/etc/custody.json"
}

@test "CARD-5: ISO-4: the other kinds of worktree: in memory whole, ro and rw named" {
	kind() { # JQ-FILTER WANT
		runs 3
		sound
		[ "$(metadata "$1")" = "$2" ]
	}
	profile plain '{"workspace": {"mode": "tmpfs"}}'
	write sh -c 'echo new >new; exit 3'
	both kind '[.scope, .status, .tree.files] | join(" ")' 'all complete 1'
	[ "$(cat "$(taken)/worktree/new")" = new ]
	profile plain '{"workspace": {"mode": "ro"}}'
	write sh -c 'exit 3'
	both kind '[.status, .why] | join(" ")' 'none the worktree was read-only: nothing was changed'
	profile plain '{"workspace": {"mode": "rw"}}'
	write sh -c 'exit 3'
	both kind '[.status, .why] | join(" ")' 'none the worktree was written in place: what was changed is there'
}

@test "ISO-4: the profile says after what, and how much" {
	keeps() { # STATUS COUNT
		rm -rf "$CUSTODY_ROOT/forensics"
		runs "$1"
		[ "$(store)" -eq "$2" ] || custody_fail "$(store) are kept"
	}
	profile plain '{"forensics": {"expect_exit": [3, 143]}}'
	write sh -c 'exit 3'
	both keeps 3 0
	write sh -c 'kill -TERM $$'
	both keeps 143 0
	write sh -c 'exit 4'
	both keeps 4 1
	# A signal inside is known as its shell's number: both words mean it.
	profile plain '{"forensics": {"on": ["signaled"]}}'
	write sh -c 'kill -SEGV $$'
	both keeps 139 1
	write sh -c 'exit 4'
	both keeps 4 0
	profile plain '{"forensics": {"capture": "all"}}'
	write sh -c 'exit 4'
	both keeps 4 1
	[ "$(metadata .scope)" = all ]
}

@test "ISO-5: what is hidden inside is not in the evidence" {
	profile plain '{"filesystem": {"hide": ["/work/dir"]}}'
	write sh -c 'kill -SEGV $$'
	hidden() {
		runs 139
		[ "$(cat "$(taken)/worktree/kept")" = original ]
		[ ! -e "$(taken)/worktree/dir/file" ]
	}
	both hidden
}
