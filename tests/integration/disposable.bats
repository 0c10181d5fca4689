#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats' variables
#
# Sandbox roots with the stamp `disposable`: writing to them needs no approval.

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
	ALONE=(setsid --wait)
}

# Without the limits that are not delegated to the suite's user.
as_user() {
	suite_setup_user
	printf '{"schema":1,"name":"p","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' \
		>"$CUSTODY_HOME/user.json"
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$CUSTODY_HOME/user.json"
	OPTIONS=(--profile "$CUSTODY_HOME/user.json")
}

# govern OPTIONS -- CMD...: a run without a terminal.
govern() {
	local as=("${CUSTODY_AS[@]}")
	CUSTODY_AS=("${ALONE[@]}" "${as[@]}")
	custody_run "${OPTIONS[@]}" "$@" </dev/null
	CUSTODY_AS=("${as[@]}")
}

root_of() { # NAME
	echo "$CUSTODY_ROOT/sandbox/sandbox/$1"
}

level() { # OPTIONS -- CMD...
	"${ALONE[@]}" "${CUSTODY_AS[@]}" "$CUSTODY" check --json "${OPTIONS[@]}" "$@" </dev/null | jq -r .verdict.level
}

@test "GOV-7: ROOT-1: a disposable root does not ask for its own content, an ordinary one does" {
	local who
	for who in as_root as_user; do
		"$who"
		govern --sandbox kept -- sh -c 'echo x >file'
		assert_status 114
		[ ! -e "$(root_of kept)/workspace/file" ]
		govern --sandbox scratch --disposable -- sh -c 'echo x >file; echo y >/tmp/t; ./no-such; true'
		assert_status 0
		[ "$(cat "$(root_of scratch)/workspace/file" "$(root_of scratch)/tmp/t")" = "x
y" ]
		# It stays disposable without the option, and after a reset.
		govern --sandbox scratch -- sh -c 'cat file; rm file'
		assert_status 0
		[ "$output" = x ]
		"${CUSTODY_AS[@]}" "$CUSTODY" reset --sandbox scratch >/dev/null
		govern --sandbox scratch --disposable -- sh -c 'test ! -e /tmp/t && echo z >file'
		assert_status 0
		[ "$(level --sandbox scratch -- make)" = A ]
		[ "$(level --sandbox scratch -- git reset --hard)" = A ]
		[ "$(jq -r 'select(.k == "session.intent").k' "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson | wc -l)" = 3 ]
		custody_teardown
	done
	as_root
}

@test "GOV-3: GOV-6: unbounded deletes, the network, binds and the system still ask in a disposable root" {
	govern --sandbox scratch --disposable -- touch file
	assert_status 0
	[ "$(level --sandbox scratch -- rm -rf '.')" = C ]
	[ "$(level --sandbox scratch -- sh -c 'rm -rf *')" = C ]
	[ "$(level --sandbox scratch -- rm -rf /work)" = C ]
	[ "$(level --sandbox scratch --network host -- make)" = C ]
	[ "$(level --sandbox scratch -- sudo ls)" = B ]
	mkdir "$(root_of scratch)/workspace/sub"
	[ "$(level --sandbox scratch -v ./sub:/mnt:rw -- make)" = C ]
	govern --sandbox scratch -- sh -c 'rm -rf *'
	assert_status 114
	[ -e "$(root_of scratch)/workspace/file" ]
}

@test "GOV-7: a root that was made without it never becomes disposable" {
	suite_ungoverned
	govern --sandbox kept -- sh -c 'echo x >file'
	assert_status 0
	rm "$CUSTODY_ROOT/etc/custody.json"
	govern --sandbox kept --disposable -- rm file
	assert_status 125
	assert_stderr_has "was made without --disposable"
	assert_stderr_has "rm -r '$(root_of kept)'"
	[ -e "$(root_of kept)/workspace/file" ] && [ ! -e "$(root_of kept)/disposable" ]
	run -125 "$CUSTODY" check --sandbox kept --disposable -- true
	# Neither check nor --dry-run makes one.
	run -125 --separate-stderr "$CUSTODY" check --sandbox new --disposable -- true
	assert_stderr_has 'does not exist'
	govern --sandbox new --disposable --dry-run -- true
	assert_status 125
	[ ! -e "$(root_of new)" ]
}

@test "GOV-7: LANE-1: --disposable needs a root, and the prod lane has none" {
	govern --disposable -- true
	assert_status 125
	assert_stderr_has 'add --sandbox NAME'
	CUSTODY_ALLOW_PROD=1 govern --lane prod --allow-prod --sandbox new --disposable -- true
	assert_status 116
	assert_stderr_has 'sandbox lane only'
	[ ! -e "$CUSTODY_ROOT/prod/sandbox/new" ]
	run -64 "$CUSTODY" bundle -o "$CUSTODY_HOME/b" --disposable -- true
	[[ $output == *'cannot use a sandbox root'* ]]
}

@test "GOV-7: attack: a stamp that is copied, edited, linked or left over is refused" {
	local scratch kept
	govern --sandbox scratch --disposable -- true
	assert_status 0
	suite_ungoverned
	govern --sandbox kept -- sh -c 'echo precious >file'
	rm "$CUSTODY_ROOT/etc/custody.json"
	scratch=$(root_of scratch) kept=$(root_of kept)

	# The stamp of another root.
	cp -p "$scratch/disposable" "$kept/disposable"
	govern --sandbox kept -- rm file
	assert_status 125
	assert_stderr_has 'written for another directory'
	rm "$kept/disposable"
	ln "$scratch/disposable" "$kept/disposable"
	govern --sandbox kept -- rm file
	assert_status 125
	rm "$kept/disposable"

	# Another workspace under a stamped root.
	mv "$scratch/workspace" "$CUSTODY_HOME/old"
	mv "$kept/workspace" "$scratch/workspace"
	govern --sandbox scratch -- rm file
	assert_status 125
	assert_stderr_has "rm '$scratch/disposable'"
	[ "$(cat "$scratch/workspace/file")" = precious ]
	# What the message says helps: an ordinary root, which asks.
	rm "$scratch/disposable"
	govern --sandbox scratch -- rm file
	assert_status 114
	[ "$(cat "$scratch/workspace/file")" = precious ]

	# A link, a FIFO, another owner.
	rm -rf "$scratch"
	govern --sandbox scratch --disposable -- true
	assert_status 0
	mv "$scratch/disposable" "$CUSTODY_HOME/stamp"
	ln -s "$CUSTODY_HOME/stamp" "$scratch/disposable"
	govern --sandbox scratch -- true
	assert_status 125
	rm "$scratch/disposable"
	mkfifo "$scratch/disposable"
	govern --sandbox scratch -- true
	assert_status 125
	if [ "$(id -u)" -eq 0 ]; then
		rm "$scratch/disposable"
		cp "$CUSTODY_HOME/stamp" "$scratch/disposable"
		chmod 0600 "$scratch/disposable"
		chown "$SUITE_UID" "$scratch/disposable"
		govern --sandbox scratch -- true
		assert_status 125
	fi
	# reset needs no valid stamp.
	"$CUSTODY" reset --sandbox scratch >/dev/null
}

@test "GOV-7: attack: the payload cannot reach the stamp" {
	local who
	for who in as_root as_user; do
		"$who"
		# shellcheck disable=SC2016 # expanded inside
		govern --sandbox scratch --disposable -- sh -c 'ls -A /work /work/.. /tmp/..; find / -xdev -name disposable 2>/dev/null
			for f in /work/../disposable /tmp/../disposable '"$(root_of scratch)"'/disposable; do test ! -e "$f" || echo "found $f"; done'
		assert_status 0
		[[ $output != *disposable* ]] || custody_fail "$output"
		custody_teardown
	done
	as_root
}

@test "GOV-16: the card names disposable directories" {
	govern --sandbox scratch --disposable -- true
	assert_status 0
	govern --sandbox scratch -- sh -c 'echo x >/etc/x'
	assert_status 114
	jq -e '.subject.worktree.disposable and ([.subject.mounts[] | select(.target == "/tmp").disposable] == [true])' \
		"$CUSTODY_ROOT"/sandbox/requests/*.json
	run script -qec "$CUSTODY approve $(basename "$CUSTODY_ROOT"/sandbox/requests/*.json .json)" /dev/null <<<n
	[[ $output == *'(disposable: made by custody'* ]] || custody_fail "$output"
}
