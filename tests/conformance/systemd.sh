#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Inside sandbox.sh: runs a command under a systemd of its own, pid 1 of one more pid namespace, on an overlay of the
# root file system that is thrown away.  Only the bus and the command are started.
#
#	tests/conformance/sandbox.sh tests/conformance/systemd.sh CMD...
set -eu
boot() {
	local root=/run/boot d
	mkdir -p $root/{up,work,root} /run/shared
	mount -t tmpfs -o mode=755 tmpfs $root
	mkdir $root/{up,work,root}
	mount -t overlay -o "lowerdir=/,upperdir=$root/up,workdir=$root/work" overlay $root/root
	mount --rbind /dev $root/root/dev
	mount -t sysfs sysfs $root/root/sys
	mount --rbind /sys/fs/cgroup $root/root/sys/fs/cgroup
	mount -t tmpfs -o mode=755 tmpfs $root/root/run
	for d in shared containers; do
		mkdir $root/root/run/$d
		[ ! -d /run/$d ] || mount --rbind /run/$d $root/root/run/$d
	done
	mount --bind /run/containers $root/root/etc/containers
	for d in /etc/custody /var/lib/custody; do mkdir -p $root/root$d; done
	for d in /etc/custody /var/lib/custody /var/lib/containers /tmp; do
		[ ! -d $d ] || mount --rbind $d $root/root$d
	done
	mkdir -p $root/root/run/systemd/system
	cat >$root/root/run/systemd/system/suite.target <<-'UNIT'
		[Unit]
		DefaultDependencies=no
		Requires=suite.service
		After=suite.service
	UNIT
	# systemd itself joins the bus only when units of these names run.
	cat >$root/root/run/systemd/system/dbus.socket <<-'UNIT'
		[Unit]
		DefaultDependencies=no
		[Socket]
		ListenStream=/run/dbus/system_bus_socket
	UNIT
	cat >$root/root/run/systemd/system/dbus.service <<-'UNIT'
		[Unit]
		DefaultDependencies=no
		Requires=dbus.socket
		After=dbus.socket
		[Service]
		Type=notify
		ExecStart=/usr/bin/dbus-daemon --system --address=systemd: --nofork --nopidfile --systemd-activation
		NotifyAccess=all
	UNIT
	cat >$root/root/run/systemd/system/suite.service <<-UNIT
		[Unit]
		DefaultDependencies=no
		Requires=dbus.service
		After=dbus.service
		[Service]
		Type=oneshot
		Environment=PATH=$PATH TMPDIR=/run/shared/tmp HOME=/run/shared/home
		ExecStart=/bin/bash /run/shared/command
		StandardOutput=file:/run/shared/output
		StandardError=inherit
		ExecStopPost=/bin/systemctl --no-block exit 0
		# The command's cgroup must be free for the engine's processes to leave.
		Delegate=yes
		TimeoutStopSec=5
	UNIT
	mkdir -p $root/root/run/old /run/shared/tmp /run/shared/home
	mount --make-rprivate /
	cd $root/root
	# Since util-linux 2.42 its own is in another package.
	busybox pivot_root . run/old
	mount -t proc proc /proc
	umount -l run/old
	export container=custody
	# In a container systemd reads these words from its own command line.  crun refuses the hybrid layout, which
	# systemd would otherwise complete where it finds v1 controllers.
	[ -e /sys/fs/cgroup/cgroup.controllers ] ||
		set -- systemd.unified_cgroup_hierarchy=no systemd.legacy_systemd_cgroup_controller=yes
	exec /lib/systemd/systemd --unit=suite.target --log-target=console --log-level=warning "$@"
}
if [ "${1:-}" = --boot ]; then
	shift
	boot
fi
version=$(systemctl --version | sed -n '1s/^systemd \([0-9]*\).*/\1/p')
if [ "${version:-0}" -ge 258 ] && [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then
	echo "systemd.sh: systemd $version needs cgroup v2 alone, and this host's controllers are in v1" >&2
	exit 1
fi
mkdir -p /run/shared
printf '%q ' "$@" >/run/shared/command
echo '; echo $? >/run/shared/status' >>/run/shared/command
env | grep -E '^(RUNTIME|GOVERNED|CUSTODY_[A-Z]*)=' | sed 's/^/export /' | cat - /run/shared/command >/run/shared/command.new
mv /run/shared/command.new /run/shared/command
unshare --mount --pid --fork --kill-child -- "$0" --boot >/run/shared/boot.log 2>&1 </dev/null || true
cat /run/shared/output 2>/dev/null || cat /run/shared/boot.log
exit "$(cat /run/shared/status 2>/dev/null || echo 1)"
