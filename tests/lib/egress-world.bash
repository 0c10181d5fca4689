# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A host and an internet of one test file: two network namespaces, joined by a pair of devices.  Needs root and iproute2.
#
#	host      10.200.0.1, 45.33.32.99 (a public address of its own), services on all of its addresses: host.log
#	internet  10.200.0.2, 45.33.32.10, DNS for the host, servers for SSH, HTTP and TLS: world.log

# world_open DIR: WORLD_HOST and WORLD_NET are processes that keep the namespaces.
world_open() {
	WORLD_DIR=$1
	unshare -n sleep infinity 3>&- &
	WORLD_NET=$!
	unshare -n -m --propagation private sleep infinity 3>&- &
	WORLD_HOST=$!
	export WORLD_DIR WORLD_NET WORLD_HOST
	world_wait_namespace "$WORLD_NET" && world_wait_namespace "$WORLD_HOST" && world_join && world_files || return
	world_serve "$WORLD_NET" world.log world "$WORLD_DIR/good.crt" "$WORLD_DIR/good.key" &&
		world_serve "$WORLD_HOST" host.log decoy
}

world_wait_namespace() { # PID: it is in a network namespace of its own
	local end=$((SECONDS + 60))
	until [ "$(readlink "/proc/$1/exe")" = "$(readlink -f "$(command -v sleep)")" ]; do
		[ "$SECONDS" -lt "$end" ] || return
		sleep 0.02
	done
}

world_in() { # PID CMD...
	local pid=$1
	shift
	nsenter -t "$pid" -n "$@"
}

world_join() {
	world_in "$WORLD_HOST" ip link add uplink type veth peer name downlink netns "/proc/$WORLD_NET/ns/net" &&
		world_in "$WORLD_HOST" sh -ec 'ip link set lo up; ip addr add 10.200.0.1/24 dev uplink; ip addr add 45.33.32.99/32 dev lo
			ip -6 addr add 2a00:1450::1/64 dev uplink nodad; ip link set uplink up; ip route add default via 10.200.0.2' &&
		world_in "$WORLD_NET" sh -ec 'ip link set lo up; ip addr add 10.200.0.2/24 dev downlink; ip addr add 45.33.32.10/32 dev lo
			ip link set downlink up; ip route add default via 10.200.0.1'
}

world_files() {
	# The search list would lead a name that does not exist to another one.
	printf 'nameserver 10.200.0.2\nsearch corp.test\n' >"$WORLD_DIR/resolv.conf"
	printf '127.0.0.1 localhost\n' >"$WORLD_DIR/hosts"
	nsenter -t "$WORLD_HOST" -m sh -ec 'mount --bind "$1/resolv.conf" "$(readlink -f /etc/resolv.conf)"
		mount --bind "$1/hosts" /etc/hosts' sh "$WORLD_DIR"
}

world_serve() { # PID LOG ARGUMENTS...
	local pid=$1 log=$WORLD_DIR/$2 line fd
	shift 2
	exec {fd}< <(exec nsenter -t "$pid" -n python3 -B "${BASH_SOURCE[0]%/*}/egress_world.py" "$log" "$@" 3>&-)
	WORLD_SERVERS="${WORLD_SERVERS:-} $!"
	export WORLD_SERVERS
	read -r line <&"$fd" && [ "$line" = ready ]
}

world_close() {
	local pid
	for pid in ${WORLD_SERVERS:-} ${WORLD_HOST:-} ${WORLD_NET:-}; do
		kill "$pid" 2>/dev/null || true
	done
}

# world_clear: empty both logs.
world_clear() {
	: >"$WORLD_DIR/world.log"
	: >"$WORLD_DIR/host.log"
}

# world_saw FILTER: events of the internet that jq's FILTER selects, one line each.
world_saw() {
	jq -c "select($1)" "$WORLD_DIR/world.log"
}

# world_is_silent: nothing was asked, connected or said, neither outside nor at the host's own services.
world_is_silent() {
	[ ! -s "$WORLD_DIR/world.log" ] && [ ! -s "$WORLD_DIR/host.log" ] ||
		custody_fail "reached: $(cat "$WORLD_DIR/world.log" "$WORLD_DIR/host.log")"
}

# host_is_untouched: no connection to a service of the host.
host_is_untouched() {
	[ ! -s "$WORLD_DIR/host.log" ] || custody_fail "the host's services were reached: $(cat "$WORLD_DIR/host.log")"
}
