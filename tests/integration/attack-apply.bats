#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # scripts for the inside; set by bats
#
# apply must not write or remove files of the host that the run never saw, whatever the host moved meanwhile.

load ../lib/suite.bash

setup() {
	:
}
teardown() {
	custody_teardown
}

review() { # VERB...: as the suite's user
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

as_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	suite_setup && suite_ungoverned
	OPTIONS=()
}

as_user() {
	SUITE_UNGOVERNED=1
	suite_setup_user
	suite_profile u '{"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
	chown "$("${CUSTODY_AS[@]}" id -u)" "$PROFILE"
	OPTIONS=(--profile "$PROFILE")
}

as_fuse() { # as_root or as_user
	command -v fuse-overlayfs >/dev/null || skip "HOST-FUSE-OVERLAYFS"
	"$1"
	suite_profile f '{"workspace":{"overlay":"fuse"},"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
	chown "$("${CUSTODY_AS[@]}" id -u)" "$PROFILE"
	OPTIONS=(--profile "$PROFILE")
}

host() { # CODE: as the suite's user
	"${CUSTODY_AS[@]}" sh -c "$1"
}

portrait() { # everything below DIR..., with bytes
	find "$@" -printf '%p %y %m %i\n' | sort
	find "$@" -type f -exec sha256sum {} + | sort
}

# For each way of losing sight of a directory: d with what the run sees, o with what it never saw.
fill() {
	host 'for d in merged above removed below opaque replaced swapped; do
			for t in $d $d.o; do
				mkdir -p $t/sub/deep; echo $t >$t/file; echo $t >$t/sub/file; echo $t >$t/sub/deep/file; echo $t >$t/gone
			done
		done
		echo kept >kept; echo edited >edited; mkdir rest; echo 1 >rest/1; echo 2 >rest/2; echo mine >old; mkdir into; echo x >into/x'
}

CHANGES='for d in merged above; do echo run >>$d/file; echo run >>$d/sub/file; echo run >>$d/sub/deep/file; rm $d/gone; done
	rm -r removed; rm -r below; rm -r opaque; mkdir opaque; echo run >opaque/file; rm -r replaced; echo run >replaced
	echo run >>edited; rm -r rest into; echo run >>swapped/sub/file; echo run >added'

run_changes() { # CODE: what the payload does
	host "printf '%s\n' \"\$CODE\" >payload"
	custody_run "${OPTIONS[@]}" -- sh ./payload
}

# The host moves directories between the run and apply; no file of theirs changes.
move_away() {
	host 'mv merged merged.bak; mv merged.o merged
		mv above/sub above/sub.bak; mv above.o/sub above/sub
		mv removed removed.bak; mv removed.o removed
		mv below/sub/deep below/deep.bak; mv below.o/sub/deep below/sub/deep
		mv opaque opaque.bak; mv opaque.o opaque
		mv replaced replaced.bak; mv replaced.o replaced
		mv swapped/sub x; mv swapped.o/sub swapped/sub; mv x swapped.o/sub
		rm edited; mv old into/old'
}

# Without the entries that the run did see, and that apply may change.
unseen() {
	grep -vE '(^|  )(above/(file|gone)|below/(file|gone|sub/file)|into/x)( |$)'
}

check_refused() { # PATH...: refused as well
	local path before
	HOST=(merged above removed below opaque replaced swapped into)
	before=$(portrait "${HOST[@]}")
	run --separate-stderr review apply "$(custody_result .session)"
	[ "$status" -eq 1 ] || custody_fail "applied: $output"
	for path in merged/file merged/sub/file merged/sub/deep/file merged/gone above/sub/file above/sub/deep/file removed removed/file removed/sub/deep/file \
		below/sub/deep/file below opaque/sub opaque/file replaced swapped/sub/file into into/old "$@"; do
		[[ $'\n'$stderr == *$'\n'"refused $path: "* ]] || custody_fail "not refused: $path"
	done
	[ "$(portrait "${HOST[@]}")" = "$before" ] || custody_fail "a refused apply changed the tree"
	run --separate-stderr review apply "$(custody_result .session)" --skip-refused
	[ "$status" -eq 0 ]
	# What the run and the host agree on is applied, and nothing else.
	[ "$(cat added)" = run ] && [ ! -e rest ]
	[ "$(tail -n 1 above/file)" = run ] && [ ! -e above/gone ]
	[ "$(portrait "${HOST[@]}" | unseen)" = "$(unseen <<<"$before")" ] ||
		custody_fail "files that the run never saw were changed: $(diff <(unseen <<<"$before") <(portrait "${HOST[@]}" | unseen))"
}

