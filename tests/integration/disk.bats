#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Disk usage of kept changes and evidence: shared files, df, prune, discard of several.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup && suite_ungoverned
	LIMITS=()
}

teardown() {
	suite_end_deliveries
	custody_teardown
}

custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

asked() { # STATUS WORDS...
	local want=$1
	shift
	run --separate-stderr custody "$@"
	[ "$status" -eq "$want" ] || custody_fail "custody $*: status $status"
}

# failed SCRIPT [WORDS...]: a run that ends with status 3; ID is its session.
failed() {
	local script=$1
	shift
	custody_run "${LIMITS[@]}" "$@" -- sh -c "$script; exit 3"
	assert_status 3
	ID=$(custody_result .session)
}

changed() {
	custody_run "${LIMITS[@]}" -- sh -c "echo $1 >new"
	assert_status 0
	ID=$(custody_result .session)
}

as_both() {
	LIMITS=()
	"$@"
	suite_setup_user
	suite_profile u '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	chmod 0644 "$PROFILE"
	LIMITS=(--profile "$PROFILE")
	"$@"
}

upper() { # NAME: of the session ID
	echo "$CUSTODY_ROOT/sandbox/sessions/$ID/u/$1"
}

mirror() {
	echo "$CUSTODY_ROOT/forensics/$ID/worktree/$1"
}

is_shared() { # NAME
	[ "$(stat -c %d:%i "$(upper "$1")")" = "$(stat -c %d:%i "$(mirror "$1")")" ]
}

is_own() { # NAME: the evidence has a file of its own
	[ "$(stat -c %d:%i "$(upper "$1")")" != "$(stat -c %d:%i "$(mirror "$1")")" ]
}

age() { # ID SECONDS: as if its run had ended then, by the file that df and prune read
	local layer=$CUSTODY_ROOT/sandbox/sessions/$1/layer.json text
	text=$(jq -c --argjson s "$2" '.ended_us -= $s * 1000000' "$layer")
	printf %s "$text" >"$layer"
}

DATA='head -c 1000000 /dev/urandom >big'

# On the file system of the test: links where blocks cannot be shared.
shared_once() {
	local sum links=0
	failed "$DATA; echo s >small; : >empty"
	if is_shared big; then
		links=1
		is_shared small
		[ "$(jq .tree.shared "$CUSTODY_ROOT/forensics/$ID/metadata.json")" -eq 1000002 ]
		# Of the file of both, one counts.
		asked 0 df --json
		[ "$(jq --arg id "$ID" '[.items[] | select(.id == $id and .kind == "evidence")] | .[0].shared >= 1000000 and .[0].bytes < 500000' <<<"$output")" = true ]
	fi
	sum=$(sha256sum <"$(mirror big)")
	asked 0 evidence verify "$ID"
	# An apply copies: the worktree's file is another one, and later writes to it are its own.
	asked 0 apply "$ID"
	[ "$(stat -c %i big)" != "$(stat -c %i "$(mirror big)")" ]
	echo more >>big
	rm small
	[ ! -e "$(upper big)" ]
	asked 0 evidence verify "$ID"
	[ "$(sha256sum <"$(mirror big)")" = "$sum" ]
	rm big empty
	# The same after a discard, and of the whole tree, in which the files of the worktree cannot be linked.
	"${CUSTODY_AS[@]}" sh -c 'mkdir -p base; for i in 1 2 3 4 5 6 7 8; do echo $i >base/$i; done; echo a >a'
	custody_run "${LIMITS[@]}" -- sh -c "$DATA; kill -9 \$\$"
	ID=$(custody_result .session)
	if [ "$links" -eq 1 ]; then
		is_shared big
		[ "$(jq .tree.shared "$CUSTODY_ROOT/forensics/$ID/metadata.json")" -eq 1000000 ]
	fi
	asked 0 discard "$ID"
	asked 0 evidence verify "$ID"
	[ "$(stat -c %s "$(mirror big)")" -eq 1000000 ]
	asked 0 evidence restore "$ID" "$CUSTODY_HOME/work/restored"
	cmp restored/big "$(mirror big)"
	rm -r restored base a
}

@test "ISO-5: a copy that is kept is not stored twice; apply and discard leave the evidence as it is" {
	as_both shared_once
}

