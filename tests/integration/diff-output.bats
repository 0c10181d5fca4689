#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2154 # scripts for the inside; set by bats
#
# `custody diff` for a person: colours, pager, renames, commits made inside; progress of long work.

load ../lib/suite.bash

setup() {
	LIMITS=()
	if [[ $BATS_TEST_DESCRIPTION == *"as a user"* ]]; then setup_user; else suite_setup; fi
	suite_ungoverned
	unset NO_COLOR PAGER GIT_PAGER CUSTODY_PAGER LESS
	export TERM=xterm
	seq 1 9 >text
}
teardown() {
	custody_teardown
}

# An ordinary user's cgroups may be without limits.
setup_user() {
	suite_setup_user
	suite_profile u '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	chmod 0644 "$PROFILE"
	LIMITS=(--profile "$PROFILE")
}

custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

# change: a run that changes one line and leaves a file with control characters.
change() {
	custody_run "${LIMITS[@]}" -- sh -c 'sed -i s/5/five/ text; printf "a\033[31mb\n" >escape'
	assert_status 0
}

# on_terminal [STEP...] -- WORDS...: `custody WORDS` on a terminal; $status, $output.
on_terminal() {
	local steps=()
	while [ "$1" != -- ]; do
		steps+=("$1")
		shift
	done
	run "${CUSTODY_AS[@]}" python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" "${steps[@]}" -- "$CUSTODY" "${@:2}"
	output=${output//$'\r'/}
}

red=$'\e[31m' green=$'\e[32m' cyan=$'\e[36m' bold=$'\e[1m' plain=$'\e[m'

# commit_inside SUBJECT: a run that commits in a new repository of the host.
commit_inside() {
	"${CUSTODY_AS[@]}" sh -c 'git init -q -b main . && git add . && git -c user.name=Host -c user.email=host@example.org commit -q -m first' 2>/dev/null
	custody_run "${LIMITS[@]}" -- sh -c 'sed -i s/5/five/ text && git -c user.name=Inside -c user.email=in@example.org commit -q -a -m "$0"' "$1"
	assert_status 0
}

colours_are_gits() {
	change
	on_terminal -- diff --no-pager
	[ "$status" -eq 0 ]
	assert_output_has "${bold}diff --git a/text b/text$plain"
	assert_output_has "$cyan@@ -2,7 +2,7 @@$plain"
	assert_output_has "$red-5$plain"
	assert_output_has "$green+five$plain"
	# The colour of a payload is text.
	assert_output_has "$green+a\\x1B[31mb$plain"
	on_terminal -- diff --stat --no-pager
	assert_output_has "modified  text | $green+1$plain $red-1$plain"
}

@test "diff: colours of git on a terminal" {
	colours_are_gits
}

@test "diff: colours of git on a terminal, as a user" {
	colours_are_gits
}

@test "diff: no colours with NO_COLOR, TERM=dumb, --color=never, or on a pipe; --color=always has them" {
	change
	for how in NO_COLOR=1 TERM=dumb TERM=; do
		run env "$how" python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" -- "$CUSTODY" diff --no-pager
		[ "$status" -eq 0 ]
		assert_output_has "+five"
		[[ $output != *"$green"* && $output != *"$bold"* ]] || custody_fail "$how: colours"
		assert_output_has '\x1B[31m'
	done
	NO_COLOR='' on_terminal -- diff --no-pager
	assert_output_has "$green+five$plain"
	on_terminal -- diff --no-pager --color=never
	[[ $output != *"$green"* ]]
	run --separate-stderr custody diff
	[ "$status" -eq 0 ]
	[[ $output == *"+five"* && $output != *"$green"* ]]
	# A pipe gets the bytes as they are: a patch.
	[[ $output == *$'+a\e[31mb'* ]]
	run --separate-stderr env NO_COLOR=1 "$CUSTODY" diff --color=always
	assert_output_has "$green+five$plain"
	# Colours end on a terminal, whatever is in between.
	assert_output_has "$green+a\\x1B[31mb$plain"
	run --separate-stderr custody diff --color=sometimes
	[ "$status" -eq 64 ]
	run --separate-stderr custody diff --json --color=always
	jq -e .changes <<<"$output" >/dev/null
}

@test "diff: pager of CUSTODY_PAGER, GIT_PAGER, PAGER in this order, by a shell; none if empty or cat" {
	change
	export PAGER="sed 's/^/P:/'" GIT_PAGER="sed 's/^/G:/'" CUSTODY_PAGER="sed 's/^/C:/'"
	on_terminal -- diff
	assert_output_has "C:$bold"
	unset CUSTODY_PAGER
	on_terminal -- diff --stat
	assert_output_has "G:modified  text"
	unset GIT_PAGER
	on_terminal -- diff
	[ "$status" -eq 0 ]
	# Colours and escaped contents as on the terminal.
	assert_output_has "P:$green+five$plain"
	assert_output_has "P:$green+a\\x1B[31mb$plain"
	on_terminal -- diff --no-pager
	[[ $output != *"P:"* ]]
	on_terminal -- diff --json
	[[ $output != *"P:"* ]]
	for pager in '' cat; do
		PAGER=$pager on_terminal -- diff
		assert_output_has "$green+five$plain"
	done
	# Not on a pipe.
	run --separate-stderr custody diff
	[[ $output == *"+five"* && $output != *"P:"* ]]
}

@test "diff: less gets LESS=FRX and LV=-c unless they are set, and starts with the first output" {
	mkdir "$CUSTODY_HOME/bin"
	printf '#!/bin/sh\necho "LESS=$LESS LV=$LV"\ntouch "%s"\nexec cat\n' "$CUSTODY_HOME/started" >"$CUSTODY_HOME/bin/less"
	chmod 755 "$CUSTODY_HOME/bin/less"
	change
	PATH=$CUSTODY_HOME/bin:$PATH on_terminal -- diff
	assert_output_has "LESS=FRX LV=-c"
	assert_output_has "$green+five$plain"
	LESS=R PATH=$CUSTODY_HOME/bin:$PATH on_terminal -- diff
	assert_output_has "LESS=R LV=-c"
	# A refusal prints no page.
	rm "$CUSTODY_HOME/started"
	PATH=$CUSTODY_HOME/bin:$PATH on_terminal -- diff nothing-like-this
	[ "$status" -eq 1 ]
	[ ! -e "$CUSTODY_HOME/started" ]
}

@test "diff: a pager that is not found is named, and the output is printed without one" {
	change
	PAGER=no-such-pager on_terminal -- diff
	[ "$status" -eq 0 ]
	assert_output_has "the pager 'no-such-pager' is not found"
	assert_output_has "$green+five$plain"
	# A shell finds out by itself, and its failure is one.
	PAGER='"no-such-pager"' on_terminal -- diff
	[ "$status" -eq 125 ]
	assert_output_has 'cannot run the pager'
}

@test "diff: leaving the pager early is no error, nothing is printed behind it, and its status does not count" {
	custody_run "${LIMITS[@]}" -- sh -c 'seq 1 300000 >long'
	assert_status 0
	PAGER='head -n 3; echo LEFT' on_terminal -- diff
	[ "$status" -eq 0 ]
	assert_output_has "LEFT"
	[[ $output != *"+299999"* && $output != *"Broken pipe"* && ${output#*LEFT} != *"+"* ]]
	PAGER='cat >/dev/null; exit 3' on_terminal -- diff
	[ "$status" -eq 0 ]
	# The keys are the pager's.  The line end ends its read also where the signal comes just before that call.
	PAGER='trap "echo CAUGHT; exit" INT; head -n 1; echo READY; while :; do read -r x </dev/tty; done' \
		on_terminal expect:READY 'send:\x03\n' expect:CAUGHT -- diff
	[ "$status" -eq 0 ]
}

@test "diff: less shows the first page and leaves with q" {
	command -v less >/dev/null || custody_fail "less is missing"
	custody_run "${LIMITS[@]}" -- sh -c 'seq 1 300 >long'
	assert_status 0
	on_terminal size:24x80 expect:+1 send:q -- diff
	[ "$status" -eq 0 ]
	[[ $output == *"mode cooked" && $output != *"+300"* ]]
}

@test "diff: a moved file is a rename, as git writes it" {
	seq 1 100 >one
	seq 101 200 >two
	mkdir dir
	seq 201 300 >dir/three
	: >empty
	custody_run "${LIMITS[@]}" -- sh -c 'mv one "new one"; mv dir other; chmod 755 "new one"; mv two twice; echo more >>twice; mv empty void'
	assert_status 0
	run --separate-stderr custody diff
	[ "$status" -eq 0 ]
	assert_output_has 'renamed  one => new one'
	assert_output_has 'diff --git a/one b/new one
old mode 100644
new mode 100755
similarity index 100%
rename from one
rename to new one'
	assert_output_has 'rename from dir/three
rename to other/three'
	# Similar and empty files are none.
	assert_output_has 'deleted  two (file)'
	[[ $output != *"rename to twice"* && $output != *"rename to void"* && $output != *"deleted  one"* ]]
	cp -a "$PWD" "$CUSTODY_HOME/copy"
	(cd "$CUSTODY_HOME/copy" && git apply --whitespace=nowarn <<<"$output")
	[ "$(stat -c %a "$CUSTODY_HOME/copy/new one")" = 755 ]
	cmp dir/three "$CUSTODY_HOME/copy/other/three"
	[ ! -e "$CUSTODY_HOME/copy/one" ]
	run --separate-stderr custody diff --stat
	assert_output_has 'renamed   one => new one
deleted   two | +0 -100'
	[[ $output != *"added     new one"* ]]
	run --separate-stderr custody diff --json
	[ "$(jq -r '.changes[] | select(.path == "one") | .change, .renamed_to' <<<"$output")" = $'deleted\nnew one' ]
	[ "$(jq -r '.changes[] | select(.path == "new one") | .change, .renamed_from, .lines_added' <<<"$output")" = $'added\none\n100' ]
	# Both halves of a rename are applied.
	custody apply >/dev/null
	[ ! -e one ] && [ -e "new one" ] && [ -e other/three ]
}

@test "diff: a rename whose other half apply refuses or that is not named is shown as two changes" {
	seq 1 100 >one
	custody_run "${LIMITS[@]}" -- sh -c 'mkdir dir; mv one dir/two; chmod 4755 dir/two'
	assert_status 0
	run --separate-stderr custody diff
	[[ $output != *"rename to"* && $output == *"deleted  one"* && $output == *"apply refuses dir/two"* ]]
	custody discard --yes >/dev/null
	custody_run "${LIMITS[@]}" -- mv one two
	assert_status 0
	run --separate-stderr custody diff last two
	[[ $output == *"new file mode"* && $output != *"rename"* ]]
}

commits_are_lines() {
	commit_inside 'Change "five"'
	run --separate-stderr custody diff
	[ "$status" -eq 0 ]
	assert_output_has "$(printf '         refs/heads/main: %.7s -> ' "$(cat .git/refs/heads/main)")"
	[[ $output =~ "commit "[0-9a-f]{7}' Change "five" ' ]] || custody_fail "no commit: $output"
	assert_output_has "new objects"
	[[ $output != *".git/objects/"* && $output != *".git/index"* && $output != *".git/logs"* ]]
	assert_output_has "+five"
	run --separate-stderr custody diff --stat
	[[ $output =~ "commit "[0-9a-f]{7} && $output != *".git/objects/"* ]]
	for how in "--git-objects" "last .git"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr custody diff --stat $how
		[[ $output == *".git/objects/"* && $output == *".git/index"* && $output == *".git/logs/HEAD"* ]]
	done
	run --separate-stderr custody diff --json
	[ "$(jq -r '.repositories[0] | .path, .reflog[0].subject, .refs[0].name' <<<"$output")" = $'.git\nChange "five"\nrefs/heads/main' ]
	jq -e '[.changes[].path | select(startswith(".git/objects/"))] | length >= 3' <<<"$output"
	# They are applied like everything else.
	custody apply >/dev/null
	[ "$(git -c safe.directory='*' log -1 --format=%s)" = 'Change "five"' ]
	git -c safe.directory='*' fsck --strict 2>&1
}

@test "diff: one line per commit made inside instead of objects" {
	commits_are_lines
}

@test "diff: one line per commit made inside instead of objects, as a user" {
	commits_are_lines
}

@test "diff: refused and unusual entries of .git stay visible, and those that are not git's own" {
	commit_inside x
	custody discard --yes >/dev/null
	custody_run "${LIMITS[@]}" -- sh -c 'cd .git; echo evil >hooks/post-commit; mkdir -p objects/info; echo /elsewhere >objects/info/alternates
		echo x >objects/ab; printf garbage >refs/heads/odd; ln -s HEAD refs/heads/link; chmod 777 index
		head -c 100 /dev/zero >logs/zero; f=$(find objects -type f -name "????*" | grep -v info | head -n 1); chmod u+w "$f"; echo x >>"$f"; chmod 444 "$f"; echo "$f" >../name'
	assert_status 0
	run --separate-stderr custody diff
	[ "$status" -eq 0 ]
	assert_output_has "apply refuses .git/hooks/post-commit"
	assert_output_has "b/.git/objects/info/alternates"
	assert_output_has "b/.git/objects/ab"
	assert_output_has "b/.git/refs/heads/odd"
	assert_output_has ".git/refs/heads/link"
	assert_output_has "mode     .git/index"
	assert_output_has ".git/logs/zero"
	# An object that was changed.
	run --separate-stderr custody diff --stat
	[[ $output =~ modified\ +\.git/objects/[0-9a-f]{2}/ ]] || custody_fail "$output"
}

@test "diff: texts of the reflog cannot send control characters or fake lines" {
	commit_inside x
	custody discard --yes >/dev/null
	custody_run "${LIMITS[@]}" -- sh -c 'z=$(printf %040d 0); printf "%s %s In\033[2Jside <a@b> 1700000000 +0000\tcommit: \033]0;title\007sub\rject\n" $z $z >>.git/logs/HEAD'
	assert_status 0
	run --separate-stderr custody diff
	assert_output_has 'commit 0000000 \x1B]0;title\x07sub\x0Dject (In\x1B[2Jside)'
	[[ $output != *$'\e'* ]]
	# A reflog that was written anew is shown in full.
	custody discard --yes >/dev/null
	custody_run "${LIMITS[@]}" -- sh -c 'z=$(printf %040d 0); printf "%s %s I <a@b> 1700000000 +0000\tcommit: other\n" $z $z >.git/logs/HEAD'
	run --separate-stderr custody diff
	[[ $output == *"+++ b/.git/logs/HEAD"* && $output != *"its reflog says"* ]]
}

# slowly WORDS...: `custody WORDS` with 20 ms for each of these calls, more than a second in all.
slowly() {
	strace -f -qq -o /dev/null -e trace=statx,openat,close,renameat2 -e inject=statx,openat,close,renameat2:delay_enter=20000 "$CUSTODY" "$@"
}

@test "diff, apply and restore show progress with a rate on a terminal, and nothing on a pipe" {
	local terminal=("python3" "$BATS_TEST_DIRNAME/../lib/terminal.py" --)
	custody_run "${LIMITS[@]}" -- sh -c 'i=0; while [ $i -lt 40 ]; do echo $i >f$i; i=$((i + 1)); done; kill -9 $$'
	export -f slowly
	export CUSTODY
	run "${terminal[@]}" bash -c 'slowly diff --stat --no-pager'
	[ "$status" -eq 0 ]
	[[ $output =~ "reading the changes: "[0-9]+" entries"[^$'\n']*"("[0-9]+/s ]] || custody_fail "no progress: $output"
	# The line is cleared before the output.
	[[ $output =~ "/s"[^$'\n']*$'\r\e[K'.*"40 changes" ]]
	run --separate-stderr slowly diff --stat
	[[ $stderr != *"reading the changes"* && $output == *"40 changes"* ]]
	run "${terminal[@]}" bash -c 'slowly evidence restore "$0" "$1"' "$(custody_result .session)" "$CUSTODY_HOME/restored"
	[ "$status" -eq 0 ]
	[[ $output =~ "restoring: "[0-9]+" entries"[^$'\n']*"("[0-9]+/s ]] || custody_fail "no progress: $output"
	run "${terminal[@]}" bash -c 'slowly apply'
	[ "$status" -eq 0 ]
	[[ $output =~ "applying: "[0-9]+" entries"[^$'\n']*"("[0-9]+/s ]] || custody_fail "no progress: $output"
	[ "$(cat f39)" = 39 ]
}
