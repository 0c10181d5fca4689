# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Governed pods of containerd's CRI plug-in, with a network of their own, as in a cluster.  Needs lib.bash, containerd.bash,
# contrib/bats/custody.bash and governed.bash.
# shellcheck disable=SC2016 # scripts for the inside
IMAGE=box.local/box:latest
cri() {
	CRI_NETWORK=pod "$HERE/cri.py" "$@"
}
governed_cri_setup_file() {
	/usr/bin/python3 -c 'import grpc' || { echo 'needs python3-grpcio' >&2; return 1; }
	rm -rf "${SUITE:?}"/*
	mkdir -p "$SUITE/box"
	cc -static -O1 -o "$SUITE/box/pause" "$HERE/../lib/pause.c"
	add_network
	GOVERNED='' start_containerd
	make_pause_image
	until_ok cri version
}
# make_pause_image: the same files, with the command of a pod's image; containerd's own sandbox image from then on.
make_pause_image() {
	local dir=$SUITE/oci
	jq '.config.Cmd = ["/pause"]' "$dir/config.json" >"$SUITE/new"
	mv "$SUITE/new" "$dir/config.json"
	sed -i 's|box.local/box:latest|box.local/pause:latest|' "$dir/manifest.json"
	tar -C "$dir" -cf "$SUITE/pause.tar" manifest.json config.json layer
	ctr -n k8s.io images import "$SUITE/pause.tar" >/dev/null
	stop_containerd
	sed -i 's|"box.local/box:latest"|"box.local/pause:latest"|' "$SUITE/config.toml"
	launch_containerd
}
governed_cri_setup() {
	governed_setup
	rm -rf /var/lib/kubelet "$SUITE/moved"
	rm -f "$SUITE/pods"
}
governed_cri_teardown() {
	local pod t
	if [ -e "$SUITE/pods" ]; then
		while read -r pod; do
			cri stop-pod "$pod"
			cri rm-pod "$pod"
		done <"$SUITE/pods"
	fi
	for t in $(ctr task ls -q); do ctr task rm -f "$t" >/dev/null 2>&1 || true; done
	for t in $(ctr container ls -q); do ctr container rm "$t" >/dev/null; done
	until_ok nothing_left || { nothing_left || true; return 1; }
	no_state --root /run/containerd/runc/k8s.io
	no_state --root /run/containerd/runc/default
	complete
	rm -rf "$SUITE/volume"
}
# pod [NAME [annotation=NAME=VALUE...]]: its id in $POD, its name in $NAME_OF.
pod() {
	NAME_OF=${1:-pod}
	ANNOTATIONS=("${@:2}")
	POD=$(cri run-pod "$NAME_OF" custody "${ANNOTATIONS[@]}") || return
	echo "$POD" >>"$SUITE/pods"
}
# start [KEY=VALUE...] -- CMD...: a container of the pod with the volume, as the kubelet: created, then started.  Its id is in $ID.
start() {
	# The kubelet counts the attempts, so that each has a name of its own.
	ATTEMPT=$((${ATTEMPT:-0} + 1))
	ID=$(cri create "$POD" web "pod=$NAME_OF" "${ANNOTATIONS[@]/#/pod-}" "attempt=$ATTEMPT" "mount=$SUITE/volume:/volume" "$@") || return
	cri start "$ID"
}
# try ...: `start` that may fail, with `run`'s results; a container that failed is removed, as the kubelet does.
try() {
	status=0
	start "$@" >"$SUITE/tried" 2>&1 || status=$?
	output=$(cat "$SUITE/tried")
	[ "$status" -eq 0 ] || cri rm "$ID"
}
mark() { # [KEY=VALUE...]
	try "$@" -- sh -c "$MARK"
}
MARK='echo ran >>/volume/mark'
ended() {
	until_ok exited "$ID"
}
exited() {
	[[ $(cri status "$1") == EXITED* ]]
}
# session: of the container $ID, as the last result.
session() {
	CUSTODY_RESULT=$("$CUSTODY" sessions --all --json | jq -c --arg id "${1:-$ID}" '[.sessions[] | select(.container == $id)][0]')
	[ "$CUSTODY_RESULT" != null ]
}
running() { # [KEY=VALUE...]
	rm -f "$SUITE/web.log"
	start "$@" -- ready
	until_ok grep -q ready "$SUITE/web.log"
}
pid_of() { # ID [NAMESPACE]
	ctr -n "${2:-k8s.io}" task ls | awk -v id="$1" '$1 == id { print $2 }'
}
