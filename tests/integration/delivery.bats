#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Evidence for a store that is a share: slow, full, hanging, or away.

load ../lib/suite.bash
load ../lib/share.bash

setup() {
	suite_setup
	echo original >kept
	share_setup
	STAGING=$CUSTODY_ROOT/sandbox/staging
	STORE=$SHARE/evidence
	mkdir -p "$CUSTODY_ROOT/etc"
	configure
}

teardown() {
	share_teardown
	custody_teardown
}

configure() { # [MEMBERS of forensics]
	echo "{\"forensics\":{\"retention_path\":\"$STORE\",\"keep_free\":0${1:+,$1}}}" >"$CUSTODY_ROOT/etc/custody.json"
}

evidence() {
	"${CUSTODY_AS[@]}" "$CUSTODY" evidence "$@"
}
deliver() { # [OPTIONS]: $status, $output, $stderr
	run --separate-stderr evidence deliver "$@"
}

# fail_run [CMD]: a run that leaves evidence; $ID.
fail_run() {
	custody_run -- sh -c "${1:-echo new >new}; kill -9 \$\$"
	assert_status 137
	ID=$(basename "$(custody_result .evidence)")
}

# The evidence ID is in the store, whole, and nowhere else; it was recorded once.
is_delivered() {
	local record
	[ -d "$BEHIND/evidence/$ID" ] || custody_fail "not in the store" || return
	[ "$(ls -A "$BEHIND/evidence")" = "$ID" ] || custody_fail "in the store: $(ls -A "$BEHIND/evidence")" || return
	[ ! -e "$STAGING/$ID" ] || custody_fail "still staged" || return
	record=$("$CUSTODY" ledger export --session "$ID" --kind evidence.deliver 2>/dev/null)
	[ "$(grep -c . <<<"$record")" = 1 ] || custody_fail "records: $record" || return
	[ "$(jq -r .d.evidence <<<"$record")" = "$STORE/$ID" ] || custody_fail "recorded: $record" || return
	[ "$(jq -r .d.evidence_sha256 <<<"$record")" = "$(sha256sum <"$BEHIND/evidence/$ID/metadata.json" | cut -d' ' -f1)" ] || custody_fail "recorded: $record" || return
	evidence verify "$ID"
}
is_staged() {
	[ -d "$STAGING/$ID" ] || custody_fail "not staged" || return
	[ ! -e "$BEHIND/evidence/$ID" ] || custody_fail "in the store" || return
	[ "$("$CUSTODY" ledger export --session "$ID" --kind evidence.deliver 2>/dev/null)" = "" ]
}
is_gone_from_staging() {
	[ ! -e "$STAGING/$ID" ]
}

