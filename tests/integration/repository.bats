#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# Linked worktrees and submodules: .git is a file, and the repository another directory, with an overlay of its own.

load ../lib/suite.bash

setup() {
	as_root
}

teardown() {
	custody_teardown
}

as_root() {
	suite_setup
	OPTIONS=()
	git_setup
}

as_user() {
	suite_setup_user
	suite_profile user '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	OPTIONS=(--profile "$PROFILE")
	git_setup
}

# main/ with the linked worktree linked/ and the submodule main/lib, all of the user that runs custody.
git_setup() {
	umask 022
	export GIT_CONFIG_GLOBAL=$CUSTODY_HOME/gitconfig GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
	printf '[user]\nname = a\nemail = a@example.org\n[protocol "file"]\nallow = always\n[safe]\ndirectory = *\n' >"$GIT_CONFIG_GLOBAL"
	chmod 0644 "$GIT_CONFIG_GLOBAL"
	as git init -q main
	as git -C main commit -q --allow-empty -m first
	as git -C main worktree add -q ../linked
	as git init -q library
	as git -C library commit -q --allow-empty -m first
	as git -C main submodule --quiet add ../library lib
	as git -C main commit -qm lib
	WORK=$PWD
}

as() {
	"${CUSTODY_AS[@]}" "$@"
}

govern() {
	custody_run "${OPTIONS[@]}" "$@"
}

nothing_ran() { # WORDS: of the refusal
	assert_status 125
	assert_stderr_has "$1"
	[ -z "$output" ]
}

# As the git of the container: its variables name the author.
COMMIT='export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; '

