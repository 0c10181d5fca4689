#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Files that decide what a run may do, tampered with: the trust file, and directories that become a root.
# shellcheck disable=SC2016,SC2154 # set by bats

load ../lib/suite.bash

setup() {
	suite_setup
	TRUST=$CUSTODY_ROOT/etc/trust.json
	LOOSE=$CUSTODY_HOME/work/loose.json
	printf '{"schema":1,"name":"loose","extends":"offline","limits":{"memory":"4G","pids":9999}}' >"$LOOSE"
	R=$CUSTODY_HOME/r
}
teardown() {
	custody_teardown
}

# --- the trust file -------------------------------------------------------------------------------------------------
# A file that would trust $LOOSE, if it were accepted.
forge() {
	jq -n --arg path "$LOOSE" --arg sha "$(sha256sum "$LOOSE" | cut -d ' ' -f 1)" \
		'{schema_version: 1, trusted: [{path: $path, sha256: $sha}]}'
}
refused() { # TEXT
	custody_run --profile "$LOOSE" -- touch ran
	[ "$status" -ne 0 ] && [ ! -e ran ] && [ -z "$output" ] || custody_fail "it ran: $1"
	assert_stderr_has "$1"
}

@test "attack: a trust file that others own or can write trusts nothing" {
	mkdir -p "$CUSTODY_ROOT/etc"
	forge >"$TRUST"
	chmod 0600 "$TRUST"
	custody_run --profile "$LOOSE" -- true
	assert_status 0 # the forged one is good as such
	for mode in 0620 0602 0666; do
		chmod "$mode" "$TRUST"
		refused 'can be changed by others'
	done
	chmod 0600 "$TRUST"
	# Only root can give it away.
	if [ "$(id -u)" -eq 0 ]; then
		chown 64321 "$TRUST"
		refused 'can be changed by others'
	fi
}
@test "attack: a trust file that is a link, a FIFO, a directory or a device trusts nothing" {
	mkdir -p "$CUSTODY_ROOT/etc"
	forge >"$CUSTODY_HOME/forged"
	ln -s "$CUSTODY_HOME/forged" "$TRUST"
	refused "trust file '$TRUST'"
	rm "$TRUST"
	mkfifo "$TRUST"
	refused 'not a regular file'
	rm "$TRUST"
	mkdir "$TRUST"
	refused 'not a regular file'
	rmdir "$TRUST"
	if [ "$(id -u)" -eq 0 ]; then
		mknod "$TRUST" c 1 5
		refused 'not a regular file'
	fi
}
@test "attack: an old trust file put back by a user with write access to its directory trusts nothing" {
	"$CUSTODY" profile trust "$LOOSE"
	ln "$TRUST" "$CUSTODY_HOME/old"
	"$CUSTODY" profile trust --rm "$LOOSE"
	refused "$LOOSE"
	mv -f "$CUSTODY_HOME/old" "$TRUST"
	for mode in 0775 0777 0757; do
		chmod "$mode" "$CUSTODY_ROOT/etc"
		refused 'is writable by other users'
	done
	chmod 0755 "$CUSTODY_ROOT/etc"
	if [ "$(id -u)" -eq 0 ]; then
		chown 64321 "$CUSTODY_ROOT/etc"
		refused "$CUSTODY_ROOT/etc"
		chown 0 "$CUSTODY_ROOT/etc"
	fi
}
@test "attack: a trust file that is broken, too large, or another document trusts nothing" {
	local text
	mkdir -p "$CUSTODY_ROOT/etc"
	for text in '' '{' '[]' '{"schema_version":2,"trusted":[]}' '{"schema_version":1}' \
		'{"schema_version":1,"trusted":[{"path":"/x"}]}' '{"schema_version":1,"schema_version":1,"trusted":[]}'; do
		printf '%s' "$text" >"$TRUST"
		refused "$TRUST"
	done
	{ forge && head -c 2000000 /dev/zero | tr '\0' ' '; } >"$TRUST"
	refused "$TRUST"
}
@test "attack: trusting writes through no link" {
	mkdir -p "$CUSTODY_ROOT/etc"
	echo mine >"$CUSTODY_HOME/victim"
	ln -s "$CUSTODY_HOME/victim" "$TRUST"
	run "$CUSTODY" profile trust "$LOOSE"
	[ "$status" -ne 0 ]
	[ "$(cat "$CUSTODY_HOME/victim")" = mine ]
}

