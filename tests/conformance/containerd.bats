# SPDX-License-Identifier: GPL-2.0-or-later
# containerd of this suite's own, driven by ctr.
load lib.bash
load containerd.bash

IMAGE=box.local/box:latest
setup_file() {
	start_containerd
}
teardown_file() {
	stop_containerd
}
teardown() {
	local t
	for t in $(ctr task ls -q); do ctr task rm -f "$t" >/dev/null 2>&1 || true; done
	for t in $(ctr container ls -q); do ctr container rm "$t" >/dev/null; done
	no_state --root /run/containerd/runc/default
}
ctr_run() { # OPTION... ID CMD...: with the runtime under test
	ctr run --runc-binary "$RUNTIME" "$@"
}
background() { # ID [OPTION...]
	local id=$1
	shift
	ctr_run -d "$@" --log-uri "file://$SUITE/$id.log" "$IMAGE" "$id" ready
	until_ok grep -q ready "$SUITE/$id.log"
}
pid_of() {
	ctr task ls | awk -v id="$1" '$1 == id { print $2 }'
}
status_of() {
	ctr task ls | awk -v id="$1" '$1 == id { print $3 }'
}

@test "ctr run: output and status 0 (sample)" {
	run ctr_run --rm "$IMAGE" one echo hello
	is 0 "$status"
	is hello "$output"
}
@test "ctr run: the status of the command (sample)" {
	run ctr_run --rm "$IMAGE" one sh -c 'exit 7'
	is 7 "$status"
}
@test "ctr run: command not found is reported (sample)" {
	run ctr_run --rm "$IMAGE" one nosuch
	[ "$status" -ne 0 ]
	has nosuch 'not found'
}
@test "ctr run -d, task ls, kill, delete (sample)" {
	background one
	is RUNNING "$(status_of one)"
	ctr task kill -s TERM one
	until_ok stopped one
	ctr task delete one
	is '' "$(status_of one)"
}
stopped() {
	[ "$(status_of "$1")" = STOPPED ]
}
@test "ctr task exec: output and status (sample)" {
	background one
	run ctr task exec --exec-id e1 one sh -c 'echo in; exit 9'
	is 9 "$status"
	is in "$output"
}
@test "ctr task exec --user, --cwd" {
	background one
	run ctr task exec --exec-id e1 --user 1000:1000 --cwd /tmp one sh -c 'id -u; pwd'
	is "$(printf '1000\n/tmp')" "$output"
}
@test "ctr run --uidmap, --gidmap: a user namespace" {
	run ctr_run --rm --uidmap 0:200000:65536 --gidmap 0:200000:65536 "$IMAGE" one sh -c 'cat /proc/self/uid_map; id -u'
	[[ $output =~ 200000 ]]
}
@test "ctr task exec: command not found is reported" {
	background one
	run ctr task exec --exec-id e1 one nosuch
	[ "$status" -ne 0 ]
	has nosuch
}
@test "ctr task exec -t: a terminal" {
	background one
	run "$HERE/terminal.py" size=20x70 expect='# ' send='stty size\n' expect='20 70' send='exit 4\n' -- \
		ctr task exec -t --exec-id e1 one sh
	is 4 "$status"
}
@test "ctr run -t: a terminal, and resize reaches the container" {
	run "$HERE/terminal.py" size=33x99 expect=ready size=40x120 expect='40 120' send='\x1c' -- \
		timeout -s KILL 15 ctr run --runc-binary "$RUNTIME" -t --rm "$IMAGE" one ready
	has '40 120'
}
@test "ctr task pause and resume (sample)" {
	background one
	ctr task pause one
	is PAUSED "$(status_of one)"
	ctr task resume one
	is RUNNING "$(status_of one)"
	ctr task exec --exec-id e1 one true
}
@test "ctr task kill --all: every process (sample)" {
	background one
	ctr task kill --all -s KILL one
	until_ok stopped one
}
@test "ctr task rm -f: of a running task (sample)" {
	background one
	pid=$(pid_of one)
	ctr task rm -f one || true
	until_ok test ! -d "/proc/$pid"
}
@test "ctr task rm -f: of a paused task" {
	background one
	pid=$(pid_of one)
	ctr task pause one
	ctr task rm -f one || true
	until_ok test ! -d "/proc/$pid"
}
@test "ctr task start: a created container later" {
	# It has no option for the binary: containerd finds ours under the name of the default.
	ctr container create "$IMAGE" one echo hello
	run ctr task start one
	is hello "$output"
	is 0 "$status"
}
@test "ctr task ps: the processes" {
	background one
	run ctr task ps one
	has "$(pid_of one)"
}
@test "ctr task metrics" {
	background one
	run ctr task metrics one
	is 0 "$status"
	has memory
}
@test "ctr run --memory-limit: in the cgroup (sample)" {
	background one --memory-limit 33554432
	pid=$(pid_of one)
	if is_v2; then is 33554432 "$(cgroup_file "$pid" memory memory.max)"; else
		is 33554432 "$(cgroup_file "$pid" memory memory.limit_in_bytes)"
	fi
}
@test "ctr run --memory-limit: out of memory is 137 and an event" {
	ctr events >"$SUITE/events" 3>&- &
	events=$!
	run ctr_run --memory-limit 16777216 "$IMAGE" one sh -c 'dd if=/dev/zero of=/dev/null bs=64M count=1'
	is 137 "$status"
	until_ok grep -q /tasks/oom "$SUITE/events"
	kill $events
}
@test "ctr run --read-only, --mount, --env, --cwd" {
	mkdir -p "$SUITE/vol"
	run ctr_run --rm --read-only --mount "type=bind,src=$SUITE/vol,dst=/tmp,options=rbind:rw" --env A=b --cwd /tmp \
		"$IMAGE" one sh -c 'echo $A $PWD; touch /data/new'
	has 'b /tmp' 'Read-only file system'
}
@test "ctr run --cap-drop, --seccomp" {
	run ctr_run --rm --seccomp --cap-drop CAP_NET_RAW "$IMAGE" one grep -E '^(Seccomp|CapEff):' /proc/self/status
	[[ $output =~ Seccomp:[[:space:]]2 ]]
	[ $((0x$(awk '/CapEff/ { print $2 }' <<<"$output") & 0x2000)) -eq 0 ]
}
@test "ctr run --net-host, --with-ns" {
	if governed; then
		refused_for host-network ctr_run --rm --net-host "$IMAGE" one true
	else
		run ctr_run --rm --net-host "$IMAGE" one readlink /proc/self/ns/net
		is "$(readlink /proc/self/ns/net)" "$output"
	fi
	background two
	run ctr_run --rm --with-ns "pid:/proc/$(pid_of two)/ns/pid" "$IMAGE" one readlink /proc/self/ns/pid
	is "$(readlink "/proc/$(pid_of two)/ns/pid")" "$output"
}
@test "ctr run: stdin reaches the command" {
	run bash -c 'echo text | ctr run --runc-binary '"$RUNTIME"' --rm '"$IMAGE"' one head -n 1'
	is text "$output"
}
@test "ctr run --pidfile" {
	background one --pid-file "$SUITE/pid"
	is "$(pid_of one)" "$(cat "$SUITE/pid")"
}
@test "ctr: the same id twice is refused, the first keeps running" {
	background one
	run ctr_run -d "$IMAGE" one ready
	[ "$status" -ne 0 ]
	is RUNNING "$(status_of one)"
}
@test "ctr: a container outlives containerd" {
	background one
	pid=$(pid_of one)
	stop_containerd
	[ -d "/proc/$pid" ]
	launch_containerd
	is RUNNING "$(status_of one)"
	ctr task kill -s KILL one
	until_ok stopped one
}
@test "ctr: 50 containers at once start and stop (or CUSTODY_STORM of them)" {
	local i pids=() bad=0
	for i in $(seq "$STORM"); do
		ctr_run --rm "$IMAGE" "c$i" sh -c "exit $i" 3>&- &
		pids+=($!)
	done
	for i in $(seq "$STORM"); do
		local status=0
		wait "${pids[i - 1]}" || status=$?
		[ "$status" -eq "$i" ] || { bad=$((bad + 1)) && echo "c$i: $status"; }
	done
	is 0 "$bad"
	is 0 "$(ctr task ls -q | wc -l)"
	is 0 "$(ctr containers ls -q | wc -l)"
}
