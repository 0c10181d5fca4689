#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # set by bats
# A state tree without lanes becomes one with lanes (LANE-8).

load ../lib/suite.bash

setup() {
	suite_setup
	TREE=$CUSTODY_ROOT
	rm -rf "${TREE:?}"/*
	export CUSTODY_ALLOW_PROD=1
}
# Sessions of the fixture are no leftovers of a run.
teardown() {
	rm -rf "$TREE"
	custody_teardown
}

# The layout of version 0: everything side by side, names or stamps give the lane.
make_old_tree() {
	local t=$1
	mkdir -p "$t/sessions/test_s1/deep/er" "$t/sessions/prod_s2" "$t/sessions/s3" "$t/sessions/s4" "$t/sessions/s5" \
		"$t/grants" "$t/reports/test_s1" "$t/reports/s2"
	echo one >"$t/sessions/test_s1/deep/er/file"
	ln -s /etc/passwd "$t/sessions/test_s1/link"
	echo two >"$t/sessions/prod_s2/log"
	echo prod >"$t/sessions/s3/lane"
	echo '{"lane": "sandbox", "session": "s4"}' >"$t/sessions/s4/metadata.json"
	echo text >"$t/sessions/s5/log"
	echo '{"digest": "sha256:1"}' >"$t/grants/test_g1.json"
	echo '{"digest": "sha256:2", "lane": "prod"}' >"$t/grants/g2.json"
	echo '{"digest": "sha256:3"}' >"$t/grants/g3.json"
	echo report >"$t/reports/test_s1/summary.md"
	echo '{"network": "prod"}' >"$t/reports/s2/metadata.json"
	echo '{"peers": []}' >"$t/prod_audit_peer"
	echo '{"dc": 2}' >"$t/test_dc2.session.json"
	echo "$t/sessions/test_s1" >"$t/test.current"
	echo "$t/sessions/prod_s2" >"$t/prod.bot.current"
	echo "$t/sessions/s3" >"$t/current"
	echo "$t/sessions/gone" >"$t/test_current"
}

# Paths, types, link targets and contents, without what every lane has of its own.
snapshot() {
	(cd "$1" && find . -mindepth 1 \( -name ledger -o -name ledger-keys -o -name etc -o -name '.new-*' \) -prune -o -printf '%P %y %l\n' | sort
		find . \( -name ledger -o -name ledger-keys -o -name etc \) -prune -o -type f ! -name '.new-*' -print | sort | xargs -r sha256sum)
}

@test "LANE-7: entries of prod are moved only with both keys; without them nothing is" {
	make_old_tree "$TREE"
	find "$TREE" -printf '%p %i %s\n' | sort >"$CUSTODY_HOME/before"
	run -116 --separate-stderr "$CUSTODY" migrate --apply
	[[ $stderr == *"missing: --allow-prod;"* ]]
	run -116 --separate-stderr env -u CUSTODY_ALLOW_PROD "$CUSTODY" migrate --apply --allow-prod
	[[ $stderr == *"missing: CUSTODY_ALLOW_PROD;"* ]]
	cmp <(find "$TREE" -printf '%p %i %s\n' | sort) "$CUSTODY_HOME/before"
	run -0 --separate-stderr env -u CUSTODY_ALLOW_PROD sh -c "$(sed -n 's/.*to do it: //p' <<<"$stderr")"
	jq -se 'any(.k == "lane.override" and .d.action == "migrate")' "$TREE"/prod/ledger/*.ndjson >/dev/null
	# A tree without entries of prod needs none.
	rm -rf "${TREE:?}"/*
	mkdir -p "$TREE/sessions/test_s1"
	run -0 --separate-stderr env -u CUSTODY_ALLOW_PROD "$CUSTODY" migrate --apply
}

@test "LANE-8: the default is a dry run that prints the plan and writes nothing" {
	make_old_tree "$TREE"
	find "$TREE" -printf '%p %i %C@ %s\n' | sort >"$CUSTODY_HOME/before"
	run -0 "$CUSTODY" migrate
	find "$TREE" -printf '%p %i %C@ %s\n' | sort | diff "$CUSTODY_HOME/before" -
	[[ "$output" == *"move     sessions/test_s1 -> sandbox/sessions/s1"* ]]
	[[ "$output" == *"move     sessions/s3 -> prod/sessions/s3"* ]]
	[[ "$output" == *"move     prod_audit_peer -> prod/audit_peer"* ]]
	[[ "$output" == *"point    test.current -> sandbox/current"* ]]
	[[ "$output" == *"left     sessions/s5: it has no lane stamp"* ]]
	[[ "$output" == *"left     test_current: it points to 'sessions/gone'"* ]]
	[[ "$output" == *"13 to migrate, 3 left, 0 in conflict; nothing was written: run custody migrate --apply"* ]]
	run -0 "$CUSTODY" migrate --dry-run
	run -0 "$CUSTODY" migrate --json
	[ "$(jq -r '[.items[] | select(.action == "move")] | length' <<<"$output")" = 10 ]
	[ "$(jq -r .applied <<<"$output")" = false ]
	find "$TREE" -printf '%p %i %C@ %s\n' | sort | diff "$CUSTODY_HOME/before" -
}

@test "LANE-8: --apply moves everything that is stamped, rewrites pointers, leaves the rest" {
	make_old_tree "$TREE"
	run -0 "$CUSTODY" migrate --apply --allow-prod
	[ "$(cat "$TREE/sandbox/sessions/s1/deep/er/file")" = one ]
	[ "$(cat "$TREE/sandbox/sessions/s1/lane")" = sandbox ]
	[ "$(cat "$TREE/prod/sessions/s2/lane")" = prod ]
	[ -d "$TREE/prod/sessions/s3" ] && [ -d "$TREE/sandbox/sessions/s4" ]
	[ -f "$TREE/sandbox/grants/g1.json" ] && [ -f "$TREE/prod/grants/g2.json" ]
	[ -f "$TREE/sandbox/reports/s1/summary.md" ] && [ -d "$TREE/prod/reports/s2" ]
	[ -f "$TREE/prod/audit_peer" ] && [ ! -e "$TREE/sandbox/audit_peer" ]
	[ -f "$TREE/sandbox/sessions/dc2.session.json" ]
	# The content of a pointer, not only its place.
	[ "$(cat "$TREE/sandbox/current")" = "$TREE/sandbox/sessions/s1" ]
	[ "$(cat "$TREE/prod/bot.current")" = "$TREE/prod/sessions/s2" ]
	[ "$(cat "$TREE/prod/current")" = "$TREE/prod/sessions/s3" ]
	for pointer in sandbox/current prod/bot.current prod/current; do
		[ -d "$(cat "$TREE/$pointer")" ]
	done
	# Left where they were: nothing says where they belong.
	[ "$(cat "$TREE/sessions/s5/log")" = text ]
	[ -f "$TREE/grants/g3.json" ] && [ -f "$TREE/test_current" ]
	[ ! -e "$TREE/reports" ] && [ ! -e "$TREE/current" ] && [ ! -e "$TREE/test.current" ]
	[ "$(cat "$TREE/sandbox/version")" = 1 ] && [ "$(cat "$TREE/prod/version")" = 1 ]
}

@test "LANE-8: it is a record in the ledger of each lane" {
	make_old_tree "$TREE"
	run -0 "$CUSTODY" migrate --apply --allow-prod
	for lane in sandbox prod; do
		jq -e --arg lane $lane 'select(.k == "state.migrate") | .d.lane == $lane and (.d.items | length) > 3' \
			"$TREE/$lane"/ledger/*.ndjson
	done
	jq -e 'select(.k == "state.migrate") | .d.items | any(.from == "sessions/test_s1" and .to == "sandbox/sessions/s1")' \
		"$TREE"/sandbox/ledger/*.ndjson
	run ! grep -r prod_s2 "$TREE/sandbox/ledger"
}

@test "LANE-8: a second --apply does nothing" {
	make_old_tree "$TREE"
	run -0 "$CUSTODY" migrate --apply --allow-prod
	find "$TREE" -printf '%p %i %C@ %s\n' | sort >"$CUSTODY_HOME/before"
	run -0 "$CUSTODY" migrate --apply --allow-prod
	[[ "$output" == *"0 migrated, 3 left, 0 in conflict"* ]]
	find "$TREE" -printf '%p %i %C@ %s\n' | sort | diff "$CUSTODY_HOME/before" -
}

@test "LANE-8: a conflict is named, exits 1 and neither side is changed" {
	make_old_tree "$TREE"
	mkdir -p "$TREE/sandbox/sessions/s1" "$TREE/sessions/prod_s6" "$TREE/sessions/test_s7" "$TREE/sessions/s7"
	echo mine >"$TREE/sandbox/sessions/s1/own"
	echo sandbox >"$TREE/sessions/prod_s6/lane"
	echo sandbox >"$TREE/sessions/s7/lane"
	echo '{"lane": "moon"}' >"$TREE/grants/test_g4.json"
	mkfifo "$TREE/sessions/test_fifo"
	run -1 "$CUSTODY" migrate
	[[ "$output" == *"conflict sessions/test_s1: 'sandbox/sessions/s1' exists already"* ]]
	[[ "$output" == *"conflict sessions/prod_s6: lane 'prod' in its name and lane 'sandbox' in its stamp differ"* ]]
	[[ "$output" == *"conflict sessions/s7: 'sessions/test_s7' has the same target"* ]]
	[[ "$output" == *"conflict sessions/test_s7: 'sessions/s7' has the same target"* ]]
	[[ "$output" == *"conflict grants/test_g4.json: its lane stamp is unreadable"* ]]
	[[ "$output" == *"left     sessions/test_fifo: it is neither a file nor a directory"* ]]
	run -1 timeout 60 "$CUSTODY" migrate --apply --allow-prod
	[ "$(cat "$TREE/sandbox/sessions/s1/own")" = mine ] && [ "$(ls "$TREE/sandbox/sessions/s1")" = own ]
	[ "$(cat "$TREE/sessions/test_s1/deep/er/file")" = one ] && [ ! -e "$TREE/sessions/test_s1/lane" ]
	[ -d "$TREE/sessions/test_s7" ] && [ ! -e "$TREE/sessions/test_s7/lane" ] && [ ! -e "$TREE/sandbox/sessions/s7" ]
	[ "$(cat "$TREE/sessions/prod_s6/lane")" = sandbox ]
	# What points to it stays with it; the others went.
	[ "$(cat "$TREE/test.current")" = "$TREE/sessions/test_s1" ] && [ ! -e "$TREE/sandbox/current" ]
	[ -d "$TREE/prod/sessions/s2" ] && [ -f "$TREE/prod/current" ]
	# After a manual fix it continues.
	rm -r "$TREE/sandbox/sessions/s1" "$TREE/sessions/s7" "$TREE/sessions/prod_s6" "$TREE/grants/test_g4.json"
	run -0 "$CUSTODY" migrate --apply --allow-prod
	[ "$(cat "$TREE/sandbox/current")" = "$TREE/sandbox/sessions/s1" ]
}

@test "LANE-8: symbolic links in the tree are never followed" {
	mkdir -p "$TREE/sessions" "$CUSTODY_HOME/outside/test_x" "$CUSTODY_HOME/elsewhere"
	ln -s "$CUSTODY_HOME/outside/test_x" "$TREE/sessions/test_x"
	ln -s "$CUSTODY_HOME/outside" "$TREE/reports"
	ln -s "$CUSTODY_HOME/outside" "$TREE/grants"
	ln -s "$CUSTODY_HOME/outside/test_x" "$TREE/test.current"
	ln -s "$CUSTODY_HOME/outside/test_x" "$TREE/prod_audit_peer"
	run -0 "$CUSTODY" migrate --apply --allow-prod
	[[ "$output" == *"left     sessions/test_x: it is a symbolic link"* ]]
	[[ "$output" == *"left     reports: it is not a directory"* ]]
	[[ "$output" == *"left     prod_audit_peer: it is not a file"* ]]
	[ -z "$(ls "$CUSTODY_HOME/outside/test_x")" ] && [ "$(ls "$CUSTODY_HOME/outside")" = test_x ]
	[ ! -e "$TREE/sandbox" ] && [ ! -e "$TREE/prod" ]
	# A lane that leads elsewhere gets nothing.
	mkdir "$TREE/sessions/test_y"
	ln -s "$CUSTODY_HOME/elsewhere" "$TREE/sandbox"
	run -125 "$CUSTODY" migrate --apply --allow-prod
	[ -d "$TREE/sessions/test_y" ] && [ ! -e "$CUSTODY_HOME/elsewhere/sessions" ]
}

@test "LANE-8: a lane's state that is not of this version or lane is not written" {
	mkdir -p "$TREE/sessions/test_a" "$TREE/sandbox"
	echo 7 >"$TREE/sandbox/version"
	run -125 "$CUSTODY" migrate --apply --allow-prod
	[[ "$output" == *"layout version 7"* ]]
	rm "$TREE/sandbox/version"
	echo prod >"$TREE/sandbox/lane"
	run -116 "$CUSTODY" migrate --apply --allow-prod
	[ -d "$TREE/sessions/test_a" ] && [ "$(ls "$TREE/sandbox")" = lane ]
}

@test "LANE-8: bad usage, no tree, a foreign tree, two at once" {
	run -64 "$CUSTODY" migrate --apply --dry-run
	run -64 "$CUSTODY" migrate --aply
	run -64 "$CUSTODY" migrate relative
	run -64 "$CUSTODY" migrate /a /b
	run -125 "$CUSTODY" migrate "$CUSTODY_HOME/nowhere"
	run -0 "$CUSTODY" migrate "$TREE"
	[[ "$output" == *"nothing to migrate in"* ]]
	make_old_tree "$TREE"
	chmod o+w "$TREE"
	run -125 "$CUSTODY" migrate --apply --allow-prod
	chmod o-w "$TREE"
	exec {lock}<"$TREE"
	flock -x "$lock"
	run -125 "$CUSTODY" migrate --apply --allow-prod
	[[ "$output" == *"another migration"* ]]
	exec {lock}<&-
	[ -d "$TREE/sessions/test_s1" ] && [ ! -e "$TREE/sandbox" ]
}

# killed_at CALL N: --apply dies right before its Nth CALL; fails when there is no such call.
killed_at() {
	local status=0
	rm -rf "$TREE"
	mkdir -m 0700 "$TREE"
	make_old_tree "$TREE"
	{ strace -qq -o /dev/null -e trace="$1" -e inject="$1:signal=SIGKILL:when=$2" \
		"$CUSTODY" migrate --apply --allow-prod >"$CUSTODY_HOME/out" 2>&1 || status=$?; } 2>/dev/null
	[ "$status" -eq 137 ] || {
		[ "$status" -eq 0 ] || echo "strace: $status" >"$CUSTODY_HOME/broken"
		return 1
	}
}

@test "LANE-8: killed before any of its writes, the next --apply ends in the same tree" {
	local call n total=0
	command -v strace >/dev/null || skip 'no strace'
	make_old_tree "$TREE"
	run -0 "$CUSTODY" migrate --apply --allow-prod
	snapshot "$TREE" >"$CUSTODY_HOME/reference"
	[ -s "$CUSTODY_HOME/reference" ]
	# strace counts each call apart.
	for call in mkdirat renameat2 renameat rename unlinkat unlink write pwrite64 fsync fdatasync fallocate fchmod; do
		n=1
		while killed_at $call $n; do
			run -0 "$CUSTODY" migrate --apply --allow-prod
			snapshot "$TREE" | diff "$CUSTODY_HOME/reference" - || {
				echo "killed at $call $n"
				false
			}
			n=$((n + 1)) total=$((total + 1))
		done
		[ ! -e "$CUSTODY_HOME/broken" ]
	done
	[ "$total" -gt 80 ]
}
