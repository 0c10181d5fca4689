#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2034,SC2154 # scripts for the inside; set by bats
#
# The record must not be forged, rolled back or made to tell secrets.

load ../lib/suite.bash

bats_require_minimum_version 1.5.0

setup() {
	CUSTODY_AS=()
	custody_setup
	suite_ungoverned
	"$CUSTODY" ledger init --k0-file "$CUSTODY_HOME/k0" >/dev/null
	"$CUSTODY" run -- true
	"$CUSTODY" run -- true
}
teardown() {
	custody_teardown
}

LEDGER_FILE=00000000000000000000.ndjson

# verify STATUS WORDS...
verify() {
	local want=$1
	shift
	run --separate-stderr timeout 60 "$CUSTODY" ledger verify "$@"
	[ "$status" -eq "$want" ] || {
		echo "ledger verify $*: $status, not $want" >&2
		printf '%s\n' "$output" "$stderr" >&2
		return 1
	}
}

# forge FILE KIND DETAILS: appends a record as a forger without keys can: hash and prev are right, the seal is not.
forge() {
	local last seq body
	last=$(tail -n 1 "$1")
	seq=$(($(jq .seq <<<"$last") + 1))
	body=$(printf '{"v":1,"seq":%d,"prev":"%s","t":"2030-01-01T00:00:00.000000Z","boot":"12345678","bt":%d,"k":"%s","status":"ok","d":%s,"m":"%064d"' \
		"$seq" "$(jq -r .h <<<"$last")" "$((10 ** 16 + seq))" "$2" "$3" 0)
	printf '%s,"h":"%s"}\n' "$body" "$(printf %s "$body" | sha256sum | cut -c1-64)" >>"$1"
}

copy() {
	cp -r "$CUSTODY_ROOT/sandbox/ledger" "$CUSTODY_HOME/copy"
	cp "$CUSTODY_HOME/copy/checkpoints" "$CUSTODY_HOME/notes"
	COPY=$CUSTODY_HOME/copy
	KEY=$(cat "$COPY/public")
}

@test "TRUST-9: a fork of the ledger behind a forged seal.new is not proven by the first seal key" {
	copy
	verify 0 --k0 "$CUSTODY_HOME/k0" "$COPY"
	rm "$COPY/checkpoints"
	sed -i '5,$d' "$COPY/$LEDGER_FILE"
	forge "$COPY/$LEDGER_FILE" seal.new "{\"k0\":\"$(printf '%064d' 1)\"}"
	forge "$COPY/$LEDGER_FILE" approval.deny '{"forged":true}'
	verify 4 --k0 "$CUSTODY_HOME/k0" "$COPY"
	[[ $output == *"NOT PROVEN from record 4"* ]]
	verify 4 --json --k0 "$CUSTODY_HOME/k0" "$COPY"
	jq -e '.integrity | .verdict == "bare" and .proven == 4 and .records == 6' <<<"$output"
}

@test "TRUST-9: records forged behind the last checkpoint are not proven by a key or by checkpoints" {
	copy
	verify 0 --key "$KEY" "$COPY"
	verify 0 --from-checkpoint "$CUSTODY_HOME/notes" "$COPY"
	forge "$COPY/$LEDGER_FILE" approval.grant '{"approver":"alice"}'
	verify 4 --key "$KEY" "$COPY"
	[[ $output == *"NOT PROVEN from record"* ]]
	verify 4 --from-checkpoint "$CUSTODY_HOME/notes" "$COPY"
	# The key and the seal find them out.
	verify 1 --k0 "$CUSTODY_HOME/k0" "$COPY"
	verify 1 --seal "$CUSTODY_ROOT/sandbox/ledger-keys/seal" "$COPY"
}

@test "TRUST-9: a rolled-back disk contradicts its old checkpoint, however many were signed since" {
	cp -a "$CUSTODY_ROOT/sandbox" "$CUSTODY_HOME/before"
	"$CUSTODY" run -- echo deed
	"$CUSTODY" ledger checkpoint >"$CUSTODY_HOME/notes"
	rm -r "$CUSTODY_ROOT/sandbox"
	mv "$CUSTODY_HOME/before" "$CUSTODY_ROOT/sandbox"
	"$CUSTODY" run -- true
	"$CUSTODY" run -- true
	for ((i = 0; i < 70; i++)); do
		"$CUSTODY" ledger checkpoint >>"$CUSTODY_HOME/notes"
	done
	verify 1 --from-checkpoint "$CUSTODY_HOME/notes"
	verify 1 --k0 "$CUSTODY_HOME/k0" --from-checkpoint "$CUSTODY_HOME/notes"
	verify 0 --k0 "$CUSTODY_HOME/k0"
}

@test "ISO-10: secrets of options and of the environment reach no ledger, also not in a refusal of lane prod" {
	"$CUSTODY" run -- true "--password=a;SECRET" '--token=it'"'"'sSECRET' --http-password SECRET
	"$CUSTODY" run -- sh -c 'true --db-password SECRET; true -su bob:x'
	"$CUSTODY" run -- env MYSQL_PWD=SECRET "DB_PASSWORD=a SECRET" true
	run -116 "$CUSTODY" run --lane prod -e FOO=SECRET -- true
	run -116 "$CUSTODY" run --lane prod -- true --token 'a SECRET' $'\a'
	run ! grep -r SECRET "$CUSTODY_ROOT/sandbox/ledger"
	"$CUSTODY" ledger export --kind lane.refused | grep -c 'missing: --allow-prod and CUSTODY_ALLOW_PROD; nothing was started"'
}

@test "TRUST-9: a FIFO among the files of a ledger stops neither verify nor the end of a run" {
	copy
	rm "$COPY/$LEDGER_FILE" && mkfifo "$COPY/$LEDGER_FILE"
	verify 125 "$COPY"
	rm "$CUSTODY_ROOT/sandbox/ledger/checkpoints" && mkfifo "$CUSTODY_ROOT/sandbox/ledger/checkpoints"
	verify 0
	run timeout 60 "$CUSTODY" run -- true
	[ "$status" -eq 125 ] && [[ $output == *checkpoints* ]]
}

@test "LANE-6: a link from the sessions of one lane to those of the other is refused" {
	mkdir -p "$CUSTODY_ROOT/prod/sessions"
	rm -r "$CUSTODY_ROOT/sandbox/sessions" && ln -s ../prod/sessions "$CUSTODY_ROOT/sandbox/sessions"
	run -125 "$CUSTODY" run -- true
	[ -z "$(ls "$CUSTODY_ROOT/prod/sessions")" ]
}
