#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# `custody setup` on a machine with cgroup v2 and without systemd.  Run by guest.sh, as root: it changes the machine.

load ../lib/suite.bash

setup() {
	[ "$(id -u)" -eq 0 ] && [ ! -d /run/systemd/system ] || custody_fail 'run by guest.sh, without systemd'
	suite_setup_user
	suite_ungoverned
	MINE=/sys/fs/cgroup/custody-user-$SUITE_UID
}
teardown() {
	custody_teardown
}

# later WORDS...: a shell of the user that starts `custody run WORDS` when `now` is called.
later() {
	rm -f "$CUSTODY_HOME/go"
	mkfifo "$CUSTODY_HOME/go"
	chmod 0666 "$CUSTODY_HOME/go"
	# shellcheck disable=SC2016 # expanded inside
	"${CUSTODY_AS[@]}" sh -c 'read -r _ <"$1"; shift; exec "$CUSTODY" run --json "$@"' sh "$CUSTODY_HOME/go" "$@" \
		>"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" 3>&- &
	LATER=$!
}
now() {
	echo >"$CUSTODY_HOME/go"
	status=0
	wait "$LATER" || status=$?
	output=$(cat "$CUSTODY_HOME/out") stderr=$(cat "$CUSTODY_HOME/err")
	CUSTODY_RESULT=$(tail -n 1 <<<"$output")
}

@test "PLAT-3: setup on v2 without systemd: the user's processes get a cgroup in which every limit holds, until --remove" {
	later --memory 32M -- sh -c 'head -c 200M /dev/zero | tail >/dev/null'
	custody_run -- true
	assert_status 125
	assert_stderr_has "setup $SUITE_UID"
	run --separate-stderr env -u CUSTODY_ROOT "$CUSTODY" setup "$SUITE_UID"
	assert_status 0
	assert_output_has "$MINE"
	[ "$(stat -c %u "$MINE" "$MINE/cgroup.procs" "$MINE/login" | sort -u)" = "$SUITE_UID" ]
	now
	assert_reason oom
	for layer in memory-limit pids-limit cpu-limit; do assert_layer "$layer"; done
	# A process that comes later is outside, and moved by another setup.
	later --pids-limit 6 -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait'
	custody_run -- true
	assert_status 125
	run --separate-stderr env -u CUSTODY_ROOT "$CUSTODY" setup "$SUITE_UID"
	assert_status 0
	now
	assert_reason pids-limit
	grep -q "^$SUITE_UID:" /etc/subuid
	# A running session stays in its cgroup.
	later -d -- sleep 1000
	run --separate-stderr env -u CUSTODY_ROOT "$CUSTODY" setup "$SUITE_UID"
	now
	assert_status 0
	ls -d "$MINE"/custody-2*
	members=$(cat "$MINE"/custody-2*/cgroup.procs)
	[ -n "$members" ]
	run --separate-stderr env -u CUSTODY_ROOT "$CUSTODY" setup "$SUITE_UID"
	[ "$(cat "$MINE"/custody-2*/cgroup.procs)" = "$members" ]
	# So that setup cannot be removed completely meanwhile.
	run --separate-stderr env -u CUSTODY_ROOT "$CUSTODY" setup --remove "$SUITE_UID"
	assert_status 1
	assert_stderr_has "is in use by a run"
	[ "$(cat "$MINE"/custody-2*/cgroup.procs)" = "$members" ]
	"${CUSTODY_AS[@]}" "$CUSTODY" stop --time 0 last
	later -- true
	run --separate-stderr env -u CUSTODY_ROOT "$CUSTODY" setup "$SUITE_UID"
	run --separate-stderr env -u CUSTODY_ROOT "$CUSTODY" setup --remove "$SUITE_UID"
	assert_status 0
	[ ! -e "$MINE" ]
	now
	assert_status 125
	run ! grep -q "^$SUITE_UID:" /etc/subuid /etc/subgid
}
