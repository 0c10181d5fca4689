#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# user-systemd.sh V2 CGROUP UID HOME -- CMD...: CMD beside a real systemd of the user UID, in namespaces of their own in which cgroup
# v2, mounted at V2 here, is the only hierarchy.  CGROUP belongs to the user; systemd gets a part of it.  HOME/xdg is the runtime directory.
set -eu
if [ "$1" != --inside ]; then
	exec unshare --mount --pid --fork --kill-child --mount-proc -- "$0" --inside "$@"
fi
v2=$2 cgroup=/sys/fs/cgroup/$3 uid=$4 home=$5
shift 6
[ "$v2" = /sys/fs/cgroup ] || umount -R /sys/fs/cgroup
[ "$v2" = /sys/fs/cgroup ] || mount -t cgroup2 none /sys/fs/cgroup
# systemd starts only where this directory says that another one has booted the machine.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/systemd/system
mkdir "$cgroup/manager" "$cgroup/client"
chown -R "$uid" "$cgroup/manager" "$cgroup/client"
cd "$home"
(
	echo "$BASHPID" >"$cgroup/manager/cgroup.procs"
	exec setpriv --reuid "$uid" --regid "$uid" --clear-groups env -i "HOME=$home/home" "XDG_RUNTIME_DIR=$home/xdg" "PATH=$PATH" \
		/lib/systemd/systemd --user --unit=basic.target --log-target=console >"$home/systemd.log" 2>&1
) &
end=$((SECONDS + 60))
until [ -S "$home/xdg/systemd/private" ]; do
	[ "$SECONDS" -lt "$end" ] || { cat "$home/systemd.log" >&2; exit 99; }
	sleep 0.05
done
echo $$ >"$cgroup/client/cgroup.procs"
cd "$home/work"
"$@"
