# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A dockerd of the suite's own, with RUNTIME as the default runtime.  DOCKER_STORE=containerd: with containerd's image store.
D=unix:///run/docker.sock
docker() {
	command docker -H "$D" "$@"
}
export -f docker
export D

start_docker() {
	mkdir -p "$SUITE"
	make_image
	configure_docker
	launch_docker
	docker import "$SUITE/box.tar" box >/dev/null
}
# configure_docker [FILTER]: the shipped registration, with the path of the runtime under test; FILTER changes it.
configure_docker() {
	# docker 28 warns in each `run` without; in the network namespace of this suite.
	echo 1 >/proc/sys/net/ipv4/ip_forward
	jq --arg name "$NAME" --arg path "$RUNTIME" '{runtimes: {($name): (.runtimes["custody-runtime"] | .path = $path)},
		"default-runtime": $name} + if env.DOCKER_STORE == "containerd" then
		{features: {"containerd-snapshotter": true}} else {} end | '"${1:-.}" "$HERE/../../contrib/docker/daemon.json" >"$SUITE/daemon.json"
}
launch_docker() {
	dockerd --config-file "$SUITE/daemon.json" -H "$D" --iptables=false --ip6tables=false --bridge=none \
		--data-root /var/lib/docker --exec-root /run/docker --pidfile /run/docker.pid >>"$SUITE/dockerd.log" 2>&1 3>&- &
	until_ok docker version || { tail -n 20 "$SUITE/dockerd.log" >&2; return 1; }
}
stop_docker() {
	kill "$(cat /run/docker.pid)"
	until_ok test ! -e /run/docker.pid
}
# Where dockerd keeps the runtime's state depends on its version: search all of them.
state_is_empty() {
	local left
	left=$(find /run/docker -path '*/runtime-*/moby/*' -mindepth 1 -maxdepth 4 -type d -not -name '.*' 2>/dev/null |
		grep -v '/\.') || true
	[ -z "$left" ] || { printf 'left in the state root: %s\n' "$left"; return 1; }
}
