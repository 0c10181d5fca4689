#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# custody-runtime by hand: verbs, spellings, logs, and what must be refused without a trace.

# shellcheck disable=SC2016,SC2030,SC2031 # scripts for other shells; RT of one test

load ../lib/suite.bash
load ../lib/oci.bash

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	oci_setup
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	[ ! -e "$CUSTODY_HOME/other/x" ] || "$RT" --root "$CUSTODY_HOME/other" delete --force x
	oci_teardown
}
gone() { # PID: exited, whether or not it was reaped
	[ ! -e "/proc/$1/stat" ] || grep -q ') Z ' "/proc/$1/stat"
}

@test "runtime: --version and features in the shape engines parse" {
	run "$RT" --version
	[[ ${lines[0]} =~ ^custody-runtime\ version\ [0-9.]+$ ]]
	[[ ${lines[2]} =~ ^spec:\ 1\.3 ]]
	"$RT" features | jq -e '.ociVersionMin == "1.0.0" and (.linux.namespaces | index("user")) and .linux.seccomp.enabled
		and (.hooks | length) == 6 and (.linux.capabilities | index("CAP_SYS_ADMIN")) and (.mountOptions | index("rro"))'
}
@test "runtime: create, start, state, kill, delete" {
	rt create --bundle "$B" --pid-file "$CUSTODY_HOME/pid" x
	[ "$(status_of x)" = created ]
	jq -e '.id == "x" and .lane == "sandbox"' "$ROOT/x/custody.json"
	rt start x
	[ "$(status_of x)" = running ]
	[ "$(rt state x | jq .pid)" = "$(cat "$CUSTODY_HOME/pid")" ]
	rt kill x KILL
	wait_until ended x
	rt delete x
	[ ! -e "$ROOT/x" ]
}
@test "runtime: options before and after the id, --opt=value, short ones" {
	rt create x --bundle="$B"
	rt delete -f x
	rt create -b "$B" x
	rt delete x --force
	rt create -b"$B" --no-pivot=false x
	rt delete --force=true x
}
@test "runtime: run gives output and status, and leaves nothing" {
	edit '.process.args = ["/bin/sh","-c","echo out; exit 7"]'
	run rt run -b "$B" x
	[ "$status" -eq 7 ]
	[ "$output" = out ]
	[ ! -e "$ROOT/x" ]
}
@test "runtime: run --keep leaves a stopped container, run -d a running one" {
	edit '.process.args = ["/bin/sh","-c","exit 5"]'
	run rt run --keep -b "$B" x
	[ "$status" -eq 5 ]
	[ "$(status_of x)" = stopped ]
	rt delete x
	edit '.process.args = ["/bin/busybox","sleep","100"]'
	rt run -d -b "$B" x
	[ "$(status_of x)" = running ]
}
@test "runtime: exec adds to the container's own process" {
	edit '.process.env = ["PATH=/bin","A=1"] | .process.cwd = "/tmp"'
	rt run -d -b "$B" x
	run rt exec -e B=2 x sh -c 'echo $A$B $PWD; exit 9'
	[ "$status" -eq 9 ]
	[ "$output" = '12 /tmp' ]
	run rt exec --user 7:8 --cwd / --no-new-privs x sh -c 'busybox id -u; busybox id -g; busybox pwd; busybox grep NoNew /proc/self/status'
	[[ $output =~ ^7.8./.NoNewPrivs:.1$ ]]
	echo '{"args":["/bin/sh","-c","echo from file"],"cwd":"/","env":["PATH=/bin"],"user":{"uid":0,"gid":0}}' >"$B/p"
	[ "$(rt exec --process "$B/p" x)" = 'from file' ]
	run rt exec x nosuch
	# As crun of the same version: 1.28 reports it as an error.
	[ "$status" -eq 255 ] || [ "$status" -eq 1 ]
	[[ $output == *nosuch*'no such file or directory'* ]]
}
@test "runtime: CVE-2022-24769, CVE-2022-27650, CVE-2022-29162: exec --cap and spec fill no inheritable set" {
	local caps='busybox grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb)" /proc/self/status | busybox tr -d "\n\t"'
	"$RT" spec --bundle "$CUSTODY_HOME"
	jq -e '.process.capabilities | (.inheritable // []) == [] and (.permitted | length) > 0' "$CUSTODY_HOME/config.json"
	edit '.process.env = ["PATH=/bin"] | .process.capabilities = {bounding: ["CAP_KILL"], effective: ["CAP_KILL"], permitted: ["CAP_KILL"]}'
	rt run -d -b "$B" x < <(:)
	[ "$(rt exec --cap CAP_NET_RAW x sh -c "$caps")" = \
		CapInh:0000000000000000CapPrm:0000000000002020CapEff:0000000000002020CapBnd:0000000000002020CapAmb:0000000000000000 ]
	# Another user gets none of them.
	[ "$(rt exec --cap CAP_NET_RAW --user 1000 x sh -c "$caps")" = \
		CapInh:0000000000000000CapPrm:0000000000000000CapEff:0000000000000000CapBnd:0000000000002020CapAmb:0000000000000000 ]
}
@test "runtime: CVE-2026-30892: exec --user takes every spelling of an id as that id, or refuses it" {
	local user
	edit '.process.env = ["PATH=/bin"]'
	rt run -d -b "$B" x < <(:)
	[ "$(rt exec -u 1 x busybox id -u)" = 1 ]
	[ "$(rt exec --user=1000 x busybox id -u)" = 1000 ]
	[ "$(rt exec -u 1:2 x sh -c 'busybox id -u; busybox id -g')" = $'1\n2' ]
	for user in '' : 1: :1 -1 +1 ' 1' 1x 0x1 1:2:3 root 4294967295 4294967296 18446744073709551616; do
		run rt exec -u "$user" x busybox id -u
		[ "$status" -eq 1 ]
		[[ $output == *--user* && $output != *$'\n'* ]]
	done
}
@test "runtime: exec -g adds groups, with and without -u" {
	local gid
	edit '.process.env = ["PATH=/bin"] | .process.user = {uid: 0, gid: 3, additionalGids: [4], umask: 7}'
	rt run -d -b "$B" x < <(:)
	[ "$(rt exec -g 5 -g 6 x sh -c 'busybox id -u; busybox id -G; umask')" = $'0\n3 4 5 6\n0007' ]
	[ "$(rt exec -u 1:2 -g 5 x sh -c 'busybox id -u; busybox id -G')" = $'1\n2 5' ]
	for gid in '' -1 x 4294967295; do
		run rt exec -g "$gid" x busybox echo started
		[ "$status" -eq 1 ]
		[[ $output == *--additional-gids* && $output != *started* ]]
	done
}
@test "runtime: exec --cap with an unknown name is refused" {
	local cap
	edit '.process.env = ["PATH=/bin"]'
	rt run -d -b "$B" x < <(:)
	for cap in CAP_NOSUCH NET_RAW '' CAP_; do
		run rt exec --cap CAP_KILL --cap "$cap" x busybox echo started
		[ "$status" -eq 1 ]
		[[ $output == *"unknown capability '$cap'"* && $output != *started* ]]
	done
}
@test "runtime: exec -p reads a pipe" {
	local process='{"args":["/bin/busybox","echo","piped"],"cwd":"/","env":["PATH=/bin"],"user":{"uid":0,"gid":0}}'
	rt run -d -b "$B" x < <(:)
	[ "$(rt exec -p <(echo "$process") x)" = piped ]
	[ "$(rt exec -p - x <<<"$process")" = piped ]
	mkfifo "$B/fifo"
	run rt exec -p "$B/fifo" x
	[ "$status" -eq 1 ]
	[[ $output == *'not a regular file'* ]]
}
@test "runtime: a relative --pid-file belongs to the caller's directory" {
	mkdir "$CUSTODY_HOME/here"
	cd "$CUSTODY_HOME/here"
	rt create -b "$B" --pid-file pid x < <(:)
	[ "$(cat "$CUSTODY_HOME/here/pid")" = "$(rt state x | jq .pid)" ]
	[ ! -e "$B/pid" ]
	rt start x
	rt exec -d --pid-file second x busybox true < <(:)
	[ -s "$CUSTODY_HOME/here/second" ]
}
@test "runtime: --pid-file replaces a link and does not follow it, and replaces no device" {
	echo precious >"$CUSTODY_HOME/victim"
	ln -s victim "$CUSTODY_HOME/pid"
	ln -s nothing "$CUSTODY_HOME/second"
	rt create -b "$B" --pid-file "$CUSTODY_HOME/pid" x < <(:)
	[ "$(cat "$CUSTODY_HOME/victim")" = precious ]
	[ ! -L "$CUSTODY_HOME/pid" ]
	[ "$(cat "$CUSTODY_HOME/pid")" = "$(rt state x | jq .pid)" ]
	rt start x
	rt exec -d --pid-file "$CUSTODY_HOME/second" x /bin/busybox true < <(:)
	[ ! -L "$CUSTODY_HOME/second" ]
	[ -s "$CUSTODY_HOME/second" ]
	[ ! -e "$CUSTODY_HOME/nothing" ]
	# Nothing is left beside them; a second write replaces the file.
	[ -z "$(find "$CUSTODY_HOME" -maxdepth 1 -name '.pid*' -o -maxdepth 1 -name '.second*')" ]
	rt exec -d --pid-file "$CUSTODY_HOME/second" x /bin/busybox true < <(:)
	mkfifo "$CUSTODY_HOME/fifo"
	run rt exec -d --pid-file "$CUSTODY_HOME/fifo" x /bin/busybox true < <(:)
	[ "$status" -ne 0 ]
	[[ $output == *'not a regular file'* ]]
	[ -p "$CUSTODY_HOME/fifo" ]
}
@test "runtime: exec --cgroup stays below the container's cgroup" {
	local path
	"$RT" --root "$ROOT" run -d -b "$B" x < <(:)
	for path in .. ../.. a/../.. /.. ./..; do
		run "$RT" --root "$ROOT" exec --cgroup "$path" x /bin/busybox true < <(:)
		[ "$status" -eq 1 ]
		[[ $output == *'not a sub-cgroup'* ]]
	done
	"$RT" --root "$ROOT" delete -f x
}
@test "runtime: exec into a paused container is refused; with --ignore-paused it runs after the resume" {
	"$RT" --root "$ROOT" run -d -b "$B" x < <(:)
	"$RT" --root "$ROOT" pause x
	wait_until paused x
	run "$RT" --root "$ROOT" exec x /bin/busybox true < <(:)
	[ "$status" -eq 1 ]
	[[ $output == *paused* ]]
	"$RT" --root "$ROOT" exec --ignore-paused x /bin/busybox echo ran < <(:) >"$CUSTODY_HOME/ran" 2>&1 3>&- &
	# It has joined when its process is frozen with the others.
	wait_until joined x
	"$RT" --root "$ROOT" resume x
	wait $!
	[ "$(cat "$CUSTODY_HOME/ran")" = ran ]
	"$RT" --root "$ROOT" delete -f x
}
joined() {
	[ "$("$RT" --root "$ROOT" ps --format json "$1" | jq length)" -eq 2 ]
}
@test "runtime: list and ps" {
	rt run -d -b "$B" x
	[ "$(rt list -q)" = x ]
	rt list --format json | jq -e 'length == 1 and .[0].id == "x" and .[0].status == "running"'
	[[ $(rt list) == *ID*PID*x*running* ]]
	# The processes are those of a cgroup.
	run rt ps x
	[ "$status" -eq 1 ]
	rt delete -f x
	"$RT" --root "$ROOT" run -d -b "$B" x
	"$RT" --root "$ROOT" ps --format json x | jq -e 'length == 1'
	[[ $("$RT" --root "$ROOT" ps x) == PID* ]]
	"$RT" --root "$ROOT" delete -f x
}
@test "runtime: pause; KILL and delete --force reach a paused container" {
	"$RT" --root "$ROOT" run -d -b "$B" x
	"$RT" --root "$ROOT" pause x
	wait_until paused x
	"$RT" --root "$ROOT" resume x
	[ "$(status_of x)" = running ]
	"$RT" --root "$ROOT" pause x
	"$RT" --root "$ROOT" kill x 9
	wait_until ended x
	"$RT" --root "$ROOT" delete x
	"$RT" --root "$ROOT" run -d -b "$B" x
	"$RT" --root "$ROOT" pause x
	"$RT" --root "$ROOT" delete --force x
}
paused() {
	[ "$(status_of "$1")" = paused ]
}
# cgroup_of CONTROLLER ID: that container's cgroup, v1 or v2.
cgroup_of() {
	local line list
	list=$(cat "/proc/$("$RT" --root "$ROOT" state "$2" | jq .pid)/cgroup")
	if line=$(grep -E "^[0-9]+:([^:]*,)?$1(,[^:]*)?:" <<<"$list"); then
		echo "/sys/fs/cgroup/$1/${line#*:*:/}"
	else
		echo "/sys/fs/cgroup$(sed -n 's/^0:://p' <<<"$list")"
	fi
}
pids_cgroup() { # ID
	cgroup_of pids "$1"
}
quota() { # ID
	cat "$(cgroup_of cpu "$1")"/cpu.{cfs_quota_us,max} 2>/dev/null
}
memory() { # ID
	cat "$(cgroup_of memory "$1")"/memory.{limit_in_bytes,max} 2>/dev/null
}
@test "runtime: update from stdin, file and options" {
	"$RT" --root "$ROOT" run -d -b "$B" x
	echo '{"pids":{"limit":50}}' | "$RT" --root "$ROOT" update --resources - x
	[ "$(cat "$(pids_cgroup x)/pids.max")" = 50 ]
	"$RT" --root "$ROOT" update --pids-limit 60 x
	[ "$(cat "$(pids_cgroup x)/pids.max")" = 60 ]
	run "$RT" --root "$ROOT" update x
	[ "$status" -eq 1 ]
	run "$RT" --root "$ROOT" update --memory lots x
	[ "$status" -eq 1 ]
	# -1 is no limit, also after a limit.
	"$RT" --root "$ROOT" update --pids-limit -1 x
	[ "$(cat "$(pids_cgroup x)/pids.max")" = max ]
	"$RT" --root "$ROOT" update --cpu-quota 50000 x
	[[ $(quota x) =~ ^50000 ]]
	"$RT" --root "$ROOT" update --cpu-quota -1 x
	[[ $(quota x) =~ ^(-1|max) ]]
	echo '{"cpu":{"quota":40000}}' | "$RT" --root "$ROOT" update --resources - x
	echo '{"cpu":{"quota":-1}}' | "$RT" --root "$ROOT" update --resources - x
	[[ $(quota x) =~ ^(-1|max) ]]
	for size in 52428800 50M 50m 50MB 50MiB; do
		"$RT" --root "$ROOT" update --memory 60M x
		"$RT" --root "$ROOT" update --memory "$size" x
		[ "$(memory x)" = 52428800 ]
	done
	"$RT" --root "$ROOT" update --memory -1 x
	for size in 50X M 50MM 50M. '' 99999999999999999999G; do
		run "$RT" --root "$ROOT" update --memory "$size" x
		[ "$status" -eq 1 ]
	done
	"$RT" --root "$ROOT" delete -f x
}
@test "runtime: a config.json whose limits are -1 has none" {
	edit '.linux.resources = {cpu: {quota: -1, period: 100000}, pids: {limit: -1}, memory: {limit: -1}}'
	"$RT" --root "$ROOT" run -d -b "$B" x < <(:)
	[ "$(cat "$(pids_cgroup x)/pids.max")" = max ]
	[[ $(quota x) =~ ^(-1|max) ]]
	"$RT" --root "$ROOT" delete -f x
}
@test "runtime: a memory limit of 0 is not set, in config.json and in update" {
	edit '.linux.resources = {memory: {limit: 0, swap: 0, reservation: 0}}'
	"$RT" --root "$ROOT" run -d -b "$B" x < <(:) > >(:) 2>&1
	"$RT" --root "$ROOT" update --memory 50M x
	echo '{"memory":{"limit":0,"swap":0}}' | "$RT" --root "$ROOT" update --resources - x
	"$RT" --root "$ROOT" update --memory 0 x
	[ "$(memory x)" = 52428800 ]
	"$RT" --root "$ROOT" delete -f x
}
@test "runtime: kill takes a signal by every usual name, and refuses any other text" {
	local signal
	edit '.process.args = ["/bin/sh","-c","trap \"echo got >>/tmp/got\" USR1; trap \"echo rt >>/tmp/got\" 35; echo ready >/tmp/ready; while :; do busybox sleep 0.05; done"]'
	rt run -d -b "$B" x < <(:) > >(:) 2>&1
	wait_until test -s "$B/rootfs/tmp/ready"
	for signal in 0x9 9x ' 9' '9 ' SIGKIL KILLED SIG 1e1 65 4294967305 -9 RTMIN+99 RTMAX-99 RTMIN-1 '' RTMIN+; do
		run rt kill x -- "$signal"
		[ "$status" -eq 1 ] || { echo "'$signal': $output" && return 1; }
	done
	[ "$(status_of x)" = running ]
	rt kill x 0
	for signal in USR1 SIGUSR1 usr1 sigusr1 10; do
		rt kill x "$signal"
		wait_until test -s "$B/rootfs/tmp/got"
		rm "$B/rootfs/tmp/got"
	done
	rt kill x RTMIN+1
	wait_until grep -q rt "$B/rootfs/tmp/got"
	rt kill x kill
	wait_until ended x
}
@test "runtime: kill and delete by regular expression" {
	rt run -d -b "$B" x1
	rt run -d -b "$B" x2
	rt run -d -b "$B" y
	rt delete --force --regex '^x'
	[ "$(rt list -q)" = y ]
}
@test "runtime: checkpoint and restore report that they are not supported, --help too" {
	for verb in checkpoint restore; do
		run rt $verb --help
		[ "$status" -eq 1 ]
		[[ $output == *'not in this libcrun'* ]]
	done
}
@test "runtime: errors in --log, as JSON in lower case and as text" {
	edit '.process.args = ["nosuch"]'
	run rt --log "$CUSTODY_HOME/log" --log-format json create -b "$B" x
	[ "$status" -eq 1 ]
	tail -n 1 "$CUSTODY_HOME/log" | jq -e '.level == "error" and (.msg | endswith("no such file or directory")) and .time'
	run rt --log "file:$CUSTODY_HOME/text" create -b "$B" x
	grep -q 'level=error msg=' "$CUSTODY_HOME/text"
	run rt --log-format xml list
	[ "$status" -eq 1 ]
	run rt --log "$CUSTODY_HOME/none/log" list
	[ "$status" -eq 1 ]
}
@test "runtime: an unknown verb or option is named, with the nearest one" {
	run rt crate x
	refused "did you mean create"
	run rt create --bundel "$B" x
	refused "did you mean --bundle"
	run rt create
	refused 'missing container id'
	run rt create -b "$B" x y
	refused "'y'"
}
@test "runtime: descriptors are handed over only when asked for" {
	edit '.process.args = ["/bin/sh","-c","busybox ls /proc/self/fd; busybox cat <&5"]'
	run bash -c "exec 3</dev/null 4</dev/null 5<<<five; '$RT' --root '$ROOT' --cgroup-manager disabled run --preserve-fds 3 -b '$B' x"
	[[ $output == *five* ]]
	run bash -c "exec 5<<<five; '$RT' --root '$ROOT' --cgroup-manager disabled run -b '$B' x"
	[[ $output != *five* ]]
}
@test "runtime: a descriptor that the caller did not open is not handed over, neither is one that LISTEN_FDS of another process names" {
	local run="'$RT' --root '$ROOT' --cgroup-manager disabled run -b '$B'"
	edit '.process.args = ["/bin/sh","-c","busybox ls /proc/self/fd; busybox cat <&3"]
		| .annotations = {"run.oci.hooks.stdout": "'"$CUSTODY_HOME/out"'"} | .hooks = {createContainer: [{path: "/bin/true"}]}'
	run bash -c "exec 3<<<three 4>&- 5>&-; $run --preserve-fds 5 x"
	refused 'descriptor'
	[[ $output != *three* ]]
	for vars in LISTEN_FDS=1 'LISTEN_FDS=1 LISTEN_PID=2' 'LISTEN_FDS=1 LISTEN_PID=x'; do
		run bash -c "exec 3<<<three; $vars $run x"
		[[ $output != *three* ]] || { echo "$vars: $output" && return 1; }
	done
	run bash -c "exec 3<<<three; LISTEN_FDS=1 LISTEN_PID=1 $run x"
	[[ $output == *three* ]]
	run bash -c "exec 3<<<three; export LISTEN_FDS=1; LISTEN_PID=\$\$ exec $run x"
	[[ $output == *three* ]]
	run rt run -b "$B" --preserve-fds 2147483644 x
	refused 'preserve-fds'
}
@test "runtime: READY=1 of the container reaches NOTIFY_SOCKET" {
	local here=${BATS_TEST_DIRNAME%/*}/conformance
	jq --arg n "$here/notify.py" '.process.args = ["/usr/bin/python3","/notify.py","send","READY=1"] | .mounts += [
		{destination:"/usr",source:"/usr",type:"bind",options:["rbind","ro"]},
		{destination:"/lib",source:"/lib",type:"bind",options:["rbind","ro"]},
		{destination:"/lib64",source:"/lib64",type:"bind",options:["rbind","ro"]},
		{destination:"/notify.py",source:$n,type:"bind",options:["bind","ro"]}]' "$B/config.json" >"$B/new"
	mv "$B/new" "$B/config.json"
	"$here/notify.py" listen "$CUSTODY_HOME/s" "$CUSTODY_HOME/got" 3>&- &
	wait_until test -S "$CUSTODY_HOME/s"
	NOTIFY_SOCKET=$CUSTODY_HOME/s rt create -b "$B" x
	NOTIFY_SOCKET=$CUSTODY_HOME/s rt start x
	wait_until test -s "$CUSTODY_HOME/got"
	grep -q READY=1 "$CUSTODY_HOME/got"
}
@test "runtime: CVE-2019-5736: the executable cannot be written from a container" {
	cp "$RT" "$CUSTODY_HOME/copy"
	RT=$CUSTODY_HOME/copy
	rt create -b "$B" x
	# The attack: hold the executable open, wait until no process runs it, write.  On a copy of the program of our own,
	# which no other process runs.
	exec 9<"/proc/$(rt state x | jq .pid)/exe"
	rt delete --force x
	run bash -c 'echo evil >/proc/self/fd/9'
	exec 9<&-
	[ "$status" -ne 0 ]
	[[ $output == *'Read-only file system'* || $output == *'not permitted'* ]]
}
@test "runtime: a failing hook is named and leaves nothing" {
	printf '#!/bin/sh\ncat >/dev/null\nexit 4\n' >"$CUSTODY_HOME/hook"
	chmod +x "$CUSTODY_HOME/hook"
	edit '.hooks = {createRuntime: [{path: "'"$CUSTODY_HOME/hook"'"}]}'
	run rt create -b "$B" x
	refused "$CUSTODY_HOME/hook" 'exit code: 4'
}
@test "runtime: state is not moved by CUSTODY_ROOT and found without any environment" {
	local id=custody-test-$$ place
	env CUSTODY_ROOT="$CUSTODY_ROOT" "$RT" --cgroup-manager disabled create -b "$B" $id
	place=/run/custody-runtime/$id
	[ -e "$place" ]
	[ "$(jq -r .custody_root "$place/custody.json")" = "$CUSTODY_ROOT" ]
	env -i "$RT" start $id
	env -i "$RT" kill $id KILL
	env -i "$RT" delete --force $id
	[ ! -e "$place" ]
}

# --- state root without --root --------------------------------------------------------------------------------------
# as_user COMMAND...: in a mount namespace with an empty /tmp and /run/user, as SUITE_UID.  $T is its /tmp, seen from
# outside by the file `tmp.list`; what root lays out there beforehand is in $PREPARE.
as_user() {
	chmod 0755 "$B" "$B/rootfs" "$B/rootfs/bin"
	chown -R "$SUITE_UID:$SUITE_UID" "$B"
	run unshare -m --propagation private bash -c '
		mkdir -p "$CUSTODY_HOME/bin" && cp "$1" "$CUSTODY_HOME/bin/" || exit 99
		# Files in /tmp itself stay reachable by a descriptor only.
		exec 9<"$CUSTODY_HOME"
		mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/home || exit 99
		mount --bind /proc/self/fd/9 /run/home || exit 99
		mount -t tmpfs -o mode=1777 tmpfs /tmp || exit 99
		exec 9<&-
		eval "$PREPARE"
		status=0
		setpriv --reuid "$2" --regid "$2" --clear-groups --inh-caps=-all env -i PATH="$PATH" RT=/run/home/bin/custody-runtime \
			B=/run/home/b bash -c "$3" || status=$?
		mkdir -p /run/user
		find /tmp /run/user -mindepth 1 ! -name .empty-directory -printf "%p %y %m %U\n" | sort >/run/home/tmp.list
		exit $status' sh "$RT" "$SUITE_UID" "$1"
	LIST=$(cat "$CUSTODY_HOME/tmp.list")
}
# What a rootless container needs, made by the user: one id, no cgroup.
rootless() {
	edit '.linux.namespaces += [{type:"user"}] | .linux.uidMappings = [{containerID:0,hostID:'"$SUITE_UID"',size:1}]
		| .linux.gidMappings = [{containerID:0,hostID:'"$SUITE_UID"',size:1}] | .process.args = ["/bin/busybox","echo","ran"]
		| .mounts |= map(select(.type == "proc"))'
}

@test "runtime: without a login session the state of a user is in /tmp, for that user alone" {
	rootless
	export PREPARE=''
	as_user '$RT --cgroup-manager disabled create -b $B x < <(:) > >(cat) 2>&1; ls /tmp/custody-runtime-*/x; $RT list -q; $RT delete --force x; $RT --cgroup-manager disabled run -b $B y < <(:)'
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
	[[ $output == *custody.json*status*x*ran* ]] || { echo "$output" && return 1; }
	[ "$LIST" = "/tmp/custody-runtime-$SUITE_UID d 700 $SUITE_UID" ]
}
@test "runtime: with a login session the state is there, and containers created before are still found" {
	rootless
	export PREPARE="mkdir /run/user; mkdir -m 700 /run/user/$SUITE_UID; chown $SUITE_UID /run/user/$SUITE_UID"
	as_user '$RT --cgroup-manager disabled create -b $B x < <(:) > >(cat) 2>&1; $RT list -q; $RT delete --force x'
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
	[ "${lines[-1]}" = x ] # the mapping tools complain that they know no such user
	[ "$LIST" = "/run/user/$SUITE_UID d 700 $SUITE_UID
/run/user/$SUITE_UID/custody-runtime d 700 $SUITE_UID" ] || { echo "$LIST" && return 1; }
	# The session begins after the container was created.
	PREPARE="mkdir -m 777 /run/user"
	as_user '$RT --cgroup-manager disabled create -b $B early < <(:) > >(cat) 2>&1; mkdir -m 700 /run/user/'"$SUITE_UID"'
		$RT state early; $RT --cgroup-manager disabled create -b $B late < <(:) > >(cat) 2>&1; $RT start early; $RT start late
		ls -d /tmp/custody-runtime-*/* /run/user/*/custody-runtime/*; $RT delete --force early; $RT delete --force late'
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
	[[ $output == *'"id": "early"'*/run/user/*/custody-runtime/late*/tmp/custody-runtime-*/early* ]] || { echo "$output" && return 1; }
	[[ $LIST != *early* && $LIST != *late* ]]
}
@test "runtime: a trap in /tmp under the name of the state root is refused, and nothing runs" {
	local trap name=/tmp/custody-runtime-$SUITE_UID
	rootless
	for trap in "mkdir -m 777 $name" "mkdir -m 700 $name; chown 65534 $name" "mkdir -m 770 $name; chown $SUITE_UID:65534 $name" \
		"mkdir -m 777 /tmp/theirs; ln -s /tmp/theirs $name" "ln -s /tmp/nowhere $name" "touch $name; chown $SUITE_UID $name" \
		"mkdir -m 700 /tmp/mine; chown $SUITE_UID /tmp/mine; ln -s /tmp/mine $name"; do
		export PREPARE=$trap
		as_user '$RT --cgroup-manager disabled run -b $B x < <(:) 2>&1'
		[ "$status" -eq 1 ] || { echo "$trap: $status $output" && return 1; }
		[[ $output == *"$name"* && $output != *ran* ]] || { echo "$trap: $output" && return 1; }
		# No file more than the expected ones.
		[ "$(grep -c . <<<"$LIST")" -le 2 ] || { echo "$trap: $LIST" && return 1; }
		[[ $LIST != */x* ]]
	done
}
@test "runtime: a container that another user laid out in /tmp is not used: no hook runs, no process ends" {
	local trap name=/tmp/custody-runtime-$SUITE_UID
	rootless
	# The state of a container whose process is the user's own and whose hook writes a file.
	export LAYOUT='mkdir -p '"$name"'/x; setpriv --reuid '"$SUITE_UID"' sleep 100 </dev/null >/dev/null 2>&1 & echo $! >/run/victim
		jq ".hooks = {poststop: [{path: \"/bin/touch\", args: [\"touch\", \"/tmp/hooked\"]}]}" /run/home/b/config.json >'"$name"'/x/config.json
		jq -n --argjson pid $! "{pid: \$pid, \"process-start-time\": $(cut -d" " -f22 /proc/$!/stat), \"cgroup-path\": \"\", rootfs: \"/\",
			\"systemd-cgroup\": false, bundle: \"/\", created: \"2026-01-01T00:00:00Z\", owner: \"x\", detached: true,
			external_descriptors: \"[]\"}" >'"$name"'/x/status; chown -R 65534 '"$name"'; chmod -R a+rX '"$name"'; rm -f /tmp/hooked'
	for trap in "$LAYOUT" "$LAYOUT; mkdir -p /run/user/$SUITE_UID; chown $SUITE_UID /run/user/$SUITE_UID" \
		"$LAYOUT; mv $name /tmp/theirs; ln -s /tmp/theirs $name" "$LAYOUT; chown $SUITE_UID $name; chmod 777 $name"; do
		export PREPARE=$trap
		as_user 'for verb in state "kill x KILL" "exec x true" start pause "delete --force x"; do
				set -- $verb; $RT "$1" ${2:-x} ${3:+"$3"} && [ "$1" != delete ] && echo "used by $1"
			done; $RT list -q; kill -0 $(cat /run/victim) && echo alive; kill $(cat /run/victim); ls /tmp'
		[[ $output == *alive* && $output != *used* && $output != *hooked* ]] || { echo "$trap: $output" && return 1; }
		[[ $LIST == */x/status* ]] || { echo "$trap: $LIST" && return 1; }
	done
}

