#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2154 # scripts for the inside; set by bats
#
# A user with access to a file can lock it: custody must not wait for a lock of a file that others can open.

load ../lib/suite.bash

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs a second user"
	suite_setup
	# Others may pass, as they may in /etc and /run.
	chmod 0755 "$CUSTODY_HOME" "$CUSTODY_ROOT"
}
teardown() {
	[ -z "${PID:-}" ] || kill -9 "$PID" 2>/dev/null || true
	custody_teardown
}

# locked PATH: can another user have it?
locked() {
	setpriv --reuid 64321 --regid 64321 --clear-groups flock -s -n "$1" true 2>/dev/null
}

@test "attack: no other user can lock a cgroup that a supervisor waits for" {
	mkfifo "$CUSTODY_HOME/go"
	"$CUSTODY" run -- sh -c 'echo on; read -r line' <"$CUSTODY_HOME/go" >"$CUSTODY_HOME/out" &
	PID=$!
	exec 7>"$CUSTODY_HOME/go"
	wait_until grep -qs on "$CUSTODY_HOME/out"
	n=0
	while read -r dir; do
		[ -d "$dir" ] || custody_fail "no such cgroup: $dir"
		! locked "$dir" || custody_fail "any user can lock $dir: $(stat -c %A "$dir")"
		n=$((n + 1))
	done < <(cat "$CUSTODY_ROOT"/run/sessions/*/cgroup)
	exec 7>&-
	wait "$PID" || true
	PID=
	[ "$n" -gt 0 ] || custody_fail "this run had no cgroup"
}

@test "attack: no other user can lock anything of custody's in the runtime, state or configuration directory" {
	printf '{"schema":1,"name":"loose","extends":"offline","limits":{"memory":"4G"}}' >loose.json
	custody_run --sandbox default -- true || true
	"$CUSTODY" profile trust ./loose.json
	while read -r file; do
		case $file in
		# Names that others may pass through or read, and that custody does not wait for.
		"$CUSTODY_ROOT" | "$CUSTODY_ROOT"/etc | "$CUSTODY_ROOT"/etc/custody.json | "$CUSTODY_ROOT"/run | "$CUSTODY_ROOT"/run/m) ;;
		*) ! locked "$file" || custody_fail "any user can lock $file: $(stat -c %A "$file")" ;;
		esac
	done < <(find "$CUSTODY_ROOT" -xdev)
	# All users can open the directory: a foreign lock of it does not block custody.
	setpriv --reuid 64321 --regid 64321 --clear-groups flock --no-fork "$CUSTODY_ROOT/etc" sh -c 'echo held; exec sleep 1000' >"$CUSTODY_HOME/held" 3>&- &
	PID=$!
	wait_until grep -qs held "$CUSTODY_HOME/held"
	echo ' ' >>loose.json
	run timeout -k 1 30 "$CUSTODY" profile trust ./loose.json
	[ "$status" -eq 0 ] || custody_fail "waited for a stranger: $status $output"
}
