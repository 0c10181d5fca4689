#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a command in a Debian root file system on this host's kernel, as the first login of that machine would: mount, pid,
# uts, ipc and cgroup namespaces of its own, /proc, /sys, /dev and /run of its own; the host's network, for apt-get.
#
#	tests/on/enter.sh [--bind DIR] ROOT CMD...
#
# The root is pivoted to, because the kernel refuses user namespaces to a process in a chroot.  What CMD writes stays in
# ROOT; DIR of the host is at the same path inside.  The end of this process, also by SIGKILL, is the end of all inside.
set -eu
die() {
	echo "enter.sh: $*" >&2
	exit 1
}
self=$(cd "$(dirname "$0")" && pwd)/${0##*/}
# shellcheck source=tests/lib/own-cgroup.bash
source "${self%/*/*}/lib/own-cgroup.bash"

# --- inside: pid 1 of the namespace -------------------------------------------------------------------------------
make_dev() { # DIR
	local name n
	mount -t tmpfs -o mode=755,nosuid dev "$1"
	# Nodes that this host has.  The kernel makes those of new loop devices in its own devtmpfs, which is the host's.
	for name in null zero full random urandom tty kmsg fuse net/tun kvm loop-control; do
		[ -c "/dev/$name" ] || continue
		mkdir -p "$1/$name" && rmdir "$1/$name"
		cp -a "/dev/$name" "$1/$name"
	done
	if [ -c /dev/loop-control ]; then
		for ((n = 0; n < 64; n++)); do mknod -m 660 "$1/loop$n" b 7 "$n"; done
	fi
	ln -s /proc/self/fd "$1/fd"
	ln -s fd/0 "$1/stdin"
	ln -s fd/1 "$1/stdout"
	ln -s fd/2 "$1/stderr"
	mkdir "$1/pts" "$1/shm" "$1/mqueue"
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$1/pts"
	ln -s pts/ptmx "$1/ptmx"
	mount -t tmpfs -o mode=1777,nosuid,nodev shm "$1/shm"
	mount -t mqueue mqueue "$1/mqueue"
}
if [ "${ENTER_STAGE:-}" = join ]; then
	# Before the namespace, which could not be left again.
	echo 0 >"$ENTER_JOIN/cgroup.procs"
	ENTER_STAGE=inside exec unshare --cgroup -- "$self" "$@"
fi
if [ "${ENTER_STAGE:-}" = inside ]; then
	root=$1
	shift
	mount --make-rprivate /
	mount --bind "$root" "$root"
	cd "$root"
	mount -t proc -o nosuid,nodev,noexec proc proc
	mount -t sysfs -o nosuid,nodev,noexec sysfs sys
	# shellcheck disable=SC2086 # a list of words
	own_cgroup_mount "$PWD/sys/fs/cgroup" $ENTER_CGROUPS
	make_dev "$PWD/dev"
	mount -t tmpfs -o mode=755,nosuid,nodev run run
	mkdir -m 1777 run/lock
	if [ -n "$ENTER_BIND" ]; then
		mkdir -p ".$ENTER_BIND"
		mount --bind "$ENTER_BIND" ".$ENTER_BIND"
	fi
	hostname debian
	pivot_root . .
	umount -l .
	cd /root
	# The root's own shell: it stays pid 1 and reaps what the command leaves behind.
	# shellcheck disable=SC2016 # for that shell
	exec env -i HOME=/root USER=root LOGNAME=root SHELL=/bin/bash LANG=C.UTF-8 TERM="${TERM:-dumb}" \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
		/bin/bash -c '"$@"; exit $?' pid1 "$@"
fi

# --- outside ------------------------------------------------------------------------------------------------------
bind=''
if [ "${1:-}" = --bind ]; then
	[ $# -ge 2 ] || die '--bind needs a directory'
	bind=$(cd "$2" && pwd -P) || die "--bind: no directory '$2'"
	shift 2
fi
[ $# -ge 2 ] || { echo 'usage: enter.sh [--bind DIR] ROOT CMD...' >&2; exit 64; }
[ "$(id -u)" -eq 0 ] || die 'needs root: it mounts; use sudo'
root=$(cd "$1" && pwd -P) || exit 1
[ -x "$root/bin/bash" ] || die "'$root' is no root file system: it has no /bin/bash"
shift

# What a killed run left behind.
for dir in /sys/fs/cgroup/check-on-* /sys/fs/cgroup/*/check-on-*; do
	[ ! -d "$dir" ] || [ -d "/proc/${dir##*-}" ] || find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null || true
done
child=''
leave() {
	trap '' TERM INT HUP
	trap - EXIT
	# unshare blocks SIGTERM while it waits; its child dies with it.
	[ -z "$child" ] || { kill -KILL "$child" && wait "$child"; } 2>/dev/null || true
	own_cgroup_leave
}
trap 'exit 143' TERM INT HUP
trap leave EXIT
own_cgroup_join check-on-$$
stage=inside cgroup=(--cgroup)
[ -z "$own_v2" ] || stage=join cgroup=()
# Not in the foreground, where a signal would wait for its end; env undoes what bash does to signals there.
ENTER_STAGE=$stage ENTER_JOIN=$own_v2 ENTER_CGROUPS="${own_v1[*]} $own_unified" ENTER_BIND=$bind \
	env --default-signal=INT,QUIT setpriv --pdeathsig KILL \
	unshare "${cgroup[@]}" --mount --pid --fork --kill-child --uts --ipc -- "$self" "$root" "$@" <&0 &
child=$!
status=0
wait "$child" || status=$?
child=''
leave
exit "$status"
