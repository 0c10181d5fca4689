#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A caller may pass on ignored signals, pipes without a reader, limits.  In each case, a run is
# recorded whole or does not begin.
# shellcheck disable=SC2016,SC2154,SC2030,SC2031,SC2054 # scripts for the inside; set by bats; words with commas

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	CALLER=$BATS_TEST_DIRNAME/../lib/caller.py
	SEG=$CUSTODY_ROOT/sandbox/ledger/00000000000000000000.ndjson
}
teardown() {
	custody_teardown
}

# caller WORD... -- COMMAND...: a hang is a failure, not a suite that never ends.
caller() {
	run --separate-stderr timeout -k 1 60 "${CUSTODY_AS[@]}" python3 "$CALLER" "$@"
}

# whole N: N runs began, each has its end, nothing is left, nothing is lost.
whole() {
	[ "$(grep -c '"k":"session.intent"' "$SEG")" -eq "$1" ] || custody_fail "not $1 intents: $(cut -c 1-400 "$SEG")"
	! grep -q '"reason":"lost"' "$SEG" || custody_fail "a session was lost: $(cut -c 1-400 "$SEG")"
	[ -z "$(sessions_left)" ] || custody_fail "left: $(sessions_left)"
	"$CUSTODY" ledger verify --json | jq -e '.integrity.verdict == "ok" and .completeness.verdict == "ok"' >/dev/null ||
		custody_fail "$("$CUSTODY" ledger verify)"
}

@test "ISO-4: a caller that ignores SIGCHLD gets the exit status of the command" {
	caller ignore=CHLD -- "$CUSTODY" run -- sh -c 'echo in; exit 3'
	assert_status 3
	[ "$output" = in ]
	caller ignore=CHLD,PIPE,USR1,ALRM,XCPU,XFSZ -- "$CUSTODY" run -- sh -c 'grep SigIgn /proc/self/status'
	assert_status 0
	[[ $output =~ 0000000000000000$ ]] || custody_fail "inherited: $output"
	whole 2
}

@test "ROOT-7: unread messages do not stop the supervisor: the exit is reported as it was" {
	# A run that prints a message: its evidence.
	caller deaf=2 -- "$CUSTODY" run -- sh -c 'kill -9 $$'
	assert_status 137
	jq -e 'select(.k == "session.end") | .d.reason == "signaled" and .d.evidence' "$SEG" >/dev/null ||
		custody_fail "$(tail -n 1 "$SEG")"
	caller deaf=1,2 -- "$CUSTODY" run -- sh -c 'echo out; echo err >&2; kill -9 $$'
	whole 2
}

@test "apply: reaches its record when its output is not read" {
	"$CUSTODY" run -- sh -c 'for i in $(seq 400); do echo x >a-name-that-fills-the-buffer-soon-$i; done'
	id=$("$CUSTODY" sessions --json | jq -r '.sessions[0].session')
	caller deaf=1 -- "$CUSTODY" apply "$id"
	assert_status 125 # the output was not delivered
	[ "$(find . -name 'a-name-*' | wc -l)" -eq 400 ]
	jq -e 'select(.k == "review.applied") | .d.written == 400' "$SEG" >/dev/null || custody_fail "$(tail -n 1 "$SEG")"
}

@test "GOV-1: a file size limit of the caller's is a refusal with words, or the run is recorded whole" {
	local size
	for size in 0 1 512 "$(($(stat -c %s "$SEG") + 300))"; do
		# Through a pipe, for a file could not take the words either.
		run bash -c 'timeout -k 1 60 "$@" 2>&1 | cat; exit "${PIPESTATUS[0]}"' - "${CUSTODY_AS[@]}" python3 "$CALLER" \
			fsize="$size" -- "$CUSTODY" run -- sh -c 'touch /tmp/x; echo it ran'
		assert_status 125
		[[ $output == custody*": "* && $output != *"it ran"* ]] || custody_fail "fsize=$size: $output"
	done
	"$CUSTODY" run -- true
	"$CUSTODY" ledger verify
}

# state.py prints what its process inherited.
write_state() {
	cat >state.py <<-'EOF'
		import ctypes, os, resource, signal
		libc = ctypes.CDLL(None)
		death = ctypes.c_int(9)
		libc.prctl(2, ctypes.byref(death), 0, 0, 0)
		print("nice", os.getpriority(os.PRIO_PROCESS, 0), "class", os.sched_getscheduler(0),
		      "slack", libc.prctl(30, 0, 0, 0, 0), "personality", open("/proc/self/personality").read().strip(),
		      "oom", open("/proc/self/oom_score_adj").read().strip(), "umask", os.umask(0))
		print("rtprio", resource.getrlimit(resource.RLIMIT_RTPRIO)[1], "nice", resource.getrlimit(13)[1])
		print("timer", signal.getitimer(signal.ITIMER_PROF)[0], "death", death.value, "secure", libc.getauxval(23))
		print("groups", os.getgroups(), "pending", signal.sigpending(), "blocked", signal.pthread_sigmask(signal.SIG_BLOCK, []))
		print(os.readlink("/proc/self/ns/time"))
	EOF
}

