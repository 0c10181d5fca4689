#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Evidence of an abnormal exit, and the commands that read it.

load ../lib/suite.bash

setup() {
	suite_setup
	echo original >kept
	mkdir dir
	echo inside >dir/file
}

teardown() {
	suite_end_deliveries
	custody_teardown
}

evidence() { # VERB...: as the suite's user
	"${CUSTODY_AS[@]}" "$CUSTODY" evidence "$@"
}

# The directory of the run before.
taken() {
	custody_result .evidence
}

entry() { # PATH KEY: of the manifest
	jq -r --arg p "$1" "select(.p == \$p) | .$2" "$(taken)/manifest.ndjson"
}

sums() { # DIR: SHA256SUMS as a forger makes it
	# shellcheck disable=SC2046 # names without blanks
	(cd "$1" && sha256sum $(cut -c67- SHA256SUMS) >new && mv new SHA256SUMS)
}

@test "ISO-4: a normal end keeps nothing" {
	custody_run -- sh -c 'echo new >new'
	assert_status 0
	[ "$(taken)" = null ]
	[ ! -e "$CUSTODY_ROOT/forensics" ]
}

@test "ISO-4: a status other than 0 keeps the changes, without a message" {
	custody_run -- sh -c 'echo new >new; echo more >>dir/file; rm kept; exit 3'
	assert_status 3
	[ -z "$stderr" ]
	[ "$(cat "$(taken)/worktree/new")" = new ]
	[ "$(cat "$(taken)/worktree/dir/file")" = "inside
more" ]
	[ "$(entry kept t)" = gone ]
	[ "$(jq -r .scope "$(taken)/metadata.json")" = changes ]
	[ "$(jq -r .status "$(taken)/metadata.json")" = complete ]
	# The original has not been touched.
	[ "$(cat kept dir/file)" = "original
inside" ]
}

@test "ISO-5: config.json is the one of the runtime, without the values of the environment" {
	SECRET=hunter2 custody_run -e SECRET -- sh -c 'exit 3'
	assert_status 3
	[ "$(jq -c '.process.args[-3:]' "$(taken)/config.json")" = '["sh","-c","exit 3"]' ]
	jq -e '.process.env | index("SECRET=[redacted]")' "$(taken)/config.json" >/dev/null
	jq -e --arg tree "$PWD" '[.mounts[].destination] | index($tree)' "$(taken)/config.json" >/dev/null
	jq -e '.absent | index("config.json") | not' "$(taken)/metadata.json" >/dev/null
	run grep -rl hunter2 "$(taken)"
	[ "$status" -eq 1 ]
	(cd "$(taken)" && sha256sum --quiet -c SHA256SUMS)
}

@test "ISO-4: a signal keeps the whole tree" {
	custody_run -- sh -c 'echo new >new; kill -9 $$'
	assert_status 137
	assert_stderr_has "evidence: "
	[ "$(cat "$(taken)/worktree/"{kept,new,dir/file})" = "original
new
inside" ]
	[ "$(jq -r .scope "$(taken)/metadata.json")" = all ]
	[ "$(jq -r .exit.signal "$(taken)/metadata.json")" = 9 ]
}

@test "ISO-4: time, memory and size are kept with their reason" {
	custody_run --timeout 3 -- sh -c 'echo new >new; sleep 60'
	assert_status 124
	[ "$(jq -r .exit.reason "$(taken)/metadata.json")" = timeout ]
	[ "$(cat "$(taken)/worktree/new")" = new ]
	custody_run --memory 32M -- sh -c 'echo big >big; head -c 200M /dev/zero | tail >/dev/null; kill -9 $$'
	[ "$(jq -r .exit.reason "$(taken)/metadata.json")" = oom ]
	[ "$(cat "$(taken)/worktree/big")" = big ]
}

@test "ISO-4: a worktree in memory is still there when its container is gone" {
	echo '{"schema":1,"name":"mem","extends":"offline","workspace":{"mode":"tmpfs"}}' >"$CUSTODY_HOME/mem.json"
	custody_run --profile "$CUSTODY_HOME/mem.json" -- sh -c 'mkdir a; echo x >a/x; kill -9 $$'
	assert_status 137
	[ "$(cat "$(taken)/worktree/a/x")" = x ]
}

@test "ISO-4: a container in which nothing ran leaves no evidence, nor does a Ctrl-C" {
	custody_run --profile no-such-profile -- true
	assert_status 125
	[ ! -e "$CUSTODY_ROOT/forensics" ]
	mkfifo "$CUSTODY_HOME/ready"
	"$CUSTODY" run -- sh -c 'echo ready; sleep 60' >"$CUSTODY_HOME/ready" 2>/dev/null &
	local pid=$! line
	read -r line <"$CUSTODY_HOME/ready"
	kill -INT "$pid"
	wait "$pid" || [ $? -eq 130 ]
	[ ! -e "$CUSTODY_ROOT/forensics" ]
}

@test "ISO-4: the profile sets after which exits, and how much" {
	cat >"$CUSTODY_HOME/p.json" <<-'END'
		{"schema":1,"name":"p","extends":"offline",
		 "forensics":{"on":["exited"],"expect_exit":[1],"capture":"all"}}
	END
	custody_run --profile "$CUSTODY_HOME/p.json" -- sh -c 'exit 1'
	[ "$(taken)" = null ]
	custody_run --profile "$CUSTODY_HOME/p.json" -- sh -c 'kill -9 $$'
	[ "$(taken)" = null ]
	custody_run --profile "$CUSTODY_HOME/p.json" -- sh -c 'exit 2'
	[ "$(cat "$(taken)/worktree/kept")" = original ]
}

@test "ISO-5: the last output is kept, and still reaches the caller" {
	custody_run -- sh -c 'echo one; echo two >&2; echo three; kill -9 $$'
	[ "$output" = "one
three" ]
	[ "$(sort "$(taken)/stdio.log" | paste -sd ' ')" = "one three two" ]
	# Of much the end; and what the caller gets is whole.
	"$CUSTODY" run --result "$CUSTODY_HOME/r.json" -- sh -c 'seq 1 300000; kill -9 $$' 2>/dev/null | sha256sum >"$CUSTODY_HOME/sum"
	[ "$(cut -d' ' -f1 "$CUSTODY_HOME/sum")" = "$(seq 1 300000 | sha256sum | cut -d' ' -f1)" ]
	[ "$(tail -n 1 "$(jq -r .evidence "$CUSTODY_HOME/r.json")/stdio.log")" = 300000 ]
	[ "$(stat -c %s "$(jq -r .evidence "$CUSTODY_HOME/r.json")/stdio.log")" -le 2097152 ]
}

@test "ISO-5: owners in the manifest are the worktree's, whatever ids the container had" {
	chown -R 4321:4322 . 2>/dev/null || skip "only root gives files away"
	custody_run -- sh -c 'echo new >new; kill -9 $$'
	[ "$(entry new uid)" = 4321 ]
	[ "$(entry kept gid)" = 4322 ]
}

@test "ISO-5: the ledger's end names the evidence and its digest" {
	custody_run -- sh -c 'kill -9 $$'
	local end
	end=$("$CUSTODY" ledger export --kind session.end)
	[ "$(jq -r .d.evidence <<<"$end")" = "$(taken)" ]
	[ "$(jq -c .audit "$(taken)/metadata.json")" = "$(jq -c .d.audit <<<"$end")" ]
	[ "$(jq -r .d.evidence_sha256 <<<"$end")" = "$(sha256sum <"$(taken)/metadata.json" | cut -d' ' -f1)" ]
	# The evidence has the session's own chain, up to the end that the lane's record anchors.
	"$CUSTODY" ledger verify --anchor "$(jq -r '"\(.d.audit.records):\(.d.audit.head)"' <<<"$end")" "$(taken)/audit.ndjson"
	"$CUSTODY" ledger verify
}

@test "ISO-5: verify reads every byte, restore writes it back" {
	custody_run -- sh -c 'ln -s /etc/passwd link; chmod 750 dir; echo new >new; kill -9 $$'
	local id
	id=$(basename "$(taken)")
	evidence verify "$id"
	evidence restore "$id" "$CUSTODY_HOME/back"
	[ "$(readlink "$CUSTODY_HOME/back/link")" = /etc/passwd ]
	[ "$(stat -c %a "$CUSTODY_HOME/back/dir")" = 750 ]
	[ "$(cat "$CUSTODY_HOME/back/"{kept,new,dir/file})" = "original
new
inside" ]
	echo changed >"$(taken)/worktree/new"
	run evidence verify "$id"
	[ "$status" -eq 1 ]
	[[ $output == *"worktree/new"* ]]
	run evidence restore "$id" "$CUSTODY_HOME/again"
	[ "$status" -eq 1 ]
	[ ! -e "$CUSTODY_HOME/again/new" ]
	# Nothing is put into a directory that has something in it.
	run evidence restore "$id" "$CUSTODY_HOME/back"
	[ "$status" -eq 125 ]
}

@test "ISO-5: verify reads the ledger: consistent evidence that differs from the record is found, and foreign evidence" {
	local id dir other=20200101T000000Z-00000000
	custody_run -- sh -c 'echo new >new; kill -9 $$'
	dir=$(taken) id=$(basename "$(taken)")
	[ "$(evidence verify --json "$id" | jq -r '"\(.ok) \(.ledger)"')" = "true named" ]
	# The same bytes under the name of a session that this ledger does not know.
	cp -a "$dir" "$(dirname "$dir")/$other"
	sed -i "s/$id/$other/" "$(dirname "$dir")/$other/metadata.json"
	sums "$(dirname "$dir")/$other"
	run evidence verify "$other"
	[ "$status" -eq 1 ]
	[[ $output == *": ok,"*"not in this ledger"* ]]
	[ "$(evidence verify --json "$other" | jq -r '"\(.ok) \(.ledger) \(.damaged)"')" = "false absent 0" ]
	# Everything made to fit again.
	sed -i 's/"agent": null/"agent": "eve"/' "$dir/metadata.json"
	sums "$dir"
	run evidence verify "$id"
	[ "$status" -eq 1 ]
	[[ $output == *": ok,"*"NOT what this ledger names"* ]]
	[ "$(evidence verify --json "$id" | jq -r '"\(.ok) \(.ledger)"')" = "false other" ]
}

@test "ISO-5: evidence whose metadata was damaged is listed by name" {
	local id verb
	custody_run -- sh -c 'echo new >new; exit 3'
	id=$(custody_result .session)
	echo junk >>"$CUSTODY_ROOT/forensics/$id/metadata.json"
	for verb in show verify rm; do
		run --separate-stderr "$CUSTODY" evidence $verb "$id"
		assert_status 125
		assert_stderr_has "the metadata.json of evidence '$id' is modified or damaged: inspect '$CUSTODY_ROOT/forensics/$id'"
	done
	[ -e "$CUSTODY_ROOT/forensics/$id/worktree/new" ]
	run --separate-stderr "$CUSTODY" evidence show ../sandbox
	assert_status 125
	assert_stderr_has "no evidence '../sandbox'"
}

@test "ISO-5: an empty name means no evidence, also if only one exists" {
	custody_run -- sh -c 'echo new >new; exit 3'
	local verb
	for verb in show verify pin rm; do
		run --separate-stderr "$CUSTODY" evidence $verb ""
		assert_status 125
		assert_stderr_has "missing evidence id"
	done
	[ -e "$(taken)/metadata.json" ]
	[ ! -e "$(taken)/pinned" ]
}

@test "LANE-5: evidence of one lane is not shown in the other" {
	custody_run -- sh -c 'kill -9 $$'
	[ "$(evidence ls --json | jq '.evidence | length')" = 1 ]
	[ "$(evidence ls --lane prod --json | jq '.evidence | length')" = 0 ]
	run evidence show --lane prod "$(basename "$(taken)")"
	[ "$status" -ne 0 ]
}

@test "ISO-6: days 0 keeps pinned evidence only, and each prune is a record" {
	custody_run -- sh -c 'kill -9 $$'
	local first
	first=$(basename "$(taken)")
	evidence pin "$first" --reason "for the report"
	custody_run -- sh -c 'kill -9 $$'
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"forensics":{"retention_days":0}}' >"$CUSTODY_ROOT/etc/custody.json"
	[ "$(evidence prune --dry-run --json | jq '.pruned | length')" = 1 ]
	[ "$(evidence ls --json | jq '.evidence | length')" = 2 ]
	evidence prune
	[ "$(evidence ls --json | jq -r '.evidence[].id')" = "$first" ]
	[ "$("$CUSTODY" ledger export --kind evidence.prune | jq -r .d.why)" = too-old ]
	run evidence rm "$first"
	[ "$status" -eq 1 ]
	evidence unpin "$first"
	evidence rm "$first"
	[ -z "$(ls -A "$CUSTODY_ROOT/forensics")" ]
}

@test "ISO-6: a profile may set how long; both spellings of the keys are accepted" {
	cat >"$CUSTODY_HOME/p.json" <<-'END'
		{"schema":1,"name":"p","extends":"offline","forensics":{"retention":"0s"}}
	END
	custody_run --profile "$CUSTODY_HOME/p.json" -- sh -c 'kill -9 $$'
	[ "$(evidence prune --json | jq -r '.pruned[].why')" = too-old ]
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"sandbox":{"forensic_retention_days":0}}' >"$CUSTODY_ROOT/etc/custody.json"
	custody_run -- sh -c 'kill -9 $$'
	# Just taken: it stays until the next prune.
	[ -d "$(taken)" ]
	[ "$(evidence prune --json | jq -r '.pruned[].why')" = too-old ]
}

@test "ISO-6: one evidence holds no more than item_max, in both spellings, and names the missing files" {
	mkdir -p "$CUSTODY_ROOT/etc"
	local key
	for key in '"forensics":{"item_max"' '"sandbox":{"forensic_item_max"'; do
		echo "{$key:\"1M\"}}" >"$CUSTODY_ROOT/etc/custody.json"
		custody_run -- sh -c 'head -c 1500000 /dev/urandom >big; kill -9 $$'
		assert_status 137
		[ "$(jq -r '.status, .tree.bytes' "$(taken)/metadata.json" | paste -sd ' ')" = "partial 1048576" ]
		[ "$(entry big size)" = 1500000 ]
		[ "$(entry big why)" != null ]
		evidence verify "$(basename "$(taken)")"
	done
}

@test "ISO-5: evidence that cannot be kept in the store is staged; evidence that cannot be kept at all is reported and recorded" {
	local end
	mkdir -p "$CUSTODY_ROOT/etc"
	echo "{\"forensics\":{\"retention_path\":\"$CUSTODY_HOME/file/below\"}}" >"$CUSTODY_ROOT/etc/custody.json"
	: >"$CUSTODY_HOME/file"
	custody_run -- sh -c 'kill -9 $$'
	assert_status 137
	[ "$(custody_result .evidence_staged)" = true ]
	[[ "$(taken)" == "$CUSTODY_ROOT/sandbox/staging/"* ]]
	end=$("$CUSTODY" ledger export --kind session.end)
	[ "$(jq -r '.d.evidence_staged, .d.evidence' <<<"$end" | paste -sd ' ')" = "true $(taken)" ]
	run --separate-stderr evidence deliver
	[ "$status" -eq 1 ]
	[ "$output" = "0 delivered, 1 staged" ]
	assert_stderr_has "is not a directory"
	rm "$CUSTODY_HOME/file"
	evidence deliver
	[ -d "$CUSTODY_HOME/file/below/$(basename "$(taken)")" ]
	# Nor can it be staged.
	rm -rf "$CUSTODY_HOME/file" "$CUSTODY_ROOT/sandbox/staging"
	: >"$CUSTODY_HOME/file"
	: >"$CUSTODY_ROOT/sandbox/staging"
	custody_run -- sh -c 'kill -9 $$'
	assert_status 137
	assert_stderr_has "cannot capture evidence"
	[ "$("$CUSTODY" ledger export --kind session.end | jq -r 'select(.d.evidence_error != null) | .d.evidence // "none"')" = none ]
}

@test "ISO-4: a user's run is kept as well" {
	suite_setup_user
	"${CUSTODY_AS[@]}" sh -c 'echo original >kept'
	cat >"$CUSTODY_HOME/u.json" <<-'END'
		{"schema":1,"name":"u","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}
	END
	custody_run --profile "$CUSTODY_HOME/u.json" -- sh -c 'echo new >new; kill -9 $$'
	assert_status 137
	[ "$(cat "$(taken)/worktree/"{kept,new})" = "original
new" ]
}

@test "ISO-4: files that a user's payload made unreadable are kept too, with their modes" {
	suite_setup_user
	"${CUSTODY_AS[@]}" sh -c 'echo original >kept'
	cat >"$CUSTODY_HOME/u.json" <<-'END'
		{"schema":1,"name":"u","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}
	END
	local shut='mkdir -p shut/deep read; echo in >shut/deep/in; echo in >read/in; echo file >file
		chmod 000 file shut/deep/in shut/deep shut; chmod 400 read; chmod 000 .' end
	for end in 'kill -9 $$' 'exit 3'; do
		custody_run --profile "$CUSTODY_HOME/u.json" -- sh -c "$shut; $end"
		[ "$(jq -r '.status, .tree.missing' "$(taken)/metadata.json" | paste -sd ' ')" = "complete 0" ]
		[ "$(cat "$(taken)/worktree/"{shut/deep/in,read/in,file} | paste -sd ' ')" = 'in in file' ]
		[ "$(entry shut mode) $(entry shut/deep/in mode) $(entry read mode) $(entry '' mode)" = "0000 0000 0400 0000" ]
		[ "$(entry shut/deep/in uid)" = "$("${CUSTODY_AS[@]}" id -u)" ]
		evidence verify "$(basename "$(taken)")"
	done
	# Nothing was opened up for it, and nothing is left.
	[ -z "$(sessions_left)" ]
	# Nor when the supervisor died.
	lose "$shut" --profile "$CUSTODY_HOME/u.json"
	"${CUSTODY_AS[@]}" "$CUSTODY" recover
	[ "$(cat "$CUSTODY_ROOT/forensics/$LOST/worktree/"{shut/deep/in,read/in,file} | paste -sd ' ')" = 'in in file' ]
	[ "$(jq -r 'select(.p == "shut") | .mode' "$CUSTODY_ROOT/forensics/$LOST/manifest.ndjson")" = 0000 ]
	evidence verify "$LOST"
}

# lose CMD [OPTIONS]: in the background until it says "ready", then its supervisor is killed.  LOST is the session's name.
lose() {
	local cmd=$1
	shift
	mkfifo "$CUSTODY_HOME/ready"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --agent bob "$@" -- sh -c "$cmd; echo ready; sleep 60" >"$CUSTODY_HOME/ready" 2>/dev/null 3>&- &
	local pid=$! line
	read -r line <"$CUSTODY_HOME/ready"
	LOST=$(ls "$CUSTODY_ROOT/run/sessions")
	kill -9 "$pid"
	wait "$pid" || true
}

@test "ISO-7: a killed supervisor's session is kept by the next start, its record closed, nothing left" {
	local store=$CUSTODY_ROOT/forensics end
	chown -R 4321:4322 . 2>/dev/null || true
	lose 'echo new >new; rm kept'
	[ ! -e "$store" ]
	custody_run -- true
	assert_status 0
	assert_stderr_has "its supervisor died"
	[ "$(cat "$store/$LOST/worktree/new")" = new ]
	[ "$(jq -r 'select(.p == "kept") | .t' "$store/$LOST/manifest.ndjson")" = gone ]
	[ "$(jq -r 'select(.p == "new") | .uid' "$store/$LOST/manifest.ndjson")" = "$(stat -c %u kept)" ]
	[ "$(jq -r '.exit.reason, .agent' "$store/$LOST/metadata.json" | paste -sd ' ')" = "lost bob" ]
	evidence verify "$LOST"
	end=$("$CUSTODY" ledger export --kind session.end --session "$LOST")
	[ "$(jq -r .d.evidence <<<"$end")" = "$store/$LOST" ]
	[ "$(jq -r .d.reason <<<"$end")" = lost ]
	[ "$(jq -c .audit "$store/$LOST/metadata.json")" = "$(jq -c .d.audit <<<"$end")" ]
	"$CUSTODY" ledger verify --anchor "$(jq -r '"\(.d.audit.records):\(.d.audit.head)"' <<<"$end")" "$store/$LOST/audit.ndjson"
	"$CUSTODY" ledger verify --json | jq -e '.completeness.verdict == "ok"'
	[ -z "$(sessions_left)" ]
}

@test "ISO-7: recover does it without a start" {
	lose 'echo new >new'
	run --separate-stderr "$CUSTODY" recover
	[ "$status" -eq 0 ]
	[ "$output" = "1 session recovered" ]
	[ "$(cat "$CUSTODY_ROOT/forensics/$LOST/worktree/new")" = new ]
	"$CUSTODY" ledger verify --json | jq -e '.completeness.verdict == "ok"'
	[ "$("$CUSTODY" recover)" = "0 sessions recovered" ]
	run "$CUSTODY" recover -- true
	[ "$status" -eq 64 ]
}

@test "ISO-7: two starts at once keep it once" {
	lose 'echo new >new'
	"$CUSTODY" run -- true 2>/dev/null &
	local pid=$!
	"$CUSTODY" run -- true
	wait "$pid"
	[ "$(ls "$CUSTODY_ROOT/forensics")" = "$LOST" ]
	[ "$("$CUSTODY" ledger export --kind session.end --session "$LOST" | wc -l)" = 1 ]
}

@test "ISO-7: a half that a dead taker left is no evidence" {
	local store=$CUSTODY_ROOT/forensics
	lose 'echo new >new'
	mkdir -p "$store/$LOST.partial/worktree"
	chmod 0700 "$store"
	echo half >"$store/$LOST.partial/worktree/half"
	custody_run -- true
	[ "$(ls "$store")" = "$LOST" ]
	[ ! -e "$store/$LOST/worktree/half" ]
}

# differs FILTER ARGS...: of evidence diff --json, which must report a difference.
differs() {
	local filter=$1
	shift
	run evidence diff --json "$@"
	[ "$status" -eq 1 ] || custody_fail "diff: $status" || return
	jq -r "$filter" <<<"$output"
}
ROWS='.changes[] | "\(.what | join("+")) \(.path)"'

@test "ISO-5: diff compares the worktree, with scope all and scope changes" {
	local how id
	mkdir gone-dir opaque
	echo 1 >gone-dir/a
	echo 1 >opaque/was
	ln -s old link
	echo same >same
	echo x >mode
	truncate -s 1M sparse
	for how in 'kill -9 $$' 'exit 3'; do
		custody_run -- sh -c 'echo new >new; echo more >>dir/file; rm -r kept gone-dir; rm link; ln -s new link; chmod 4700 mode; rm mode.not; cat same >s2; rm same; mv s2 same
			rm -r opaque; mkdir opaque; echo 1 >opaque/is; printf x | dd of=sparse bs=1 seek=500000 conv=notrunc; '"$how"
		id=$(basename "$(taken)")
		[ "$(differs "$ROWS" "$id")" = "modified dir/file
removed gone-dir
removed gone-dir/a
removed kept
link link
mode mode
added new
added opaque/is
removed opaque/was
modified sparse" ] || custody_fail "$(cat "$(taken)/manifest.ndjson")"
		[ "$(differs '.changes[] | select(.path == "mode") | "\(.old.mode) \(.new.mode)"' "$id")" = "0644 4700" ]
		[ "$(differs '.changes[] | select(.path == "link") | "\(.old.link) \(.new.link)"' "$id")" = "old new" ]
	done
	# Restored files do not differ.
	custody_run -- sh -c 'echo new >new; echo h >h1; ln h1 h2; kill -9 $$'
	id=$(basename "$(taken)")
	evidence restore "$id" "$CUSTODY_HOME/back"
	evidence diff "$id" --tree "$CUSTODY_HOME/back"
	echo o >"$CUSTODY_HOME/back/h2"
	[ "$(differs "$ROWS" "$id" --tree "$CUSTODY_HOME/back")" = "modified h1
modified h2" ]
}

@test "ISO-5: diff of two evidences, and names that play with the terminal" {
	local first second
	custody_run -- sh -c 'echo 1 >a; echo 1 >b; kill -9 $$'
	first=$(basename "$(taken)")
	custody_run -- sh -c 'echo 1 >a; echo 2 >b; echo 3 >"$(printf "c\033[2J")"; kill -9 $$'
	second=$(basename "$(taken)")
	[ "$(differs "$ROWS" "$first" "$second" | cat -v)" = 'modified b
added c^[[2J' ]
	run evidence diff "$first" "$second"
	[ "$status" -eq 1 ]
	[ "$output" = 'M  b  (modified)
A  c\x1B[2J' ]
	[ "$(differs "$ROWS" "$second" "$first" | head -c 10)" = 'modified b' ]
	evidence diff "$first" "$first"
	run evidence diff "$first" "$second" --tree .
	[ "$status" -eq 64 ]
	run evidence diff "$first" --tree /no/such/tree
	[ "$status" -eq 125 ]
	# Files that were not kept cannot be compared.
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"forensics":{"item_max":"1M"}}' >"$CUSTODY_ROOT/etc/custody.json"
	head -c 1500000 /dev/zero | tr '\0' x >big
	custody_run -- sh -c 'kill -9 $$'
	[[ "$(differs "$ROWS" "$(basename "$(taken)")")" == *"unclear big"* ]]
}
