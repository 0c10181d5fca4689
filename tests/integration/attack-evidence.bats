#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2154 # scripts for the inside; set by bats
#
# Evidence of a run, and users who try to get more out of it than a copy.

load ../lib/suite.bash

setup() {
	suite_setup
}
teardown() {
	custody_teardown
}

@test "ISO-5: restore --exact creates no device or set-id file in a directory of another user" {
	[ "$(id -u)" -eq 0 ] || skip "--exact needs root"
	custody_run -- sh -c 'mkfifo pipe; echo x >file; kill -9 $$'
	assert_status 137
	id=$("$CUSTODY" evidence ls --json | jq -r '.evidence[0].id')
	mkdir "$CUSTODY_HOME/theirs" "$CUSTODY_HOME/open"
	chown 64321 "$CUSTODY_HOME/theirs"
	chmod 0777 "$CUSTODY_HOME/open"
	for dir in theirs open; do
		run --separate-stderr "$CUSTODY" evidence restore "$id" "$CUSTODY_HOME/$dir" --exact
		assert_status 125
		assert_stderr_has "name a new directory"
		[ -z "$(ls -A "$CUSTODY_HOME/$dir")" ] || custody_fail "restored: $(ls -lA "$CUSTODY_HOME/$dir")"
	done
	"$CUSTODY" evidence restore "$id" "$CUSTODY_HOME/ours" --exact
	[ -p "$CUSTODY_HOME/ours/pipe" ] && [ "$(cat "$CUSTODY_HOME/ours/file")" = x ]
}

# The payload chooses the mode of its worktree.
@test "ISO-5: restore never opens its target, and set-id programs stay where other users cannot reach them" {
	local id dir mode
	echo 'cp /bin/true suid; chmod 4755 suid; mkdir -m 0777 sub; chmod 4755 sub; chmod 0777 .; kill -9 $$' >payload
	custody_run -- sh ./payload
	assert_status 137
	id=$("$CUSTODY" evidence ls --json | jq -r '.evidence[0].id')
	"$CUSTODY" evidence restore "$id" "$CUSTODY_HOME/plain"
	[ "$(stat -c '%a %u' "$CUSTODY_HOME/plain")" = "700 $(id -u)" ]
	[ "$(stat -c %a "$CUSTODY_HOME/plain/suid")" = 755 ]
	for mode in 755 700 550; do
		mkdir -m "$mode" "$CUSTODY_HOME/made$mode"
		"$CUSTODY" evidence restore "$id" "$CUSTODY_HOME/made$mode" || [ "$mode" = 550 ]
		[ "$(stat -c %a "$CUSTODY_HOME/made$mode")" = "$mode" ]
	done
	if [ "$(id -u)" -eq 0 ]; then
		"$CUSTODY" evidence restore "$id" "$CUSTODY_HOME/exact" --exact
		[ "$(stat -c '%a %u %g' "$CUSTODY_HOME/exact")" = "700 0 0" ]
		[ "$(stat -c %a "$CUSTODY_HOME/exact/suid")" = 4755 ]
		if setpriv --reuid 64321 --regid 64321 --clear-groups sh -c '"$1"' sh "$CUSTODY_HOME/exact/suid" 2>/dev/null; then
			custody_fail "another user ran the payload's set-id program"
		fi
		for dir in 755 711 750 710; do
			mkdir -m "$dir" "$CUSTODY_HOME/open$dir"
			run --separate-stderr "$CUSTODY" evidence restore "$id" "$CUSTODY_HOME/open$dir" --exact
			assert_status 125
			assert_stderr_has "chmod 700 '$CUSTODY_HOME/open$dir'"
			[ -z "$(ls -A "$CUSTODY_HOME/open$dir")" ] || custody_fail "restored: $(ls -lA "$CUSTODY_HOME/open$dir")"
		done
	fi
}

@test "ISO-5: a manifest that was edited in the store is restored with a warning, and not with --exact" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	local id dir
	run "$CUSTODY" run -- sh -c 'echo x >file; exit 3'
	id=$("$CUSTODY" evidence ls --json | jq -r '.evidence[0].id')
	dir=$CUSTODY_ROOT/forensics/$id
	"$CUSTODY" evidence restore --exact "$id" "$CUSTODY_HOME/before"
	sed -i '/"p":"file"/s/"mode":"0644"/"mode":"4755"/' "$dir/manifest.ndjson"
	run "$CUSTODY" evidence restore "$id" "$CUSTODY_HOME/plain"
	[ "$status" -eq 1 ] && [[ $output == *"was changed: its manifest"* ]]
	[ "$(cat "$CUSTODY_HOME/plain/file")" = x ]
	run "$CUSTODY" evidence restore --exact "$id" "$CUSTODY_HOME/exact"
	[ "$status" -eq 125 ] && [ ! -e "$CUSTODY_HOME/exact" ]
	# metadata.json to match: the ledger has its digest.
	sed -i "s/\"manifest\": *\"sha256:[0-9a-f]*\"/\"manifest\":\"sha256:$(sha256sum <"$dir/manifest.ndjson" | cut -c1-64)\"/" "$dir/metadata.json"
	run "$CUSTODY" evidence restore --exact "$id" "$CUSTODY_HOME/exact"
	[ "$status" -eq 125 ] && [[ $output == *"ledger names"* ]] && [ ! -e "$CUSTODY_HOME/exact" ]
}
