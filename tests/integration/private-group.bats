#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A login of Debian 13 has the umask 002: what it makes is writable for the user's own group.  /etc is that of a private mount
# namespace: the host's files stay as they are.

load ../lib/suite.bash

setup() {
	skip_without root
	suite_setup_user
	suite_ungoverned
	ETC=$CUSTODY_HOME/etc
	mkdir "$ETC" "$CUSTODY_HOME/home/profiles"
	cp /etc/passwd /etc/group "$ETC"
	echo "suite:x:$SUITE_UID:$SUITE_UID::$CUSTODY_HOME/home:/bin/sh" >>"$ETC/passwd"
	echo "suite:x:$SUITE_UID:" >>"$ETC/group"
	echo 'group: files systemd' >"$ETC/nsswitch.conf"
	# shellcheck disable=SC2016 # expanded inside
	CUSTODY_AS=(env "etc=$ETC" unshare -m sh -ec '
		umask 002
		for file in "$etc"/*; do mount --bind "$file" "/etc/${file##*/}"; done
		exec "$@"' sh "${CUSTODY_AS[@]}")
	suite_profile plain '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	install -d -o "$SUITE_UID" -g "$SUITE_UID" -m 0775 "$CUSTODY_ROOT/etc/profiles"
	install -o "$SUITE_UID" -g "$SUITE_UID" -m 0664 "$PROFILE" "$CUSTODY_ROOT/etc/profiles/plain.json"
	chown "$SUITE_UID:$SUITE_UID" "$CUSTODY_ROOT"/etc/custody.json
	chmod 0664 "$CUSTODY_ROOT"/etc/custody.json
	chown "$SUITE_UID:$SUITE_UID" "$CUSTODY_ROOT/etc"
	chmod 0775 "$CUSTODY_ROOT" "$CUSTODY_ROOT/etc"
}

teardown() {
	custody_teardown
}

# refused TEXT: nothing runs, and the message names what must change.
refused() {
	custody_run --profile plain -- sh -c 'echo ran'
	assert_status 125
	[[ $output != *ran* ]] || custody_fail 'it ran'
	assert_stderr_has "$1"
	assert_stderr_has 'chmod go-w'
}

@test "PLAT-3: umask 002: profiles, configuration and state that only the user's own group may write are used" {
	custody_run --profile plain -- sh -c 'echo ran'
	assert_status 0
	assert_output_has ran
}

@test "PLAT-3: umask 002: with another account in that group, by any file, each of them is refused" {
	sed -i "s/^suite:.*/&www-data/" "$ETC/group"
	refused 'is writable by'
	chmod go-w "$CUSTODY_ROOT" "$CUSTODY_ROOT/etc"
	refused "custody.json' is writable by other users"
	chmod go-w "$CUSTODY_ROOT/etc/custody.json"
	refused "etc/profiles' is writable by other users"
	chmod go-w "$CUSTODY_ROOT/etc/profiles"
	refused "plain.json' is writable by its group"
	# The state of this user, which a member of the group could exchange.
	chmod go-w "$CUSTODY_ROOT/etc/profiles/plain.json"
	chmod g+w "$CUSTODY_ROOT"
	refused 'is writable by other users'
	chmod go-w "$CUSTODY_ROOT"
	custody_run --profile plain -- true
	assert_status 0
}

@test "PLAT-3: umask 002: a group that is another account's, has an unknown source, or an ACL is not the user's own" {
	cp "$ETC/group" "$CUSTODY_HOME/group"
	echo "other:x:64999:$SUITE_UID::/:/bin/sh" >>"$ETC/passwd"
	refused 'is writable by'
	sed -i '/^other:/d' "$ETC/passwd"
	echo 'group: files ldap' >"$ETC/nsswitch.conf"
	refused 'is writable by'
	echo 'group: files' >"$ETC/nsswitch.conf"
	chgrp 64999 "$CUSTODY_ROOT/etc/profiles/plain.json"
	refused "plain.json' is writable by its group"
	chgrp "$SUITE_UID" "$CUSTODY_ROOT/etc/profiles/plain.json"
	# An ACL, whose mask the mode shows in place of the group: user 33 may write.
	setfattr -n system.posix_acl_access -v 0x0200000001000600ffffffff020006002100000004000400ffffffff10000600ffffffff20000400ffffffff \
		"$CUSTODY_ROOT/etc/profiles/plain.json"
	[ "$(stat -c %a "$CUSTODY_ROOT/etc/profiles/plain.json")" = 664 ]
	refused "plain.json' is writable by its group"
	setfattr -x system.posix_acl_access "$CUSTODY_ROOT/etc/profiles/plain.json"
	custody_run --profile plain -- true
	assert_status 0
}
