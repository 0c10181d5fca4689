#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# custody as an ordinary user: one id, and only the delegated limits.

load ../lib/suite.bash

setup() {
	suite_setup_user
	suite_ungoverned
	# A number of seconds that no other test sleeps for, here or in a suite next door.
	LONG=$((100000 + BASHPID))
	printf '{"schema":1,"name":"p","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' \
		>"$CUSTODY_HOME/p.json"
	chmod 0644 "$CUSTODY_HOME/p.json"
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$CUSTODY_HOME/p.json"
}

teardown() {
	custody_teardown
}

user_run() {
	custody_run --profile "$CUSTODY_HOME/p.json" "$@"
}

gone() { # PATTERN
	! pgrep -f "$1" >/dev/null
}

@test "ISO-1: rootless: container root is the caller and no other id exists" {
	user_run -- sh -c 'id -u; cat /proc/self/uid_map'
	assert_status 0
	[ "${lines[0]}" = 0 ]
	[ "$(awk '{ print $3 }' <<<"${lines[1]}")" = 1 ]
	assert_layer user-namespace
	assert_layer seccomp
	[ -z "$(stderr_rest)" ]
}

@test "ISO-3: rootless: the overlay keeps the original" {
	"${CUSTODY_AS[@]}" sh -c 'echo original >file; mkdir dir; touch dir/a'
	user_run -- sh -c 'echo changed >file; mv dir other; rm other/a; cat file'
	assert_status 0
	assert_output_has changed
	[ "$(cat file)" = original ]
	[ -e dir/a ]
}

@test "GOV-1: rootless: a program of the caller's PATH that is outside only is named, with the option that shows it" {
	local dir=$CUSTODY_HOME/kit/bin
	mkdir -p "$dir"
	printf '#!/bin/sh\necho RAN\n' >"$dir/tool"
	chmod 0755 "$CUSTODY_HOME/kit" "$dir" "$dir/tool"
	PATH=$dir:$PATH user_run -- tool
	assert_status 127
	assert_stderr_has "outside it is '$dir/tool'; to show it: custody run -v $dir:$dir -- $dir/tool"
	[[ $output != *RAN* ]]
	user_run -v "$dir:$dir" -- "$dir/tool"
	assert_status 0
	assert_output_has RAN
	# What this user cannot execute is not offered.
	chmod 0700 "$dir"
	[ "$(id -u)" -ne 0 ] || PATH=$dir:$PATH user_run -- tool
	[[ $stderr != *"outside it is"* ]]
}

@test "rootless: an interpreter that is missing inside is named" {
	"${CUSTODY_AS[@]}" sh -c "printf '#!/no/such/interpreter\\n' >script; chmod +x script"
	user_run -- ./script
	assert_status 127
	assert_stderr_has "cannot execute './script' inside: its interpreter '/no/such/interpreter' is missing inside"
}

@test "ISO-12: rootless: the caller's git name and address are passed; another user's file is not read" {
	unset XDG_CONFIG_HOME "${!GIT_@}"
	"${CUSTODY_AS[@]}" sh -c 'printf "[user]\\n\\tname = Ada\\n\\temail = ada@example.org\\n" >"$HOME/.gitconfig"'
	user_run -- sh -c 'git init -q repo && cd repo && git commit -q --allow-empty -m x && git log --format="%an <%ae>"'
	assert_status 0
	assert_output_has 'Ada <ada@example.org>'
	if [ "$(id -u)" -eq 0 ]; then
		chown 0:0 "$CUSTODY_HOME/home/.gitconfig"
		user_run -- env
		assert_status 0
		[[ $output != *GIT_* && $output != *Ada* ]]
	fi
}

@test "rootless: files that a command writes into a volume belong to the caller" {
	"${CUSTODY_AS[@]}" mkdir "$CUSTODY_HOME/shared"
	user_run -v "$CUSTODY_HOME/shared:/data:rw" -- touch /data/f
	assert_status 0
	[ "$(stat -c %u "$CUSTODY_HOME/shared/f")" = "$(stat -c %u "$CUSTODY_HOME/shared")" ]
}

@test "ISO-13: rootless: a limit that cannot be enforced refuses the run by name" {
	skip_with HOST-CGROUP
	custody_run -- touch ran
	assert_status 125
	assert_stderr_has "'memory-limit'"
	assert_stderr_has "'pids-limit'"
	[[ $stderr == *"is delegated to this user"* || $stderr == *"no cgroup file system"* || $stderr == *"lacks these controllers"* ]]
	[ ! -e ran ]
	assert_reason setup-failed
}

@test "ISO-13: rootless: missing optional layers are in the result" {
	skip_with HOST-CGROUP
	user_run -- true
	assert_status 0
	assert_layer memory-limit optional-missing
	assert_layer pids-limit optional-missing
}

