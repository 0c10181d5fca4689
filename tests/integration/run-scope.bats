#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The scope that an ordinary user's run asks the user's systemd for: refusals without one, and with bad answers.  On a host whose v2 has
# no controllers no limit holds; tests/vm/login.bats has the rest, in a login session.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034 # scripts for other shells; each test is a subshell; for the assertions

load ../lib/suite.bash

setup() {
	suite_setup_user
	suite_ungoverned
	[ "$(id -u)" -eq 0 ] || skip 'mounts need root'
	PEER=''
	PROFILE=$CUSTODY_HOME/p.json
	printf '{"schema":1,"name":"p","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' >"$PROFILE"
	chown "$SUITE_UID" "$PROFILE"
}

teardown() {
	local dir
	end_peer
	dir=$(v2)/$CGROUP
	[ -n "$CGROUP" ] && [ -d "$dir" ] && wait_until rmdir_all "$dir"
	custody_teardown
}

CGROUP=''
v2() {
	awk '$0 ~ / - cgroup2 / { print $5; exit }' /proc/self/mountinfo
}
rmdir_all() {
	find "$1" -depth -type d -exec rmdir {} \; 2>/dev/null
	[ ! -d "$1" ]
}

# A cgroup of v2 that belongs to the user; the peer and the runs are in it.
make_cgroup() {
	CGROUP=custody-scope-$BASHPID
	mkdir "$(v2)/$CGROUP"
	chown -R "$SUITE_UID" "$(v2)/$CGROUP"
}

has_controllers() {
	local name
	for name in memory pids cpu; do grep -qw "$name" "$(v2)/$CGROUP/cgroup.controllers" || return; done
}

# in_v2 CMD...: as the user, where v2 is the only hierarchy, in the test's cgroup if it has one.
in_v2() {
	${EXEC:-} unshare -m bash -c 'v2=$1 dir=$2
		shift 2
		[ "$v2" = /sys/fs/cgroup ] || { umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup; } || exit 99
		[ -z "$dir" ] || echo $$ >"/sys/fs/cgroup/$dir/cgroup.procs" || exit 99
		exec "$@"' sh "$(v2)" "$CGROUP" "${CUSTODY_AS[@]}" "$@"
}

# peer MODE: in place of the user's systemd.
peer() {
	: >"$CUSTODY_HOME/requests"
	EXEC="exec" in_v2 python3 "$CUSTODY_SRC/tests/lib/systemd-peer.py" "$CUSTODY_HOME/xdg" "$1" "/sys/fs/cgroup/$CGROUP" \
		>"$CUSTODY_HOME/requests" </dev/null 3>&- &
	PEER=$!
	wait_until grep -q ready "$CUSTODY_HOME/requests"
}
end_peer() {
	[ -n "$PEER" ] || return 0
	{ kill -9 "$PEER" && wait "$PEER"; } 2>/dev/null || true
	PEER=''
	rm -rf "$CUSTODY_HOME/xdg/systemd"
}

run_in_v2() {
	run --separate-stderr in_v2 "$CUSTODY" run "$@"
}

# The refusal names the limits and why there is no scope; nothing was executed and nothing stays.
assert_refused() { # REASON
	assert_status 125
	assert_stderr_has "'memory-limit'"
	assert_stderr_has "no scope from the user's systemd"
	assert_stderr_has "$1"
	[[ $output != *RAN* ]]
	[ -z "$(ls -A "$CUSTODY_ROOT/run/sessions")" ]
	[ -z "$(pgrep -u "$SUITE_UID" -x custody-scope)" ]
}
assert_not_asked() {
	[ -z "$(grep asked "$CUSTODY_HOME/requests")" ]
}

@test "PLAT-3: without a systemd of the user: refused, and the reason is named" {
	run_in_v2 -- echo RAN
	assert_refused "this user has no systemd of its own in '/run/user/$SUITE_UID'"
}

@test "PLAT-3: a peer that hangs, sends garbage, disconnects or takes no connection: refused after a bounded time" {
	local mode
	for mode in hang garbage noise close full silent other; do
		peer $mode
		run_in_v2 -- echo RAN
		case $mode in
		hang | silent | other) assert_refused 'did not answer within 5 seconds' ;;
		full) assert_refused 'Resource temporarily unavailable' ;;
		*) assert_refused 'refused a scope: StartTransientUnit: ' ;;
		esac
		end_peer
	done
}