check_after() { # SETUP...
	"$@"
	fill
	CODE=$CHANGES run_changes
	assert_status 0
	move_away
	check_refused edited
	[ ! -e edited ]
}

@test "ISO-3: apply leaves directories alone that the host moved into place after the run, as root" {
	check_after as_root
}

@test "ISO-3: apply leaves directories alone that the host moved into place after the run, as a user" {
	check_after as_user
}

@test "ISO-3: apply leaves directories alone that the host moved into place after the run, with fuse-overlayfs" {
	check_after as_fuse as_root
}

@test "ISO-3: apply leaves directories alone that the host moved into place while the run was going on" {
	local who
	for who in as_root as_user; do
		[ "$who" = as_user ] || [ "$(id -u)" -eq 0 ] || continue
		"$who"
		fill
		host "printf '%s\necho changed\nread -r x\n' '$CHANGES' >payload"
		mkfifo "$CUSTODY_HOME/in"
		exec {in}<>"$CUSTODY_HOME/in"
		"${CUSTODY_AS[@]}" "$CUSTODY" run "${OPTIONS[@]}" --result "$CUSTODY_HOME/result" -- sh ./payload <&"$in" >"$CUSTODY_HOME/out" 3>&- &
		pid=$!
		wait_until grep -q changed "$CUSTODY_HOME/out"
		move_away
		echo on >&"$in"
		wait "$pid"
		CUSTODY_RESULT=$(cat "$CUSTODY_HOME/result")
		exec {in}>&-
		check_refused
		custody_teardown
	done
}

@test "ISO-3: a part that was applied does not stop the rest, also in removed and new directories" {
	local who
	for who in as_root as_user; do
		[ "$who" = as_user ] || [ "$(id -u)" -eq 0 ] || continue
		"$who"
		fill
		CODE="$CHANGES; mkdir -p new/in; echo 1 >new/in/1; echo 2 >new/in/2" run_changes
		assert_status 0
		review apply "$(custody_result .session)" rest/1 removed/sub merged/sub new/in/1 opaque/gone >/dev/null
		[ -e rest/2 ] && [ ! -e rest/1 ] && [ -e new/in/1 ] && [ ! -e new/in/2 ] && [ ! -e removed/sub ] && [ -e removed/file ]
		review apply "$(custody_result .session)" --deletions 100 >/dev/null
		[ ! -e rest ] && [ ! -e removed ] && [ "$(cat opaque/file replaced new/in/2)" = $'run\nrun\n2' ] && [ ! -e opaque/sub ]
		[ ! -e "$CUSTODY_ROOT/sandbox/sessions/$(custody_result .session)/u" ]
		custody_teardown
	done
}

@test "ISO-3: without the record of the worktree, or with a damaged one, apply changes nothing" {
	local dir
	as_user
	fill
	CODE='echo run >>merged/file; echo run >>merged/sub/file; chmod 0 merged/sub; rm -r rest' run_changes
	assert_status 0
	dir=$CUSTODY_ROOT/sandbox/sessions/$(custody_result .session)
	cp -p "$dir/base" "$CUSTODY_HOME/base"
	for damage in 'rm "$1"' 'head -c -1 "$2" >"$1"' 'head -c 40 "$2" >"$1"' 'cat "$2" "$2" >"$1"' ': >"$1"' 'chmod 666 "$1"'; do
		"${CUSTODY_AS[@]}" sh -c "$damage" sh "$dir/base" "$CUSTODY_HOME/base"
		run --separate-stderr review apply "$(custody_result .session)"
		assert_status 125
		assert_stderr_has "cannot compare the worktree with the one that session '$(custody_result .session)' saw"
		[ "$(cat merged/file)" = merged ] && [ -e rest/1 ]
		rm -f "$dir/base"
		cp -p "$CUSTODY_HOME/base" "$dir/base"
	done
	# A part of the upper that the payload closed is in the record, too.
	review apply "$(custody_result .session)" >/dev/null
	[ "$(stat -c %a merged/sub)" = 0 ] && [ ! -e rest ]
	chmod 755 merged/sub
	[ "$(tail -n 1 merged/sub/file)" = run ]
}