# as_without_caller: the last run printed the state of a process that inherited nothing but the clocks.
as_without_caller() {
	assert_status 0
	[ "$output" = "nice 0 class 0 slack 50000 personality 00000000 oom 0 umask 18
rtprio 0 nice 0
timer 0.0 death 0 secure 0
groups [] pending set() blocked set()
$(readlink /proc/self/ns/time)" ] || custody_fail "inherited: $output"
}

@test "ISO-1: no state of the caller reaches the command" {
	local word words=(umask=000 block=USR1,TERM ignore=USR2,HUP personality=0440000 slack=1 timer=100 pdeath=15)
	write_state
	[ "$(id -u)" -ne 0 ] || words+=(nice=-9 groups=4)
	# The suite itself may run at a lower priority, which stays.
	caller "${words[@]}" -- "$CUSTODY" run -- python3 state.py
	output=${output/#nice 1[0-9]/nice 0} as_without_caller
	# Not every host or root may do these: real-time processes in its cgroup, CAP_SYS_RESOURCE.
	for word in sched=20 oom=-500 rtprio=50 nice=limit:40; do
		python3 "$CALLER" "$word" -- true 2>/dev/null || continue
		caller "$word" nice=0 -- "$CUSTODY" run -- python3 state.py
		as_without_caller
	done
	if [ "$(id -u)" -eq 0 ]; then
		caller ioprio=8192 -- "$CUSTODY" run -- sh -c 'ionice -p $$'
		assert_status 0
		[[ $output != realtime* ]]
		python3 "$CALLER" nice=-9 ioprio=8192 -- sh -c 'ionice -p $$; nice' >before
		[ "$(cat before)" = $'realtime: prio 0\n-9' ] # else nothing was tested
	fi
}

@test "ISO-1: bundles: no priority or personality of the caller reaches the command" {
	write_state
	bundle -- python3 "$PWD/state.py"
	CUSTODY_AS=(python3 "$CALLER" personality=0440000 slack=1)
	[ "$(id -u)" -ne 0 ] || CUSTODY_AS+=(nice=-9)
	CUSTODY_AS+=(--)
	for runtime in crun runc; do
		runtime_run "$runtime" "$BUNDLE"
		output=${output/#nice 1[0-9]/nice 0} as_without_caller
	done
}

@test "ISO-1: the session keyring of the command is not the caller's" {
	local own
	suite_profile keys '{"seccomp":{"allow":["keyctl"]}}'
	suite_ungoverned
	printf 'import ctypes, os\nprint(ctypes.CDLL(None).syscall(219 if os.uname().machine == "aarch64" else 250, 0, -3, 0))\n' >keyring.py
	# One shell, so that both see the same caller.
	run --separate-stderr python3 "$CALLER" keyring=1 -- sh -c 'python3 keyring.py; "$CUSTODY" run --profile "$1" -- python3 keyring.py' - "$PROFILE"
	assert_status 0
	own=${lines[0]}
	[[ $own =~ ^[0-9]+$ && ${lines[1]} =~ ^[0-9]+$ && ${lines[1]} != "$own" ]] || custody_fail "keyrings: $output"
	# By default it cannot be asked for at all.
	"$CUSTODY" run -- python3 keyring.py >refused
	[ "$(cat refused)" = -1 ]
}

# take.py prints how many inotify instances it got, its limits, and whether it can change one.
write_take() {
	cat >take.py <<-'EOF'
		import ctypes
		libc, n = ctypes.CDLL(None), 0
		while n < 4096 and libc.inotify_init1(0) >= 0:
		    n += 1
		names = ["/proc/sys/user/max_inotify_" + name for name in ("instances", "watches")]
		print(n, *[int(open(name).read()) for name in names])
		try:
		    open(names[0], "w").write("4096")
		    print("changed")
		except OSError:
		    print("kept")
	EOF
}

takes_half() { # OPTION...
	local most watches own n
	most=$(cat /proc/sys/fs/inotify/max_user_instances)
	watches=$(cat /proc/sys/fs/inotify/max_user_watches)
	own=$(cat /proc/sys/user/max_inotify_instances)
	write_take
	caller -- "$CUSTODY" run "$@" -- python3 take.py
	assert_status 0
	read -r n _ <<<"$output"
	[ "$n" -le $((most / 2)) ] || custody_fail "instances: $output"
	[ "$output" = "$n $((most / 2)) $((watches / 2))"$'\nkept' ] || custody_fail "limits: $output"
	[ "$(cat /proc/sys/user/max_inotify_instances)" = "$own" ]
}

@test "ISO-13: a command takes half of the inotify instances and watches of its user, not all" {
	[ "$(cat /proc/sys/fs/inotify/max_user_instances)" -ge 32 ] || skip "this host grants fewer than 32"
	unshare -Ur sh -c 'echo 99 >/proc/sys/user/max_inotify_instances' || skip "/proc/sys is read-only here"
	takes_half
	custody_teardown
	suite_setup_user
	suite_profile user '{"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
	suite_ungoverned
	takes_half --profile "$PROFILE"
}

@test "ISO-13: without a user namespace the limits of the host stay as they are" {
	local before after
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	suite_profile host '{"dangerous":["no-user-namespace","host-root"]}'
	suite_ungoverned
	before=$(cat /proc/sys/user/max_inotify_instances /proc/sys/user/max_inotify_watches)
	custody_run --profile "$PROFILE" -- readlink /proc/self/ns/user
	after=$(cat /proc/sys/user/max_inotify_instances /proc/sys/user/max_inotify_watches)
	assert_status 0
	[ "$output" = "$(readlink /proc/self/ns/user)" ] # else nothing was tested
	[ "$after" = "$before" ]
}

@test "ISO-1: state that the filter does not let init read is not proven" {
	local call
	suite_ungoverned
	for call in personality:personality sched_getscheduler:scheduling ioprio_get:I/O; do
		suite_profile blind "$(jq -n --arg call "${call%%:*}" '{seccomp: {deny: [$call]}}')"
		custody_run --profile "$PROFILE" -- touch it-ran
		assert_status 125
		assert_stderr_has "layer 'process-state' is missing: ${call#*:}"
	done
}
