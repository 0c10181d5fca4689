# SPDX-License-Identifier: GPL-2.0-or-later
# Governed containers of podman or docker whose profile has a broker: calls from inside, and the ends of broker and warden.
# shellcheck disable=SC2016 # scripts for the inside
load lib.bash
load docker.bash
load ../../contrib/bats/custody.bash
load governed.bash

CALL=/run/custody/custody-call

setup_file() { governed_setup_file; }
teardown_file() { governed_teardown_file; }
setup() {
	governed_setup
	mkdir -p "$SUITE/tools" "$SUITE/called"
	rm -f "$SUITE"/called/*
	# Its parameters, on standard input, are where the suite can see them.
	printf '#!/bin/sh\ncat >"%s/called/$$"\necho "{\\"done\\":true}"\n' "$SUITE" >"$SUITE/tools/note"
	rm -f "$SUITE/slow.pid"
	# The test waits for this file, and for the end of the process that it names.
	printf '#!/bin/sh\necho $$ >"%s/slow.pid"\nexec sleep 1000\n' "$SUITE" >"$SUITE/tools/slow"
	chmod 755 "$SUITE/tools" "$SUITE"/tools/*
	profile tools '{"broker":{"tools":["ping","note","slow","asked"],"max_tool_calls_per_session":20}}'
	declares
}
teardown() { governed_teardown; }

# declares [JSON]: custody.json with the tools of this suite; JSON is merged into the declaration of `note`.
declares() {
	local more=${1:-{\}}
	configure "$(jq -n --arg dir "$SUITE/tools" --argjson more "$more" --argjson explicit "{$EXPLICIT}" '
		def tool($name; $program; $level): {name: $name, exec: [$dir + "/" + $program], level: $level, network: "test"};
		{sandbox: {enabled: true, profile: "tools"}, security_profile: "balanced",
			rules: [{effect: "allow", profile: "tools"}],
			broker: {tools: [tool("note"; "note"; "A") + $more, tool("slow"; "slow"; "A"), tool("asked"; "note"; "B")]}} + $explicit')"
}
calls() { # how often a tool ran
	find "$SUITE/called" -type f | wc -l
}
box() { # [OPTION...] SCRIPT
	run "$ENGINE" run --rm "${@:1:$#-1}" box sh -c "${*: -1}"
}
brokers() {
	pgrep -x custody-broker || true
}
no_broker() {
	[ -z "$(brokers)" ]
}

@test "ISO-8: inside are socket, token and custody-call, and calls are recorded (sample)" {
	box 'stat -c "%a %u %F" /run/custody /run/custody/broker.sock /run/custody/token '$CALL'
		'$CALL' ping && '$CALL' note "{\"text\":\"one\"}"
		grep " /run/custody " /proc/mounts
		env | grep -cF "$(cat /run/custody/token)"'
	has '700 0 directory' '600 0 socket' '400 0 regular file' '555 0 regular file' '"pong"' '{"done":true}' " /run/custody tmpfs ro,nosuid,nodev"
	is 0 "${lines[-1]}"
	is '{"text":"one"}' "$(cat "$SUITE"/called/*)"
	is 2 "$(records tool.call)"
	is 2 "$(records tool.result)"
	is 'note A 2' "$(last tool.call '"\(.d.tool) \(.d.level) \(.d.call)"')"
	ended_as exited 1
	run "$CUSTODY" show "$(last session.end .session)"
	has '2 calls, 0 refused' 'note, call 2'
}
@test "DOOR-6: a container has custody-mcp, and a call of level B names its request" {
	local says='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"note","arguments":{"text":"one"}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"asked","arguments":{}}}'
	# It ends with its input, which therefore stays open until both calls are answered.
	box -e "SAYS=$says" 'stat -c "%a %u %F" /run/custody/custody-mcp; mkfifo /tmp/in
		/run/custody/custody-mcp </tmp/in >/tmp/out & exec 3>/tmp/in; echo "$SAYS" >&3
		until grep -q "\"id\":3" /tmp/out && grep -q "\"id\":4" /tmp/out; do sleep 0.1; done
		exec 3>&-; wait; cat /tmp/out'
	has '555 0 regular file' '"protocolVersion":"2025-06-18"' '"name":"note","inputSchema":{"type":"object"}' \
		'"id":3,"result":{"content":[{"type":"text","text":"{\"done\":true}"}],"isError":false}' \
		'"text":"approval: level B needs approval of this call: on the host: custody approve '
	is '{"text":"one"}' "$(cat "$SUITE"/called/*)"
	is 1 "$(records tool.call)"
}
@test "ISO-8: another user inside has no access, and one of the container's own is served" {
	box --user 1000:1000 'stat -c "%a %u %g" /run/custody /run/custody/token; '$CALL' ping'
	has '700 1000 1000' '400 1000 1000' '"pong"'
	background one
	is '"pong"' "$("$ENGINE" exec one $CALL ping)"
	run "$ENGINE" exec --user 1000 one $CALL ping
	[ "$status" -ne 0 ]
	is 2 "$(records tool.call)"
}
@test "ISO-8: in a user namespace of the container its own ids have the socket" {
	[ "$ENGINE" = podman ] || skip 'docker maps all containers or none'
	box --uidmap 0:200000:1000 --gidmap 0:300000:1000 --user 7:8 'stat -c "%a %u %g" /run/custody /run/custody/token; '$CALL' ping'
	has '700 7 8' '400 7 8' '"pong"'
}
@test "ISO-8: each start has a token of its own, in the same subject" {
	local before
	asks_for_tools
	run "$ENGINE" run --name one box cat /run/custody/token
	assert_denied
	"$ENGINE" rm -f one >/dev/null 2>&1 || true
	approve --uses 9
	run "$ENGINE" run --name one box cat /run/custody/token
	is 0 "$status"
	before=$output
	run "$ENGINE" start -a one
	is 0 "$status"
	[ "$output" != "$before" ]
	is 64 "${#output}"
}
asks_for_tools() {
	jq '.rules[0].effect = "ask"' /etc/custody/custody.json >"$SUITE/ask" && cp "$SUITE/ask" /etc/custody/custody.json
}
@test "ISO-8: a wrong token, and a process of the host with the right one, are refused" {
	local token pid
	background one
	pid=$(pid_of one)
	token=$(cat "/proc/$pid/root/run/custody/token")
	run python3 "$HERE/../lib/broker_say.py" "/proc/$pid/root/run/custody/broker.sock" "$token"
	has '"peer"'
	# In its pid namespace, but not in its cgroup.
	run nsenter --target "$pid" --pid -- python3 "$HERE/../lib/broker_say.py" "/proc/$pid/root/run/custody/broker.sock" "$token"
	has '"peer"'
	run nsenter_container "$pid" "$HERE/../lib/broker_say.py" "/proc/$pid/root/run/custody/broker.sock" "${token/[0-9]/x}"
	has '"token"'
	is 'token' "$(last tool.refused .d.refused)"
	run nsenter_container "$pid" "$HERE/../lib/broker_say.py" "/proc/$pid/root/run/custody/broker.sock" "$token"
	has '"pong"'
	is 1 "$(records tool.call)"
}
# As one of the container's processes, with python of the host: in its cgroups and pid namespace.
nsenter_container() { # PID PROGRAM...
	local pid=$1 file
	shift
	(
		while IFS=: read -r _ name path; do
			file=/sys/fs/cgroup/${name#name=}$path/cgroup.procs
			[ ! -e "$file" ] || echo "$BASHPID" >"$file"
		done <"/proc/$pid/cgroup"
		exec nsenter --target "$pid" --pid -- python3 "$@"
	)
}
@test "ISO-8: level B asks, the approval is for this call of this container's subject" {
	box "$CALL asked '{\"n\":1}'"
	[ "$status" -ne 0 ]
	has approval 'custody approve'
	is 0 "$(calls)"
	CUSTODY_REQUEST=$(pending '.requests[0].id')
	approve
	box "$CALL asked '{\"n\":1}'"
	is 0 "$status"
	is 1 "$(calls)"
	box "$CALL asked '{\"n\":2}'"
	[ "$status" -ne 0 ]
	is 1 "$(calls)"
}
@test "ISO-9: the budget ends, and the session with it as budget" {
	profile tools '{"broker":{"tools":["ping"],"max_tool_calls_per_session":2}}'
	box "$CALL ping; $CALL ping; $CALL ping; true"
	has budget
	is 2 "$(records tool.call)"
	ended_as budget 0
}
@test "ISO-10: a secret in parameters is refused, and the session ends as inspection" {
	# In parts: the container's own command line is no parameter of a call.
	box 'a=ghp_a1B2c3D4e b=5F6g7H8i9J0kLmNoPqRsTuVwXyZ; '$CALL' note "{\"text\":\"$a$b\"}"; true'
	has inspection secret.
	is 0 "$(calls)"
	ended_as inspection 0
}
@test "GOV-9: tools and their declarations are in the subject" {
	asks_for_tools
	box "$CALL note"
	assert_denied
	approve --uses 9
	box "$CALL note"
	is 0 "$status"
	declares '{"timeout": 7}'
	asks_for_tools
	box "$CALL note"
	assert_denied
	has broker
	is 1 "$(calls)"
}
@test "ISO-7: a killed warden: calls fail closed, its tools end, and the session is lost" {
	local warden
	"$ENGINE" run -d --name one box sh -c "$CALL slow & exec ready"
	until_ok said one ready
	until_ok test -s "$SUITE/slow.pid"
	warden=$(warden_of one)
	kill -STOP "$(backup_of one)"
	kill -9 "$warden"
	until_ok no_broker
	until_ok no_slow
	# The container still runs: its socket has no listener.
	run python3 "$HERE/../lib/broker_say.py" "/proc/$(pid_of one)/root/run/custody/broker.sock" x
	has refused
	kill -CONT "$(pgrep -x custody-warden)"
	until_ok is_over one
	until_ok ended 1
	is 'lost keeper' "$(last session.end '"\(.d.reason) \(.d.source)"')"
}
no_slow() {
	! kill -0 "$(cat "$SUITE/slow.pid")" 2>/dev/null
}
is_over() { # NAME
	is false "$("$ENGINE" inspect -f '{{.State.Running}}' "$1")"
}
ended() { # COUNT
	[ "$(records session.end)" -eq "$1" ]
}
@test "ISO-7: a killed broker: the container is killed, and the session is lost" {
	background one
	kill -9 "$(brokers)"
	until_ok is_over one
	until_ok ended 1
	is 'lost warden' "$(last session.end '"\(.d.reason) \(.d.source)"')"
}
@test "ISO-8: the broker ends with its container" {
	background one
	[ -n "$(brokers)" ]
	"$ENGINE" kill -s TERM one
	is 3 "$("$ENGINE" wait one)"
	until_ok no_broker
	"$ENGINE" rm one
	ended_as exited 3
}
@test "CARD-7: what the directory would collide with is refused by name" {
	mkdir -p "$SUITE/volume/custody"
	box -v "$SUITE/volume:/run" true
	[ "$status" -ne 0 ]
	has "'/run'" 'broker'
	box -v "$SUITE/volume:/run/custody/x" true
	[ "$status" -ne 0 ]
	has "is the broker's"
	box -v "$SUITE/tools:/tools" true
	[ "$status" -ne 0 ]
	has "$SUITE/tools"
	profile tools '{"broker":{"tools":["ping","git.diff"]}}'
	box true
	[ "$status" -ne 0 ]
	has "git.diff" 'not supported in a container'
	profile tools '{"broker":{"tools":["ping","note"]}}'
	is 0 "$(records session.start)"
	box --tmpfs /run --read-only "$CALL ping"
	has pong
}
