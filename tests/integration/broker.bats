#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# The broker: tools outside that a session may call through one socket, checked, counted and on the record.

load ../lib/suite.bash
load ../lib/approval.bash

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
	tools
	profile ping note.write
}

# tools [JSON...]: the declarations in custody.json; SANDBOX is its section sandbox.
tools() {
	suite_ungoverned "$(printf '%s\n' "$@" | jq -s --argjson sandbox "${SANDBOX:-{\}}" '{broker: {tools: .}, sandbox: $sandbox}')"
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

is_gone() { # PID
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

@test "ISO-8: inside are a 0600 socket and a 0400 token in a 0700 directory, and no token elsewhere" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		custody_run --profile "$PROFILE" -- sh -c 'stat -c "%a %u %F" /run/custody /run/custody/broker.sock /run/custody/token
			env | grep -cF "$(cat /run/custody/token)"; wc -c </run/custody/token; cat /run/custody/token
			/run/custody/custody-call ping'
		assert_status 0
		[ "${lines[*]:0:5}" = '700 0 directory 600 0 socket 400 0 regular file 0 64' ]
		[[ ${lines[5]} == *\"pong\" ]]
		token=${lines[5]%\"pong\"}
		[ "${#token}" -eq 64 ]
		# Nothing that stays has it.
		run grep -rlF "$token" "$CUSTODY_ROOT"
		[ "$status" -eq 1 ]
	done
}

@test "ISO-8: no process outside has the token in its memory while a tool runs" {
	cat >"$DONE/scan.py" <<-'EOT'
		import json, os, re, sys
		token = json.load(sys.stdin)["reversed"][::-1].encode()
		def hits(pid):
		    n = 0
		    with open("/proc/%d/mem" % pid, "rb", 0) as mem, open("/proc/%d/maps" % pid) as maps:
		        for area in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) rw", maps.read(), re.M):
		            begin, end = (int(x, 16) for x in area)
		            mem.seek(begin)
		            n += mem.read(end - begin).count(token)
		    return n
		def parent(pid):
		    return int(open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[1])
		keeper = os.getppid()
		broker = parent(keeper)
		print(json.dumps([hits(p) for p in (keeper, broker, parent(broker))]))
	EOT
	tools "$(tool scan "[\"$(command -v python3)\",\"$DONE/scan.py\"]")"
	profile scan
	inside 'print(call("scan", {"reversed": token()[::-1]}))'
	assert_status 0
	[ "$output" = "[0, 0, 0]" ]
}

@test "ISO-8: a wrong, empty, missing or non-string token is refused and recorded, and does nothing" {
	inside 'note = {"text": "written"}
for bad in ["", "0" * 64, token()[:-1], token() + "0", token().upper() + "x", 7, None, [], {"a": 1}]:
    s = connect()
    q = json.loads(line("note.write", note))
    q["token"] = bad
    r = ask(s, json.dumps(q).encode() + b"\n")
    assert r == {"ok": False, "error": r["error"], "code": "token"}, r
    s.close()
s = connect()
assert ask(s, b"{\"tool\":\"note.write\",\"params\":{\"text\":\"written\"}}\n")["code"] == "token"
# The same connection with the right one.
assert ask(s, line("ping"))["data"] == "pong"'
	assert_status 0
	[ -z "$(find "$CUSTODY_ROOT" -name notes.ndjson)" ]
	[ "$(records tool.refused '.d.refused' | sort | uniq -c | tr -s ' ')" = ' 10 "token"' ]
	[ "$(records tool.call .d.tool)" = '"ping"' ]
}

@test "ISO-8: the token of another session and of one that is over are refused" {
	inside 'print(token())'
	assert_status 0
	old=$output
	inside "assert call('ping', tok='$old') == ['token']
assert call('ping') == 'pong'
assert token() != '$old'"
	assert_status 0
}

@test "ISO-8: lines that are no request are refused, and the broker goes on" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		inside 'good = line("ping")
for bad in [b"\n", b"[]\n", b"nonsense\n", good[:-2] + b"\n", b"\0" * 9 + b"\n", good.replace(b"ping", b"pi\0ng"),
            good.replace(b"ping", b"\xff"), good.replace(b"{", b"{\"tool\":\"x\",", 1),
            good.replace(b"\"params\": {}", b"\"params\": " + b"{\"a\":" * 40 + b"1" + b"}" * 40),
            good.replace(b"\"params\": {}", b"\"params\": [1]")]:
    s = connect()
    r = ask(s, bad)
    assert r["code"] == "request", (bad, r)
# Longer than the limit, with and without an end.
for bad in [b"x" * 300000 + b"\n", b" " * 262144 + good]:
    s = connect()
    assert ask(s, bad)["code"] == "request"
    assert reply(s) is None
# Half a line, and the end.
s = connect()
s.sendall(good[:20])
s.shutdown(socket.SHUT_WR)
assert reply(s)["code"] == "request"
# Two requests at once have two replies.
s = connect()
s.sendall(good + good)
assert reply(s)["data"] == "pong" and reply(s)["data"] == "pong"'
		assert_status 0
		[ "$(records tool.call .d.tool | wc -l)" -eq 2 ]
	done
}

@test "ISO-8: descriptors are refused, and not received" {
	inside 'import os
s = connect()
r, w = os.pipe()
socket.send_fds(s, [line("ping")], [w])
os.close(w)
assert reply(s)["code"] == "descriptors"
assert reply(s) is None
# The broker has none of its ends: the pipe is at its end.
assert os.read(r, 1) == b""
assert call("ping") == "pong"'
	assert_status 0
	[ "$(records tool.call .d.tool | wc -l)" -eq 1 ]
}

@test "ISO-8: a further command in the session, and another user inside, have the broker as well" {
	[ "$(id -u)" -eq 0 ] || skip "needs root: another user inside has a subordinate id"
	suite_profile tools '{"broker": {"tools": ["ping"]}, "process": {"user": "1000"}, "enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	custody_run --profile "$PROFILE" -- sh -c 'id -u; stat -c "%a %u" /run/custody /run/custody/broker.sock /run/custody/token; /run/custody/custody-call ping'
	assert_status 0
	[ "${lines[*]}" = '1000 700 1000 600 1000 400 1000 "pong"' ]
	"$CUSTODY" run --profile "$PROFILE" -d -- sleep 1000 >"$CUSTODY_HOME/id"
	id=$(cat "$CUSTODY_HOME/id")
	run --separate-stderr "$CUSTODY" exec "$id" -- /run/custody/custody-call ping
	"$CUSTODY" stop "$id"
	[ "$output" = '"pong"' ]
}

@test "ISO-8: a process outside of the session is refused, also with its token" {
	[ "$(id -u)" -eq 0 ] || skip "needs root: to reach the socket at all"
	"$CUSTODY" run --profile "$PROFILE" -d -- sleep 1000 >"$CUSTODY_HOME/id"
	id=$(cat "$CUSTODY_HOME/id")
	pid=$("$CUSTODY" show "$id" --json | jq '[.records[] | select(.k == "session.start")][0].d.pid')
	PYTHONPATH=$BATS_TEST_DIRNAME/../lib run python3 -B -c "from broker_client import *
d = '/proc/$pid/root/run/custody'
s = connect(d)
print(ask(s, line('ping', tok=token(d)))['code'])"
	"$CUSTODY" stop "$id"
	[ "$output" = peer ]
	[ -z "$(records tool.call)" ]
	[ "$(records tool.refused .d.refused)" = '"peer"' ]
}

@test "ISO-9: exactly max_tool_calls_per_session calls pass, of 8 clients at once" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		SANDBOX='{"max_tool_calls_per_session": 100, "timing_min_delay_ms": 0}' tools
		inside 'import threading
results = []
def client():
    s = connect()
    for _ in range(20):
        # A refusal before the budget does not use it.
        assert ask(s, line("nothing"))["code"] == "tool"
        results.append(ask(s, line("ping")))
threads = [threading.Thread(target=client) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
ok = [r for r in results if r["ok"]]
assert len(results) == 160 and len(ok) == 100, len(ok)
assert {r["code"] for r in results if not r["ok"]} == {"budget"}'
		assert_reason budget
		assert_status 0
		[ "$(records tool.call .d.call | jq -s 'sort == [range(1; 101)]')" = true ]
		# Not every refusal has a record of its own, but each one is counted.
		id=$(custody_result .session)
		"${CUSTODY_AS[@]}" "$CUSTODY" show "$id" | grep -qx 'tools      100 calls, 220 refused'
	done
}

@test "ISO-9: no answer comes before timing_min_delay_ms, whether it is allowed or refused" {
	SANDBOX='{"timing_min_delay_ms": 300}' tools
	inside 'import time
def takes(request):
    s = connect()
    begin = time.monotonic()
    r = ask(s, request)
    assert time.monotonic() - begin >= 0.3, r
    return r
assert takes(line("ping"))["ok"]
assert takes(line("nothing"))["code"] == "tool"
assert takes(line("ping", tok="x"))["code"] == "token"
assert takes(b"nonsense\n")["code"] == "request"'
	assert_status 0
}

@test "ISO-8: a client that sends byte by byte, bad tokens and ten thousand connects stop no other client" {
	SANDBOX='{"timing_min_delay_ms": 0}' tools
	inside 'slow, known = connect(), connect()
assert ask(known, line("ping"))["ok"]
text = line("ping")
slow.sendall(text[:10])
assert call("ping") == "pong"
bad = [connect() for _ in range(8)]
for s in bad:
    s.sendall(line("ping", tok="x"))
assert ask(known, line("ping"))["data"] == "pong"
for s in bad:
    assert reply(s)["code"] == "token"
for c in text[10:]:
    slow.sendall(bytes([c]))
assert reply(slow)["data"] == "pong"
for _ in range(100):
    many = [connect() for _ in range(100)]
    for s in many: s.close()
waiting = []
for _ in range(100):
    waiting.append(connect())
# Its place is not given to them.
assert ask(known, line("ping"))["data"] == "pong"'
	assert_status 0
}

@test "ISO-8: after 256 refusals of a session each further one is held back for a second, and no other answer" {
	SANDBOX='{"timing_min_delay_ms": 0}' tools
	inside 'import select, time
s, good = connect(), connect()
for n in range(256):
    assert ask(s, line("none"))["code"] == "tool"
for bad in [line("none"), b"nonsense\n", line("ping", tok="x")]:
    begin = time.monotonic()
    s.sendall(bad)
    # A good call passes it.
    assert ask(good, line("ping"))["ok"]
    assert select.select([s], [], [], 0)[0] == []
    assert not reply(s)["ok"]
    assert time.monotonic() - begin >= 0.95
# Nor are new connections a way around: 16 of them are taken in a second.
begin = time.monotonic()
many = [connect() for _ in range(40)]
for s in many: s.sendall(line("ping"))
for s in many: assert reply(s)["ok"]; s.close()
assert time.monotonic() - begin >= 0.95'
	assert_status 0
}

@test "ISO-9: a scoped parameter must be the session's, or the tool does not run" {
	tools "$(tool comment "[\"/bin/sh\",\"-c\",\"cat >>$DONE/comment\"]" '{"scope": ["issue_number=issue"]}')"
	profile comment
	inside --issue 5 'assert call("comment", {"issue_number": 6}) == ["scope"]
assert call("comment", {}) == ["scope"]
assert call("comment", {"issue_number": [5]}) == ["scope"]
assert call("comment", {"issue_number": 5, "text": "a"}) == ""'
	assert_status 0
	[ "$(cat "$DONE/comment")" = '{"issue_number":5,"text":"a"}' ]
	# A session without an issue has none to comment on.
	inside 'assert call("comment", {"issue_number": 5}) == ["scope"]'
	assert_status 0
	[ "$(wc -l <"$DONE/comment")" -eq 1 ]
}

@test "ISO-9: a tool of level B runs once for each approval of exactly this call" {
	tools "$(tool deploy "[\"/bin/sh\",\"-c\",\"cat >>$DONE/deploy\"]" '{"level": "B"}')"
	profile deploy
	code='print(call("deploy", {"to": "web"}), call("deploy", {"to": "db"}))'
	inside "$code"
	assert_status 0
	[ "$output" = "['approval'] ['approval']" ]
	[ ! -e "$DONE/deploy" ]
	request=$("$CUSTODY" pending --json | jq -r '.requests[] | select(.command == "tool deploy") | .id' | while read -r id; do
		grep -lF '"web"' "$CUSTODY_ROOT/sandbox/requests/$id.json" || true
	done)
	request=${request##*/}
	run "$CUSTODY" approve --yes "${request%.json}"
	assert_status 0
	inside "$code"
	[ "$output" = " ['approval']" ]
	[ "$(cat "$DONE/deploy")" = '{"to":"web"}' ]
	inside "$code"
	[ "$output" = "['approval'] ['approval']" ]
	[ "$(wc -l <"$DONE/deploy")" -eq 1 ]
	"$CUSTODY" ledger verify >/dev/null
}

@test "ISO-9: a request shows no plain secret of the parameters, and an approval counts for the true ones" {
	tools "$(tool deploy "[\"/bin/sh\",\"-c\",\"cat >>$DONE/deploy\"]" '{"level": "B"}')"
	profile deploy
	printf 'swordfish4711 swordfish0815' >"$CUSTODY_HOME/work/planted"
	code='print([call("deploy", {"password": word})[0:1] for word in open("planted").read().split()])'
	inside "$code"
	[ "$output" = "[['approval'], ['approval']]" ]
	[ "$("$CUSTODY" pending --json | jq '.requests | length')" -eq 2 ]
	run grep -rl swordfish "$CUSTODY_ROOT"
	[ -z "$output" ]
	run "$CUSTODY" approve --yes "$("$CUSTODY" pending --json | jq -r '.requests[0].id')"
	assert_status 0
	inside "$code"
	[ "$(wc -l <"$DONE/deploy")" -eq 1 ]
	# More than a plain value could be another command: the approver reads it.
	printf 'x; drop everything' >"$CUSTODY_HOME/work/planted"
	inside 'print(call("deploy", {"password": open("planted").read()}))'
	[ "$output" = "['approval']" ]
	grep -rqF 'x; drop everything' "$CUSTODY_ROOT/sandbox/requests"
}

@test "ISO-9: a session files 16 requests for calls, and leaves the lane's other places to others" {
	SANDBOX='{"timing_min_delay_ms": 0}' tools "$(tool deploy "[\"/bin/sh\",\"-c\",\"cat >>$DONE/deploy\"]" '{"level": "B"}')"
	profile deploy
	code='s = connect()
for n in open("order").read().split():
    r = ask(s, line("deploy", {"n": int(n)}))
    print("passed" if r["ok"] else r["code"] + (" filed" if "custody approve" in r["error"] else ""))'
	# Those that have a request are asked for again.
	{ seq 40 && seq 16; } >"$CUSTODY_HOME/work/order"
	inside "$code"
	assert_status 0
	[ "$(sed -n '1,16p;41,56p' <<<"$output" | sort -u)" = "approval filed" ]
	[ "$(sed -n '17,40p' <<<"$output" | sort -u)" = "approval" ]
	[ "$("$CUSTODY" pending --json | jq '.requests | length')" -eq 16 ]
	# A grant counts for a session that may file no more.
	run "$CUSTODY" approve --yes "$("$CUSTODY" pending --json | jq -r '.requests[0].id')"
	assert_status 0
	{ seq 101 116 && seq 16; } >"$CUSTODY_HOME/work/order"
	inside "$code"
	assert_status 0
	[ "$(sort <<<"$output" | uniq -c | tr -s ' ' | tr '\n' ';')" = ' 15 approval; 16 approval filed; 1 passed;' ]
	[ "$(wc -l <"$DONE/deploy")" -eq 1 ]
	[ "$("$CUSTODY" pending --json | jq '.requests | length')" -eq 31 ]
}

@test "ISO-9: a tool that hangs, floods, forks or fails is killed with every process that it left" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		cat >"$CUSTODY_HOME/forks" <<-EOF
			#!/bin/sh
			# One that leaves the process group, and one of that one.
			setsid sh -c 'echo \$\$ >>"$DONE/pids"; setsid sleep 1000 & echo \$! >>"$DONE/pids"; wait' </dev/null >/dev/null 2>&1 &
			while [ "\$(wc -l <"$DONE/pids")" -lt 2 ]; do :; done
			echo \$\$ >>"$DONE/pids"
			[ "\$1" != hang ] || exec sleep 1000
			echo '"done"'
		EOF
		chmod 755 "$CUSTODY_HOME" "$CUSTODY_HOME/forks"
		: >"$DONE/pids"
		tools "$(tool hang "[\"$CUSTODY_HOME/forks\",\"hang\"]" '{"timeout": "1s"}')" "$(tool forks "[\"$CUSTODY_HOME/forks\"]")" \
			"$(tool flood '["/bin/cat","/dev/zero"]' '{"output_max": "10K"}')" "$(tool fails '["/bin/false"]')" \
			"$(tool missing '["/nonexistent"]')" "$(tool binary '["/bin/printf","a\\0b"]')"
		profile hang forks flood fails missing binary ping
		inside 'assert call("forks") == "done"'
		assert_status 0
		[ "$(wc -l <"$DONE/pids")" -eq 3 ]
		while read -r pid; do is_gone "$pid"; done <"$DONE/pids"
		: >"$DONE/pids"
		inside 'slow = connect()
slow.sendall(line("hang"))
assert call("flood") == ["output"] and call("fails") == ["tool-failed"]
assert call("missing") == ["tool-failed"] and call("binary") == ["output"]
# None of them waits for the one that hangs.
assert call("ping") == "pong"
assert reply(slow)["code"] == "timeout"'
		assert_status 0
		[ "$(wc -l <"$DONE/pids")" -eq 3 ]
		while read -r pid; do is_gone "$pid"; done <"$DONE/pids"
	done
}

@test "ISO-9: a client that is killed during a call ends its tool; so does the end of the session" {
	tools "$(tool hang "[\"/bin/sh\",\"-c\",\"echo \$\$ >>$DONE/pid; exec sleep 1000\"]" '{"timeout": "1h"}')"
	profile hang ping
	inside 'import os, signal
r, w = os.pipe()
child = os.fork()
if child == 0:
    s = connect()
    s.sendall(line("hang"))
    os.write(w, b"x")
    reply(s)
os.read(r, 1)
# One that is gone in the middle of its line, and one that is answered after the other two were read.
s = connect()
s.sendall(line("ping")[:30])
s.close()
assert call("ping") == "pong"
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
s = connect()
s.sendall(line("hang"))
# Answered after the other one was read.
assert call("ping") == "pong"'
	assert_status 0
	while read -r pid; do wait_until is_gone "$pid"; done <"$DONE/pid"
	# The second one: whether its client or the supervisor was seen first.
	[ "$(records tool.result 'select(.d.tool == "hang") | .d.result' | grep -cE '"(gone|session-over)"')" -eq 2 ]
}

@test "ISO-8: a killed broker ends the session as lost, and no call succeeds after it" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		"${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$PROFILE" --result "$DONE/result" -- python3 -B -c 'from broker_client import *
assert call("ping") == "pong"
print("ready", flush=True)
import time
time.sleep(1000)' >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" &
		RUN_PID=$!
		wait_until grep -q ready "$CUSTODY_HOME/out"
		kill -9 "$(pgrep -x custody-broker -P $RUN_PID)"
		wait_until is_gone $RUN_PID
		status=0
		wait $RUN_PID || status=$?
		[ "$status" -eq 125 ]
		[ "$(jq -r .exit.reason "$DONE/result")" = lost ]
		grep -q 'its broker exited' "$CUSTODY_HOME/err"
	done
}

@test "ISO-8: with the supervisor its broker and the tools are gone" {
	tools "$(tool hang "[\"/bin/sh\",\"-c\",\"echo \$\$ >$DONE/pid; exec sleep 1000\"]" '{"timeout": "1h"}')"
	profile hang
	"$CUSTODY" run --profile "$PROFILE" -- /run/custody/custody-call hang >"$CUSTODY_HOME/out" 2>&1 &
	RUN_PID=$!
	wait_until test -s "$DONE/pid"
	broker=$(pgrep -x custody-broker -P $RUN_PID)
	kill -9 $RUN_PID
	wait_until is_gone "$broker"
	wait_until is_gone "$(cat "$DONE/pid")"
	"$CUSTODY" recover >/dev/null
	[ "$(records session.end .d.reason)" = '"lost"' ]
}

@test "LANE-6: a tool of the other lane, or without a class, is refused, and nothing starts" {
	tools "$(tool deploy '["/bin/true"]' '{"network": "prod"}')"
	profile deploy
	custody_run --profile "$PROFILE" -- touch "$DONE/ran"
	assert_status 116
	assert_stderr_has "'deploy'"
	[[ $stderr == *prod* && $stderr == *sandbox* ]]
	tools "$(tool deploy '["/bin/true"]' | jq 'del(.network)')"
	run --separate-stderr "$CUSTODY" run --profile "$PROFILE" -- true
	assert_status 125
	assert_stderr_has "needs 'network'"
}

@test "ISO-9: tools that are not implemented, or not declared, are refused by name" {
	tools "$(tool send '["/bin/true"]' '{"export": true}')"
	local name
	for name in send git.push rest undeclared; do
		profile "$name"
		custody_run --profile "$PROFILE" -- sh -c 'echo RAN'
		assert_status 125
		assert_stderr_has "'$name'"
		[[ $output != *RAN* ]]
	done
	profile ping
	run --separate-stderr "$CUSTODY" bundle --profile "$PROFILE" -o "$CUSTODY_HOME/bundle" -- true
	assert_status 125
	assert_stderr_has broker
	[ ! -e "$CUSTODY_HOME/bundle" ]
}

@test "ISO-9: a tool that the command or another user could change is refused, and nothing starts" {
	local place=$CUSTODY_HOME/place mode
	mkdir "$place"
	script=$'#!/bin/sh\necho safe\n'
	printf '%s' "$script" | tee "$CUSTODY_HOME/work/tool.sh" "$place/tool.sh" >/dev/null
	chmod 755 "$CUSTODY_HOME/work/tool.sh" "$place/tool.sh"
	ln -s "$CUSTODY_HOME/work/tool.sh" "$place/link"
	printf '#! %s -x\n' "$CUSTODY_HOME/work/tool.sh" >"$place/interpreted"
	chmod 755 "$place/interpreted"
	# As a program, by a link, as an interpreter, and as a script, also one that the command would have to write first; also where the command writes to an overlay.
	for mode in rw overlay; do
		for exec in "[\"$CUSTODY_HOME/work/tool.sh\"]" "[\"$place/link\"]" "[\"$place/interpreted\"]" \
			"[\"/bin/sh\",\"$CUSTODY_HOME/work/tool.sh\"]" "[\"/bin/sh\",\"$CUSTODY_HOME/work/./later/tool.sh\"]"; do
			tools "$(tool hello "$exec")"
			suite_profile tools "$(jq -n --arg mode $mode '{broker: {tools: ["hello"]}, workspace: {mode: $mode},
				enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}')"
			inside 'open("started", "w")'
			[ "$status" -ne 0 ]
			[[ $stderr == *"tool 'hello': '"*"which the command may change"* ]]
			[ ! -e "$CUSTODY_HOME/work/started" ]
		done
	done
	[ -z "$(records session.intent)" ]
	# What a link leads to could be created.
	ln -s "$CUSTODY_HOME/work/nothing" "$place/dangling"
	tools "$(tool hello "[\"/bin/sh\",\"$place/dangling\"]")"
	inside 'open("started", "w")'
	[ "$status" -ne 0 ]
	[[ $stderr == *"tool 'hello': '$place/dangling'"* ]]
	# A script whose interpreter is missing is not executed, also if that appears.
	printf '#!%s/sh\n' "$CUSTODY_HOME/place-of-later" >"$place/waiting"
	chmod 755 "$place/waiting"
	tools "$(tool hello "[\"$place/waiting\"]")"
	inside 'assert call("hello") == ["tool-failed"]'
	assert_status 0
	# A directory of the worktree may be an argument.
	tools "$(tool hello "[\"/bin/ls\",\"$CUSTODY_HOME/work\"]")"
	inside 'assert "tool.sh" in call("hello")'
	assert_status 0
	# Writable through a mount, or by other users.
	tools "$(tool hello "[\"$place/tool.sh\"]")"
	inside 'assert call("hello") == "safe\n"'
	assert_status 0
	inside -v "$place:/place:rw" 'open("started", "w")'
	[ "$status" -ne 0 ]
	[[ $stderr == *"tool 'hello': "*"'$place', which the command may change"* ]]
	chmod 777 "$place"
	inside 'open("started", "w")'
	[ "$status" -ne 0 ]
	[[ $stderr == *"tool 'hello': '$place' is writable by other users"* ]]
	[ ! -e "$CUSTODY_HOME/work/started" ]
}

