#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# Which directory is the worktree, and where it is inside: the git work tree around the caller, at the path that it has.

load ../lib/suite.bash
load ../lib/runtime.bash
load ../lib/approval.bash

setup() {
	suite_setup
	umask 022
}

teardown() {
	custody_teardown
}

# repository DIR: as far as custody looks; DIR/sub/deep is made in it.
repository() {
	mkdir -p "$1/.git/objects" "$1/.git/refs" "$1/sub/deep"
	echo 'ref: refs/heads/main' >"$1/.git/HEAD"
	echo top >"$1/top"
	echo deep >"$1/sub/deep/file"
	[ "$(id -u)" -ne 0 ] || chown -R "$(stat -c %u:%g .)" "$1"
}

# as_user: from here on custody runs as an ordinary user, in the worktree, with a profile (PROFILE) without cgroup limits.
as_user() {
	suite_setup_user
	suite_profile user '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
}

digest() { # OPTIONS -- CMD...
	"${CUSTODY_AS[@]}" "$CUSTODY" check --json "$@" | jq -r .digest
}

nothing_ran() { # WORDS: of the refusal
	assert_status 125
	assert_stderr_has "$1"
	[ -z "$output" ]
	[ -z "$(sessions_left)" ]
}

# --- the path inside ---------------------------------------------------------------------------------------------------

real_path() {
	local dir
	for dir in "$CUSTODY_HOME/work" "$CUSTODY_HOME/work/a b:c,d\\e"$'\n'"fü" "$1"; do
		mkdir -p "$dir"
		cd "$dir" || return
		echo original >file
		[ "$(id -u)" -ne 0 ] || chown "$(stat -c %u:%g "$CUSTODY_HOME/work")" . file
		custody_run "${@:2}" -- sh -c 'pwd; cat file; cat "$PWD/file"; echo changed >file; touch /tmp/x /var/tmp/y; ls -A ..'
		assert_status 0
		[ "$output" = "$dir
original
original
$(basename "$dir")" ] || custody_fail "in $dir"
		[ "$(cat file)" = original ]
		assert_layer worktree
	done
}

@test "ISO-3: inside, the worktree has the path that it has outside, below empty directories" {
	local far
	far=$(mktemp -d "/var/tmp/custody-test-$CUSTODY_TEST_MARK.XXXXXX")
	chmod 0755 "$far"
	real_path "$far/x"
	rm -rf "$far"
	cd "$CUSTODY_HOME/work"
	custody_run -- sh -c 'stat -c "%A %u" .. ; ls -A /tmp; mkdir ../other && rmdir ../other; cat ../root/etc/custody.json ../results/* 2>&1'
	[[ $output == "drwxr-xr-"[xt]" 0
$(basename "$CUSTODY_HOME")
cat: "* ]]
}

@test "ISO-3: rootless: inside, the worktree has the path that it has outside" {
	local far
	as_user
	far=$(mktemp -d "/var/tmp/custody-test-$CUSTODY_TEST_MARK.XXXXXX")
	chmod 0755 "$far"
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID:$SUITE_UID" "$far"
	real_path "$far/x" -p "$PROFILE"
	rm -rf "$far"
	mkdir -p "$CUSTODY_HOME/home/project"
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID:$SUITE_UID" "$CUSTODY_HOME/home/project"
	cd "$CUSTODY_HOME/home/project"
	custody_run -p "$PROFILE" -- sh -c 'pwd; echo "$HOME"'
	assert_status 0
	[ "$output" = "$PWD"$'\n/home/sandbox' ]
}

@test "ISO-3: files of the host beside the worktree are not shown by its path" {
	mkdir ../secret
	echo hidden >../secret/file
	ln -s ../secret link
	custody_run -- sh -c 'cat ../secret/file link/file; ls ../secret'
	[ "$status" -ne 0 ]
	[[ $output != *hidden* ]]
}

@test "ISO-3: ro, rw and tmpfs: the path of the worktree, and /work for one in memory" {
	local mode
	suite_ungoverned
	for mode in ro rw; do
		suite_profile "$mode" "{\"workspace\": {\"mode\": \"$mode\"}}"
		custody_run -p "$PROFILE" -- sh -c 'pwd; touch new'
		[ "$output" = "$PWD" ]
		assert_layer worktree
		case $mode in
		ro) [ ! -e new ] ;;
		rw) [ -e new ] ;;
		esac
	done
	custody_run -p scratch -- pwd
	assert_status 0
	[ "$output" = /work ]
}

@test "ISO-3: a fixed target stays possible, and a profile that names /work keeps its meaning" {
	echo secret >.env
	mkdir sub
	suite_profile fixed '{"workspace": {"target": "/opt/app"}}'
	custody_run -p "$PROFILE" -- pwd
	[ "$output" = /opt/app ]
	suite_profile hides '{"filesystem": {"hide": ["/work/.env"]}}'
	custody_run -p "$PROFILE" -- sh -c 'pwd; cat .env'
	[ "$output" = /work ]
	suite_profile starts '{"process": {"cwd": "/work/sub"}}'
	custody_run -p "$PROFILE" -- pwd
	[ "$output" = /work/sub ]
	suite_profile variable '{"filesystem": {"hide": ["${cwd}/.env"]}}'
	custody_run -p "$PROFILE" -- sh -c 'pwd; cat .env'
	[ "$output" = "$PWD" ]
	suite_profile both '{"filesystem": {"hide": ["${cwd}/.env"]}, "workspace": {"target": "/opt/app"}}'
	custody_run -p "$PROFILE" -- sh -c 'pwd; cat .env'
	[ "$output" = /opt/app ]
}

@test "ISO-3: a worktree in a place of the system is at /work" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	local dir
	for dir in /etc /usr/share /run; do
		cd "$(mktemp -d "$dir/custody-test-$CUSTODY_TEST_MARK.XXXXXX")"
		echo original >file
		custody_run -- sh -c 'pwd; cat file'
		rm -r "$PWD"
		cd /
		assert_status 0
		[ "$output" = $'/work\noriginal' ]
	done
}

