#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# custody-runtime exec into a governed container: judged, tightened, recorded.  By hand, with a bundle.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for other shells; variables of one test; status is set by bats

load ../lib/suite.bash
load ../lib/oci.bash
load ../lib/engine.bash

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	engine_setup
	command_is 'exec busybox sleep 1000'
	edit '.process.cwd = "/work"'
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	oci_teardown
}

# up: a running container x.
up() {
	rt run -d -b "$B" x </dev/null
}
up_approved() {
	try rt create -b "$B" x
	approve_it
	up
}
# approve_it: the request that the last `try` named.
approve_it() {
	"$CUSTODY" approve "$(grep -oE 'custody approve [0-9a-f]+' <<<"$output" | cut -d' ' -f3)" --yes
}
down() {
	rt kill x KILL
	wait_until ended x
	rt delete x
	nothing_left
	complete
}
# process ARGV...: the container's own process with another command, as engines write it.  EDIT changes it.
process() {
	local list
	list=$(printf '%s\n' "$@" | jq -Rn '[inputs]')
	jq --argjson argv "$list" ".process | .args = \$argv | .terminal = false | ${EDIT:-.}" "$ROOT/x/config.json" >"$CUSTODY_HOME/process.json"
}
# no_exec WORDS...: the last `try` was refused in words.
no_exec() {
	local word
	[ "$status" -ne 0 ] || { echo "status 0: $output" && return 1; }
	for word; do [[ $output == *"$word"* ]] || { echo "no '$word' in: $output" && return 1; }; done
}
has_started() { # NUMBER
	[ "$(count exec.start)" -eq "$1" ]
}
has_ended() { # NUMBER
	[ "$(count exec.end)" -eq "$1" ]
}

