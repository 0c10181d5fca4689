#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A worktree whose overlay fuse-overlayfs makes, because a profile says so by name: everything holds as with the kernel's.

load ../lib/suite.bash

# A bind over a file of the host, in the mount namespace of one command: HIDE_CMD sources targets...
IN_OWN_MOUNTS=(unshare --mount --propagation private bash -c)

setup() {
	suite_setup
	suite_ungoverned
	fuse_begin
}

# The same as an ordinary user.  All users can open /dev/fuse on most hosts; where it is not, it is in a mount namespace.
as_user() {
	suite_setup_user
	if [ "$(id -u)" -eq 0 ]; then
		mkdir "$CUSTODY_HOME/dev"
		CUSTODY_AS=("${IN_OWN_MOUNTS[@]}" "mount -t tmpfs -o mode=755 none '$CUSTODY_HOME/dev' &&
			mknod -m 0666 '$CUSTODY_HOME/dev/fuse' c 10 229 && mount --bind '$CUSTODY_HOME/dev/fuse' /dev/fuse && exec \"\$@\"" bash "${CUSTODY_AS[@]}")
	fi
	fuse_begin
}

fuse_begin() {
	skip_without HOST-FUSE-OVERLAYFS
	profile p '"workspace":{"overlay":"fuse"}'
	"${CUSTODY_AS[@]}" sh -c 'echo original >file; mkdir -p dir/sub shut; echo a >dir/a; echo b >dir/sub/b; echo gone >gone
		echo moved >moved; echo shut >shut/file; chmod 555 shut'
}