commits() { # DIR
	suite_ungoverned
	cd "$1" || return
	as mkdir -p sub
	cd sub || return
	govern -- sh -c "$COMMIT"'git status --short; echo x >../new; git add ../new; git commit -qm second && git log --format=%s && git status --short'
	assert_status 0
	[ "$output" = "second
first" ]
	# Nothing of it is outside before apply.
	[ "$(as git log --format=%s)" = first ] && [ ! -e ../new ]
	as git fsck --no-dangling 2>&1 | grep -v '^notice' | grep . && custody_fail 'the repository was changed'
	run as "$CUSTODY" diff
	# One line for the commit instead of its objects, as for a repository in the tree.
	[[ $output == *"git      $2: 3 new objects, 1 ref, "*'refs/heads/'*'commit '*' second (a)'*'+++ b/new'* ]] || custody_fail "$output"
	[[ $output != *'objects/'* ]] || custody_fail "$output"
	run as "$CUSTODY" diff --git-objects
	[[ $output == *"repository $2:"*'added     objects/'*'refs/heads/'*'+++ b/new'* ]] || custody_fail "$output"
	as "$CUSTODY" diff --json | jq -e '.repository.repositories[0] | .objects_added == 3 and (.reflog | map(.subject)) == ["second"]'
	as "$CUSTODY" diff --json | jq -e --arg path "$2" '.repository.path == $path and (.changes | map(.path) | index("new")) != null and
		([.repository.changes[] | select(.refused != null)] == [])'
	# A path selects in the worktree.
	run as "$CUSTODY" apply --dry-run last new
	[ "$status" -eq 0 ] && [[ $output != *repository:* ]] || custody_fail "$output"
	run as "$CUSTODY" apply
	[ "$status" -eq 0 ] || custody_fail "$output"
	[ "$(as git log --format=%s)" = "second
first" ]
	[ "$(cat ../new)" = x ] && [ -z "$(as git status --short)" ]
	as git fsck --no-dangling --strict
	[ -z "$(find .. "$2" ! -user "$(as id -u)")" ]
	[ -z "$(find "$CUSTODY_ROOT/sandbox/sessions" -name u)" ]
	jq -e '[inputs | select(.k == "review.apply").d.worktree] | length == 2' -n "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson
}

@test "ISO-3: git commits in a linked worktree, and apply brings the commit out" {
	commits linked "$WORK/main/.git"
	custody_teardown
	as_user
	commits linked "$WORK/main/.git"
}

@test "ISO-3: git commits in a submodule, and apply brings the commit out" {
	commits main/lib "$WORK/main/.git/modules/lib"
	custody_teardown
	as_user
	commits main/lib "$WORK/main/.git/modules/lib"
}

# Objects and references that go are commits that go: apply asks as for files of the worktree.
asks_for_deletions() {
	suite_ungoverned
	cd linked || return
	for n in 1 2 3 4 5 6 7 8 9; do as git -C "$WORK/main" branch "b$n"; done
	as touch one two three
	govern -- sh -c 'cd '"$WORK"'/main/.git && rm -f refs/heads/b[1-9] && cd '"$WORK"'/linked && rm one two'
	assert_status 0
	run setsid --wait "${CUSTODY_AS[@]}" "$CUSTODY" apply --dry-run </dev/null
	[ "$status" -eq 114 ] || custody_fail "$output"
	run setsid --wait "${CUSTODY_AS[@]}" "$CUSTODY" apply </dev/null
	[ "$status" -eq 114 ] || custody_fail "$output"
	[[ $output == *'to delete: repository: refs/heads/b1'*'to delete: one'*'removal of 11 '*'--deletions 11'* ]] || custody_fail "$output"
	[ "$(as git -C "$WORK/main" branch --list 'b?' | wc -l)" -eq 9 ] && [ -e one ]
	# With paths nothing of the repository goes, and nothing of it is counted.
	run setsid --wait "${CUSTODY_AS[@]}" "$CUSTODY" apply last one </dev/null
	[ "$status" -eq 0 ] || custody_fail "$output"
	[ "$(as git -C "$WORK/main" branch --list 'b?' | wc -l)" -eq 9 ] && [ ! -e one ]
	run setsid --wait "${CUSTODY_AS[@]}" "$CUSTODY" apply </dev/null
	[ "$status" -eq 0 ] || custody_fail "$output"
	[ "$(as git -C "$WORK/main" branch --list 'b?' | wc -l)" -eq 0 ] && [ ! -e two ]
}

@test "GOV-6: apply asks before many deletions in the repository beside a worktree" {
	asks_for_deletions
	custody_teardown
	as_user
	asks_for_deletions
}

@test "GOV-9: GOV-16: check, --dry-run and the card show the repository; it needs no approval" {
	cd linked
	as "$CUSTODY" check --json -- make | jq -e --arg path "$WORK/main/.git" '.verdict.level == "A" and
		([.subject.mounts[] | select(.kind == "overlay")] | length == 1 and .[0].source == $path and .[0].target == $path)'
	"$CUSTODY" run --dry-run -- make | jq -e --arg path "$WORK/main/.git" '.mounts[] | select(.destination == $path).type == "overlay"'
	run setsid --wait "$CUSTODY" run -- sh -c 'echo x >/etc/x' </dev/null
	[ "$status" -eq 114 ]
	run script -qec "$CUSTODY approve $(basename "$CUSTODY_ROOT"/sandbox/requests/*.json .json)" /dev/null <<<n
	[[ $output == *'only a copy of the repository'*main/.git* ]] || custody_fail "$output"
	# Not for a bundle, and not with --here.
	run "$CUSTODY" bundle -o "$CUSTODY_HOME/b" -- true
	[ "$status" -ne 0 ] && [[ $output == *'use --here'* ]] && [ ! -e "$CUSTODY_HOME/b" ]
	govern --here -- test -e "$WORK/main/.git"
	assert_status 1
}

@test "ISO-3: with a worktree that is read-only, written in place or served, the repository is read-only" {
	local mode
	suite_ungoverned
	cd linked
	for mode in '"mode":"ro"' '"mode":"rw"' '"overlay":"fuse"'; do
		suite_profile mode "{\"workspace\":{$mode}}"
		govern -p "$PROFILE" -- sh -c "$COMMIT"'git log --format=%s; git commit -q --allow-empty -m x; touch '"$WORK"'/main/.git/x; true'
		assert_status 0
		[ "$output" = first ] || custody_fail "$mode"
		assert_stderr_has 'Read-only file system'
		[ ! -e "$WORK/main/.git/x" ]
	done
	[ "$(git log --format=%s)" = first ]
}

@test "ISO-11: attack: apply refuses programs, settings and other worktrees of the repository" {
	local path
	suite_ungoverned
	as git -C main worktree add -q ../other
	cd linked
	govern -- sh -c 'cd '"$WORK"'/main/.git && echo x >>config; echo x >hooks/post-commit; rm hooks/*.sample; echo x >HOOKS
		echo ref: x >HEAD; echo x >index; mkdir -p modules/lib/hooks info; echo x >modules/lib/hooks/x; echo x >modules/lib/config
		echo x >worktrees/linked/commondir; echo x >worktrees/linked/gitdir; echo x >worktrees/linked/config.worktree; mkdir worktrees/linked/hooks
		echo x >worktrees/other/HEAD; rm worktrees/other/index; rm -r worktrees/other/logs; echo x >commondir; mkdir rebase-merge; echo x >info/attributes
		echo /etc >objects/info/alternates; chmod 777 objects
		ln -s /etc refs/heads/out; echo x >'"$WORK"'/linked/fine'
	assert_status 0
	run --separate-stderr "$CUSTODY" apply
	[ "$status" -eq 1 ]
	for path in config hooks/post-commit HOOKS HEAD index modules/lib/hooks/x modules/lib/config worktrees/linked/commondir worktrees/linked/gitdir \
		worktrees/linked/config.worktree worktrees/linked/hooks worktrees/other/HEAD worktrees/other/index worktrees/other/logs commondir \
		rebase-merge info/attributes refs/heads/out objects objects/info/alternates; do
		[[ $stderr == *"refused repository: $path:"* ]] || custody_fail "$path: $stderr"
	done
	# diff shows each of them, whatever it folds.
	run --separate-stderr "$CUSTODY" diff
	for path in config HEAD index worktrees/linked/config.worktree worktrees/other/HEAD worktrees/other/index refs/heads/out; do
		[[ $output == *" $path; apply refuses it:"* ]] || custody_fail "$path: $output"
	done
	[ ! -e fine ]
	run --separate-stderr "$CUSTODY" apply --skip-refused
	[ "$status" -eq 0 ]
	[ -e fine ]
	[ "$(cat "$WORK/main/.git/HEAD")" != 'ref: x' ] && [ ! -e "$WORK/main/.git/hooks/post-commit" ] && [ -e "$WORK/main/.git/worktrees/other/index" ]
	as git -C "$WORK/other" status
	# The rest is discarded with the worktree's.
	"$CUSTODY" discard
	[ -z "$(find "$CUSTODY_ROOT/sandbox/sessions" -name git)" ]
}

@test "ISO-11: attack: protection of the repository holds for a profile that protects nothing" {
	suite_ungoverned
	suite_profile bare '{"workspace": {"protect": []}}'
	cd linked
	govern -p "$PROFILE" -- sh -c 'echo x >'"$WORK"'/main/.git/hooks/post-commit'
	run --separate-stderr "$CUSTODY" apply
	[ "$status" -eq 1 ]
	[[ $stderr == *'refused repository: hooks/post-commit'* ]]
	[ ! -e "$WORK/main/.git/hooks/post-commit" ]
}

@test "ROOT-2: attack: a .git file is followed only to a repository of the caller that refers back" {
	local what
	cd linked
	cp .git "$CUSTODY_HOME/good"
	mkdir -p "$CUSTODY_HOME/fake/objects" "$CUSTODY_HOME/fake/refs" "$CUSTODY_HOME/empty"
	echo 'ref: refs/heads/main' >"$CUSTODY_HOME/fake/HEAD"
	for what in / /etc "$CUSTODY_HOME/empty" "$CUSTODY_HOME/missing" "$CUSTODY_HOME/fake" ../main/.git . .git "$WORK/main/.git/HEAD" /proc/self/root /proc/self/cwd; do
		echo "gitdir: $what" >.git
		govern -- echo it-ran
		nothing_ran "names the repository '$what'"
		assert_stderr_has --here
	done
	# Another worktree's part: it refers to that one.
	as git -C ../main worktree add -q ../other
	echo "gitdir: $WORK/main/.git/worktrees/other" >.git
	govern -- echo it-ran
	nothing_ran "does not point back here"
	# A copy of a linked worktree.
	cp "$CUSTODY_HOME/good" .git
	cp -a ../linked "$CUSTODY_HOME/copy"
	cd "$CUSTODY_HOME/copy" || return
	govern -- echo it-ran
	nothing_ran "does not point back here"
	# Files of the repository that are no small files; a link on the way; another commondir.
	cd "$WORK/linked" || return
	cp "$CUSTODY_HOME/good" .git
	git -C "$WORK/linked" status >/dev/null || git -C "$WORK/main" worktree repair "$WORK/linked"
	for what in fifo link huge dir other; do
		cp -a "$WORK/main/.git/worktrees/linked" "$CUSTODY_HOME/saved"
		case $what in
		fifo) rm "$WORK/main/.git/worktrees/linked/gitdir" && mkfifo "$WORK/main/.git/worktrees/linked/gitdir" ;;
		link) rm "$WORK/main/.git/worktrees/linked/commondir" && ln -s ../../HEAD "$WORK/main/.git/worktrees/linked/commondir" ;;
		huge) truncate -s 1G "$WORK/main/.git/worktrees/linked/gitdir" ;;
		dir) rm "$WORK/main/.git/worktrees/linked/commondir" && mkdir "$WORK/main/.git/worktrees/linked/commondir" ;;
		other) echo "$CUSTODY_HOME/fake" >"$WORK/main/.git/worktrees/linked/commondir" ;;
		esac
		run --separate-stderr timeout 20 "$CUSTODY" run "${OPTIONS[@]}" -- echo it-ran
		nothing_ran "names the repository"
		rm -r "$WORK/main/.git/worktrees/linked"
		mv "$CUSTODY_HOME/saved" "$WORK/main/.git/worktrees/linked"
	done
	govern -- echo it-ran
	assert_status 0
	mv ../main "$CUSTODY_HOME/moved"
	ln -s "$CUSTODY_HOME/moved" ../main
	govern -- echo it-ran
	nothing_ran "whose path has a symbolic link"
}

