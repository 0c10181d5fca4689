# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What our own suites share, on top of contrib/bats/custody.bash:
#
#	load ../lib/suite.bash
#	setup() { suite_setup; }	# or suite_setup_user: the same as an ordinary user
#	teardown() { custody_teardown; }

# shellcheck source=contrib/bats/custody.bash
source "$(dirname "${BASH_SOURCE[0]}")/../../contrib/bats/custody.bash"
# shellcheck source=tests/lib/leftovers.bash
source "$(dirname "${BASH_SOURCE[0]}")/leftovers.bash"

# An id that is in no passwd and no subuid file: rootless runs then have exactly one id to map.
SUITE_UID=${SUITE_UID:-64321}

suite_setup() {
	CUSTODY_AS=()
	custody_setup && suite_make_ledger
}

# As an admin does who keeps the first seal key elsewhere.
suite_make_ledger() {
	"${CUSTODY_AS[@]}" "$CUSTODY" ledger init >/dev/null
}

# suite_ungoverned [JSON]: for tests that are about something else than approval.  They have no terminal, so their runs
# would not count as explicit, and any that can write to the host would need an approver: here the admin's rule makes this
# user's runs explicit and needs no approval.  Commands that no configuration allows (rm -rf /) stay refused.
suite_ungoverned() {
	local uid
	SUITE_UNGOVERNED=1 # and stay so for another user
	uid=$("${CUSTODY_AS[@]}" id -u) && mkdir -p "$CUSTODY_ROOT/etc" || return
	jq -n --argjson uid "$uid" --argjson more "${1:-{\}}" '{provenance: [{uid: $uid, intention: "explicit"}],
		governance: {security_profile: "off"},
		rules: [{effect: "allow", network: "none"}, {effect: "allow", network: "host"}]} + $more' >"$CUSTODY_ROOT/etc/custody.json"
}

# As root: everything custody does from here on is done by SUITE_UID, without groups and capabilities, with a HOME
# of its own.  As a user: as that user.
suite_setup_user() {
	custody_setup || return
	mkdir "$CUSTODY_HOME/home" "$CUSTODY_HOME/xdg"
	chmod 0700 "$CUSTODY_HOME/xdg"
	CUSTODY_AS=(env -u CUSTODY_ROOT "HOME=$CUSTODY_HOME/home" "XDG_RUNTIME_DIR=$CUSTODY_HOME/xdg" "CUSTODY_ROOT=$CUSTODY_ROOT")
	if [ "$(id -u)" -eq 0 ]; then
		CUSTODY_AS=(setpriv --reuid "$SUITE_UID" --regid "$SUITE_UID" --clear-groups --inh-caps=-all "${CUSTODY_AS[@]}")
		chown -R "$SUITE_UID:$SUITE_UID" "$CUSTODY_HOME"
	fi
	suite_make_ledger
	[ -z "${SUITE_UNGOVERNED:-}" ] || suite_ungoverned
}

# as_user: from here on an ordinary user, with what the suite's own function `prepare` makes.
as_user() {
	custody_teardown
	suite_setup_user
	prepare
}

# own PATH...: they belong to the user of the test.
own() {
	[ "${#CUSTODY_AS[@]}" -eq 0 ] || [ "$(id -u)" -ne 0 ] || chown -R "$SUITE_UID:$SUITE_UID" "$@"
}

# stderr_rest: $stderr without the line about limits for which this host gives the user no cgroup.
stderr_rest() {
	grep -vE '^custody: without [a-z, -]*-limit: ' <<<"$stderr" || true
}

# suite_profile NAME JSON: a profile that extends offline; PROFILE is its file.
suite_profile() {
	PROFILE=$CUSTODY_HOME/$1.json
	jq -n --arg name "$1" --argjson body "$2" '{schema: 1, name: $name, extends: "offline"} + $body' >"$PROFILE"
}

# suite_channel PATH: a profile (PROFILE) that may mount the socket or FIFO at PATH, and approval for any run with it.
suite_channel() {
	suite_ungoverned
	suite_profile channel "$(jq -n --arg path "$1" '{filesystem: {channels: [$path]}}')"
}

# run_without_cgroups WORDS...: `custody run WORDS` where no cgroup file system is mounted.  Needs root.
run_without_cgroups() {
	# shellcheck disable=SC2016 # expanded inside
	run --separate-stderr unshare -m sh -c 'umount -R /sys/fs/cgroup || exit 99
		exec "$CUSTODY" run "$@"' sh "$@"
}