@test "PLAT-3: systemd refuses, or its job fails: its reason is in the refusal, without control characters" {
	peer error
	run_in_v2 -- echo RAN
	assert_refused 'StartTransientUnit: the unit ?[31mexists?already'
	grep -qE '^asked custody-2[0-9TZ-]+-[0-9a-f]+\.scope True 2 custody session 2' "$CUSTODY_HOME/requests"
	end_peer
	peer failed
	run_in_v2 -- echo RAN
	assert_refused 'the job of the scope ended: failed'
}

@test "PLAT-3: a success is believed only as far as the kernel confirms it" {
	make_cgroup
	peer lie
	run_in_v2 -- echo RAN
	assert_refused "reported success, but process"
	end_peer
	# It did move them, but on a hybrid host the scope has no controllers.
	peer move
	run_in_v2 -- echo RAN
	if has_controllers; then
		# No limit is optional: every one was proven.
		assert_status 0
		[ "$output" = RAN ]
	else
		assert_refused 'has not every controller that the limits need'
	fi
	[ -z "$(find "$(v2)/$CGROUP" -name 'custody-holder' -exec cat {}/cgroup.procs \;)" ]
}

@test "PLAT-3: optional limits: a run without a scope is as it was, and one whose scope is of no use, too" {
	local mode
	make_cgroup
	for mode in error lie move; do
		peer $mode
		run_in_v2 --json --profile "$PROFILE" -- sh -c 'exit 7'
		assert_status 7
		CUSTODY_RESULT=${lines[-1]}
		if [ "$mode" = move ] && has_controllers; then assert_layer memory-limit; else assert_layer memory-limit optional-missing; fi
		assert_layer cgroup-namespace
		grep -q asked "$CUSTODY_HOME/requests"
		end_peer
	done
}

@test "PLAT-3: the socket of another user's process is not asked, nor is the directory of another user" {
	local as=("${CUSTODY_AS[@]}")
	CUSTODY_AS=(env)
	peer move
	CUSTODY_AS=("${as[@]}")
	chmod -R a+rwX "$CUSTODY_HOME/xdg/systemd"
	run_in_v2 -- echo RAN
	assert_refused 'belongs to user 0'
	chown 0 "$CUSTODY_HOME/xdg"
	chmod 0755 "$CUSTODY_HOME/xdg"
	run_in_v2 -- echo RAN
	assert_stderr_has 'this user has no systemd of its own'
	assert_not_asked
	[[ $output != *RAN* ]]
}

@test "PLAT-3: a systemd in another pid namespace is not asked: it would move another process" {
	peer move
	run --separate-stderr unshare -m --pid --fork --mount-proc bash -c 'umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec "$@"' sh \
		"${CUSTODY_AS[@]}" "$CUSTODY" run -- echo RAN
	assert_refused 'outside of this pid namespace'
	assert_not_asked
}

@test "PLAT-3: root's runs ask no systemd" {
	peer move
	run --separate-stderr env "XDG_RUNTIME_DIR=$CUSTODY_HOME/xdg" CUSTODY_ROOT="$CUSTODY_HOME/of-root" bash -c 'mkdir -m 0755 "$CUSTODY_ROOT" && "$CUSTODY" ledger init >/dev/null && "$CUSTODY" run -- true'
	assert_status 0
	assert_not_asked
}

@test "PLAT-3: a real systemd of a user: its scope holds both processes and ends with them; without controllers it is not asked" {
	make_cgroup
	command -v systemctl >/dev/null && [ -x /lib/systemd/systemd ] || custody_fail 'no systemd; apt-get install systemd'
	run --separate-stderr timeout -k 5 120 "$CUSTODY_SRC/tests/lib/user-systemd.sh" "$(v2)" "$CGROUP" "$SUITE_UID" "$CUSTODY_HOME" -- \
		"${CUSTODY_AS[@]}" PATH="$PATH" bash -c '
		"$CUSTODY" run -- echo RAN
		echo "status $?"
		exec python3 "$CUSTODY_SRC/tests/lib/scope-client.py" "$(dirname "$(dirname "$CUSTODY")")/libexec/custody/custody-scope"'
	echo "$output"
	echo "$stderr"
	assert_stderr_has "the user's systemd itself has no controller memory, pids, cpu"
	grep -qx 'status 125' <<<"$output"
	[[ $output != *RAN* ]]
	grep -q '^both in .*/custody-20260101T000000Z-00000001.scope$' <<<"$output"
	grep -qx 'refused: StartTransientUnit: Unit custody-20260101T000000Z-00000001.scope .*' <<<"$output"
	grep -qx 'refused: StartTransientUnit: Process with ID [0-9]* does not exist.' <<<"$output"
	grep -qx gone <<<"$output"
}