@test "attack: a directory of profiles that others can write: a removed profile is not replaced by a less strict one" {
	mkdir -p "$CUSTODY_ROOT/etc/profiles"
	# The admin's own: nothing may be executed in it.
	printf '{"schema":1,"name":"mine","extends":"offline","limits":{"pids":1}}' >"$CUSTODY_ROOT/etc/profiles/mine.json"
	for mode in 0777 0775; do
		chmod "$mode" "$CUSTODY_ROOT/etc/profiles"
		for profile in mine offline; do # the second is found elsewhere, unless an attacker puts one here
			custody_run --profile "$profile" -- echo ran
			assert_status 125
			[ -z "$output" ] || custody_fail "it ran"
			assert_stderr_has 'is writable by other users'
		done
	done
	chmod 0755 "$CUSTODY_ROOT/etc/profiles"
	custody_run --profile offline -- echo ran
	assert_status 0
	# Only root can give it away.
	if [ "$(id -u)" -eq 0 ]; then
		chown 64321 "$CUSTODY_ROOT/etc/profiles"
		custody_run --profile offline -- echo ran
		assert_status 125
		assert_stderr_has 'belongs to uid 64321'
	fi
}

# --- root.type dir --------------------------------------------------------------------------------------------------
make_root() {
	rm -rf "$R"
	mkdir -p "$R"/{bin,proc,dev,sys,tmp,work,etc,run}
	cp /bin/busybox "$R/bin/busybox"
	ln -s busybox "$R/bin/sh"
	jq -n --arg p "$R" '{schema: 1, name: "d", extends: "offline", root: {type: "dir", path: $p}}' >"$CUSTODY_HOME/d.json"
}
# As a script of the root's own: what policy makes of its text is not asked here.
in_root() { # SCRIPT
	printf '#!/bin/sh\n%s\n' "$1" >"$R/bin/script"
	chmod 0755 "$R/bin/script"
	custody_run --profile "$CUSTODY_HOME/d.json" -- script
}

@test "attack: links of a root directory, wherever custody mounts something, do not lead out of it" {
	local name target
	mkdir "$CUSTODY_HOME/outside"
	for name in proc dev sys tmp work etc run usr; do
		for target in "$CUSTODY_HOME/outside" ../outside ../../../../../../etc; do
			make_root
			rm -rf "${R:?}/$name"
			ln -s "$target" "$R/$name"
			in_root "echo RAN; busybox touch /$name/custody-was-here"
			assert_output_has RAN
			[ -z "$(ls -A "$CUSTODY_HOME/outside")" ]
			[ ! -e /etc/custody-was-here ]
			[ ! -e "$R/custody-was-here" ]
		done
	done
}
@test "attack: nothing is written to a root directory, and no device or set-id file of it works" {
	make_root
	chmod 4755 "$R/bin/busybox"
	if [ "$(id -u)" -eq 0 ]; then
		mknod "$R/node" c 1 1
		mkdir "$R/opt"
		mknod "$R/opt/node" c 1 5
		chmod 666 "$R/opt/node"
	fi
	touch "$R/bin/script"
	find "$R" -not -path "$R/bin*" -printf '%p %m %T@\n' | sort >"$CUSTODY_HOME/before"
	in_root 'busybox touch /x /bin/x /opt/x; busybox chmod 777 /bin/busybox; busybox head -c 1 /opt/node; busybox ls /node; busybox grep NoNewPrivs /proc/self/status'
	[[ $output =~ NoNewPrivs:[[:space:]]1 ]]
	[[ $stderr == *'Read-only file system'* ]]
	[[ $output != */node* ]]
	[ "$(ls "$R/bin")" = $'busybox\nscript\nsh' ]
	[ "$(stat -c %a "$R/bin/busybox")" = 4755 ]
	find "$R" -not -path "$R/bin*" -printf '%p %m %T@\n' | sort | diff "$CUSTODY_HOME/before" -
}
@test "attack: a root directory that others can change is refused: they could exchange its entries concurrently" {
	local mode
	make_root
	for mode in 0775 0777 1777 0757; do
		chmod "$mode" "$R"
		in_root 'echo RAN'
		assert_status 125
		[[ $output != *RAN* ]]
		assert_stderr_has 'can be changed by other users'
	done
	chmod 0755 "$R"
	in_root 'echo RAN'
	assert_status 0
	if [ "$(id -u)" -eq 0 ]; then
		chown 64321 "$R"
		in_root 'echo RAN'
		assert_status 125
		[[ $output != *RAN* ]]
	fi
}
@test "attack: odd names and odd kinds of files in a root directory" {
	make_root
	mkdir "$R/"$'a\nb' "$R/a:b" "$R/--rw=" "$R/\"q\"" "$R/é"
	mkfifo "$R/fifo"
	ln -s loop "$R/loop"
	mkdir -m 000 "$R/closed"
	in_root 'echo RAN; [ -d "/a:b" ] && [ -d "/--rw=" ] && [ -d "/\"q\"" ] && [ -d /é ] && echo all there; busybox touch "/--rw=/x"'
	assert_output_has 'all there'
	[ ! -e "$R/--rw=/x" ]
	mkdir "$R/"$'\xff'
	in_root 'echo RAN'
	assert_status 125
	assert_stderr_has UTF-8
}

