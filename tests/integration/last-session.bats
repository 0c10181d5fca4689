#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The session that a command takes when none is named: the newest that fits in this directory.

load ../lib/suite.bash

setup() {
	suite_setup && suite_ungoverned
}

teardown() {
	custody_teardown
}

custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

asked() { # STATUS WORDS...
	local want=$1
	shift
	run --separate-stderr custody "$@"
	[ "$status" -eq "$want" ]
}

# changed TEXT [WORDS...]: a run that writes TEXT to the file new; ID is its session.
changed() {
	local text=$1
	shift
	ran "$@" -- sh -c "echo $text >new"
	ID=$(custody_result .session)
}

ran() {
	custody_run "${LIMITS[@]}" "$@"
}

# As root, then as an ordinary user, whose cgroups may be without limits.
as_both() {
	LIMITS=()
	"$@"
	suite_setup_user
	suite_profile u '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	chmod 0644 "$PROFILE"
	LIMITS=(--profile "$PROFILE")
	"$@"
}

newest_is_taken() {
	local one two
	asked 1 diff
	assert_stderr_has 'no session of this directory has kept changes'
	changed one
	one=$ID
	changed two
	two=$ID
	ran -- true
	asked 0 diff
	assert_stderr_has "custody diff: changes of session $two in '$PWD': sh -c 'echo two >new'"
	assert_output_has +two
	for word in - last; do
		asked 0 diff $word
		assert_output_has +two
		assert_stderr_has "$two"
	done
	# A session that is named is not repeated.
	for word in "$one" "${one: -8}" "${one: -8:5}"; do
		asked 0 diff "$word"
		assert_output_has +one
		[ -z "$stderr" ]
	done
	asked 0 apply
	assert_stderr_has "custody apply: apply the changes of session $two in '$PWD'"
	[ "$(cat new)" = two ]
	# The applied one has no changes any more: the one before fits.
	asked 0 discard
	assert_stderr_has "custody discard: discard the changes of session $one in '$PWD'"
	assert_output_has "$one"
	asked 1 discard
	asked 1 apply
	[ "$(cat new)" = two ]
}

@test "ISO-3: without a SESSION, diff, apply and discard take the newest with kept changes and name it" {
	as_both newest_is_taken
}

others_do_not_fit() {
	local here=$PWD own
	"${CUSTODY_AS[@]}" mkdir -p sub/deep other
	changed own
	own=$ID
	# Another directory's session is newer.
	cd other || return
	changed foreign
	cd ../sub/deep || return
	asked 0 diff --stat
	assert_stderr_has "$own"
	asked 0 show
	assert_stderr_has "$own"
	# A parent that cannot be named any more is still this directory's.
	mv "$here" "$here.moved"
	asked 0 show
	assert_stderr_has "$own"
	# Another directory under the worktree's name is not the session's.
	"${CUSTODY_AS[@]}" mkdir "$here"
	cd "$here" || return
	asked 1 diff
	asked 1 apply
	asked 1 discard
	asked 1 show
	[ -z "$(ls -A)" ]
	cd .. || return
	asked 1 diff
	rmdir "$here"
	mv "$here.moved" "$here"
	cd "$here" || return
	asked 0 discard
	assert_output_has "$own"
	rm -rf sub other
}

@test "ISO-3: sessions of other directories do not fit; those of a parent directory do, by identity" {
	as_both others_do_not_fit
}

running_ones() {
	local runs
	asked 1 stop
	assert_stderr_has 'no session is running in this directory'
	ran -- true
	asked 1 stop
	runs=$(custody run "${LIMITS[@]}" -d --name last -- sleep 1000)
	asked 1 diff
	asked 0 show
	assert_stderr_has "custody show: session $runs"
	changed text
	# `stop` takes a running one, whatever came after it.
	asked 0 show last
	assert_stderr_has "custody show: session $(custody_result .session)"
	asked 0 stop --time 0
	assert_stderr_has "custody stop: stop session $runs"
	[ "$output" = "$runs" ]
	asked 1 stop
	asked 0 discard
}

@test "sessions: show and logs take any session of this directory, stop a running one; a name 'last' is no word" {
	as_both running_ones
}