@test "ISO-13: rootless: v1 limits hold once their cgroups are delegated" {
	skip_without root # only root can delegate
	skip_without cgroup-v1
	local c dir made=()
	for c in memory pids cpu; do
		dir=$(awk -F: -v c="$c" '{ n = split($2, l, ","); for (i = 1; i <= n; i++) if (l[i] == c) print $3 }' /proc/self/cgroup)
		[ -n "$dir" ]
		[ -d "/sys/fs/cgroup/$c" ]
		dir=/sys/fs/cgroup/$c${dir%/}/custody-delegated-$$
		mkdir "$dir"
		chown "$SUITE_UID" "$dir" "$dir/cgroup.procs"
		made+=("$dir")
	done
	# A shell that enters them and then becomes the user.
	run --separate-stderr bash -c 'n=$1; shift; for ((i = 0; i < n; i++)); do echo $$ >"$1/cgroup.procs" || exit 99; shift; done; exec "$@"' sh \
		"${#made[@]}" "${made[@]}" "${CUSTODY_AS[@]}" "$CUSTODY" run --json --memory 32M -- sh -c 'head -c 200M /dev/zero | tail >/dev/null'
	CUSTODY_RESULT=${lines[-1]}
	for dir in "${made[@]}"; do
		rmdir "$dir"
	done
	assert_reason oom
	assert_layer memory-limit
	assert_layer pids-limit
	assert_layer cpu-limit
}

@test "rootless: a user without HOME and XDG_RUNTIME_DIR gets a message or a run, and never hangs" {
	run --separate-stderr "${CUSTODY_AS[@]}" env -u HOME -u XDG_RUNTIME_DIR "$CUSTODY" run --profile "$CUSTODY_HOME/p.json" -- true
	assert_status 0
}

@test "ISO-7: rootless: the supervisor killed with -9 leaves nothing after the next start" {
	mkfifo "$CUSTODY_HOME/events"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$CUSTODY_HOME/p.json" --status-fd 5 -- sleep "$LONG" \
		5>"$CUSTODY_HOME/events" >/dev/null 2>&1 </dev/null 3>&- &
	grep -m1 '"started"' <"$CUSTODY_HOME/events" >/dev/null
	kill -9 $!
	wait $! || true
	wait_until gone "sleep $LONG"
	user_run -- true
	assert_status 0
	[ -z "$(ls -A "$CUSTODY_ROOT/run/sessions")" ]
}

@test "ISO-1: the root of a user's run is read-only, nosuid and nodev, as every other mount" {
	user_run -- sh -c 'awk "\$5 == \"/\" { print \$6 }" /proc/self/mountinfo; touch /x; mkdir /x'
	[[ ,$(head -n 1 <<<"$output"), == *,ro,* && ,$output == *,nosuid,* && ,$output == *,nodev,* ]]
	[ "$status" -ne 0 ]
	assert_stderr_has 'Read-only'
}

noexec_run() { # MOUNT-POINT ROOT WORKTREE
	run --separate-stderr unshare -m sh -c 'at=$1; point=$2; root=$3; tree=$4; shift 4
		mkdir -p "$point" && mount -t tmpfs -o noexec,noatime,nosuid,nodev,mode=0700 tmpfs "$point" && mkdir -p "$root/run" &&
			chown "$at" "$point" "$root" "$root/run" && cd "$tree" || exit 99
		exec "$@"' sh "$SUITE_UID:$SUITE_UID" "$@" "${CUSTODY_AS[@]}" CUSTODY_ROOT="$2" "$CUSTODY" run -p "$CUSTODY_HOME/p.json" -- \
		awk '$5 == "/" { print $6 }' /proc/self/mountinfo
}

@test "ISO-1: a runtime directory that is noexec and noatime is no obstacle" {
	[ "$(id -u)" -eq 0 ] || skip 'mounts need root'
	noexec_run "$CUSTODY_ROOT/run" "$CUSTODY_ROOT" .
	assert_status 0
	[ "$output" = ro,nosuid,nodev,relatime ]
}

@test "ISO-1: in a worktree that holds such a runtime directory the root has its flags" {
	[ "$(id -u)" -eq 0 ] || skip 'mounts need root'
	noexec_run "$CUSTODY_HOME/holds" "$CUSTODY_HOME/holds/root" "$CUSTODY_HOME/holds"
	assert_status 0
	[ "$output" = ro,nosuid,nodev,noexec,noatime ]
}

