#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# Commands that look like reads, in a writable worktree: none may start without being asked.  The words are judged one
# by one in tests/unit/test-policy-commands (hostile.txt) and test-command-options.

load ../lib/suite.bash
load ../lib/approval.bash

setup() {
	unset CUSTODY_LANE CUSTODY_ALLOW_PROD
	approval_setup
	jq -n '{schema: 1, name: "rw", extends: "offline", workspace: {mode: "rw"}}' >"$CUSTODY_HOME/rw.json"
	printf 'one\n' >f
	printf 'BEGIN { print > "written" }\n' >e.awk
	printf '#!/bin/sh\ntouch written\n' >evil
	chmod +x evil
	mkdir DIR
}

teardown() {
	custody_teardown
}

state_of_tree() {
	find . -printf '%p %m %s\n' | sort
}

# refused COMMAND...: it asks, and nothing of it happened.
refused() {
	local before
	before=$(state_of_tree)
	run --separate-stderr alone "$CUSTODY" run --profile "$CUSTODY_HOME/rw.json" -- "$@"
	assert_status 114
	[ "$(state_of_tree)" = "$before" ] || custody_fail "the tree changed: $*"
}

starts() {
	run --separate-stderr alone "$CUSTODY" run --profile "$CUSTODY_HOME/rw.json" -- "$@"
	assert_status 0
}

@test "GOV-5: an option that runs or writes does not hide in a read" {
	refused bash -c "true & wait -n -p 'a[\$(rm -rf ./*)]'"
	refused sed 's/[/x/;s,],.*/rm -rf */e;#,p' f
	refused sed -ie '1e ./evil' f
	refused awk -W exec e.awk
	refused awk -f e.awk
	refused chmod -R -rwx DIR
	refused /usr/bin/time -o written -f TEXT true
	refused dpkg -x a DIR
	refused sort -uowritten f
	refused apt list -o "Dir::Bin::dpkg=$PWD/evil"
	refused env -S './evil x'
	refused sh -c 'PATH=.:$PATH; ls'
	refused sh -c 'read PATH <f; ls'
}

@test "GOV-5: everyday reads start in a writable worktree" {
	starts ls -la
	starts sh -c 'cat f | sort -u | head -n 1'
	starts grep -rn one .
	starts sed -n 1,2p f
	starts awk '{print $1}' f
}

@test "GOV-16: git starts in a writable worktree only if its configuration names no program" {
	git init -q .
	starts git status --short
	git config core.fsmonitor ./evil
	refused git status --short
	refused git clean -fdx -enone
	git config --unset core.fsmonitor
	printf '#!/bin/sh\ntouch written\n' >.git/hooks/post-index-change
	chmod +x .git/hooks/post-index-change
	refused git status --short
	rm .git/hooks/post-index-change
	starts git status --short
	git init -q DIR
	git -C DIR config core.fsmonitor ../evil
	refused git -C DIR status --short
	refused sh -c 'cd DIR && git status --short'
	refused env GIT_DIR=DIR/.git git status
	[ ! -e written ]
}

@test "GOV-5: a text that sh and bash read differently does not start by one reading" {
	mkdir -p '$/bin' '{/bin' 'a+=/bin' 'a[0]=/bin'
	cp evil '$/bin/ls'
	cp evil '{/bin/ls,-l}'
	cp evil 'a+=/bin/ls'
	cp evil 'a[0]=/bin/ls'
	refused sh -c "\$'/bin/ls'"
	refused sh -c '$"/bin/ls"'
	refused sh -c '{/bin/ls,-l}'
	refused sh -c 'a+=/bin/ls'
	refused sh -c 'a[0]=/bin/ls'
	refused sh -c '[[ a > f ]]'
	starts bash -c "ls \$'f' {f,evil}"
}

@test "GOV-5: builtins and variables of a shell do not run a file of the tree" {
	mkdir 3
	cp evil 3/ls
	cp evil rg
	refused bash -c "printf 'abc%n' PATH; ls"
	refused bash -c "trap -- '-;./evil' exit"
	refused sh -c "trap -- '-;./evil' exit"
	refused bash -c "echo {Z..a}'\$(./evil)'"
	refused bash -c "RANDOM='a[\$(./evil)]'"
	refused env -i bash -c 'rg x'
	refused bash -c 'exec -c bash -c rg'
	starts bash -c 'printf "%s %d%%\n" a 1; trap "echo end" EXIT'
}

@test "GOV-5: a value is not read as a mode of tar, nor a word behind -ok as one of find" {
	echo new >new
	tar cf test new
	echo old >new
	: >+
	refused tar -ftest -x
	refused sh -c 'yes | find f -ok sort {} + -o new ";"'
	starts tar -tf test
}

@test "GOV-16: git does not start in another directory than the words seem to say" {
	git init -q .
	mkdir -p sub/x
	ln -s sub/x link
	git -C sub init -q
	git -C sub config core.fsmonitor ../evil
	refused bash -c "trap 'cd sub' DEBUG; git status"
	refused sh -c "trap 'git status' EXIT; cd sub"
	refused sh -c 'ls() { git status; }; cd sub; ls'
	refused sh -c 'for i in 1 2; do git status; cd sub; done'
	refused sh -c "cd sub; cd() { :; }; cd $PWD && git status"
	refused git -C link/.. status
	refused env -C link/.. git status
	refused sh -c 'cd link && git -C .. status'
	refused sh -c 'cd -P link/.. && git status'
	starts git status --short
}

@test "GOV-16: git starts only with the repository in .git, and writes no other file" {
	mkdir -p .git/hooks
	printf '[core]\n\tbare = false\n' >.git/config
	git init -q --bare bare
	mv bare/HEAD bare/objects bare/refs .
	printf '[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = ./evil\n' >config
	refused git status
	rm -rf .git HEAD objects refs config
	git init -q .
	git config user.name a
	git config user.email a@example.org
	ln -sf ../f .git/COMMIT_EDITMSG
	refused git commit -q --allow-empty -m text
	ln -f f .git/COMMIT_EDITMSG
	refused git commit -q --allow-empty -m text
	rm .git/COMMIT_EDITMSG
	starts git commit -q --allow-empty -m text
}

@test "GOV-5: no mount and no home of the caller gives a word of the table another meaning" {
	local volume
	mkdir bin
	cp evil bin/ls
	cp evil .bash_profile
	printf '[core]\n\tfsmonitor = ./evil\n' >gitconfig
	git init -q .
	for volume in "$PWD/evil:/usr/bin/ls" "$PWD/bin:/usr/local/bin" /usr/bin/rm:/usr/bin/ls "$PWD/gitconfig:/etc/gitconfig"; do
		run --separate-stderr alone "$CUSTODY" run --profile "$CUSTODY_HOME/rw.json" -v "$volume:ro" -- sh -c 'ls f; git status'
		assert_status 114
		[ -e f ] && [ ! -e written ] || custody_fail "it ran with $volume"
	done
	run --separate-stderr alone "$CUSTODY" run --profile "$CUSTODY_HOME/rw.json" -v /usr/share:/usr/share:ro -- ls
	assert_status 0
	jq '.workspace.target = "/work"' "$CUSTODY_HOME/rw.json" >"$CUSTODY_HOME/target.json"
	run --separate-stderr alone "$CUSTODY" run --profile "$CUSTODY_HOME/target.json" -e HOME=/work -- bash -lc true
	assert_status 114
	[ ! -e written ] || custody_fail "it ran"
}
