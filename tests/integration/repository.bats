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
	run --separate-stderr "$CUSTODY" run --dry-run -- make
	[ "$status" -eq 0 ] || custody_fail "$stderr"
	jq -e -n --arg path "$WORK/main/.git" '[inputs.mounts[] | select(.destination == $path).type] == ["overlay"]' <<<"$output"
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

second_layer() { # SESSION NAME
	echo "$CUSTODY_ROOT/sandbox/sessions/$1/git/$2"
}

# chained [OPTIONS] -- SCRIPT: a run on the kept changes; ID is its session.
chained() {
	govern "$@"
	assert_status 0
	ID=$(custody_result .session)
}

continues_in() { # DIR REPOSITORY
	local one two frozen words
	suite_ungoverned
	cd "$1" || return
	chained -- sh -c "$COMMIT"'echo 1 >new; git add new; git commit -qm second; git branch side'
	one=$ID
	frozen=$(cd "$(second_layer "$one" u)" && find . -printf '%p %y %m %s\n' | sort)
	words=$(as "$CUSTODY" check --json "${OPTIONS[@]}" --continue -- git log | jq -r '.subject.mounts[] | select(.kind == "overlay").base')
	[[ $words =~ ^[0-9a-f]{64}$ ]] || custody_fail "base $words"
	chained --continue -- sh -c "$COMMIT"'git log --format=%s; git status --short; echo 2 >>new; git commit -qam third; git branch -D side >/dev/null; git fsck --strict --no-dangling --no-progress 2>&1 | grep -v ^notice; true'
	two=$ID
	[ "$output" = "second
first" ] || custody_fail "$output"
	# Other changes of the repository are another digest.
	[ "$(as "$CUSTODY" check --json "${OPTIONS[@]}" --continue -- git log | jq -r '.subject.mounts[] | select(.kind == "overlay").base')" != "$words" ]
	[ "$(jq -r '.chain | join(" ")' "$(second_layer "$two" layer.json)")" = "$one" ]
	# Neither the repository nor the frozen upper was written.
	[ "$(as git log --format=%s)" = first ] && [ ! -e new ]
	[ "$(cd "$(second_layer "$one" u)" && find . -printf '%p %y %m %s\n' | sort)" = "$frozen" ]
	chained --continue -- sh -c 'git log --format=%s; git branch --list side; git show HEAD:new'
	[ "$output" = "third
second
first
1
2" ] || custody_fail "$output"
	run as "$CUSTODY" diff
	[[ $output == *"git      $2: 6 new objects, "*'commit '*' second (a)'*'commit '*' third (a)'*'+1'*'+2'* && $output != *side* ]] || custody_fail "$output"
	run as "$CUSTODY" diff "$one"
	[[ $output == *' second (a)'* && $output != *third* ]] || custody_fail "$output"
	for verb in apply discard; do
		run as "$CUSTODY" $verb "$one"
		[ "$status" -eq 1 ] && [[ $output == *"is continued by session $two"* ]] || custody_fail "$output"
	done
	run as "$CUSTODY" apply
	[ "$status" -eq 0 ] || custody_fail "$output"
	[[ $output == *"applied with it: the changes of session $one"* ]]
	[ "$(as git log --format=%s)" = "third
second
first" ]
	[ "$(cat new)" = "1
2" ] && [ -z "$(as git status --short)" ] && [ -z "$(as git branch --list side)" ]
	as git fsck --no-dangling --strict
	[ -z "$(find . "$2" ! -user "$(as id -u)")" ]
	[ -z "$(find "$CUSTODY_ROOT/sandbox/sessions" -name u -o -name s -o -name git)" ]
	as "$CUSTODY" ledger verify >/dev/null
}

@test "ISO-3: a continued run in a linked worktree begins on the commits of its base; apply brings all of them out" {
	continues_in linked "$WORK/main/.git"
	custody_teardown
	as_user
	continues_in linked "$WORK/main/.git"
}

@test "ISO-3: a continued run in a submodule begins on the commits of its base; apply brings all of them out" {
	continues_in main/lib "$WORK/main/.git/modules/lib"
	custody_teardown
	as_user
	continues_in main/lib "$WORK/main/.git/modules/lib"
}

refused_base() { # WORDS OPTIONS...
	local words=$1
	shift
	govern "$@" -- sh -c 'echo ran; echo ran >ran'
	assert_status 125
	assert_stderr_has "$words"
	[ -z "$output" ] && [ ! -e ran ]
}

repository_bases_are_refused() {
	local one
	suite_ungoverned
	cd linked || return
	# A base without the repository: it begins on the host's.
	chained --here -- sh -c 'echo 1 >plain'
	chained --continue -- sh -c "$COMMIT"'cat plain; git commit -q --allow-empty -m second; git log --format=%s'
	[ "$output" = "1
second
first" ]
	one=$ID
	[ "$(jq .chain "$(second_layer "$one" layer.json)")" = null ]
	# The other way round the sum would lack the commit.
	refused_base "has changes of the repository '$WORK/main/.git'" --continue --here
	refused_base 'no other mount can replace it' --continue -v "$WORK/main/.git:$WORK/main/.git:ro"
	# It changed the worktree's part of another name, or another repository.
	as cp .git "$CUSTODY_HOME/good" 2>/dev/null || cp .git "$CUSTODY_HOME/good"
	jq -c '.own = "worktrees/other"' "$(second_layer "$one" layer.json)" >"$CUSTODY_HOME/layer.json"
	as cp "$(second_layer "$one" layer.json)" "$(second_layer "$one" saved)"
	as cp "$CUSTODY_HOME/layer.json" "$(second_layer "$one" layer.json)"
	refused_base 'is not the repository that session' --continue
	as mv "$(second_layer "$one" saved)" "$(second_layer "$one" layer.json)"
	as rm -rf "$CUSTODY_HOME/work/copy"
	as cp -a ../main ../copy
	as mv ../main ../before && as mv ../copy ../main
	refused_base 'is not the repository that session' --continue
	as rm -rf ../main && as mv ../before ../main
	# Unreadable, no directory, of another session.
	for what in file link other; do
		as mv "$(second_layer "$one" .)" "$CUSTODY_ROOT/sandbox/sessions/$one/aside" 2>/dev/null ||
			as mv "$CUSTODY_ROOT/sandbox/sessions/$one/git" "$CUSTODY_ROOT/sandbox/sessions/$one/aside"
		case $what in
		file) as touch "$CUSTODY_ROOT/sandbox/sessions/$one/git" ;;
		link) as ln -s aside "$CUSTODY_ROOT/sandbox/sessions/$one/git" ;;
		other)
			as mkdir "$CUSTODY_ROOT/sandbox/sessions/$one/git"
			jq -c '.session = "20200101T000000Z-00000000"' "$CUSTODY_ROOT/sandbox/sessions/$one/aside/layer.json" >"$CUSTODY_HOME/layer.json"
			as sh -c 'umask 077; cat "$1" >"$2"' sh "$CUSTODY_HOME/layer.json" "$CUSTODY_ROOT/sandbox/sessions/$one/git/layer.json"
			;;
		esac
		refused_base --continue: --continue
		as rm -rf "$CUSTODY_ROOT/sandbox/sessions/$one/git"
		as mv "$CUSTODY_ROOT/sandbox/sessions/$one/aside" "$CUSTODY_ROOT/sandbox/sessions/$one/git"
	done
	chained --continue -- git log --format=%s
	[ "$output" = "second
first" ]
	run as "$CUSTODY" apply
	[ "$status" -eq 0 ] || custody_fail "$output"
	[ "$(as git log --format=%s)" = "second
first" ] && [ "$(cat plain)" = 1 ]
}

@test "ISO-3: a base whose repository this run does not use is refused by name, and nothing runs" {
	repository_bases_are_refused
	custody_teardown
	as_user
	repository_bases_are_refused
}

@test "ISO-11: attack: a chain protects of its repository what the profile of each run protects" {
	suite_ungoverned
	cd linked
	suite_profile strict '{"workspace": {"protect": [".git/hooks", ".git/config", ".git/refs/heads/fixed"]}}'
	chained -p "$PROFILE" -- sh -c 'echo 0 >'"$WORK"'/main/.git/refs/heads/fixed'
	chained --continue -- sh -c 'echo x >'"$WORK"'/main/.git/description'
	run --separate-stderr "$CUSTODY" apply
	[ "$status" -eq 1 ]
	[[ $stderr == *'refused repository: refs/heads/fixed'* ]] || custody_fail "$stderr"
	[ ! -e "$WORK/main/.git/refs/heads/fixed" ]
}

@test "GOV-9: apply of a chain refuses what the repository changed since the first run that touched it" {
	suite_ungoverned
	cd linked
	chained -- sh -c "$COMMIT"'git commit -q --allow-empty -m second'
	as git commit -q --allow-empty -m outside
	chained --continue -- sh -c "$COMMIT"'git commit -q --allow-empty -m third'
	run --separate-stderr "$CUSTODY" apply
	[ "$status" -eq 1 ]
	[[ $stderr == *'refused repository: refs/heads/linked'* ]] || custody_fail "$stderr"
	[ "$(as git log --format=%s)" = "outside
first" ]
}

seamed() { # POINT HOW WORDS...: custody WORDS, killed at POINT
	local point=$1 how=$2
	shift 2
	mkdir -p "$CUSTODY_HOME/bin"
	cp "${CUSTODY_BUILD:?a finished build directory}/tests/custody-seamed" "$CUSTODY_HOME/bin/"
	run --separate-stderr env CUSTODY_SEAM="$point" CUSTODY_SEAM_DO="$how" CUSTODY_SEAM_TIME="${TIME:-1}" \
		"${CUSTODY_AS[@]}" setsid --wait "$CUSTODY_HOME/bin/custody-seamed" "$@"
	[ "$status" -eq 137 ] || custody_fail "not killed at $point: status $status"
}

# The sum of the repository is made first: the points are passed twice.
killed_in_a_second_sum() {
	local one two at point how
	suite_ungoverned
	cd linked || return
	chained -- sh -c "$COMMIT"'echo 1 >new; git add new; git commit -qm second'
	one=$ID
	for at in 1:sum-entry-placed 1:sum-made 1:sum-renamed 2:sum-made 2:sum-renamed; do
		point=${at#*:} how=die TIME=${at%:*}
		[ "${#CUSTODY_AS[@]}" -eq 0 ] || [ "$point" != sum-entry-placed ] || how=parent
		seamed "$point" $how run "${OPTIONS[@]}" --continue="$one" -- sh -c "$COMMIT"'echo 2 >>new; git commit -qam third'
		as "$CUSTODY" recover
		two=$(cd "$CUSTODY_ROOT/sandbox/sessions" && grep -l '"chain"' ./*/layer.json | cut -d/ -f2)
		rm -rf "$(second_layer "$two" s)"
		TIME=1
		for verb in "run ${OPTIONS[*]} --continue=$two -- true" "apply $two" "diff $two"; do
			# shellcheck disable=SC2086 # words
			[ "$point" = sum-renamed ] || seamed sum-made die $verb
			[ ! -e new ]
		done
		chained --continue="$two" -- git log --format=%s
		[ "$output" = "third
second
first" ] || custody_fail "$at: $output"
		run as "$CUSTODY" diff "$two"
		[[ $output == *' third (a)'*'+2'* ]] || custody_fail "$at: $output"
		[ -z "$(find "$CUSTODY_ROOT/sandbox/sessions" -name 's.*')" ]
		as "$CUSTODY" discard "$two"
	done
	as "$CUSTODY" ledger verify >/dev/null
}

@test "ISO-7: kill -9 while the sums of worktree and repository are made: recover, diff or the next run makes them" {
	killed_in_a_second_sum
	custody_teardown
	as_user
	killed_in_a_second_sum
}

diff_while_it_runs() {
	local one id
	suite_ungoverned
	cd linked || return
	as mkfifo "$CUSTODY_HOME/ready"
	for how in '' --continue; do
		# shellcheck disable=SC2086 # one word or none
		id=$(as "$CUSTODY" run "${OPTIONS[@]}" $how -d -- sh -c "$COMMIT"'echo x >>new; git add new; git commit -qm "now'"$how"'"; touch done; exec sleep 600')
		wait_until test -e "$CUSTODY_ROOT/sandbox/sessions/$id/u/done"
		run as "$CUSTODY" diff "$id"
		[ "$status" -eq 0 ] || custody_fail "$output"
		[[ $output == *'at this moment'*"git      $WORK/main/.git: "*"now$how (a)"*'+x'* ]] || custody_fail "$output"
		[ -z "$(find "$CUSTODY_ROOT/sandbox/sessions" -name 's.*')" ]
		as "$CUSTODY" stop "$id"
	done
	[ "$(as git log --format=%s)" = first ]
}

@test "ISO-3: diff of a session that runs shows its commits in the repository beside the worktree" {
	diff_while_it_runs
	custody_teardown
	as_user
	diff_while_it_runs
}

@test "ISO-3: workspace.continue is the default in a linked worktree, and two runs may continue one base" {
	local one
	suite_ungoverned
	cd linked
	suite_profile on '{"workspace": {"continue": true}}'
	chained -p "$PROFILE" -- sh -c "$COMMIT"'git commit -q --allow-empty -m second'
	one=$ID
	chained -p "$PROFILE" -- git log --format=%s
	[ "$output" = "second
first" ]
	chained -p "$PROFILE" --fresh -- git log --format=%s
	[ "$output" = first ]
	chained --continue="$one" -- sh -c "$COMMIT"'git commit -q --allow-empty -m left'
	chained --continue="$one" -- sh -c "$COMMIT"'git commit -q --allow-empty -m right; git log --format=%s'
	[ "$output" = "right
second
first" ]
}
