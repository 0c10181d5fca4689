# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shares for tests, in a mount namespace of their own.  After share_setup `run`, custody_run and the like with
# "${CUSTODY_AS[@]}" in front see it at $SHARE; $BEHIND is the directory behind it.

# share_setup: needs root, /dev/fuse and fuse3's headers.
share_setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	[ -c /dev/fuse ] && pkg-config --exists fuse3 || skip 'missing: fuse3'
	SHARE=$CUSTODY_HOME/share BEHIND=$CUSTODY_HOME/behind CONTROL=$CUSTODY_HOME/control
	mkdir "$SHARE" "$BEHIND"
	: >"$CONTROL"
	share_program
	# The process that holds the namespace: its mounts are invisible outside.
	unshare -m --propagation private sleep 3600 3>&- &
	SHARE_KEEPER=$!
	wait_until share_is_apart
	# shellcheck disable=SC2016 # inside
	CUSTODY_AS=(nsenter -t "$SHARE_KEEPER" -m sh -c 'cd "$1" && shift && exec "$@"' sh "$PWD")
	share_mount
}

# Compiled once for all tests.
share_program() {
	SHAREFS=$BATS_RUN_TMPDIR/sharefs
	[ -x "$SHAREFS" ] && return
	# shellcheck disable=SC2046 # flags
	cc -O1 -o "$SHAREFS.$$" "$BATS_TEST_DIRNAME/../lib/sharefs.c" $(pkg-config --cflags --libs fuse3) &&
		mv "$SHAREFS.$$" "$SHAREFS"
}

share_is_apart() {
	[ "$(readlink "/proc/$SHARE_KEEPER/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ] &&
		[ "$(cat "/proc/$SHARE_KEEPER/comm")" = sleep ]
}

share_is_mounted() {
	grep -qF " $SHARE " "/proc/$SHARE_KEEPER/mountinfo"
}

share_mount() {
	nsenter -t "$SHARE_KEEPER" -m "$SHAREFS" "$BEHIND" "$CONTROL" "$SHARE" 3>&- &
	SHARE_PID=$!
	wait_until share_is_mounted
}

# share_does OPERATION HOW: from now on (sharefs.c); share_does: as it should.
share_does() {
	printf '%s\n' "$*" >"$CONTROL.new"
	mv "$CONTROL.new" "$CONTROL"
}

# The server dies: ENOTCONN for everything.
share_dies() {
	kill -9 "$SHARE_PID"
	wait "$SHARE_PID" || true
}

share_unmount() {
	nsenter -t "$SHARE_KEEPER" -m umount -l "$SHARE"
}

share_teardown() {
	[ -n "${SHARE_KEEPER:-}" ] || return 0
	suite_end_deliveries
	share_does
	kill -9 "$SHARE_PID" "$SHARE_KEEPER" 2>/dev/null || true
	wait "$SHARE_PID" "$SHARE_KEEPER" 2>/dev/null || true
}
