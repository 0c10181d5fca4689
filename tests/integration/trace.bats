#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# The observation of system calls: what a session executed, which calls its filter refused, and that neither can be used against it.

load ../lib/suite.bash

setup() {
	suite_setup
	prepare
}

teardown() {
	[ -z "${RUN_PID:-}" ] || kill -9 "$RUN_PID" 2>/dev/null || true
	custody_teardown
}

prepare() {
	export NO_COLOR=1
	suite_ungoverned
	cp "$BATS_TEST_DIRNAME/../lib/trace_play.py" "$CUSTODY_HOME/work/"
	traced exec denied
	own "$CUSTODY_ROOT"
}

# traced WORD...: a profile that observes these; PROFILE is its file.  BODY is merged into it.
traced() {
	suite_profile traced "$(jq -n --argjson body "${BODY:-{\}}" --args '{audit: {trace: $ARGS.positional},
		enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}} * $body' "$@")"
	own "$PROFILE" "$CUSTODY_HOME/work"
}

play() { # ACTION [ARGUMENT]: $output and $stderr of it inside
	custody_run --profile "$PROFILE" -- python3 -B trace_play.py "$@"
}

background() { # ACTION [ARGUMENT]: the same in the background; waits for "ready"; its input is the descriptor GO
	mkfifo "$CUSTODY_HOME/go"
	(cd "$CUSTODY_HOME/work" && exec "${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$PROFILE" -- python3 -B trace_play.py "$@") \
		<"$CUSTODY_HOME/go" >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" &
	RUN_PID=$!
	exec {GO}>"$CUSTODY_HOME/go"
	wait_until grep -q ready "$CUSTODY_HOME/out"
	OBSERVER=$(pgrep -P $RUN_PID -x custody-trace)
}

# records KIND [FILTER]: of the newest session's own chain.
records() {
	jq -c "select(.k == \"$1\") | .d | ${2:-.}" "$(ls -t "$CUSTODY_ROOT"/sandbox/sessions/*/audit.ndjson | head -n 1)"
}

totals() { # FILTER: of the last record
	records trace.end "$1"
}

why() {
	"${CUSTODY_AS[@]}" "$CUSTODY" why "$@" 2>/dev/null
}

