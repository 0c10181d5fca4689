#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# custody-mcp with the reference client of MCP: the tools of a session for programs that know nothing of custody.

load ../lib/suite.bash

SDK_VERSION=1.32.2

# Once per run of bats.  Without it these tests fail: nothing else shows that clients of others are served.
setup_file() {
	export MCP_SDK=$BATS_RUN_TMPDIR/mcp-sdk
	chmod a+rx "$BATS_RUN_TMPDIR"
	[ -d "$MCP_SDK" ] || {
		mkdir "$MCP_SDK.new"
		(cd "$MCP_SDK.new" && echo '{"private": true}' >package.json &&
			npm install --ignore-scripts --no-audit --no-fund --no-save --cache "$BATS_RUN_TMPDIR/npm" "@modelcontextprotocol/sdk@$SDK_VERSION")
		chmod -R a+rX "$MCP_SDK.new"
		mv "$MCP_SDK.new" "$MCP_SDK"
	} >&2
}

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
	cp "$BATS_TEST_DIRNAME/../lib/broker_client.py" "$BATS_TEST_DIRNAME/../lib/mcp_client.mjs" "$BATS_TEST_DIRNAME/../lib/mcp_say.py" "$CUSTODY_HOME/work/"
	declare_tools
	profile ping note.write echo deploy
}

# declare_tools [JSON...]: the declarations in custody.json.
declare_tools() {
	suite_ungoverned "$(printf '%s\n' "${@:-$(tool echo '["/bin/cat"]' "$ECHO")$(tool deploy "[\"/bin/sh\",\"-c\",\"cat >>$DONE/deploy\"]" '{"level": "B"}')}" |
		jq -s '{broker: {tools: .}}')"
	own "$CUSTODY_ROOT"
}

ECHO='{"description": "Says it again.", "params": [
	{"name": "text", "type": "string", "required": true, "max_length": 5, "description": "What to say."},
	{"name": "kind", "type": "string", "enum": ["a", "b"]}, {"name": "n", "type": "integer"}, {"name": "loud", "type": "boolean"}]}'

# tool NAME EXEC-JSON [JSON]: one declaration.
tool() {
	jq -cn --arg name "$1" --argjson exec "$2" --argjson more "${3:-{\}}" \
		'{name: $name, exec: $exec, level: "A", network: "test"} + $more'
}

# profile NAME...: a profile with these tools; PROFILE is its file.
profile() {
	suite_profile tools "$(jq -n --arg sdk "$MCP_SDK" --args '{broker: {tools: $ARGS.positional}, filesystem: {ro: [$sdk]},
		enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}' "$@")"
	own "$PROFILE" "$CUSTODY_HOME/work" "$DONE"
}

# client JAVASCRIPT: the reference client inside.
client() {
	custody_run --profile "$PROFILE" -- node mcp_client.mjs "$MCP_SDK" "$1"
}

# says PYTHON: a client that may misbehave.
says() {
	custody_run --profile "$PROFILE" -- python3 -B -c "from mcp_say import *
$1"
}

