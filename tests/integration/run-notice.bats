#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The lines after a run on a terminal: where the result is.

load ../lib/suite.bash

setup() {
	suite_setup && suite_ungoverned
}

teardown() {
	custody_teardown
}

# on_terminal STEP... -- COMMAND...: as the suite's user
on_terminal() {
	local steps=()
	while [ "$1" != -- ]; do
		steps+=("$1")
		shift
	done
	shift
	run --separate-stderr python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" "${steps[@]}" -- "${CUSTODY_AS[@]}" "$@"
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

lacks() { # TEXT: on the screen
	[[ $output != *"$1"* ]] || custody_fail "the output has '$1'"
}

# line COUNT: the line with COUNT and a size
line() {
	[[ $output =~ "custody: $1 changed in a copy ("[0-9.]+' '[KM]?B"). $LINE" ]] || custody_fail "no line with '$1'"
}

LINE='See: custody diff   Keep: custody apply   Drop: custody discard'

the_line() {
	on_terminal -- "$CUSTODY" run "${LIMITS[@]}" -- sh -c 'echo 1 >one; echo 2 >two'
	assert_status 0
	line "2 files"
	# The commands of the line work as they are.
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" apply
	assert_status 0
	[ "$(cat one two)" = "1
2" ]
	# A removal is a change, in the words of one.
	on_terminal -- "$CUSTODY" run "${LIMITS[@]}" -- sh -c 'rm one; exit 3'
	assert_status 3
	line "1 file"
	# One line says that the failed run is kept as evidence, and how large it is.
	[[ $output =~ 'custody: evidence of status 3 kept ('[0-9]+' B). See: custody evidence show 20' ]]
	on_terminal -- "$CUSTODY" run "${LIMITS[@]}" -- mkdir dir
	lacks 'evidence of status'
	line "only directories"
	# A terminal for stderr is enough.
	on_terminal -- sh -c '"$0" run "$@" -- sh -c "echo 3 >three" >/dev/null </dev/null' "$CUSTODY" "${LIMITS[@]}"
	line "1 file"
	on_terminal 'send:echo re""ady\n' expect:ready 'send:echo 4 >four; exit\n' -- "$CUSTODY" shell "${LIMITS[@]}"
	line "1 file"
	assert_output_has 'mode cooked'
}

@test "ISO-3: after a run on a terminal that changed its copy, one line says how many files and how to go on" {
	as_both the_line
}

no_line() {
	for words in -q --json '--result r.json -q'; do
		# shellcheck disable=SC2086 # words
		on_terminal -- "$CUSTODY" run "${LIMITS[@]}" $words -- sh -c 'echo 1 >one; exit 3'
		assert_status 3
		lacks 'in a copy'
		lacks 'evidence of status'
	done
	# Nothing changed, or it is not kept.
	on_terminal -- "$CUSTODY" run "${LIMITS[@]}" -- true
	lacks 'in a copy'
	# Never on a pipe.
	on_terminal -- sh -c '"$0" run "$@" -- sh -c "echo 1 >one" 2>&1 | cat' "$CUSTODY" "${LIMITS[@]}"
	lacks 'in a copy'
	custody_run "${LIMITS[@]}" -- sh -c 'echo 1 >one'
	assert_status 0
	[ -z "$(stderr_rest)" ]
	# A detached run answers with its id alone.
	on_terminal -- "$CUSTODY" run "${LIMITS[@]}" -d -- sh -c 'echo 1 >one'
	lacks 'in a copy'
	wait_until sh -c "[ -z \"\$(ls '$CUSTODY_ROOT/run/sessions')\" ]"
}

@test "ISO-3: no line with -q or --json, on a pipe, of a detached run, or when nothing was changed" {
	as_both no_line
}

@test "ISO-3: a copy that is not kept has no line" {
	suite_profile drops '{"workspace": {"keep": false}}'
	on_terminal -- "$CUSTODY" run --profile "$PROFILE" -- sh -c 'echo 1 >one'
	assert_status 0
	lacks 'in a copy'
}

@test "LANE-6: the line names the lane of the run if it was given" {
	on_terminal -- "$CUSTODY" run --lane sandbox -- sh -c 'echo 1 >one'
	assert_output_has 'custody diff --lane sandbox   Keep: custody apply --lane sandbox   Drop: custody discard --lane sandbox'
	CUSTODY_LANE=prod run "$CUSTODY" diff --lane sandbox
	assert_status 0
}

@test "ISO-3: names in the copy do not reach the line, and a kill at the end leaves none" {
	on_terminal -- "$CUSTODY" run -- sh -c 'printf x >"$(printf "a\033[2J\nb")"'
	assert_status 0
	line "1 file"
	lacks '[2J'
	# Killed after the upper was kept and before the note was written: recovery keeps the changes.
	CUSTODY_SEAM=layer-kept CUSTODY_SEAM_DO=die on_terminal -- "$CUSTODY_BUILD/tests/custody-seamed" run -- sh -c 'echo 1 >one'
	lacks 'in a copy'
	"$CUSTODY" recover
	run "$CUSTODY" diff
	assert_status 0
	assert_output_has '+1'
}