session() {
	basename "$(dirname "$(ls -t "$CUSTODY_ROOT"/sandbox/sessions/*/audit.ndjson | head -n 1)")"
}

@test "ISO-2: each execve is recorded as observed, with program, arguments and the pid inside" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		custody_run --profile "$PROFILE" -- sh -c '/bin/echo a "b c"; /bin/true; /nonexistent/program x; sh -c "exec /bin/echo \$\$"'
		assert_status 0
		[ "$(records trace.exec 'select(.program == "/bin/echo") | .argv | join("|")' | head -n 1)" = '"/bin/echo|a|b c"' ]
		[ "$(records trace.exec 'select(.program == "/bin/true") | [.call, .observed, (.pid > 1)] | @csv')" = '"\"execve\",true,true"' ]
		# An attempt is recorded, whatever became of it.
		[ "$(records trace.exec 'select(.program == "/nonexistent/program") | .argv[1]')" = '"x"' ]
		[ "$(records trace.exec 'select(.program == "/bin/echo") | .pid' | tail -n 1)" = "${lines[-1]}" ]
		[ "$(totals '[.lost, .denied, .unreadable] | @csv')" = '"0,0,0"' ]
		[ "$(records trace.start .trace)" = '["exec","denied"]' ]
	done
}

@test "ISO-2: secrets in arguments are redacted before they are recorded" {
	custody_run --profile "$PROFILE" -- sh -c 'A=hun; /bin/echo --password "${A}ter2-secret-of-a-person" "${A}"; /bin/true --token="ghp_${A}0123456789abcdefghijABCDEFGHIJ0123"'
	assert_status 0
	[ "$(records trace.exec 'select(.program == "/bin/echo") | .argv[1]')" = '"--password"' ]
	run grep -rE 'ter2-secret|hun0123456789' "$CUSTODY_ROOT"
	[ "$status" -eq 1 ]
}

@test "ISO-2: refused calls are refused, recorded, and listed by why with the line that allows them" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		play deny
		assert_status 0
		[ "$output" = 'EPERM EPERM EPERM' ]
		[ "$(records trace.denied 'select(.call == "ptrace") | [.errno, .count] | @csv' | tail -n 1)" = '"1,2"' ]
		[ "$(totals .denied)" = 3 ]
		run why
		[[ $output == *'ptrace  EPERM      2  "seccomp": { "allow": ["ptrace"] }'* ]]
		[[ $output == *'mount   EPERM      1  nothing: it needs a capability'* ]]
		[ "$(why --json | jq -c '[.complete, .denied_observed, [.denied[].call]]')" = '[true,true,["ptrace","mount"]]' ]
		[[ "$("${CUSTODY_AS[@]}" "$CUSTODY" show 2>/dev/null)" == *', 3 calls refused: custody why '* ]]
	done
	# The line is right.
	BODY='{"seccomp": {"allow": ["ptrace"]}}' traced exec denied
	play deny
	assert_status 0
	[ "$output" = 'ESRCH ESRCH EPERM' ]
	BODY='{"seccomp": {"deny": ["ptrace"]}}' traced exec denied
	play deny
	[[ "$(why)" == *'move "ptrace" from seccomp.deny to seccomp.allow'* ]]
}

@test "ISO-2: a listener of the command's own gets EBUSY, and filters without one change nothing" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		play listener
		assert_status 0
		[ "${lines[0]}" = 'EBUSY EBUSY' ]
		[ "${lines[1]}" = '0 ENOSYS' ]
		[ "$(records trace.denied 'select(.call == "seccomp") | .errno' | head -n 1)" = 16 ]
		[[ "$(why)" == *'seccomp  EBUSY      2  "audit": { "trace": [] }'* ]]
		play own_filter
		assert_status 0
		[ "$output" = -31 ]
	done
}

@test "ISO-2: without words nothing is observed, and why does not say that nothing was refused" {
	traced
	play deny
	[ "$output" = 'EPERM EPERM EPERM' ]
	[ -z "$(records trace.start)$(records trace.exec)$(records trace.end)" ]
	[[ "$(why)" == *'refused calls are not known'* ]]
	[ "$(why --json | jq .observed)" = false ]
	traced exec
	play deny
	[ "$output" = 'EPERM EPERM EPERM' ]
	[ "$(records trace.exec 'select(.program | endswith("python3")) | .observed' | tail -n 1)" = true ]
	[[ "$(why)" == *'audit.trace of its profile has no "denied"'* ]]
	traced exec sleep
	play deny
	assert_status 125
	assert_stderr_has audit.trace
}

# observed COMMAND...: under a program that listens to system calls itself, and lets all of them pass.
observed() {
	python3 - "$@" <<-'EOF'
		import ctypes, os, platform, struct, subprocess, sys
		libc = ctypes.CDLL(None, use_errno=True)
		allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
		class Program(ctypes.Structure):
		    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
		program = Program(1, ctypes.addressof(allow))
		libc.prctl(38, 1, 0, 0, 0)
		# seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER): while this process has the listener, children have the filter.
		if libc.syscall({"x86_64": 317, "aarch64": 277}[platform.machine()], 1, 8, ctypes.byref(program)) < 0:
		    sys.exit(os.strerror(ctypes.get_errno()))
		sys.exit(subprocess.run(sys.argv[1:]).returncode)
	EOF
}

@test "ISO-2: under a program that listens itself nothing is executed unobserved, and the message names the key" {
	skip_without root # a user's run needs newuidmap, which no_new_privs takes its rights
	run observed "$CUSTODY" run --profile "$PROFILE" -- echo RAN
	[ "$status" -eq 125 ]
	[[ $output != *RAN* && $output == *'set "audit": { "trace": [] } in the profile'* ]] || custody_fail "$output"
	# The line that it names works.
	traced
	run observed "$CUSTODY" run --profile "$PROFILE" -- echo RAN
	[ "$status" -eq 0 ]
	[[ $output == *RAN* ]]
}

@test "ISO-2: files opened for writing and connections are recorded where the profile says so" {
	traced write connect
	custody_run --profile "$PROFILE" -- sh -c 'echo a >made; cat made made >/dev/null; cat <made; python3 -B trace_play.py connect /run/none'
	assert_status 0
	[ "${lines[*]}" = 'a ENOENT ECONNREFUSED EADDRNOTAVAIL' ] || [ "${lines[*]}" = 'a ENOENT ECONNREFUSED ECONNREFUSED' ]
	[ "$(records trace.write 'select(.path == "made") | .call')" = '"openat"' ]
	[ "$(records trace.connect .address | tr '\n' ' ')" = '"unix:/run/none" "inet:127.0.0.1:9" "inet6:[::1]:9" ' ]
	[ -z "$(records trace.exec)" ]
}

@test "ISO-2: a program without a path of its own is recorded with what its descriptor is" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		play by_descriptor
		assert_status 0
		[ "${lines[*]}" = '0 0 0' ]
		[ "$(records trace.exec 'select(.argv == ["innocent"]) | [.program, .at] | @csv' | tr '\n' ' ')" = \
			"\"\\\"\\\",\\\"$(realpath /bin/true)\\\"\" \"\\\"\\\",\\\"/memfd:unseen (deleted)\\\"\" \"\\\"true\\\",\\\"$(realpath /bin)\\\"\" " ]
		# A path from the root needs nothing more.
		[ "$(records trace.exec 'select(.program == "/usr/bin/python3") | .at')" = null ]
	done
}

@test "ISO-2: a file that is opened for writing is recorded, also if its flags cannot be read" {
	traced write
	play open_for_writing
	assert_status 0
	[ "${lines[0]}" = EFAULT ]
	[ "$(records trace.write 'select(.path == "by-descriptor") | .at')" = "\"$CUSTODY_HOME/work/below\"" ]
	[ "$(records trace.write 'select(.path == "bad-flags") | [.call, .unreadable] | @csv')" = '"\"openat2\",true"' ]
	[ "${lines[1]}" != 'no memfd_secret' ] || skip 'no memfd_secret'
	[ "${lines[1]}" = made ]
	[ "$(records trace.write 'select(.path == "hidden-flags") | [.call, .at, .unreadable] | @csv')" = "\"\\\"openat2\\\",\\\"$CUSTODY_HOME/work\\\",true\"" ]
}

@test "ISO-2: why of a damaged record does not say that nothing was refused" {
	local chain
	play deny
	chain=$(ls -t "$CUSTODY_ROOT"/sandbox/sessions/*/audit.ndjson | head -n 1)
	[ "$(why --json | jq -c '[.complete, .damaged]')" = '[true,0]' ]
	cp "$chain" "$CUSTODY_HOME/good"
	# Without the records of the refused calls; with another number; with the half of a line; and another session's.
	grep -v trace.denied "$CUSTODY_HOME/good" >"$chain"
	[[ "$(why)" != *'No system call'* && "$(why)" == *'damaged'* ]]
	[ "$(why --json | jq .complete)" = false ]
	[[ "$("${CUSTODY_AS[@]}" "$CUSTODY" show 2>/dev/null)" == *'the record is damaged: custody why '* ]]
	sed 's/"count":2/"count":1/' "$CUSTODY_HOME/good" >"$chain"
	[[ "$(why)" == *'damaged'* ]]
	sed '/trace.denied/s/.\{80\}$//' "$CUSTODY_HOME/good" >"$chain"
	[[ "$(why)" != *'No system call'* && "$(why)" == *'damaged'* ]]
	{ head -c 10000000 /dev/zero | tr '\0' a; } >"$chain"
	[[ "$(why)" != *'No system call'* ]]
	cp "$CUSTODY_HOME/good" "$chain"
	[[ "$(why)" != *'damaged'* ]]
}

