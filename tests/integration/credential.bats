#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# `custody credential` from outside: what it stores, refuses and never shows.

load ../lib/suite.bash

VALUE=s3cr3t-value-of-a-suite

setup() {
	custody_setup
	STORE=$CUSTODY_ROOT/sandbox/credentials
	"$CUSTODY" ledger init >/dev/null
}
teardown() { custody_teardown; }

add() { # NAME ARGUMENTS...
	printf '%s\n' "$VALUE" | "$CUSTODY" credential add "$@"
}
program() { # BODY
	printf '#!/bin/sh\n%s\n' "$1" >"$CUSTODY_HOME/program"
	chmod 755 "$CUSTODY_HOME/program"
}

@test "ISO-12: the value of a credential is only in its file, and in no output, record or log" {
	add gh --host api.example.org >"$CUSTODY_HOME/out" 2>&1
	"$CUSTODY" credential ls >>"$CUSTODY_HOME/out" 2>&1
	"$CUSTODY" credential ls --json >>"$CUSTODY_HOME/out" 2>&1
	"$CUSTODY" credential test gh >>"$CUSTODY_HOME/out" 2>&1
	"$CUSTODY" credential test gh --json >>"$CUSTODY_HOME/out" 2>&1
	"$CUSTODY" ledger export --format ocsf >>"$CUSTODY_HOME/out" 2>&1
	"$CUSTODY" ledger export --format cef >>"$CUSTODY_HOME/out" 2>&1
	[ "$(grep -rlF "$VALUE" "$CUSTODY_HOME")" = "$STORE/gh.credential" ]
	[ "$(stat -c %a "$STORE" "$STORE/gh.credential" | paste -sd ' ')" = '700 600' ]
	"$CUSTODY" credential rm gh
	run ! grep -rqF "$VALUE" "$CUSTODY_HOME"
}

@test "ISO-12: no sandbox sees the store" {
	add gh
	run "$CUSTODY" run -- sh -c "cat '$STORE/gh.credential'; env; ls '$STORE'"
	[[ $output != *"$VALUE"* ]] || custody_fail "$output"
	[ "$status" -ne 0 ]
}

@test "ISO-12: while a value is read it is in no argument and no variable, and the process cannot be dumped" {
	local pid dir
	mkfifo "$CUSTODY_HOME/in"
	"$CUSTODY" credential add gh <"$CUSTODY_HOME/in" >/dev/null &
	pid=$!
	exec 9>"$CUSTODY_HOME/in"
	printf %s "$VALUE" >&9
	dir=/proc/$pid
	# It waits for the end of its input, with the value in memory.
	wait_until grep -q '^VmLck:[[:space:]]*[1-9]' "$dir/status"
	run ! grep -qaF "$VALUE" "$dir/cmdline" "$dir/environ"
	grep -qE '^Max core file size +1 +1 ' "$dir/limits"
	exec 9>&-
	wait "$pid"
	"$CUSTODY" credential test gh
}

@test "LANE-6: a credential of one lane is refused in the other, and so is one without a stamp" {
	local prod=$CUSTODY_ROOT/prod/credentials
	add gh
	run -1 env CUSTODY_ALLOW_PROD=1 "$CUSTODY" credential test gh --lane prod --allow-prod
	printf '%s\n' "$VALUE" | CUSTODY_ALLOW_PROD=1 "$CUSTODY" credential add own --lane prod --allow-prod
	cp -p "$STORE/gh.credential" "$prod/gh.credential"
	run -116 --separate-stderr env CUSTODY_ALLOW_PROD=1 "$CUSTODY" credential test gh --lane prod --allow-prod
	[[ $stderr == *sandbox* && $stderr == *prod* ]] || custody_fail "$stderr"
	rm "$prod/lane"
	run -116 --separate-stderr env CUSTODY_ALLOW_PROD=1 "$CUSTODY" credential test own --lane prod --allow-prod
}

@test "LANE-7: credentials of prod need both keys" {
	run -116 --separate-stderr bash -c 'echo long-enough | "$CUSTODY" credential add x --lane prod'
	run -116 --separate-stderr bash -c 'echo long-enough | "$CUSTODY" credential add x --lane prod --allow-prod'
	run -116 --separate-stderr bash -c 'echo long-enough | CUSTODY_ALLOW_PROD=1 "$CUSTODY" credential add x --lane prod'
	[ ! -e "$CUSTODY_ROOT/prod/credentials" ]
	printf '%s\n' "$VALUE" | CUSTODY_ALLOW_PROD=1 "$CUSTODY" credential add x --lane prod --allow-prod
	run -116 --separate-stderr "$CUSTODY" credential rm x --lane prod
	run -116 --separate-stderr "$CUSTODY" credential test x --lane prod
	[ -e "$CUSTODY_ROOT/prod/credentials/x.credential" ]
	"$CUSTODY" credential ls --lane prod | grep -q '^x .* prod '
	[ "$("$CUSTODY" ledger export --lane prod --kind lane.override | wc -l)" -eq 1 ]
}

