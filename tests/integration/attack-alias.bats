#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells; set by bats
#
# One directory with two names: another mount shows custody's own directories, a link in the worktree leads out of it, a
# bundle lies in the tree that its command writes.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	suite_ungoverned
	umask 022
	mkdir "$CUSTODY_HOME/alias"
	"$CUSTODY" run -q -- true
	KEY=$(find "$CUSTODY_ROOT" -name digest.key)
	[ -s "$KEY" ]
}

teardown() {
	custody_teardown
}

# bound SOURCE POINT WORDS...: `custody run WORDS` where SOURCE is mounted at POINT as well.  Needs root.
bound() {
	[ "$(id -u)" -eq 0 ] || skip "needs root to mount"
	run --separate-stderr unshare -m --propagation private sh -c 'mount --bind "$1" "$2" || exit 99
		shift 2; exec "$CUSTODY" run "$@"' sh "$@"
}

@test "GOV-13: another mount of custody's directories shows nothing of them" {
	bound "$CUSTODY_ROOT" "$CUSTODY_HOME/alias" -v "$CUSTODY_HOME/alias:/mnt" -- find /mnt -type f
	assert_status 0
	[ -z "$output" ]
	# Of their parent directory, too.
	bound "$CUSTODY_HOME" "$CUSTODY_HOME/alias" -v "$CUSTODY_HOME/alias:/mnt" -- find /mnt -name digest.key
	assert_status 0
	[ -z "$output" ]
}

@test "GOV-13: a worktree that is another mount of custody's directories shows nothing of them" {
	bound "$CUSTODY_ROOT" "$CUSTODY_HOME/alias" -v "$CUSTODY_HOME/alias:/mnt" -- true
	assert_status 0
	run --separate-stderr unshare -m --propagation private sh -c 'mount --bind "$1" "$2" || exit 99
		cd "$2" && exec "$CUSTODY" run -- find . -type f' sh "$CUSTODY_ROOT" "$CUSTODY_HOME/alias"
	assert_status 0
	[ -z "$output" ]
}

@test "GOV-13: custody's directories are not writable through another mount" {
	bound "$CUSTODY_ROOT" "$CUSTODY_HOME/alias" -v "$CUSTODY_HOME/alias:/mnt:rw" -- touch /mnt/written
	assert_status 125
	assert_stderr_has "'$CUSTODY_HOME/alias' would be writable"
	assert_stderr_has 'which another mount shows there'
	[ ! -e "$CUSTODY_ROOT/written" ]
}

@test "GOV-13: a mount of custody's state below the worktree refuses the run" {
	mkdir -p below/state
	bound "${KEY%/*}" "$PWD/below/state" -- find . -name digest.key
	assert_status 125
	[ -z "$output" ]
	assert_stderr_has "'$PWD/below/state' is in custody's own"
	bound "${KEY%/*}" "$PWD/below/state" -v ./below:/mnt:rw -- touch /mnt/state/written
	assert_status 125
	[ ! -e "${KEY%/*}/written" ]
}

@test "ROOT-2: a link that a command left in the worktree does not redirect -v" {
	mkdir "$CUSTODY_HOME/private" own
	echo secret >"$CUSTODY_HOME/private/key"
	echo mine >own/key
	ln -s "$CUSTODY_HOME/private" data
	ln -s own again
	for source in ./data "$PWD/data" "../${PWD##*/}/data" ./data/key; do
		run --separate-stderr "$CUSTODY" run -v "$source:/mnt/x" -- sh -c 'cat /mnt/x /mnt/x/key'
		assert_status 125
		[ -z "$output" ]
		assert_stderr_has 'a symbolic link leads out of it'
	done
	# Also where a link of the caller leads to the worktree, and where a '..' follows the link.
	ln -s "$PWD" "$CUSTODY_HOME/project"
	mkdir "$CUSTODY_HOME/private/sub"
	ln -s "$CUSTODY_HOME/private/sub" sub
	for source in "$CUSTODY_HOME/project/data" "$CUSTODY_HOME/project/./own/../data" ./sub/.. ./sub/../key \
		"$CUSTODY_HOME/project/sub/../key" ./own/../sub/../../private; do
		run --separate-stderr "$CUSTODY" run -v "$source:/mnt/x" -- sh -c 'cat /mnt/x /mnt/x/key'
		assert_status 125
		[ -z "$output" ]
		assert_stderr_has 'a symbolic link leads out of it'
	done
	for source in "$CUSTODY_HOME/project/again" ./again/../own/ "$CUSTODY_HOME/project//own/." "$PWD/../${PWD##*/}/own"; do
		run --separate-stderr "$CUSTODY" run -v "$source:/mnt/x" -- cat /mnt/x/key
		[ "$output" = mine ]
	done
	(cd own && run --separate-stderr "$CUSTODY" run -v ../../private:/mnt/x -- cat /mnt/x/key && [ "$output" = secret ])
	# A link that stays in it, and the directory itself, are fine.
	run --separate-stderr "$CUSTODY" run -v ./again:/mnt/x -- cat /mnt/x/key
	[ "$output" = mine ]
	run --separate-stderr "$CUSTODY" run -v "$CUSTODY_HOME/private:/mnt/x" -- cat /mnt/x/key
	[ "$output" = secret ]
}

# An editor of its own bundle, had it been written.
edits_itself() { # DIR OPTIONS...
	local dir=$1
	shift
	run --separate-stderr "$CUSTODY" bundle -o "$dir" "$@" -- sh -c 'echo "{}" >b/config.json'
	assert_status 125
	assert_stderr_has 'could change its own bundle'
	[ ! -e "$dir" ]
}

@test "CARD-2: a bundle is not written where its command can write" {
	suite_profile rw '{"workspace": {"mode": "rw"}}'
	edits_itself ./b -p "$PROFILE"
	edits_itself "$PWD/deep/er/b" -p "$PROFILE"
	mkdir "$CUSTODY_HOME/shared"
	edits_itself "$CUSTODY_HOME/shared/b" -v "$CUSTODY_HOME/shared:/mnt:rw"
	# Read-only it may lie there.
	run --separate-stderr "$CUSTODY" bundle -o ./b -- true
	assert_status 0
}

@test "CARD-3: a bundle that was moved to where its command can write does not start" {
	suite_profile rw '{"workspace": {"mode": "rw"}}'
	bundle -p "$PROFILE" -- sh -c 'touch ran'
	cp -a "$BUNDLE" ./b
	for runtime in crun runc; do
		runtime_run "$runtime" "$PWD/b"
		[ "$status" -ne 0 ]
		assert_stderr_has 'could change its own bundle'
		[ ! -e ran ]
	done
	for runtime in crun runc; do
		runtime_run "$runtime" "$BUNDLE"
		assert_status 0
		[ -e ran ]
		rm ran
	done
}
