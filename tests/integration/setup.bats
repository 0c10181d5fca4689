#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# `custody setup`: in a private mount and cgroup namespace, with an overlay over /etc; nothing of this machine is changed.

load ../lib/suite.bash

setup() {
	skip_without root # only root can make a host
	suite_setup_user
	suite_ungoverned
	HOST=$CUSTODY_HOME/host
	mkdir -p "$HOST/etc" "$HOST/work" "$HOST/systemd" "$HOST/root"
	export HOST SUITE_UID
	# An entry for the user, and files of a host that has no ranges.
	cp /etc/passwd "$HOST/etc/passwd"
	echo "alice:x:$SUITE_UID:$SUITE_UID::$CUSTODY_HOME/home:/bin/sh" >>"$HOST/etc/passwd"
	mkdir -p "$HOST/etc/cron.d" "$HOST/etc/sysctl.d" "$HOST/etc/tmpfiles.d"
	printf 'root:100000:65536\nbob:165536:65536\n' >"$HOST/etc/subuid"
	printf 'bob:165536:65536' >"$HOST/etc/subgid"
	HOST_CGROUPS=()
}

teardown() {
	local dir
	for dir in "${HOST_CGROUPS[@]}"; do
		find "$dir" -depth -type d -exec rmdir {} \; 2>/dev/null || true
	done
	custody_teardown
}

# v1_cgroups: a cgroup for this test in each v1 hierarchy, which the host that `host` makes sees as the root.
v1_cgroups() {
	local c dir
	for c in memory pids cpu; do
		dir=$(awk -F: -v c="$c" '{ n = split($2, l, ","); for (i = 1; i <= n; i++) if (l[i] == c) print $3 }' /proc/self/cgroup)
		dir=/sys/fs/cgroup/$c${dir%/}/custody-setup-$$
		mkdir "$dir"
		HOST_CGROUPS+=("$dir")
	done
}

# host CMD...: CMD on a host with that /etc, whose root is v1_cgroups's, if there are any.  PREPARE: words of sh before it.
host() {
	run --separate-stderr bash -c 'n=$1; shift
		for ((i = 0; i < n; i++)); do echo 0 >"$1/cgroup.procs" || exit 99; shift; done
		exec unshare -m -C bash -c "$@"' sh "${#HOST_CGROUPS[@]}" "${HOST_CGROUPS[@]}" '
		n=$1 prepare=$2
		shift 2
		mount --make-rprivate / && mount -t overlay overlay -o "lowerdir=/etc,upperdir=$HOST/etc,workdir=$HOST/work" /etc || exit 99
		mkdir -p /run/systemd && mount --bind "$HOST/systemd" /run/systemd || exit 99
		umount -R /sys/fs/cgroup && mount -t tmpfs tmpfs /sys/fs/cgroup || exit 99
		if [ "$n" -gt 0 ]; then
			for c in memory pids cpu; do
				mkdir "/sys/fs/cgroup/$c" && mount -t cgroup -o "$c" none "/sys/fs/cgroup/$c" || exit 99
			done
		fi
		eval "$prepare" || exit 99
		"$@"' sh "${#HOST_CGROUPS[@]}" "${PREPARE:-}" "$@"
	[ "$status" -ne 99 ] || custody_fail "no such host"
}

setup_user() {
	host env CUSTODY_ROOT="$HOST/root" "$CUSTODY" setup "$@"
}

# fake PROGRAM: on the host it writes its words to $HOST/calls.
fake() {
	mkdir "$HOST/programs" "$HOST/programs-work"
	printf '#!/bin/sh\necho "$@" >>"%s/calls"\n' "$HOST" >"$HOST/programs/${1##*/}"
	chmod 0755 "$HOST/programs/${1##*/}"
	PREPARE="mount -t overlay overlay -o lowerdir=${1%/*},upperdir=$HOST/programs,workdir=$HOST/programs-work ${1%/*}"
}