@test "runtime: a state root that another user can write is not used, wherever it is and however it is spelled" {
	local root
	for root in "$CUSTODY_HOME/theirs" "/$CUSTODY_HOME/theirs"; do
		mkdir -m 755 "$CUSTODY_HOME/theirs"
		chown 65534 "$CUSTODY_HOME/theirs"
		run "$RT" --root "$root" --cgroup-manager disabled run -b "$B" y < <(:)
		[[ $status -eq 1 && $output == *'only you can write'* ]] || { echo "$root: $output" && return 1; }
		chown 0 "$CUSTODY_HOME/theirs"
		chmod 1777 "$CUSTODY_HOME/theirs"
		run "$RT" --root "$root" list
		[[ $status -eq 1 && $output == *'only you can write'* ]] || { echo "$root: $output" && return 1; }
		rmdir "$CUSTODY_HOME/theirs"
	done
}

# --- bad input ----------------------------------------------------------------------------------------------------
@test "runtime: a config.json that is none is refused" {
	local text
	for text in '' '{' '[]' 'null' '{"ociVersion":"1.0.0"' '{"a":"b}' '{}x'; do
		printf '%s' "$text" >"$B/config.json"
		run rt create -b "$B" x
		refused config.json
	done
	printf '{"ociVersion":\0"1.0.0"}' >"$B/config.json"
	run rt create -b "$B" x
	refused NUL
}
@test "runtime: a config.json that is too deep or too large is refused" {
	{ printf '{"a":'; head -c 200000 /dev/zero | tr '\0' '['; head -c 200000 /dev/zero | tr '\0' ']'; printf '}'; } >"$B/config.json"
	run rt create -b "$B" x
	refused deep
	{ printf '{"a":"'; head -c 17000000 /dev/zero | tr '\0' a; printf '"}'; } >"$B/config.json"
	run rt create -b "$B" x
	refused config.json
}
@test "runtime: a config.json that is no file, or not there, is refused" {
	rm "$B/config.json"
	run rt create -b "$B" x
	refused 'no such file or directory'
	mkfifo "$B/config.json"
	run timeout 60 "$RT" --root "$ROOT" create -b "$B" x
	refused 'not a regular file'
	run rt create -b "$CUSTODY_HOME/nowhere" x
	refused nowhere
}
@test "runtime: another ociVersion is refused by name" {
	edit '.ociVersion = "2.1.0"'
	run rt create -b "$B" x
	refused 2.1.0 'implements 1.0'
}
@test "runtime: missing parts of a config.json are refused" {
	cp "$B/config.json" "$B/good"
	local part
	for part in .root .root.path .linux .mounts; do
		jq "del($part)" "$B/good" >"$B/config.json"
		run rt create -b "$B" x
		refused "$(sed 's/.*\.//' <<<"$part")"
	done
	# Given twice: two readers could see two roots.
	sed '0,/"root"/s//"root":{"path":"\/"},"root"/' "$B/good" >"$B/config.json"
	run rt create -b "$B" x
	refused root
}
@test "runtime: a rootfs that is missing or no directory is refused" {
	edit '.root.path = "nowhere"'
	run rt create -b "$B" x
	refused "$B/nowhere" 'no such file or directory'
	edit '.root.path = "config.json"'
	run rt create -b "$B" x
	refused 'not a directory'
}
@test "runtime: links in the rootfs do not lead out of it" {
	local outside=$CUSTODY_HOME/outside name
	mkdir "$outside"
	for name in dev proc sys tmp; do
		rmdir "$B/rootfs/$name"
		ln -s "$outside" "$B/rootfs/$name"
		run rt run -b "$B" x
		[ -z "$(ls -A "$outside")" ]
		rm "$B/rootfs/$name"
		mkdir "$B/rootfs/$name"
		edit '.process.args = ["/bin/busybox","true"]'
	done
	[ -z "$(rt list -q)" ]
}
@test "runtime: ids that are no names are refused" {
	local id
	for id in '' . .. .x a/b ../x 'a b' $'a\nb' 'a;b' 'ü' "$(head -c 300 /dev/zero | tr '\0' a)"; do
		for verb in create start state kill delete; do
			run rt $verb "$id"
			[ "$status" -eq 1 ]
			[[ $output == *'container id'* ]]
		done
	done
	[ ! -e "$CUSTODY_HOME/x" ]
}
@test "runtime: the same id twice is refused, the first is untouched" {
	rt create -b "$B" x
	run rt create -b "$B" x
	[ "$status" -eq 1 ]
	[[ $output == *'already exists'* ]]
	[ "$(status_of x)" = created ]
}
@test "runtime: of two creates with one id at once exactly one wins" {
	local i a b
	for i in 1 2 3 4 5; do
		rt create -b "$B" x 2>/dev/null & a=$!
		rt create -b "$B" x 2>/dev/null & b=$!
		local won=0
		wait $a && won=$((won + 1))
		wait $b && won=$((won + 1))
		[ $won -eq 1 ]
		rt delete -f x
	done
}
@test "runtime: two engines with the same id: each has its own state root, neither sees the other's" {
	local other=$CUSTODY_HOME/other pid
	rt create -b "$B" x
	rt start x
	"$RT" --root "$other" --cgroup-manager disabled create -b "$B" x
	[ "$(status_of x)" = running ]
	[ "$("$RT" --root "$other" state x | jq -r .status)" = created ]
	pid=$("$RT" --root "$other" state x | jq -r .pid)
	[ "$pid" != "$(rt state x | jq -r .pid)" ]
	"$RT" --root "$other" delete --force x
	wait_until gone "$pid"
	[ "$(status_of x)" = running ]
	[ -z "$("$RT" --root "$other" list -q)" ]
}

