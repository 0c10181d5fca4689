#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# Attacks on `custody exec`: by the processes of the session on the command that joins it, and on the supervisor's socket.

load ../lib/suite.bash

setup() {
	suite_setup
	suite_ungoverned
	PIDS=()
}

teardown() {
	local id
	for id in "$CUSTODY_ROOT"/run/sessions/*; do
		custody stop "${id##*/}" --time 0 >/dev/null 2>&1 || true
	done
	[ "${#PIDS[@]}" -eq 0 ] || kill -9 "${PIDS[@]}" 2>/dev/null || true
	custody_teardown
}

as_user() {
	custody_teardown
	suite_setup_user
}

custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

asked() {
	local want=$1
	shift
	run --separate-stderr "${CUSTODY_AS[@]}" setsid --wait "$CUSTODY" "$@" </dev/null
	assert_status "$want"
}

# session [WORDS...]: $ID.
session() {
	suite_profile weak '{"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
	[ "${#CUSTODY_AS[@]}" -eq 0 ] || [ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$PROFILE"
	[ $# -gt 0 ] || set -- sleep 1000
	asked 0 run -d --profile "$PROFILE" -- "$@"
	ID=$output
	[[ $ID =~ ^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$ ]] || custody_fail "no id: '$ID'"
}

logged() { # TEXT
	custody logs "$ID" | grep -qF -- "$1"
}

no_process() { # PATTERN
	! pgrep -f -- "$1" >/dev/null
}

still_runs() {
	asked 0 exec "$ID" -- echo alive
	[ "$output" = alive ]
}

# held POINT [OPTIONS] -- WORDS... --- CMD...: CMD while `custody exec OPTIONS $ID -- WORDS` waits at POINT; then it goes on, and $status is its own.
held() {
	local point=$1 gate=$CUSTODY_HOME/gate words=() pid seamed=$CUSTODY_HOME/custody-seamed
	shift
	while [ "$1" != --- ]; do
		[ "$1" != -- ] || words+=("$ID")
		words+=("$1")
		shift
	done
	shift
	[ -e "$seamed" ] || cp "${CUSTODY_BUILD:?a finished build directory}/tests/custody-seamed" "$seamed"
	rm -f "$gate"
	mkfifo -m 0666 "$gate"
	CUSTODY_SEAM=$point CUSTODY_SEAM_DO=wait CUSTODY_SEAM_GATE=$gate \
		"${CUSTODY_AS[@]}" "$seamed" exec "${words[@]}" </dev/null >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" 3>&- &
	pid=$!
	PIDS+=("$pid")
	timeout 60 head -n 1 "$gate" >/dev/null || custody_fail "it never came to $point: $(cat "$CUSTODY_HOME/err")"
	"$@"
	echo >"$gate"
	status=0
	wait "$pid" || status=$?
}

@test "ISO-3: exec: a working directory that the payload replaced by a link is refused" {
	local target
	session sh -c 'mkdir a; echo ready; exec sleep 1000'
	wait_until logged ready
	for target in /proc/self/fd /proc/self/fd/3 /proc/1/cwd / /tmp /usr ../a/../../.. /proc/1/fd/9; do
		asked 0 exec "$ID" -- sh -c 'rm -rf build; mkdir -p b; ln -sfn "$1" build' sh "$target"
		asked 125 exec -w build "$ID" -- sh -c 'touch /tmp/ran; echo ran'
		assert_stderr_has "layer 'working-directory' is missing"
		[ -z "$output" ] || custody_fail "it ran: $output"
	done
	asked 0 exec "$ID" -- test ! -e /tmp/ran
	[ "$(custody ledger export --kind exec.refused 2>/dev/null | jq -r .d.refused | sort -u)" = setup-failed ]
	# The session's own directory, replaced: no command starts elsewhere.
	asked 0 exec -w /tmp "$ID" -- mkdir moved
	asked 0 exec -w /tmp "$ID" -- pwd
	[ "$output" = /tmp ]
}

# Run by a process of the session, as the payload could: everything that reaches into another process of the same user.
LOOK='
import ctypes, errno, os, sys
c = ctypes.CDLL(None, use_errno=True)
me = os.getpid()
found = []
for name in os.listdir("/proc"):
    if not name.isdigit() or int(name) == me:
        continue
    pid = int(name)
    # The children of init that are init itself.
    if open(f"/proc/{pid}/stat").read().split(")")[0].split("(")[1] != "init" or pid == 1:
        continue
    found.append(pid)
    for file in ("environ", "mem", "maps", "auxv", "syscall", "stack"):
        try:
            print("READ", file, len(open(f"/proc/{pid}/{file}", "rb").read(64)))
        except OSError as e:
            print(file, errno.errorcode[e.errno])
    # The numbers of the descriptors are visible to root of the user namespace, nothing behind them is.
    for link in ("exe", "cwd", "root", "ns/pid", "fd/0", "fd/1", "fd/3"):
        for call in (os.readlink, open):
            try:
                print("READ", link, call(f"/proc/{pid}/{link}"))
            except OSError as e:
                print(link, errno.errorcode[e.errno])
    try:
        open(f"/proc/{pid}/exe", "r+b")
        print("WROTE exe")
    except OSError as e:
        print("write exe", errno.errorcode[e.errno])
    for call, args in (("ptrace", (16, pid, 0, 0)), ("ptrace", (0x4206, pid, 0, 0))):
        if c[call](*args) >= 0:
            print("TRACED")
    pidfd = c.syscall(434, pid, 0)
    if pidfd >= 0 and c.syscall(438, pidfd, 3, 0) >= 0:
        print("TOOK the socket")
    buf = ctypes.create_string_buffer(8)
    class V(ctypes.Structure):
        _fields_ = [("b", ctypes.c_void_p), ("n", ctypes.c_size_t)]
    if c.process_vm_readv(pid, ctypes.byref(V(ctypes.addressof(buf), 8)), 1, ctypes.byref(V(0x400000, 8)), 1, 0) >= 0:
        print("READ memory")
print("joining:", len(found))
'

look() {
	asked 0 exec "$ID" -- python3 -c "$LOOK"
	LOOKED=$output
}

unreachable() {
	session
	held exec-consumed -e SECRET=of-the-caller -- sh -c 'echo "ran $SECRET"' --- look
	[ "$status" -eq 0 ] || custody_fail "$status: $(cat "$CUSTODY_HOME/err"); $LOOKED"
	[ "$(cat "$CUSTODY_HOME/out")" = "ran of-the-caller" ]
	# Its own parent and the one that waits.
	grep -qx 'joining: 2' <<<"$LOOKED" || custody_fail "$LOOKED"
	! grep -E '^(READ|WROTE|TRACED|TOOK)' <<<"$LOOKED" || custody_fail "reached: $LOOKED"
	grep -qx 'environ EACCES' <<<"$LOOKED"
	grep -qxE 'write exe (EACCES|EPERM)' <<<"$LOOKED"
}

@test "ISO-3: exec: the process that joins cannot be read, traced or robbed of its descriptors" {
	unreachable
}

@test "ISO-3: exec: the process that joins cannot be read, traced or robbed of its descriptors, as a user" {
	as_user
	unreachable
}

kill_joining() {
	asked 0 exec "$ID" -- sh -c 'for p in /proc/[0-9]*; do read -r c <"$p/comm"; [ "$c" != init ] || [ "${p#/proc/}" = 1 ] || [ "${p#/proc/}" = "$(cut -d " " -f 4 /proc/$$/stat)" ] || kill -9 "${p#/proc/}"; done 2>/dev/null; :'
}

@test "GOV-15: exec: a payload that kills the process that joins stops the command, and gets nothing else" {
	session
	held exec-passed -- sh -c 'touch ran; echo ran' --- kill_joining
	[ "$status" -eq 125 ]
	grep -q "nothing was executed" "$CUSTODY_HOME/err"
	held payload-started -- sleep 4330 --- kill_joining
	[ "$status" -eq 125 ]
	still_runs
	asked 0 exec "$ID" -- ls
	[ -z "$output" ]
	wait_until no_process '^sleep 4330'
	asked 0 ledger verify
}

@test "GOV-15: exec: descriptors, directory and variables of the caller do not enter" {
	session
	CUSTODY_AS=(env CALLER_SECRET=hunter2)
	asked 0 exec "$ID" -- sh -c 'echo "${CALLER_SECRET-unset}"; ls /proc/self/fd | tr "\n" " "; pwd' 7</etc 8</etc/passwd 9<"$CUSTODY_ROOT"
	[ "$(paste -sd ' ' <<<"$output")" = "unset 0 1 2 3 $PWD" ]
}

# talk MODE: a process that connects to the supervisor's socket and does not speak the protocol.
TALK='
import os, socket, sys
os.chdir(sys.argv[1])
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(20)
try:
    s.connect("exec")
    mode = sys.argv[2]
    if mode == "garbage":
        s.send(os.urandom(700))
    elif mode == "short":
        s.send(b"TSUC")
    elif mode == "fds":
        socket.send_fds(s, [b"TSUC\4\0\0\0" + bytes(500)], [0, 1, 2])
    elif mode == "many":
        socket.send_fds(s, [b"TSUC\4\0\0\0" + bytes(500)], [0] * 6)
    elif mode == "hello":
        s.send(b"TSUC\1\0\0\0")
    got = s.recv(4096)
    print("answer", len(got), got[:8])
except OSError as e:
    print(e.strerror)
'

@test "GOV-15: exec: the supervisor's socket takes no other user, no container, and no malformed message" {
	local mode dir
	session
	dir=$CUSTODY_ROOT/run/sessions/$ID
	[ "$(stat -c %a "$dir")" = 700 ]
	for mode in garbage short fds many hello; do
		run python3 -c "$TALK" "$dir" "$mode"
		[[ $output != *"Errno"* ]]
		still_runs
	done
	# Root of another user namespace has the right uid and is not answered.
	if [ "$(id -u)" -eq 0 ]; then
		run unshare --user --map-root-user python3 -c "$TALK" "$dir" hello
		[[ $output == "answer 0"* || $output == "Connection reset by peer" || $output == "Broken pipe" ]] || custody_fail "$output"
		chmod 0711 "$CUSTODY_HOME" "$CUSTODY_ROOT" "$CUSTODY_ROOT/run" "$CUSTODY_ROOT/run/sessions"
		run setpriv --reuid "$SUITE_UID" --regid "$SUITE_UID" --clear-groups python3 -c "$TALK" "$dir" hello
		[ "$status" -ne 0 ]
		[[ $output == *"Permission denied"* ]] || custody_fail "$output"
		chmod 0700 "$CUSTODY_ROOT" "$CUSTODY_ROOT/run" "$CUSTODY_ROOT/run/sessions"
	fi
	still_runs
}

@test "GOV-15: exec: kill -9 at each point: nothing runs without its records, nothing stays in the session" {
	local point what id
	session
	while read -r point _ what; do
		rm -f "$CUSTODY_HOME/gate"
		status=0
		CUSTODY_SEAM=$point CUSTODY_SEAM_DO=die "${CUSTODY_BUILD:?a finished build directory}/tests/custody-seamed" exec -e "P=$point" "$ID" -- \
			sh -c 'touch "ran-$P"; exec sleep 4340' </dev/null >/dev/null 2>&1 3>&- || status=$?
		[ "$status" -eq 137 ] || custody_fail "$point: status $status"
		asked 0 recover
		wait_until no_process '^sleep 4340'
		[ -z "$(find "$CUSTODY_ROOT/sandbox/open" -mindepth 1 ! -name "$ID")" ] || custody_fail "$point: a claim is left"
		id=$(custody ledger export --kind exec.intent 2>/dev/null | jq -r .session | tail -n 1)
		case $what in
		none) [ -z "$(custody ledger export --kind 'exec.*' 2>/dev/null)" ] || custody_fail "$point: recorded" ;;
		unmade)
			[ "$(custody ledger export --session "$id" 2>/dev/null | jq -r .k | paste -sd ' ')" = "exec.intent exec.end" ] || custody_fail "$point: $(custody ledger export --session "$id")"
			asked 0 exec "$ID" -- ls
			[ -z "$output" ] || custody_fail "$point: it ran"
			;;
		lost) [ "$(custody ledger export --session "$id" 2>/dev/null | jq -r .k | paste -sd ' ')" = "exec.intent exec.start exec.end" ] || custody_fail "$point: $(custody ledger export --session "$id")" ;;
		esac
		still_runs
	done < <(grep -P '\texec\t' "$BATS_TEST_DIRNAME/../lib/seam-points")
	asked 0 ledger verify
	[[ $output == *"1 sessions without an end: $ID"* ]] || custody_fail "$output"
}
