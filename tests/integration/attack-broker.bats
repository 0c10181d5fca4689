#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# Attacks on the broker's processes and on what its tools leave behind.

load ../lib/suite.bash

setup() {
	suite_setup
	prepare
}

teardown() {
	exec 8>&- 9>&-
	[ -z "${RUN_PID:-}" ] || kill -9 "$RUN_PID" 2>/dev/null || true
	[ ! -s "$DONE/left" ] || kill -9 "$(cat "$DONE/left")" 2>/dev/null || true
	custody_teardown
}

prepare() {
	export NO_COLOR=1
	DONE=$CUSTODY_HOME/done
	mkdir -p "$DONE"
	cp "$BATS_TEST_DIRNAME/../lib/broker_client.py" "$CUSTODY_HOME/work/"
}

# tools JSON...: the declarations in custody.json, and a profile with all of them and ping.
tools() {
	suite_ungoverned "$(printf '%s\n' "$@" | jq -s '{broker: {tools: .}, sandbox: {timing_min_delay_ms: 0}}')"
	suite_profile tools "$(printf '%s\n' "$@" | jq -s '{broker: {tools: (map(.name) + ["ping"])},
		enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}')"
	own "$CUSTODY_ROOT" "$PROFILE" "$CUSTODY_HOME/work" "$DONE"
}

# tool NAME EXEC-JSON [JSON]: one declaration.
tool() {
	jq -cn --arg name "$1" --argjson exec "$2" --argjson more "${3:-{\}}" \
		'{name: $name, exec: $exec, level: "A", network: "test"} + $more'
}

# inside [OPTIONS] PYTHON: runs it with the client of the tests; $output and $stderr.
inside() {
	local code=${*: -1}
	set -- "${@:1:$#-1}"
	custody_run --profile "$PROFILE" "$@" -- python3 -B -c "from broker_client import *
$code"
}

is_gone() { # PID
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

@test "ISO-9: a tool whose processes fork and end without end is killed with all of them" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		cc -O1 -w -static -o "$DONE/chains" -x c - <<-'END'
			#include <string.h>
			#include <unistd.h>
			/* They have no output, and the pipe that the test waits for. */
			int main(int argc, char **argv)
			{
				for (int i = 0; i < 16; i++)
					if (fork() == 0) {
						close(1);
						for (;;) {
							if (!strcmp(argv[1], "setsid")) setsid();
							if (fork() > 0) _exit(0);
						}
					}
				write(1, "\"done\"", 6);
				return strcmp(argv[2], "hang") ? 0 : pause();
			}
		END
		tools "$(tool group "[\"/bin/sh\",\"-c\",\"exec $DONE/chains group end 9>$DONE/end\"]")" \
			"$(tool leave "[\"/bin/sh\",\"-c\",\"exec $DONE/chains setsid end 9>$DONE/end\"]")" \
			"$(tool hang "[\"/bin/sh\",\"-c\",\"exec $DONE/chains setsid hang 9>$DONE/end\"]" '{"timeout": "1s"}')"
		mkfifo "$DONE/end"
		own "$DONE"
		exec 8<>"$DONE/end"
		inside 'assert [call("group"), call("leave"), call("hang"), call("ping")] == ["done", "done", ["timeout"], "pong"]'
		assert_status 0
		# No process has the FIFO any more: this reader sees its end.
		exec 9<"$DONE/end" 8>&-
		[ -z "$(cat <&9)" ]
		exec 9<&-
	done
}

@test "ISO-9: a tool that has become another user has its timeout, and holds up neither the broker nor the end" {
	[ "$(id -u)" -eq 0 ] || skip "a program with sudo needs root"
	as_user
	cp "$(command -v setpriv)" "$DONE/become"
	printf '#!/bin/sh\nexec %s --reuid 0 sh -c "echo \\$\\$ >%s; exec sleep 1000"\n' "$DONE/become" "$DONE/left" >"$DONE/sudo"
	chmod 755 "$DONE/sudo"
	tools "$(tool sudo "[\"$DONE/sudo\"]" '{"timeout": "1s"}')" "$(tool sudos "[\"$DONE/sudo\"]" '{"timeout": "1h"}')"
	chown 0 "$DONE/become"
	chmod 4755 "$DONE/become"
	inside 'assert [call("sudo"), call("ping")] == [["timeout"], "pong"]'
	assert_status 0
	kill -9 "$(cat "$DONE/left")"
	rm "$DONE/left"
	inside 'import os
s = connect()
s.sendall(line("sudos"))
assert call("ping") == "pong"'
	assert_status 0
	[ "$(custody_result .exit.reason)" = exited ]
}

