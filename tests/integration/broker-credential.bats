#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# Credentials of tools: recorded before they are used, in the tool alone, and nowhere afterwards.

load ../lib/suite.bash

VALUE='swordfish+4711/of "a suite"'

setup() {
	suite_setup
	prepare
}

teardown() {
	[ -z "${RUN_PID:-}" ] || kill -9 "$RUN_PID" 2>/dev/null || true
	custody_teardown
}

prepare() {
	export NO_COLOR=1
	DONE=$CUSTODY_HOME/done
	mkdir -p "$DONE"
	cp "$BATS_TEST_DIRNAME/../lib/broker_client.py" "$CUSTODY_HOME/work/"
	# What the tool got, for the test alone: its digest.
	cat >"$DONE/tool" <<-EOT
		#!/bin/sh
		printf %s "\$TOKEN" | sha256sum | cut -d' ' -f1 >>"$DONE/got"
		echo done
	EOT
	chmod 755 "$DONE/tool"
	tools "$(tool use "[\"$DONE/tool\"]" '{"credentials": ["TOKEN=gh"]}')"
	profile use ping
}

# tools JSON...: the declarations in custody.json.
tools() {
	suite_ungoverned "$(printf '%s\n' "$@" | jq -s '{broker: {tools: .}, sandbox: {timing_min_delay_ms: 0}}')"
	own "$CUSTODY_ROOT"
}

# tool NAME EXEC-JSON [JSON]: one declaration.
tool() {
	jq -cn --arg name "$1" --argjson exec "$2" --argjson more "${3:-{\}}" \
		'{name: $name, exec: $exec, level: "A", network: "test"} + $more'
}

# profile NAME...: a profile with these tools; PROFILE is its file.
profile() {
	suite_profile tools "$(jq -n --args '{broker: {tools: $ARGS.positional},
		enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}' "$@")"
	own "$PROFILE" "$CUSTODY_HOME/work" "$DONE"
}

# credential VALUE ARGUMENTS...: custody credential add.
credential() {
	local value=$1
	shift
	printf '%s\n' "$value" | "${CUSTODY_AS[@]}" "$CUSTODY" credential add "$@"
}

digest() {
	printf %s "$1" | sha256sum | cut -d' ' -f1
}

# inside [OPTIONS] PYTHON: runs it with the client of the tests; $output and $stderr.
inside() {
	local code=${*: -1}
	set -- "${@:1:$#-1}"
	custody_run --profile "$PROFILE" "$@" -- python3 -B -c "from broker_client import *
$code"
}

records() { # KIND [JQ-FILTER]: of the lane's ledger
	"${CUSTODY_AS[@]}" "$CUSTODY" ledger show --json | jq -c "if type == \"object\" and .records then .records[] else . end | select(.k == \"$1\") | ${2:-.}"
}

# nowhere TEXT...: in no file of custody but the store, and no file of the worktree, however it is spelled.
nowhere() {
	local text found
	for text in "$@" "$(printf %s "$1" | base64 -w0)" "$(printf %s "$1" | base64 -w0 | cut -c1-20)"; do
		found=$(grep -rlF -- "$text" "$CUSTODY_ROOT" "$CUSTODY_HOME/work" | grep -v '\.credential$' || true)
		[ -z "$found" ] || custody_fail "'$text' is in $found"
	done
}

@test "ISO-12: a tool has its credential, and nothing else has it; each use is a record before it" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		credential "$VALUE" gh
		inside 'import glob, os