@test "ROOT-2: attack: another user's repository is not followed" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	cd linked
	chown -R 4711 ../main/.git
	govern -- echo it-ran
	nothing_ran "belongs to uid 4711"
	chown -R 0 ../main/.git
	chown 4711 ../main/.git
	govern -- echo it-ran
	nothing_ran "belongs to uid 4711"
}

@test "ISO-7: changes of the repository survive a supervisor that is killed" {
	local id pid
	suite_ungoverned
	cd linked
	id=$("$CUSTODY" run -d -- sh -c "$COMMIT"'git commit -q --allow-empty -m second; touch done; exec sleep 600')
	until [ -e "$CUSTODY_ROOT/sandbox/sessions/$id/u/done" ]; do :; done
	pid=$(jq .supervisor.pid "$CUSTODY_ROOT/sandbox/sessions/$id/session.json")
	kill -9 "$pid"
	while [ -e "/proc/$pid" ]; do :; done
	"$CUSTODY" recover
	run "$CUSTODY" apply "$id"
	[ "$status" -eq 0 ] || custody_fail "$output"
	[ "$(git log --format=%s)" = "second
first" ]
	[ -z "$(find "$CUSTODY_ROOT/sandbox/sessions" -name git)" ]
}

@test "ISO-13: the disk limit counts the repository" {
	suite_ungoverned
	suite_profile small '{"limits": {"disk": "20M"}}'
	cd linked
	govern -p "$PROFILE" -- sh -c 'cd '"$WORK"'/main/.git; for i in 1 2 3; do head -c 12M /dev/zero >objects/$i; done; exec sleep 600'
	assert_reason disk-limit
	assert_stderr_has 'wrote more than 20971520 bytes'
}