# As a login without a session of its own (su, cron): everything of custody is below the home directory.  The worktree is one
# that holds it, and not the home itself, which would be asked about.
at_home() {
	CUSTODY_AS=(env -u CUSTODY_ROOT -u XDG_RUNTIME_DIR "HOME=$CUSTODY_HOME/home")
	[ "$(id -u)" -ne 0 ] || CUSTODY_AS=(setpriv --reuid "$SUITE_UID" --regid "$SUITE_UID" --clear-groups --inh-caps=-all "${CUSTODY_AS[@]}")
	mkdir "$CUSTODY_HOME/home/.local" && cd "$CUSTODY_HOME/home/.local" || return
	printf '#!/bin/sh\necho "$1 ran"\necho more >>data\ncat data\n%s\n' "${1:-}" >script
	echo content >data
	chmod 0755 script
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID:$SUITE_UID" script data . ..
	"${CUSTODY_AS[@]}" "$CUSTODY" ledger init >/dev/null
}

# Directories of sealed copies outside of the session's own.
aside() {
	find /dev/shm /tmp /var/tmp -maxdepth 1 -name 'custody-2*T*Z-*' -uid "$("${CUSTODY_AS[@]}" id -u)" 2>/dev/null
}

@test "ISO-3: rootless: in a directory of the home that holds custody's own directories a command may name files" {
	at_home
	user_run -- cat data
	assert_status 0
	[ "$output" = content ]
	user_run -- ./script it
	assert_status 0
	[ "$output" = $'it ran\ncontent\nmore' ]
	[ "$(cat data)" = content ]
	[ -z "$(aside)" ] || custody_fail "left: $(aside)"
	[ -z "$(stderr_rest)" ]
}

@test "ISO-7: rootless: after kill -9 in such a directory nothing of the sealed copies stays" {
	at_home "sleep $LONG"
	mkfifo "$CUSTODY_HOME/up"
	chmod 0666 "$CUSTODY_HOME/up"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$CUSTODY_HOME/p.json" -- ./script it >"$CUSTODY_HOME/up" 2>&1 3>&- &
	pid=$!
	timeout 60 grep -q 'it ran' "$CUSTODY_HOME/up"
	[ -n "$(aside)" ] || custody_fail "no copies to look for"
	kill -9 "$pid"
	wait "$pid" || true
	wait_until gone "sleep $LONG"
	user_run -- true
	assert_status 0
	[ -z "$(aside)" ] || custody_fail "left: $(aside)"
}

@test "ISO-7: rootless: a run leaves root, copies and state of the runtime in no directory, and a kill -9 leaves no process" {
	printf '#!/bin/sh\necho "$1 ran"\nsleep %s\n' "$LONG" >script
	chmod 0755 script
	mkfifo "$CUSTODY_HOME/up"
	chmod 0666 "$CUSTODY_HOME/up"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$CUSTODY_HOME/p.json" -- ./script it >"$CUSTODY_HOME/up" 2>&1 3>&- &
	pid=$!
	timeout 60 grep -q 'it ran' "$CUSTODY_HOME/up"
	[ -z "$(ls -A "$CUSTODY_ROOT/run/m")" ]
	[ -z "$(find "$CUSTODY_ROOT/run/sessions" -mindepth 2 \( -name root -o -name crun -o -name sealed \))" ]
	[ "$(find "$CUSTODY_ROOT/run/sessions" -mindepth 2 -name process | wc -l)" = 1 ]
	kill -9 "$pid"
	wait "$pid" || true
	wait_until gone "sleep $LONG"
	user_run -- true
	assert_status 0
	[ -z "$(ls -A "$CUSTODY_ROOT/run/sessions")" ]
}

@test "ISO-5: rootless: files without permissions are evidence also in a store below a directory of root" {
	local dir store=$CUSTODY_HOME/store/mine
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	install -d -m 0755 "$CUSTODY_HOME/store"
	install -d -o "$SUITE_UID" -g "$SUITE_UID" -m 0700 "$store"
	jq --arg dir "$store" '.sandbox.retention_path = $dir' "$CUSTODY_ROOT/etc/custody.json" >"$CUSTODY_HOME/new"
	cat "$CUSTODY_HOME/new" >"$CUSTODY_ROOT/etc/custody.json"
	user_run -- sh -c 'mkdir closed; echo secret >closed/f; chmod 0 closed/f closed; exit 3'
	assert_status 3
	dir=$(custody_result .evidence)
	[[ $dir == "$store"/* ]]
	[ "$(jq -r .status "$dir/metadata.json")" = complete ]
	# Still not where another user could exchange it.
	chown "$((SUITE_UID + 1))" "$CUSTODY_HOME/store"
	user_run -- sh -c 'mkdir closed; chmod 0 closed; exit 3'
	[[ $(custody_result .evidence) == "$CUSTODY_ROOT"/sandbox/staging/* ]]
	[ "$(find "$store" -mindepth 1 -maxdepth 1 | wc -l)" -eq 1 ]
}
