#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# First process of the machine: finds the disks and hands over to the real init.  run.sh puts the modules in.
PATH=/bin
busybox mount -t proc proc /proc
busybox mount -t devtmpfs dev /dev
# modules
tries=0
until [ -b /dev/vda ] && [ -b /dev/vdb ]; do
	tries=$((tries + 1))
	[ $tries -lt 200 ] || { echo 'no disks'; busybox poweroff -f; }
	busybox usleep 50000
done
busybox mount -t ext4 -o rw,noatime /dev/vda /root || busybox poweroff -f
# The tree of tests, before anything else sees the root: systemd reads its unit from it.
busybox tar -C /root -xf /dev/vdb
init=/opt/custody/tests/vm/init.sh
if busybox grep -q custody.mode=systemd /proc/cmdline; then
	init=/lib/systemd/systemd
	units=/root/etc/systemd/system
	busybox mkdir -p $units/multi-user.target.wants /root/var/lib/systemd/linger /root/etc/tmpfiles.d
	busybox cp /root/opt/custody/tests/vm/custody-vm.service $units/
	busybox ln -sf /etc/systemd/system/custody-vm.service $units/multi-user.target.wants/
	# Empty: the programs under test may lie in /tmp, which the packaged file clears at boot.
	busybox touch /root/etc/tmpfiles.d/tmp.conf
	# Debian 13 mounts a file system over it.
	busybox ln -sf /dev/null $units/tmp.mount
fi
busybox umount /proc
busybox umount /dev
exec busybox switch_root /root $init