# suite_started PID...: waits for runs in the background and sets STARTED to how many ran; the others were refused with 114.
suite_started() {
	local pid
	STARTED=0
	for pid; do
		if wait "$pid"; then STARTED=$((STARTED + 1)); else [ $? -eq 114 ]; fi
	done
}

# sessions_left [DIR]: sessions of which anything is left but their note, in the runtime directory and the lanes' states.
sessions_left() {
	find "${1:-$CUSTODY_ROOT}"/{run,sandbox,prod}/sessions -mindepth 1 -maxdepth 1 2>/dev/null | while read -r dir; do
		custody_is_over "$dir" || echo "$dir"
	done
}

# wait_until CMD...: until CMD succeeds; fails after 60 s, which only a failure waits for.  For conditions without
# an event.
wait_until() {
	local end=$((SECONDS + 60))
	until "$@"; do
		if [ "$SECONDS" -ge "$end" ]; then
			echo "waited 60 s in vain for: $*" >&2
			return 1
		fi
		sleep 0.02
	done
}

# suite_gate POINT WORDS... --- CMD...: CMD when `custody run WORDS` has come to POINT (tests/lib/seam-points), and only
# then does it continue.  $status is its exit status; its output is in $CUSTODY_HOME/out and err.
suite_gate() {
	local point=$1 gate=$CUSTODY_HOME/gate words=() pid in
	shift
	while [ "$1" != --- ]; do
		words+=("$1")
		shift
	done
	shift
	rm -f "$gate"
	mkfifo "$gate"
	exec {in}<&0
	CUSTODY_SEAM=$point CUSTODY_SEAM_DO=wait CUSTODY_SEAM_GATE=$gate \
		"${CUSTODY_BUILD:?a finished build directory}/tests/custody-seamed" run "${words[@]}" \
		<&"$in" >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" 3>&- &
	pid=$!
	exec {in}<&-
	if ! timeout 60 head -n 1 "$gate" >/dev/null; then
		kill -9 "$pid" 2>/dev/null || true
		custody_fail "it never came to $point: $(cat "$CUSTODY_HOME/err")"
		return
	fi
	"$@"
	echo >"$gate"
	status=0
	wait "$pid" || status=$?
}

# sample N: N of the lines on stdin, always the same ones; all of them with CUSTODY_TEST_FULL=1.
sample() {
	if [ "${CUSTODY_TEST_FULL:-0}" = 1 ]; then
		cat
	else
		shuf -n "$1" --random-source=<(yes "${CUSTODY_TEST_SEED:-1}")
	fi
}

# suite_end_deliveries: who still tries to deliver evidence of this test, now and then, need not try any more.
suite_end_deliveries() {
	local pid
	# Also the one that has not got its own name yet.
	for pid in $(pgrep '^custody'); do
		if grep -qzsxF "CUSTODY_HOME=$CUSTODY_HOME" "/proc/$pid/environ" || grep -qsF " $CUSTODY_HOME/" "/proc/$pid/mountinfo"; then
			kill -9 "$pid" 2>/dev/null || true
		fi
	done
}

# on_file_system NAME CMD...: CMD in a mount namespace in which $CUSTODY_HOME/fs is an empty one of that kind.
on_file_system() {
	local kind=$1
	shift
	mkdir "$CUSTODY_HOME/fs"
	truncate -s 400M "$CUSTODY_HOME/disk"
	case $kind in
	ext4) mkfs.ext4 -q "$CUSTODY_HOME/disk" ;;
	xfs) mkfs.xfs -q "$CUSTODY_HOME/disk" ;;
	btrfs) mkfs.btrfs -q "$CUSTODY_HOME/disk" >/dev/null 2>&1 ;;
	esac
	# The attempt also loads a kernel module.
	if ! unshare -m mount -t "$kind" -o "$([ "$kind" = tmpfs ] || echo loop)" "$CUSTODY_HOME/disk" "$CUSTODY_HOME/fs" 2>/dev/null &&
		! grep -qw "$kind" /proc/filesystems; then
		skip "this kernel has no $kind"
	fi
	unshare -m bash -ec 'mount --make-rprivate /
		if [ "$1" = tmpfs ]; then mount -t tmpfs tmpfs "$2/fs"; else mount -o loop "$2/disk" "$2/fs"; fi
		shift 2; exec "$@"' bash "$kind" "$CUSTODY_HOME" "$@"
}