@test "ISO-2: unreadable and huge argument lists are marked, and harm nothing" {
	play unreadable
	assert_status 0
	[ "$output" = 'EFAULT EFAULT EFAULT' ]
	[ "$(records trace.exec 'select(.unreadable) | .program' | tr '\n' ' ')" = '"" "/bin/true" "" ' ]
	[ "$(totals .unreadable)" = 3 ]
	play long_path
	assert_status 0
	[ "$output" = ENAMETOOLONG ]
	[ "$(records trace.exec 'select(.cut) | .program')" = '"[cut]"' ]
	play long_list
	assert_status 0
	[ "$output" = 0 ]
	[ "$(records trace.exec 'select(.cut) | [.program, .argv[-1]] | @csv')" = '"\"/bin/true\",\"[cut]\""' ]
}

@test "ISO-2: equal programs are counted, and no call is lost silently" {
	play same 200
	assert_status 0
	[ "$(records trace.exec 'select(.program == "/bin/true") | .more // 1' | jq -s add)" = 200 ]
	[ "$(totals '.repeated >= 190 and .lost == 0')" = true ]
}

@test "ISO-2: storms of execs, kills, exits and signals end as they would without an observer" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		play killed 1000
		assert_status 0
		[ "$output" = 'done' ]
		# Each one was seen, or gone before.
		[ "$(totals '(.seen + .gone) <= 1100 and .lost == 0')" = true ]
		play exits 100
		assert_status 0
		[ "$output" = 'done' ]
		play alarms 60
		assert_status 0
		[ "$output" = 60 ]
		play bomb 100
		assert_status 0
		[ "$(records trace.exec 'select(.program == "/bin/true") | .more // 1' | jq -s add)" = "$((800 - $(totals .lost)))" ]
	done
}

