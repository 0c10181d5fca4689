#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# `custody ledger` from outside.  Records come from `repair --new-key`, one each: no container is needed.

load ../lib/suite.bash

setup() {
	custody_setup
	KEY=$CUSTODY_HOME/k0 DIR=$CUSTODY_ROOT/sandbox/ledger
	SEG=$DIR/00000000000000000000.ndjson
	"$CUSTODY" ledger init --k0-file "$KEY" >/dev/null
}
teardown() { custody_teardown; }

more() { # N
	local i
	for ((i = 0; i < $1; i++)); do
		"$CUSTODY" ledger repair --new-key >/dev/null
	done
}
# Records that do not change the key: those about torn ends.
more_torn() { # N
	local i
	for ((i = 0; i < $1; i++)); do
		printf x >>"$SEG"
		"$CUSTODY" ledger repair >/dev/null
	done
}
verify() { # STATUS ARGUMENTS...
	local want=$1
	shift
	run --separate-stderr "$CUSTODY" ledger verify "$@"
	[ "$status" -eq "$want" ] || custody_fail "verify $* ended with $status, not $want"
}
# flip FILE OFFSET
flip() {
	local byte
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	# shellcheck disable=SC2059 # the byte is the format
	printf "\\x$(printf %x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
cut_to() { # RECORDS
	head -n "$1" "$SEG" >"$CUSTODY_HOME/cut"
	cat "$CUSTODY_HOME/cut" >"$SEG"
}

@test "ledger: init shows its seal key once and keeps it nowhere" {
	local key
	key=$(cat "$KEY")
	[ ${#key} -eq 64 ]
	run ! grep -rq "$key" "$CUSTODY_ROOT"
	run -1 "$CUSTODY" ledger init
	[[ $output != *"$key"* ]]
	[ "$(stat -c %a "$CUSTODY_ROOT/sandbox/ledger-keys/key" "$CUSTODY_ROOT/sandbox/ledger-keys/seal" "$KEY" | sort -u)" = 600 ]
}

@test "ledger: an unmodified ledger verifies with keys, seal and checkpoints" {
	more 3
	"$CUSTODY" ledger checkpoint >"$CUSTODY_HOME/note"
	verify 0
	assert_output_has "checked: chain, the seal's end, 1 checkpoints"
	verify 0 --k0 "$KEY" --from-checkpoint "$CUSTODY_HOME/note"
	assert_output_has '4 seals from the first key'
	verify 0 --json --k0 "$KEY"
	jq -e '.schema_version == 1 and .integrity.verdict == "ok" and .integrity.seals == 4 and .completeness.verdict == "ok"' <<<"$output"
}

@test "ledger: verify works on a copy, a file and stdin, and reports when no key or seal covers it" {
	more 3
	verify 4 "$SEG"
	assert_output_has 'NOT SEALED, NOT SIGNED'
	verify 4 - <"$SEG"
	verify 0 --k0 "$KEY" - <"$SEG"
	cp -r "$DIR" "$CUSTODY_HOME/copy"
	verify 0 --k0 "$KEY" "$CUSTODY_HOME/copy"
	verify 0 --seal "$CUSTODY_ROOT/sandbox/ledger-keys/seal" "$CUSTODY_HOME/copy"
}

@test "ledger: a copy is not proven by its own key and notes: a cut one and a foreign one are status 4" {
	local n
	more_torn 10
	"$CUSTODY" ledger checkpoint >"$CUSTODY_HOME/note"
	cp -r "$DIR" "$CUSTODY_HOME/copy"
	verify 4 "$CUSTODY_HOME/copy"
	assert_output_has 'signed by a key that only this directory names'
	verify 0 --from-checkpoint "$CUSTODY_HOME/note" "$CUSTODY_HOME/copy"
	verify 0 --key "$("$CUSTODY" ledger show --key)" "$CUSTODY_HOME/copy"
	verify 0 --k0 "$KEY" "$CUSTODY_HOME/copy"
	# Cut to 4 records; the notes beside them are removed, or older ones.
	n=$(basename "$SEG")
	head -n 4 "$SEG" >"$CUSTODY_HOME/copy/$n"
	verify 3 "$CUSTODY_HOME/copy"
	rm "$CUSTODY_HOME/copy/checkpoints"
	verify 4 "$CUSTODY_HOME/copy"
	verify 3 --from-checkpoint "$CUSTODY_HOME/note" "$CUSTODY_HOME/copy"
	verify 3 --seal "$CUSTODY_ROOT/sandbox/ledger-keys/seal" "$CUSTODY_HOME/copy"
	# A stranger's ledger with its own notes.
	CUSTODY_ROOT=$CUSTODY_HOME/stranger "$CUSTODY" ledger init >/dev/null
	CUSTODY_ROOT=$CUSTODY_HOME/stranger "$CUSTODY" ledger checkpoint >/dev/null
	verify 4 "$CUSTODY_HOME/stranger/sandbox/ledger"
	assert_output_has 'signed by a key that only this directory names'
	verify 1 --key "$("$CUSTODY" ledger show --key)" "$CUSTODY_HOME/stranger/sandbox/ledger"
	verify 1 --from-checkpoint "$CUSTODY_HOME/note" "$CUSTODY_HOME/stranger/sandbox/ledger" ||
		verify 3 --from-checkpoint "$CUSTODY_HOME/note" "$CUSTODY_HOME/stranger/sandbox/ledger"
}

@test "ledger: in place a removed or replaced seal, key or public file is found, and repaired" {
	local file
	more 2
	"$CUSTODY" ledger checkpoint >/dev/null
	verify 0
	mv "$CUSTODY_ROOT/sandbox/ledger-keys/seal" "$CUSTODY_HOME/seal"
	verify 4
	assert_output_has 'the seal is missing'
	verify 1 --k0 "$KEY"
	assert_output_has 'TAMPERED: the seal is missing'
	verify 1 --json --k0 "$KEY"
	jq -e '.integrity.verdict == "tampered" and (.integrity.first_bad.why | contains("seal is missing"))' <<<"$output"
	mv "$CUSTODY_HOME/seal" "$CUSTODY_ROOT/sandbox/ledger-keys/seal"
	for file in ledger-keys/key ledger/public; do
		mv "$CUSTODY_ROOT/sandbox/$file" "$CUSTODY_HOME/aside"
		verify 1
		assert_output_has 'key is missing'
		verify 1 --k0 "$KEY"
		mv "$CUSTODY_HOME/aside" "$CUSTODY_ROOT/sandbox/$file"
		verify 0
	done
	# Both halves of another ledger's key.
	CUSTODY_ROOT=$CUSTODY_HOME/other "$CUSTODY" ledger init >/dev/null
	cp "$CUSTODY_HOME/other/sandbox/ledger/public" "$DIR/public"
	verify 1
	cp "$CUSTODY_HOME/other/sandbox/ledger-keys/key" "$CUSTODY_ROOT/sandbox/ledger-keys/key"
	verify 1
	assert_output_has "has another key than the ledger names"
	rm "$DIR/public"
	verify 1
	"$CUSTODY" ledger repair --new-key >/dev/null
	verify 0
	"$CUSTODY" ledger checkpoint >/dev/null
	verify 0
}

@test "ledger: verify of a long file shows progress, on a terminal only" {
	python3 - "$CUSTODY_HOME/long" <<-'PY'
		import hashlib, sys
		prev = "0" * 64
		with open(sys.argv[1], "w") as out:
		    for seq in range(600):
		        text = ('{"v":1,"seq":%d,"prev":"%s","t":"2026-11-16T03:15:00.123456Z","boot":"00000000","bt":%d,'
		                '"k":"x.y","status":"ok","d":{"x":"%s"}' % (seq, prev, seq, "a" * 60000))
		        prev = hashlib.sha256(text.encode()).hexdigest()
		        out.write('%s,"h":"%s"}\n' % (text, prev))
	PY
	run -4 --separate-stderr "$CUSTODY" ledger verify "$CUSTODY_HOME/long"
	[ -z "$stderr" ]
	run python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" -- "$CUSTODY" ledger verify "$CUSTODY_HOME/long"
	assert_output_has "verify:  50% [#"
	assert_output_has "records:       600 (from 0)"
	# Short segments are not compressed.
	run python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" -- "$CUSTODY" ledger verify "$SEG"
	[[ $output != *"verify: "* ]]
}

@test "ledger: verify writes nothing" {
	local before
	more 2
	before=$(find "$CUSTODY_ROOT" -printf '%p %s %T@ %C@ %m\n' | sort)
	verify 0
	verify 0 --k0 "$KEY"
	verify 4 "$SEG"
	[ "$before" = "$(find "$CUSTODY_ROOT" -printf '%p %s %T@ %C@ %m\n' | sort)" ]
}

@test "ledger: a changed byte is status 1 with record and offset" {
	local at
	more 4
	at=$(head -n 2 "$SEG" | wc -c)
	flip "$SEG" $((at + 200))
	verify 1
	assert_output_has "TAMPERED at record 2, byte $at of 00000000000000000000.ndjson"
	verify 1 --json
	jq -e --argjson at "$at" '.integrity.first_bad | .seq == 2 and .offset == $at' <<<"$output"
}

@test "ledger: a renamed segment is status 1, in place and in a copy" {
	more 2
	mv "$SEG" "${SEG%0.ndjson}1.ndjson"
	verify 1
	assert_output_has "the segment was renamed"
	cp -r "${SEG%/*}" "$CUSTODY_HOME/copy"
	verify 1 "$CUSTODY_HOME/copy"
}

@test "ledger: a missing seal is reported by verify and by repair, with the fix" {
	more 1
	mv "$CUSTODY_ROOT/sandbox/ledger-keys/seal" "$CUSTODY_HOME/seal"
	run -4 --separate-stderr "$CUSTODY" ledger verify
	assert_stderr_has "the seal is missing, so nothing can be recorded"
	assert_stderr_has "custody ledger repair --new-seal"
	run -125 --separate-stderr "$CUSTODY" ledger repair
	assert_stderr_has "the ledger's seal is missing: restore it"
	"$CUSTODY" ledger repair --new-seal >/dev/null
	run -0 --separate-stderr "$CUSTODY" ledger verify
	[ -z "$stderr" ]
}

@test "ledger: a cut tail is status 3, and nothing is written behind it until a person decides" {
	more 4
	cut_to 3
	verify 3
	assert_output_has 'RECORDS ARE MISSING from record 3'
	run -125 --separate-stderr "$CUSTODY" ledger repair --new-key
	assert_stderr_has 'custody ledger repair --accept-loss'
	[ "$(wc -l <"$SEG")" -eq 3 ]
	"$CUSTODY" ledger repair --accept-loss
	verify 0 --k0 "$KEY"
	assert_output_has '1 times the end was lost'
}

@test "ledger: a torn end is status 2 and is saved aside, not dropped" {
	more 2
	printf '{"v":1,"seq":3,"prev":' >>"$SEG"
	verify 2
	more 1
	verify 0 --k0 "$KEY"
	[ "$(cat "$DIR"/torn-*)" = '{"v":1,"seq":3,"prev":' ]
}

@test "ledger: a rolled-back disk is seen by a checkpoint from elsewhere only" {
	more_torn 2
	cp -a "$CUSTODY_ROOT/sandbox" "$CUSTODY_HOME/old"
	more_torn 3
	"$CUSTODY" ledger checkpoint >"$CUSTODY_HOME/note"
	rm -r "$CUSTODY_ROOT/sandbox"
	mv "$CUSTODY_HOME/old" "$CUSTODY_ROOT/sandbox"
	verify 0
	verify 3 --from-checkpoint "$CUSTODY_HOME/note"
}

@test "ledger: a checkpoint of another ledger, or an edited one, is status 1" {
	more 1
	"$CUSTODY" ledger checkpoint >"$CUSTODY_HOME/note"
	sed 's/^2$/1/' "$CUSTODY_HOME/note" >"$CUSTODY_HOME/edited"
	verify 1 --from-checkpoint "$CUSTODY_HOME/edited"
	CUSTODY_ROOT=$CUSTODY_HOME/other "$CUSTODY" ledger init >/dev/null
	CUSTODY_ROOT=$CUSTODY_HOME/other verify 1 --from-checkpoint "$CUSTODY_HOME/note"
}

@test "ledger: the public key can be pinned" {
	"$CUSTODY" ledger show --key >"$CUSTODY_HOME/pub"
	verify 0 --key "$CUSTODY_HOME/pub"
	CUSTODY_ROOT=$CUSTODY_HOME/other "$CUSTODY" ledger init >/dev/null
	CUSTODY_ROOT=$CUSTODY_HOME/other verify 1 --key "$(cat "$CUSTODY_HOME/pub")"
}

@test "ledger: wrong options are status 64" {
	verify 64 --frobnicate
	verify 64 --k0 "$SEG"
	verify 64 --from-checkpoint "$KEY"
	verify 64 --anchor 5
	run -64 "$CUSTODY" ledger show --since yesterday
	run -64 "$CUSTODY" ledger
	run -64 "$CUSTODY" ledger tail -n x
	run -64 "$CUSTODY" ledger repair --new-key --new-seal
}

@test "ledger: records are filtered by kind, status and time" {
	more 2
	run -0 "$CUSTODY" ledger show --json --kind ledger.key
	jq -e '.schema_version == 1 and (.records | length) == 2 and .records[0].seq == 1' <<<"$output"
	run -0 "$CUSTODY" ledger show --json --kind 'ledger.*' --status ok --since 1h
	jq -e '.records | length == 3' <<<"$output"
	run -0 "$CUSTODY" ledger show --json --until 2020-01-01
	jq -e '.records == []' <<<"$output"
	run -0 "$CUSTODY" ledger show --session unknown
	[ -z "$output" ]
}

@test "ledger: export is the very bytes" {
	more 2
	"$CUSTODY" ledger export | cmp - "$SEG"
	"$CUSTODY" ledger export -o "$CUSTODY_HOME/out"
	cmp "$CUSTODY_HOME/out" "$SEG"
	run -125 "$CUSTODY" ledger export -o "$CUSTODY_HOME/out"
}

watches() { # PID
	grep -qs inotify "/proc/$1/fdinfo/"*
}

@test "ledger: an export that does not fit is a failure, and half of it does not stay" {
	more 8
	run --separate-stderr bash -c 'ulimit -f 1; trap "" XFSZ; exec "$CUSTODY" ledger export -o "$CUSTODY_HOME/cut"'
	assert_status 125
	assert_stderr_has "cannot write all of '$CUSTODY_HOME/cut'"
	[ ! -e "$CUSTODY_HOME/cut" ]
	"$CUSTODY" ledger export -o "$CUSTODY_HOME/cut"
	cmp "$CUSTODY_HOME/cut" "$SEG"
}

@test "ledger: tail -f shows new records" {
	more 2
	run -0 "$CUSTODY" ledger tail -n 1
	[ "${#lines[@]}" -eq 2 ] # the titles
	"$CUSTODY" ledger tail -n 0 -f >"$CUSTODY_HOME/tail" 3>&- &
	local pid=$!
	# Even before it watches it misses nothing: it reads from the previous end of the ledger.
	wait_until watches "$pid"
	more 1
	wait_until grep -q ledger.key "$CUSTODY_HOME/tail"
	kill "$pid"
	wait "$pid" || true
	[ "$(wc -l <"$CUSTODY_HOME/tail")" -eq 2 ]
}

@test "ledger: a file peer gets the records that it missed" {
	printf '{"peers":[{"name":"share","type":"file","path":"%s/away/notes"}]}' "$CUSTODY_HOME" >"$CUSTODY_ROOT/sandbox/audit_peer"
	more 1
	run -0 --separate-stderr "$CUSTODY" ledger checkpoint
	assert_stderr_has '2 records behind'
	mkdir "$CUSTODY_HOME/away"
	more 1
	"$CUSTODY" ledger checkpoint 2>/dev/null >/dev/null
	run -0 "$CUSTODY" ledger show --peers --json
	jq -e '.peers[0] | .behind == 0 and .error == ""' <<<"$output"
	verify 0 --from-checkpoint "$CUSTODY_HOME/away/notes"
	[ "$(grep -c ^custody/ledger/ "$CUSTODY_HOME/away/notes")" -eq 2 ]
}

@test "ledger: doctor reports how far behind a peer is" {
	printf '{"peers":[{"name":"share","type":"file","path":"%s/away/notes"}]}' "$CUSTODY_HOME" >"$CUSTODY_ROOT/sandbox/audit_peer"
	more 1
	"$CUSTODY" ledger checkpoint >/dev/null 2>&1
	run --separate-stderr "$CUSTODY" doctor --json
	jq -e '.checks[] | select(.id == "HOST-AUDIT-PEER") | .state == "limited" and (.text | test("share.* 2 records behind: .*away"))' <<<"$output"
	jq -e '.checks[] | select(.id == "HOST-LEDGER") | .state == "ok"' <<<"$output"
	mkdir "$CUSTODY_HOME/away"
	"$CUSTODY" ledger checkpoint >/dev/null 2>&1
	run --separate-stderr "$CUSTODY" doctor --json
	jq -e '.checks[] | select(.id == "HOST-AUDIT-PEER") | .state == "ok"' <<<"$output"
}

@test "ledger: the verifier of the documentation, with sha256sum and jq, agrees" {
	local doc=$BATS_TEST_DIRNAME/../../docs/design/ledger.md script=$CUSTODY_HOME/stock
	# shellcheck disable=SC2016 # the fence of the text
	sed -n '/^```bash verify$/,/^```$/p' "$doc" | sed '1d;$d' >"$script"
	[ "$(wc -l <"$script")" -le 10 ]
	more 4
	run -0 bash "$script" "$SEG"
	[ "$output" = 'chain holds' ]
	cp "$SEG" "$CUSTODY_HOME/bad"
	flip "$CUSTODY_HOME/bad" $(($(head -n 3 "$SEG" | wc -c) + 150))
	run -1 bash "$script" "$CUSTODY_HOME/bad"
	[ "$output" = 'BAD record 3' ]
	sed 2d "$SEG" >"$CUSTODY_HOME/bad"
	run -1 bash "$script" "$CUSTODY_HOME/bad"
	[ "$output" = 'BAD record 1' ]
	head -c -10 "$SEG" >"$CUSTODY_HOME/bad"
	run -1 bash "$script" "$CUSTODY_HOME/bad"
	[ "$output" = 'BAD record 4' ]
}

@test "TRUST-9: on a full disk no partial record is written, and it continues once the disk has room" {
	[ "$(id -u)" -eq 0 ] || skip "missing: root"
	truncate -s 8M "$CUSTODY_HOME/disk"
	mkfs.ext4 -q "$CUSTODY_HOME/disk"
	mkdir "$CUSTODY_HOME/mnt"
	# shellcheck disable=SC2016 # expanded inside
	# In a mount namespace of its own: nothing to leave behind.
	run -0 unshare -m --propagation private bash -c '
		set -e
		mount -o loop "$1/disk" "$1/mnt"
		export CUSTODY_ROOT=$1/mnt/root
		"$2" ledger init --k0-file "$1/mnt-k0" >/dev/null
		dd if=/dev/zero of="$1/mnt/hog" bs=4096 2>/dev/null || true
		n=0
		while "$2" ledger repair --new-key >/dev/null 2>"$1/why"; do n=$((n + 1)); [ $n -lt 200 ]; done
		"$2" ledger verify --k0 "$1/mnt-k0" >/dev/null
		rm "$1/mnt/hog"
		"$2" ledger repair --new-key
		"$2" ledger verify --k0 "$1/mnt-k0"
	' bash "$CUSTODY_HOME" "$CUSTODY"
	grep -q 'No space left' "$CUSTODY_HOME/why"
}
