#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pid 1 of the machine without systemd: cgroup v2 as the only hierarchy, then the suites, then off.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
ln -s /proc/self/fd /dev/fd
for n in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${n%:*}" "/dev/${n#*:}"; done
mount -t devpts -o gid=5,mode=620,ptmxmode=0666 devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=755 run /run
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -m 1777 /run/lock
ip link set lo up
hostname custody-vm
# As a child, in a session of its own: pid 1 reaps.
setsid /opt/custody/tests/vm/guest.sh </dev/null >/dev/console 2>&1 &
wait $!
sync
echo o >/proc/sysrq-trigger
while :; do sleep 1; done