# profile NAME MEMBERS: for root and for users, who have no cgroup.
profile() {
	printf '{"schema":1,"name":"%s","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]},%s}' "$1" "$2" \
		>"$CUSTODY_HOME/$1.json"
	chmod 0644 "$CUSTODY_HOME/$1.json"
	[ "${#CUSTODY_AS[@]}" -eq 0 ] || [ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$CUSTODY_HOME/$1.json"
}

teardown() {
	custody_teardown
}

custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

fuse_run() {
	custody_run --profile "$CUSTODY_HOME/p.json" "$@"
}

session() {
	custody_result .session
}

is_gone() { # PID: a zombie is, too: who collects orphans is not custody's business
	[ ! -e "/proc/$1/stat" ] || grep -q ') Z ' "/proc/$1/stat"
}

no() { # CMD...: must fail
	if "$@"; then
		custody_fail "this should not be: $*"
	fi
}

# Names, types, modes, links and bytes of the worktree.
portrait() {
	find . -printf '%P %y %m %l\n' | LC_ALL=C sort
	find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
}

# started WORD CMD...: a run in the background, when it has printed WORD: SUP is its supervisor, KEEPER the monitor, SERVER the server.
started() {
	local word=$1 line
	shift
	mkfifo "$CUSTODY_HOME/said"
	chmod 0666 "$CUSTODY_HOME/said"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$CUSTODY_HOME/p.json" "$@" >"$CUSTODY_HOME/said" 2>"$CUSTODY_HOME/err" </dev/null 3>&- &
	SUP=$!
	read -r line <"$CUSTODY_HOME/said"
	[ "$line" = "$word" ] || custody_fail "it said '$line': $(cat "$CUSTODY_HOME/err")"
	KEEPER=$(pgrep -P "$SUP" -x custody-overlay)
	SERVER=$(pgrep -P "$KEEPER" -x fuse-overlayfs)
}

# --- changes: the same for root and for users --------------------------------------------------------------------------

changed_and_reviewed() {
	local before after id
	before=$(portrait)
	fuse_run -- sh -c 'grep " $PWD " /proc/self/mountinfo >mounted
		echo changed >file; rm gone; mv moved there; rm -r dir; mkdir dir; echo new >dir/new; echo more >>shut/file
		ln -s file link; chmod 600 mounted; find . ! -name . | LC_ALL=C sort'
	assert_status 0
	assert_layer worktree
	assert_output_has ./dir/new
	[ "$(portrait)" = "$before" ]
	id=$(session)
	[ "$(custody show "$id" --json | jq -r .session.workspace)" = overlay-fuse ]
	[ "$(jq -r --arg s "$id" 'select(.session == $s and .k == "session.intent") | .d.overlay' "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson)" = fuse ]

	run --separate-stderr custody diff "$id"
	[ "$status" -eq 0 ]
	for line in 'deleted  dir/a (file)' 'deleted  dir/sub (directory)' 'deleted  dir/sub/b (file)' 'deleted  gone (file)' \
		'renamed  moved => there' 'rename to there' '+++ b/dir/new' '+changed' '+more'; do
		assert_output_has "$line"
	done
	# Entries that fuse-overlayfs writes for itself are no changes.
	[[ $output != *.wh.* ]] || custody_fail 'a mark of fuse-overlayfs is told as a change'

	run --separate-stderr custody apply "$id"
	assert_status 0
	grep -q ' - fuse.fuse-overlayfs ' mounted
	[ "$(stat -c %a mounted)" = 600 ]
	grep -q 'nosuid,nodev' mounted
	rm mounted
	after=$(find . ! -name . | LC_ALL=C sort | tr '\n' ' ')
	[ "$after" = './dir ./dir/new ./file ./link ./shut ./shut/file ./there ' ] || custody_fail "there is: $after"
	[ "$(cat file there dir/new shut/file)" = "changed
moved
new
shut
more" ]
	[ -z "$(getfattr -R -d -m - . 2>/dev/null)" ]
	[ "$(stat -c %u file)" = "$(stat -c %u .)" ]
	[ -z "$(sessions_left)" ]
}

@test "ISO-3: fuse: changes of a run are shown and applied: deletions, a replaced directory, a rename" {
	changed_and_reviewed
}

@test "ISO-3: fuse: rootless: changes of a run are shown and applied" {
	as_user
	changed_and_reviewed
}

discarded() {
	local before id
	before=$(portrait)
	fuse_run -- sh -c 'rm -r dir file; mkdir file; echo x >file/x'
	assert_status 0
	id=$(session)
	run --separate-stderr custody discard "$id" --yes
	[ "$status" -eq 0 ] || run --separate-stderr custody discard "$id"
	assert_status 0
	[ "$(portrait)" = "$before" ]
	run --separate-stderr custody diff "$id"
	[ "$status" -ne 0 ]
	# And a run that changes nothing keeps nothing.
	fuse_run -- cat file
	assert_status 0
	[ "$output" = original ]
	[ "$(custody show "$(session)" --json | jq -r '.session.changed // false')" = false ]
}

@test "ISO-3: fuse: discarded changes are removed, and the original is as before" {
	discarded
}

@test "ISO-3: fuse: rootless: discarded changes are removed, and the original is as before" {
	as_user
	discarded
}

@test "ISO-3: GOV-9: fuse: a sealed command runs from its copy, and the tree's is never written" {
	printf '#!/bin/sh\necho sealed; echo changed >script; cat script\n' >script
	chmod 755 script
	fuse_run -- ./script
	assert_status 0
	[ "$output" = "sealed
changed" ]
	[ "$(wc -l <script)" = 2 ]
}

# --- evidence ----------------------------------------------------------------------------------------------------------

crashed() {
	local dir
	# A device 0:0 is what fuse-overlayfs shows an empty directory for, once; and modes are no hiding place either.
	fuse_run -- sh -c 'echo broken >broken; mkdir -p deep/er; echo x >deep/er/x; chmod 000 deep/er/x; rm gone
		mknod deep/w c 0 0 2>/dev/null; mknod w c 0 0 2>/dev/null; kill -9 $$'
	assert_status 137
	assert_reason signaled
	assert_evidence broken
	assert_evidence deep/er/x
	assert_evidence dir/sub/b
	dir=$(custody_result .evidence)
	[ ! -e "$dir/worktree/gone" ]
	[ "$(jq -r .scope "$dir/metadata.json")" = all ]
	[ "$(jq -r 'select(.p == "dir/a") | .sha256' "$dir/manifest.ndjson")" = "$(sha256sum dir/a | cut -d' ' -f1)" ]
	custody evidence verify "$(session)" >/dev/null
	run --separate-stderr custody evidence diff "$(session)"
	assert_output_has broken
	[[ $output != *.wh.* ]] || custody_fail 'a mark of fuse-overlayfs is told as a change'
}

@test "ISO-5: fuse: the whole tree of a crashed run is captured" {
	crashed
}

@test "ISO-5: fuse: rootless: the whole tree of a crashed run is captured" {
	as_user
	crashed
}

@test "ISO-5: fuse: of a run that failed the changes are captured, without the marks of fuse-overlayfs" {
	fuse_run -- sh -c 'rm -r dir; mkdir dir; echo new >dir/new; exit 3'
	assert_status 3
	assert_evidence dir/new
	[ "$(jq -r .scope "$(custody_result .evidence)/metadata.json")" = changes ]
	run --separate-stderr custody evidence diff "$(session)"
	assert_output_has dir/a
	assert_output_has dir/new
	[[ $output != *.wh.* ]] || custody_fail 'a mark of fuse-overlayfs is told as a change'
}

# --- life time ---------------------------------------------------------------------------------------------------------

killed_and_recovered() {
	local id
	started ready -- sh -c 'echo new >new; rm gone; echo ready; exec sleep 1000'
	id=$(custody sessions --json | jq -r '.sessions[0].session')
	kill -9 "$SUP"
	wait "$SUP" || true
	wait_until is_gone "$KEEPER"
	wait_until is_gone "$SERVER"
	run --separate-stderr custody recover
	assert_status 0
	[ "$(cat "$CUSTODY_ROOT/forensics/$id/worktree/new")" = new ]
	[ -z "$(sessions_left)" ]
	no grep -q fuse-overlayfs /proc/self/mountinfo
	[ ! -e new ]
	[ -e gone ]
	custody ledger verify >/dev/null
}

@test "ISO-7: fuse: a supervisor killed with -9 leaves no process and no mount; recover keeps the changes" {
	killed_and_recovered
}

@test "ISO-7: fuse: rootless: a supervisor killed with -9 leaves no process and no mount" {
	as_user
	killed_and_recovered
}

@test "ISO-7: fuse: no server process is left when a run is over, however it ends" {
	started ready -- sh -c 'echo new >new; echo ready; exec sleep 1000'
	kill -TERM "$SUP"
	wait "$SUP" || true
	is_gone "$KEEPER"
	is_gone "$SERVER"
	[ -z "$(sessions_left)" ]
}

@test "ISO-4: fuse: a server that dies makes the worktree unusable: the run fails and its changes are kept as evidence" {
	local rc=0 id
	started ready -- sh -c 'echo new >new; echo ready; while cat file >/dev/null 2>&1; do :; done; exit 0'
	id=$(custody sessions --json | jq -r '.sessions[0].session')
	kill -9 "$SERVER"
	wait "$SUP" || rc=$?
	[ "$rc" -ne 0 ]
	grep -q "fuse-overlayfs, which serves the worktree's overlay, exited: killed by signal 9" "$CUSTODY_HOME/err"
	is_gone "$KEEPER"
	[ "$(cat "$CUSTODY_ROOT/sandbox/sessions/$id/u/new")" = new ]
}

@test "ISO-7: fuse: a server that does not answer any more is given up, and the run ends" {
	local rc=0
	started ready -- sh -c 'echo new >new; echo ready; exec sleep 1000'
	kill -STOP "$SERVER"
	kill -TERM "$SUP"
	wait "$SUP" || rc=$?
	[ "$rc" -eq 143 ]
	grep -q 'stopped responding' "$CUSTODY_HOME/err"
	is_gone "$KEEPER"
	wait_until is_gone "$SERVER"
	[ -z "$(sessions_left)" ]
}

# --- rights ------------------------------------------------------------------------------------------------------------

confined() {
	local ns
	started ready -- sh -c 'echo ready; exec sleep 1000'
	for ns in mnt pid net ipc uts user; do
		[ "$(readlink "/proc/$SERVER/ns/$ns")" != "$(readlink "/proc/self/ns/$ns")" ] || custody_fail "it is in the host's $ns namespace"
	done
	# One capability, over the files of one id.
	[ "$(awk '/^Cap(Prm|Eff|Bnd|Inh|Amb)/ { print $2 }' "/proc/$SERVER/status" | sort -u)" = 0000000000000002 ]
	[ "$(awk '{ print $3 }' "/proc/$SERVER/uid_map")" = 1 ]
	grep -q '^NoNewPrivs:[[:space:]]1$' "/proc/$SERVER/status"
	grep -q '^Seccomp:[[:space:]]2$' "/proc/$SERVER/status"
	[ "$(awk '/^Uid:/ { print $2 }' "/proc/$SERVER/status")" != 0 ]
	# No files of the caller, and of the host only programs and the overlay's directories.
	[ "$(readlink "/proc/$SERVER/fd/0" "/proc/$SERVER/fd/1" "/proc/$KEEPER/fd/2" | sort -u)" = /dev/null ]
	no grep -F "$CUSTODY_HOME" <(readlink "/proc/$SERVER"/fd/* "/proc/$KEEPER"/fd/*)
	[ "$(ls "/proc/$SERVER/root/" | LC_ALL=C sort | grep -v '^lib' | tr '\n' ' ')" = "l lower proc usr " ]
	[ "$(awk '$5 == "/lower" || $5 == "/" || $5 == "/usr" { print substr($6, 1, 2) }' "/proc/$SERVER/mountinfo" | sort -u)" = ro ]
	kill -TERM "$SUP"
	wait "$SUP" || true
}

@test "ISO-3: fuse: the server of the file system has no more privileges than the container" {
	confined
	[ "$(find "$CUSTODY_ROOT/sandbox/sessions" -mindepth 1 -maxdepth 1 -user root | wc -l)" = 1 ]
}

@test "ISO-3: fuse: rootless: the server of the file system has no more privileges than the container" {
	as_user
	confined
}

# proven MODE MOUNT: what custody-init says of the mount that the shell text MOUNT makes on m, in namespaces of its own.
proven() {
	rm -rf "$CUSTODY_HOME/i"
	mkdir -p "$CUSTODY_HOME/i"/{l,u,w,m}
	run --separate-stderr unshare --mount --pid --fork --kill-child --mount-proc --propagation private bash -c \
		'cd "$1" && eval "$2" >/dev/null 2>&1 && exec "$3" --require=worktree --work="$1/m:$4" -- /bin/echo it-ran' bash \
		"$CUSTODY_HOME/i" "$2" "$INIT" "$1"
}

@test "ISO-1: fuse: init accepts fuse-overlayfs as an overlay only if it is configured" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	local options='nosuid,nodev,lowerdir=l,upperdir=u,workdir=w'
	INIT=${CUSTODY_LIBEXEC:-$(dirname "$(readlink -f "$CUSTODY")")/../libexec/custody}/custody-init
	proven overlay-fuse "fuse-overlayfs -o $options m"
	assert_status 0
	[ "$output" = it-ran ]
	proven overlay "fuse-overlayfs -o $options m"
	assert_status 125
	assert_stderr_has 'is not an overlay: fuse.fuse-overlayfs'
	proven overlay-fuse "mount -t overlay none -o $options m"
	assert_status 125
	assert_stderr_has 'is not fuse-overlayfs: overlay'
	# Where set-id programs or devices would work it is no worktree either.
	proven overlay-fuse "fuse-overlayfs -o ${options#nosuid,} m"
	assert_status 125
	assert_stderr_has 'is not nosuid,nodev'
}

@test "ISO-13: fuse: the disk limit holds, for files without a name as well" {
	profile p '"limits":{"disk":"1M"},"workspace":{"overlay":"fuse"}'
	fuse_run -- sh -c 'i=0; while :; do i=$((i + 1)); head -c 200000 /dev/zero >"f$i" || exit; done'
	assert_reason disk-limit
	assert_layer disk-limit
	fuse_run -- sh -c 'i=3; while [ $i -lt 9 ]; do eval "exec $i>big"; rm big; head -c 400000 /dev/zero >&$i; i=$((i + 1)); done; exec sleep 1000'
	assert_reason disk-limit
}

# --- refusals ----------------------------------------------------------------------------------------------------------

nothing_ran() {
	assert_status 125
	[[ $output != *it-ran* ]] || custody_fail 'it ran'
	[ "$(jq -r 'select(.k == "session.refused") | .d.kind // .d.id // .d.reason' "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson | wc -l)" -ge 1 ]
	[ -z "$(sessions_left)" ]
}

@test "ISO-3: fuse: without the program nothing runs, and the refusal names the package" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	CUSTODY_AS=("${IN_OWN_MOUNTS[@]}" 'mount --bind /dev/null /usr/bin/fuse-overlayfs && exec "$@"' bash)
	fuse_run -- echo it-ran
	assert_stderr_has 'apt install fuse-overlayfs'
	nothing_ran
	# No other backend needs it.
	custody_run -- grep -c " $PWD .* - overlay " /proc/self/mountinfo
	assert_status 0
	[ "$output" = 1 ]
}

@test "ISO-3: fuse: without the device nothing runs, and the refusal has the fix" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	CUSTODY_AS=("${IN_OWN_MOUNTS[@]}" 'mount --bind /dev/null /dev/fuse && exec "$@"' bash)
	fuse_run -- echo it-ran
	assert_stderr_has '/dev/fuse'
	assert_stderr_has 'apt install fuse-overlayfs'
	nothing_ran
}

@test "ISO-3: fuse: a user without access to the device gets a message" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	suite_setup_user
	profile p '"workspace":{"overlay":"fuse"}'
	CUSTODY_AS=("${IN_OWN_MOUNTS[@]}" "mkdir '$CUSTODY_HOME/dev' && mount -t tmpfs none '$CUSTODY_HOME/dev' &&
		mknod -m 0600 '$CUSTODY_HOME/dev/fuse' c 10 229 && mount --bind '$CUSTODY_HOME/dev/fuse' /dev/fuse && exec \"\$@\"" bash "${CUSTODY_AS[@]}")
	fuse_run -- echo it-ran
	assert_stderr_has 'chmod 0666 /dev/fuse'
	nothing_ran
}

@test "ISO-3: fuse: without kernel support the refusal names the key that helps; with it deletions are marked differently, and are read" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	# The kernel takes no overlay for an upper layer, and no device 0:0 can be made on one.
	CUSTODY_AS=("${IN_OWN_MOUNTS[@]}" "cd '$CUSTODY_HOME' && mkdir -p s && mount -t tmpfs none s && mkdir s/l s/u s/w && cp -a root s/l/ &&
		mount -t overlay none -o lowerdir=s/l,upperdir=s/u,workdir=s/w s && mount --bind s/root root && cd work && exec \"\$@\"" bash)
	custody_run -- echo it-ran
	assert_status 125
	[[ $output != *it-ran* ]]
	assert_stderr_has '"workspace": {"overlay": "fuse"}'
	assert_stderr_has 'apt install fuse-overlayfs'
	run --separate-stderr "${CUSTODY_AS[@]}" bash -c '"$CUSTODY" run --profile "$CUSTODY_HOME/p.json" -- sh -c "rm gone; rm -r dir; mkdir dir; echo new >dir/new; mv moved there" &&
		id=$("$CUSTODY" sessions --all --json | jq -r ".sessions[0].session") && find "$CUSTODY_ROOT/sandbox/sessions/$id/u" -name ".wh.*" | wc -l &&
		"$CUSTODY" diff "$id" | grep -cE "^(deleted|renamed)  " && "$CUSTODY" apply "$id" >/dev/null'
	assert_status 0
	# gone, moved and the replaced directory; gone, moved and three in the directory
	[ "${lines[0]}" -ge 3 ]
	[ "${lines[1]}" = 5 ]
	[ "$(find . ! -name . | LC_ALL=C sort | tr '\n' ' ')" = './dir ./dir/new ./file ./shut ./shut/file ./there ' ]
	[ "$(cat there)" = moved ]
}

@test "ISO-3: fuse: it is not started unless it is configured" {
	profile p '"workspace":{"overlay":"kernel"}'
	mkfifo "$CUSTODY_HOME/said"
	"$CUSTODY" run --profile "$CUSTODY_HOME/p.json" -- sh -c 'grep -c " $PWD .* - overlay " /proc/self/mountinfo; exec sleep 1000' \
		>"$CUSTODY_HOME/said" 2>"$CUSTODY_HOME/err" </dev/null 3>&- &
	local sup=$! line
	read -r line <"$CUSTODY_HOME/said"
	[ "$line" = 1 ]
	no pgrep -P "$sup" -x custody-overlay
	kill -TERM "$sup"
	wait "$sup" || true
	[ "$(custody show "$(custody sessions --all --json | jq -r '.sessions[0].session')" --json | jq -r .session.workspace)" = overlay ]
}

@test "ISO-3: fuse: a profile of the worktree needs trust for it" {
	mkdir -p .custody/profiles
	printf '{"schema":1,"name":"mine","extends":"offline","workspace":{"overlay":"fuse"}}' >mine.json
	custody_run --profile ./mine.json -- echo it-ran
	assert_stderr_has 'custody profile trust'
	[[ $output != *it-ran* ]]
}

@test "ISO-3: fuse: without an overlay, a user namespace or a supervisor it is refused by name" {
	profile p '"workspace":{"overlay":"fuse","mode":"ro"}'
	fuse_run -- echo it-ran
	assert_stderr_has "'workspace.overlay' is fuse, but 'workspace.mode' is ro"
	nothing_ran
	profile p '"workspace":{"overlay":"fuse"},"dangerous":["no-user-namespace"]'
	fuse_run -- echo it-ran
	assert_stderr_has 'which needs the user namespace'
	nothing_ran
	profile p '"workspace":{"overlay":"fuse"}'
	run --separate-stderr custody bundle -o "$CUSTODY_HOME/b" --profile "$CUSTODY_HOME/p.json" -- true
	[ "$status" -ne 0 ]
	assert_stderr_has "'workspace.overlay' fuse"
	[ ! -e "$CUSTODY_HOME/b" ]
}

@test "ISO-3: fuse: the digest and the card name the overlay implementation" {
	local kernel fuse
	profile k '"workspace":{"overlay":"kernel"}'
	kernel=$(custody check --json --profile "$CUSTODY_HOME/k.json" -- true | jq -r .subject.worktree.mode)
	fuse=$(custody check --json --profile "$CUSTODY_HOME/p.json" -- true | jq -r .subject.worktree.mode)
	[ "$kernel $fuse" = 'overlay overlay-fuse' ]
}

@test "ISO-16: fuse: doctor reports whether it is available" {
	run --separate-stderr custody doctor --json
	[ "$(jq -r '.checks[] | select(.id == "HOST-FUSE-OVERLAYFS") | .state' <<<"$output")" = ok ]
	[ "$(id -u)" -ne 0 ] || {
		CUSTODY_AS=("${IN_OWN_MOUNTS[@]}" 'mount --bind /dev/null /usr/bin/fuse-overlayfs && exec "$@"' bash)
		run --separate-stderr custody doctor --json
		[ "$(jq -r '.checks[] | select(.id == "HOST-FUSE-OVERLAYFS") | "\(.state) \(.remedy)"' <<<"$output")" = 'missing apt install fuse-overlayfs' ]
	}
}
