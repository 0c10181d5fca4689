#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# `custody ledger export --format` from outside.  Records come from `repair --new-key`, one each: no container is needed.

load ../lib/suite.bash

setup() {
	custody_setup
	DIR=$CUSTODY_ROOT/sandbox/ledger
	SEG=$DIR/00000000000000000000.ndjson
	"$CUSTODY" ledger init >/dev/null
	local i
	for i in 1 2 3 4 5; do
		"$CUSTODY" ledger repair --new-key >/dev/null
	done
}
teardown() { custody_teardown; }

export_as() { # FORMAT ARGUMENTS...
	"$CUSTODY" ledger export --format "$@"
}

@test "DOOR-9: each exported row leads to its line of the ledger, whose hash proves it" {
	local seq h line
	export_as ocsf | jq -r '[.metadata.sequence, .unmapped.h] | @tsv' >"$CUSTODY_HOME/ocsf"
	export_as cef | sed -E 's/.* externalId=([0-9]+) .* cs1=([0-9a-f]{64}).*/\1\t\2/' >"$CUSTODY_HOME/cef"
	export_as otlp-json | jq -r '.resourceLogs[0].scopeLogs[0].logRecords[0].attributes | map({(.key): .value}) | add |
		[."custody.seq".intValue, ."custody.h".stringValue] | @tsv' >"$CUSTODY_HOME/otlp"
	[ "$(wc -l <"$CUSTODY_HOME/ocsf")" -eq "$(wc -l <"$SEG")" ]
	cmp "$CUSTODY_HOME/ocsf" "$CUSTODY_HOME/cef"
	cmp "$CUSTODY_HOME/ocsf" "$CUSTODY_HOME/otlp"
	while read -r seq h; do
		line=$(sed -n "$((seq + 1))p" "$SEG")
		[ "$(printf %s "${line%',"h":"'*}" | sha256sum | cut -c1-64)" = "$h" ]
	done <"$CUSTODY_HOME/ocsf"
}

@test "DOOR-9: an export can be repeated, and continued at any record" {
	local format n
	for format in jsonl ocsf cef otlp-json; do
		export_as $format >"$CUSTODY_HOME/one"
		export_as $format -o "$CUSTODY_HOME/$format"
		cmp "$CUSTODY_HOME/one" "$CUSTODY_HOME/$format"
		{
			head -n 2 "$CUSTODY_HOME/one"
			export_as $format --since 2
		} | cmp - "$CUSTODY_HOME/one"
	done
	cmp "$CUSTODY_HOME/jsonl" "$SEG"
	n=$(wc -l <"$SEG")
	run -0 export_as cef --since "$n"
	[ -z "$output" ]
}

@test "ledger export: filters select rows; times work as without a format" {
	[ "$(export_as ocsf --kind ledger.open | jq -r .metadata.event_code)" = ledger.open ]
	[ "$(export_as cef --since 2000-01-01 | wc -l)" -eq "$(wc -l <"$SEG")" ]
	[ -z "$(export_as cef --until 2000-01-01)" ]
	[ "$(export_as cef --since 1h | wc -l)" -eq "$(wc -l <"$SEG")" ]
}

@test "ledger export: without a format a damaged ledger is copied, with one it ends before the damage" {
	local rest
	cp -r "$DIR" "$CUSTODY_HOME/copy"
	sed -i '4s/"status":"ok"/"status":"no"/' "$CUSTODY_HOME/copy/00000000000000000000.ndjson"
	run -0 --separate-stderr "$CUSTODY" ledger export "$CUSTODY_HOME/copy"
	[ "${#lines[@]}" -eq "$(wc -l <"$SEG")" ]
	run -1 --separate-stderr export_as ocsf "$CUSTODY_HOME/copy"
	[ "${#lines[@]}" -eq 3 ]
	rest=$stderr
	[[ $rest == *'stopped at record 3: wrong hash; exported 3 records before it'* ]] || custody_fail "$rest"
	# A file keeps the verified rows.
	run -1 --separate-stderr export_as ocsf -o "$CUSTODY_HOME/file" "$CUSTODY_HOME/copy"
	[ "$(wc -l <"$CUSTODY_HOME/file")" -eq 3 ]
	# No record behind the damage is exported either.
	run -1 --separate-stderr export_as ocsf --since 4 "$CUSTODY_HOME/copy"
	[ -z "$output" ]
}

@test "ledger export: a tail that was cut off is missing, not unnoticed" {
	local n
	n=$(wc -l <"$SEG")
	head -n "$((n - 1))" "$SEG" >"$CUSTODY_HOME/cut"
	cat "$CUSTODY_HOME/cut" >"$SEG"
	run -1 --separate-stderr export_as jsonl
	[ "${#lines[@]}" -eq "$((n - 1))" ]
	[[ $stderr == *"record $((n - 1)): missing, but the seal covers it"* ]] || custody_fail "$stderr"
}

@test "ledger export: a full disk and an unknown format are failures that leave nothing" {
	[ -w /dev/full ] || custody_fail 'no /dev/full'
	run -125 --separate-stderr bash -c '"$CUSTODY" ledger export --format ocsf >/dev/full'
	[[ $stderr == *'free some space'* || $stderr == *'No space left'* ]] || custody_fail "$stderr"
	run -64 --separate-stderr export_as leef -o "$CUSTODY_HOME/none"
	[[ $stderr == *jsonl,\ ocsf,\ cef\ and\ otlp-json* ]] || custody_fail "$stderr"
	[ ! -e "$CUSTODY_HOME/none" ]
}

@test "DOOR-9: a run's records are exported as process activity" {
	"$CUSTODY" run -- true
	export_as ocsf >"$CUSTODY_HOME/out"
	[ "$(jq -r 'select(.metadata.event_code == "session.start") | "\(.class_uid) \(.activity_id) \(.status_id)"' "$CUSTODY_HOME/out")" = '1007 1 1' ]
	[ "$(jq -r 'select(.metadata.event_code == "session.end") | "\(.class_uid) \(.activity_id) \(.exit_code)"' "$CUSTODY_HOME/out")" = '1007 2 0' ]
	[ "$(jq -r 'select(.metadata.event_code == "session.intent") | .process.cmd_line' "$CUSTODY_HOME/out")" = true ]
}

@test "DOOR-9: a syslog peer that was away gets the records later, and the row has the hash of its line" {
	local port received=$CUSTODY_HOME/received h
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	printf '{"peers":[{"name":"siem","type":"syslog","address":"127.0.0.1:%s"}]}' "$port" >"$CUSTODY_ROOT/sandbox/audit_peer"
	"$CUSTODY" ledger checkpoint >/dev/null
	run -0 "$CUSTODY" ledger show --peers --json
	jq -e '.peers[0] | .behind > 0 and .lost == 0 and (.error | startswith("connect"))' <<<"$output"
	python3 - "$port" "$received" <<-'END' &
		import socket, sys
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("127.0.0.1", int(sys.argv[1])))
		s.listen()
		open(sys.argv[2] + ".ready", "w").close()
		c, _ = s.accept()
		with open(sys.argv[2], "wb") as f:
		    while data := c.recv(65536):
		        f.write(data)
	END
	wait_until test -e "$received.ready"
	"$CUSTODY" ledger checkpoint >/dev/null
	wait $!
	jq -e '.peers[0] | .behind == 0 and .lost == 0 and .error == ""' <<<"$("$CUSTODY" ledger show --peers --json)"
	h=$(tail -n 1 "$SEG" | tail -c 67 | head -c 64)
	grep -q " custody - ledger.key - CEF:0|.* cs1=$h " "$received"
}
