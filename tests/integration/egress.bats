#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # scripts for the inside; bats' subshells
#
# Allowed hosts as ordinary programs use them: no proxy variable, names that lead to servers outside of the sandbox.

load ../lib/suite.bash
load ../lib/rest.bash
load ../lib/egress-world.bash

setup_file() {
	[ "$(id -u)" -eq 0 ] || skip "network namespaces with devices need root"
	WORLD_FILES=$(mktemp -d)
	export WORLD_FILES
	chmod 0755 "$WORLD_FILES"
	rest_ca "$WORLD_FILES" ca
	rest_cert "$WORLD_FILES" good ca DNS:good.test,DNS:other.test
	world_open "$WORLD_FILES"
}

teardown_file() {
	world_close
	rm -rf "$WORLD_FILES"
}

setup() {
	suite_setup
	prepare
}

teardown() {
	[ -z "${RUN_PID:-}" ] || { kill "$RUN_PID" && wait "$RUN_PID"; } 2>/dev/null || true
	custody_teardown
}

prepare() {
	export NO_COLOR=1
	suite_ungoverned '{"rules": [{"effect": "allow", "network": "allow"}]}'
	cp "$WORLD_FILES/ca.crt" "$CUSTODY_HOME/work/"
	hosts '{"host": "good.test"}' '{"host": "plain.test", "protocol": "http"}' '{"host": "good.test", "port": 22, "protocol": "tcp"}'
	own "$CUSTODY_ROOT" "$CUSTODY_HOME/work"
	world_clear
}

# hosts RULE...: PROFILE allows these.
hosts() {
	suite_profile egress "$(printf '%s\n' "$@" | jq -s '{network: {mode: "allow", hosts: .},
		enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}')"
	own "$PROFILE"
}

outside() { # CMD...: on the host of this file's world
	nsenter -t "$WORLD_HOST" -n -m --wd="$CUSTODY_HOME/work" "${CUSTODY_AS[@]}" "$@"
}

# inside [OPTIONS] SCRIPT: sh with it in a sandbox.
inside() {
	local script=${*: -1}
	set -- "${@:1:$#-1}"
	run --separate-stderr outside "$CUSTODY" run --profile "$PROFILE" "$@" -- sh -c "$script"
}

records() { # KIND [JQ-FILTER]
	outside "$CUSTODY" ledger show --json | jq -c "if type == \"object\" and .records then .records[] else . end | select(.k == \"$1\") | ${2:-.d}"
}

@test "DOOR-3: curl, wget, python3, node and git reach an allowed host without a proxy variable" {
	local user
	for user in root user; do
		[ $user = root ] || { as_user && prepare; }
		inside 'env | grep -i proxy
			curl -sS --cacert ca.crt https://good.test/curl
			wget -q -O - --ca-certificate=ca.crt https://good.test/wget
			python3 -c "import ssl, urllib.request as u; print(u.urlopen(\"https://good.test/python\", context=ssl.create_default_context(cafile=\"ca.crt\")).read().decode())"
			GIT_SSL_CAINFO=ca.crt git ls-remote https://good.test/x.git 2>&1 | head -n 1
			curl -sS http://plain.test/plain'
		[ "$status" -eq 0 ] || custody_fail "$user: $stderr"
		for path in /curl /wget /python "/x.git/info/refs?service=git-upload-pack" /plain; do
			[ -n "$(world_saw ".event == \"request\" and (.line | startswith(\"GET $path \"))")" ] ||
				custody_fail "$user: $path did not arrive: $output $stderr"
		done
		world_clear
	done
}

