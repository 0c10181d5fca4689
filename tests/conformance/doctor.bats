# SPDX-License-Identifier: GPL-2.0-or-later
# What `custody doctor --engine` says of a registration, against daemons that read the same files.
load lib.bash

D=unix:///run/docker.sock
SOCKET=/run/containerd/containerd.sock
export CONTAINERD_ADDRESS=$SOCKET
CUSTODY=${RUNTIME%/*}/custody
SHARE=${RUNTIME%/bin/*}/share/custody
PID=

setup_file() {
	mkdir -p "$SUITE" /run/etc-up /run/etc-work
	make_image
	# The registered files are those of a host without registrations; the host's own stay as they are.
	mount -t overlay -o lowerdir=/etc,upperdir=/run/etc-up,workdir=/run/etc-work overlay /etc
}
setup() {
	rm -rf /etc/docker /etc/containerd
	mkdir -p /etc/docker /etc/containerd
	unset XDG_CONFIG_HOME
}
teardown() {
	stop_daemon
}
stop_daemon() {
	[ -n "$PID" ] || return 0
	kill "$PID"
	wait "$PID" || true
	PID=
}
# doctor ENGINE ID: that check's state; its remedy in $REMEDY.
doctor() {
	local report
	report=$("$CUSTODY" doctor --json --engine "$1" 2>/dev/null </dev/null) || true
	REMEDY=$(jq -r --arg id "$2" '.checks[] | select(.id == $id) | .remedy // ""' <<<"$report")
	STATE=$(jq -r --arg id "$2" '.checks[] | select(.id == $id) | .state' <<<"$report")
}
# `! CMD` never fails a test.
fails() {
	if "$@"; then
		echo "succeeded: $*"
		return 1
	fi
}
# The command in front of "then:", as a person would paste it.
apply_remedy() {
	local command=${REMEDY%, then:*}
	[ "$command" != "$REMEDY" ]
	bash -c "$command"
}

# --- docker ---------------------------------------------------------------------------------------------------------
docker() {
	command docker -H "$D" "$@"
}
start_docker() {
	dockerd -H "$D" --iptables=false --ip6tables=false --bridge=none --data-root /var/lib/docker --exec-root /run/docker \
		--pidfile /run/docker.pid >"$SUITE/dockerd.log" 2>&1 3>&- &
	PID=$!
	until_ok docker version || { tail -n 20 "$SUITE/dockerd.log" >&2; return 1; }
	docker image inspect box >/dev/null 2>&1 || docker import "$SUITE/box.tar" box >/dev/null
}
docker_runs() {
	[ "$(docker run --rm --runtime "$NAME" box echo ran 2>"$SUITE/err")" = ran ]
}
shipped_docker() {
	sed "s|/usr/bin/custody-runtime|$RUNTIME|" "$HERE/../../contrib/docker/daemon.json"
}
@test "doctor --engine docker: ok is a runtime that docker runs (sample)" {
	shipped_docker >/etc/docker/daemon.json
	doctor docker ENGINE-DOCKER-RUNTIME
	is ok "$STATE"
	start_docker
	docker_runs
}
@test "doctor --engine docker: a runtime unknown to docker is missing; the fix registers it" {
	doctor docker ENGINE-DOCKER-RUNTIME
	is missing "$STATE"
	start_docker
	fails docker_runs
	grep -qi 'unknown runtime' "$SUITE/err"
	apply_remedy
	doctor docker ENGINE-DOCKER-RUNTIME
	is ok "$STATE"
	kill -HUP "$PID" # as systemctl reload does
	until_ok docker_runs
}
@test "doctor --engine docker: the remedy keeps the settings that were there" {
	echo '{"debug": true, "runtimes": {"other": {"path": "/bin/false"}}}' >/etc/docker/daemon.json
	doctor docker ENGINE-DOCKER-RUNTIME
	is missing "$STATE"
	start_docker
	apply_remedy
	kill -HUP "$PID"
	until_ok docker_runs
	is true "$(docker info -f '{{.Debug}}' 2>/dev/null)"
	jq -e '.runtimes.other.path == "/bin/false"' /etc/docker/daemon.json
}
@test "doctor --engine docker: a missing path is reported, and docker fails" {
	shipped_docker | sed 's|"path": "[^"]*/|"path": "/nowhere/|' >/etc/docker/daemon.json
	doctor docker ENGINE-DOCKER-RUNTIME
	is missing "$STATE"
	start_docker
	fails docker_runs
}
@test "doctor --engine docker: a file that dockerd refuses is unknown" {
	local text
	for text in '{"runtimes": {' '{"runtimes": {"custody-runtime": {"path": "/x"}},}' '[]'; do
		echo "$text" >/etc/docker/daemon.json
		doctor docker ENGINE-DOCKER-RUNTIME
		[ "$STATE" != ok ]
		run timeout 20 dockerd -H "$D" --iptables=false --bridge=none --data-root /var/lib/docker --exec-root /run/docker
		[ "$status" -eq 1 ]
		has daemon.json
	done
}

