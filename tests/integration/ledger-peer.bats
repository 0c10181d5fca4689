#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats' variables
#
# Peers of the ledger over TLS, against servers on loopback.  Records come from `repair --new-key`: no container is needed.

load ../lib/suite.bash
load ../lib/rest.bash

setup_file() {
	FORGE=$(mktemp -d)
	export FORGE
	rest_ca "$FORGE" ca
	rest_cert "$FORGE" good ca DNS:localhost
	rest_cert "$FORGE" expired ca DNS:localhost 20210101000000Z
	rest_cert "$FORGE" named ca DNS:siem.example.org
}

teardown_file() {
	rm -rf "$FORGE"
}

setup() {
	suite_setup
	local i
	for i in 1 2 3 4 5; do
		"$CUSTODY" ledger repair --new-key >/dev/null
	done
	SEG=$CUSTODY_ROOT/sandbox/ledger/00000000000000000000.ndjson
	GOT=$CUSTODY_HOME/got
	: >"$GOT"
}

teardown() {
	[ -z "${SIEM_PID:-}" ] || kill "$SIEM_PID" 2>/dev/null || true
	rest_stop
	custody_teardown
}

# siem CERT [N]: a receiver of syslog; SIEM_PORT, SIEM_FD.
siem() {
	exec {SIEM_FD}< <(exec python3 -B "$BATS_TEST_DIRNAME/../lib/siem_server.py" "$FORGE/$1.crt" "$FORGE/$1.key" "$GOT" "${@:2}" 2>/dev/null 3>&-)
	SIEM_PID=$!
	read -r SIEM_PORT <&"$SIEM_FD"
}

# peer JSON: the one peer, whose authority is that of this test.
peer() {
	jq -n --arg ca "$FORGE/ca.crt" "{peers: [{name: \"siem\", ca: \$ca} + $1]}" >"$CUSTODY_ROOT/sandbox/audit_peer"
}

push() {
	"$CUSTODY" ledger checkpoint >/dev/null
}

state() { # JQ-FILTER: must hold
	run -0 "$CUSTODY" ledger show --peers --json
	jq -e ".peers[0] | $1" <<<"$output" >/dev/null || custody_fail "$output"
}

# Every record's number is in the messages of format otlp-json, and its hash as well.
all_arrived() {
	local line seq h
	while read -r line; do
		seq=$(jq .seq <<<"$line")
		h=$(jq -r .h <<<"$line")
		grep -F "$h" "$GOT" | grep -q "\"intValue\":\"$seq\"" || custody_fail "record $seq did not arrive"
	done <"$SEG"
}

@test "DOOR-9: a peer of type syslog-tls gets every record as a message, and later only new ones" {
	siem good
	peer "{type: \"syslog-tls\", address: \"localhost:$SIEM_PORT\", format: \"otlp-json\"}"
	push
	state '.behind == 0 and .lost == 0 and .error == ""'
	all_arrived
	[ "$(wc -l <"$GOT")" -eq "$(wc -l <"$SEG")" ]
	grep -qE '^<[0-9]+>1 [^ ]+ [^ ]+ custody - ledger.key - \{' "$GOT"
	# Only new ones.
	"$CUSTODY" ledger repair --new-key >/dev/null
	push
	all_arrived
	[ "$(wc -l <"$GOT")" -eq "$(wc -l <"$SEG")" ]
}

@test "DOOR-9: a certificate that is expired, of another name or of an unknown authority gets no record" {
	local cert
	for cert in expired named; do
		siem "$cert"
		peer "{type: \"syslog-tls\", address: \"localhost:$SIEM_PORT\"}"
		push
		state '.behind > 0 and (.error | length) > 0'
		kill "$SIEM_PID"
	done
	siem good
	peer "{type: \"syslog-tls\", address: \"localhost:$SIEM_PORT\", ca: \"$FORGE/named.crt\"}"
	push
	state '.behind > 0 and (.error | length) > 0'
	rest_servers "$FORGE" expired
	peer "{type: \"https\", url: \"https://localhost:${PORT[expired]}/in\"}"
	push
	state '.behind > 0 and (.error | length) > 0'
	[ ! -s "$GOT" ]
	[ ! -s "$FORGE/requests" ]
	# The same cursor with the right certificate.
	peer "{type: \"syslog-tls\", address: \"localhost:$SIEM_PORT\", format: \"otlp-json\"}"
	push
	state '.behind == 0 and .lost == 0 and .error == ""'
	all_arrived
}