@test "DOOR-3: node's fetch, which ignores proxy variables, reaches an allowed host" {
	command -v node >/dev/null || skip "node is not installed"
	case $(readlink -f "$(command -v node)") in /usr/*) ;; *) skip "node is not below /usr" ;; esac
	inside 'NODE_EXTRA_CA_CERTS=ca.crt node -e "fetch(\"https://good.test/node\").then(async r => console.log(r.status, await r.text()))"'
	[ "$status" -eq 0 ]
	[ -n "$(world_saw '.event == "request" and .line == "GET /node HTTP/1.1"')" ]
}

@test "DOOR-4: a name that no rule has leaves the machine in no question and no connection" {
	local user
	for user in root user; do
		[ $user = root ] || { as_user && prepare; }
		inside 'curl -sS -m 5 https://evil.test/; echo $?
			curl -sS -m 5 http://evil.test/; echo $?
			curl -sS -m 5 http://45.33.32.10/; echo $?
			curl -sS -m 5 -x http://127.0.0.1:3128 https://evil.test/; echo $?
			python3 -c "import socket; socket.create_connection((\"45.33.32.10\", 443), 3)" 2>&1 | tail -n 1
			getent hosts secret.evil.test; echo $?'
		[ "$status" -eq 0 ]
		[ "${lines[*]}" = "6 6 7 56 OSError: [Errno 101] Network is unreachable 2" ] || custody_fail "$output"
		world_is_silent
		[ "$(records net.refused '.d.host' | sort -u | paste -sd' ')" = '"evil.test" "secret.evil.test"' ]
	done
}

@test "DOOR-4: a refusal has one shape on every path of HTTP, with the id of its record" {
	local id
	inside 'for url in http://evil.test/ http://good.test/ http://plain.test:443/; do curl -sS -m 5 -x http://127.0.0.1:3128 $url; done
		curl -sS -m 5 -H "Host: other.test" http://plain.test/
		printf "CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n" | timeout 5 python3 -c "import socket, sys
s = socket.create_connection((\"127.0.0.1\", 3128)); s.sendall(sys.stdin.buffer.read()); b = b\"\"
while True:
    d = s.recv(4096)
    if not d: break
    b += d
sys.stdout.write(b.decode().split(\"\r\n\r\n\", 1)[1])"'
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 5 ] || custody_fail "$output"
	for line in "${lines[@]}"; do
		jq -e 'has("rule") and has("host") and .error == "custody: refused" and (.command | startswith("custody profile show")) and .reason' <<<"$line" >/dev/null
		id=$(jq -r .id <<<"$line")
		[ "$(records net.refused "select(.d.id == \"$id\") | .d.refused")" = "$(jq .reason <<<"$line")" ] || custody_fail "$line"
	done
	[ "$(printf '%s\n' "${lines[@]}" | jq -r .reason | paste -sd' ')" = "no-rule port port host no-rule" ] || custody_fail "$output"
	world_is_silent
}

@test "DOOR-5: a server name that is not the decided one is refused before anything is resolved" {
	inside 'curl -sS -m 5 --cacert ca.crt --connect-to other.test:443:good.test:443 https://other.test/; echo $?
		curl -sS -m 5 --cacert ca.crt -x http://127.0.0.1:3128 --connect-to other.test:443:good.test:443 https://other.test/; echo $?'
	[ "$status" -eq 0 ]
	[ "${lines[*]}" = "35 35" ] || custody_fail "$output"
	[ -z "$(world_saw '.event == "sni"')" ]
	[ "$(records net.refused '[.d.host, .d.said, .d.refused]' | sort -u)" = '["good.test","other.test","sni"]' ]
}

@test "DOOR-5: an address of a private network is connected only if the rule says so" {
	hosts '{"host": "private.test", "port": 80, "protocol": "http"}'
	inside 'curl -sS -m 5 -o /dev/null -w "%{http_code}\n" http://private.test/'
	[ "$output" = 403 ] || custody_fail "$output $stderr"
	[ -z "$(world_saw '.event == "connect"')" ]
	[ "$(records net.refused .d.refused)" = '"address"' ]
	hosts '{"host": "private.test", "port": 80, "protocol": "http", "private": true}'
	inside 'curl -sS -m 5 -o /dev/null -w "%{http_code}\n" http://private.test/'
	[ "$output" = 200 ] || custody_fail "$output $stderr"
}

@test "DOOR-9: each connection has two records with name, port, rule, bytes and time, in the ledger and in the session's chain" {
	local session
	inside 'curl -sS --cacert ca.crt https://good.test/one; curl -sS http://plain.test/two; curl -sS -m 5 https://evil.test/'
	[ "$(records net.connect '[.d.host, .d.port, .d.rule, .d.address]' | paste -sd' ')" = \
		'["good.test",443,"good.test:443 tls","45.33.32.10"] ["plain.test",80,"plain.test:80 http","45.33.32.10"]' ]
	[ "$(records net.close 'select(.d.sent > 0 and .d.received > 0 and .d.ms >= 0) | .d.host' | paste -sd' ')" = '"good.test" "plain.test"' ]
	session=$(records net.connect .session | head -n 1 | tr -d '"')
	run --separate-stderr outside "$CUSTODY" show "$session"
	[[ $output == *"2 connections, 1 refused"* ]] || custody_fail "$output"
	run --separate-stderr outside "$CUSTODY" show --json "$session"
	[ "$(jq -c '.session.connections | [.made, .refused]' <<<"$output")" = "[2,1]" ] || custody_fail "$output"
	run outside "$CUSTODY" ledger verify
	[ "$status" -eq 0 ] || [ "$status" -eq 4 ]
	run outside "$CUSTODY" ledger export --format ocsf
	[[ $output == *"Connected to a host"* ]]
}

@test "DOOR-9: refusals beyond 256 are counted in one record" {
	inside 'i=0; while [ $i -lt 300 ]; do getent hosts n$i.evil.test; i=$((i + 1)); done; exit 0'
	[ "$status" -eq 0 ]
	[ "$(records net.refused .d.host | grep -c evil)" -eq 256 ]
	[ "$(records net.refused '.d.more // empty')" -eq 44 ]
	world_is_silent
}

# start SCRIPT: a run in the background; RUN_PID is its supervisor, EGRESS_PID its custody-egress.
start() {
	(exec nsenter -t "$WORLD_HOST" -n -m --wd="$CUSTODY_HOME/work" "${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$PROFILE" \
		--result "$CUSTODY_HOME/results/r.json" -- sh -c "echo up; $1" >"$CUSTODY_HOME/out" 3>&-) &
	local end=$((SECONDS + 60))
	RUN_PID=$!
	until grep -q up "$CUSTODY_HOME/out"; do
		[ "$SECONDS" -lt "$end" ] || return
		sleep 0.05
	done
	EGRESS_PID=$(pgrep -P "$RUN_PID" -x custody-egress) || true
}

@test "DOOR-3: the end of custody-egress ends the session as lost" {
	start 'sleep 300'
	kill -9 "$EGRESS_PID"
	wait "$RUN_PID" || true
	RUN_PID=
	[ "$(jq -r .exit.reason "$CUSTODY_HOME/results/r.json")" = lost ]
}

@test "DOOR-3: the end of the supervisor ends custody-egress, which is no root and has no capability" {
	start 'sleep 300'
	grep -q '^CapEff:.0000000000000000$' "/proc/$EGRESS_PID/status"
	grep -q '^NoNewPrivs:.1$' "/proc/$EGRESS_PID/status"
	[ "$(id -u)" -ne 0 ] || grep -q '^Uid:.65534' "/proc/$EGRESS_PID/status"
	kill -9 "$RUN_PID"
	tail --pid="$EGRESS_PID" -f /dev/null
	RUN_PID=
	outside "$CUSTODY" recover
}

@test "DOOR-4: custody-egress gives up files and programs before it accepts a connection" {
	run --separate-stderr outside strace -f -qq -e trace=landlock_create_ruleset,landlock_restrict_self,epoll_create1 \
		-o "$CUSTODY_HOME/calls" "$CUSTODY" run --profile "$PROFILE" -- true
	[ "$status" -eq 0 ]
	grep -q 'landlock_create_ruleset(.* = -1 \(ENOSYS\|EOPNOTSUPP\)' "$CUSTODY_HOME/calls" || {
		# Its own process: the one that makes the epoll of the server afterwards.
		pid=$(sed -n 's/^\([0-9]*\) .*landlock_restrict_self(.* = 0$/\1/p' "$CUSTODY_HOME/calls")
		sed -n "/^$pid .*landlock_restrict_self/,\$p" "$CUSTODY_HOME/calls" | grep -q "^$pid .*epoll_create1("
	}
}

@test "DOOR-3: nothing runs without the program" {
	mkdir "$CUSTODY_HOME/libexec"
	cp -a "$(dirname "$CUSTODY")/../libexec/custody/." "$CUSTODY_HOME/libexec/"
	rm "$CUSTODY_HOME/libexec/custody-egress"
	CUSTODY_LIBEXEC=$CUSTODY_HOME/libexec inside 'echo ran'
	[ "$status" -eq 125 ]
	[ -z "$output" ]
	[[ $stderr == *custody-egress* ]]
}

@test "DOOR-3: a further command of custody exec reaches the same hosts and no other" {
	start 'sleep 300'
	run --separate-stderr outside "$CUSTODY" exec "$(outside "$CUSTODY" sessions --json | jq -r '[.. | .session? // .id? | strings][0]')" -- \
		sh -c 'curl -sS --cacert ca.crt https://good.test/exec; curl -sS -m 5 https://evil.test/; echo $?'
	[ "$status" -eq 0 ] || custody_fail "$output $stderr"
	[ "${lines[*]}" = "world 6" ] || custody_fail "$output $stderr"
}

@test "DOOR-3: without allowed hosts no process and no route are made" {
	suite_profile none '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	start 'sleep 300' && [ -z "$EGRESS_PID" ]
	inside 'grep -c 198.18 /proc/net/fib_trie; cat /etc/resolv.conf; exit 0'
	[ "$output" = $'0\n# no network' ] || custody_fail "$output"
}

@test "DOOR-3: profiles that a worktree brings may only narrow the hosts" {
	mkdir -p "$CUSTODY_HOME/work/.custody/profiles"
	cp "$PROFILE" "$CUSTODY_ROOT/etc/" 2>/dev/null || true
	printf '{"schema":1,"name":"wide","extends":"offline","network":{"mode":"allow","hosts":[{"host":"evil.test"}]}}' \
		>"$CUSTODY_HOME/work/.custody/profiles/wide.json"
	own "$CUSTODY_HOME/work"
	run --separate-stderr outside "$CUSTODY" run --profile wide -- true
	[ "$status" -eq 125 ]
	[[ $stderr == *network.* ]] || custody_fail "$stderr"
}

@test "LANE-6: a profile with allowed hosts of the other lane is refused" {
	local lane class
	hosts '{"host": "good.test"}'
	for class in prod any; do
		jq --arg class $class '.network.class = $class' "$PROFILE" >"$PROFILE.new" && mv "$PROFILE.new" "$PROFILE"
		own "$PROFILE"
		if [ $class = prod ]; then
			inside true
			[ "$status" -eq 116 ]
		else
			CUSTODY_ALLOW_PROD=1 inside --lane prod --allow-prod true
			[ "$status" -eq 116 ]
		fi
	done
	world_is_silent
}

@test "DOOR-3: check names the hosts, a bundle refuses them" {
	run --separate-stderr outside "$CUSTODY" check --explain --profile "$PROFILE" -- curl https://good.test/
	[[ $output == *"good.test:443 tls"* ]] || custody_fail "$output $stderr"
	run --separate-stderr outside "$CUSTODY" bundle -o "$CUSTODY_HOME/b" --profile "$PROFILE" -- true
	[ "$status" -ne 0 ]
	[[ $stderr == *"not supported in a bundle"* ]]
	[ ! -e "$CUSTODY_HOME/b" ]
}