# --- parent directories of mount sources ----------------------------------------------------------------------------------
# tests/unit/test-mount-watch.c has more of it.
@test "attack: as a user, below a world-writable directory: it runs, and a path exchanged before is not followed" {
	custody_teardown
	suite_setup_user
	open=$CUSTODY_HOME/open
	mkdir -p "$open/proj" "$CUSTODY_HOME/private"
	echo plain >"$open/proj/file"
	echo secret >"$CUSTODY_HOME/private/file"
	jq -n '{schema: 1, name: "user", extends: "offline", enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}' \
		>"$CUSTODY_HOME/user.json"
	[ "$(id -u)" -ne 0 ] || chown -R "$SUITE_UID:$SUITE_UID" "$open" "$CUSTODY_HOME/private" "$CUSTODY_HOME/user.json"
	chmod 0777 "$open"
	cd "$open/proj"
	custody_run --profile "$CUSTODY_HOME/user.json" -- cat file
	assert_status 0
	[ "$output" = plain ]
	# Nothing is watched any more once the command runs: a user has few of what that takes.
	mkfifo "$CUSTODY_HOME/go"
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$CUSTODY_HOME/go"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$CUSTODY_HOME/user.json" -- sh -c 'echo on; read -r line' \
		<"$CUSTODY_HOME/go" >"$CUSTODY_HOME/out" 3>&- &
	pid=$!
	exec 7>"$CUSTODY_HOME/go"
	wait_until grep -qs on "$CUSTODY_HOME/out"
	watching=$(find "/proc/$pid/fd" -lname 'anon_inode:*inotify*' 2>/dev/null)
	exec 7>&-
	wait "$pid" || true
	[ -z "$watching" ] || custody_fail "still watching: $watching"
	# We stand in the directory; its name leads elsewhere by now.
	mv "$open/proj" "$open/away"
	ln -s "$CUSTODY_HOME/private" "$open/proj"
	custody_run --profile "$CUSTODY_HOME/user.json" -- cat file
	[[ $output != *secret* ]] || custody_fail "followed: $output"
	cd "$CUSTODY_HOME"
}

# The seamed program as that user, who cannot reach the build directory: in $CUSTODY_HOME/build.
seamed_as_user() {
	mkdir -p "$CUSTODY_HOME/build/tests"
	cp "${CUSTODY_BUILD:?a finished build directory}/tests/custody-seamed" "$CUSTODY_HOME/build/seamed"
	{
		echo '#!/bin/bash'
		printf 'exec'
		printf ' %q' "${CUSTODY_AS[@]}" "$CUSTODY_HOME/build/seamed"
		echo ' "$@"'
	} >"$CUSTODY_HOME/build/tests/custody-seamed"
	chmod 0755 "$CUSTODY_HOME" "$CUSTODY_HOME/build/seamed" "$CUSTODY_HOME/build/tests/custody-seamed"
}

