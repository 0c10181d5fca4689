# SPDX-License-Identifier: GPL-2.0-or-later
# What oci/engine makes of the configurations that podman, docker, containerd and its CRI plug-in really write: the same call gives
# the same digest, another image, mount, variable or command another one, and the merged text runs.  The engines call
# tests/lib/engine-probe, which executes RUNTIME with the merged text.
load lib.bash
load containerd.bash

PROBE=$SUITE/probe
D=unix:///run/docker.sock
docker() {
	command docker -H "$D" "$@"
}
cri() {
	CRI_NETWORK=pod "$HERE/cri.py" "$@"
}
export -f docker
export D

setup_file() {
	[ -x "${CUSTODY_BUILD:-}/tests/lib/engine-probe" ] || { echo 'CUSTODY_BUILD: the build directory, after make check' >&2; return 1; }
	mkdir -p "$PROBE"
	cp "$CUSTODY_BUILD/tests/lib/engine-probe" "$PROBE/custody-runtime"
	ln -s "$RUNTIME" "$PROBE/next"
	cp "$HERE/../../profiles/container.json" "$PROBE/profile.json"
	RUNTIME=$PROBE/custody-runtime NAME=custody-runtime
	# Images of busybox, with a program called /pause, and with one more file.
	mkdir -p "$SUITE/box"
	cp "$CUSTODY_BUILD/tests/lib/pause" "$SUITE/box/pause"
	add_network
	start_containerd
	until_ok cri version
	podman_config /etc/containers containers.conf.d/70-suite.conf cgroupfs
	podman import -q "$SUITE/box.tar" box
	echo 1 >/proc/sys/net/ipv4/ip_forward
	jq --arg path "$RUNTIME" '{runtimes: {"custody-runtime": {path: $path}}, "default-runtime": "custody-runtime"}' \
		"$HERE/../../contrib/docker/daemon.json" >"$SUITE/daemon.json"
	dockerd --config-file "$SUITE/daemon.json" -H "$D" --iptables=false --ip6tables=false --data-root /var/lib/docker \
		--exec-root /run/docker --pidfile /run/docker.pid >"$SUITE/dockerd.log" 2>&1 3>&- &
	until_ok docker version || { tail -n 20 "$SUITE/dockerd.log" >&2; return 1; }
	docker import "$SUITE/box.tar" box >/dev/null
	touch "$SUITE/box/another"
	tar -C "$SUITE/box" -cf "$SUITE/other.tar" .
	podman import -q "$SUITE/other.tar" other
	docker import "$SUITE/other.tar" other >/dev/null
	podman import -q -c 'VOLUME /data' "$SUITE/box.tar" volume
	docker import -c 'VOLUME /data' "$SUITE/box.tar" volume >/dev/null
}
teardown_file() {
	kill "$(cat /run/docker.pid)"
	until_ok test ! -e /run/docker.pid
	stop_containerd
}
forget() {
	rm -f "$PROBE"/*.digest "$PROBE"/*.fault "$PROBE"/*.level "$PROBE"/*.pause "$PROBE"/*.subject
}

# digest CMD...: of the one container that CMD starts, which must succeed.
digest() {
	forget
	"$@" >"$SUITE/out" 2>&1 || { cat "$SUITE/out"; return 1; }
	is 1 "$(find "$PROBE" -name '*.digest' | wc -l)"
	DIGEST=$(cat "$PROBE"/*.digest)
	[ "${#DIGEST}" = 64 ]
}
# same CMD...: started twice.  other FIRST CMD...: differs from FIRST.
same() {
	digest "$@"
	local first=$DIGEST
	digest "$@"
	is "$first" "$DIGEST"
}
other() {
	local first=$1
	shift
	digest "$@"
	[ "$first" != "$DIGEST" ] || { echo "the same digest: $*"; return 1; }
}
level() {
	cat "$PROBE"/*.level
}
# refused WORD CMD...: by the merge, and nothing ran.
refused() {
	local word=$1
	shift
	forget
	if output=$("$@" 2>&1); then
		echo "accepted: $*"
		return 1
	fi
	[[ $output != *ran* ]]
	is 0 "$(find "$PROBE" -name '*.digest' | wc -l)"
	grep -qF -- "$word" "$PROBE"/*.fault || { cat "$PROBE"/*.fault; return 1; }
}

@test "GOV-9: podman run: the same call has the same digest (sample)" {
	same podman run --rm box echo hello
	is hello "$(cat "$SUITE/out")"
	same podman run --rm -e A=b -w /tmp -u 1000 --hostname h --tmpfs /x -v named:/v box true
	same podman run --rm --init --read-only --network none box true
	same podman run --rm --network bridge --dns 1.1.1.1 --add-host a:1.2.3.4 box true
	same podman run --rm volume cat /data/file
	echo secret | podman secret create s - >/dev/null
	same podman run --rm --secret s box cat /run/secrets/s
	is secret "$(cat "$SUITE/out")"
}
@test "GOV-9: podman run: another image, mount, variable or command has another digest (sample)" {
	mkdir -p "$SUITE/v" "$SUITE/w"
	digest podman run --rm box true
	local plain=$DIGEST
	other "$plain" podman run --rm other true
	other "$plain" podman run --rm box echo
	other "$plain" podman run --rm -e A=b box true
	other "$plain" podman run --rm -v "$SUITE/v:/v" box true
	local mounted=$DIGEST
	other "$mounted" podman run --rm -v "$SUITE/w:/v" box true
	other "$mounted" podman run --rm -v "$SUITE/v:/v:ro" box true
	other "$plain" podman run --rm -u 1000 box true
	other "$plain" podman run --rm --cap-drop all box true
	# Another directory under the same name.
	rmdir "$SUITE/v"
	mkdir "$SUITE/x" "$SUITE/v"
	other "$mounted" podman run --rm -v "$SUITE/v:/v" box true
}
@test "GOV-9: podman cp, docker cp: a container whose files were changed before its start has another digest (sample)" {
	local engine plain
	for engine in podman docker; do
		"$engine" create --name one box cat /data/file >/dev/null
		digest "$engine" start -a one
		plain=$DIGEST
		is from-the-image "$(cat "$SUITE/out")"
		# Once more: what the engine left in its layer is no change.
		digest "$engine" start -a one
		is "$plain" "$DIGEST"
		echo changed >"$SUITE/changed"
		"$engine" cp "$SUITE/changed" one:/data/file
		other "$plain" "$engine" start -a one
		is changed "$(cat "$SUITE/out")"
		"$engine" rm one >/dev/null
	done
}
@test "CARD-7: podman: a directory that looks like the engine's own is judged like any other" {
	local pod=1111111111111111111111111111111111111111111111111111111111111111
	mkdir -p "$SUITE/$pod"
	ln -s / "$SUITE/$pod/shm"
	refused rw-root podman run --rm --annotation "io.kubernetes.cri.sandbox-id=$pod" -v "$SUITE/$pod/shm:/dev/shm" box echo ran
	rm "$SUITE/$pod/shm"
}
@test "GOV-9: podman run --pod, --uidmap: the same call has the same digest" {
	podman pod create --name pod >/dev/null
	podman pod start pod >/dev/null
	same podman run --rm --pod pod box true
	same podman run --rm --uidmap 0:100000:5000 box true
	podman pod rm -f pod >/dev/null
}
@test "GOV-9: docker run: the same call has the same digest (sample)" {
	same docker run --rm box echo hello
	is hello "$(cat "$SUITE/out")"
	same docker run --rm -e A=b -w /tmp -u 1000 --tmpfs /x -v named:/v box true
	same docker run --rm --network none box true
	is A "$(level)"
	same docker run --rm --network bridge --init box true
	is B "$(level)"
	same docker run --rm volume cat /data/file
}
@test "GOV-9: docker run: another image, mount, variable or command has another digest (sample)" {
	digest docker run --rm box true
	local plain=$DIGEST
	other "$plain" docker run --rm other true
	other "$plain" docker run --rm -e A=b box true
	other "$plain" docker run --rm -v "$SUITE/box:/v" box true
	other "$plain" docker run --rm box echo
	# A volume of another container is not one that was made for this.
	digest docker run --rm volume true
	local fresh=$DIGEST
	docker create --name keeper volume true >/dev/null
	other "$fresh" docker run --rm -v "$(docker inspect -f '{{(index .Mounts 0).Name}}' keeper):/data" volume true
	docker rm -v keeper >/dev/null
}
c() { # [OPTION...] -- IMAGE CMD...: with another id each time
	local options=() image
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	image=$2
	shift 2
	ctr run --rm "${options[@]}" "$image" "c$RANDOM$RANDOM" "$@"
}
@test "GOV-9: ctr run: the same call has the same digest (sample)" {
	local box=box.local/box:latest
	same c -- $box echo hello
	is hello "$(cat "$SUITE/out")"
	is A "$(level)"
	local plain=$DIGEST
	other "$plain" c --env A=b -- $box echo hello
	other "$plain" c --mount "type=bind,src=$SUITE/box,dst=/mnt,options=rbind:ro" -- $box echo hello
	other "$plain" c -- $box echo other
	same c --snapshotter native -- $box echo hello
	is null "$(jq -c .image "$PROBE"/*.subject)"
	is B "$(level)"
}
container() { # POD KEY=VALUE... -- CMD...
	local pod=$1 id
	shift
	id=$(cri create "$(cat "$SUITE/$pod.id")" web "pod=$pod" "$@")
	cri start "$id"
	cri stop "$id" 0
	cri rm "$id"
}
@test "GOV-9: CRI: the same container has the same digest in every pod (sample)" {
	local pod
	for pod in one two; do
		digest cri run-pod $pod custody
		cp "$SUITE/out" "$SUITE/$pod.id"
		[ $pod = one ] || is "$first" "$DIGEST"
		first=$DIGEST
	done
	digest container one env=A=b -- ready
	first=$DIGEST
	digest container two env=A=b -- ready
	is "$first" "$DIGEST"
	other "$first" container two env=A=c -- ready
	other "$first" container two env=A=b -- ready now
	other "$first" container two env=A=b "mount=$SUITE/box:/mnt" -- ready
	for pod in one two; do
		cri stop-pod "$(cat "$SUITE/$pod.id")"
		cri rm-pod "$(cat "$SUITE/$pod.id")"
	done
}
@test "CARD-7: podman and docker run the merged configuration (sample)" {
	run podman run --rm box grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status
	is 0 "$status"
	has $'NoNewPrivs:\t1' $'Seccomp:\t2' 00000000800405fb
	# Privileges that the engine gives are taken away, whatever asks for them.
	run docker run --rm --cap-add ALL --security-opt seccomp=unconfined box grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status
	is 0 "$status"
	has $'NoNewPrivs:\t1' $'Seccomp:\t2' 00000000800405fb
	run podman run --rm box sh -c 'su -c "id -u" alice; chown alice /data && ls -ld /data; mount -t tmpfs x /tmp; unshare -U true; ulimit -c'
	has 1000 alice 'permission denied' 'Operation not permitted'
	is 0 "${lines[-1]}"
	run podman run --rm --cgroupns host box cat /proc/self/cgroup
	[[ $output != *libpod* ]]
}
@test "CARD-7: what the profile does not allow is refused by its name (sample)" {
	refused /dev/fuse podman run --rm --device /dev/fuse box echo ran
	refused pid podman run --rm --pid host box echo ran
	refused ipc podman run --rm --ipc host box echo ran
	refused host-network podman run --rm --network host box echo ran
	refused no-private-devices podman run --rm --privileged box echo ran
	refused rw-root podman run --rm -v /etc:/x box echo ran
	refused net.core.somaxconn podman run --rm --sysctl net.core.somaxconn=9 box echo ran
	refused run.oci.handler podman run --rm --annotation run.oci.handler=x box echo ran
	refused custody.worktree podman run --rm --annotation custody.worktre=/x box echo ran
	refused no-private-devices docker run --rm --privileged box echo ran
	refused host-network docker run --rm --network host box echo ran
	refused no-pid-namespace docker run --rm --pid host box echo ran
	refused engine-socket docker run --rm -v /run/docker.sock:/x box echo ran
}
@test "CARD-7: a pause container starts with a filter that lets it do nothing else (sample)" {
	local note=io.kubernetes.cri.container-type=sandbox id
	forget
	podman run -d --name pause --annotation $note box /pause >/dev/null
	id=$(podman inspect -f '{{.Id}}' pause)
	is 1 "$(cat "$PROBE/$id.pause")"
	is running "$(podman inspect -f '{{.State.Status}}' pause)"
	podman stop -t 20 pause >/dev/null
	is 0 "$(podman inspect -f '{{.State.ExitCode}}' pause)"
	podman rm pause >/dev/null
	# Another program under that name starts, and can do nothing.
	cat >"$SUITE/Dockerfile" <<-'END'
		FROM box
		RUN rm /pause && ln /bin/busybox /bin/sh2 && printf '#!/bin/sh\necho ran >/ran\n' >/pause && chmod 755 /pause
	END
	podman build -q -t evil -f "$SUITE/Dockerfile" "$SUITE" >/dev/null
	run podman run --rm --annotation $note evil /pause
	[ "$status" -ne 0 ]
	# The annotation alone is not enough.
	digest podman run --rm --annotation $note box true
	is 0 "$(cat "$PROBE"/*.pause)"
}