@test "ISO-3: a worktree that is a layer of another overlay is refused by name, because its marks hide files" {
	local name who
	for who in as_root as_user; do
		[ "$who" = as_user ] || [ "$(id -u)" -eq 0 ] || continue
		"$who"
		host 'mkdir seen; echo x >seen/file'
		for name in user.overlay.opaque user.overlay.impure user.fuseoverlayfs.opaque; do
			python3 -c 'import os, sys; os.setxattr(".", sys.argv[1], b"y")' "$name" 2>/dev/null || skip "no user.* attributes on this file system"
			custody_run "${OPTIONS[@]}" -- touch started
			assert_status 125
			assert_stderr_has "is a layer of another overlay (attribute '$name')"
			assert_stderr_has "setfattr -x $name"
			[ ! -e started ]
			python3 -c 'import os, sys; os.removexattr(".", sys.argv[1])' "$name"
		done
		custody_run "${OPTIONS[@]}" -- cat seen/file
		assert_status 0
		custody_teardown
	done
}

# The worktree belongs to SUITE_UID, a directory in it to root.  exchange NAME: as SUITE_UID, as soon as NAME exists, root's
# directory gets that name.
guarded() {
	as_root
	mkdir -m 0700 rootdir
	echo secret >rootdir/secret
	mkdir old
	echo old >old/file
	chown -R "$SUITE_UID:$SUITE_UID" . && chown -R 0:0 rootdir
	GUARD=$(stat -c %i rootdir)
}

exchange() {
	setpriv --reuid "$SUITE_UID" --regid "$SUITE_UID" --clear-groups timeout 60 sh -c '
		until mv -T "$0" aside; do :; done
		exec mv -T rootdir "$0"' "$1" 2>/dev/null
}

hidden() { # SESSION PATH: the name under which apply makes or removes PATH
	printf '.custody-apply-%.8s%.16s' "$(printf %s "$1" | sha256sum)" "$(printf %s "$2" | sha256sum)"
}

guard_holds() {
	local found
	found=$(find . -inum "$GUARD" -printf '%U %m\n')
	[ "$found" = '0 700' ]
	[ "$(find . -name secret -exec cat {} +)" = secret ]
}

# apply_slowly CALL: apply with a second of time at each CALL.
apply_slowly() {
	timeout 120 strace -f -o /dev/null -e trace="${1%%:*}" -e inject="$1" "$CUSTODY" apply "$SESSION"
}

@test "ISO-3: apply as root gives no directory of root to the owner of the worktree who exchanges it for a new one" {
	guarded
	"$CUSTODY" run "${OPTIONS[@]}" -- mkdir d
	SESSION=$("$CUSTODY" sessions --all --json | jq -r '.sessions[0].session')
	exchange "$(hidden "$SESSION" d)" &
	run apply_slowly mkdirat:delay_exit=1000000
	wait $!
	[ "$status" -ne 0 ]
	guard_holds
}

@test "ISO-3: apply as root sets the mode and owner of no directory of root that took the name of a new one" {
	guarded
	"$CUSTODY" run "${OPTIONS[@]}" -- sh -c 'mkdir d; chmod 0500 d; echo z >z'
	SESSION=$("$CUSTODY" sessions --all --json | jq -r '.sessions[0].session')
	exchange d &
	run apply_slowly renameat2:delay_exit=1000000
	wait $!
	[ "$status" -ne 0 ]
	guard_holds
}

