# SPDX-License-Identifier: GPL-2.0-or-later
# podman with systemd's cgroup manager, under a systemd of this suite's own.
load lib.bash

ENGINE=podman
SUITE=/run/shared/suite
setup_file() {
	mkdir -p "$SUITE"
	make_image
	podman_config /etc/containers containers.conf.d/70-suite.conf systemd
	podman import -q "$SUITE/box.tar" box
}
teardown() {
	podman rm -fa -t 0 >/dev/null
	no_state
}
scope_of() {
	echo "libpod-$(podman inspect -f '{{.Id}}' one).scope"
}
no_unit() {
	[ "$(systemctl is-active "$1")" != active ]
}

@test "podman --cgroup-manager systemd: run" {
	run podman run --rm box echo hello
	is 0 "$status"
	is hello "$output"
}
@test "podman --cgroup-manager systemd: the container is a scope, gone afterwards" {
	background one
	scope=$(scope_of)
	is active "$(systemctl is-active "$scope")"
	grep -q "$scope" "/proc/$(pid_of one)/cgroup"
	podman rm -f -t 0 one
	until_ok no_unit "$scope"
}
@test "podman --cgroup-manager systemd: a stopped container leaves no scope" {
	background one
	scope=$(scope_of)
	podman kill -s TERM one
	is 3 "$(podman wait one)"
	podman rm one
	until_ok no_unit "$scope"
}
@test "podman --cgroup-manager systemd: limits are in the cgroup" {
	background one --memory 64m --pids-limit 77
	pid=$(pid_of one)
	is 77 "$(cgroup_file "$pid" pids pids.max)"
	if is_v2; then is 67108864 "$(cgroup_file "$pid" memory memory.max)"; else
		is 67108864 "$(cgroup_file "$pid" memory memory.limit_in_bytes)"
	fi
}
@test "podman --cgroup-manager systemd: update" {
	background one --memory 64m
	podman update --memory 128m one
	pid=$(pid_of one)
	if is_v2; then is 134217728 "$(cgroup_file "$pid" memory memory.max)"; else
		is 134217728 "$(cgroup_file "$pid" memory memory.limit_in_bytes)"
	fi
}
@test "podman --cgroup-manager systemd: exec, pause, unpause" {
	background one
	is in "$(podman exec one echo in)"
	podman pause one
	podman unpause one
	podman exec one true
}
@test "podman --cgroup-manager systemd: restart" {
	background one
	podman restart -t 0 one
	is active "$(systemctl is-active "$(scope_of)")"
}
@test "podman --cgroup-manager systemd: command not found is 127" {
	run -127 podman run --rm box nosuch
	has nosuch
}
