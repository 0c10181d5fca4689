#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# `custody setup` on a machine with cgroup v2 and systemd.  Run by guest.sh, as root: it changes the machine.

load ../lib/suite.bash

setup() {
	[ "$(id -u)" -eq 0 ] && [ -d /run/systemd/system ] || custody_fail 'run by guest.sh, with systemd'
	suite_setup
}
teardown() {
	custody_teardown
}

@test "PLAT-3: setup with systemd: it knows the drop-in of this user at once, and forgets it after --remove" {
	local unit=user@$SUITE_UID.service
	shown() { systemctl show -p DropInPaths,DelegateControllers "$unit"; }
	run --separate-stderr env -u CUSTODY_ROOT "$CUSTODY" setup "$SUITE_UID"
	assert_status 0
	shown | grep -q "/etc/systemd/system/$unit.d/50-custody.conf"
	[ "$(shown | sed -n 's/^DelegateControllers=//p' | tr ' ' '\n' | grep -cxE 'cpu|memory|pids')" -eq 3 ]
	[ ! -e /sys/fs/cgroup/custody-user-"$SUITE_UID" ]
	# Another user's unit is as before.
	[[ $(systemctl show -p DropInPaths user@64322.service) != *50-custody.conf* ]]
	run --separate-stderr env -u CUSTODY_ROOT "$CUSTODY" setup --remove "$SUITE_UID"
	assert_status 0
	[[ $(shown) != *50-custody.conf* ]]
	[ ! -e "/etc/systemd/system/$unit.d" ]
}
