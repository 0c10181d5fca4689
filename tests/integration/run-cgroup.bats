#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The same run on every kind of cgroup host.  Hosts are made in private mount namespaces.

load ../lib/suite.bash

setup() {
	suite_setup
	OPTIONAL=$CUSTODY_HOME/p.json
	echo '{"schema":1,"name":"p","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' >"$OPTIONAL"
}

# Names of sessions that ended long ago, of this run of the suite alone: one that was interrupted may have left its own.
OLD=custody-20200101T000000Z-$(printf %07x $((BATS_ROOT_PID % 0x10000000)))

teardown() {
	find /sys/fs/cgroup -depth -type d \( -path "*/$OLD?" -o -path "*/$OLD?/below" -o -name "custody-2020-$$" \) -exec rmdir {} \; 2>/dev/null || true
	custody_teardown
}

# on HOST COMMAND...: in a mount namespace in which /sys/fs/cgroup is of that kind.
on() {
	local host=$1 v2
	shift
	v2=$(awk '$0 ~ / - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
	run --separate-stderr unshare -m bash -c '
		host=$1 v2=$2
		shift 2
		case $host in
		v1) [ -z "$v2" ] || umount "$v2" || exit 99 ;;
		v2) [ "$v2" = /sys/fs/cgroup ] || { umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup; } || exit 99 ;;
		esac
		"$@"' sh "$host" "$v2" "$@"
	CUSTODY_RESULT=$(tail -n 1 <<<"$output")
}

is_v1() {
	grep -q ' - cgroup cgroup .*memory' /proc/self/mountinfo
}

@test "cgroup: as this host is" {
	skip_without root # run-user.bats
	on here "$CUSTODY" run --json -- sh -c 'exit 5'
	assert_status 5
	assert_layer memory-limit
	assert_layer pids-limit
	assert_layer cpu-limit
}

@test "cgroup: v1 alone" {
	skip_without root cgroup-v1
	on v1 "$CUSTODY" run --json --memory 32M -- sh -c 'head -c 200M /dev/zero | tail >/dev/null'
	assert_reason oom
	assert_layer memory-limit
	on v1 "$CUSTODY" run --json --timeout 1 -- sh -c 'sleep 60 & sleep 60'
	assert_status 124
}

@test "cgroup: v2 alone" {
	skip_without root # no permission to set up such a host
	on v2 "$CUSTODY" run --json --profile "$OPTIONAL" -- sh -c 'exit 6'
	assert_status 6
	assert_reason exited
	assert_layer cgroup-namespace
	on v2 "$CUSTODY" run --json --profile "$OPTIONAL" --timeout 1 -- sh -c 'trap "" TERM; (setsid sleep 61 &) ; sleep 61; sleep 61'
	assert_status 124
	if is_v1; then
		# The controllers are v1's: v2 cannot limit, and says so.
		on v2 "$CUSTODY" run -- sh -c 'echo RAN'
		assert_status 125
		[[ $output != *RAN* ]]
		assert_stderr_has "'memory-limit'"
	fi
}

@test "cgroup: created cgroups are removed, in every hierarchy" {
	local options
	for options in '-q' '--memory 32M' '--timeout 1'; do
		# shellcheck disable=SC2086 # words
		custody_run $options -- sh -c 'head -c 100M /dev/zero | tail >/dev/null; sleep 2'
		[ -z "$(find /sys/fs/cgroup -type d -name "custody-$(custody_result .session)")" ]
	done
}

@test "cgroup: the command cannot leave its cgroup or change its limits" {
	custody_run -- sh -c 'ls /sys/fs/cgroup 2>/dev/null | head -n 3; mount -t cgroup2 none /tmp; cat /proc/self/cgroup'
	[[ $output != *memory.max* ]]
	# Its own cgroup is the root that it sees.
	[ -z "$(grep -v ':/$' <<<"$output")" ]
}

# own_cgroups: the directories in which custody makes its cgroups, as seen after a run.
own_cgroups() {
	local id
	mkfifo "$CUSTODY_HOME/events"
	"$CUSTODY" run --status-fd 5 -- sleep 1000 5>"$CUSTODY_HOME/events" >/dev/null 2>&1 </dev/null 3>&- &
	grep -m1 '"started"' <"$CUSTODY_HOME/events" >/dev/null
	id=$(ls "$CUSTODY_ROOT/run/sessions")
	sed 's,/custody-[^/]*$,,' "$CUSTODY_ROOT/run/sessions/$id/cgroup" | sort -u
	kill -TERM $!
	wait $! || true
}

@test "ISO-7: empty cgroups whose session's directory is gone are removed; held, full and foreign ones stay" {
	local dir dirs old=$OLD name
	skip_without root # only root has cgroups everywhere
	dirs=$(own_cgroups)
	[ -n "$dirs" ]
	for dir in $dirs; do
		mkdir "$dir/${old}1" "$dir/${old}2" "$dir/${old}3" "$dir/${old}3/below" "$dir/${old}4" "$dir/custody-2020-$$"
		chown 64321 "$dir/${old}4"
	done
	dir=$(head -n 1 <<<"$dirs")
	# Another custody on this host may take it for abandoned before it is locked.
	until mkdir -p "$dir/${old}2" && exec 7<"$dir/${old}2" && flock -sn 7 && [ -d "$dir/${old}2" ]; do :; done
	custody_run -- true
	assert_status 0
	for dir in $dirs; do
		[ ! -e "$dir/${old}1" ] || { echo "$dir/${old}1 stays" && name=bad; }
		[ -d "$dir/${old}3/below" ] && [ -d "$dir/${old}4" ] && [ -d "$dir/custody-2020-$$" ] || { echo "$dir: too much" && name=bad; }
		rmdir "$dir/${old}3/below" "$dir/${old}3" "$dir/${old}4" "$dir/custody-2020-$$"
	done
	dir=$(head -n 1 <<<"$dirs")
	[ -d "$dir/${old}2" ] || { echo 'the held one is gone' && name=bad; }
	exec 7<&-
	custody_run -- true
	[ -z "$(find /sys/fs/cgroup -type d -name "$old*")" ]
	[ "$name" != bad ]
}

@test "ISO-7: a cgroup that another process removes as abandoned while it is created is created again" {
	local pid stops=0 dir removed=' ' trace=$CUSTODY_HOME/trace
	skip_without root
	# It stops after each mkdir, before it locks the cgroup; a sweep that ignores the age runs once for each.
	: >"$trace"
	strace -qq -o "$trace" -e trace=mkdir -e inject=mkdir:signal=STOP:when=1..20 "$CUSTODY" run -- sh -c 'exit 7' </dev/null >"$CUSTODY_HOME/out" 2>&1 3>&- &
	pid=$!
	stopped_or_over() { [ "$(grep -c 'stopped by SIGSTOP' "$trace")" -gt "$stops" ] || ! kill -0 "$pid" 2>/dev/null; }
	while wait_until stopped_or_over && kill -0 "$pid" 2>/dev/null; do
		stops=$((stops + 1))
		for dir in $(cat "$CUSTODY_ROOT"/run/sessions/*/cgroup 2>/dev/null); do
			[[ -d $dir && $removed != *" $dir "* ]] || continue
			flock -xn "$dir" rmdir "$dir"
			removed+="$dir "
		done
		kill -CONT "$(cat "/proc/$pid/task/$pid/children")"
	done
	status=0
	wait "$pid" || status=$?
	cat "$CUSTODY_HOME/out" "$trace"
	[ "$status" -eq 7 ]
	[ "$removed" != ' ' ] # it did get in between
}