@test "ISO-12: a variable of the host reaches the tool that names it, and neither sandbox nor records" {
	tools "$(tool use "[\"/bin/sh\",\"-c\",\"printenv SECRET_FOR_TOOL >$DONE/got; env | cut -d= -f1 | sort >$DONE/names\"]" '{"env": ["SECRET_FOR_TOOL"]}')"
	profile use
	export OTHER_SECRET=not-for-it
	custody_run --profile "$PROFILE" -- true
	assert_status 125
	assert_stderr_has "'SECRET_FOR_TOOL'"
	export SECRET_FOR_TOOL=swordfish-4711
	printf planted-0815 >"$CUSTODY_HOME/work/planted"
	inside 'import os
assert "SECRET_FOR_TOOL" not in os.environ
assert call("use", {"x": open("planted").read()}) == ""'
	assert_status 0
	[ "$(cat "$DONE/got")" = swordfish-4711 ]
	[ "$(grep -cx OTHER_SECRET "$DONE/names")" -eq 0 ]
	run grep -rlE 'swordfish-4711|planted-0815' "$CUSTODY_ROOT"
	[ -z "$output" ]
}

@test "ISO-9: calls are in the session's own chain as well, and an intent comes before its result" {
	SANDBOX='{"timing_min_delay_ms": 0}' tools
	inside 'call("note.write", {"text": "a"}); call("nothing"); raise SystemExit(3)'
	assert_status 3
	chain=$(find "$CUSTODY_ROOT" -path '*forensics*' -name audit.ndjson)
	[ "$(jq -r .k "$chain" | grep '^tool' | tr '\n' ' ')" = 'tool.call tool.result tool.refused ' ]
	[ "$(records 'tool.call' .d.level)" = '"A"' ]
	"$CUSTODY" ledger verify >/dev/null
	[ "$(jq -r .text "$CUSTODY_ROOT"/sandbox/sessions/*/notes.ndjson)" = a ]
}

