# SPDX-License-Identifier: GPL-2.0-or-later
# Governed containers of docker: dockerd is restarted, killed, and told lanes and profiles; health checks.
# shellcheck disable=SC2016 # scripts for the inside
load lib.bash
load docker.bash
load ../../contrib/bats/custody.bash
load governed.bash

setup_file() { governed_setup_file; }
teardown_file() { governed_teardown_file; }
setup() { governed_setup; }
teardown() {
	if [ -e "$SUITE/daemon.changed" ]; then
		rm "$SUITE/daemon.changed"
		remove_all
		restart_docker
	fi
	governed_teardown
}
# restart_docker [FILTER]: of daemon.json; until the end of the test.
restart_docker() {
	[ -z "${1:-}" ] || touch "$SUITE/daemon.changed"
	[ ! -e /run/docker.pid ] || stop_docker
	configure_docker "${1:-.}"
	launch_docker
}
kill_docker() {
	local pid
	pid=$(cat /run/docker.pid)
	kill -9 "$pid"
	until_ok test ! -d "/proc/$pid"
	rm -f /run/docker.pid
}
ended() { # COUNT
	[ "$(records session.end)" -eq "$1" ]
}
is_over() { # NAME
	is false "$(docker inspect -f '{{.State.Running}}' "$1")"
}

@test "CARD-4: dockerd is stopped and started: its containers end and are recorded with their status" {
	background one
	restart_docker
	until_ok ended 1
	ended_as exited 3
	is_over one
	until_ok nothing_left
	docker start one
	until_ok docker exec one true
}
@test "CARD-4: dockerd is killed: the record is closed once it has been started again" {
	local warden
	background one
	warden=$(warden_of one)
	kill_docker
	# The container and its warden are not dockerd's.
	[ -d "/proc/$warden" ]
	is 0 "$(records session.end)"
	launch_docker
	until_ok ended 1
	is_over one
	until_ok nothing_left
}
@test "CARD-4: live restore: container and warden outlive a restart of dockerd; the end has the true status" {
	local warden pid
	restart_docker '."live-restore" = true'
	background one
	warden=$(warden_of one)
	pid=$(pid_of one)
	stop_docker
	launch_docker
	is "$pid" "$(pid_of one)"
	is "$warden" "$(warden_of one)"
	docker exec one true
	docker kill -s TERM one
	is 3 "$(docker wait one)"
	docker rm one
	ended_as exited 3
}
@test "CARD-4: live restore: container and warden outlive a kill of dockerd; what ended meanwhile has the true status" {
	local warden pid
	restart_docker '."live-restore" = true'
	background one
	background two
	warden=$(warden_of one)
	pid=$(pid_of two)
	kill_docker
	kill -TERM "$pid"
	until_ok ended 1
	ended_as exited 3
	launch_docker
	is "$warden" "$(warden_of one)"
	until_ok is_over two
	# docker 26 and 28 show 255 for what ended without them, with crun and runc as well; the record has the true status.
	case $(docker version -f '{{.Server.Version}}') in
	20.*) is 3 "$(docker inspect -f '{{.State.ExitCode}}' two)" ;;
	*) docker inspect -f '{{.State.ExitCode}}' two | grep -qxE '3|255' ;;
	esac
	docker kill one
	docker rm -f one two
	ended_as signaled 137
}
@test "CARD-4: SIGHUP to dockerd changes nothing for its containers" {
	local warden
	background one
	warden=$(warden_of one)
	kill -HUP "$(cat /run/docker.pid)"
	until_ok docker exec one true
	is "$warden" "$(warden_of one)"
	is 0 "$(records session.end)"
}
@test "LANE-3: lane prod by runtimeArgs needs CUSTODY_ALLOW_PROD in dockerd's environment as well" {
	restart_docker '.runtimes.prod = {path: $path, runtimeArgs: ["--lane", "prod", "--allow-prod"]}'
	run docker run --rm --runtime prod box true
	[ "$status" -ne 0 ]
	has "lane 'prod' needs both" 'missing: CUSTODY_ALLOW_PROD'
	is prod "$(last lane.refused .d.lane)"
	[ ! -e "$STATE/prod" ]
	stop_docker
	CUSTODY_ALLOW_PROD=1 launch_docker
	run docker run --rm --runtime prod box echo hello
	is hello "$output"
	is 1 "$(records session.end --lane prod)"
	last lane.override .d.lane --lane prod | grep -qx prod
	# The variable alone is nothing.
	docker run --rm box true
	is 1 "$(records session.end)"
}
@test "CARD-7: ISO-14: a profile by runtimeArgs and by the runtime's name; CUSTODY_SANDBOX_ENABLED in dockerd's environment" {
	profile small '{"limits": {"pids": 9}}'
	ln -s "$RUNTIME" "$SUITE/$NAME@small"
	judges '"rules":[{"effect":"allow","profile":"container"},{"effect":"allow","profile":"small"}]'
	export SUITE
	restart_docker '.runtimes.args = {path: $path, runtimeArgs: ["--profile", "small"]} |
		.runtimes.alias = {path: (env.SUITE + "/" + $name + "@small")}'
	for name in args alias; do
		docker run --rm --runtime $name box true
		is small "$(last session.intent .d.profile)"
	done
	docker run --rm box true
	is container "$(last session.intent .d.profile)"
	stop_docker
	configure '{"sandbox":{"enabled":true}}'
	CUSTODY_SANDBOX_ENABLED=0 launch_docker
	docker run --rm box true
	is 3 "$(records session.start)"
	stop_docker
	configure '{"sandbox":{"enabled":false}}'
	CUSTODY_SANDBOX_ENABLED=1 launch_docker
	docker run --rm box true
	is 4 "$(records session.start)"
}
@test "GOV-15: docker's health check belongs to the container; nothing else does" {
	docker run -d --name box1 --health-cmd 'echo fine' --health-interval 1s -u 7 -w /tmp box sleep 100
	asks
	until_ok is_healthy
	is custody.exec.allow "$(last exec.intent .d.approval.by)"
	is '["/bin/sh","-c","echo fine"]' "$(last exec.intent '.d.command | tostring')"
	run docker exec -u 0 box1 /bin/sh -c 'echo fine'
	assert_denied
	run docker exec -e LD_PRELOAD=/tmp/x box1 /bin/sh -c 'echo fine'
	assert_denied
	run docker exec box1 /bin/sh -c 'echo fine; id'
	assert_denied
}
is_healthy() {
	[ "$(docker inspect -f '{{.State.Health.Status}}' box1)" = healthy ]
}
@test "GOV-9: docker's health check is part of the digest" {
	asks
	run docker run --rm --health-cmd 'echo fine' box true
	assert_denied
	first=$CUSTODY_REQUEST
	run docker run --rm --health-cmd 'echo fine' box true
	assert_denied
	is "$first" "$CUSTODY_REQUEST"
	run docker run --rm --health-cmd 'echo other' box true
	assert_denied
	[ "$CUSTODY_REQUEST" != "$first" ]
}