names_on_file_system() {
	set -e
	mkdir fs/root fs/work
	chmod 755 fs fs/work fs/root
	export CUSTODY_ROOT=$PWD/fs/root
	cp -a root/etc fs/root/
	cd fs/work
	"$CUSTODY" ledger init >/dev/null
	"$CUSTODY" run -- sh -c 'head -c 1000000 /dev/urandom >big; exit 3' || [ $? -eq 3 ]
	"$CUSTODY" evidence verify last >/dev/null 2>&1
	stat -c %h ../root/forensics/*/worktree/big
}

names_on() { # FILE-SYSTEM: of the file in the evidence
	skip_without root
	export -f names_on_file_system
	cd "$CUSTODY_HOME" || return
	run --separate-stderr on_file_system "$1" bash -c names_on_file_system
	[ "$status" -eq 0 ]
}

@test "ISO-5: on ext4 the evidence has links to the kept files" {
	names_on ext4
	[ "$output" = 2 ]
}

@test "ISO-5: on btrfs the evidence has files of its own, which share blocks" {
	names_on btrfs
	[ "$output" = 1 ]
}

@test "ISO-5: set-id, unreadable and sparse files are copied; evidence has no set-id bits" {
	failed 'echo s >setid; chmod 4755 setid; echo 0 >shut; chmod 0 shut; truncate -s 1M holes; echo 1 >>holes; echo a >one; ln one two'
	for name in setid shut; do
		is_own $name
	done
	[ "$(stat -c %a "$(mirror setid)")" = 755 ]
	[ "$(stat -c %a "$(upper setid)")" = 4755 ]
	asked 0 evidence verify "$ID"
	asked 0 evidence restore "$ID" "$CUSTODY_HOME/back"
	[ "$(cat "$CUSTODY_HOME"/back/{shut,one,two})" = "0
a
a" ]
}

@test "ISO-5: a run with a way out for descriptors shares nothing" {
	mkdir "$CUSTODY_HOME/bound"
	failed "$DATA" -v "$CUSTODY_HOME/bound:/bound:rw"
	is_own big
	failed "$DATA" --network host
	is_own big
	asked 0 evidence verify "$ID"
}

# hold PATH: a process that has PATH open for writing until the FIFO release is opened; WRITER is its pid.
hold() {
	mkfifo "$CUSTODY_HOME/held" "$CUSTODY_HOME/release"
	# shellcheck disable=SC2016 # its own words
	sh -c 'exec 9>>"$1"; : >"$2"; read -r x <"$3"; echo tampered >&9' - "$1" "$CUSTODY_HOME/held" "$CUSTODY_HOME/release" 3>&- &
	WRITER=$!
	cat "$CUSTODY_HOME/held"
}

@test "ISO-5: a file that a process still has open for writing is copied, and its later writes do not reach the evidence" {
	local pid sleeper naps=$((1000000 + BASHPID))
	custody run --result "$CUSTODY_HOME/result" -- sh -c "$DATA; echo other >other; sleep $naps; exit 3" 3>&- &
	pid=$!
	wait_until pgrep -fx "sleep $naps" >/dev/null
	sleeper=$(pgrep -fx "sleep $naps")
	hold "/proc/$sleeper/cwd/big"
	kill -9 "$sleeper"
	wait "$pid" || true
	ID=$(jq -r .session "$CUSTODY_HOME/result")
	is_own big
	is_shared other
	echo >"$CUSTODY_HOME/release"
	wait "$WRITER"
	grep -q tampered "$(upper big)"
	run -1 grep -q tampered "$(mirror big)"
	asked 0 evidence verify "$ID"
}

@test "ISO-5: a store on another file system gets copies" {
	skip_without root
	mkdir "$CUSTODY_HOME/store"
	# shellcheck disable=SC2016 # expanded inside
	run unshare -m sh -c 'mount -t tmpfs none "$CUSTODY_HOME/store" && chmod 700 "$CUSTODY_HOME/store" &&
		jq --arg p "$CUSTODY_HOME/store" ".forensics.retention_path = \$p" "$CUSTODY_ROOT/etc/custody.json" >"$CUSTODY_HOME/c" &&
		cp "$CUSTODY_HOME/c" "$CUSTODY_ROOT/etc/custody.json" &&
		{ "$CUSTODY" run -- sh -c "echo 1 >one; exit 3"; "$CUSTODY" evidence verify last && stat -c %h "$CUSTODY_HOME"/store/*/worktree/one; }'
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = 1 ]
}

