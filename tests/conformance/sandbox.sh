#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a command in mount, pid, network, uts, ipc and cgroup namespaces of its own, so that an engine started there
# leaves nothing on the host: /run and the engines' directories are tmpfs, cgroups lie below one that is removed.  Configuration and
# state of custody are not the host's: none, or with GOVERNED=1 the configuration governed.json.
#
#	tests/conformance/sandbox.sh CMD...
#
# On a hybrid cgroup host the unified hierarchy is not mounted inside: crun refuses such hosts.  Needs root.
set -eu
[ "$(id -u)" -eq 0 ] || { echo "sandbox.sh: needs root" >&2; exit 1; }
[ $# -gt 0 ] || { echo "usage: sandbox.sh CMD..." >&2; exit 64; }
self=$(cd "$(dirname "$0")" && pwd)/${0##*/}
# shellcheck source=tests/lib/own-cgroup.bash
source "${self%/*/*}/lib/own-cgroup.bash"

# --- inside: pid 1 of the namespace -------------------------------------------------------------------------------
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
	# shellcheck disable=SC2086 # a list of words
	own_cgroup_mount /sys/fs/cgroup $SANDBOX_V1
	unset SANDBOX_V1
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts /dev/pts
	[ ! -e /dev/ptmx ] || mount --bind /dev/pts/ptmx /dev/ptmx
	mount -t tmpfs -o mode=755 tmpfs /run
	if [ -n "${GOVERNED:-}" ]; then
		# The host may have no /etc/custody to mount on.
		for dir in /etc /var/lib; do
			mkdir -p "/run/over$dir/up" "/run/over$dir/work"
			mount -t overlay -o "lowerdir=$dir,upperdir=/run/over$dir/up,workdir=/run/over$dir/work" overlay "$dir"
		done
		mkdir -p /etc/custody /var/lib/custody
	fi
	for dir in /etc/custody /var/lib/custody; do
		[ ! -d "$dir" ] || mount -t tmpfs -o mode=755 tmpfs "$dir"
	done
	[ -z "${GOVERNED:-}" ] || cp "${self%/*}/governed.json" /etc/custody/custody.json
	for dir in /var/lib/containers /var/lib/docker /var/lib/containerd /var/lib/cni; do
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
leave() {
	trap - EXIT
	own_cgroup_leave
}
trap 'exit 143' TERM INT HUP
trap leave EXIT
# Not the pid alone: another pid namespace on this host has the same numbers.
own_cgroup_join custody-suite-$$-$RANDOM$RANDOM
stage=inside cgroup=(--cgroup)
if [ -n "$own_v2" ]; then
	stage=join cgroup=()
	export SANDBOX_JOIN=$own_v2
fi
status=0
SANDBOX_STAGE=$stage SANDBOX_V1="${own_v1[*]}" \
	unshare "${cgroup[@]}" --mount --pid --fork --kill-child --mount-proc --net --uts --ipc -- "$self" "$@" || status=$?
leave
exit $status
