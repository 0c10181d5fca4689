# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the engine suites.  RUNTIME is the absolute path of the runtime; NAME is its name for the engines.
bats_require_minimum_version 1.5.0
RUNTIME=${RUNTIME:?run tests/conformance/run-engine.sh}
NAME=${RUNTIME##*/}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
SUITE=/run/suite
# How many containers a storm has; an emulated machine does not manage so many in time.
STORM=${CUSTODY_STORM:-50}
# podman 5 prints a warning with every command on a host with cgroup v1.
export PODMAN_IGNORE_CGROUPSV1_WARNING=1
# conmon writes a file `oom` to where podman was called: not into the source tree.
[ ! -d "$SUITE" ] || cd "$SUITE" || exit 1

# make_image: a root file system of busybox in $SUITE/box.tar.
make_image() {
	local dir=$SUITE/box
	mkdir -p "$dir"/{bin,etc,tmp,root,home/alice,dev,proc,sys,data}
	cp /bin/busybox "$dir/bin/busybox"
	chroot "$dir" /bin/busybox --install -s /bin
	printf '%s\n' root:x:0:0::/root:/bin/sh alice:x:1000:1000::/home/alice:/bin/sh \
		nobody:x:65534:65534::/:/bin/false >"$dir/etc/passwd"
	printf '%s\n' root:x:0: alice:x:1000: wheel:x:10:alice nogroup:x:65534: >"$dir/etc/group"
	chmod 1777 "$dir/tmp"
	chown 1000:1000 "$dir/home/alice"
	echo from-the-image >"$dir/data/file"
	printf '#!/bin/sh\necho no\n' >"$dir/bin/not-executable"
	cat >"$dir/bin/ready" <<-'SCRIPT'
		#!/bin/sh
		# Prints "ready", then waits for a signal: exits with 3 on TERM, prints USR1 and WINCH.
		trap 'echo term; exit 3' TERM
		trap 'echo usr1' USR1
		trap 'stty size' WINCH
		echo ready
		while :; do sleep 100 & wait $!; done
	SCRIPT
	chmod 755 "$dir/bin/ready"
	tar -C "$dir" -cf "$SUITE/box.tar" .
}

# podman_config DIR FILE CGROUP-MANAGER: the shipped registration in DIR/containers.conf.d, with the path of the runtime under
# test, and the settings of this suite in DIR/FILE.  Not every root may raise limits: containers get low ones.
podman_config() {
	mkdir -p "$1/containers.conf.d"
	sed "s|/usr/local/bin/custody-runtime|$RUNTIME|" "$HERE/../../contrib/podman/60-custody.conf" \
		>"$1/containers.conf.d/60-custody.conf"
	cat >"$1/$2" <<-CONF
		[containers]
		default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
		log_driver = "k8s-file"
		netns = "none"
		[engine]
		cgroup_manager = "$3"
		events_logger = "file"
		runtime = "$NAME"
	CONF
}

# For suites that set ENGINE to podman or docker.
# background NAME [OPTION...]: a container that has printed "ready".
background() {
	local name=$1
	shift
	"$ENGINE" run -d --name "$name" "$@" box ready
	until_ok said "$name" ready
}
said() { # NAME TEXT
	"$ENGINE" logs "$1" 2>&1 | grep -q "$2"
}
pid_of() { # NAME
	"$ENGINE" inspect -f '{{.State.Pid}}' "$1"
}
copies_in_and_out() { # NAME
	background "$1"
	echo text >"$SUITE/in"
	"$ENGINE" cp "$SUITE/in" "$1:/tmp/in"
	is text "$("$ENGINE" exec "$1" cat /tmp/in)"
	"$ENGINE" cp "$1:/data/file" "$SUITE/out"
	is from-the-image "$(cat "$SUITE/out")"
}

# until_ok CMD...: again and again until it succeeds; 60 s.
until_ok() {
	local end=$((SECONDS + 60))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || { echo "never: $*" >&2; return 1; }
		read -rt 0.05 <> <(:) || true
	done
}

has() { # TEXT...: each is somewhere in $output
	local t
	for t; do
		[[ $output == *"$t"* ]] || { printf 'no "%s" in:\n%s\n' "$t" "$output"; return 1; }
	done
}
is() { # WANT GOT
	[ "$1" = "$2" ] || { printf 'want: %s\ngot:  %s\n' "$1" "$2"; return 1; }
}
# cgroup_file PID CONTROLLER FILE: contents of that file of the cgroup that PID is in, as seen in this sandbox.
cgroup_file() {
	local path
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		path=/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$1/cgroup")
	else
		path=/sys/fs/cgroup/$2$(awk -F: -v c="$2" '$2 == c { print $3 }' "/proc/$1/cgroup")
	fi
	cat "$path/$3"
}
# The suite runs with governed containers (run-engine.sh): some that crun starts are refused then.
governed() {
	[ -n "${GOVERNED:-}" ]
}
# refused_for WORD CMD...: a governed container is refused, with the word that allows it.
refused_for() {
	local word=$1
	shift
	run "$@"
	[ "$status" -ne 0 ]
	has "\"$word\"" dangerous
}
is_v2() {
	[ -e /sys/fs/cgroup/cgroup.controllers ]
}
# no_state: the runtime knows no container any more; crun's reference run is held to the same.
no_state() { # LIST-ARGUMENTS...
	local left
	left=$("$RUNTIME" "$@" list -q 2>/dev/null) || true
	[ -z "$left" ] || { printf 'left in the state root: %s\n' "$left"; return 1; }
}