@test "ISO-3: apply as root empties no directory of root that took the name of a removed one" {
	guarded
	"$CUSTODY" run "${OPTIONS[@]}" -- rm -r old
	SESSION=$("$CUSTODY" sessions --all --json | jq -r '.sessions[0].session')
	exchange "$(hidden "$SESSION" old)" &
	run apply_slowly unlinkat:delay_enter=1000000
	wait $!
	[ "$status" -ne 0 ]
	guard_holds
}

# swap_at CALL OLD: root's apply waits at its first CALL; OLD is moved away and root's directory gets its name.
swap_at() {
	local trace=$CUSTODY_HOME/trace pid
	rm -f "$trace"
	timeout 120 strace -f -o "$trace" -e trace="$1" -e inject="$1:delay_exit=3000000:when=1" "$CUSTODY" apply "$SESSION" >"$CUSTODY_HOME/out" 2>&1 &
	pid=$!
	wait_until grep -q "$1(" "$trace" 2>/dev/null
	setpriv --reuid "$SUITE_UID" --regid "$SUITE_UID" --clear-groups sh -c 'mv -T "$0" aside && mv -T rootdir "$0"' "$2"
	status=0
	wait "$pid" || status=$?
}

@test "ISO-3: apply as root creates nothing in a directory of root that took the name of a reviewed one" {
	guarded
	"$CUSTODY" run "${OPTIONS[@]}" -- sh -c 'echo planted >old/new; mkdir old/newdir'
	SESSION=$("$CUSTODY" sessions --all --json | jq -r '.sessions[0].session')
	swap_at fstatfs old
	[ "$status" -ne 0 ]
	[[ $(cat "$CUSTODY_HOME/out") == *"the parent directory was changed concurrently"* ]]
	guard_holds
	[ "$(ls -A old)" = secret ]
	[ ! -e aside/new ]
}

# A tree and changes of every kind, with modes of directories.
change_all() {
	host 'echo old >f; mkdir d; echo x >d/x; ln -s f l; echo old >g; chmod 600 g; echo gone >gone; mkdir -p gd/e; echo q >gd/e/q
		mkdir -m 755 perm open shut; echo same >perm/s; chmod 700 open; echo s >open/s; echo t >shut/t; mkdir -m 750 md'
	SCRIPT='echo new >g; rm gone; rm -r gd; mkdir -p a/s; echo 1 >a/b; echo 2 >a-b; echo 4 >a/s/c; ln -s x a/ln; rm f; mkdir f; echo 7 >f/y
		rm -r d; echo 8 >d; rm l; ln -s other l; chmod 711 perm; chmod 600 perm/s; chmod 755 open; echo u >open/s; chmod 500 shut; mkdir md/new; echo n >md/new/n'
	custody_run "${OPTIONS[@]}" -- sh -c "$SCRIPT"
	assert_status 0
}
plain_view() {
	find . -mindepth 1 -printf '%p %y %m %l\n' | sort
	find . -type f -exec sha256sum {} + | sort -k 2
}

killed_apply_continues() { # as_root or as_user
	local call n before after now
	"$1"
	change_all
	before=$(plain_view)
	review apply
	after=$(plain_view)
	custody_teardown
	for call in renameat2 chmod fchownat syncfs mkdirat; do
		for ((n = 1; ; n++)); do
			"$1"
			change_all
			[ "$(plain_view)" = "$before" ]
			status=0
			"${CUSTODY_AS[@]}" strace -f -qq -o /dev/null -e trace="$call" -e inject="$call:signal=KILL:when=$n" \
				"$CUSTODY" apply >/dev/null 2>&1 || status=$?
			[ "$status" -ne 0 ] || break
			[ "$status" -eq 137 ]
			review apply >"$CUSTODY_HOME/second" 2>&1 || custody_fail "killed at $call $n: $(cat "$CUSTODY_HOME/second")" || return
			now=$(plain_view)
			[ "$now" = "$after" ] || custody_fail "killed at $call $n: $(diff <(echo "$now") <(echo "$after"))" || return
			custody_teardown
		done
		custody_teardown
	done
}