@test "ISO-5: evidence for a share is staged as one archive, and a worker delivers it" {
	fail_run 'mkdir d; i=0; while [ $i -lt 700 ]; do echo $i >d/$i; i=$((i+1)); done'
	[ "$(custody_result .evidence)" = "$STAGING/$ID" ]
	[ "$(custody_result .evidence_staged)" = true ]
	assert_stderr_has staged
	wait_until is_gone_from_staging
	is_delivered
	[ -s "$BEHIND/evidence/$ID/worktree.tar.zst" ]
	[ "$(jq -r .tree.form "$BEHIND/evidence/$ID/metadata.json")" = archive ]
	evidence restore "$ID" "$CUSTODY_HOME/back"
	[ "$(cat "$CUSTODY_HOME/back/"{kept,d/699})" = "original
699" ]
	[ "$(evidence ls --json | jq -r '.evidence[] | "\(.id) \(.staged)"')" = "$ID false" ]
	(cd "$BEHIND/evidence/$ID" && sha256sum -c --quiet SHA256SUMS)
}

@test "ISO-5: a local store is written directly" {
	STORE=$CUSTODY_HOME/local
	configure
	fail_run
	[ "$(custody_result .evidence)" = "$STORE/$ID" ]
	[ "$(custody_result .evidence_staged)" = null ]
	[ ! -e "$STAGING" ]
}

@test "ISO-5: a share that hangs at any operation: the run ends, evidence is staged, later delivered" {
	local operation
	for operation in getattr mkdir create write fsync close open read rename; do
		share_does "$operation" hang
		fail_run
		is_staged
		deliver --timeout 1
		[ "$status" -eq 1 ] || custody_fail "$operation did not hang"
		is_staged
		[[ "$(evidence ls --json 2>/dev/null | jq -r '.evidence[] | select(.staged) | .id')" == *"$ID"* ]]
		suite_end_deliveries
		share_does
		deliver --timeout 60
		[ "$status" -eq 0 ]
		is_delivered || custody_fail "after a hanging $operation"
		evidence rm "$ID"
	done
}

@test "ISO-5: no command hangs with a share that hangs: run, recover, ls, doctor, deliver" {
	fail_run
	wait_until is_gone_from_staging
	share_does any hang
	local delivered=$ID
	fail_run
	[ "$(custody_result .evidence_staged)" = true ]
	custody_run -- true
	assert_status 0
	run --separate-stderr evidence ls
	[ "$status" -eq 125 ]
	[[ $output == *"$ID"*", staged "* ]]
	[[ $output != *"$delivered"* ]]
	assert_stderr_has "does not answer"
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" doctor --json
	[ "$(jq -r '.checks[] | select(.id == "HOST-EVIDENCE") | .state' <<<"$output")" = limited ]
	suite_end_deliveries
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" recover
	[ "$status" -eq 0 ]
	[[ $output == *"0 delivered, 1 staged"* ]]
	# Who cannot even be killed keeps the lock: no second one hangs beside it.
	assert_stderr_has "is blocked by the store"
	run --separate-stderr evidence show "$delivered"
	[ "$status" -eq 125 ]
	# Staged evidence can still be read.
	[[ "$(evidence show "$ID")" == *"(staged)"* ]]
	evidence verify "$ID"
}

@test "ISO-5: full at write, at fsync, at close, or silently: nothing under its name, and staged" {
	local how
	for how in 'create 28' 'write 28' 'write 122' 'fsync 28' 'fsync 5' 'close 28' 'close 122' 'write short' 'write damage' 'mkdir 28' 'rename 5' 'read 5'; do
		# shellcheck disable=SC2086 # two words
		share_does $how
		fail_run
		suite_end_deliveries
		deliver
		[ "$status" -eq 1 ] || custody_fail "'$how' went well"
		is_staged || custody_fail "after '$how'"
		share_does
		deliver
		[ "$status" -eq 0 ]
		is_delivered || custody_fail "after '$how'"
		evidence rm "$ID"
	done
}

@test "ISO-5: a share that dies or is unmounted in the middle keeps nothing under its name; later it is delivered" {
	fail_run
	wait_until is_gone_from_staging
	evidence rm "$ID"
	share_does fsync hang
	fail_run
	wait_until test -e "$BEHIND/evidence/$ID.partial"
	share_dies
	share_does
	# The mount is still there: it answers that it is not connected.
	deliver
	[ "$status" -eq 1 ]
	is_staged
	share_unmount
	# Now it is a directory of this disk: not the configured store.
	deliver
	[ "$status" -eq 1 ]
	assert_stderr_has "not mounted"
	is_staged
	[ -z "$(ls -A "$SHARE")" ]
	fail_run
	is_staged
	[ -z "$(ls -A "$SHARE")" ]
	evidence rm "$ID"
	ID=$(ls "$STAGING")
	share_mount
	deliver
	[ "$status" -eq 0 ]
	is_delivered
}

@test "ISO-5: a share that became a directory on purpose is accepted when the configuration says so" {
	fail_run
	wait_until is_gone_from_staging
	share_unmount
	fail_run
	is_staged
	deliver --local
	[ "$status" -eq 0 ]
	[ -d "$SHARE/evidence/$ID" ]
	fail_run
	[ "$(custody_result .evidence)" = "$SHARE/evidence/$ID" ]
}

@test "ISO-5: the store's directory removed in the middle" {
	share_does fsync hang
	fail_run
	wait_until test -e "$BEHIND/evidence/$ID.partial"
	rm -rf "$BEHIND/evidence"
	share_does
	# The delivery in progress fails, so nothing is lost.
	deliver
	[ "$status" -eq 0 ]
	is_delivered
}

@test "ISO-7: a delivery killed at every named point: delivered once, recorded once" {
	local point who how
	cp "${CUSTODY_BUILD:?a finished build directory}/tests/custody-seamed" "$CUSTODY_HOME/seamed"
	while read -r point who _; do
		for how in die $([ "$who" = deliver ] || echo parent); do
			share_does any hang
			fail_run
			suite_end_deliveries
			share_does
			CUSTODY_SEAM=$point CUSTODY_SEAM_DO=$how run -"$([ "$who$how" = carrierdie ] && echo 1 || echo 137)" \
				"${CUSTODY_AS[@]}" "$CUSTODY_HOME/seamed" evidence deliver
			deliver --timeout 60
			[ "$status" -eq 0 ]
			is_delivered || custody_fail "killed at $point ($how)"
			"$CUSTODY" ledger verify --json | jq -e '.completeness.verdict == "ok"'
			evidence rm "$ID"
		done
	done < <(grep -v '^#' "$BATS_TEST_DIRNAME/../lib/seam-points" | awk '$3 == "brought"')
}

@test "ISO-7: many deliver at once: delivered once, recorded once" {
	local i pids=()
	share_does any hang
	fail_run
	suite_end_deliveries
	share_does
	for i in 1 2 3 4 5 6; do
		"${CUSTODY_AS[@]}" "$CUSTODY" evidence deliver >/dev/null 2>&1 3>&- &
		pids+=("$!")
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	is_delivered
}

@test "ISO-7: a killed supervisor's session is staged by the next start, recorded, then delivered" {
	local pid line end
	mkfifo "$CUSTODY_HOME/ready"
	"${CUSTODY_AS[@]}" "$CUSTODY" run -- sh -c 'echo new >new; echo ready; sleep 60' >"$CUSTODY_HOME/ready" 2>/dev/null 3>&- &
	pid=$!
	read -r line <"$CUSTODY_HOME/ready"
	ID=$(ls "$CUSTODY_ROOT/run/sessions")
	kill -9 "$pid"
	wait "$pid" || true
	share_does any hang
	custody_run -- true
	assert_status 0
	assert_stderr_has "its supervisor died"
	is_staged
	end=$("$CUSTODY" ledger export --kind session.end --session "$ID" 2>/dev/null)
	[ "$(jq -r '.d.evidence, .d.evidence_staged' <<<"$end" | paste -sd ' ')" = "$STAGING/$ID true" ]
	suite_end_deliveries
	share_does
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" recover
	[[ $output == *"1 delivered, 0 staged"* ]]
	is_delivered
}

@test "ISO-7: staged evidence is not delivered before the end of its session is recorded" {
	share_does any hang
	fail_run
	suite_end_deliveries
	share_does
	: >"$CUSTODY_ROOT/sandbox/open/$ID"
	deliver
	[ "$status" -eq 1 ]
	is_staged
	rm "$CUSTODY_ROOT/sandbox/open/$ID"
	deliver
	is_delivered
}

@test "ISO-5: a start delivers staged evidence" {
	share_does any hang
	fail_run
	suite_end_deliveries
	rm -f "$STAGING/.note"
	share_does
	custody_run -- true
	assert_status 0
	wait_until is_gone_from_staging
	is_delivered
}

@test "ISO-6: an absent share does not fill the disk: the staging has the quota of the store, and each prune is a record" {
	local first
	configure '"quota":"4M","item_max":"3M"'
	share_does any hang
	fail_run 'head -c 2500000 /dev/urandom >big'
	first=$ID
	fail_run 'head -c 2500000 /dev/urandom >big'
	[ ! -e "$STAGING/$first" ]
	is_staged
	[ "$("$CUSTODY" ledger export --kind evidence.prune 2>/dev/null | jq -r '"\(.session) \(.d.why)"')" = "$first over-quota" ]
}

@test "ISO-6: a full share makes room by the same rules" {
	configure '"quota":"100M"'
	fail_run 'head -c 2500000 /dev/urandom >big'
	wait_until is_gone_from_staging
	# As full as it can be: everything fails until something was removed.
	local first=$ID
	share_does any hang
	fail_run 'head -c 2500000 /dev/urandom >big'
	suite_end_deliveries
	share_does
	configure '"quota":"4M"'
	deliver
	[ "$status" -eq 0 ]
	wait_until test ! -e "$BEHIND/evidence/$first"
	is_delivered
}

@test "attack: evidence that does not fit blocks no other, and removes no stored one" {
	STORE=$CUSTODY_HOME/small
	configure
	: >"$STORE"
	fail_run 'head -c 9000000 /dev/urandom >big'
	local big=$ID
	fail_run
	suite_end_deliveries
	rm "$STORE"
	mkdir -m 0700 "$STORE"
	nsenter -t "$SHARE_KEEPER" -m mount -t tmpfs -o size=4m,mode=0700 none "$STORE"
	local i
	for i in 1 2; do
		deliver
		[ "$status" -eq 1 ]
		[ "$("${CUSTODY_AS[@]}" ls "$STORE")" = "$ID" ]
		[ ! -e "$STAGING/$ID" ]
		[ -d "$STAGING/$big" ]
	done
}

@test "attack: the store replaced by a link, a link in its place, a staging directory of another user: nothing is written there" {
	local elsewhere=$CUSTODY_HOME/elsewhere
	mkdir "$elsewhere"
	share_does any hang
	fail_run
	suite_end_deliveries
	share_does
	rm -rf "$BEHIND/evidence"
	ln -s "$elsewhere" "$BEHIND/evidence"
	deliver
	[ "$status" -eq 1 ]
	[ -z "$(ls -A "$elsewhere")" ]
	rm "$BEHIND/evidence"
	mkdir "$BEHIND/evidence"
	ln -s "$elsewhere" "$BEHIND/evidence/$ID.partial"
	ln -s "$elsewhere" "$BEHIND/evidence/$ID"
	deliver
	[ "$status" -eq 0 ]
	[ -z "$(ls -A "$elsewhere")" ]
	# Its name was taken: it got the next one.
	[ -d "$BEHIND/evidence/$ID-2" ]
	[ -L "$BEHIND/evidence/$ID" ]
	# A staging that others can write is not used, nor delivered from.
	share_does any hang
	fail_run
	suite_end_deliveries
	share_does
	chmod 0777 "$STAGING"
	deliver
	[ "$status" -eq 125 ]
	assert_stderr_has "is writable by other users"
	[ ! -e "$BEHIND/evidence/$ID" ]
	custody_run -- sh -c 'kill -9 $$'
	assert_status 137
	assert_stderr_has "cannot capture evidence"
}

@test "LANE-5: evidence staged by another lane is not delivered in this one" {
	share_does any hang
	fail_run
	suite_end_deliveries
	share_does
	sed -i 's/"lane": "sandbox"/"lane": "prod"/' "$STAGING/$ID/metadata.json"
	deliver
	[ "$status" -eq 0 ]
	[ ! -e "$BEHIND/evidence/$ID" ]
	[ -d "$STAGING/$ID" ]
	[ "$(evidence ls --json | jq '.evidence | length')" = 0 ]
}

@test "ISO-5: a full staging disk: reported, recorded, and the status is the command's" {
	share_does any hang
	mkdir -p "$STAGING"
	nsenter -t "$SHARE_KEEPER" -m mount -t tmpfs -o size=64k,mode=0700 none "$STAGING"
	custody_run -- sh -c 'head -c 1000000 /dev/urandom >big; kill -9 $$'
	assert_status 137
	assert_stderr_has "cannot capture evidence"
	assert_stderr_has "No space left"
	[ "$("$CUSTODY" ledger export --kind session.end 2>/dev/null | jq -r '.d.evidence_error')" != null ]
	[ -z "$(nsenter -t "$SHARE_KEEPER" -m sh -c 'ls "$1"' sh "$STAGING")" ]
}

@test "ISO-5: a disk that is really full: no partial evidence in the store, staged, and delivered once it has room" {
	local small=$CUSTODY_HOME/small tries
	STORE=$small/evidence BEHIND=/proc/$SHARE_KEEPER/root$small
	configure
	mkdir "$small"
	nsenter -t "$SHARE_KEEPER" -m mount -t tmpfs -o size=4m,mode=0755 none "$small"
	mkdir -m 0700 "$BEHIND/evidence"
	# To the last byte.
	run ! dd if=/dev/zero of="$BEHIND/filler" bs=4096 status=none
	fail_run 'head -c 1000000 /dev/urandom >big'
	[ "$(custody_result .evidence)" = "$STAGING/$ID" ] || custody_fail "evidence: $(custody_result .evidence)"
	[ "$(custody_result .evidence_staged)" = true ]
	for tries in 1 2; do
		suite_end_deliveries
		wait_until nobody_delivers
		is_staged
		[ -z "$(find "$BEHIND/evidence" -type f -size +0)" ] || custody_fail "left in the store: $(find "$BEHIND/evidence")"
		evidence verify "$ID"
		deliver
		[ "$status" -eq 1 ] || custody_fail "try $tries: it went well"
	done
	is_staged
	rm "$BEHIND/filler"
	deliver
	[ "$status" -eq 0 ]
	is_delivered
	evidence restore "$ID" "$CUSTODY_HOME/back"
	[ "$(stat -c %s "$CUSTODY_HOME/back/big")" = 1000000 ]
}
nobody_delivers() {
	flock -n "$STAGING/.lock" true
}

@test "ISO-5: through exFAT, as on an SMB share: staged, delivered, and exactly restored" {
	command -v mkfs.exfat mount.exfat-fuse >/dev/null || skip 'missing: exfat-fuse'
	local odd=$CUSTODY_HOME/odd
	share_unmount
	truncate -s 32M "$CUSTODY_HOME/image"
	mkfs.exfat "$CUSTODY_HOME/image" >/dev/null
	nsenter -t "$SHARE_KEEPER" -m sh -c 'L=$(losetup -f --show "$1") && { mount.exfat-fuse "$L" "$2" >/dev/null 2>&1; R=$?; losetup -d "$L"; exit $R; }' \
		sh "$CUSTODY_HOME/image" "$SHARE" 3>&- || skip 'missing: exfat-fuse'
	fail_run 'mkdir -m 700 Case case "a:b" "dot." "sp "; echo 1 >Case/x; echo 2 >case/x; ln -s /nowhere "case/l?"; mkfifo "dot./f"; chmod 4755 Case/x; touch -d 1938-01-01 case/x; truncate -s 1G sparse'
	wait_until is_gone_from_staging
	evidence verify "$ID"
	evidence restore --exact "$ID" "$odd"
	[ "$(readlink "$odd/case/l?")" = /nowhere ]
	[ -p "$odd/dot./f" ]
	[ "$(stat -c '%a %s' "$odd/Case/x" "$odd/sparse" | paste -sd ' ')" = "4755 2 644 1073741824" ]
	[ "$(cat "$odd/"{Case,case}/x | paste -sd ' ')" = "1 2" ]
	[ "$(stat -c %Y "$odd/case/x")" = "$(date -d 1938-01-01 +%s)" ]
	nsenter -t "$SHARE_KEEPER" -m umount "$SHARE"
}

@test "ISO-5: a long capture shows progress on a terminal, not with -q, and not elsewhere" {
	local program dir=$CUSTODY_HOME/libexec from
	from=${CUSTODY_LIBEXEC:-$(readlink -f "$(dirname "$(readlink -f "$CUSTODY")")/../libexec/custody")}
	mkdir "$dir"
	for program in "$from"/custody-*; do
		[ ! -f "$program" ] || ln -s "$program" "$dir/"
	done
	rm "$dir/custody-pack"
	# Longer than a second: the queue is larger than a socket buffer.
	printf '#!/bin/sh\nsleep 1.3\nexec "%s" "$@"\n' "$from/custody-pack" >"$dir/custody-pack"
	chmod 755 "$dir/custody-pack"
	head -c 4000000 /dev/urandom >big
	run env CUSTODY_LIBEXEC="$dir" python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" expect:"capturing evidence: " -- \
		"${CUSTODY_AS[@]}" "$CUSTODY" run -- sh -c 'kill -9 $$'
	[[ $output == *"(staged"* ]] || custody_fail "no evidence"
	run env CUSTODY_LIBEXEC="$dir" python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" -- \
		"${CUSTODY_AS[@]}" "$CUSTODY" run -q -- sh -c 'kill -9 $$'
	[ "$status" -eq 137 ]
	[[ $output != *"capturing evidence"* ]]
	CUSTODY_LIBEXEC=$dir fail_run
	[[ $stderr != *"capturing evidence"* ]]
}