@test "ISO-9: many requests at once have their answers and records in order, also without a delay" {
	SANDBOX='{"timing_min_delay_ms": 0}' tools
	inside 'from socket import SHUT_WR
s = connect()
lines = []
for i in range(100):
    lines += [line("ping"), line("note.write", {"text": str(i)}) if i % 10 == 0 else line("nothing"), line("ping")]
s.sendall(b"".join(lines[:-1]) + lines[-1][:20])
s.sendall(lines[-1][20:])
s.shutdown(SHUT_WR)
text = b""
while part := s.recv(65536):
    text += part
replies = [json.loads(x) for x in text.splitlines()]
for i in range(0, 300, 3):
    assert [r.get("data", r.get("code")) for r in replies[i:i + 3:2]] == ["pong", "pong"]
    assert replies[i + 1]["ok"] == (i % 30 == 0)
assert sum(r["ok"] for r in replies) == 210 and len(replies) == 300'
	assert_status 0
	[ "$(records tool.call .d.call | jq -s '. == [range(1; 211)]')" = true ]
	[ "$(records tool.result .d.call | jq -s '. == [range(1; 211)]')" = true ]
	[ "$(records tool.refused | wc -l)" -eq 90 ]
	[ "$(jq -r .text "$CUSTODY_ROOT/sandbox/sessions/$(custody_result .session)/notes.ndjson" | tr '\n' ' ')" = '0 10 20 30 40 50 60 70 80 90 ' ]
	"$CUSTODY" ledger verify
}

