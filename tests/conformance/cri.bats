# SPDX-License-Identifier: GPL-2.0-or-later
# containerd's CRI plug-in, as the kubelet drives it: pods of the shipped handler `custody`.
load lib.bash
load containerd.bash

cri() {
	"$HERE/cri.py" "$@"
}
setup_file() {
	/usr/bin/python3 -c 'import grpc' || { echo 'needs python3-grpcio' >&2; return 1; }
	start_containerd
	until_ok cri version
}
teardown_file() {
	stop_containerd
}
setup() {
	POD=$(cri run-pod "pod$BATS_TEST_NUMBER" custody)
}
teardown() {
	cri stop-pod "$POD"
	cri rm-pod "$POD"
	no_state --root /run/containerd/runc/k8s.io
}
# background [KEY=VALUE...]: a container that has printed "ready"; its id in $ID.
background() {
	ID=$(cri create "$POD" "box$BATS_TEST_NUMBER" "$@" -- ready)
	cri start "$ID"
	until_ok grep -q ready "$SUITE/box$BATS_TEST_NUMBER.log"
}
exited() {
	[[ $(cri status "$1") == EXITED* ]]
}

@test "cri: a pod starts and ends (sample)" {
	[ -n "$POD" ]
}
@test "cri: create, start, logs, stop, remove (sample)" {
	background
	[[ $(cri status "$ID") == RUNNING* ]]
	cri stop "$ID" 5
	is 'EXITED 3 Error' "$(cri status "$ID")"
	cri rm "$ID"
	run cri status "$ID"
	[ "$status" -ne 0 ]
}
@test "cri: the status of the command" {
	ID=$(cri create "$POD" box -- sh -c 'exit 7')
	cri start "$ID"
	until_ok exited "$ID"
	is 'EXITED 7 Error' "$(cri status "$ID")"
}
@test "cri: a command that does not exist fails to start, with its name (sample)" {
	ID=$(cri create "$POD" box -- nosuch)
	run cri start "$ID"
	[ "$status" -ne 0 ]
	has nosuch
}
@test "cri exec: output and status (sample)" {
	background
	run cri exec "$ID" -- sh -c 'echo in; exit 9'
	is 9 "$status"
	is in "$output"
}
@test "cri exec: a command that does not exist" {
	background
	run cri exec "$ID" -- nosuch
	[ "$status" -ne 0 ]
	has nosuch
}
@test "cri stop 0: killed" {
	background
	cri stop "$ID" 0
	[[ $(cri status "$ID") == 'EXITED 137 '* ]]
}
@test "cri: out of memory is OOMKilled (sample)" {
	ID=$(cri create "$POD" box memory=16777216 -- sh -c 'dd if=/dev/zero of=/dev/null bs=64M count=1')
	cri start "$ID"
	until_ok exited "$ID"
	is 'EXITED 137 OOMKilled' "$(cri status "$ID")"
}
@test "cri update: memory of a running container (sample)" {
	background memory=67108864
	cri update "$ID" 33554432
	is 33554432 "$(memory_limit)"
	# The kubelet repeats a call that fails for ever: a governed container's is clamped to what was approved.
	cri update "$ID" 134217728
	if governed; then is 67108864 "$(memory_limit)"; else is 134217728 "$(memory_limit)"; fi
}
memory_limit() {
	cri exec "$ID" -- sh -c 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max'
}
@test "cri: read-only root, mount, user" {
	mkdir -p "$SUITE/vol"
	chmod 777 "$SUITE/vol"
	background readonly=1 user=1000 "mount=$SUITE/vol:/mnt"
	run cri exec "$ID" -- sh -c 'id -u; touch /mnt/file && touch /file'
	[ "$status" -ne 0 ]
	has 1000 'Read-only file system'
	[ -e "$SUITE/vol/file" ]
}
@test "cri: two containers of a pod share its namespaces" {
	background
	first=$ID
	ID=$(cri create "$POD" second -- sh -c 'readlink /proc/self/ns/ipc')
	cri start "$ID"
	until_ok exited "$ID"
	grep -qF "$(cri exec "$first" -- readlink /proc/self/ns/ipc)" "$SUITE/second.log"
}
@test "cri: the containers of a pod end with it" {
	background
	cri stop-pod "$POD"
	[[ $(cri status "$ID") == EXITED* ]]
}
@test "cri: ten pods at once" {
	local i pids=()
	for i in $(seq 10); do cri run-pod "many$i" custody & pids+=($!); done >"$SUITE/pods" 3>&-
	wait "${pids[@]}"
	is 10 "$(wc -l <"$SUITE/pods")"
	while read -r pod; do
		cri stop-pod "$pod"
		cri rm-pod "$pod"
	done <"$SUITE/pods"
}
