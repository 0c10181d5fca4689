# SPDX-License-Identifier: GPL-2.0-or-later
# dockerd of this suite's own, with RUNTIME as the default runtime.
load lib.bash
load docker.bash

ENGINE=docker
setup_file() {
	start_docker
}
teardown_file() {
	stop_docker
}
teardown() {
	local all
	all=$(docker ps -aq)
	# shellcheck disable=SC2086 # a list
	[ -z "$all" ] || docker rm -f $all >/dev/null
	docker volume prune -f >/dev/null
	state_is_empty
}
oom_told() { # NAME
	docker events --since 30m --until 0s --filter event=oom --filter "container=$1" | grep -q oom
}

@test "docker info: the runtime is registered (sample)" {
	is "$NAME" "$(docker info -f '{{.DefaultRuntime}}')"
	run docker info -f '{{.DriverStatus}}'
	[ "${DOCKER_STORE:-}" != containerd ] || has io.containerd.snapshotter
	background one
	is "$NAME" "$(docker inspect -f '{{.HostConfig.Runtime}}' one)"
}
@test "docker run: output and status 0 (sample)" {
	run docker run --rm box echo hello
	is 0 "$status"
	is hello "$output"
}
@test "docker run: the status of the command (sample)" {
	run docker run --rm box sh -c 'exit 7'
	is 7 "$status"
}
@test "docker run: command not found is 127" {
	run "-$(expected 127 125)" docker run --rm box nosuch
	has nosuch
}
@test "docker run: command not executable is 126" {
	run "-$(expected 126 125)" docker run --rm box /bin/not-executable
	# crun 1.21 has another reason.
	[[ $NAME = crun && $output == *'is not executable'* ]] || has 'ermission denied'
}
# docker reads 126 and 127 from the text of the error and knows only Go's spelling of it; crun's gives 125.
expected() { # STATUS OF-CRUN
	if [ "$NAME" = crun ]; then echo "$2"; else echo "$1"; fi
}
@test "docker run: stdin reaches the command, stdout and stderr apart" {
	run --separate-stderr bash -c 'echo text | docker run --rm -i box sh -c "cat; echo wrong >&2"'
	is text "$output"
	is wrong "$stderr"
}
@test "docker run -d, logs, wait, inspect the exit code (sample)" {
	docker run -d --name one box sh -c 'echo out; echo err >&2; exit 5'
	run docker wait one
	is 5 "$output"
	until_ok said one out
	until_ok said one err
	is 5 "$(docker inspect -f '{{.State.ExitCode}}' one)"
}
@test "docker run -it: a terminal, and resize reaches the container" {
	run "$HERE/terminal.py" size=33x99 expect=ready size=40x120 expect='40 120' send='\x10\x11' -- \
		docker -H "$D" run --name one -it box ready
	has '40 120'
}
@test "docker exec: output and status (sample)" {
	background one
	run docker exec one sh -c 'echo in; exit 9'
	is 9 "$status"
	is in "$output"
}
@test "docker exec: command not found" {
	background one
	run docker exec one nosuch
	# docker 20.10 reports 126 for each exec that cannot start, later versions distinguish 126 and 127.
	[ "$status" -eq 126 ] || [ "$status" -eq 127 ]
	has nosuch
}
@test "docker exec -u -w -e" {
	background one
	run docker exec -u alice -w /tmp -e A=b one sh -c 'id -u; pwd; echo $A'
	is "$(printf '1000\n/tmp\nb')" "$output"
}
@test "docker exec -it: a terminal" {
	background one
	run "$HERE/terminal.py" size=20x70 expect='# ' send='stty size\n' expect='20 70' send='exit 4\n' -- \
		docker -H "$D" exec -it one sh
	is 4 "$status"
}
@test "docker exec -d" {
	background one
	docker exec -d one sh -c 'echo done >/tmp/mark'
	until_ok docker exec one test -s /tmp/mark
}
@test "docker exec: several at once" {
	local i pids=()
	background one
	for i in 1 2 3 4 5 6 7 8; do docker exec one sh -c "echo $i" & pids+=($!); done >"$SUITE/out"
	wait "${pids[@]}"
	is 36 "$(awk '{ s += $1 } END { print s }' "$SUITE/out")"
}
@test "docker kill: TERM is handled, KILL ends (sample)" {
	background one
	docker kill -s TERM one
	is 3 "$(docker wait one)"
	docker start one
	until_ok said one ready
	docker kill one
	is 137 "$(docker wait one)"
}
@test "docker stop -t: TERM, then KILL" {
	docker run -d --name one box sh -c 'trap "" TERM; echo ready; while :; do sleep 1; done'
	until_ok said one ready
	docker stop -t 1 one
	is 137 "$(docker inspect -f '{{.State.ExitCode}}' one)"
}
@test "docker pause and unpause (sample)" {
	background one
	docker pause one
	is paused "$(docker inspect -f '{{.State.Status}}' one)"
	run docker exec one true
	[ "$status" -ne 0 ]
	docker unpause one
	docker exec one true
}
@test "docker rm -f: of a paused container" {
	background one
	docker pause one
	docker rm -f one
	run docker inspect one
	[ "$status" -ne 0 ]
}
@test "docker rm -f: of a running container ends its process (sample)" {
	background one
	pid=$(pid_of one)
	docker rm -f one
	[ ! -d "/proc/$pid" ]
}
@test "docker restart" {
	background one
	first=$(pid_of one)
	docker restart -t 0 one
	[ "$first" != "$(pid_of one)" ]
	docker exec one true
}
@test "docker run --restart: started again after a failure" {
	docker run -d --name one --restart on-failure:2 box sh -c 'echo x >>/count; exit 1'
	until_ok exited one
	is 2 "$(docker inspect -f '{{.RestartCount}}' one)"
}
exited() {
	[ "$(docker inspect -f '{{.State.Status}} {{.RestartCount}}' "$1")" = 'exited 2' ]
}
@test "docker run --memory: OOMKilled (sample)" {
	run docker run --name one --memory 16m box sh -c 'dd if=/dev/zero of=/dev/null bs=64M count=1'
	is 137 "$(docker inspect -f '{{.State.ExitCode}}' one)"
	# The daemon gets the OOM event and the exit from two sources: this container exits after the OOM event arrived.
	# Its shim watches for OOM events only once the start is complete, which `docker run -d` waits for.
	docker run -d --name two --memory 16m box sh -c 'mkfifo /go && read -r _ </go; dd if=/dev/zero of=/dev/null bs=64M count=1; exec ready'
	until_ok docker exec two sh -c '[ -p /go ] && echo >/go'
	until_ok oom_told two
	docker kill two
	is 137 "$(docker wait two)"
	is true "$(docker inspect -f '{{.State.OOMKilled}}' two)"
}
@test "docker update: limits of a running container (sample)" {
	# Down: a governed container is only tightened.
	background one --memory 128m --memory-swap 128m
	docker update --memory 64m --memory-swap 64m --pids-limit 77 one
	pid=$(pid_of one)
	is 77 "$(cgroup_file "$pid" pids pids.max)"
	if is_v2; then is 67108864 "$(cgroup_file "$pid" memory memory.max)"; else
		is 67108864 "$(cgroup_file "$pid" memory memory.limit_in_bytes)"
	fi
}
@test "docker run --pids-limit: forks are refused" {
	run docker run --rm --pids-limit 5 box sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 5 & done; echo all'
	has "can't fork"
}
@test "docker run --read-only, --tmpfs" {
	run docker run --rm --read-only --tmpfs /mnt:size=1m,mode=700 box sh -c 'touch /mnt/a; stat -c %a /mnt; touch /file'
	[ "$status" -ne 0 ]
	has 700 'Read-only file system'
}
@test "docker run -v: rw and ro binds" {
	mkdir -p "$SUITE/vol"
	docker run --rm -v "$SUITE/vol:/v" box sh -c 'echo x >/v/file'
	is x "$(cat "$SUITE/vol/file")"
	run docker run --rm -v "$SUITE/vol:/v:ro" box sh -c 'echo y >/v/file'
	[ "$status" -ne 0 ]
	is x "$(cat "$SUITE/vol/file")"
}
@test "docker run --user, --group-add" {
	run docker run --rm --user alice --group-add 4242 box id
	has 'uid=1000(alice)' 4242
}
@test "docker run --cap-drop and --cap-add" {
	run docker run --rm --cap-drop all --cap-add net_bind_service box grep CapEff /proc/self/status
	has 0000000000000400
}
@test "docker run --privileged: all capabilities, or a reason" {
	if governed; then
		refused_for no-private-devices docker run --rm --privileged box true
		return
	fi
	run docker run --rm --privileged box grep -E '^(Seccomp|CapBnd):' /proc/self/status
	# docker before 25 asks for each capability there is; a root that was given fewer cannot hand them on.
	if capsh --has-p=cap_sys_resource 2>/dev/null || [ "$(docker version -f '{{.Server.Version}}' | cut -d . -f 1)" -ge 25 ]; then
		is 0 "$status"
		[[ $output =~ Seccomp:[[:space:]]0 ]]
	else
		is 125 "$status"
		has 'capset: '
	fi
}
@test "docker run: seccomp filters by default; a file is applied" {
	run docker run --rm box grep ^Seccomp: /proc/self/status
	[[ $output =~ 2$ ]]
	echo '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO"}]}' \
		>"$SUITE/seccomp.json"
	run docker run --rm --security-opt "seccomp=$SUITE/seccomp.json" box mkdir /d
	has 'not permitted'
}
@test "docker run --init" {
	run docker run --rm --init box sh -c 'cat /proc/1/comm; echo $$'
	[[ ${lines[0]} =~ init ]]
	[ "${lines[1]}" -ne 1 ]
}
@test "docker run --ulimit, --shm-size, --sysctl, --hostname" {
	run docker run --rm --ulimit nofile=100:200 --shm-size 3m --sysctl kernel.msgmax=4242 --hostname somewhere box \
		sh -c 'ulimit -n; df -k /dev/shm | tail -n 1; cat /proc/sys/kernel/msgmax; hostname'
	has 100 3072 4242 somewhere
}
@test "docker run --device" {
	run docker run --rm --device /dev/zero:/dev/other box sh -c 'head -c 2 /dev/other | wc -c'
	is 2 "$output"
}
@test "docker run --pid, --ipc, --network of another container" {
	background one --ipc shareable
	run docker run --rm --network container:one --pid container:one --ipc container:one box ps
	has ready
}
@test "docker cp: in and out" {
	copies_in_and_out one
}
@test "docker commit" {
	docker run --name one box sh -c 'echo new >/new'
	docker commit one made >/dev/null
	is new "$(docker run --rm made cat /new)"
	docker rmi -f made
}
@test "docker run --health-cmd: healthy" {
	docker run -d --name one --health-cmd 'test -f /tmp/healthy' --health-interval 1s box sh -c 'touch /tmp/healthy; ready'
	until_ok healthy one
}
healthy() {
	[ "$(docker inspect -f '{{.State.Health.Status}}' "$1")" = healthy ]
}
@test "docker top" {
	background one
	run docker top one
	has ready
}
@test "docker stats" {
	background one
	run docker stats --no-stream --format '{{.PIDs}}' one
	[ "$output" -ge 1 ]
}
@test "docker start -ai: stdin and output of a container" {
	docker create -i --name one box cat
	run bash -c 'echo typed | docker start -ai one'
	has typed
}
@test "docker checkpoint: reports that it is not supported" {
	background one
	run docker checkpoint create one p
	[ "$status" -ne 0 ]
	is running "$(docker inspect -f '{{.State.Status}}' one)"
}
@test "docker: a container outlives dockerd (live restore is the engine's; the process is not ours to end)" {
	background one
	pid=$(pid_of one)
	kill -9 "$(pgrep -f "containerd-shim.* -id $(docker inspect -f '{{.Id}}' one)")"
	# The shim killed the container's parent, too; docker notices and can remove the rest.
	docker rm -f one
	until_ok test ! -d "/proc/$pid"
}
@test "docker: 50 containers at once start and stop (or CUSTODY_STORM of them)" {
	local i pids=() bad=0
	for i in $(seq "$STORM"); do
		docker run -d --name "c$i" box ready >/dev/null 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || bad=$((bad + 1)); done
	is 0 "$bad"
	is "$STORM" "$(docker ps -q | wc -l)"
	for i in $(seq "$STORM"); do until_ok said "c$i" ready; done
	# shellcheck disable=SC2046 # a list
	docker rm -f $(docker ps -q) >/dev/null
	is 0 "$(docker ps -aq | wc -l)"
}
