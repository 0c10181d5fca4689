#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# `features` and governed containers: each annotation that it calls potentially unsafe is obeyed or refused.
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
features() {
	"$RT" features | jq -r "$1"
}
# with NAME VALUE: config.json with this annotation alone.
with() {
	jq --arg k "$1" --arg v "$2" '.annotations = {($k): $v}' "$B/config.json" >"$B/new" && mv "$B/new" "$B/config.json"
}

@test "PLAT-4: CARD-7: features: each annotation that is called unsafe is refused or obeyed in a governed container" {
	local name tried=0
	isolated
	for name in $(features '.potentiallyUnsafeConfigAnnotations[]'); do
		case $name in
		custody.)
			with custody.nosuch x
			try rt create -b "$B" x
			refused "unknown annotation 'custody.nosuch'"
			with custody.worktree /nosuch
			try rt create -b "$B" x
			refused custody.worktree
			;;
		org.systemd.property. | run.oci.)
			with "${name}handler" x
			try rt create -b "$B" x
			refused "annotation '${name}handler' is refused"
			;;
		io.kubernetes.cri-o.ContainerType | io.kubernetes.cri.container-type)
			# An update of CRI is clamped; a person's is refused.
			with "$name" container
			edit '.linux.resources = {pids: {limit: 100}}'
			"$RT" --root "$ROOT" create -b "$B" x </dev/null
			"$RT" --root "$ROOT" update --pids-limit 200 x
			[ "$(last container.update .status)" = clamped ]
			"$RT" --root "$ROOT" delete --force x
			;;
		*)
			echo "not tried: $name"
			return 1
			;;
		esac
		tried=$((tried + 1))
	done
	[ "$tried" -eq 5 ]
	# And none that a governed container is refused for is missing.
	for name in run.oci.seccomp_bpf_data org.systemd.property.DeviceAllow custody.x; do
		with "$name" x
		try rt create -b "$B" x
		refused "$name"
		features '.potentiallyUnsafeConfigAnnotations[]' | grep -qxF "${name%.*}."
	done
	nothing_left
}
@test "PLAT-4: features: without governance libcrun obeys run.oci, and custody's names have no effect" {
	conf '"sandbox":{"enabled":false},"security_profile":"off"'
	with run.oci.hooks.stderr "$CUSTODY_HOME/hooks"
	edit '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "echo said >&2"]}]'
	rt run -b "$B" x >"$CUSTODY_HOME/out" 2>&1 </dev/null
	grep -qx said "$CUSTODY_HOME/hooks"
	with custody.nosuch x
	edit 'del(.hooks)'
	[ "$(rt run -b "$B" x </dev/null)" = ran ]
}
@test "PLAT-4: features: what containerd and CRI-O ask for: user namespaces, idmapped and recursively read-only mounts" {
	features '.linux.namespaces[]' | grep -qx user
	[ "$(features .linux.mountExtensions.idmap.enabled)" = true ]
	features '.mountOptions[]' | grep -qx rro
	# A governed container of a user namespace with a recursively read-only bind.
	isolated
	mkdir -p "$CUSTODY_HOME/data/below"
	edit '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}]
		| .linux.gidMappings = .linux.uidMappings
		| .mounts += [{destination: "/data", type: "bind", source: "'"$CUSTODY_HOME/data"'", options: ["rbind", "rro"]}]'
	chown -R 100000:100000 "$B/rootfs" "$CUSTODY_HOME/data"
	chmod 0755 "$CUSTODY_HOME"
	command_is 'busybox head -n 1 /proc/self/uid_map; busybox touch /data/below/file'
	try unshare -m --propagation private sh -ec 'mount -t tmpfs tmpfs "$1/below"
		chown 100000:100000 "$1/below"
		exec "$2" --root "$3" --cgroup-manager disabled run -b "$4" x' sh "$CUSTODY_HOME/data" "$RT" "$ROOT" "$B"
	[ "$status" -ne 0 ]
	[[ $output == *100000* ]] || { echo "$output" && return 1; }
	[[ $output == *'Read-only file system'* ]] || { echo "$output" && return 1; }
	nothing_left
}
