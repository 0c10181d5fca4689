# SPDX-License-Identifier: GPL-2.0-or-later
# podman as root.  The same list with RUNTIME=crun is the reference.
load lib.bash

ENGINE=podman
setup_file() {
	mkdir -p "$SUITE"
	make_image
	podman_config /etc/containers containers.conf.d/70-suite.conf cgroupfs
	podman import -q "$SUITE/box.tar" box
}
teardown() {
	podman pod rm -fa -t 0 >/dev/null
	podman rm -fa -t 0 >/dev/null
	podman volume prune -f >/dev/null
	no_state
}

@test "podman run: output and status 0 (sample)" {
	run podman run --rm box echo hello
	is 0 "$status"
	is hello "$output"
}
@test "podman run: the status of the command (sample)" {
	run podman run --rm box sh -c 'exit 7'
	is 7 "$status"
}
@test "podman run: killed by a signal is 128 plus its number" {
	run podman run --rm --init box sh -c 'kill -9 $$'
	is 137 "$status"
}
@test "podman run: command not found is 127 (sample)" {
	run -127 podman run --rm box nosuch
	has nosuch 'not found'
}
@test "podman run: command not executable is 126" {
	run podman run --rm box /bin/not-executable
	is 126 "$status"
	has 'ermission denied'
}
@test "podman run: stdin reaches the command, stdout and stderr apart" {
	run --separate-stderr bash -c 'echo text | podman run --rm -i box sh -c "cat; echo wrong >&2"'
	is text "$output"
	is wrong "$stderr"
}
@test "podman run -d, logs, wait, inspect the exit code (sample)" {
	podman run -d --name c box sh -c 'echo out; echo err >&2; exit 5'
	run podman wait c
	is 5 "$output"
	run podman logs c
	has out err
	is 5 "$(podman inspect -f '{{.State.ExitCode}}' c)"
}
@test "podman run --rm -d leaves nothing" {
	podman run --rm -d --name c box true
	until_ok gone c
}
gone() {
	! podman container exists "$1"
}
@test "podman run -it: a terminal of the right size (sample)" {
	# podman sends the size beside the start: wait until the terminal has one.
	run "$HERE/terminal.py" size=33x99 -- podman run --rm -it box sh -c 'until stty size 2>/dev/null; do :; done; tty'
	is 0 "$status"
	has '33 99' /dev/pts/
}
@test "podman run -it: resize reaches the container (sample)" {
	run "$HERE/terminal.py" size=33x99 expect=ready size=40x120 expect='40 120' send='\x10\x11' -- \
		podman run --name c -it box ready
	has '40 120'
}
@test "podman exec: output and status (sample)" {
	background c
	run podman exec c sh -c 'echo in; exit 9'
	is 9 "$status"
	is in "$output"
}
@test "podman exec --user: the caller's /dev/null keeps its owner (sample)" {
	[ "${RUNTIME##*/}" = custody-runtime ] || skip 'libcrun below 1.24 gives it to the container'
	background c
	# A copy, also for podman and conmon: the host's is not at stake.
	mknod -m 0666 "$SUITE/null" c 1 3
	mount --bind "$SUITE/null" /dev/null
	run podman exec --user 1000 c sh -c 'chmod 0 /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2; exit 0' </dev/null >/dev/null 2>&1
	umount -l /dev/null
	is 0 "$status"
	is 0:666 "$(stat -c %u:%a "$SUITE/null")"
	rm "$SUITE/null"
}
@test "podman run: an image whose /dev is a link is refused, and nothing is made outside (sample)" {
	[ "${RUNTIME##*/}" = custody-runtime ] || skip 'libcrun below 1.28 follows it'
	mkdir "$SUITE/evil" "$SUITE/outside"
	tar -C "$SUITE/evil" -xf "$SUITE/box.tar"
	rm -rf "$SUITE/evil/dev"
	ln -s "$SUITE/outside" "$SUITE/evil/dev"
	run podman run --rm --rootfs "$SUITE/evil" true
	is 126 "$status"
	has "'/dev'" 'symbolic link'
	is '' "$(ls -A "$SUITE/outside")"
}
@test "podman exec: command not found is 127" {
	background c
	run -127 podman exec c nosuch
}
@test "podman exec: command not executable is 126" {
	background c
	run podman exec c /bin/not-executable
	is 126 "$status"
}
@test "podman exec -u -w -e" {
	background c
	run podman exec -u alice -w /tmp -e A=b c sh -c 'id -u; pwd; echo $A'
	is "$(printf '1000\n/tmp\nb')" "$output"
}
@test "podman exec -it: a terminal (sample)" {
	background c
	run "$HERE/terminal.py" size=20x70 expect='# ' send='stty size\n' expect='20 70' send='exit 4\n' -- \
		podman exec -it c sh
	is 4 "$status"
}
@test "podman exec -d" {
	background c
	podman exec -d c sh -c 'echo done >/tmp/mark'
	until_ok podman exec c test -s /tmp/mark
}
@test "podman exec -i: stdin reaches the command" {
	background c
	run bash -c 'echo text | podman exec -i c cat'
	is text "$output"
}
@test "podman exec: into a stopped container fails" {
	podman run --name c box true
	run podman exec c true
	[ "$status" -ne 0 ]
	has 'can only create exec sessions on running containers'
}
@test "podman kill: TERM is handled (sample)" {
	background c
	podman kill -s TERM c
	run podman wait c
	is 3 "$output"
}
@test "podman kill: USR1 does not end it" {
	background c
	podman kill -s USR1 c
	until_ok said c usr1
	is running "$(podman inspect -f '{{.State.Status}}' c)"
}
@test "podman kill: KILL ends it with 137" {
	background c
	podman kill c
	run podman wait c
	is 137 "$output"
}
@test "podman stop -t: TERM, then KILL (sample)" {
	podman run -d --name c box sh -c 'trap "" TERM; echo ready; while :; do sleep 1; done'
	until_ok said c ready
	podman stop -t 1 c
	is 137 "$(podman inspect -f '{{.State.ExitCode}}' c)"
}
@test "podman pause and unpause (sample)" {
	background c
	podman pause c
	is paused "$(podman inspect -f '{{.State.Status}}' c)"
	run podman exec c true
	[ "$status" -ne 0 ]
	podman unpause c
	podman exec c true
}
@test "podman rm -f: of a paused container" {
	background c
	podman pause c
	podman rm -f -t 0 c
	gone c
}
@test "podman rm -f: of a running container ends its process (sample)" {
	background c
	pid=$(pid_of c)
	podman rm -f -t 0 c
	[ ! -d "/proc/$pid" ]
}
@test "podman rm: of a running container is refused" {
	background c
	run podman rm c
	[ "$status" -ne 0 ]
	is running "$(podman inspect -f '{{.State.Status}}' c)"
}
@test "podman restart: a new process, the same container (sample)" {
	background c
	first=$(pid_of c)
	podman restart -t 0 c
	second=$(pid_of c)
	[ "$first" != "$second" ]
	podman exec c true
}
@test "podman start: a stopped container again" {
	podman run --name c box sh -c 'echo x >>/count; wc -l </count'
	run podman start -a c
	is 2 "$(tail -n 1 <<<"$output")"
}
@test "podman create and start" {
	podman create --name c box echo hello
	is created "$(podman inspect -f '{{.State.Status}}' c)"
	run podman start -a c
	is hello "$output"
}
@test "podman init: created in the runtime, not started" {
	podman create --name c box ready
	podman init c
	is initialized "$(podman inspect -f '{{.State.Status}}' c)"
	podman start c
	until_ok said c ready
}
@test "podman run --memory: out of memory is 137 (sample)" {
	run podman run --name c --memory 16m box sh -c 'dd if=/dev/zero of=/dev/null bs=64M count=1'
	[ "$status" -ne 0 ]
	is 137 "$(podman inspect -f '{{.State.ExitCode}}' c)"
}
@test "podman run --memory, --cpu-shares, --pids-limit arrive in the cgroup" {
	background c --memory 64m --cpu-shares 512 --pids-limit 77
	pid=$(pid_of c)
	is 77 "$(cgroup_file "$pid" pids pids.max)"
	if is_v2; then is 67108864 "$(cgroup_file "$pid" memory memory.max)"; else
		is 67108864 "$(cgroup_file "$pid" memory memory.limit_in_bytes)"
		is 512 "$(cgroup_file "$pid" cpu cpu.shares)"
	fi
}
@test "podman run --cpus: quota in the cgroup" {
	background c --cpus 0.5
	pid=$(pid_of c)
	if is_v2; then is '50000 100000' "$(cgroup_file "$pid" cpu cpu.max)"; else
		is 50000 "$(cgroup_file "$pid" cpu cpu.cfs_quota_us)"
	fi
}
@test "podman run --pids-limit: forks are refused (sample)" {
	run podman run --rm --pids-limit 5 box sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 5 & done; echo all'
	has "can't fork"
}
@test "podman update: limits of a running container" {
	# Down: a governed container is only tightened.
	background c --memory 128m
	podman update --memory 64m c
	pid=$(pid_of c)
	if is_v2; then is 67108864 "$(cgroup_file "$pid" memory memory.max)"; else
		is 67108864 "$(cgroup_file "$pid" memory memory.limit_in_bytes)"
	fi
}
@test "podman run --read-only (sample)" {
	run podman run --rm --read-only box touch /file
	[ "$status" -ne 0 ]
	has 'Read-only file system'
	podman run --rm --read-only box touch /tmp/file
}
@test "podman run --tmpfs: size and mode (sample)" {
	run podman run --rm --tmpfs /mnt:size=1m,mode=700 box sh -c 'stat -c %a /mnt; df -k /mnt | tail -n 1'
	has 700 1024
}
@test "podman run -v: rw and ro binds (sample)" {
	mkdir -p "$SUITE/vol"
	podman run --rm -v "$SUITE/vol:/v" box sh -c 'echo x >/v/file'
	is x "$(cat "$SUITE/vol/file")"
	run podman run --rm -v "$SUITE/vol:/v:ro" box sh -c 'cat /v/file; echo y >/v/file'
	[ "$status" -ne 0 ]
	has x 'Read-only file system'
	is x "$(cat "$SUITE/vol/file")"
}
@test "podman run -v: a named volume is filled from the image" {
	run podman run --rm -v vol:/data box cat /data/file
	is from-the-image "$output"
}
@test "podman run --mount: tmpfs and bind options" {
	mkdir -p "$SUITE/vol"
	cp /bin/busybox "$SUITE/vol/"
	run podman run --rm --mount "type=bind,src=$SUITE/vol,dst=/v,noexec" --mount type=tmpfs,dst=/t,tmpfs-size=2m box \
		sh -c '/v/busybox true; df -k /t | tail -n 1'
	has 'ermission denied' 2048
}
@test "podman run --user: ids and supplementary groups (sample)" {
	run podman run --rm --user alice box id
	has 'uid=1000(alice)' 'gid=1000(alice)' '10(wheel)'
	run podman run --rm --user 7:8 box id
	has uid=7 gid=8
}
@test "podman run --group-add" {
	run podman run --rm --group-add 4242 box id
	has 4242
}
@test "podman run --cap-drop and --cap-add (sample)" {
	run podman run --rm --cap-drop all box grep CapEff /proc/self/status
	has 0000000000000000
	run podman run --rm --cap-drop all --cap-add net_bind_service box grep CapEff /proc/self/status
	has 0000000000000400
}
@test "podman run --privileged: all capabilities, no filter" {
	if governed; then
		refused_for no-private-devices podman run --rm --privileged box true
		return
	fi
	run podman run --rm --privileged box grep -E '^(Seccomp|CapBnd):' /proc/self/status
	is 0 "$status"
	has "$(grep CapBnd /proc/self/status | cut -f 2)"
	[[ $output =~ Seccomp:[[:space:]]0 ]]
}
@test "podman run: seccomp filters by default, not when unconfined" {
	run podman run --rm box grep ^Seccomp: /proc/self/status
	[[ $output =~ 2$ ]]
	run podman run --rm --security-opt seccomp=unconfined box grep ^Seccomp: /proc/self/status
	# custody's own filter stays.
	if governed; then [[ $output =~ 2$ ]]; else [[ $output =~ 0$ ]]; fi
}
@test "podman run: a seccomp file is applied (sample)" {
	cat >"$SUITE/seccomp.json" <<-'JSON'
		{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_X86_64","SCMP_ARCH_AARCH64"],
		 "syscalls":[{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":38}]}
	JSON
	run podman run --rm --security-opt "seccomp=$SUITE/seccomp.json" box sh -c 'mkdir /d; echo $?'
	has 'Function not implemented'
	run podman run --rm --security-opt "seccomp=$SUITE/seccomp.json" box touch /f
	is 0 "$status"
}
@test "podman run: the same seccomp file twice, and changed in between" {
	for action in SCMP_ACT_ERRNO SCMP_ACT_ERRNO SCMP_ACT_ALLOW; do
		echo '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir","mkdirat"],"action":"'$action'"}]}' \
			>"$SUITE/seccomp.json"
		run podman run --rm --security-opt "seccomp=$SUITE/seccomp.json" box mkdir /d
		if [ $action = SCMP_ACT_ALLOW ]; then is 0 "$status"; else has 'not permitted'; fi
	done
}
@test "podman run --security-opt no-new-privileges" {
	run podman run --rm --security-opt no-new-privileges box grep NoNewPrivs /proc/self/status
	[[ $output =~ 1$ ]]
}
@test "podman exec: filter and capabilities are the container's" {
	background c --cap-drop all
	run podman exec c grep -E '^(Seccomp|CapEff):' /proc/self/status
	has 0000000000000000
	[[ $output =~ Seccomp:[[:space:]]2 ]]
}
@test "podman run: masked and read-only paths" {
	run podman run --rm box sh -c 'cat /proc/kcore | head -c 1 | wc -c; echo 1 >/proc/sys/kernel/domainname'
	has 0 'Read-only file system'
}
@test "podman run --init: pid 1 reaps (sample)" {
	run podman run --rm --init box sh -c 'cat /proc/1/comm; echo $$'
	is 0 "$status"
	[[ ${lines[0]} =~ init ]]
	[ "${lines[1]}" -ne 1 ]
}
@test "podman run --hostname, --uts" {
	run podman run --rm --hostname somewhere box hostname
	is somewhere "$output"
	if governed; then
		refused_for no-uts-namespace podman run --rm --uts host box hostname
		return
	fi
	run podman run --rm --uts host box hostname
	is "$(hostname)" "$output"
}
@test "podman run --pid host, --ipc host, --network host" {
	for ns in pid ipc network; do
		link=${ns/network/net}
		if governed; then
			refused_for "$(danger_of $ns)" podman run --rm --$ns host box true
			continue
		fi
		run podman run --rm --$ns host box readlink /proc/self/ns/$link
		is "$(readlink /proc/self/ns/$link)" "$output"
		run podman run --rm box readlink /proc/self/ns/$link
		[ "$output" != "$(readlink /proc/self/ns/$link)" ]
	done
}
danger_of() {
	case $1 in network) echo host-network ;; *) echo "no-$1-namespace" ;; esac
}
@test "podman run --network container: joins another's" {
	background c
	run podman run --rm --network container:c --pid container:c box ps
	has ready
}
@test "podman run --cgroupns" {
	run podman run --rm --cgroupns private box cat /proc/self/cgroup
	[[ ${lines[0]} =~ :/$ ]]
	run podman run --rm --cgroupns host box cat /proc/self/cgroup
	# Governed, it gets a namespace of its own.
	if governed; then [[ ${lines[0]} =~ :/$ ]]; else has libpod; fi
}
@test "podman run --cgroups=disabled" {
	run podman run --rm --cgroups=disabled box echo hello
	is 0 "$status"
	is hello "$output"
}
@test "podman run --cgroup-parent" {
	background c --cgroup-parent /suite-parent
	grep -q suite-parent "/proc/$(pid_of c)/cgroup"
}
@test "podman run --ulimit, --oom-score-adj, --shm-size" {
	run podman run --rm --ulimit nofile=100:200 --ulimit nproc=1000:1000 --oom-score-adj 500 --shm-size 3m box \
		sh -c 'ulimit -n; cat /proc/self/oom_score_adj; df -k /dev/shm | tail -n 1'
	has 100 500 3072
}
@test "podman run --sysctl" {
	run podman run --rm --sysctl kernel.msgmax=4242 box cat /proc/sys/kernel/msgmax
	is 4242 "$output"
}
@test "podman run --device" {
	run podman run --rm --device /dev/zero:/dev/other box sh -c 'head -c 2 /dev/other | wc -c; ls -l /dev/other'
	has 2 '1,   5'
}
@test "podman run -e, --env-file, -w" {
	echo FROM=file >"$SUITE/env"
	run podman run --rm -e A=b --env-file "$SUITE/env" -w /tmp box sh -c 'echo $A $FROM $PWD'
	is 'b file /tmp' "$output"
}
@test "podman run --entrypoint" {
	run podman run --rm --entrypoint '["echo","a"]' box b
	is 'a b' "$output"
}
@test "podman run --preserve-fds" {
	run bash -c 'podman run --rm --preserve-fds 1 box sh -c "cat <&3" 3<<<"through the third"'
	is 'through the third' "$output"
}
@test "podman run --uidmap: a user namespace (sample)" {
	run podman run --rm --uidmap 0:200000:65536 --gidmap 0:200000:65536 box cat /proc/self/uid_map
	[[ $output =~ 0[[:space:]]+200000[[:space:]]+65536 ]]
	run podman run --rm --uidmap 0:200000:65536 --gidmap 0:200000:65536 box sh -c 'id -u; touch /tmp/f; stat -c %u /tmp/f'
	is "$(printf '0\n0')" "$output"
}
@test "podman cp: in and out (sample)" {
	copies_in_and_out c
}
@test "podman commit" {
	podman run --name c box sh -c 'echo new >/new'
	podman commit -q c made
	run podman run --rm made cat /new
	is new "$output"
	podman rmi -f made
}
@test "podman diff, export" {
	podman run --name c box touch /new
	run podman diff c
	has 'A /new'
	podman export c | tar -t | grep -qx '\(\./\)\?new'
}
@test "podman healthcheck (sample)" {
	background c --health-cmd 'test -f /tmp/healthy' --health-interval disable
	run podman healthcheck run c
	[ "$status" -ne 0 ]
	podman exec c touch /tmp/healthy
	podman healthcheck run c
}
@test "podman top" {
	background c
	run podman top c pid user comm
	has ready
}
@test "podman stats: memory and pids of a container" {
	background c
	run podman stats --no-stream --format '{{.PIDs}}' c
	[ "$output" -ge 1 ]
}
@test "podman attach: output of a running container" {
	podman run -d -i --name c box cat
	run bash -c 'echo typed | podman attach c'
	has typed
}
@test "podman wait: several at once" {
	podman run -d --name a box sh -c 'exit 3'
	podman run -d --name b box sh -c 'exit 4'
	run podman wait a b
	is "$(printf '3\n4')" "$output"
}
@test "podman pod: containers share namespaces" {
	skip_without_pause
	podman pod create --name p --share ipc,net,uts
	podman run -d --pod p --name a box ready
	podman run -d --pod p --name b box ready
	is "$(readlink "/proc/$(pid_of a)/ns/net")" "$(readlink "/proc/$(pid_of b)/ns/net")"
	[ "$(readlink "/proc/$(pid_of a)/ns/pid")" != "$(readlink "/proc/$(pid_of b)/ns/pid")" ]
	podman pod stop -t 0 p
	podman pod start p
	podman exec a true
}
skip_without_pause() {
	command -v catatonit >/dev/null || skip 'missing: catatonit'
}
@test "podman run --hooks-dir: hooks of the configuration run" {
	mkdir -p "$SUITE/hooks"
	cat >"$SUITE/hook" <<-SCRIPT
		#!/bin/sh
		cat >"$SUITE/state.\$1"
	SCRIPT
	chmod +x "$SUITE/hook"
	for stage in createRuntime poststop; do
		echo '{"version":"1.0.0","hook":{"path":"'"$SUITE/hook"'","args":["hook","'$stage'"]},
			"when":{"always":true},"stages":["'$stage'"]}' >"$SUITE/hooks/$stage.json"
	done
	podman --hooks-dir "$SUITE/hooks" run --name c box true
	podman --hooks-dir "$SUITE/hooks" rm c
	jq -e '.pid > 0 and .id != ""' "$SUITE/state.createRuntime"
	jq -e '.id != ""' "$SUITE/state.poststop"
}
@test "podman run --hooks-dir: a failing hook fails the container" {
	mkdir -p "$SUITE/bad-hooks"
	printf '#!/bin/sh\ncat >/dev/null\nexit 4\n' >"$SUITE/bad-hook"
	chmod +x "$SUITE/bad-hook"
	echo '{"version":"1.0.0","hook":{"path":"'"$SUITE/bad-hook"'"},"when":{"always":true},"stages":["createRuntime"]}' \
		>"$SUITE/bad-hooks/a.json"
	run podman --hooks-dir "$SUITE/bad-hooks" run --rm box sh -c 'echo "it ra""n"'
	[ "$status" -ne 0 ]
	has bad-hook
	[[ $output != *'it ran'* ]]
}
@test "podman run --sdnotify=container: READY=1 is handed on" {
	"$HERE/notify.py" listen "$SUITE/notify.sock" "$SUITE/notify.out" &
	until_ok test -S "$SUITE/notify.sock"
	NOTIFY_SOCKET=$SUITE/notify.sock podman run -d --name c --sdnotify=container -v /usr:/usr:ro -v /lib:/lib:ro \
		-v /lib64:/lib64:ro -v "$HERE/notify.py:/notify.py:ro" box sh -c '/notify.py send READY=1; sleep 100'
	until_ok test -s "$SUITE/notify.out"
	grep -q READY=1 "$SUITE/notify.out"
}
@test "podman container checkpoint: reports that it is not supported" {
	background c
	run podman container checkpoint c
	[ "$status" -ne 0 ]
	is running "$(podman inspect -f '{{.State.Status}}' c)"
}
@test "podman info names the runtime" {
	run podman info --format '{{.Host.OCIRuntime.Name}} {{.Host.OCIRuntime.Version}}'
	has "$NAME" version 'spec: 1.'
}
@test "podman system: a container outlives the death of conmon" {
	background c
	pid=$(pid_of c)
	kill -9 "$(podman inspect -f '{{.State.ConmonPid}}' c)"
	[ -d "/proc/$pid" ]
	id=$(podman inspect -f '{{.Id}}' c)
	# podman 5 first reports that conmon ended, and removes the container when it is asked again.
	podman rm -f -t 0 c || podman rm -f -t 0 c
	# podman leaves the state to a conmon that is no more.
	"$RUNTIME" delete --force "$id"
	until_ok test ! -d "/proc/$pid"
}
@test "podman: 50 containers at once start and stop (or CUSTODY_STORM of them)" {
	local i pids=()
	for i in $(seq "$STORM"); do podman run -d --name "c$i" box ready >/dev/null & pids+=($!); done
	# Not `wait` alone: bats has a process in the background that ends with the time limit of the test.
	wait "${pids[@]}"
	is "$STORM" "$(podman ps -q --filter status=running | wc -l)"
	podman rm -fa -t 0 >/dev/null
	is 0 "$(podman ps -aq | wc -l)"
}