@test "ISO-2: a flood of execs does not delay the time limit" {
	BODY='{"limits": {"time": "2s", "grace": 1}}' traced exec denied
	play forever
	assert_status 124
	[ "$(totals '.seen > 10')" = true ]
}

@test "ISO-2: when the observer dies, no refused call is made and the session is lost" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		BODY='{"workspace": {"mode": "rw"}}' traced exec denied
		background waits
		[ -n "$OBSERVER" ]
		# Stopped, the supervisor does not end the session: the command alone decides what it gets.
		kill -STOP $RUN_PID
		kill -9 "$OBSERVER"
		wait_until grep -q 'State:.Z' "/proc/$OBSERVER/status"
		touch "$CUSTODY_HOME/work/go"
		wait_until [ -e "$CUSTODY_HOME/work/answer" ]
		[ "$(cat "$CUSTODY_HOME/work/answer")" = 'ENOSYS ENOSYS ENOSYS' ]
		kill -CONT $RUN_PID
		exec {GO}>&-
		wait $RUN_PID && false
		grep -q 'observer of its system calls exited' "$CUSTODY_HOME/err"
		[ "$("${CUSTODY_AS[@]}" "$CUSTODY" show --json 2>/dev/null | jq -r .session.exit.reason)" = lost ]
		[[ "$(why)" == *'the record may not be complete'* ]]
	done
}

@test "ISO-2: when the supervisor dies, the observer and every process of the session die" {
	background forever
	inner=$(pgrep -f 'trace_play.py forever' | head -n 1)
	kill -9 $RUN_PID
	wait_until [ ! -e "/proc/$OBSERVER" ]
	exec {GO}>&-
	wait_until [ ! -e "/proc/$inner" ]
	"$CUSTODY" recover >/dev/null 2>&1
	[ -n "$(records trace.exec)" ]
	[[ "$(why)" == *'the record may not be complete'* ]]
}

@test "ISO-2: programs that trace, stop and continue themselves are unharmed" {
	BODY='{"seccomp": {"allow": ["ptrace", "process_vm_readv"]}}' traced exec denied
	if command -v strace >/dev/null; then
		custody_run --profile "$PROFILE" -- sh -c 'strace -f -o /tmp/t sh -c "/bin/true; /bin/echo in"; grep -c execve /tmp/t'
		assert_status 0
		[ "${lines[0]}" = in ]
		[ "${lines[1]}" -ge 3 ]
	fi
	custody_run --profile "$PROFILE" -- sh -c 'printf "all: %s\n" "$(seq -s " " 1 40)" >m; for i in $(seq 1 40); do printf "%s:\n\t@/bin/true %s\n" $i $i; done >>m; make -s -j8 -f m && echo made'
	assert_status 0
	[ "${lines[-1]}" = made ]
	custody_run --profile "$PROFILE" -- sh -c 'while :; do /bin/true; done & P=$!; for i in 1 2 3 4 5 6 7 8 9 10; do kill -STOP $P; /bin/true; kill -CONT $P; done; kill $P; wait $P; echo $?'
	[ "$output" = 143 ]
}
