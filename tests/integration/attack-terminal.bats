#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2154 # scripts for the inside; set by bats
#
# Names that a caller or a payload chose, printed on a person's terminal.  U+009B is what ESC [ is, in one character.

load ../lib/suite.bash

NAME=$'c1\xc2\x9b31m\x7f\xe2\x80\xaebidi'

setup() {
	suite_setup
}
teardown() {
	custody_teardown
}

# on_terminal WORDS...: what `custody WORDS` shows there.
on_terminal() {
	run python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" -- "$CUSTODY" "$@"
	[ "$status" -le 1 ] || custody_fail "custody $*: $output"
	[[ $output == *c1* ]] || custody_fail "custody $*: nothing of it was shown: $output"
	if printf %s "$output" | LC_ALL=C grep -q $'\xc2\x9b\|\x7f\|\xe2\x80\xae\|\x1b'; then
		custody_fail "custody $*: sent to the terminal: $(printf %s "$output" | cat -v)"
	fi
}

@test "ISO-5: JSON on a terminal has no control sequence of a name, and is the same as in a pipe" {
	custody_run --name "$NAME" --agent "$NAME" -- sh -c 'echo x >"$1"; kill -9 $$' - "$NAME"
	assert_status 137
	id=$("$CUSTODY" sessions --all --json | jq -r '.sessions[0].session')
	for words in "sessions --all" "show $id" "evidence ls" "evidence show $id" "diff $id" "evidence diff $id"; do
		# shellcheck disable=SC2086 # words
		on_terminal $words --json
		# shellcheck disable=SC2086
		[ "$(sed '$d' <<<"$output" | tr -d '\r' | jq -S .)" = "$("$CUSTODY" $words --json | jq -S .)" ] ||
			custody_fail "custody $words: another answer on a terminal"
		case $words in
		# Colours and a pager have their own test (diff-output.bats).
		diff*) words="$words --color=never --no-pager" ;;
		esac
		# shellcheck disable=SC2086
		on_terminal $words
	done
	on_terminal check --json -- echo "$NAME"
	on_terminal ledger show
	on_terminal ledger show --json
}

@test "ISO-5: a file planted beside the evidence is no evidence, whatever its name" {
	custody_run -- sh -c 'kill -9 $$'
	assert_status 137
	store=$CUSTODY_ROOT/forensics
	id=$(basename "$store"/2*)
	cp -r "$store/$id" "$store/$NAME"
	cp -r "$store/$id" "$store/$id"$'\n'"20200101T000000Z-00000000"
	[ "$("$CUSTODY" evidence ls --json | jq -r '.evidence[].id')" = "$id" ] || custody_fail "$("$CUSTODY" evidence ls --json)"
	run "$CUSTODY" evidence ls
	[ "${#lines[@]}" -eq 2 ] || custody_fail "$output"
}

@test "attack: profiles of a worktree, whatever their names and texts, send no control sequence to a terminal" {
	mkdir -p .custody/profiles
	printf '{"schema":1,"name":"c1","extends":"offline","description":"c1\\u009b31m","filesystem":{"hide":["/c1\\u009b31m"]}}' \
		>.custody/profiles/c1.json
	cp .custody/profiles/c1.json ".custody/profiles/$NAME"$'\e[31m'.json
	on_terminal profile ls
	on_terminal profile ls --json
	on_terminal profile show c1
	on_terminal profile show c1 --origin
	on_terminal profile diff offline c1
	on_terminal profile check ".custody/profiles/$NAME"$'\e[31m'.json
	on_terminal profile trust ".custody/profiles/$NAME"$'\e[31m'.json
}