@test "attack: as a user, a worktree that is exchanged for a link before it is mounted, and put back, is not shown" {
	[ "$(id -u)" -eq 0 ] || skip "needs a second user"
	custody_teardown
	suite_setup_user
	open=$CUSTODY_HOME/open
	mkdir -p "$open/proj" "$CUSTODY_HOME/private"
	echo secret >"$CUSTODY_HOME/private/file"
	jq -n '{schema: 1, name: "user", extends: "offline", enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}' \
		>"$CUSTODY_HOME/user.json"
	chown -R "$SUITE_UID:$SUITE_UID" "$open" "$CUSTODY_HOME/private" "$CUSTODY_HOME/user.json"
	chmod 0700 "$CUSTODY_HOME/private"
	chmod 0777 "$open"
	seamed_as_user
	stranger() {
		setpriv --reuid 64999 --regid 64999 --clear-groups sh -c 'mv "$1/proj" "$1/away" && ln -s "$2" "$1/proj"' - "$open" "$CUSTODY_HOME/private"
	}
	and_back() {
		stranger && setpriv --reuid 64999 --regid 64999 --clear-groups sh -c 'rm "$1/proj" && mv "$1/away" "$1/proj"' - "$open"
	}
	cd "$open/proj"
	umask 000 # the gate is that user's to open
	CUSTODY_BUILD=$CUSTODY_HOME/build suite_gate creator-placed --profile "$CUSTODY_HOME/user.json" -- cat file --- and_back < <(:)
	assert_status 125
	grep -q 'was replaced while the run was prepared' "$CUSTODY_HOME/err" || custody_fail "$(cat "$CUSTODY_HOME/err")"
	CUSTODY_BUILD=$CUSTODY_HOME/build suite_gate creator-placed --profile "$CUSTODY_HOME/user.json" -- cat file --- stranger < <(:)
	assert_status 125
	! grep -q secret "$CUSTODY_HOME/out" || custody_fail "it was shown"
	cd "$CUSTODY_HOME"
}

# A command of another run that may write the parent directory has the caller's id, and no right of the caller outside.
@test "ISO-1: as a user, a source that a command of another run exchanges for a link is not shown" {
	local w
	[ "$(id -u)" -eq 0 ] || skip "needs a second user"
	custody_teardown
	suite_setup_user
	w=$CUSTODY_HOME/shared
	mkdir -p "$w/x" "$CUSTODY_HOME/private"
	echo mine >"$w/x/file"
	echo secret >"$CUSTODY_HOME/private/file"
	jq -n '{schema: 1, name: "user", extends: "offline", enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}' \
		>"$CUSTODY_HOME/user.json"
	chown -R "$SUITE_UID:$SUITE_UID" "$w" "$CUSTODY_HOME/private" "$CUSTODY_HOME/user.json"
	seamed_as_user
	# What the other run does in its writable worktree.
	exchange() {
		mv "$w/x" "$w/y" && ln -s "$CUSTODY_HOME/private" "$w/x"
	}
	umask 000 # the gate is that user's to open
	tried() { # WORDS...
		CUSTODY_BUILD=$CUSTODY_HOME/build suite_gate container-prepared --profile "$CUSTODY_HOME/user.json" "$@" --- exchange < <(:)
		! grep -q secret "$CUSTODY_HOME/out" || custody_fail "shown: $*"
		assert_status 125
		grep -q 'replaced by a symbolic link' "$CUSTODY_HOME/err" || custody_fail "$(cat "$CUSTODY_HOME/err")"
		rm "$w/x"
		mv "$w/y" "$w/x"
	}
	tried -v "$w/x:/mnt" -- cat /mnt/file
	tried -v "$w/x/file:/mnt" -- cat /mnt
	cd "$w/x"
	tried -- cat file
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$CUSTODY_HOME/user.json" -v "$w/x:/mnt" -- cat file /mnt/file
	[ "$status" -eq 0 ]
	[ "$output" = $'mine\nmine' ]
	cd "$CUSTODY_HOME"
}