@test "GOV-15: a command is judged and recorded: intent, start and end within the container's session" {
	isolated
	up
	try rt exec x busybox sh -c 'echo hello; exit 7'
	[ "$status" -eq 7 ] || { echo "$output" && return 1; }
	[ "$output" = hello ]
	wait_until has_ended 1
	"$CUSTODY" ledger show --json | jq -r '.records[].k' | grep '^exec' | diff - <(printf 'exec.%s\n' intent start end)
	[ "$(last exec.intent .d.within)" = "$(last session.intent .session)" ]
	[ "$(last exec.end .d.within)" = "$(last session.intent .session)" ]
	[ "$(last exec.end '"\(.d.reason):\(.d.code)"')" = exited:7 ]
	last exec.end .d.source | grep -qxE 'pidfd|proc'
	[ "$(last exec.intent .session)" = "$(last exec.end .session)" ]
	[ "$(last exec.intent .d.digest)" != "$(last session.intent .d.digest)" ]
	down
}
@test "GOV-15: asked: the request is named, nothing is executed, and the refusal is recorded" {
	local id
	judged
	up_approved
	try rt exec x busybox touch /work/ran
	id=$(request)
	no_exec 'level B needs approval' "custody approve $id"
	# Its card says that it is a command in a running container.
	run python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" expect:'[y/N' send:'n\n' -- "$CUSTODY" approve "$id"
	[[ $output == *'a running container with the subject'* && $output != *'not found in the image'* ]]
	[ ! -e "$B/rootfs/work/ran" ]
	[ "$(last exec.refused '"\(.d.refused):\(.d.within)"')" = "approval:$(last session.start .session)" ]
	[ "$(count exec.intent)" -eq 0 ]
	# The engine reads its log.
	try rt --log "$CUSTODY_HOME/log" --log-format json exec x busybox touch /work/ran
	tail -n 1 "$CUSTODY_HOME/log" | jq -e --arg id "$id" '.level == "error" and (.msg | contains("custody approve " + $id))'
	[ "$("$CUSTODY" pending --json | jq '.requests[0].count')" -eq 2 ]
	# The container goes on.
	[ "$(status_of x)" = running ]
	down
}
@test "GOV-15: approved: it runs once, in this subject only" {
	local change
	judged
	up_approved
	try rt exec x busybox echo ran
	approve_it
	try rt exec x busybox echo ran
	[ "$status$output" = 0ran ]
	[ "$(last exec.intent '.d.approval | "\(.level):\(.granted)"')" = B:true ]
	# The image is not identified, so one start was approved.
	try rt exec x busybox echo ran
	no_exec 'level B needs approval'
	approve_it
	cp "$B/config.json" "$B/same"
	for change in '.args += ["more"]' '.env += ["MORE=1"]' '.env |= map(sub("swordfish"; "other"))' '.cwd = "/"' '.user.uid = 7' \
		'.capabilities.effective = []' '.terminal = true'; do
		EDIT=$change process busybox echo ran
		try rt exec --process "$CUSTODY_HOME/process.json" x
		no_exec 'level B needs approval' || { echo "same digest: $change" && return 1; }
	done
	try rt exec --preserve-fds 1 x busybox echo ran 3</dev/null
	no_exec 'level B needs approval'
	# And the approved one still runs.
	EDIT=. process busybox echo ran
	try rt exec --process "$CUSTODY_HOME/process.json" x
	[ "$status$output" = 0ran ]
	wait_until has_ended 2
	down
}
@test "GOV-15: a grant for a command is not one for the container, nor for another container's command" {
	judged
	up_approved
	try rt exec x busybox echo ran
	approve_it
	edit '.process.args = ["busybox","echo","ran"]'
	try rt create -b "$B" y
	no_exec 'level B needs approval'
	edit '.process.args = ["/bin/sh","-c","exec busybox sleep 999"]'
	try rt create -b "$B" y
	approve_it
	rt run -d -b "$B" y </dev/null
	try rt exec y busybox echo ran
	no_exec 'level B needs approval'
	try rt exec x busybox echo ran
	[ "$status$output" = 0ran ]
	rt delete --force y
	down
}
@test "GOV-15: exec deny of custody.json or of the profile refuses by name, also what the container allows" {
	isolated '"exec":"deny"'
	edit '.annotations["custody.exec.allow"] = "[[\"busybox\",\"touch\",\"/work/ran\"]]"'
	up
	try rt exec x busybox touch /work/ran
	no_exec '"exec": "deny"' custody.json
	[ "$(last exec.refused .d.refused)" = exec ]
	[ ! -e "$B/rootfs/work/ran" ]
	down
	isolated '"exec":"allow"'
	mkdir -p "$CUSTODY_ROOT/etc/profiles"
	jq -n '{schema: 1, name: "closed", extends: "container", governance: {exec: "deny"}}' >"$CUSTODY_ROOT/etc/profiles/closed.json"
	rt --profile closed run -d -b "$B" x </dev/null
	# The profile of create counts, not what the file says now.
	jq -n '{schema: 1, name: "closed", extends: "container"}' >"$CUSTODY_ROOT/etc/profiles/closed.json"
	try rt exec x busybox touch /work/ran
	no_exec '"exec": "deny"' profile
	[ ! -e "$B/rootfs/work/ran" ]
	down
}
@test "GOV-15: GOV-3: exec allow starts level B without a question, an unbounded delete never" {
	judged '"exec":"allow"'
	up_approved
	try rt exec x busybox echo ran
	[ "$status$output" = 0ran ]
	[ "$(last exec.intent '.d.approval | "\(.level):\(.by)"')" = B:custody.json ]
	try rt exec x rm -rf /
	no_exec 'level C needs approval'
	[ -e "$B/rootfs/bin/busybox" ]
	wait_until has_ended 1
	down
}
@test "GOV-15: GOV-3: with security_profile off only an unbounded delete is asked" {
	isolated
	up
	try rt exec x busybox echo ran
	[ "$status$output" = 0ran ]
	try rt exec x sh -c 'rm -rf /*'
	no_exec 'level C needs approval'
	[ -e "$B/rootfs/bin/busybox" ]
	wait_until has_ended 1
	down
}
@test "GOV-15: custody.exec.allow: exactly these commands start without a question" {
	local change
	judged
	edit '.annotations["custody.exec.allow"] = "[[\"busybox\",\"echo\",\"ready\"],[\"rm\",\"-rf\",\"/\"],[\"busybox\",\"grep\",\"NoNewPrivs\",\"/proc/self/status\"]]"'
	up_approved
	try rt exec x busybox echo ready
	[ "$status$output" = 0ready ]
	[ "$(last exec.intent '.d.approval | "\(.level):\(.by)"')" = B:custody.exec.allow ]
	process busybox echo ready
	try rt exec --process "$CUSTODY_HOME/process.json" x
	[ "$status$output" = 0ready ]
	wait_until has_ended 2
	# As another user, with another variable or directory it is another command.
	for change in '.args += ["now"]' '.args = ["busybox"]' '.env += ["LD_PRELOAD=/work/x"]' '.env[0] = "PATH=/work"' '.user.uid = 7' \
		'.user.gid = 7' '.cwd = "/tmp"'; do
		EDIT=$change process busybox echo ready
		try rt exec --process "$CUSTODY_HOME/process.json" x
		no_exec 'level B needs approval' || { echo "$change" && return 1; }
	done
	# What the container may not do it may not do either, although nothing is tightened here.
	EDIT='.noNewPrivileges = false' process busybox grep NoNewPrivs /proc/self/status
	try rt exec --process "$CUSTODY_HOME/process.json" x
	[ "$status$output" = $'0NoNewPrivs:\t1' ] || { echo "$output" && return 1; }
	wait_until has_ended 3
	try rt exec --preserve-fds 1 x busybox echo ready 3</dev/null
	no_exec 'level B needs approval'
	# An unbounded delete is a C, whatever was approved.
	try rt exec x rm -rf /
	no_exec 'level C needs approval'
	[ -e "$B/rootfs/bin/busybox" ]
	has_ended 3
	down
}
@test "GOV-15: ISO-1: a process text cannot gain capabilities, lose no_new_privs or the filter" {
	isolated
	edit '.process.capabilities[] = ["CAP_KILL","CAP_SYS_ADMIN"] | .process.noNewPrivileges = false | del(.linux.seccomp)'
	up
	EDIT='.noNewPrivileges = false | .rlimits = [{type:"RLIMIT_CORE",hard:1000,soft:1000}]
		| .capabilities[] = ["CAP_KILL","CAP_SYS_ADMIN","CAP_CHOWN"]' \
		process busybox sh -c 'busybox grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status; ulimit -Hc'
	try rt exec --process "$CUSTODY_HOME/process.json" x
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
	# CAP_KILL is bit 5.
	diff <(tr -d '\t' <<<"$output") - <<-'END'
		CapInh:0000000000000020
		CapPrm:0000000000000020
		CapEff:0000000000000020
		CapBnd:0000000000000020
		CapAmb:0000000000000020
		NoNewPrivs:1
		Seccomp:2
		0
	END
	# Without the members as well.
	EDIT='del(.capabilities, .noNewPrivileges, .rlimits, .user)' process busybox sh -c 'busybox grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp:)" /proc/self/status; ulimit -Hc'
	try rt exec --process "$CUSTODY_HOME/process.json" x
	diff <(tr -d '\t' <<<"$output") - <<-'END'
		CapEff:0000000000000020
		CapBnd:0000000000000020
		NoNewPrivs:1
		Seccomp:2
		0
	END
	try rt exec --cap CAP_SYS_ADMIN x busybox grep CapBnd /proc/self/status
	[ "$(tr -d '\t' <<<"$output")" = CapBnd:0000000000000020 ]
	# The filter is the container's.
	try rt exec x busybox mount -t tmpfs tmpfs /tmp
	[ "$status" -ne 0 ]
	wait_until has_ended 4
	down
}
@test "GOV-15: ISO-1: filter and no_new_privs are proven after the start; without the filter it is killed" {
	isolated
	up
	try rt exec x busybox true
	last exec.start '.d.layers | join(" ")' | grep -qx 'no-new-privs=proven-after-start seccomp=proven-after-start'
	wait_until has_ended 1
	rm "$ROOT/x/seccomp.bpf"
	try rt exec x sh -c 'busybox sleep 5; busybox touch /work/ran'
	[ "$status" -ne 0 ]
	[ ! -e "$B/rootfs/work/ran" ]
	wait_until has_ended 2
	[ "$(last exec.end .d.reason)" = violation ]
	down
}
@test "GOV-15: ISO-14: members that are not known or that stop the host are refused by name" {
	local change want
	isolated
	up
	while IFS='|' read -r want change; do
		EDIT=$change process busybox touch /work/ran
		try rt exec --process "$CUSTODY_HOME/process.json" x
		no_exec "$want"
	done <<-'LIST'
		'seccomp'|.seccomp = {"defaultAction": "SCMP_ACT_ALLOW"}
		scheduler|.scheduler = {"policy": "SCHED_FIFO", "priority": 50}
		ioPriority|.ioPriority = {"class": "IOPRIO_CLASS_RT", "priority": 1}
		process.rlimits[1]|.rlimits = [{"type": "RLIMIT_CORE", "hard": 0, "soft": 0}, {"type": "RLIMIT_CORE", "hard": 9, "soft": 9}]
	LIST
	[ "$(last exec.refused .d.refused)" = config ]
	[ ! -e "$B/rootfs/work/ran" ]
	down
}
@test "GOV-15: security_profile alone: judged, not tightened" {
	judged '"exec":"allow"'
	edit '.process.noNewPrivileges = false | del(.linux.seccomp)'
	up_approved
	try rt exec x busybox grep -E '^(NoNewPrivs|Seccomp:)' /proc/self/status
	[ "$(tr -d '\t' <<<"$output")" = $'NoNewPrivs:0\nSeccomp:0' ]
	[ "$(last exec.intent .d.sandbox)" = false ]
	wait_until has_ended 1
	down
}
@test "GOV-15: both switches off: exec is as before, without records" {
	conf '"sandbox":{"enabled":false},"security_profile":"off"'
	rm -rf "$CUSTODY_ROOT/sandbox"
	up
	try rt exec x busybox echo ran
	[ "$status$output" = 0ran ]
	[ "$(ls "$CUSTODY_ROOT")" = etc ]
	try rt exec nosuch busybox echo ran
	no_exec "container 'nosuch' does not exist"
}
@test "GOV-15: a killed warden: nothing more is executed, and recover records the end of what runs" {
	isolated
	up
	rt exec -d --pid-file "$CUSTODY_HOME/pid" x busybox sleep 999
	[ "$(count exec.start)" -eq 1 ]
	[ -e "$CUSTODY_ROOT/sandbox/open/$(last exec.start .session)" ]
	kill_wardens
	try rt exec x busybox touch /work/ran
	no_exec 'custody-warden' gone
	[ ! -e "$B/rootfs/work/ran" ]
	"$CUSTODY" recover
	wait_until gone "$(cat "$CUSTODY_HOME/pid")"
	[ "$(last exec.end '"\(.d.reason):\(.session)"')" = "lost:$(last exec.start .session)" ]
	rt delete x
	nothing_left
	complete
}
@test "GOV-15: the command waits for its records: killed before the warden has it, it never runs" {
	local main runtime
	isolated
	up
	main=$(wardens | head -n 1)
	kill -STOP "$main"
	"$RT" --root "$ROOT" --cgroup-manager disabled exec -d x busybox touch /work/ran </dev/null >"$CUSTODY_HOME/out" 2>&1 &
	runtime=$!
	wait_until has_started 1
	kill -KILL "$runtime"
	wait_until gone "$(last exec.start .d.pid)"
	[ ! -e "$B/rootfs/work/ran" ]
	kill -CONT "$main"
	wait_until has_ended 1
	[ "$(last exec.end '"\(.d.reason):\(.d.signal)"')" = signaled:9 ]
	[ ! -e "$B/rootfs/work/ran" ]
	down
}
@test "GOV-15: the end of the container is the end of its commands, both are recorded" {
	isolated
	up
	rt exec -d --pid-file "$CUSTODY_HOME/pid" x busybox sleep 999
	rt kill x KILL
	wait_until ended x
	rt delete x
	gone "$(cat "$CUSTODY_HOME/pid")"
	[ "$(last exec.end '"\(.d.reason):\(.d.signal)"')" = signaled:9 ]
	"$CUSTODY" ledger show --json | jq -r '.records[].k' | grep -E '^(exec|session)\.end' | diff - <(printf '%s.end\n' exec session)
	nothing_left
	complete
}
@test "GOV-15: without a PID namespace of its own, the end of the container is that of its commands as well" {
	judged '"exec":"allow"'
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	up_approved
	rt exec -d --pid-file "$CUSTODY_HOME/pid" x busybox sleep 999 </dev/null >"$CUSTODY_HOME/out" 2>&1
	rt kill x KILL
	wait_until ended x
	wait_until gone "$(cat "$CUSTODY_HOME/pid")"
	rt delete x
	[ "$(last exec.end '"\(.d.reason):\(.d.signal)"')" = signaled:9 ]
	nothing_left
	complete
}
@test "GOV-15: ISO-4: detached: the pid file, true exit codes, and the source" {
	local script want n=0
	isolated
	up
	while read -r want script; do
		rt exec -d --pid-file "$CUSTODY_HOME/pid" x sh -c "$script" </dev/null >"$CUSTODY_HOME/out" 2>&1
		n=$((n + 1))
		wait_until has_ended $n
		gone "$(cat "$CUSTODY_HOME/pid")"
		[ "$(last exec.end '"\(.d.reason):\(.d.code):\(.d.signal)"')" = "$want" ] || { last exec.end .d && return 1; }
		[ "$(last exec.start .d.pid)" = "$(cat "$CUSTODY_HOME/pid")" ]
	done <<-'LIST'
		exited:0:null exit 0
		exited:7:null exit 7
		exited:137:null exit 137
		signaled:143:15 kill -TERM $$
	LIST
	down
}
@test "GOV-15: a program that does not exist: the words that docker looks for, and it has an end" {
	isolated
	up
	try rt --log "$CUSTODY_HOME/log" --log-format json exec x nosuch
	[ "$status" -ne 0 ]
	tail -n 1 "$CUSTODY_HOME/log" | jq -r .msg | grep -qE 'no such file or directory|not found in \$PATH'
	wait_until has_ended 1
	down
}
@test "GOV-15: a terminal by --console-socket" {
	isolated
	up
	python3 - "$CUSTODY_HOME/console" "$CUSTODY_HOME/shown" <<-'END' &
		import socket, sys, os
		s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(1)
		c, _ = s.accept()
		_, fds, _, _ = socket.recv_fds(c, 4096, 1)
		out = b''
		try:
		    while True:
		        part = os.read(fds[0], 4096)
		        if not part: break
		        out += part
		except OSError: pass
		open(sys.argv[2] + '.new', 'wb').write(out); os.rename(sys.argv[2] + '.new', sys.argv[2])
	END
	wait_until test -S "$CUSTODY_HOME/console"
	rt exec -d -t --console-socket "$CUSTODY_HOME/console" --pid-file "$CUSTODY_HOME/pid" x busybox tty </dev/null >"$CUSTODY_HOME/out" 2>&1
	wait_until test -e "$CUSTODY_HOME/shown"
	grep -q '/dev/pts/\|/dev/console' "$CUSTODY_HOME/shown"
	wait_until has_ended 1
	down
}
@test "GOV-15: signals of a foreground exec reach the command" {
	isolated
	up
	# SIGTERM to custody-runtime.
	"$RT" --root "$ROOT" --cgroup-manager disabled exec x sh -c 'trap "exit 9" TERM; echo up >/work/up; while :; do busybox sleep 0.1; done' </dev/null >"$CUSTODY_HOME/out" 2>&1 &
	wait_until test -s "$B/rootfs/work/up"
	kill -TERM $!
	status=0; wait $! || status=$?
	[ "$status" -eq 9 ]
	wait_until has_ended 1
	[ "$(last exec.end '"\(.d.reason):\(.d.code)"')" = exited:9 ]
	down
}
@test "LANE-2: LANE-3: a command in a container of lane prod needs both keys again" {
	isolated
	CUSTODY_ALLOW_PROD=1 rt --lane prod --allow-prod run -d -b "$B" x </dev/null
	try rt exec x busybox touch /work/ran
	no_exec "lane 'prod' needs both"
	[ ! -e "$B/rootfs/work/ran" ]
	[ "$(last lane.refused .d.lane)" = prod ]
	CUSTODY_ALLOW_PROD=1 try rt --allow-prod exec x busybox echo ran
	[ "$status$output" = 0ran ]
	"$CUSTODY" ledger show --json --lane prod | jq -r '.records[].k' | grep -qx exec.intent
	rt kill x KILL
	wait_until ended x
	rt delete x
}
@test "GOV-15: CARD-7: --preserve-fds: the command gets them and none of custody's descriptors" {
	isolated
	up
	echo mine >"$CUSTODY_HOME/mine"
	try rt exec --preserve-fds 1 x sh -c 'busybox ls -l /proc/self/fd; cat <&3' 3<"$CUSTODY_HOME/mine"
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
	[[ $output == *mine ]]
	[[ $output != *"$CUSTODY_ROOT"* && $output != *socket:* ]]
	wait_until has_ended 1
	down
}
@test "GOV-15: GOV-8: GOV-3: a descriptor of the caller is an effect on the host for a command, too" {
	local host=$CUSTODY_HOME/host
	isolated
	mkdir "$host"
	echo of-the-host >"$host/file"
	# Nothing that this container writes stays (with a cgroup it opens no device): a delete whose target the words do not show is asked
	# only for what the caller brings.
	rt() { "$RT" --root "$ROOT" "$@"; }
	edit '.root.readonly = true'
	up
	try rt exec x sh -c 'busybox find /tmp/ -type f | busybox xargs busybox rm -rf'
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
	status=0
	rt exec --preserve-fds 1 x sh -c 'busybox find /proc/self/fd/3/ -type f | busybox xargs busybox rm -rf' 3<"$host" >"$CUSTODY_HOME/tried" 2>&1 </dev/null || status=$?
	output=$(cat "$CUSTODY_HOME/tried")
	no_exec 'level C needs approval'
	[ "$(cat "$host/file")" = of-the-host ]
	wait_until has_ended 1
	down
}
@test "GOV-15: ISO-1: --cgroup is no way out of the container's limits" {
	local dir
	isolated
	rt() { "$RT" --root "$ROOT" "$@"; }
	up
	# In no hierarchy, and then in one: libcrun leaves the process where the caller is, without reporting an error.
	try rt exec --cgroup sub x busybox touch /work/ran
	[ "$status" -ne 0 ]
	dir=$(sed -nE 's,^[0-9]+:pids:(.*),/sys/fs/cgroup/pids\1/sub,p' "/proc/$(rt state x | jq .pid)/cgroup")
	if [ -n "$dir" ]; then
		mkdir "$dir"
		try rt exec --cgroup sub x busybox touch /work/ran
		no_exec '--cgroup'
		rmdir "$dir"
	fi
	[ ! -e "$B/rootfs/work/ran" ]
	[ "$(count exec.start)" -eq 0 ]
	down
}
@test "GOV-15: ISO-12: no value of a variable reaches records, requests or the subject" {
	judged
	up_approved
	try rt exec -e MORE=tunafish x busybox echo ran
	run ! grep -rE 'swordfish|tunafish' "$CUSTODY_ROOT/sandbox"
	down
	run ! grep -rE 'swordfish|tunafish' "$CUSTODY_ROOT/sandbox" "$CUSTODY_ROOT/run"
}
@test "GOV-15: a container without its record, or created before, is refused" {
	isolated
	up
	mv "$ROOT/x/custody.json" "$CUSTODY_HOME/record"
	try rt exec x busybox touch /work/ran
	[ "$status" -eq 1 ]
	[ ! -e "$B/rootfs/work/ran" ]
	mv "$CUSTODY_HOME/record" "$ROOT/x/custody.json"
	down
}
@test "GOV-15: a container that is created while exec looks for it: not entered unasked" {
	local tracer
	isolated '"exec":"deny"'
	# Stopped once it has not found the container.
	jq '.process | .args = ["busybox","touch","/work/ran"]' "$B/config.json" >"$CUSTODY_HOME/process.json"
	strace -o "$CUSTODY_HOME/trace" -P "$ROOT/x/status" -e inject=openat:signal=STOP:when=1 "$RT" --root "$ROOT" --cgroup-manager disabled \
		exec --process "$CUSTODY_HOME/process.json" x >"$CUSTODY_HOME/out" 2>&1 </dev/null 3>&- &
	tracer=$!
	wait_until grep -qs 'stopped by SIGSTOP' "$CUSTODY_HOME/trace"
	up
	kill -CONT "$(pgrep -P "$tracer")"
	status=0
	wait "$tracer" || status=$?
	output=$(cat "$CUSTODY_HOME/out")
	no_exec "container 'x' does not exist"
	[ ! -e "$B/rootfs/work/ran" ]
	down
}
@test "GOV-15: custody exec into a container of an engine names the engine's exec" {
	isolated
	up
	run "$CUSTODY" exec "$(last session.start .session)" -- true
	[ "$status" -eq 125 ]
	[[ $output == *"of another runtime"* ]]
	down
}
@test "GOV-15: no command before the start of the container, and at most 64 at once" {
	local i
	isolated
	rt create -b "$B" x </dev/null >"$CUSTODY_HOME/out"
	try rt exec x busybox touch /work/ran
	no_exec 'does not run'
	[ "$(last exec.refused .d.refused)" = setup-failed ]
	[ ! -e "$B/rootfs/work/ran" ]
	rt start x
	for i in {1..64}; do rt exec -d x busybox sleep 999 </dev/null >"$CUSTODY_HOME/out" 2>&1; done
	try rt exec x busybox touch /work/ran
	no_exec 'more than 64 commands'
	[ ! -e "$B/rootfs/work/ran" ]
	rt kill x KILL
	wait_until ended x
	rt delete x
	[ "$(count exec.end)" -eq 64 ]
	nothing_left
	complete
}
@test "GOV-15: commands that run take no connection of the warden: one more starts beside 32 attached ones" {
	local i
	isolated
	up
	for i in {1..32}; do rt exec x busybox sleep 999 </dev/null >"$CUSTODY_HOME/out" 2>&1 3>&- & done
	wait_until has_started 32
	try rt exec x busybox echo ran
	[ "$status$output" = 0ran ] || { echo "$output" && return 1; }
	down
}
@test "GOV-15: a caller with few descriptors leaves the warden enough for 64 commands" {
	local i
	isolated
	(
		ulimit -Sn 80
		up
	)
	for i in {1..40}; do rt exec -d x busybox sleep 999 </dev/null >"$CUSTODY_HOME/out" 2>&1; done
	try rt exec x busybox echo ran
	[ "$status$output" = 0ran ] || { echo "$output" && return 1; }
	down
}
@test "GOV-15: 20 commands at once, each recorded once" {
	local i pids=()
	isolated
	up
	for i in {1..20}; do
		rt exec x busybox echo "$i" >"$CUSTODY_HOME/out.$i" 2>&1 </dev/null &
		pids+=($!)
	done
	wait "${pids[@]}"
	for i in {1..20}; do [ "$(cat "$CUSTODY_HOME/out.$i")" = "$i" ]; done
	wait_until has_ended 20
	down
}
