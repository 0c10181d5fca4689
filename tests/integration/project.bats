#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# Where the worktree is inside: at the path that it has outside.

load ../lib/suite.bash

setup() {
	suite_setup
	umask 022
}

teardown() {
	custody_teardown
}

# as_user: from here on custody runs as an ordinary user, in the worktree, with a profile (PROFILE) without cgroup limits.
as_user() {
	suite_setup_user
	suite_profile user '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
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
