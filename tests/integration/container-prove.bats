#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Proofs from outside: a real container is created from one configuration and compared with another, which asks for more.  Every layer
# that is missing is named, and no other.

load ../lib/suite.bash
load ../lib/oci.bash

setup_file() {
	make -s -C "${CUSTODY_BUILD:?a finished build directory}" tests/lib/prove-container >/dev/null
}
setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	oci_setup
	PROVE=$CUSTODY_BUILD/tests/lib/prove-container
	mkdir -p "$B/rootfs/data" "$B/rootfs/mnt" "$B/rootfs/other"
	echo kept >"$B/rootfs/data/file"
	chown -R 100000:100000 "$B/rootfs"
	chmod 755 "$CUSTODY_HOME" "$B"
	edit '.process.cwd = "/data" | .root.readonly = true | .linux.namespaces += [{type: "user"}, {type: "cgroup"}]
		| .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings
		| .process.rlimits = [{type: "RLIMIT_NOFILE", soft: 512, hard: 512}]
		| .mounts += [{destination: "/mnt", type: "bind", source: "'"$B"'/rootfs/bin", options: ["bind", "ro"]}]
		| .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mknod"], action: "SCMP_ACT_ERRNO"}]}'
	cp "$B/config.json" "$B/asked.json"
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	[ -z "${PROVER_PID:-}" ] || wait "$PROVER_PID" || true
	[ ! -d "$ROOT" ] || chown -R 0:0 "$ROOT" # of the test by a user
	oci_teardown
}
# prove LAYERS [FD]: what the container x, which is created and waits, has of asked.json; LINES, $status.
prove() {
	run --separate-stderr "$PROVE" "$(rt state x | jq .pid)" "$B/asked.json" "$1" </dev/null
}
# missing LAYER TEXT LAYERS: the configuration as edited lacks LAYER alone.
missing() {
	rt create -b "$B" x </dev/null >/dev/null 2>&1 3>&-
	prove "$3"
	assert_status 1
	grep -q "^$1=missing: .*$2" <<<"$output" || { echo "no '$2' in: $output"; return 1; }
	[ "$(grep -c missing: <<<"$output")" -eq 1 ] || { echo "more than $1: $output"; return 1; }
	[[ $stderr == *"layer '$1' is missing"*"custody doctor --explain LAYER-${1^^}"* ]]
	# It was never started.
	[ "$(status_of x)" = created ]
}
# Limits need a cgroup of its own, which most of these tests do without.
ALL=user-namespace,pid-namespace,mount-namespace,network-namespace,ipc-namespace,uts-namespace,cgroup-namespace,read-only-root
ALL+=,masked-paths,private-devices,worktree,capabilities,no-new-privs,seccomp,session,descriptors,working-directory,process-state