# snapshot: every file of the host's /etc with its content, mode and owner, and the records.
snapshot() {
	(cd "$HOST" && find etc root -printf '%p %y %m %U %l\n' | sort && find etc -type f -exec sha256sum {} + | sort)
	find "${HOST_CGROUPS[@]}" -mindepth 1 -maxdepth 0 2>/dev/null | sort || true
	for dir in "${HOST_CGROUPS[@]}"; do find "$dir" -mindepth 1 -type d -printf '%p %U\n'; done
}

@test "PLAT-3: setup: not root is refused, with the line that works; an unknown user and root are refused" {
	local line
	suite_as() { run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" setup "$@"; }
	suite_as --dry-run 'a b'
	assert_status 125
	line=$(sed -n 's/.*: \(sudo .*\)/\1/p' <<<"$stderr")
	[[ $line == "sudo "*"custody setup --dry-run 'a b'" ]]
	# The line runs this program with these words.
	host env CUSTODY_ROOT="$HOST/root" bash -c 'sudo() { "$@"; }; eval "$1"' sh "$line"
	assert_status 125
	assert_stderr_has "no user 'a b' in /etc/passwd"
	for user in root 0; do
		setup_user "$user"
		assert_status 125
		assert_stderr_has 'root needs no setup'
	done
	[ ! -e "$HOST/root/setup" ] || [ -z "$(ls "$HOST/root/setup")" ]
}

@test "PLAT-3: setup: a user's runs have their limits afterwards, and none of it is left after --remove" {
	skip_without cgroup-v1
	v1_cgroups
	local before
	before=$(snapshot)
	host "${CUSTODY_AS[@]}" "$CUSTODY" run -- true
	assert_status 125
	line=$(sed -n 's/^    \(sudo .*\)/\1/p' <<<"$stderr")
	[[ $line == *" setup alice" ]]
	# As it was printed.
	host env CUSTODY_ROOT="$HOST/root" bash -c 'sudo() { "$@"; }; eval "$1"' sh "$line"
	assert_status 0
	host "${CUSTODY_AS[@]}" "$CUSTODY" run --json --memory 32M -- sh -c 'head -c 200M /dev/zero | tail >/dev/null'
	CUSTODY_RESULT=$(tail -n 1 <<<"$output")
	assert_reason oom
	for layer in memory-limit pids-limit cpu-limit; do assert_layer "$layer"; done
	host "${CUSTODY_AS[@]}" "$CUSTODY" run --pids-limit 6 --json -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait'
	CUSTODY_RESULT=$(tail -n 1 <<<"$output")
	assert_reason pids-limit
	host "${CUSTODY_AS[@]}" "$CUSTODY" doctor --json
	jq -e '.checks[] | select(.id == "HOST-CGROUP") | .state == "ok"' <<<"$output"
	# Another user cannot use it.
	host env CUSTODY_ROOT="$HOST/root" setpriv --reuid 64322 --regid 64322 --clear-groups mkdir /sys/fs/cgroup/memory/custody-user-"$SUITE_UID"/x
	[ "$status" -ne 0 ]
	setup_user --remove alice
	assert_status 0
	rmdir "$HOST/root/setup"
	[ "$(snapshot)" = "$before" ] || custody_fail "$(diff <(echo "$before") <(snapshot))"
	host "${CUSTODY_AS[@]}" "$CUSTODY" run -- true
	assert_status 125
}

# rebooted CMD...: a host whose cgroups of the user are gone, then CMD, which the host itself runs at each boot.
rebooted() {
	for dir in "${HOST_CGROUPS[@]}"; do
		rmdir "$dir/custody-user-$SUITE_UID"
	done
	host "${CUSTODY_AS[@]}" "$CUSTODY" run -- true
	assert_status 125
	host "$@"
	assert_status 0
	host "${CUSTODY_AS[@]}" "$CUSTODY" run --json -- true
	assert_status 0
	CUSTODY_RESULT=$(tail -n 1 <<<"$output")
	for layer in memory-limit pids-limit cpu-limit; do assert_layer "$layer"; done
}

@test "PLAT-3: setup is durable on v1: with cron" {
	skip_without cgroup-v1
	v1_cgroups
	setup_user alice
	assert_status 0
	rebooted env -i CUSTODY_ROOT="$HOST/root" sh -c "$(sed -n 's/^@reboot root //p' "$HOST/etc/cron.d/custody-user-$SUITE_UID")"
}

@test "PLAT-3: setup is durable on v1: with systemd, whose tmpfiles make the cgroups" {
	skip_without cgroup-v1
	local file=/etc/tmpfiles.d/custody-user-$SUITE_UID.conf
	v1_cgroups
	mkdir "$HOST/systemd/system"
	setup_user alice
	assert_status 0
	[ ! -e "$HOST/etc/cron.d/custody-user-$SUITE_UID" ]
	grep -qxF "d /sys/fs/cgroup/memory/custody-user-$SUITE_UID 0755 $SUITE_UID $SUITE_UID -" "$HOST$file"
	[ "$(wc -l <"$HOST$file")" -eq 3 ]
	# Its own program, where this machine has it.
	if command -v systemd-tmpfiles; then
		rebooted systemd-tmpfiles --create "$file"
	fi
	setup_user --remove alice
	assert_status 0
	[ ! -f "$HOST$file" ]
}

@test "PLAT-3: setup --dry-run names every change and makes none; setup makes exactly these" {
	skip_without cgroup-v1
	v1_cgroups
	local before planned
	before=$(snapshot)
	setup_user --dry-run alice
	assert_status 0
	planned=$output
	[ "$(snapshot)" = "$before" ]
	# The first range that neither file has.
	for text in "/etc/subuid: add the line 'alice:231072:65536'" "/etc/subgid: add the line 'alice:231072:65536'" \
		"/sys/fs/cgroup/memory/custody-user-$SUITE_UID: create the cgroup" "/sys/fs/cgroup/pids/custody-user-$SUITE_UID: create the cgroup" \
		"/sys/fs/cgroup/cpu/custody-user-$SUITE_UID: create the cgroup" "/etc/cron.d/custody-user-$SUITE_UID: create, with the content" \
		"    @reboot root $CUSTODY setup alice >/dev/null 2>&1" "nothing was changed (--dry-run)"; do
		grep -qxF -- "$text" <<<"$planned" || custody_fail "the plan lacks '$text'"
	done
	setup_user alice
	assert_status 0
	[ "$(grep -v '^done' <<<"$output")" = "$(grep -v '^nothing was' <<<"$planned")" ]
	[ "$(tail -n 1 "$HOST/etc/subuid")" = alice:231072:65536 ]
	[ "$(cat "$HOST/etc/subgid")" = $'bob:165536:65536\nalice:231072:65536' ]
	[ "$(stat -c %a "$HOST"/root/setup/*.json)" = 600 ]
	# Again: nothing to do, and what --remove would do is printed only.
	before=$(snapshot)
	setup_user alice
	assert_status 0
	grep -q "everything is set up for 'alice'" <<<"$output"
	setup_user --remove --dry-run alice
	assert_status 0
	grep -qxF "/etc/subuid: remove the line 'alice:231072:65536'" <<<"$output"
	[ "$(snapshot)" = "$before" ]
}

@test "PLAT-3: setup that is killed at any point is completed by another one, and undone by --remove" {
	skip_without cgroup-v1
	local complete before call n killed=0
	v1_cgroups
	# Temporary files of a killed process: no other program reads them.
	clean() { rm -f "$HOST"/root/setup/.new-* "$HOST"/etc/.new-* "$HOST"/etc/*/.new-* "$HOST"/etc/sub?id.[0-9l]*; }
	before=$(snapshot)
	setup_user alice
	complete=$(snapshot)
	setup_user --remove alice
	for call in renameat link unlink mkdirat fchownat fchown fsync; do
		n=0
		while n=$((n + 1)) && [ "$n" -lt 40 ]; do
			rmdir "$HOST/root/setup"
			[ "$(snapshot)" = "$before" ] || custody_fail "before $call $n: $(diff <(echo "$before") <(snapshot))"
			host env CUSTODY_ROOT="$HOST/root" strace -qq -o /dev/null -e trace="$call" -e inject="$call:signal=KILL:when=$n" "$CUSTODY" setup alice
			[ "$status" -ne 0 ] || break
			killed=$((killed + 1))
			if ((n % 2)); then
				setup_user alice
				assert_status 0
				clean
				[ "$(snapshot)" = "$complete" ] || custody_fail "killed at $call $n: $(diff <(echo "$complete") <(snapshot))"
			fi
			setup_user --remove alice
			assert_status 0
			clean
		done
		setup_user --remove alice
	done
	[ "$killed" -gt 15 ] || custody_fail "killed $killed times only"
}

@test "PLAT-3: setup: a range that overlaps another owner's is refused by name; nothing is changed" {
	local before text
	for text in 'alice:160000:65536\nbob:165536:65536\n' "bob:165536:65536\n$SUITE_UID:170000:10\n" 'bob:1:4294967294\nalice:165536:1\n'; do
		# shellcheck disable=SC2059 # a format
		printf "$text" >"$HOST/etc/subuid"
		before=$(snapshot | grep -v ' root\b\|setup')
		setup_user alice
		assert_status 125
		assert_stderr_has "lines 1 and 2 of '/etc/subuid' overlap: 'bob' has ids of"
		[ "$(snapshot | grep -v ' root\b\|setup')" = "$before" ]
	done
	# An existing range stays as it is, also one by number.
	printf '%s:400000:1000\nbob:165536:65536\n' "$SUITE_UID" >"$HOST/etc/subuid"
	setup_user alice
	assert_status 0
	[ "$(wc -l <"$HOST/etc/subuid")" -eq 2 ]
	setup_user --remove alice
	[ "$(wc -l <"$HOST/etc/subuid")" -eq 2 ]
	# Files that are missing are made, and removed again.
	rm "$HOST/etc/subuid" "$HOST/etc/subgid"
	PREPARE='rm -f /etc/subuid /etc/subgid' setup_user alice
	assert_status 0
	[ "$(cat "$HOST/etc/subuid")" = "$(cat "$HOST/etc/subgid")" ]
	setup_user --remove alice
	[ ! -f "$HOST/etc/subuid" ]
	[ ! -f "$HOST/etc/subgid" ]
}

@test "PLAT-3: setup: a lock of another program is respected, one of a dead process is not" {
	echo $$ >"$HOST/etc/subuid.lock"
	setup_user alice
	assert_status 125
	assert_stderr_has "'/etc/subuid' is locked by another program"
	run ! grep -q alice "$HOST/etc/subuid"
	sleep 0 &
	wait $!
	echo $! >"$HOST/etc/subuid.lock"
	setup_user alice
	assert_status 0
	grep -q alice "$HOST/etc/subuid"
	[ ! -f "$HOST/etc/subuid.lock" ]
}

@test "PLAT-3: setup: user namespaces that a sysctl forbids are allowed, until the last user is removed" {
	echo 0 >"$HOST/max"
	PREPARE='mount --bind "$HOST/max" /proc/sys/user/max_user_namespaces'
	echo "carol:x:64333:64333::/:/bin/sh" >>"$HOST/etc/passwd"
	setup_user --dry-run alice
	grep -qxF '/proc/sys/user/max_user_namespaces: set to 15000, it is 0' <<<"$output"
	[ "$(cat "$HOST/max")" = 0 ]
	setup_user alice
	assert_status 0
	[ "$(cat "$HOST/max")" = 15000 ]
	[ "$(cat "$HOST/etc/sysctl.d/60-custody-max_user_namespaces.conf")" = 'user.max_user_namespaces = 15000' ]
	setup_user carol
	assert_status 0
	setup_user --remove alice
	assert_status 0
	assert_output_has 'stays, for another user'
	[ "$(cat "$HOST/max")" = 15000 ]
	[ -e "$HOST/etc/sysctl.d/60-custody-max_user_namespaces.conf" ]
	setup_user --remove carol
	[ "$(cat "$HOST/max")" = 0 ]
	[ ! -f "$HOST/etc/sysctl.d/60-custody-max_user_namespaces.conf" ]
	# Without need nothing is written.
	echo 5 >"$HOST/max"
	setup_user alice
	[ "$(cat "$HOST/max")" = 5 ]
	[ ! -f "$HOST/etc/sysctl.d/60-custody-max_user_namespaces.conf" ]
}

@test "PLAT-3: setup: where AppArmor restricts user namespaces, custody gets a profile that is loaded, and unloaded" {
	local file=$HOST/etc/apparmor.d/custody-setup
	mkdir -p "$HOST/sysctl"
	echo 1 >"$HOST/sysctl/apparmor_restrict_unprivileged_userns"
	fake /usr/sbin/apparmor_parser
	PREPARE+='; mount -t tmpfs tmpfs /proc/sys/kernel && cp "$HOST/sysctl/"* /proc/sys/kernel/'
	setup_user alice
	assert_status 0
	grep -qF "profile custody-setup $CUSTODY flags=(unconfined) {" "$file"
	grep -qx '  userns,' "$file"
	[ "$(cat "$HOST/calls")" = "-r /etc/apparmor.d/custody-setup" ]
	setup_user --remove alice
	[ ! -f "$file" ]
	[ "$(tail -n 1 "$HOST/calls")" = "-R /etc/apparmor.d/custody-setup" ]
	# Not where the kernel has no such setting, or it is off.
	echo 0 >"$HOST/sysctl/apparmor_restrict_unprivileged_userns"
	setup_user alice
	assert_status 0
	[ ! -f "$file" ]
}

@test "PLAT-3: setup: with systemd and cgroup v2 a drop-in delegates the controllers, and systemd reloads" {
	local file=$HOST/etc/systemd/system/user@$SUITE_UID.service.d/50-custody.conf
	mkdir "$HOST/systemd/system"
	# A directory that looks like a root with these controllers.
	mkdir "$HOST/v2"
	echo 'cpu memory pids' >"$HOST/v2/cgroup.controllers"
	fake /usr/bin/systemctl
	PREPARE+='; mount -t cgroup2 none /sys/fs/cgroup && mount --bind "$HOST/v2/cgroup.controllers" /sys/fs/cgroup/cgroup.controllers'
	setup_user alice
	assert_status 0
	[ "$(cat "$file")" = $'[Service]\nDelegate=cpu memory pids' ]
	[ "$(cat "$HOST/calls")" = daemon-reload ]
	assert_output_has 'logs in again'
	setup_user alice
	[ "$(wc -l <"$HOST/calls")" -eq 2 ]
	# A file that the administrator changed stays, and so does its place in the record.
	echo '# mine' >>"$file"
	setup_user --remove alice
	assert_status 1
	assert_stderr_has "50-custody.conf' was changed since: remove it yourself"
	[ -e "$file" ]
	rm "$file"
	setup_user --remove alice
	assert_status 0
	[ ! -d "${file%/*}" ]
	[ -z "$(ls "$HOST/root/setup")" ]
}

@test "PLAT-3: setup: a file of the same name that is not of setup is refused; an existing record that is no record too" {
	skip_without cgroup-v1
	v1_cgroups
	echo '# mine' >"$HOST/etc/cron.d/custody-user-$SUITE_UID"
	setup_user alice
	assert_status 125
	assert_stderr_has "'/etc/cron.d/custody-user-$SUITE_UID' exists and is not of custody setup"
	run ! grep -q alice "$HOST/etc/subuid"
	rm "$HOST/etc/cron.d/custody-user-$SUITE_UID"
	setup_user alice
	assert_status 0
	for text in '' '{}' '{"schema":"custody.setup/1","user":"alice","uid":1,"changes":[{"kind":"file","path":"etc/passwd","text":"","before":""}]}'; do
		printf '%s' "$text" >"$HOST/root/setup/$SUITE_UID.json"
		setup_user --remove alice
		assert_status 125
		[ -e "$HOST/etc/cron.d/custody-user-$SUITE_UID" ]
	done
	echo '{"schema":"custody.setup/1","user":"alice","uid":64321,"changes":[]}' >"$HOST/root/setup/$SUITE_UID.json"
	chmod 0666 "$HOST/root/setup/$SUITE_UID.json"
	setup_user --remove alice
	assert_status 125
}

@test "PLAT-3: setup --remove: a user whose entry is gone is found by the record; nothing of one without a record" {
	setup_user --remove alice
	assert_status 0
	assert_output_has "no record of a setup"
	setup_user alice
	assert_status 0
	sed -i /^alice/d "$HOST/etc/passwd"
	setup_user alice
	assert_status 125
	setup_user --remove alice
	assert_status 0
	run ! grep -q alice "$HOST/etc/subuid"
}

@test "PLAT-3: setup: a uid that another user had gets a line with its own name, and --remove takes no line of the other" {
	setup_user alice
	assert_status 0
	sed -i "s/^alice:x:$SUITE_UID:/dora:x:$SUITE_UID:/" "$HOST/etc/passwd"
	sed -i /^alice/d "$HOST/etc/subuid" "$HOST/etc/subgid"
	setup_user dora
	assert_status 0
	[ "$(grep -c '^dora:' "$HOST/etc/subuid")" -eq 1 ]
	run ! grep -q '^alice:' "$HOST/etc/subuid" "$HOST/etc/subgid"
	[ "$(jq -r .user "$HOST/root/setup/$SUITE_UID.json")" = dora ]
	# A new alice with another uid, to whom useradd gave the line that the first one had.
	echo 'alice:x:64334:64334::/:/bin/sh' >>"$HOST/etc/passwd"
	sed -i '/^dora/d' "$HOST/etc/subuid"
	echo alice:231072:65536 >>"$HOST/etc/subuid"
	setup_user --remove dora
	assert_status 0
	[ "$(tail -n 1 "$HOST/etc/subuid")" = alice:231072:65536 ]
	run ! grep -q '^dora:' "$HOST/etc/subgid"
}

@test "PLAT-3: setup: a range has the id of no account; one that has is refused, because no run would use it" {
	local before
	cp /etc/group "$HOST/etc/group"
	echo 'dev:x:240000:' >>"$HOST/etc/group"
	# A line that is longer than the buffer of getpwent.
	printf 'long:x:64335:64335:%05000d:/:/bin/sh\nerin:x:300000:300000::/:/bin/sh\n' 0 >>"$HOST/etc/passwd"
	setup_user alice
	assert_status 0
	[ "$(tail -n 1 "$HOST/etc/subuid")" = alice:362144:65536 ]
	[ "$(tail -n 1 "$HOST/etc/subgid")" = alice:362144:65536 ]
	setup_user --remove alice
	printf 'alice:239990:100\n' | tee "$HOST/etc/subuid" >"$HOST/etc/subgid"
	before=$(sha256sum "$HOST"/etc/sub?id)
	setup_user alice
	assert_status 125
	assert_stderr_has "the subordinate ids contain 240000, which is group 'dev'"
	[ "$(sha256sum "$HOST"/etc/sub?id)" = "$before" ]
}

@test "PLAT-3: setup: a name that a shell or /etc/subuid would read as something else is refused" {
	local name
	# shellcheck disable=SC2016 # as it is in the file
	for name in 'a b' 'x;id' '$(id)' 'a%b' '#a' '-a' "a'b" 64336; do
		echo "$name:x:64337:64337::/:/bin/sh" >>"$HOST/etc/passwd"
		setup_user -- "$name"
		assert_status 125
		assert_stderr_has "'$name'"
		sed -i '$d' "$HOST/etc/passwd"
	done
	[ "$(cat "$HOST/etc/subuid")" = $'root:100000:65536\nbob:165536:65536' ]
	# A number is a uid, with or without zeros in front.
	setup_user 0064338
	assert_status 0
	[ "$(tail -n 1 "$HOST/etc/subuid")" = 64338:231072:65536 ]
}

@test "PLAT-3: setup: root is made to start, and AppArmor to trust, no program that users can replace" {
	local dir=$CUSTODY_HOME/home/bin program
	mkdir -p "$HOST/sysctl" "$dir"
	echo 1 >"$HOST/sysctl/apparmor_restrict_unprivileged_userns"
	fake /usr/sbin/apparmor_parser
	PREPARE+='; mount -t tmpfs tmpfs /proc/sys/kernel && cp "$HOST/sysctl/"* /proc/sys/kernel/'
	cp "$CUSTODY" "$dir/custody"
	for program in "$dir/custody" "$HOST/open/custody"; do
		mkdir -p "$HOST/open"
		chmod 0777 "$HOST/open"
		cp "$CUSTODY" "$HOST/open/custody"
		chown "$SUITE_UID" "$dir"
		host env CUSTODY_ROOT="$HOST/root" CUSTODY_LIBEXEC="${CUSTODY_LIBEXEC:-}" "$program" setup alice
		assert_status 125
		assert_stderr_has "users can replace '${program%/*}"
		[ ! -e "$HOST/etc/apparmor.d/custody-setup" ]
		[ ! -e "$HOST/calls" ]
		run ! grep -q alice "$HOST/etc/subuid"
	done
}

@test "PLAT-3: setup --remove: an AppArmor profile that the administrator changed stays, and stays loaded" {
	mkdir -p "$HOST/sysctl"
	echo 1 >"$HOST/sysctl/apparmor_restrict_unprivileged_userns"
	fake /usr/sbin/apparmor_parser
	PREPARE+='; mount -t tmpfs tmpfs /proc/sys/kernel && cp "$HOST/sysctl/"* /proc/sys/kernel/'
	setup_user alice
	assert_status 0
	echo '# mine' >>"$HOST/etc/apparmor.d/custody-setup"
	setup_user --remove alice
	assert_status 1
	assert_stderr_has "'/etc/apparmor.d/custody-setup' was changed since"
	run ! grep -q -- -R "$HOST/calls"
}

@test "PLAT-3: setup --remove: ids that a process has stay granted, and no other user gets them" {
	local pid
	echo "carol:x:64333:64333::/:/bin/sh" >>"$HOST/etc/passwd"
	setup_user alice
	assert_status 0
	# One by its uid and one by its gid.
	for ids in '--reuid 231080 --regid 64321' '--reuid 64321 --regid 296607'; do
		# shellcheck disable=SC2086 # words
		setpriv $ids --clear-groups sleep 300 3>&- &
		pid=$!
		until grep -qE '^[UG]id:.*(231080|296607)' "/proc/$pid/status"; do :; done
		setup_user --remove alice
		kill "$pid"
		wait "$pid" || true
		assert_status 1
		assert_stderr_has "process $pid has an id of 'alice:231072:65536'"
		grep -qx alice:231072:65536 "$HOST/etc/subuid"
		setup_user carol
		[ "$(tail -n 1 "$HOST/etc/subuid")" = carol:296608:65536 ]
	done
	setup_user --remove alice
	assert_status 0
	run ! grep -q alice "$HOST/etc/subuid" "$HOST/etc/subgid"
}