@test "DOOR-9: a receiver that is silent, speaks no TLS, an old one, or without end, gets nothing that is taken for received" {
	local mode type odd number
	for mode in silent garbage endless old closing; do
		exec {odd}< <(exec python3 -B "$BATS_TEST_DIRNAME/../lib/siem_odd.py" $mode "$FORGE/good.crt" "$FORGE/good.key" 2>/dev/null 3>&-)
		SIEM_PID=$!
		read -r number <&"$odd"
		for type in syslog-tls https; do
			# Bytes that a receiver of a stream has acknowledged have arrived, whatever it says afterwards.
			[[ $type = https || ( $mode != endless && $mode != closing ) ]] || continue
			peer "{type: \"$type\"} + if \"$type\" == \"https\" then {url: \"https://localhost:$number/in\"} else {address: \"localhost:$number\"} end"
			rm -f "$CUSTODY_ROOT/sandbox/ledger/peer-siem.json"
			push
			state '.behind > 0 and (.error | length) > 0'
			run "$CUSTODY" ledger verify
			[ "$status" -eq 0 ]
		done
		kill "$SIEM_PID"
		exec {odd}<&-
	done
	# The same cursor with one that listens.
	siem good
	peer "{type: \"syslog-tls\", address: \"localhost:$SIEM_PORT\", format: \"otlp-json\"}"
	push
	state '.behind == 0 and .lost == 0 and .error == ""'
	all_arrived
}

@test "DOOR-9: custody or custody-peer killed at any message: the next push sends the missing ones" {
	local n victim word pid
	for n in 1 2 4; do
		for victim in custody custody-peer; do
			siem good "$n"
			peer "{type: \"syslog-tls\", address: \"localhost:$SIEM_PORT\", format: \"otlp-json\"}"
			rm -f "$CUSTODY_ROOT/sandbox/ledger/peer-siem.json"
			"$CUSTODY" ledger checkpoint >/dev/null 3>&- &
			pid=$!
			read -r word <&"$SIEM_FD"
			[ "$word" = reached ]
			[ $victim = custody ] || pid=$(pgrep -P "$pid" -x custody-peer) || true
			[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
			wait $! || true
			"$CUSTODY" ledger repair --new-key >/dev/null
			push
			state '.behind == 0 and .lost == 0 and .error == ""'
			kill "$SIEM_PID"
			all_arrived
			: >"$GOT"
		done
	done
}

@test "DOOR-9: a peer of type https gets lines with a POST, and a status other than 2xx is not taken for received" {
	: >"$FORGE/requests"
	rest_servers "$FORGE" good
	peer "{type: \"https\", url: \"https://localhost:${PORT[good]}/missing\"}"
	push
	state '.behind > 0 and .error == "the peer answered with status 404"'
	peer "{type: \"https\", url: \"https://localhost:${PORT[good]}/redirect\"}"
	push
	state '.behind > 0 and .error == "the peer answered with status 302"'
	: >"$FORGE/requests"
	peer "{type: \"https\", url: \"https://localhost:${PORT[good]}/in\"}"
	push
	state '.behind == 0 and .lost == 0 and .error == ""'
	[ "$(jq -r '[.method, .path, .headers["content-type"]] | @tsv' "$FORGE/requests" | sort -u)" = $'POST\t/in\tapplication/x-ndjson' ]
	cmp <(jq -j .body "$FORGE/requests") "$SEG"
}

@test "DOOR-9: otlp-json over https is a request for each record" {
	: >"$FORGE/requests"
	rest_servers "$FORGE" good
	peer "{type: \"https\", url: \"https://localhost:${PORT[good]}/v1/logs\", format: \"otlp-json\"}"
	push
	state '.behind == 0 and .error == ""'
	[ "$(wc -l <"$FORGE/requests")" -eq "$(wc -l <"$SEG")" ]
	[ "$(jq -r '.headers["content-type"]' "$FORGE/requests" | sort -u)" = application/json ]
	jq -r .body "$FORGE/requests" | jq -e '.resourceLogs[0]' >/dev/null
}

@test "DOOR-9: without custody-peer the peer lags, with the reason" {
	local libexec=$CUSTODY_HOME/libexec
	cp -r "$(dirname "$(readlink -f "$CUSTODY")")/../libexec/custody" "$libexec"
	rm "$libexec/custody-peer"
	siem good
	peer "{type: \"syslog-tls\", address: \"localhost:$SIEM_PORT\"}"
	CUSTODY_LIBEXEC=$libexec push
	state '.behind > 0 and (.error | test("custody-peer.*libcurl4-gnutls-dev"))'
	[ ! -s "$GOT" ]
}
