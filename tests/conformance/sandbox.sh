#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a command in mount, pid, network, uts, ipc and cgroup namespaces of its own, so that an engine started there
# leaves nothing on the host: /run and the engines' directories are tmpfs, cgroups lie below one that is removed.
#
#	tests/conformance/sandbox.sh CMD...
#
# On a hybrid cgroup host the unified hierarchy is not mounted inside: crun refuses such hosts.  Needs root.
set -eu
[ "$(id -u)" -eq 0 ] || { echo "sandbox.sh: needs root" >&2; exit 1; }
[ $# -gt 0 ] || { echo "usage: sandbox.sh CMD..." >&2; exit 64; }

# --- inside: pid 1 of the namespace -------------------------------------------------------------------------------
make_v1() { # CONTROLLERS...
	local c opts
	mount -t tmpfs -o mode=755 cgroup /sys/fs/cgroup
	for c; do
		opts=$c
		[ "${c#name=}" = "$c" ] || opts=none,$c
		mkdir "/sys/fs/cgroup/${c#name=}"
		mount -t cgroup -o "$opts" cgroup "/sys/fs/cgroup/${c#name=}"
	done
}
make_v2() {
	local c
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	# A cgroup with processes of its own hands no controllers down.
	mkdir -p /sys/fs/cgroup/suite
	echo 1 >/sys/fs/cgroup/suite/cgroup.procs
	read -ra c </sys/fs/cgroup/cgroup.controllers
	[ ${#c[@]} -eq 0 ] || echo "${c[@]/#/+}" >/sys/fs/cgroup/cgroup.subtree_control
}
self=$(cd "$(dirname "$0")" && pwd)/${0##*/}
if [ "${SANDBOX_STAGE:-}" = join ]; then
	# Before the namespace, which could not be left again.  Alone: the cgroup that becomes its root hands controllers
	# down only when it can be emptied.
	echo 0 >"$SANDBOX_JOIN/cgroup.procs"
	unset SANDBOX_JOIN
	SANDBOX_STAGE=inside exec unshare --cgroup -- "$self" "$@"
fi
if [ "${SANDBOX_STAGE:-}" = inside ]; then
	unset SANDBOX_STAGE
	mount --make-rprivate /
	# Not only covered: engines take the first cgroup mount that mountinfo shows.
	umount -l /sys
	mount -t sysfs sysfs /sys
	if [ "$SANDBOX_V1" = none ]; then make_v2; else
		# shellcheck disable=SC2086 # a list of words
		make_v1 $SANDBOX_V1
	fi
	unset SANDBOX_V1
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts /dev/pts
	[ ! -e /dev/ptmx ] || mount --bind /dev/pts/ptmx /dev/ptmx
	for dir in /run /var/lib/containers /var/lib/docker /var/lib/containerd /var/lib/cni; do
		mkdir -p "$dir"
		mount -t tmpfs -o mode=755 tmpfs "$dir"
	done
	# Configuration that a suite may add to.
	for dir in /etc/containers /etc/cni; do
		[ -d "$dir" ] || continue
		cp -a "$dir" "/run/${dir##*/}"
		mount --bind "/run/${dir##*/}" "$dir"
	done
	mkdir -m 1777 /run/tmp /run/lock
	mkdir -m 700 /run/home
	export TMPDIR=/run/tmp HOME=/run/home
	unset XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME NOTIFY_SOCKET LISTEN_FDS
	ip link set lo up
	# As a child: pid 1 stays this shell, which reaps what engines leave behind.
	"$@" &
	status=0
	wait $! || status=$?
	exit $status
fi

# --- outside ------------------------------------------------------------------------------------------------------
# Not the pid alone: another pid namespace on this host has the same numbers.
name=custody-suite-$$-$RANDOM$RANDOM
made=() v1=() stage=inside cgroup=(--cgroup)
own_path() { # CONTROLLERS: where this process is in that hierarchy
	awk -F: -v c="$1" '$2 == c { sub(/^[^:]*:[^:]*:/, ""); print; exit }' /proc/self/cgroup
}
join() { # MOUNT-POINT CONTROLLERS
	local dir f
	dir=$1$(own_path "$2")
	[ -d "$dir" ] || dir=$1
	dir=${dir%/}/$name
	mkdir "$dir"
	made+=("$dir")
	# An empty cpuset takes no process.
	for f in cpuset.cpus cpuset.mems; do
		[ "$2" = "" ] || [ ! -e "$dir/$f" ] || cat "${dir%/*}/$f" >"$dir/$f"
	done
	echo $$ >"$dir/cgroup.procs"
}
leave() {
	local dir try
	trap - EXIT
	for dir in "${made[@]}"; do
		echo $$ >"${dir%/*}/cgroup.procs" 2>/dev/null || true
		# The last processes of the namespace may still be on their way out.
		for ((try = 0; try < 100; try++)); do
			find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null || true
			[ -d "$dir" ] || break
			read -rt 0.05 <> <(:) || true
		done
	done
}
trap 'exit 143' TERM INT HUP
trap leave EXIT
while read -r _ _ _ _ point _ rest; do
	case $rest in
	*' - cgroup '* | '- cgroup '*)
		controllers=$(awk -v p="$point" '$5 == p { print $NF; exit }' /proc/self/mountinfo |
			tr , '\n' | grep -vx 'rw\|ro\|xattr\|release_agent=.*\|clone_children' | paste -sd,)
		v1+=("$controllers")
		join "$point" "$controllers"
		;;
	esac
done < <(grep ' - cgroup ' /proc/self/mountinfo)
if [ ${#v1[@]} -eq 0 ]; then
	# At the top: where we are ourselves, a service or a login session, controllers cannot be handed down.
	mkdir "/sys/fs/cgroup/$name"
	made+=("/sys/fs/cgroup/$name")
	stage=join cgroup=()
	export SANDBOX_JOIN=/sys/fs/cgroup/$name
fi
status=0
SANDBOX_STAGE=$stage SANDBOX_V1="${v1[*]:-none}" \
	unshare "${cgroup[@]}" --mount --pid --fork --kill-child --mount-proc --net --uts --ipc -- "$self" "$@" || status=$?
leave
exit $status