full_disk() {
	set -e
	mkdir fs/root fs/work
	chmod 755 fs fs/work fs/root
	export CUSTODY_ROOT=$PWD/fs/root
	cp -a root/etc fs/root/
	cd fs/work
	"$CUSTODY" ledger init >/dev/null
	"$CUSTODY" run -- sh -c 'head -c 1G /dev/zero >big; exit 3' || [ $? -eq 3 ]
	"$CUSTODY" evidence verify last >/dev/null
	jq -r .status ../root/forensics/*/metadata.json
	"$CUSTODY" diff --stat >/dev/null
	"$CUSTODY" df >/dev/null
	"$CUSTODY" prune --all
}

@test "ISO-5: a disk that the payload filled: the evidence is complete, and prune makes room" {
	skip_without root
	export -f full_disk
	cd "$CUSTODY_HOME" || return
	run --separate-stderr on_file_system ext4 bash -c full_disk
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = complete ]
	[ "${lines[-1]}" = "2 removed" ]
}

@test "ISO-7: a kill while files are linked or removed loses neither the changes nor the evidence" {
	local point
	for point in tree-copied evidence-renamed layer-kept; do
		CUSTODY_SEAM=$point CUSTODY_SEAM_DO=die run "$CUSTODY_BUILD/tests/custody-seamed" run -- sh -c "$DATA; exit 3"
		[ "$status" -ne 3 ]
		asked 0 recover
		asked 0 evidence verify last
		asked 0 diff last
		assert_output_has big
		asked 0 discard
		asked 0 evidence verify last
		asked 0 prune --all --yes
	done
	[ -z "$(ls "$CUSTODY_ROOT/forensics")" ]
}

several() {
	local one two three
	changed one
	one=$ID
	changed two
	two=$ID
	changed three
	three=$ID
	# One wrong word: nothing is discarded.
	asked 1 discard "$one" nosuch
	[ -e "$CUSTODY_ROOT/sandbox/sessions/$one/u" ]
	asked 64 discard --all "$one"
	asked 64 discard --older 1h "$one"
	asked 64 discard --older soon
	asked 0 discard --dry-run "$one" "$two"
	[ "$(grep -c '^would discard' <<<"$output")" -eq 2 ]
	[ -e "$CUSTODY_ROOT/sandbox/sessions/$one/u" ]
	# The same session twice is one.
	asked 0 discard "$one" "${two: -8}" "$one"
	# The newest first: it may continue the others.
	[ "$output" = "discarded the changes of session $two
discarded the changes of session $one" ] || custody_fail 'order'
	changed four
	age "$three" 7200
	asked 0 discard --older 1h
	[ "$output" = "discarded the changes of session $three" ]
	asked 0 discard --older 1h
	[ -z "$output" ]
	cd "$CUSTODY_HOME" || return
	asked 0 discard --all
	assert_output_has "$ID"
	cd "$CUSTODY_HOME/work" || return
	asked 0 discard --all
	[ "$(custody ledger show --kind review.discard --json | grep -c review.discard)" -eq 4 ]
	[ ! -e new ]
}

@test "ISO-3: discard takes several sessions, --all and --older; each is a record" {
	as_both several
}

@test "ISO-3: discard --all asks on a terminal, and No discards nothing" {
	changed one
	run python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" expect:'[y/N]' 'send:n\n' -- "$CUSTODY" discard --all
	[ "$status" -eq 1 ]
	[ -e "$(upper new)" ]
	run python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" expect:'[y/N]' 'send:\n' -- "$CUSTODY" prune --all
	[ "$status" -eq 1 ]
	[ -e "$(upper new)" ]
	run python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" expect:'[y/N]' 'send:y\n' -- "$CUSTODY" discard --all
	[ "$status" -eq 0 ]
	[ ! -e "$(upper new)" ]
}

pruned() {
	local old pinned
	failed "$DATA"
	old=$ID
	failed 'echo 1 >a'
	pinned=$ID
	asked 0 evidence pin "$pinned"
	age "$old" 90000
	# By the rules of the configuration nothing has expired.
	asked 0 prune
	[ "$output" = "0 removed" ]
	asked 0 prune --older 1d --dry-run
	assert_output_has "would remove changes   $old"
	[ -e "$CUSTODY_ROOT/sandbox/sessions/$old/u" ]
	asked 0 prune --older 1d --json
	[ "$(jq -c '[.pruned[] | [.kind, .id, .why]]' <<<"$output")" = "[[\"changes\",\"$old\",\"by-hand\"]]" ]
	[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$old/u" ]
	asked 0 evidence verify "$old"
	asked 0 prune --all
	[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$pinned/u" ]
	[ "$(ls "$CUSTODY_ROOT/forensics")" = "$pinned" ]
	asked 0 evidence verify "$pinned"
	[ "$(custody ledger show --kind review.expire --json | grep -c by-hand)" -eq 2 ]
	[ "$(custody ledger show --kind evidence.prune --json | grep -c by-hand)" -eq 1 ]
	asked 0 ledger verify || [ "$status" -eq 4 ]
}

@test "ISO-6: prune removes by the rules, --older and --all by hand; pinned evidence stays" {
	as_both pruned
}

@test "ISO-6: a running session, and one that another process reviews, are not pruned" {
	local runs
	runs=$(custody run -d -- sh -c 'echo 1 >a; exec sleep 1000')
	changed one
	exec {lock}<"$CUSTODY_ROOT/sandbox/sessions/$ID"
	flock -x "$lock"
	asked 0 prune --all
	[ -e "$(upper new)" ]
	asked 1 discard "$ID"
	[ -e "$(upper new)" ]
	exec {lock}<&-
	asked 0 prune --all
	[ ! -e "$(upper new)" ]
	[ -e "$CUSTODY_ROOT/sandbox/sessions/$runs/u/a" ]
	asked 0 stop --time 0 "$runs"
}

@test "LANE-7: prune and discard of several need both keys in prod, looking does not" {
	CUSTODY_ALLOW_PROD=1 custody_run --lane prod --allow-prod -- sh -c 'echo 1 >new; exit 3'
	ID=$(custody_result .session)
	for words in 'prune --all' 'prune --older 0' 'discard --all' 'discard --older 0' 'discard last'; do
		# shellcheck disable=SC2086 # words
		run env -u CUSTODY_ALLOW_PROD "$CUSTODY" $words --lane prod
		[ "$status" -eq 116 ]
		# shellcheck disable=SC2086 # words
		run env CUSTODY_ALLOW_PROD=1 "$CUSTODY" $words --lane prod
		[ "$status" -eq 116 ]
		[ -e "$CUSTODY_ROOT/prod/sessions/$ID/u/new" ]
		[ -e "$CUSTODY_ROOT/forensics/$ID" ]
	done
	# What the other lane has does not count.
	asked 0 prune --all
	[ "$output" = "0 removed" ]
	asked 0 prune --all --dry-run --lane prod
	asked 0 discard --all --dry-run --lane prod
	asked 0 df --lane prod
	assert_output_has "$ID"
	asked 0 df
	[[ $output != *"$ID"* ]]
	run env CUSTODY_ALLOW_PROD=1 "$CUSTODY" prune --all --lane prod --allow-prod
	[ "$status" -eq 0 ]
	[ ! -e "$CUSTODY_ROOT/prod/sessions/$ID/u" ]
	[ ! -e "$CUSTODY_ROOT/forensics/$ID" ]
	[ "$(jq -r 'select(.k == "lane.override") | .d.action' "$CUSTODY_ROOT"/prod/ledger/*.ndjson | grep -cx prune)" -eq 1 ]
}

listed() {
	failed "$DATA"
	custody_run "${LIMITS[@]}" -- true
	custody_run "${LIMITS[@]}" --sandbox box -- true
	asked 0 df
	assert_output_has "session   $ID"
	assert_output_has "evidence  $ID"
	assert_output_has 'sandbox   box'
	assert_output_has 'notes of ended sessions'
	assert_output_has 'together'
	asked 0 df --json
	[ "$(jq -c '[.schema_version, .lane, ([.items[].kind] | unique), .unreadable]' <<<"$output")" = '[1,"sandbox",["evidence","sandbox","session"],[]]' ]
	[ "$(jq '.items | all(.age_s >= 0 and .age_s < 3600)' <<<"$output")" = true ]
	[ "$(jq '(.totals.session + .totals.evidence + .totals.sandbox) == ([.items[].bytes] | add)' <<<"$output")" = true ]
}

@test "ISO-6: df lists sessions, evidence and sandbox roots with sizes and ages" {
	as_both listed
}

@test "ISO-6: df counts what it can read, and names the rest" {
	changed one
	failed "$(printf 'echo 1 >"$(printf "a\\033[2Jb")"')"
	printf '{' >"$CUSTODY_ROOT/sandbox/sessions/$ID/session.json.x"
	chmod 0600 "$CUSTODY_ROOT/sandbox/sessions/$ID/session.json"
	printf '{' >"$CUSTODY_ROOT/sandbox/sessions/$ID/session.json"
	mkdir -p "$CUSTODY_ROOT/sandbox/sandbox"
	ln -s / "$CUSTODY_ROOT/sandbox/sandbox/link"
	asked 0 df
	assert_output_has "evidence  $ID"
	assert_stderr_has "cannot read session $ID"
	assert_stderr_has 'cannot read sandbox link'
	[[ $output$stderr != *$'\033'* ]]
	asked 0 df --json
	[ "$(jq '.unreadable | length' <<<"$output")" -eq 2 ]
	rm "$CUSTODY_ROOT/sandbox/sandbox/link" "$CUSTODY_ROOT/sandbox/sessions/$ID/session.json.x"
	rm -r "$CUSTODY_ROOT/sandbox/sessions/$ID"
}