assert call("use") == "done\n"
assert "TOKEN" not in os.environ
for name in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/run/custody/*"):
    try:
        assert b"fo/1174"[::-1] not in open(name, "rb").read(), name
    except (PermissionError, OSError):
        pass
raise SystemExit(3)'
		assert_status 3
		[ "$(cat "$DONE/got")" = "$(digest "$VALUE")" ]
		[ "$(records credential.use '[.d.name, .d.source, .d.class, .d.tool, .d.to]')" = "[\"gh\",\"value\",\"test\",\"use\",\"$DONE/tool\"]" ]
		# The session's own chain has it, in this order.
		chain=$(find "$CUSTODY_ROOT" -path '*forensics*' -name audit.ndjson)
		[ "$(jq -r .k "$chain" | grep -E '^(tool|credential)' | tr '\n' ' ')" = 'tool.call credential.use tool.result ' ]
		nowhere "$VALUE" swordfish
	done
}

# program NAME BODY: an executable of the operator, which logs its starts to DONE/NAME.log.
program() {
	printf '#!/bin/sh\necho start >>%s\n%s\n' "$DONE/$1.log" "$2" >"$DONE/$1"
	chmod 755 "$DONE/$1"
	own "$DONE"
}

starts() { # NAME
	wc -l <"$DONE/$1.log" 2>/dev/null || echo 0
}

# start PYTHON: in the background, with DONE/out; it waits for lines of `go`.
start() {
	mkfifo "$CUSTODY_HOME/go"
	printf 'from broker_client import *\nimport sys\ndef step(*words):\n    print(*[w.strip() if isinstance(w, str) else w for w in words], flush=True)\n    sys.stdin.readline()\n%s\n' "$1" >"$CUSTODY_HOME/work/script.py"
	own "$CUSTODY_HOME/work" "$CUSTODY_HOME/go"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$PROFILE" -- python3 -B script.py <"$CUSTODY_HOME/go" >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" &
	RUN_PID=$!
	exec {go}>"$CUSTODY_HOME/go"
}

has_lines() { # N: of the script's output
	[ "$(wc -l <"$CUSTODY_HOME/out")" -ge "$1" ]
}

# printed N LINE: waits for line N of the script.
printed() {
	wait_until has_lines "$1" || custody_fail "$(cat "$CUSTODY_HOME/err")"
	[ "$(sed -n "$1p" "$CUSTODY_HOME/out")" = "$2" ] || custody_fail "$(cat "$CUSTODY_HOME/out" "$CUSTODY_HOME/err")"
}

finish() {
	local status=0
	exec {go}>&-
	wait "$RUN_PID" || status=$?
	RUN_PID=
	[ "$status" -eq 0 ] || custody_fail "$status: $(cat "$CUSTODY_HOME/err")"
}

@test "ISO-12: neither broker nor supervisor has the value in memory; a process that does has locked it and cannot be dumped" {
	[ "$(id -u)" -eq 0 ] || skip "needs root: to read the memory of other processes"
	cat >"$DONE/scan.py" <<-'EOT'
		import json, os, re
		value = os.environ.pop("TOKEN").encode()
		def hits(pid):
		    n = 0
		    with open("/proc/%d/mem" % pid, "rb", 0) as mem, open("/proc/%d/maps" % pid) as maps:
		        for area in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) rw", maps.read(), re.M):
		            begin, end = (int(x, 16) for x in area)
		            mem.seek(begin)
		            n += mem.read(end - begin).count(value)
		    return n
		def status(pid, key):
		    return re.search(r"^%s:\s*(\S+)" % key, open("/proc/%d/status" % pid).read(), re.M)[1]
		def parent(pid):
		    return int(status(pid, "PPid"))
		def is_closed(pid):
		    limits = open("/proc/%d/limits" % pid).read()
		    return int(status(pid, "VmLck")) > 0 and re.search(r"^Max core file size +1 +1 ", limits, re.M) is not None
		between = os.getppid()
		broker = parent(between)
		mine = [int(p) for p in os.listdir("/proc") if p.isdigit() and os.path.exists("/proc/%s/comm" % p)
		        and open("/proc/%s/comm" % p).read() == "custody-secret\n" and parent(int(p)) == broker]
		print(json.dumps([hits(broker), hits(parent(broker)), hits(between) > 0, is_closed(between),
		                  [hits(p) > 0 and is_closed(p) for p in mine]]))
	EOT
	tools "$(tool scan "[\"$(command -v python3)\",\"$DONE/scan.py\"]" '{"credentials": ["TOKEN=gh"]}')"
	profile scan
	credential "$VALUE" gh
	inside 'print(call("scan"))'
	assert_status 0
	[ "$output" = "[0, 0, True, True, [True]]" ]
}

@test "ISO-12: output with the value is refused, however it is spelled, and is nowhere" {
	local user
	tools_that_print() {
		tools "$(tool plain "[\"$DONE/plain\"]" '{"credentials": ["TOKEN=gh"]}')" \
			"$(tool base64 "[\"$DONE/base64\"]" '{"credentials": ["TOKEN=gh"]}')" \
			"$(tool url "[\"$DONE/url\"]" '{"credentials": ["TOKEN=gh"]}')" \
			"$(tool json "[\"$DONE/json\"]" '{"credentials": ["TOKEN=gh"]}')" \
			"$(tool stderr "[\"$DONE/stderr\"]" '{"credentials": ["TOKEN=gh"]}')" \
			"$(tool fails "[\"$DONE/fails\"]" '{"credentials": ["TOKEN=gh"]}')"
		profile plain base64 url json stderr fails
	}
	for user in root user; do
		[ $user = root ] || as_user
		program plain 'echo "token: $TOKEN"'
		program base64 'printf "x:%s" "$TOKEN" | base64'
		program url 'jq -rn "env.TOKEN | @uri"'
		program json 'jq -n "{a: [env.TOKEN]}"'
		program stderr 'echo "$TOKEN" >&2; echo fine'
		program fails 'echo "$TOKEN"; exit 3'
		tools_that_print
		credential "$VALUE" gh
		inside 'for name in ["plain", "base64", "url", "json"]:
    assert call(name) == ["credential-in-output"], name
assert call("stderr") == "fine\n"
with connect() as s:
    r = ask(s, line("fails"))
assert r["code"] == "tool-failed" and r["error"] == "the tool ended with status 3"
raise SystemExit(3)'
		assert_status 3
		[ "$(records tool.result 'select(.d.result == "credential-in-output") | .d.tool' | wc -l)" -eq 4 ]
		nowhere "$VALUE" swordfish
	done
}

@test "ISO-12: a credential that is replaced or removed during the session counts at the next call" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		credential "$VALUE" gh
		start 'step(call("use").strip()); step(call("use").strip()); step(call("use")); step(call("use"), call("ping"))'
		printed 1 'done'
		credential other-value-0815 gh
		echo >&"$go"
		printed 2 'done'
		[ "$(tail -n 1 "$DONE/got")" = "$(digest other-value-0815)" ]
		"${CUSTODY_AS[@]}" "$CUSTODY" credential rm gh
		echo >&"$go"
		printed 3 "['credential']"
		[ "$(wc -l <"$DONE/got")" -eq 2 ]
		# One of another lane in its place.
		"${CUSTODY_AS[@]}" env CUSTODY_ALLOW_PROD=1 "$CUSTODY" credential add gh --lane prod --allow-prod <<<"value-of-prod"
		cp -p "$CUSTODY_ROOT/prod/credentials/gh.credential" "$CUSTODY_ROOT/sandbox/credentials/gh.credential"
		echo >&"$go"
		printed 4 "['credential'] pong"
		finish
		[ "$(wc -l <"$DONE/got")" -eq 2 ]
		[ "$(records credential.use .d.name | wc -l)" -eq 2 ]
		[ "$(records credential.refused '[.d.name, .d.tool]' | sort -u)" = '["gh","use"]' ]
		records credential.refused .d.why | tail -n 1 | grep -q sandbox || custody_fail "$(records credential.refused .d.why)"
		[ "$(records tool.result .d.result | tr '\n' ' ')" = '"ok" "ok" "credential" "credential" "ok" ' ]
		nowhere "$VALUE" other-value-0815 value-of-prod
		rm "$CUSTODY_HOME/go"
	done
}

@test "LANE-6: a tool whose credential is missing, of the other lane, or open to others is refused, and nothing starts" {
	inside 'open("started", "w")'
	assert_status 125
	assert_stderr_has "tool 'use' needs credential 'gh'"
	assert_stderr_has 'custody credential add gh --lane sandbox'
	"${CUSTODY_AS[@]}" env CUSTODY_ALLOW_PROD=1 "$CUSTODY" credential add gh --lane prod --allow-prod <<<"value-of-prod"
	inside 'open("started", "w")'
	assert_status 125
	assert_stderr_has "needs credential 'gh'"
	credential "$VALUE" other
	cp -p "$CUSTODY_ROOT/prod/credentials/gh.credential" "$CUSTODY_ROOT/sandbox/credentials/gh.credential"
	inside 'open("started", "w")'
	assert_status 116
	[[ $stderr == *"tool 'use'"*prod*sandbox* || $stderr == *"tool 'use'"*sandbox*prod* ]]
	credential "$VALUE" gh
	chmod 644 "$CUSTODY_ROOT/sandbox/credentials/gh.credential"
	inside 'open("started", "w")'
	assert_status 125
	assert_stderr_has "tool 'use'"
	[ ! -e "$CUSTODY_HOME/work/started" ]
	[ -z "$(records session.intent)" ]
}

@test "ISO-12: a credential's file or program that the command or another user could change is refused" {
	local place=$CUSTODY_HOME/place
	mkdir "$place"
	printf 'value-in-a-file\n' | tee "$place/value" "$CUSTODY_HOME/work/value" >/dev/null
	printf '#!/bin/sh\necho never\n' | tee "$place/program" "$CUSTODY_HOME/work/program" >/dev/null
	chmod 600 "$place/value" "$CUSTODY_HOME/work/value"
	chmod 755 "$place/program" "$CUSTODY_HOME/work/program"
	for source in "--file $CUSTODY_HOME/work/value" "--exec $CUSTODY_HOME/work/program"; do
		# shellcheck disable=SC2086
		credential '' gh $source
		inside 'open("started", "w")'
		[ "$status" -eq 125 ]
		[[ $stderr == *"credential 'gh': '"*"which the command may change"* ]]
	done
	credential '' gh --exec "$place/program"
	inside -v "$place:/place:rw" 'open("started", "w")'
	[[ $stderr == *"credential 'gh': '"*"which the command may change"* ]]
	chmod 777 "$place"
	inside 'open("started", "w")'
	[[ $stderr == *"credential 'gh'"*"writable by other users"* ]]
	chmod 755 "$place"
	rm "$place/program"
	inside 'open("started", "w")'
	[[ $stderr == *"credential 'gh'"*"$place/program"* ]]
	[ ! -e "$CUSTODY_HOME/work/started" ]
	# During the session it is checked again.
	credential '' gh --file "$place/value"
	start 'step(call("use").strip()); step(call("use"))'
	printed 1 'done'
	chmod 644 "$place/value"
	echo >&"$go"
	printed 2 "['credential']"
	finish
	[ "$(wc -l <"$DONE/got")" -eq 1 ]
	if [ "$(id -u)" -eq 0 ]; then
		chmod 600 "$place/value"
		chown 1234 "$place/value"
		inside 'open("started", "w")'
		assert_status 125
		assert_stderr_has "credential 'gh'"
		[ ! -e "$CUSTODY_HOME/work/started" ]
	fi
}

@test "DOOR-8: the token of a program is kept for 80 % of its life, and a failure is a refusal" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		program mint "case \$(wc -l <$DONE/mint.log) in
			1) printf '{\"version\":1,\"token\":\"token-one-%s\"}' 4711 ;;
			2) printf '{\"version\":1,\"token\":\"token-two-%s\",\"expires_at\":\"2001-01-01T00:00:00Z\"}' 4711 ;;
			*) echo token-three-4711; exit 1 ;;
		esac"
		credential '' gh --exec "$DONE/mint"
		start 'step((call("use") + call("use") + call("use")).strip().replace("\n", " ")); step(call("use")); step(call("use"))'
		printed 1 'done done done'
		[ "$(sort "$DONE/got" | uniq -c | tr -s ' ')" = " 3 $(digest token-one-4711)" ]
		[ "$(starts mint)" -eq 1 ]
		# Added again: it is another one.
		credential '' gh --exec "$DONE/mint"
		echo >&"$go"
		printed 2 "['credential']"
		echo >&"$go"
		printed 3 "['credential']"
		finish
		[ "$(starts mint)" -eq 3 ]
		[ "$(wc -l <"$DONE/got")" -eq 3 ]
		[ "$(records credential.use .d.source | sort | uniq -c | tr -s ' ')" = ' 3 "exec"' ]
		records credential.refused .d.why | head -n 1 | grep -q expired
		nowhere token-one-4711 token-two-4711 token-three-4711
		rm "$CUSTODY_HOME/go"
	done
}

@test "DOOR-8: a program that hangs delays only calls that need its token, and is given up" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		# A FIFO that has a writer hangs the program until the end of the test.
		mkfifo "$DONE/hang"
		exec 8<>"$DONE/hang"
		program mint "echo \$\$ >>$DONE/pids; read -r x <$DONE/hang"
		tools "$(tool slow "[\"$DONE/tool\"]" '{"credentials": ["TOKEN=slow"], "timeout": 1}')" \
			"$(tool patient "[\"$DONE/tool\"]" '{"credentials": ["TOKEN=slow"], "timeout": 60}')" \
			"$(tool use "[\"$DONE/tool\"]" '{"credentials": ["TOKEN=gh"]}')"
		profile slow patient use ping
		credential '' slow --exec "$DONE/mint"
		credential "$VALUE" gh
		start 'patient = [connect() for _ in range(3)]
for s in patient: s.sendall(line("patient"))
step(call("slow"), call("use"), call("ping"))
# All three waited for one execution, and share its failure; that of "slow" is not awaited any more.
print([reply(s)["code"] for s in patient])'
		printed 1 "['timeout'] done pong"
		kill -9 "$(cat "$DONE/pids")"
		echo >&"$go"
		printed 2 "['credential', 'credential', 'credential']"
		finish
		exec 8>&-
		rm "$CUSTODY_HOME/go"
		[ "$(starts mint)" -eq 1 ]
		[ "$(cat "$DONE/got")" = "$(digest "$VALUE")" ]
		[ "$(records credential.refused .d.why | grep -c 'signal 9')" -eq 3 ]
		nowhere "$VALUE"
	done
}

@test "ISO-12: with a credential's process killed, or its use not recorded, the tool does not start" {
	credential "$VALUE" gh
	start 'step(call("use").strip()); step(call("use"), call("ping"))'
	printed 1 'done'
	kill -9 "$(pgrep -x custody-secret -P "$(pgrep -x custody-broker -P $RUN_PID)")"
	echo >&"$go"
	printed 2 "['credential'] pong"
	finish
	[ "$(wc -l <"$DONE/got")" -eq 1 ]
	# The program of the credential removes the records between the call's and the use's.
	segment=$(find "$CUSTODY_ROOT/sandbox/ledger" -name '*.ndjson')
	program mint "cp $segment $DONE/kept; : >$segment; echo '{\"version\":1,\"token\":\"token-one-4711\"}'"
	credential '' gh --exec "$DONE/mint"
	inside 'assert call("use") == ["credential"]' || true
	cat "$DONE/kept" >"$segment"
	[ "$(wc -l <"$DONE/got")" -eq 1 ]
	[ "$(starts mint)" -eq 1 ]
}

@test "ISO-12: card, show and the subject name the credentials of a tool" {
	tools "$(tool use "[\"$DONE/tool\"]" '{"credentials": ["TOKEN=gh", "OTHER=gh"], "level": "B", "read": true}')"
	profile use
	credential "$VALUE" gh
	code='print(call("use"))'
	inside "$code"
	[ "$output" = "['approval']" ]
	id=$("$CUSTODY" pending --json | jq -r '.requests[0].id')
	grep -q '"credentials":\["gh","gh"\]' "$CUSTODY_ROOT/sandbox/requests/$id.json"
	run "$CUSTODY" approve --yes "$id"
	assert_status 0
	inside "$code"
	[ "${output:0:4}" = "done" ]
	"$CUSTODY" show "$(custody_result .session)" | grep -q '^used  *gh$'
	[ "$("$CUSTODY" show "$(custody_result .session)" --json | jq -c '.session.credentials')" = '["gh"]' ]
	"$CUSTODY" check --json --profile "$PROFILE" -- true | jq -e '[.. | .credentials? // empty] | flatten | index("gh")'
	nowhere "$VALUE"
}
