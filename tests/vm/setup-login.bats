#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A host that does not delegate every controller to logins, and the drop-in of `custody setup`.  Run by guest.sh, as root, with
# systemd: it changes the machine.  guest.sh repeats login.bats with the drop-in, which stays.

load ../lib/suite.bash

setup() {
	[ "$(id -u)" -eq 0 ] && [ -d /run/systemd/system ] || custody_fail 'run by guest.sh, with systemd'
	suite_setup
	UNIT=user@$(id -u tester).service
}
teardown() {
	custody_teardown
}

# in_session WORDS...: as the user, in a new login session; not in the home, which asks first
in_session() {
	run --separate-stderr su -l tester -c "mkdir -p work && cd work && $(printf '%q ' "$@")"
}
new_login() {
	systemctl restart "$UNIT"
}
controllers() {
	cat "/sys/fs/cgroup/user.slice/user-$(id -u tester).slice/$UNIT/cgroup.controllers"
}

@test "PLAT-3: setup: a login whose systemd lacks a controller is refused, and not after setup and a new login" {
	mkdir -p /etc/systemd/system/user@.service.d
	printf '[Service]\nDelegate=\nDelegate=memory pids\n' >/etc/systemd/system/user@.service.d/10-few.conf
	systemctl daemon-reload
	new_login
	[[ " $(controllers) " != *' cpu '* ]]
	in_session "$CUSTODY" run -- touch ran
	assert_status 125
	assert_stderr_has "'cpu-limit'"
	assert_stderr_has "setup tester"
	[ ! -e /home/tester/work/ran ]
	run --separate-stderr env -u CUSTODY_ROOT "$CUSTODY" setup tester
	assert_status 0
	assert_output_has "/etc/systemd/system/$UNIT.d/50-custody.conf"
	assert_output_has 'logs in again'
	# Setup ends no session, so nothing is different before the new login.
	in_session "$CUSTODY" run -- true
	assert_status 125
	new_login
	[[ " $(controllers) " == *' cpu '* ]]
	in_session "$CUSTODY" run --json -- sh -c 'exit 5'
	assert_status 5
	CUSTODY_RESULT=${lines[-1]}
	for layer in memory-limit pids-limit cpu-limit; do assert_layer "$layer"; done
}
