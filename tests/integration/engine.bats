#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# custody-runtime governs a container: the gate in create, the warden's part in start, the end in delete.  By hand, with a bundle.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for other shells; variables of one test; status is set by bats

load ../lib/suite.bash
load ../lib/oci.bash
load ../lib/engine.bash

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	engine_setup
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	oci_teardown
}

@test "GOV-8: ISO-14: both switches off: no state, no warden, libcrun has the engine's bytes" {
	conf '"sandbox":{"enabled":false},"security_profile":"off"'
	rm -rf "$CUSTODY_ROOT/sandbox"
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	cmp "$B/config.json" "$ROOT/x/config.json"
	[ "$(jq -r '.lane, .governed' "$ROOT/x/custody.json")" = $'sandbox\nnull' ]
	[ -z "$(wardens)" ]
	rt start x
	wait_until ended x
	[ "$(cat "$CUSTODY_HOME/out")" = ran ]
	rt delete x
	[ "$(ls "$CUSTODY_ROOT")" = etc ]
}
@test "GOV-8: security_profile alone: asked, approved, started, not tightened" {
	judged
	command_is 'busybox grep -E "^(Seccomp|NoNewPrivs):" /proc/self/status'
	edit 'del(.linux.seccomp) | .process.noNewPrivileges = false'
	asked B
	approve
	live
	[ "$(tr -d '\t' <<<"$output")" = $'NoNewPrivs:0\nSeccomp:0' ]
	[ "$(last session.start '.d.layers // []')" = '[]' ]
	# Its one use is over.
	asked B
}
@test "GOV-8: ISO-1: sandbox.enabled alone: started without a question, every layer proven" {
	isolated
	command_is 'busybox grep -E "^(Seccomp|NoNewPrivs):" /proc/self/status'
	edit 'del(.linux.seccomp) | .process.noNewPrivileges = false'
	live
	[ "$(tr -d '\t' <<<"$output")" = $'NoNewPrivs:1\nSeccomp:2' ]
	last session.start '.d.layers | index("no-new-privs=proven"), index("seccomp=proven-after-start")' | { run ! grep -x null; }
	[ "$(count approval.request)" -eq 0 ]
	nothing_left
	complete
}
@test "GOV-8: both: asked, then tightened and proven" {
	both
	command_is 'busybox grep -E "^Seccomp:" /proc/self/status'
	asked B
	approve
	live
	[ "$(tr -d '\t' <<<"$output")" = 'Seccomp:2' ]
	last session.start '.d.layers[]' | grep -qx seccomp=proven-after-start
}
@test "GOV-3: GOV-8: an unbounded delete is a C with security_profile off as well" {
	isolated
	command_is 'rm -rf /'
	asked C
	# And no rule or environment makes it less.
	isolated '"rules":[{"effect":"allow","network":"none"},{"effect":"allow","network":"host"}],'"$EXPLICIT"
	asked C
}
@test "ISO-14: CUSTODY_SANDBOX_ENABLED overrides both ways" {
	conf '"sandbox":{"enabled":false}'
	CUSTODY_SANDBOX_ENABLED=1 rt create -b "$B" x </dev/null
	[ -n "$(jq -r '.governed.session // empty' "$ROOT/x/custody.json")" ]
	rt delete --force x
	isolated
	CUSTODY_SANDBOX_ENABLED=0 rt create -b "$B" x </dev/null
	[ "$(jq -r '.governed' "$ROOT/x/custody.json")" = null ]
	rt delete --force x
}
@test "GOV-1: an invalid custody.json refuses create with file and line" {
	local text
	for text in '{"sandbox":{"enabled":true},' '{"sandbox":{"enabled":1}}' '{"sandboxes":{}}'; do
		printf %s "$text" >"$CUSTODY_ROOT/etc/custody.json"
		try rt create -b "$B" x
		refused "$CUSTODY_ROOT/etc/custody.json:1"
		try rt run -b "$B" x
		refused "$CUSTODY_ROOT/etc/custody.json:1"
		[ -z "$(grep -x ran <<<"$output")" ]
	done
	[ -z "$(wardens)" ]
}
@test "GOV-1: a rule that denies: nothing is created, and it is recorded" {
	judged '"rules":[{"effect":"deny","argv":["echo"]}]'
	try rt create -b "$B" x
	refused 'denied by policy'
	[ "$(last session.refused .d.refused)" = policy ]
	nothing_left
	complete
}
@test "GOV-9: another argv, mount or variable is another digest, and the refusal says what changed; the same container is the same" {
	local first change want
	judged
	asked B
	first=$(request)
	asked B
	[ "$(request)" = "$first" ]
	[ "$("$CUSTODY" pending --json | jq '.requests[0].count')" -eq 2 ]
	[[ $output != *'since the last approval'* ]]
	approve
	cp "$B/config.json" "$B/same"
	while IFS='|' read -r want change; do
		cp "$B/same" "$B/config.json"
		edit "$change"
		try rt create -b "$B" x
		refused 'level B needs approval' "since the last approval: $want"
		[[ $output != *"$first"* ]] || { echo "same digest: $change" && return 1; }
		[[ $output != *swordfish* && $output != *marlin* ]]
	done <<-'LIST'
		argv[3]: was unset, is 'more'|.process.args += ["more"]
		env.MORE: added|.process.env += ["MORE=1"]
		env.TOKEN_OF_ANN: changed|.process.env[1] = "TOKEN_OF_ANN=marlin"
		config.mounts[0]: was unset, is {"destination":"/data"|.mounts += [{destination:"/data",source:"/tmp",type:"bind",options:["bind","ro"]}]
		config.process.user.uid: was 0, is 7|.process.user.uid = 7
	LIST
}
@test "GOV-11: the grant is used up by start, not by create" {
	local grant
	judged
	asked B
	approve --uses 1
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	[ "$(count grant.consume)" -eq 0 ]
	# Never started: it returns.
	rt delete x
	nothing_left
	[ "$(last session.refused .d.refused)" = setup-failed ]
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	# Revoked in between: not started.
	grant=$("$CUSTODY" grants --json | jq -r '.grants[0].id')
	"$CUSTODY" revoke "$grant"
	run rt start x
	[ "$status" -eq 1 ]
	[[ $output == *revoked* ]]
	wait_until ended x
	[ ! -s "$CUSTODY_HOME/out" ]
	rt delete x
	[ "$(count grant.consume)" -eq 0 ]
	[ "$(last session.refused .d.refused)" = approval ]
	nothing_left
	complete
}
@test "GOV-11: an unidentified image: one start per approval, whatever the grant allows" {
	judged
	asked B
	approve --uses 5
	live
	asked B
}
@test "GOV-13: a grant as an annotation" {
	local grant
	judged
	asked B
	approve
	grant=$(cat "$CUSTODY_ROOT"/sandbox/grants/*.json)
	edit ".annotations[\"custody.grant\"] = $(jq -Rn --arg g "$grant" '$g')"
	live
	[ "$output" = ran ]
	edit '.annotations["custody.grant"] = "nonsense"'
	try rt create -b "$B" x
	refused 'custody.grant'
}
@test "LANE-2: LANE-3: lane prod needs both keys, in create" {
	local text
	isolated
	try rt --lane prod create -b "$B" x
	refused "lane 'prod' needs both" --allow-prod CUSTODY_ALLOW_PROD
	try rt --lane prod --allow-prod create -b "$B" x
	refused 'missing: CUSTODY_ALLOW_PROD'
	CUSTODY_ALLOW_PROD=1 try rt --lane prod create -b "$B" x
	refused 'missing: --allow-prod'
	# Recorded in the sandbox lane, and prod has no file.
	[ "$(last lane.refused .d.lane)" = prod ]
	[ ! -e "$CUSTODY_ROOT/prod" ]
	CUSTODY_ALLOW_PROD=1 rt --lane prod --allow-prod create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	[ "$(jq -r '.lane, .governed.lane' "$ROOT/x/custody.json")" = $'prod\nprod' ]
	# Later verbs have no environment.
	env -i "$RT" --root "$ROOT" --cgroup-manager disabled start x
	wait_until ended x
	env -i "$RT" --root "$ROOT" --cgroup-manager disabled delete x
	[ "$(cat "$CUSTODY_HOME/out")" = ran ]
	text=$("$CUSTODY" ledger show --json --lane prod)
	jq -e '[.records[].k] | index("lane.override") and index("session.end")' <<<"$text"
	nothing_left
}
@test "ISO-8: a tool of the broker that containers of an engine do not have is refused by name" {
	isolated
	mkdir -p "$CUSTODY_ROOT/etc/profiles"
	jq -n '{schema: 1, name: "tools", extends: "container", broker: {tools: ["ping", "git.diff"]}}' >"$CUSTODY_ROOT/etc/profiles/tools.json"
	try rt --profile tools create -b "$B" x
	refused "git.diff"
	nothing_left
}
@test "DOOR-3: a container of an engine refuses a profile with allowed hosts by name" {
	isolated
	mkdir -p "$CUSTODY_ROOT/etc/profiles"
	jq -n '{schema: 1, name: "hosts", extends: "container", network: {mode: "allow", hosts: [{host: "api.example.org"}]}}' \
		>"$CUSTODY_ROOT/etc/profiles/hosts.json"
	try rt --profile hosts create -b "$B" x
	refused "'network.mode' allow is not supported in a container of an engine"
	nothing_left
}

@test "CARD-7: --profile, alias and annotation; an annotation only tightens" {
	isolated
	mkdir -p "$CUSTODY_ROOT/etc/profiles"
	jq -n '{schema: 1, name: "strict", extends: "container", limits: {pids: 100}}' >"$CUSTODY_ROOT/etc/profiles/strict.json"
	rt --profile strict create -b "$B" x </dev/null
	[ "$(last session.intent .d.profile)" = strict ]
	rt delete --force x
	ln -s "$RT" "$CUSTODY_HOME/custody-runtime@strict"
	"$CUSTODY_HOME/custody-runtime@strict" --root "$ROOT" --cgroup-manager disabled create -b "$B" x </dev/null
	[ "$(last session.intent .d.profile)" = strict ]
	rt delete --force x
	edit '.annotations["custody.profile"] = "strict"'
	rt create -b "$B" x </dev/null
	[ "$(last session.intent .d.profile)" = strict ]
	rt delete --force x
	edit '.annotations["custody.profile"] = "container"'
	try rt --profile strict create -b "$B" x
	refused looser
	edit '.annotations["custody.profile"] = "../strict"'
	try rt create -b "$B" x
	refused custody.profile
}
stopped() { # PID
	grep -q ') [Tt] ' "/proc/$1/stat"
}
@test "CARD-4: a start whose container has ended, and with it the warden, before it was reported succeeds" {
	local tracer start
	isolated
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	# Stopped once it has released the process.
	strace -qq -o /dev/null -e trace=write -e inject=write:signal=STOP:when=1 "$RT" --root "$ROOT" --cgroup-manager disabled start x &
	tracer=$!
	wait_until pgrep -P "$tracer"
	start=$(pgrep -P "$tracer")
	wait_until ended x
	wait_until no_wardens
	stopped "$start"
	kill -CONT "$start"
	wait "$tracer"
	[ "$(cat "$CUSTODY_HOME/out")" = ran ]
	[ "$(last session.end .d.reason)" = exited ]
	rt delete x
	nothing_left
}
no_wardens() {
	[ -z "$(wardens)" ]
}
@test "GOV-1: start of a container without its record, or whose warden is gone, is refused and kills it" {
	isolated
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	mv "$ROOT/x/custody.json" "$CUSTODY_HOME/record"
	run rt start x
	[ "$status" -eq 1 ]
	[[ $output == *'not started'* ]]
	wait_until ended x
	mv "$CUSTODY_HOME/record" "$ROOT/x/custody.json"
	rt delete x
	nothing_left
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	kill_wardens
	run rt start x
	[ "$status" -eq 1 ]
	[[ $output == *'warden'*'gone'* ]]
	wait_until ended x
	[ ! -s "$CUSTODY_HOME/out" ]
	rt delete x
	"$CUSTODY" recover
	nothing_left
	complete
}
@test "CARD-4: a command that ends before the runtime has reported its start was started all the same" {
	local trace=$CUSTODY_HOME/trace
	isolated
	command_is 'exit 0'
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	# The second message to the warden, after libcrun has released the process, is held back for a second.
	strace -qq -o "$trace" -e trace=sendmsg -e inject=sendmsg:delay_enter=1000000:when=2 "$RT" --root "$ROOT" start x
	grep -q 'EPIPE\|DELAYED' "$trace"
	wait_until ended x
	[ "$(last session.end '"\(.d.reason):\(.d.code)"')" = exited:0 ]
	rt delete x
	# A warden that was killed is not taken for one that has ended.
	command_is 'exec busybox sleep 100'
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	kill_wardens_at_start "$trace"
	wait_until ended x
	rt delete x
	"$CUSTODY" recover
	nothing_left
	complete
}
# kill_wardens_at_start FILE: both are killed while `start` holds back its second message; the start fails.
kill_wardens_at_start() {
	local pid
	strace -qq -o "$1" -e trace=sendmsg -e inject=sendmsg:delay_enter=3000000:when=2 "$RT" --root "$ROOT" start x &
	pid=$!
	wait_until is_running
	kill_wardens
	if wait "$pid"; then
		echo 'it was started without a warden'
		return 1
	fi
}
is_running() {
	[ "$(status_of x)" = running ]
}
@test "ISO-1: a program that is executed while the warden looks at it is not taken for one without a filter" {
	local warden tracer
	isolated
	command_is 'exec busybox sleep 100'
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	warden=$(wardens | head -n 1)
	# Each look at a file takes as long as libcrun needs for the rest of a start.
	strace -qq -o /dev/null -e trace=newfstatat -e inject=newfstatat:delay_enter=100000 -p "$warden" &
	tracer=$!
	wait_until grep -q '^TracerPid:.*[1-9]' "/proc/$warden/status"
	rt start x
	[ "$(status_of x)" = running ]
	kill "$tracer"
	wait "$tracer" || true
	rt kill x KILL
	wait_until ended x
	rt delete x
	[ "$(last session.end .d.reason)" = signaled ]
}
@test "ISO-7: a killed warden: its backup kills the container and records lost" {
	local main
	isolated
	command_is 'echo half >/work/file; exec busybox sleep 100'
	edit '.process.cwd = "/work"'
	rt run -d -b "$B" x </dev/null
	wait_until test -s "$B/rootfs/work/file"
	# The first is the parent of the backup.
	main=$(wardens | head -n 1)
	kill -9 "$main"
	wait_until ended x
	rt delete x
	[ "$(last session.end '.d.reason, .d.source')" = $'lost\nkeeper' ]
	[ "$(cat "$(last session.end .d.evidence)/worktree/file")" = half ]
	nothing_left
	complete
}
@test "ISO-7: warden and backup killed: recover kills the container and keeps its worktree" {
	isolated
	command_is 'echo half >/work/file; exec busybox sleep 100'
	edit '.process.cwd = "/work"'
	rt run -d -b "$B" x </dev/null
	wait_until test -s "$B/rootfs/work/file"
	kill_wardens
	"$CUSTODY" recover
	wait_until ended x
	[ "$(last session.end '.d.reason, .d.source')" = $'lost\nsweep' ]
	[ "$(cat "$(last session.end .d.evidence)/worktree/file")" = half ]
	rt delete x
	nothing_left
	complete
}
@test "ISO-7: warden and backup killed: the next container's warden kills it, keeps its worktree and records lost" {
	isolated
	command_is 'echo half >/work/file; exec busybox sleep 100'
	edit '.process.cwd = "/work"'
	rt run -d -b "$B" x </dev/null
	wait_until test -s "$B/rootfs/work/file"
	kill_wardens
	command_is 'exit 0'
	rt run -b "$B" y </dev/null
	wait_until ended x
	wait_until is_closed 2
	"$CUSTODY" ledger show --json | jq -e '[.records[] | select(.k == "session.end") | .d.reason] | sort == ["exited", "lost"]'
	rt delete x
	nothing_left
	complete
}
is_closed() { # COUNT: so many ends are recorded
	[ "$(count session.end)" -eq "$1" ] && [ -z "$(wardens)" ]
}
@test "CARD-5: ISO-4: true exit codes and their source; delete has waited for the record" {
	local script want
	isolated
	while read -r want script; do
		command_is "$script"
		live
		[ "$(last session.end '"\(.d.reason):\(.d.code):\(.d.signal)"')" = "$want" ] || {
			echo "$script: $(last session.end .d)" && return 1
		}
		# From the kernel, before or after its parent has reaped it.
		last session.end .d.source | grep -qxE 'pidfd|proc'
		nothing_left
	done <<-'LIST'
		exited:0:null exit 0
		exited:7:null exit 7
		exited:137:null exit 137
	LIST
	command_is 'exec busybox sleep 100'
	rt run -d -b "$B" x </dev/null
	rt kill x KILL
	wait_until ended x
	rt delete x
	[ "$(last session.end '"\(.d.reason):\(.d.code):\(.d.signal)"')" = signaled:137:9 ]
	complete
}
@test "CARD-4: run gives output and status, and leaves nothing; --keep and --detach" {
	isolated
	command_is 'echo out; echo err >&2; exit 7'
	run --separate-stderr rt run -b "$B" x
	[ "$status" -eq 7 ]
	[ "$output" = out ]
	[ "$stderr" = err ]
	nothing_left
	[ "$(last session.end .d.code)" -eq 7 ]
	try rt run --keep -b "$B" x
	[ "$status" -eq 7 ]
	[ "$(status_of x)" = stopped ]
	rt delete x
	nothing_left
	judged
	try rt run -b "$B" x
	refused 'level B needs approval'
	[[ $output != *out* ]]
	complete
}
@test "ISO-5: ISO-12: evidence of an abnormal exit, without values of the environment" {
	local dir
	isolated
	edit '.process.cwd = "/work"'
	command_is 'echo changed >/work/file; ln -s /etc/passwd /work/link; exit 3'
	live
	dir=$(last session.end .d.evidence)
	[ "$(cat "$dir/worktree/file")" = changed ]
	[ ! -e "$dir/worktree/link" ] || [ -L "$dir/worktree/link" ]
	jq -e '.exit.code == 3 and .container == "x" and .profile == "container"' "$dir/metadata.json"
	jq -e '.process.env | index("TOKEN_OF_ANN=[redacted]")' "$dir/config.json"
	run ! grep -r swordfish "$dir"
	run ! grep -r swordfish "$CUSTODY_ROOT/sandbox" "$CUSTODY_ROOT/run"
	"$CUSTODY" evidence verify "${dir##*/}"
	# The engine's file is as it was.
	grep -q swordfish "$B/config.json"
}
@test "CARD-5: the worktree by annotation; one that is missing is refused" {
	isolated
	mkdir -p "$B/rootfs/srv/data"
	command_is 'echo here >/srv/data/file; echo not >/work/file; exit 3'
	edit '.annotations["custody.worktree"] = "/srv/data"'
	live
	[ "$(cat "$(last session.end .d.evidence)/worktree/file")" = here ]
	edit '.annotations["custody.worktree"] = "/srv/nosuch"'
	try rt create -b "$B" x
	refused custody.worktree /srv/nosuch
	nothing_left
	complete
}
@test "CARD-5: a worktree of / keeps changes of the upper only, never the image" {
	isolated
	command_is 'echo new >/work/file; exit 3'
	edit '.process.cwd = "/"'
	# A directory is no overlay: nothing can be told apart.
	live
	jq -e '.status == "none" and (.why | test("custody.worktree"))' "$(last session.end .d.evidence)/metadata.json"
	mv "$B/rootfs" "$B/lower"
	mkdir "$B/rootfs" "$B/layers"
	run unshare -m --propagation private bash -euc '
		mount -t tmpfs tmpfs "$1/layers"
		mkdir "$1/layers/up" "$1/layers/work"
		mount -t overlay -o "lowerdir=$1/lower,upperdir=$1/layers/up,workdir=$1/layers/work" overlay "$1/rootfs"
		"$2" --root "$3" --cgroup-manager disabled run -b "$1" x' sh "$B" "$RT" "$ROOT"
	[ "$status" -eq 3 ]
	run find "$(last session.end .d.evidence)/worktree" -type f -printf '%P\n'
	[ "$output" = work/file ]
	nothing_left
}
@test "CARD-5: worktrees in memory and on a bind mount" {
	isolated
	mkdir "$CUSTODY_HOME/volume"
	echo before >"$CUSTODY_HOME/volume/old"
	edit '.process.cwd = "/work" | .mounts += [{destination:"/work",type:"tmpfs",source:"tmpfs",options:["size=1m"]}]'
	command_is 'echo memory >/work/file; exit 3'
	live
	[ "$(cat "$(last session.end .d.evidence)/worktree/file")" = memory ]
	edit '.mounts |= map(select(.destination != "/work")) | .mounts += [{destination:"/work",type:"bind",options:["bind","rw"],
		source:"'"$CUSTODY_HOME/volume"'"}]'
	command_is 'echo new >/work/file; exec busybox sleep 100'
	try rt run -d -b "$B" x </dev/null
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
	wait_until test -s "$CUSTODY_HOME/volume/file"
	rt kill x KILL
	wait_until ended x
	rt delete x
	[ "$(cat "$(last session.end .d.evidence)/worktree/old")" = before ]
}
@test "GOV-12: CARD-4: sessions and show list it; records have profile, digest and approval" {
	judged
	asked B
	approve
	command_is 'echo ran' # the same
	edit '.'
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	[ "$("$CUSTODY" sessions --json | jq '.sessions | length')" -eq 0 ]
	rt start x
	wait_until ended x
	rt delete x
	"$CUSTODY" sessions --all --json | jq -e '.sessions[0] | .name == "x" and .container == "x" and .profile == "container"'
	"$CUSTODY" show x | grep -q container
	last session.intent '.d | .profile, .approval.level, .approval.granted, .sandbox' | diff - <(printf '%s\n' container B true false)
	[ "$(last session.intent .d.digest)" = "$(last approval.grant .d.digest)" ]
}
@test "GOV-13: the refusal is in the log of the engine as level error" {
	judged
	try rt --log "$CUSTODY_HOME/log" --log-format json create -b "$B" x
	[ "$status" -eq 1 ]
	tail -n 1 "$CUSTODY_HOME/log" | jq -e --arg id "$(request)" '.level == "error" and (.msg | contains("custody approve " + $id))'
}
@test "CARD-4: a program that does not exist: the words that docker looks for, and the container is gone" {
	isolated
	edit '.process.args = ["/bin/nosuch"]'
	try rt --log "$CUSTODY_HOME/log" --log-format json create -b "$B" x
	refused 'no such file or directory'
	tail -n 1 "$CUSTODY_HOME/log" | jq -r .msg | grep -q 'no such file or directory$'
	nothing_left
	complete
}
@test "CARD-7: --preserve-fds gives the container the caller's descriptors and none of custody's" {
	isolated
	command_is 'busybox ls -l /proc/self/fd; cat <&3'
	echo mine >"$CUSTODY_HOME/mine"
	try rt run --preserve-fds 1 -b "$B" x 3<"$CUSTODY_HOME/mine"
	[ "$status" -eq 0 ]
	[[ $output == *mine ]]
	[[ $output != *"$CUSTODY_ROOT"* && $output != *socket:* ]]
}
@test "CARD-4: the warden survives SIGHUP and has no descriptor of its caller" {
	local p fd
	isolated
	command_is 'exec busybox sleep 100'
	rt run -d -b "$B" x </dev/null 7<"$B/config.json" 9<"$B/config.json"
	for p in $(wardens); do
		for fd in "/proc/$p/fd"/*; do
			[[ $(readlink "$fd") != "$B"* ]]
		done
		kill -HUP "$p"
	done
	[ "$(wardens | wc -l)" -eq 2 ]
	[ "$(status_of x)" = running ]
	rt kill x TERM
	rt kill x KILL
	wait_until ended x
	rt delete x
	nothing_left
}
@test "GOV-13: CARD-4: 20 at once: each has its session, none is left" {
	local i pids=()
	isolated
	for i in {1..20}; do
		rt run -b "$B" "x$i" >"$CUSTODY_HOME/out.$i" 2>&1 </dev/null &
		pids+=($!)
	done
	wait "${pids[@]}"
	for i in {1..20}; do [ "$(cat "$CUSTODY_HOME/out.$i")" = ran ] || { cat "$CUSTODY_HOME/out.$i" && return 1; }; done
	[ "$(count session.end)" -eq 20 ]
	nothing_left
	complete
}