@test "logs: the newest session of this directory, and no other's output" {
	local first
	first=$(custody run -d -- echo first)
	mkdir "$CUSTODY_HOME/other"
	cd "$CUSTODY_HOME/other" || return
	asked 1 logs
	[ -z "$output" ]
	cd "$CUSTODY_HOME/work" || return
	wait_until sh -c "'$CUSTODY' logs '$first' | grep -q first"
	asked 0 logs
	[ "$output" = first ]
	assert_stderr_has "$first"
}

unreadable_state() {
	local old new state
	changed old
	old=$ID
	changed new
	new=$ID
	state=$CUSTODY_ROOT/sandbox/sessions/$new
	# It may be the one that is meant: an older one is not taken in its place.
	chmod 0600 "$state/session.json"
	echo '{' >"$state/session.json"
	for verb in diff apply discard show; do
		asked 125 $verb
		assert_stderr_has 'may be the newest of this directory'
		assert_stderr_has "$new"
	done
	[ ! -e new ]
	rm "$state/session.json"
	mkfifo "$state/session.json"
	asked 125 apply
	[ ! -e new ]
	asked 0 diff "$old"
	rm "$state/session.json"
	# Without a note it is being created or removed.
	asked 0 apply
	[ "$(cat new)" = old ]
	rm -r "$state"
}

@test "ISO-3: a newer session that cannot be read is named, and no older one is taken for it" {
	as_both unreadable_state
}

@test "ISO-3: another user's note is refused, and nothing is applied" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	changed text
	chown "$SUITE_UID" "$CUSTODY_ROOT/sandbox/sessions/$ID/session.json"
	asked 125 apply
	assert_stderr_has "$ID"
	[ ! -e new ]
}

@test "ISO-3: ambiguous words are refused with the candidates; nothing is applied" {
	local one two
	changed one --name job
	one=$ID
	changed two --name job
	two=$ID
	for word in job 2; do
		for verb in diff apply discard; do
			asked 1 $verb $word
			assert_stderr_has "$one"
			assert_stderr_has "$two"
		done
	done
	# A name that is another session's digits.
	changed three --name "${one: -8}"
	for verb in diff apply discard; do
		asked 1 $verb "${one: -8}"
		assert_stderr_has "$one"
		assert_stderr_has "$ID"
	done
	# Names that are words of the command line do not replace them.
	changed four --name -
	changed five --name last
	asked 0 diff -
	assert_output_has +five
	[ ! -e new ]
	asked 0 diff "$one"
	asked 0 diff "$two"
}

@test "ISO-3: two commands at once take two sessions or one, and no change is applied twice" {
	local one two first
	changed one
	one=$ID
	changed two
	two=$ID
	custody discard >"$CUSTODY_HOME/1" 2>&1 &
	first=$!
	custody discard >"$CUSTODY_HOME/2" 2>&1 &
	wait "$first" || true
	wait "$!" || true
	for id in "$one" "$two"; do
		[ "$(cat "$CUSTODY_HOME/1" "$CUSTODY_HOME/2" | grep -cF "discarded the changes of session $id")" -le 1 ]
	done
	[ "$(cat "$CUSTODY_HOME/1" "$CUSTODY_HOME/2" | grep -c '^discarded')" -ge 1 ]
}

@test "LANE-6: the newest session is that of the lane" {
	changed text
	asked 1 diff --lane prod
	[ -z "$output" ]
	asked 0 diff
}

evidence_of_here() {
	local one
	asked 125 evidence show
	assert_stderr_has 'no evidence of a session in this directory'
	ran --name failed -- sh -c 'echo 1 >a; exit 3'
	one=$(custody_result .session)
	"${CUSTODY_AS[@]}" mkdir other
	cd other || return
	ran -- sh -c 'echo 1 >a; exit 3'
	cd .. || return
	for word in '' - last; do
		# shellcheck disable=SC2086 # none, or one
		asked 0 evidence show $word
		assert_output_has "$one"
		assert_stderr_has "custody evidence show: $one"
	done
	for word in "${one: -8}" failed; do
		asked 0 evidence show "$word"
		assert_output_has "$one"
		[ -z "$stderr" ]
	done
	asked 0 evidence verify last
	asked 125 evidence show "${one:0:4}"
	assert_stderr_has "$one"
	rm -r other
}

@test "ISO-5: evidence show takes the newest of this directory's sessions; digits and names work" {
	as_both evidence_of_here
}