@test "ISO-12: processes of a credential's program end with its call, and with the session" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		cat >"$DONE/mint" <<-EOF
			#!/bin/sh
			setsid sleep 1000 >/dev/null & echo \$! >>"$DONE/pids"
			[ ! -e "$DONE/hang" ] || setsid sh -c 'setsid sleep 1000 & echo \$! >>"$DONE/pids"; wait'
			echo '{"version":1,"token":"token-one-4711","expires_at":"2999-01-01T00:00:00Z"}'
		EOF
		chmod 755 "$DONE/mint"
		tools "$(tool use '["/bin/true"]' '{"credentials": ["TOKEN=gh"]}')" "$(tool slow '["/bin/true"]' '{"credentials": ["TOKEN=slow"]}')"
		for name in gh slow; do
			"${CUSTODY_AS[@]}" "$CUSTODY" credential add "$name" --exec "$DONE/mint"
		done
		inside 'assert call("use") == ""'
		assert_status 0
		is_gone "$(cat "$DONE/pids")"
		: >"$DONE/pids"
		: >"$DONE/hang"
		own "$DONE"
		"${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$PROFILE" -- /run/custody/custody-call slow >"$CUSTODY_HOME/out" 2>&1 &
		RUN_PID=$!
		wait_until eval '[ "$(wc -l <"$DONE/pids")" -eq 2 ]'
		secret=$(pgrep -x custody-secret -P "$(pgrep -x custody-broker -P $RUN_PID)" | tail -n 1)
		kill -9 $RUN_PID
		wait_until is_gone "$secret"
		while read -r pid; do wait_until is_gone "$pid"; done <"$DONE/pids"
		"${CUSTODY_AS[@]}" "$CUSTODY" recover >/dev/null
		rm "$DONE/hang"
	done
}

@test "ISO-12: no core dump of a tool, or of a credential's program, also where one would go to a pipe" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		printf '#!/bin/sh\ngrep core /proc/self/limits >%s\necho %s\n' "$DONE/limits" \
			"'{\"version\":1,\"token\":\"token-one-4711\"}'" >"$DONE/mint"
		chmod 755 "$DONE/mint"
		tools "$(tool plain '["/bin/grep","core","/proc/self/limits"]')" \
			"$(tool use '["/bin/grep","core","/proc/self/limits"]' '{"credentials": ["TOKEN=gh"]}')"
		"${CUSTODY_AS[@]}" "$CUSTODY" credential add gh --exec "$DONE/mint"
		inside 'for limits in call("plain"), call("use"): assert limits.split()[4:6] == ["1", "1"], limits'
		assert_status 0
		[ "$(tr -s ' ' <"$DONE/limits" | cut -d' ' -f5,6)" = '1 1' ]
	done
}

@test "ISO-9: with few open files the broker raises its limit, or says that it cannot and nothing starts" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		tools "$(tool echo '["/bin/cat"]')"
		CUSTODY_AS+=(prlimit --nofile=100:1000)
		inside 'many = [connect() for _ in range(31)]
for s in many: assert ask(s, line("ping"))["ok"]
assert call("echo", {"a": 1}) == {"a": 1}'
		assert_status 0
	done
	CUSTODY_AS+=(prlimit --nofile=100:100)
	inside 'open("started", "w")'
	assert_status 125
	assert_stderr_has 'the broker needs 256 open files: raise the limit (ulimit -n 256)'
	[ ! -e "$CUSTODY_HOME/work/started" ]
}