@test "runtime: delete of a running container is refused, with --force it is ended" {
	rt run -d -b "$B" x
	local pid
	pid=$(rt state x | jq .pid)
	run rt delete x
	[ "$status" -eq 1 ]
	[[ $output == *'not stopped: running'* ]]
	[ -d "/proc/$pid" ]
	rt delete --force x
	wait_until gone "$pid"
}
@test "runtime: delete --force ends a container without a PID namespace and without a cgroup" {
	local pid
	edit '.linux.namespaces |= map(select(.type != "pid")) | .mounts |= map(select(.destination != "/proc")) |
		.linux.maskedPaths = [] | .linux.readonlyPaths = []'
	rt create -b "$B" x </dev/null
	pid=$(rt state x | jq .pid)
	rt delete --force x
	wait_until gone "$pid"
}
@test "runtime: delete and run remove the cgroup of every hierarchy" {
	local name=custody-test-$$
	rt() { "$RT" --root "$ROOT" --cgroup-manager cgroupfs "$@"; }
	edit '.linux.cgroupsPath = "/'"$name"'"'
	rt create -b "$B" x </dev/null >/dev/null 2>"$CUSTODY_HOME/err" 3>&- || {
		grep cgroup "$CUSTODY_HOME/err"
		skip 'missing: LAYER-MEMORY-LIMIT'
	}
	[ -n "$(find /sys/fs/cgroup -maxdepth 2 -name "$name")" ]
	rt delete --force x
	[ -z "$(find /sys/fs/cgroup -maxdepth 2 -name "$name")" ]
	edit '.process.args = ["/bin/busybox", "true"]'
	rt run -b "$B" x </dev/null
	[ -z "$(find /sys/fs/cgroup -maxdepth 2 -name "$name")" ]
}
@test "runtime: a missing container: delete --force succeeds, all other commands report it" {
	rt delete --force x
	for verb in 'delete x' 'state x' 'start x' 'kill x' 'pause x' 'resume x' 'exec x true' 'ps x' 'update --pids-limit 5 x'; do
		# shellcheck disable=SC2086 # words
		run rt $verb
		refused "container 'x' does not exist"
	done
}
@test "runtime: a dead container: state is stopped, start and exec fail, kill names the reason" {
	edit '.process.args = ["/bin/busybox","true"]'
	rt run --keep -b "$B" x
	[ "$(status_of x)" = stopped ]
	rt state x | jq -e '.pid == 0'
	run rt start x
	[ "$status" -eq 1 ]
	run rt exec x true
	[ "$status" -eq 1 ]
	run rt kill x
	[ "$status" -eq 1 ]
	[[ $output == *'no such process'* ]]
	rt delete x
}
@test "runtime: a caller that is killed leaves a container that can be listed, killed and deleted" {
	rt run -b "$B" x &
	local caller=$!
	wait_until test -e "$ROOT/x/status"
	kill -9 "$(pgrep -P $caller || echo $caller)" 2>/dev/null || true
	kill -9 $caller 2>/dev/null || true
	[ "$(rt list -q)" = x ]
	rt delete --force x
	[ ! -e "$ROOT/x" ]
}
@test "runtime: a state root that is full or read-only: refused, nothing left" {
	run unshare -m bash -c "mkdir -p '$ROOT' && mount -t tmpfs -o size=4k,nr_inodes=3 tmpfs '$ROOT' &&
		'$RT' --root '$ROOT' --cgroup-manager disabled create -b '$B' x; s=\$?; ls -A '$ROOT'; exit \$s"
	[ "$status" -eq 1 ]
	run unshare -m bash -c "mkdir -p '$ROOT' && mount -t tmpfs -o ro tmpfs '$ROOT' &&
		'$RT' --root '$ROOT' --cgroup-manager disabled create -b '$B' x"
	[ "$status" -eq 1 ]
	[ -z "$(pgrep -f "$B" || true)" ]
}
@test "runtime: a broken status file does not hide the other containers" {
	rt create -b "$B" x
	mkdir "$ROOT/broken"
	echo '{"pid":' >"$ROOT/broken/status"
	run rt list -q
	[[ $output == *x* ]]
	rm -r "$ROOT/broken"
}