@test "ISO-9: a call that cannot be recorded is not made" {
	tools "$(tool act "[\"/bin/touch\",\"$DONE/acted\"]")"
	profile act ping
	mkfifo "$CUSTODY_HOME/go"
	cat >"$CUSTODY_HOME/script" <<-'EOF'
		from broker_client import *
		print("ready", flush=True)
		input()
		print(call("act"))
		print(call("ping"))
	EOF
	cp "$CUSTODY_HOME/script" "$CUSTODY_HOME/work/script.py"
	"$CUSTODY" run --profile "$PROFILE" -- python3 -B script.py <"$CUSTODY_HOME/go" >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" &
	RUN_PID=$!
	exec {go}>"$CUSTODY_HOME/go"
	wait_until grep -q ready "$CUSTODY_HOME/out"
	# Records were removed: nothing is appended until `custody ledger repair`.
	segment=$(find "$CUSTODY_ROOT/sandbox/ledger" -name '*.ndjson')
	cp "$segment" "$CUSTODY_HOME/kept"
	: >"$segment"
	echo >&"$go"
	exec {go}>&-
	wait_until eval '[ "$(wc -l <"$CUSTODY_HOME/out")" -eq 3 ]'
	cat "$CUSTODY_HOME/kept" >"$segment"
	wait $RUN_PID || true
	[ "$(grep -cxF "['ledger']" "$CUSTODY_HOME/out")" -eq 2 ]
	[ ! -e "$DONE/acted" ]
}

@test "custody-call: data on stdout, a refusal on stderr, and exit statuses of its own" {
	custody_run --profile "$PROFILE" -- sh -c 'C=/run/custody/custody-call
		$C ping; echo "$?"
		printf "{\n\"text\": \"a\"\n}\n" | $C note.write -; echo "$?"
		$C nothing; echo "$?"
		$C note.write "{\"text\": 7}"; echo "$?"
		$C ping "{" ; echo "$?"
		$C ; echo "$?"
		$C ping a b; echo "$?"
		head -c 300000 /dev/zero | $C ping -; echo "$?"'
	assert_status 0
	[ "${lines[*]}" = '"pong" 0 {} 0 1 1 1 64 64 64' ]
	assert_stderr_has 'custody-call: tool: '
	suite_profile plain '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	cp "$(dirname "$CUSTODY")/../libexec/custody/custody-call" "$CUSTODY_HOME/work/" 2>/dev/null || skip "not an installed build"
	custody_run --profile "$PROFILE" -- ./custody-call ping
	assert_status 125
	assert_stderr_has 'no broker'
}