@test "ISO-3: a very deep worktree: its path, or a refusal before anything runs" {
	local name long=$CUSTODY_HOME/work
	name=$(printf 'd%.0s' {1..200})
	while [ ${#long} -lt 3600 ]; do
		long+=/$name
		mkdir "$long"
	done
	[ "$(id -u)" -ne 0 ] || chown -R "$(stat -c %u:%g .)" .
	cd "$long"
	echo here >file
	custody_run -- sh -c 'pwd; cat ./file'
	assert_status 0
	[ "$output" = "$long"$'\nhere' ]
	long=$(printf 'e/%.0s' {1..200})
	mkdir -p "$long"
	cd "$long"
	custody_run -- pwd
	if [ "$status" -eq 0 ]; then
		[ "$output" = "$PWD" ]
	else
		assert_status 125
	fi
}

# --- the project -------------------------------------------------------------------------------------------------------

@test "run: in a directory of a git work tree the worktree is its top level, and the command starts where the caller is" {
	repository .
	cd sub/deep
	custody_run -- sh -c 'pwd; cat file ../../top; echo changed >../../top; touch ../../new'
	assert_status 0
	[ "$output" = "$CUSTODY_HOME/work/sub/deep"$'\ndeep\ntop' ]
	[ "$(cat ../../top)" = top ]
	custody diff "$(custody_result .session)" | grep -q '^+changed'
	custody apply "$(custody_result .session)" >/dev/null
	[ "$(cat "$CUSTODY_HOME/work/top")" = changed ]
	[ -e "$CUSTODY_HOME/work/new" ]
}

@test "run: rootless: in a directory of a git work tree the worktree is its top level" {
	as_user
	repository .
	cd sub/deep
	custody_run -p "$PROFILE" -- sh -c 'pwd; cat file ../../top'
	assert_status 0
	[ "$output" = "$CUSTODY_HOME/work/sub/deep"$'\ndeep\ntop' ]
}

@test "run: --here restricts the worktree to the current directory" {
	repository .
	cd sub/deep
	custody_run --here -- sh -c 'pwd; cat file; ls -A ..; cat ../../top 2>&1'
	[ "$output" = "$CUSTODY_HOME/work/sub/deep
deep
deep
cat: ../../top: No such file or directory" ]
	suite_profile fixed "$(jq -n '{workspace: {source: "${cwd}"}}')"
	custody_run -p "$PROFILE" -- sh -c 'cat ../../top'
	[ "$status" -ne 0 ]
}

@test "run: operands are found from the directory of the caller" {
	repository .
	cd sub
	printf '#!/bin/sh\necho "it ran in $PWD"\n' >tool
	chmod 755 tool
	custody_run -- ./tool
	assert_status 0
	[ "$output" = "it ran in $PWD" ]
	[ "$(custody check --json -- ./tool | jq -r '.subject.operands.files[0].path')" = sub/tool ]
}

@test "GOV-9: run, shell, check and bundle have one digest; another directory, --here and the target have another" {
	local here run
	repository .
	cd sub
	here=$(digest -- ls)
	run=$("$CUSTODY" run --dry-run -- ls 2>&1 >/dev/null | grep -o 'sha256:[0-9a-f]*')
	[ "$here" = "$run" ]
	run=$("$CUSTODY" shell --dry-run 2>&1 >/dev/null | grep -o 'worktree .*')
	[ "$run" = "worktree $CUSTODY_HOME/work (overlay), inside at $CUSTODY_HOME/work, starts in $CUSTODY_HOME/work/sub" ]
	custody_run -- ls
	[ "$(custody_result .digest)" = "$here" ]
	bundle -- ls
	[ "$(jq -r .digest "$BUNDLE/subject.json")" = "$here" ]
	[ "$(digest --here -- ls)" != "$here" ]
	[ "$(cd deep && digest -- ls)" != "$here" ]
	suite_profile fixed '{"workspace": {"target": "/opt/app"}}'
	[ "$(digest -p "$PROFILE" -- ls)" != "$here" ]
}

@test "run: the dry run, check and the request show which directory is the worktree" {
	repository .
	cd sub
	run --separate-stderr "$CUSTODY" run --dry-run -- ls
	assert_status 0
	assert_stderr_has "worktree $CUSTODY_HOME/work (overlay), inside at $CUSTODY_HOME/work, starts in $CUSTODY_HOME/work/sub"
	run --separate-stderr "$CUSTODY" check --explain -- ls
	assert_output_has "worktree    $CUSTODY_HOME/work (overlay)"
	assert_output_has "starts in   $CUSTODY_HOME/work/sub"
	custody check --json -- ls | jq -e --arg top "$CUSTODY_HOME/work" '.subject.worktree.source == $top and .subject.cwd == $top + "/sub"'
}

@test "run: a profile in the project may only tighten, also from a directory below it" {
	repository .
	jq -n '{schema: 1, name: "loose", extends: "offline", network: {mode: "host"}}' >loose.json
	cd sub
	custody_run -p ../loose.json -- echo it-ran
	assert_status 125
	assert_stderr_has 'may only tighten'
	[ -z "$output" ]
	custody_run --here -p ../loose.json -- echo it-ran
	assert_status 125
	[ -z "$output" ]
}

# --- where the walk ends -----------------------------------------------------------------------------------------------

@test "run: the home directory and its parents are never the project of a directory in it" {
	as_user
	repository "$CUSTODY_HOME/home"
	cd "$CUSTODY_HOME/home/sub/deep"
	custody_run -p "$PROFILE" -- sh -c 'pwd; cat file; ls -A ..; cat ../../top 2>&1'
	[ "$output" = "$CUSTODY_HOME/home/sub/deep
deep
deep
cat: ../../top: No such file or directory" ]
	rm -r "$CUSTODY_HOME/home/.git"
	repository "$CUSTODY_HOME"
	cd "$CUSTODY_HOME/home/sub/deep"
	custody_run -p "$PROFILE" -- ls -A ..
	[ "$output" = deep ]
}

@test "GOV-1: the home directory as worktree is asked about, and without a terminal nothing runs" {
	as_user
	cd "$CUSTODY_HOME/home"
	echo key >.pgpass
	custody_run -p "$PROFILE" -- cat .pgpass
	assert_status 114
	assert_stderr_has 'approval required (level B)'
	[ -z "$output" ]
	[ -z "$(sessions_left)" ]
	[ "$("${CUSTODY_AS[@]}" "$CUSTODY" pending --json | jq -r '.requests[0].level')" = B ]
	"${CUSTODY_AS[@]}" "$CUSTODY" check --json -p "$PROFILE" -- ls |
		jq -e '.verdict.level == "B" and .subject.worktree.home and (.verdict.reasons[0] | .id == "home-exposed" and (.text | contains("/home")))'
	# A parent of it as well.
	cd ..
	"${CUSTODY_AS[@]}" "$CUSTODY" check --json -- cat home/.pgpass |
		jq -e '.verdict.level == "B" and (.verdict.reasons[0].id == "home-exposed")'
	# A project in it is asked about no more than elsewhere.
	mkdir home/project && cd home/project
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" .
	custody_run -p "$PROFILE" -- pwd
	assert_status 0
}

# asks_in DIR WORDS...: `custody run` there, with WORDS before it, asks; nothing runs.
asks_in() {
	local dir=$1
	shift
	run --separate-stderr env -C "$dir" "$@" "$CUSTODY" run -- sh -c 'echo ran; echo ran >ran' </dev/null
	[ "$status" -eq 114 ] || custody_fail "$dir with $*: status $status"
	assert_stderr_has 'approval required (level B)'
	[ -z "$output" ]
	run env -C "$dir" "$@" "$CUSTODY" check --json -- true
	jq -e --arg dir "$dir" '.subject.worktree.home and (.verdict.reasons[0].id == "home-exposed")' <<<"$output" >/dev/null
}

@test "GOV-1: for root the home of HOME, of the password file, and of sudo's caller is asked about" {
	skip_without root
	local alice=$CUSTODY_HOME/srv/alice passwd=$CUSTODY_HOME/passwd dir
	umask 022
	mkdir -p "$alice/project" "$CUSTODY_HOME/srv/plain" "$CUSTODY_HOME/srv/bob"
	{ grep -v ^alice: /etc/passwd; echo "alice:x:64330:64330::$alice:/bin/sh"; } >"$passwd"
	for dir in "$alice" "$CUSTODY_HOME/srv"; do
		asks_in "$dir" env "HOME=$alice"
		asks_in "$dir" env "HOME=$CUSTODY_HOME/./srv/alice"
		ln -sfn alice "$CUSTODY_HOME/srv/link"
		asks_in "$dir" env "HOME=$CUSTODY_HOME/srv/link"
		asks_in "$dir" unshare -m sh -c 'mount --bind "$1" /etc/passwd && shift && exec "$@"' sh "$passwd" env SUDO_UID=64330 "HOME=$CUSTODY_HOME/srv/bob"
	done
	# HOME names one home; the one by the password file stays one.
	asks_in /root env "HOME=$alice"
	# Anything else than a directory's absolute path adds none, and a project in a home is no home.
	for home in srv/alice '' /nonexistent "$passwd"; do
		run --separate-stderr env -C "$CUSTODY_HOME/srv/plain" "HOME=$home" "$CUSTODY" run -- pwd </dev/null
		assert_status 0
	done
	run --separate-stderr env -C "$alice/project" "HOME=$alice" "$CUSTODY" run -- pwd </dev/null
	assert_status 0
	[ "$output" = "$alice/project" ]
	# A repository in a home is not the project of a directory below it.
	repository "$alice"
	run --separate-stderr env -C "$alice/sub" "HOME=$alice" "$CUSTODY" run -- pwd </dev/null
	assert_status 0
	[ "$output" = "$alice/sub" ]
	[ -z "$(find "$CUSTODY_HOME" /root -maxdepth 3 -name ran 2>/dev/null)" ]
	# Nothing of a home is bound writable.
	run --separate-stderr env "HOME=$alice" "$CUSTODY" run -v "$alice/.ssh:/data:rw" -- true </dev/null
	mkdir "$alice/.ssh"
	run --separate-stderr env "HOME=$alice" "$CUSTODY" run -v "$alice/.ssh:/data:rw" -- true </dev/null
	assert_status 125
	assert_stderr_has rw-home
}

@test "GOV-1: a user's HOME is asked about, whatever the password file says" {
	as_user
	local other=$CUSTODY_HOME/other
	mkdir -p "$other/project"
	[ "$(id -u)" -ne 0 ] || chown -R "$SUITE_UID" "$other"
	asks_in "$other" "${CUSTODY_AS[@]}" "HOME=$other"
	run --separate-stderr env -C "$other/project" "${CUSTODY_AS[@]}" "HOME=$other" "$CUSTODY" run -p "$PROFILE" -- pwd </dev/null
	assert_status 0
}

@test "GOV-1: the card names the home directory, and the worktree of a run in a subdirectory" {
	as_user
	export NO_COLOR=1
	echo key >"$CUSTODY_HOME/home/.pgpass"
	cd "$CUSTODY_HOME/home"
	on_terminal 'expect:Approve?' 'send:n\n' -- sh -c 'stty cols 200; exec "$@"' sh "${CUSTODY_AS[@]}" "$CUSTODY" run -p "$PROFILE" -- sh -c 'echo "it is $(cat .pgpass)"'
	assert_status 114
	assert_output_has "worktree   $CUSTODY_HOME/home"
	assert_output_has '[home-exposed]'
	[[ $output != *'it is key'* ]]
	on_terminal 'expect:Approve?' 'send:y\n' -- "${CUSTODY_AS[@]}" "$CUSTODY" run -p "$PROFILE" -- sh -c 'echo "it is $(cat .pgpass)"'
	assert_status 0
	assert_output_has 'it is key'
	cd "$CUSTODY_HOME/work"
	repository .
	cd sub
	on_terminal 'expect:Approve?' 'send:n\n' -- sh -c 'stty cols 200; exec "$@"' sh "${CUSTODY_AS[@]}" "$CUSTODY" run -p "$PROFILE" --network host -- sh -c 'curl http://example.org/'
	assert_status 114
	assert_output_has "in         $CUSTODY_HOME/work/sub"
	assert_output_has "worktree   $CUSTODY_HOME/work"
}

@test "GOV-1: CARD-3: a bundle of the home directory is asked about when it is started" {
	as_user
	cd "$CUSTODY_HOME/home"
	bundle -p "$PROFILE" -- touch ran
	[ "$(jq -r .subject.worktree.home "$BUNDLE/subject.json")" = true ]
	runtime_run crun "$BUNDLE"
	[ "$status" -ne 0 ]
	assert_stderr_has 'level B needs approval'
	[ "$(records session.start)" = 0 ]
}

@test "run: another owner or another file system ends the walk" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	repository .
	chown 4711 .
	cd sub/deep
	custody_run -- ls -A ..
	[ "$output" = deep ]
	chown 0 ../..
	chown 4711 ../../.git
	custody_run -- ls -A ..
	[ "$output" = deep ]
	chown 0 ../../.git
	custody_run -- ls -A ..
	[ "$output" = deep ]
	custody_run -- cat ../../top
	assert_status 0
	run unshare -m sh -c 'mount -t tmpfs tmpfs ../../sub && mkdir ../../sub/deep && cd ../../sub/deep && exec "$CUSTODY" run -q -- cat ../../top'
	[ "$status" -ne 0 ]
	[[ $output != *$'\ntop'* ]]
}

@test "run: a .git that is no directory is refused by name, at once, and --here runs" {
	local what
	repository .
	cd sub/deep
	for what in fifo link loop file gitfile huge socket; do
		case $what in
		fifo) mkfifo ../.git ;;
		link) ln -s ../.git ../.git ;;
		loop) ln -s .git ../.git ;;
		file) echo nothing >../.git ;;
		gitfile) echo "gitdir: $CUSTODY_HOME/elsewhere" >../.git ;;
		huge) truncate -s 1G ../.git ;;
		socket) python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("../.git")' ;;
		esac
		run --separate-stderr timeout 20 "$CUSTODY" run -- echo it-ran
		nothing_ran "$CUSTODY_HOME/work/sub/.git"
		assert_stderr_has --here
		run --separate-stderr timeout 20 "$CUSTODY" check -- echo it-ran
		assert_status 125
		custody_run --here -- echo it-ran
		assert_status 0
		rm ../.git
	done
	mkdir ../.git
	custody_run -- cat ../../top
	assert_status 0
}

@test "run: git works in the worktree and below it" {
	export GIT_CONFIG_GLOBAL=$CUSTODY_HOME/gitconfig
	printf '[user]\nname = a\nemail = a@example.org\n' >"$GIT_CONFIG_GLOBAL"
	git init -q .
	mkdir sub
	echo text >sub/file
	git add .
	git commit -qm first
	cd sub
	custody_run -- sh -c 'git rev-parse --show-toplevel; echo more >>file; git status --short'
	assert_status 0
	[ "$output" = "$CUSTODY_HOME/work"$'\n M file' ] || [ "$output" = "$CUSTODY_HOME/work"$'\n M sub/file' ]
}

# --- bundles -----------------------------------------------------------------------------------------------------------

@test "CARD-2: a bundle starts below the top level at its path under crun and runc" {
	repository .
	cd sub
	bundle -- sh -c 'pwd; cat ../top; touch /tmp/x ../new'
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 0
		[ "$output" = "$CUSTODY_HOME/work/sub"$'\ntop' ]
		[ ! -e ../new ]
	}
	both try
}