@test "GOV-6: an apply that is killed at any change of the tree is completed by the next one" {
	killed_apply_continues as_root
}

@test "GOV-6: rootless: an apply that is killed at any change of the tree is completed by the next one" {
	killed_apply_continues as_user
}

@test "GOV-6: discard after a killed apply names the command that removes what it left, and only then" {
	local remove
	as_user
	change_all
	"${CUSTODY_AS[@]}" strace -f -qq -o /dev/null -e trace=syncfs -e inject=syncfs:signal=KILL:when=1 "$CUSTODY" apply >/dev/null 2>&1 || [ $? -eq 137 ]
	[ -n "$(find . -name '.custody-apply-*')" ]
	run --separate-stderr review discard
	assert_status 0
	remove=$(sed -n 's/.*to remove what it left: //p' <<<"$stderr")
	[[ $remove == "find "* ]]
	host "$remove"
	[ -z "$(find . -name '.custody-apply-*')" ]
	[ "$(cat f g gone)" = $'old\nold\ngone' ]
	custody_run "${OPTIONS[@]}" -- sh -c 'echo x >x'
	run --separate-stderr review discard
	assert_status 0
	[[ $stderr != *"to remove what it left"* ]]
}

# refuses NAME SCRIPT: apply refuses all of what the run did, and the tree stays.
refuses() {
	local before
	before=$(portrait .)
	"$CUSTODY" run "${OPTIONS[@]}" -- sh -c "$1"
	SESSION=$("$CUSTODY" sessions --all --json | jq -r '.sessions[0].session')
	run "$CUSTODY" apply "$SESSION"
	if [ "$status" -ne 1 ] || [[ $output != *"is protected"* ]]; then
		printf '%s\n' "not refused: $1" "$output" >&2
		return 1
	fi
	[ "$(portrait .)" = "$before" ]
}

applies() {
	"$CUSTODY" run "${OPTIONS[@]}" -- sh -c "$1"
	SESSION=$("$CUSTODY" sessions --all --json | jq -r '.sessions[0].session')
	"$CUSTODY" apply "$SESSION"
}

@test "ISO-11: apply refuses what git obeys in every repository, whatever its name, and in every case of its letters" {
	as_root
	git init -q . && git init -q --bare mine.git && mkdir sub && ln .git/config .git/other
	refuses 'mkdir -p sub/.GIT; echo x >sub/.GIT/config'
	refuses 'mkdir -p .git/HOOKS; echo x >.git/HOOKS/pre-commit'
	refuses 'echo x >.git/CONFIG'
	# A second name of the same file: .git/other is .git/config where names are folded.
	refuses 'echo x >.git/other'
	refuses 'git init -q --bare sub/b.git; git -C sub/b.git config core.fsmonitor x'
	refuses 'echo x >mine.git/config'
	refuses 'mkdir -p mine.git/hooks; echo x >mine.git/hooks/update'
	refuses 'mkdir sub/c; echo ../x >sub/c/commondir; echo ref: x >sub/c/HEAD'
	refuses 'mkdir .git/rebase-merge; echo exec x >.git/rebase-merge/git-rebase-todo'
	refuses 'mkdir .hg; echo x >.hg/hgrc'
	refuses 'chmod 777 .git'
	# In three parts, each of them harmless alone.
	applies 'mkdir sub/d; echo x >sub/d/config; echo ref: x >sub/d/HEAD'
	applies 'mkdir sub/d/objects'
	refuses 'mkdir sub/d/refs'
	# Other files with such names, and a repository's data, are applied.
	applies 'mkdir -p conf/hooks conf/modules; touch conf/config conf/hooks/x conf/modules/x HEAD; echo ref: y >mine.git/HEAD; echo x >.git/description'
	[ -e conf/hooks/x ] && [ "$(cat mine.git/HEAD)" = 'ref: y' ]
}