@test "ISO-1: a container as asked is proven before its start, and its filter after it" {
	local pid line
	rt create -b "$B" x </dev/null
	pid=$(rt state x | jq .pid)
	mkfifo "$CUSTODY_HOME/go"
	"$PROVE" "$pid" "$B/asked.json" "$ALL" <"$CUSTODY_HOME/go" >"$CUSTODY_HOME/words" 3>&- &
	PROVER_PID=$!
	exec 9>"$CUSTODY_HOME/go"
	wait_until grep -q '^end$' "$CUSTODY_HOME/words"
	[ "$(grep -c '=proven$' "$CUSTODY_HOME/words")" -eq 17 ]
	run grep -E 'missing|seccomp' "$CUSTODY_HOME/words"
	[ "$status" -eq 1 ]
	echo >&9
	exec 9>&-
	# It waits, without an end, until the program is executed.
	rt start x
	wait "$PROVER_PID"
	PROVER_PID=
	grep -qx 'seccomp=proven-after-start' "$CUSTODY_HOME/words"
}
@test "ISO-1: a container that asks for no filter has none after its start, and is named" {
	local pid status=0
	edit 'del(.linux.seccomp)'
	rt create -b "$B" x </dev/null
	pid=$(rt state x | jq .pid)
	mkfifo "$CUSTODY_HOME/go"
	"$PROVE" "$pid" "$B/asked.json" seccomp,no-new-privs <"$CUSTODY_HOME/go" >"$CUSTODY_HOME/words" 2>&1 3>&- &
	PROVER_PID=$!
	exec 9>"$CUSTODY_HOME/go"
	echo >&9
	exec 9>&-
	rt start x
	wait "$PROVER_PID" || status=$?
	PROVER_PID=
	[ "$status" -eq 1 ]
	grep -qx 'seccomp=missing: Seccomp is 0, not 2' "$CUSTODY_HOME/words"
}
@test "ISO-1: a process that exits before it is read is not proven" {
	local pid status=0
	rt create -b "$B" x </dev/null
	pid=$(rt state x | jq .pid)
	mkfifo "$CUSTODY_HOME/go"
	"$PROVE" "$pid" "$B/asked.json" "$ALL" <"$CUSTODY_HOME/go" >"$CUSTODY_HOME/words" 2>"$CUSTODY_HOME/err" 3>&- &
	PROVER_PID=$!
	exec 9>"$CUSTODY_HOME/go"
	wait_until grep -q '^end$' "$CUSTODY_HOME/words"
	echo >&9
	exec 9>&-
	# It waits for the start; the process ends instead.
	rt delete --force x
	wait "$PROVER_PID" || status=$?
	PROVER_PID=
	[ "$status" -eq 3 ] || { echo "status $status"; cat "$CUSTODY_HOME"/words "$CUSTODY_HOME"/err; false; }
	grep -q 'exited before its layers were read' "$CUSTODY_HOME/err"
	run grep seccomp= "$CUSTODY_HOME/words"
	[ "$status" -eq 1 ]
	run --separate-stderr "$PROVE" "$pid" "$B/asked.json" seccomp </dev/null
	assert_status 3
	[ "$output" = end ]
}
@test "ISO-1: without a user namespace: named" {
	edit 'del(.linux.uidMappings, .linux.gidMappings) | .linux.namespaces |= map(select(.type != "user"))'
	# The ids are then others as well.
	missing user-namespace "the host's" "${ALL/,process-state/}"
}
@test "ISO-1: a map with root of the host: named" {
	edit '.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}, {containerID: 1000, hostID: 0, size: 1}]'
	missing user-namespace 'root of the host' "$ALL"
}
@test "ISO-1: without a pid, network, ipc, uts or cgroup namespace: each named" {
	local type layer
	for type in network ipc uts cgroup; do
		jq '.linux.namespaces |= map(select(.type != "'$type'"))
			| if "'$type'" == "ipc" then .mounts |= map(select(.type != "mqueue")) else . end
			| if "'$type'" == "network" then .mounts |= map(if .type == "sysfs" then .type = "bind" | .source = "/sys"
				| .options = ["rbind", "ro"] else . end) else . end
			| if "'$type'" == "uts" then del(.hostname) else . end' "$B/asked.json" >"$B/config.json"
		layer=$type-namespace
		missing "$layer" "the host's, ${type/network/net}:" "${ALL/,read-only-root,masked-paths/}"
		rt delete --force x
	done
	# The container's /proc needs a pid namespace: it is bound here.
	jq '.linux.namespaces |= map(select(.type != "pid")) | .mounts |= map(select(.destination != "/proc")) | .linux.maskedPaths = []
		| .linux.readonlyPaths = []' "$B/asked.json" >"$B/config.json"
	missing pid-namespace "the host's, pid:" pid-namespace,network-namespace,capabilities
}
@test "ISO-1: a shared mount: named" {
	edit '.linux.rootfsPropagation = "shared"'
	missing mount-namespace 'is shared' "$ALL"
}
@test "ISO-1: a writable root, a writable mount, a mount that was not asked: each named" {
	edit '.root.readonly = false'
	missing read-only-root '/ is writable' "$ALL"
	rt delete --force x
	jq '.mounts |= map(if .destination == "/mnt" then .options = ["bind"] else . end)' "$B/asked.json" >"$B/config.json"
	missing read-only-root '/mnt is writable' "$ALL"
	rt delete --force x
	jq '.mounts += [{destination: "/other", type: "tmpfs", source: "tmpfs"}]' "$B/asked.json" >"$B/config.json"
	missing read-only-root '/other is mounted' "$ALL"
	rt delete --force x
	jq '.mounts |= map(select(.destination != "/mnt"))' "$B/asked.json" >"$B/config.json"
	missing read-only-root 'nothing is mounted at /mnt' "$ALL"
}
@test "ISO-1: an unmasked path, a writable one: each named" {
	edit '.linux.maskedPaths -= ["/proc/keys"]'
	missing masked-paths '/proc/keys is not masked' "$ALL"
	rt delete --force x
	jq '.linux.readonlyPaths -= ["/proc/sys"]' "$B/asked.json" >"$B/config.json"
	missing masked-paths '/proc/sys is writable' "$ALL"
}
@test "ISO-1: /dev of the host, a device of the host: each named" {
	edit '.mounts |= map(if .destination == "/dev" then .type = "bind" | .source = "/dev" | .options = ["rbind"]
		else select(.destination | startswith("/dev/") | not) end)'
	missing private-devices 'not a tmpfs' "${ALL/,read-only-root,masked-paths/}"
	rt delete --force x
	jq '.linux.devices += [{path: "/dev/kmsg", type: "c", major: 1, minor: 11}]' "$B/asked.json" >"$B/config.json"
	missing private-devices '/dev/kmsg exists' "$ALL"
}
@test "ISO-1: one more capability: named" {
	edit '.process.capabilities.bounding += ["CAP_SYS_ADMIN"]'
	missing capabilities 'the bounding set' "$ALL"
}
@test "ISO-1: no_new_privs off: named" {
	edit '.process.noNewPrivileges = false'
	missing no-new-privs 'NoNewPrivs is 0' "$ALL"
}
@test "ISO-1: an inherited descriptor: named, and allowed if it was preserved" {
	# A pipe as descriptor 3, passed on by --preserve-fds.
	rt create --preserve-fds 1 -b "$B" x </dev/null 3< <(:) >/dev/null 2>&1
	prove descriptors,session
	assert_status 1
	[[ $output == *'descriptors=missing: descriptor 3 is inherited'* && $output == *session=proven* ]]
}
@test "ISO-1: a terminal of the host as stdout: named" {
	rt delete --force x
	run script -qec "'$RT' --root '$ROOT' --cgroup-manager disabled create -b '$B' x" /dev/null </dev/null
	prove session,descriptors
	# script has closed the terminal by now; the process still has it.
	assert_status 1
	[[ $output == *'session=missing: descriptor '*'is a terminal of the host'* && $output == *descriptors=proven* ]]
}
@test "ISO-1: another working directory: named" {
	edit '.process.cwd = "/tmp"'
	missing working-directory 'is not /data' "${ALL/,worktree/}"
	rt delete --force x
	jq '.process.cwd = "/proc"' "$B/asked.json" >"$B/config.json"
	missing working-directory 'below /proc' "${ALL/,worktree/}"
}
@test "ISO-1: another user, group, umask, resource limit: each named" {
	local change
	for change in '.process.user.uid = 5' '.process.user.additionalGids = [9]' '.process.user.umask = 0' \
		'.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 512, hard: 600}]'; do
		jq "$change" "$B/asked.json" >"$B/config.json"
		missing process-state '.' "${ALL/,capabilities/}"
		rt delete --force x
	done
}
@test "ISO-1: limits of the cgroup: proven if they are at most those asked, else each named" {
	local change layer
	rt() { "$RT" --root "$ROOT" --cgroup-manager cgroupfs "$@"; }
	jq '.linux.cgroupsPath = "/custody-test-'$$'" | .linux.resources = {memory: {limit: 67108864}, pids: {limit: 40}, cpu: {quota: 50000, period: 100000}}' \
		"$B/asked.json" >"$B/new"
	mv "$B/new" "$B/asked.json"
	cp "$B/asked.json" "$B/config.json"
	rt create -b "$B" x </dev/null >/dev/null 2>"$CUSTODY_HOME/err" 3>&- || {
		grep cgroup "$CUSTODY_HOME/err"
		skip 'missing: LAYER-MEMORY-LIMIT'
	}
	prove memory-limit,pids-limit,cpu-limit
	assert_status 0
	[ "$(grep -c =proven <<<"$output")" -eq 3 ]
	rt delete --force x
	for change in 'memory .linux.resources.memory.limit = 134217728' 'pids .linux.resources.pids.limit = 41' \
		'cpu .linux.resources.cpu.quota = 50100' 'pids del(.linux.resources.pids)'; do
		jq "${change#* }" "$B/asked.json" >"$B/config.json"
		missing "${change%% *}-limit" '.' memory-limit,pids-limit,cpu-limit
		rt delete --force x
	done
}
@test "ISO-1: a user proves capabilities, no_new_privs, process state and filter; what they cannot read is missing" {
	local as
	suite_is_able_to_map || skip 'missing: user namespaces of an ordinary user'
	chown -R "$SUITE_UID:$SUITE_UID" "$CUSTODY_HOME"
	as=(setpriv --reuid "$SUITE_UID" --regid "$SUITE_UID" --clear-groups --inh-caps=-all)
	edit '.linux.uidMappings = [{containerID: 0, hostID: '"$SUITE_UID"', size: 1}] | .linux.gidMappings = .linux.uidMappings
		| del(.process.rlimits) | .mounts |= map(if .type == "devpts" then .options -= ["gid=5"] else . end)'
	cp "$B/config.json" "$B/asked.json"
	rt() { "${as[@]}" "$RT" --root "$ROOT" --cgroup-manager disabled "$@"; }
	rt create -b "$B" x </dev/null
	run --separate-stderr "${as[@]}" "$PROVE" "$(rt state x | jq .pid)" "$B/asked.json" all </dev/null
	assert_status 1
	[ "$(grep -F "=proven" <<<"$output")" = $'capabilities=proven\nno-new-privs=proven\nprocess-state=proven' ]
	[ "$(grep -c 'missing: .*Permission denied' <<<"$output")" -eq 14 ]
}
suite_is_able_to_map() {
	setpriv --reuid "$SUITE_UID" --regid "$SUITE_UID" --clear-groups unshare -Ur true 2>/dev/null
}