@test "credential: add, ls, rm and test are records with the name and without the value" {
	add gh --host api.example.org
	"$CUSTODY" credential test gh
	"$CUSTODY" credential rm gh
	[ "$("$CUSTODY" ledger export --kind 'credential.*' | jq -r '"\(.k) \(.d.name)"' | paste -sd ,)" = \
		'credential.add gh,credential.test gh,credential.rm gh' ]
	run -125 --separate-stderr "$CUSTODY" credential rm gh
	[[ $stderr == *"no credential 'gh'"* ]] || custody_fail "$stderr"
}

@test "credential: an unusable value or name changes nothing" {
	add gh
	run -125 --separate-stderr bash -c 'echo short | "$CUSTODY" credential add gh'
	run -125 --separate-stderr bash -c 'head -c 100000 /dev/zero | tr "\0" x | "$CUSTODY" credential add gh'
	run -125 --separate-stderr bash -c 'printf "12345\00067890" | "$CUSTODY" credential add gh'
	run -125 --separate-stderr bash -c 'echo long-enough | "$CUSTODY" credential add ../gh'
	run -125 --separate-stderr bash -c 'echo long-enough | "$CUSTODY" credential add gh --host "a/b"'
	run -64 --separate-stderr "$CUSTODY" credential add gh --file /etc/hostname --exec /bin/true
	grep -qF "$VALUE" "$STORE/gh.credential"
	[ "$(find "$STORE" -type f -name '*.credential' | wc -l)" -eq 1 ]
}

@test "credential: hostile files are refused, and the others still listed" {
	local name
	for name in good link fifo open; do
		add $name
	done
	mv "$STORE/link.credential" "$CUSTODY_HOME/away"
	ln -s "$CUSTODY_HOME/away" "$STORE/link.credential"
	rm "$STORE/fifo.credential"
	mkfifo "$STORE/fifo.credential"
	chmod 644 "$STORE/open.credential"
	for name in link fifo open; do
		run -1 --separate-stderr "$CUSTODY" credential test $name
		[[ $stderr == *"'$name'"* && $stderr != *"$VALUE"* ]] || custody_fail "$stderr"
	done
	run -1 --separate-stderr "$CUSTODY" credential ls --json
	[ "$(jq -r '[.credentials[].name] | join(" ")' <<<"$output")" = good ]
	[ "$(jq '.refused | length' <<<"$output")" -eq 3 ]
}

@test "DOOR-8: a program that fails, prints junk or has no valid path is a refusal with a reason and without its output" {
	program "echo '{\"version\":1,\"token\":\"$VALUE\",\"expires_at\":\"2100-01-01T00:00:00Z\"}'"
	"$CUSTODY" credential add p --exec "$CUSTODY_HOME/program"
	run -0 "$CUSTODY" credential test p
	[[ $output == *'expires at 2100-01-01'* && $output != *"$VALUE"* ]] || custody_fail "$output"
	program "echo $VALUE; echo $VALUE >&2; exit 7"
	run -1 --separate-stderr "$CUSTODY" credential test p
	[[ $stderr == *'ended with status 7'* && $stderr$output != *"$VALUE"* ]] || custody_fail "$stderr"
	program "echo $VALUE"
	run -1 --separate-stderr "$CUSTODY" credential test p
	[[ $stderr == *'one JSON object'* && $stderr$output != *"$VALUE"* ]] || custody_fail "$stderr"
	chmod 777 "$CUSTODY_HOME/program"
	run -1 --separate-stderr "$CUSTODY" credential test p
	[[ $stderr == *'writable by other users'* ]] || custody_fail "$stderr"
	rm "$CUSTODY_HOME/program"
	run -1 --separate-stderr "$CUSTODY" credential test p
	run -125 --separate-stderr "$CUSTODY" credential add q --exec program
	run ! grep -rqF "$VALUE" "$CUSTODY_ROOT"
}

@test "credential: files and systemd's credentials are read at each use" {
	printf '%s\n' "$VALUE" >"$CUSTODY_HOME/token"
	chmod 600 "$CUSTODY_HOME/token"
	"$CUSTODY" credential add f --file "$CUSTODY_HOME/token"
	"$CUSTODY" credential test f
	chmod 644 "$CUSTODY_HOME/token"
	run -1 --separate-stderr "$CUSTODY" credential test f
	[[ $stderr == *"chmod 600"* ]] || custody_fail "$stderr"
	"$CUSTODY" credential add s --systemd token
	run -1 --separate-stderr "$CUSTODY" credential test s
	[[ $stderr == *CREDENTIALS_DIRECTORY* ]] || custody_fail "$stderr"
	CREDENTIALS_DIRECTORY=$CUSTODY_HOME "$CUSTODY" credential test s
}

@test "credential: names are completed" {
	add gh
	add other
	[ "$("$CUSTODY" completion --values credential | sort | paste -sd ' ')" = 'gh other' ]
}