# --- containerd -----------------------------------------------------------------------------------------------------
start_containerd() {
	containerd --root /var/lib/containerd --state /run/containerd --address "$SOCKET" >"$SUITE/containerd.log" 2>&1 3>&- &
	PID=$!
	until_ok ctr version || { tail -n 20 "$SUITE/containerd.log" >&2; return 1; }
}
shipped_containerd() {
	sed "s|/usr/bin/custody-runtime|$RUNTIME|" "$HERE/../../contrib/containerd/custody.toml"
}
cri() { # state of the CRI plug-in: ok, error, or nothing
	ctr plugins ls | awk '$2 == "cri" { print $NF }'
}
# In containerd's own words, after reading its files.
has_handler() {
	containerd config dump | grep -qF '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.custody]'
}
@test "doctor --engine containerd: ok is a handler that containerd has, with its plug-in loaded (sample)" {
	shipped_containerd >/etc/containerd/config.toml
	for id in RUNTIME DEFAULT CRI; do
		doctor containerd "ENGINE-CONTAINERD-$id"
		is ok "$STATE"
	done
	start_containerd
	is ok "$(cri)"
	has_handler
}
@test "doctor --engine containerd: nothing registered is missing; the remedy registers" {
	doctor containerd ENGINE-CONTAINERD-RUNTIME
	is missing "$STATE"
	fails has_handler
	apply_remedy
	doctor containerd ENGINE-CONTAINERD-RUNTIME
	is ok "$STATE"
	start_containerd
	is ok "$(cri)"
	has_handler
}
@test "doctor --engine containerd: without the default runtime the plug-in does not load, and doctor reports it" {
	shipped_containerd | awk '/^ *\[/ { skip = ($0 ~ /runtimes\.runc/) } !skip' >/etc/containerd/config.toml
	doctor containerd ENGINE-CONTAINERD-DEFAULT
	is missing "$STATE"
	start_containerd
	is error "$(cri)"
	stop_daemon
	# As the remedy says: the table of runc, from the shipped file, to the end.
	awk '/^ *\[/ { take = ($0 ~ /runtimes\.runc/) } take' "$SHARE/containerd/custody.toml" >>/etc/containerd/config.toml
	doctor containerd ENGINE-CONTAINERD-DEFAULT
	is ok "$STATE"
	start_containerd
	is ok "$(cri)"
}
@test "doctor --engine containerd: a disabled plug-in is missing on both sides" {
	{ echo 'disabled_plugins = ["io.containerd.grpc.v1.cri"]' && shipped_containerd; } >/etc/containerd/config.toml
	doctor containerd ENGINE-CONTAINERD-CRI
	is missing "$STATE"
	start_containerd
	[ "$(cri)" != ok ]
}
@test "doctor --engine containerd: the complete default file, and ours imported by it" {
	containerd config default >/etc/containerd/config.toml
	doctor containerd ENGINE-CONTAINERD-RUNTIME
	is missing "$STATE"
	mkdir /etc/containerd/conf.d
	shipped_containerd >/etc/containerd/conf.d/custody.toml
	sed -i 's|^imports = .*|imports = ["/etc/containerd/conf.d/*.toml"]|' /etc/containerd/config.toml
	doctor containerd ENGINE-CONTAINERD-RUNTIME
	is ok "$STATE"
	has_handler
	start_containerd
	is ok "$(cri)"
}