enter() ( # PID COMMAND...: a process of the host, in the session's cgroup, its pid namespace and a copy of its mounts
	while IFS=: read -r _ name path; do
		for file in /sys/fs/cgroup{/${name#name=},,/unified}$path/cgroup.procs; do
			[ ! -e "$file" ] || echo "$BASHPID" >"$file"
		done
	done <"/proc/$1/cgroup"
	# shellcheck disable=SC2093
	exec nsenter --target "$1" --pid --mount -- unshare --mount --propagation private env --chdir "$CUSTODY_HOME/work" "${@:2}"
)

records() { # KIND [JQ-FILTER]: of the lane's ledger
	"${CUSTODY_AS[@]}" "$CUSTODY" ledger show --json | jq -c "if type == \"object\" and .records then .records[] else . end | select(.k == \"$1\") | ${2:-.}"
}

@test "DOOR-6: the reference client lists and calls the tools of the session" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		client 'const c = await open();
			say(c.getServerVersion().name);
			const { tools } = await c.listTools();
			say(JSON.stringify(tools.map((t) => t.name)));
			say(JSON.stringify(tools[2]));
			say(tools[3].description.includes("approval"), tools[0].annotations.readOnlyHint);
			await c.ping();
			say(await tool(c, "ping", {}));
			say(await tool(c, "note_write", { text: "tests pass" }));
			say(await tool(c, "echo", { text: "h\u00e9\"\\\n", n: 7, loud: true, kind: "b" }));
			await c.close();'
		assert_status 0
		[ "${lines[0]}" = custody ]
		[ "${lines[1]}" = '["ping","note_write","echo","deploy"]' ]
		[ "$(jq -c '[.description, .inputSchema.required, .inputSchema.additionalProperties, .inputSchema.properties.text.maxLength, .inputSchema.properties.kind.enum, .inputSchema.properties.n.type]' <<<"${lines[2]}")" = \
			'["Says it again.",["text"],false,5,["a","b"],"integer"]' ]
		[ "${lines[3]}" = 'true true' ]
		[ "${lines[4]}" = pong ]
		[ "${lines[5]}" = '{}' ]
		[ "$(jq -c . <<<"${lines[6]}")" = '{"kind":"b","loud":true,"n":7,"text":"hé\"\\\n"}' ]
		# Lists are no calls.
		[ "$(records tool.call .d.tool | tr '\n' ' ')" = '"ping" "note.write" "echo" ' ]
		[ "$(find "$CUSTODY_ROOT" -name notes.ndjson -exec cat {} + | jq -r .text)" = 'tests pass' ]
	done
}

@test "DOOR-6: a call of level B is a tool error with the request and the line that approves it, and works after that" {
	local user code
	for user in root user; do
		[ $user = root ] || as_user
		code='const c = await open();
			say(await tool(c, "deploy", { to: "web" }));
			await c.close();'
		client "$code"
		assert_status 0
		[[ $output =~ ^'ERROR approval: level B needs approval of this call: on the host: custody approve '([0-9a-f]{16})\ .* ]]
		[ ! -e "$DONE/deploy" ]
		run "${CUSTODY_AS[@]}" "$CUSTODY" approve --yes "${BASH_REMATCH[1]}"
		assert_status 0
		client "$code"
		[[ $output != *ERROR* ]]
		[ "$(cat "$DONE/deploy")" = '{"to":"web"}' ]
		# One approval, one call.
		client "$code"
		[[ $output == 'ERROR approval: '* ]]
		[ "$(wc -l <"$DONE/deploy")" -eq 1 ]
	done
}

@test "DOOR-6: refusals have the broker's code and text, and the tool does not run" {
	declare_tools "$(tool echo "[\"/bin/sh\",\"-c\",\"cat >>$DONE/echo\"]" "$ECHO")" "$(tool hidden "[\"/bin/touch\",\"$DONE/hidden\"]")"
	profile ping echo
	client 'const c = await open();
		say(await tool(c, "hidden", {}));
		say(await tool(c, "echo", {}));
		say(await tool(c, "echo", { text: "longer" }));
		say(await tool(c, "echo", { text: 7 }));
		say(await tool(c, "echo", { text: "a", kind: "c" }));
		say(await tool(c, "echo", { text: "a", n: 1.5 }));
		say(await tool(c, "echo", { text: "a", more: 1 }));
		say(await tool(c, "ping", { text: "a".repeat(300000) }));
		say(await tool(c, "ping", {}));
		await c.close();'
	assert_status 0
	[[ ${lines[0]} == '-32602 '*'tool: the profile of this session has no such tool' ]]
	[ "${lines[1]}" = "ERROR params: parameter 'text' is missing" ]
	[ "${lines[2]}" = "ERROR params: parameter 'text' is longer than 5 characters" ]
	[ "${lines[3]}" = "ERROR params: parameter 'text' must be of type string" ]
	[[ ${lines[4]} == "ERROR params: parameter 'kind' "* ]]
	[[ ${lines[5]} == 'ERROR request: '* ]]
	[ "${lines[6]}" = "ERROR params: a parameter is not one of the tool's" ]
	[[ ${lines[7]} == 'ERROR failed: the arguments are too long'* ]]
	[ "${lines[8]}" = pong ]
	[ ! -e "$DONE/echo" ] && [ ! -e "$DONE/hidden" ]
	[ "$(records tool.refused .d.refused | tr '\n' ' ')" = '"tool" "params" "params" "params" "params" "request" "params" ' ]
	[ "$(records tool.call .d.tool)" = '"ping"' ]
}

@test "DOOR-6: custody-call --mcp is the same server, and outside of a session it says that there is no broker" {
	client 'const c = await open("/run/custody/custody-call", "--mcp");
		say((await c.listTools()).tools.length, await tool(c, "ping", {}));
		await c.close();'
	assert_status 0
	[ "$output" = '4 pong' ]
	custody_run --profile "$PROFILE" -- /run/custody/custody-mcp more
	assert_status 64
	suite_profile plain '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	cp "$(dirname "$CUSTODY")/../libexec/custody/custody-mcp" "$CUSTODY_HOME/work/" 2>/dev/null || skip "not an installed build"
	custody_run --profile "$PROFILE" -- ./custody-mcp
	assert_status 125
	assert_stderr_has 'no broker'
}

@test "DOOR-6: more tools than a page are all listed" {
	local i names=() declared=()
	for i in $(seq 60); do
		names+=("t.$i")
		declared+=("$(tool "t.$i" '["/bin/true"]')")
	done
	declare_tools "${declared[@]}"
	profile "${names[@]}"
	client 'const c = await open();
		let cursor, all = [], pages = 0;
		do {
			const r = await c.listTools({ cursor });
			all.push(...r.tools.map((t) => t.name));
			cursor = r.nextCursor;
			pages++;
		} while (cursor);
		say(pages, all.length, new Set(all).size, all[59]);
		await c.close();'
	assert_status 0
	[ "$output" = '2 60 60 t_60' ]
}

@test "DOOR-6: tools that have one name for MCP are refused by name before anything starts" {
	declare_tools "$(tool note_write '["/bin/true"]')"
	profile note.write note_write
	custody_run --profile "$PROFILE" -- touch "$DONE/ran"
	[ "$status" -ne 0 ]
	assert_stderr_has "tools 'note.write' and 'note_write'"
	[ ! -e "$DONE/ran" ]
}

@test "DOOR-6: many calls at once are all answered" {
	client 'const c = await open();
		const all = await Promise.all([...Array(30).keys()].map((n) => tool(c, "echo", { text: "a", n })));
		say(all.every((t, n) => JSON.parse(t).n === n));
		await c.close();'
	assert_status 0
	[ "$output" = true ]
	[ "$(records tool.call .d.tool | sort | uniq -c | tr -s ' ')" = ' 30 "echo"' ]
}

@test "DOOR-6: a cancelled call ends its tool, and so does the end of the client" {
	touch "$DONE/pid"
	declare_tools "$(tool hang "[\"/bin/sh\",\"-c\",\"echo \$\$ >>$DONE/pid; exec sleep 1000\"]" '{"timeout": "1h"}')" \
		"$(tool started "[\"/bin/sh\",\"-c\",\"wc -l <$DONE/pid\"]" '{"read": true}')"
	profile ping hang started
	client 'const c = await open();
		const until = async (n) => { while (await tool(c, "started", {}) != n) await new Promise((r) => setTimeout(r, 50)); };
		const stop = new AbortController();
		const first = tool(c, "hang", {}, { signal: stop.signal });
		await until("1");
		stop.abort("enough");
		say((await first).includes("enough"), await tool(c, "ping", {}));
		void tool(c, "hang", {});
		await until("2");
		await c.close();'
	assert_status 0
	[ "$output" = 'true pong' ]
	for pid in $(cat "$DONE/pid"); do
		wait_until eval '[ ! -e "/proc/$pid" ]'
	done
	[ "$(records tool.result 'select(.d.tool == "hang") | .d.result' | sort | uniq -c | tr -s ' ')" = ' 2 "gone"' ]
}

@test "DOOR-6: older revisions, and the one without initialize" {
	local user
	for user in root user; do
		[ $user = root ] || as_user
		says 'for r in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]:
    s = Server()
    assert s.start(r)["protocolVersion"] == r
    assert s.call("ping") == "pong"
    batch = [{"jsonrpc": "2.0", "id": 7, "method": "ping"}, {"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "ping"}}]
    s.raw(json.dumps(batch))
    a = s.read()
    if r == "2025-03-26":
        assert [x["id"] for x in a] == [7, 8] and a[1]["result"]["content"][0]["text"] == "pong", a
    else:
        assert a["error"]["code"] == -32600, a
    assert s.end() == 0
s = Server()
assert s.ask("tools/list")["code"] == -32602
r = s.ask("server/discover", meta())
assert r["supportedVersions"] == ["2026-07-28"] and r["resultType"] == "complete", r
r = s.ask("tools/list", meta())
assert [t["name"] for t in r["tools"]][1] == "note_write" and r["cacheScope"] == "private", r
assert s.call("ping", **meta()) == "pong"
assert s.ask("tools/list", meta("2999-01-01"))["code"] == -32022
assert s.end() == 0'
		assert_status 0
	done
}

@test "DOOR-6: a line that is no message is refused, and the server goes on; a message without an end ends it" {
	says 's = Server()
s.start()
for bad, code in [(b"nonsense", -32700), (b"{", -32700), (b"\xff", -32700), (b"[" * 100, -32700), (b"{\"a\":\"\0\"}", -32700), (b"7", -32600),
                  (b"{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"ping\"}", -32600), (b"[]", -32600)]:
    s.raw(bad)
    r = s.read()
    assert r["error"]["code"] == code and "id" not in r, (bad, r)
assert s.ask("resources/list")["code"] == -32601
s.raw(b"")
s.raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/other\"}")
s.raw(b" {\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}\r")
assert s.read() == {"jsonrpc": "2.0", "id": "x", "result": {}}
# 4 MiB of arguments are read, and refused; 9 MiB are not.
assert s.call("ping", {"x": "a" * (4 << 20)})[0] == "ERROR"
assert s.call("ping") == "pong"
try:
    s.raw(b"{" + b" " * (9 << 20))
except BrokenPipeError:
    pass
assert s.read()["error"]["code"] == -32600
assert s.read() is None and s.p.wait(60) == 125'
	assert_status 0
	assert_stderr_has 'longer than 8 MiB'
}

@test "DOOR-6: a list needs the token, is no call, and uses no budget" {
	suite_profile tools '{"broker": {"tools": ["ping"], "max_tool_calls_per_session": 1},
		"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	says 'from broker_client import ask as request, connect, token
def listed(**more):
    with connect() as s:
        return request(s, json.dumps({"token": token(), "list": "tools", **more}).encode() + b"\n")
for n in range(20):
    r = listed()
    assert r["ok"] and [t["name"] for t in r["data"]] == ["ping"], r
assert listed(token="0" * 64)["code"] == "token"
assert listed(list="other")["code"] == listed(tool="ping")["code"] == listed(params={})["code"] == "request"
s = Server()
s.start()
assert s.call("ping") == "pong"
assert s.call("ping")[1].startswith("budget: ")
assert len(s.ask("tools/list")["tools"]) == 1'
	assert_status 0
	[ "$(records tool.call .d.tool)" = '"ping"' ]
	[ "$(records tool.refused .d.refused | sort | uniq -c | tr -s ' ' | tr '\n' ' ')" = ' 1 "budget"  3 "request"  1 "token" ' ]
}

@test "DOOR-6: with a wrong token there is neither a list nor a call" {
	local id pid
	[ "$(id -u)" -eq 0 ] || skip "needs root: enters a session from outside"
	echo 0000000000000000000000000000000000000000000000000000000000000000 | tr -d '\n' >"$CUSTODY_HOME/work/wrong"
	"$CUSTODY" run --profile "$PROFILE" -d -- sleep 1000 >"$CUSTODY_HOME/id"
	id=$(cat "$CUSTODY_HOME/id")
	pid=$("$CUSTODY" show "$id" --json | jq '[.records[] | select(.k == "session.start")][0].d.pid')
	cat >"$CUSTODY_HOME/work/enter" <<-'EOT'
		mount --bind wrong /run/custody/token
		exec python3 -B -c 'from mcp_say import *
		s = Server()
		s.start()
		r = s.ask("tools/list")
		assert r["code"] == -32603 and r["message"].startswith("token: "), r
		r = s.call("note_write", {"text": "x"})
		assert r[0] == "ERROR" and r[1].startswith("token: "), r'
	EOT
	run enter "$pid" sh ./enter
	echo "$output"
	[ "$status" -eq 0 ]
	"$CUSTODY" stop "$id"
	[ "$(records tool.refused .d.refused | sort | uniq -c | tr -s ' ')" = ' 2 "token"' ]
	[ -z "$(find "$CUSTODY_ROOT" -name notes.ndjson)" ]
}
