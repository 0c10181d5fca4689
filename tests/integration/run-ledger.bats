#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What a run leaves in the ledger, and that nothing runs without it.

load ../lib/suite.bash

setup() {
	suite_setup
	place
}
place() {
	SEG=$CUSTODY_ROOT/sandbox/ledger/00000000000000000000.ndjson
}
teardown() {
	[ -z "${PID:-}" ] || kill "$PID" 2>/dev/null || true
	custody_teardown
}

# records FILTER: of all records, as jq -c prints them.
records() {
	jq -c "$1" "$SEG"
}

kinds() { # [SESSION]
	jq -r --arg s "${1:-}" 'select(.session and ($s == "" or .session == $s)) | .k' "$SEG" | paste -sd ' '
}

# whole: the chain verifies, and every session in it has an end.
whole() {
	local verdict
	verdict=$("${CUSTODY_AS[@]}" "$CUSTODY" ledger verify --json) || custody_fail "ledger verify: status $?, $verdict" || return
	jq -e '.completeness.verdict == "ok"' <<<"$verdict" >/dev/null || custody_fail "not complete: $verdict"
}

# start NAME [OPTIONS] -- CMD: in the background; returns when the command runs, with its PID.
start() {
	local name=$1
	shift
	mkfifo "$CUSTODY_HOME/$name.events"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --status-fd 5 "$@" 5>"$CUSTODY_HOME/$name.events" \
		>/dev/null 2>"$CUSTODY_HOME/$name.err" </dev/null 3>&- &
	PID=$!
	exec 6<"$CUSTODY_HOME/$name.events"
	SESSION=$(grep -m1 '"started"' <&6 | jq -r .session)
}

# die NAME -- CMD: its supervisor is killed while CMD runs.
die() {
	start "$@"
	kill -9 "$PID"
	wait "$PID" || true
	exec 6<&-
}

# on_small_disk SCRIPT: with CUSTODY_ROOT on a tmpfs of 2 MiB that SCRIPT may fill.
on_small_disk() {
	run --separate-stderr unshare -m sh -c '
		mount -t tmpfs -o size=2m tmpfs "$CUSTODY_ROOT" || exit 99
		"$CUSTODY" ledger init >/dev/null || exit 99
		fill() { dd if=/dev/zero of="$CUSTODY_ROOT/full" bs=4k 2>/dev/null; true; }
		'"$1" sh
}

@test "GOV-1: GOV-12: a run is intent, start and end; the records have command, user, place and exit" {
	custody_run --agent bob --worker w7 --issue 42 -- sh -c 'exit 3'
	assert_status 3
	[ "$(kinds)" = "session.intent session.start session.end" ]
	records 'select(.k == "session.intent")' | jq -e --arg cwd "$PWD" '
		.status == "ok" and .agent == "bob" and .worker == "w7" and .d.issue == "42" and .d.action == "run"
		and .d.command == ["sh", "-c", "exit 3"] and .d.profile == "offline" and .d.lane == "sandbox"
		and .d.sandbox == true and .d.cwd == $cwd and (.d.approval | has("granted"))'
	records 'select(.k == "session.start")' | jq -e '
		.agent == "bob" and .worker == "w7" and (.d.pid > 1) and (.d.layers | index("seccomp=proven"))'
	records 'select(.k == "session.end")' | jq -e '
		.status == "abnormal" and .agent == "bob" and .worker == "w7" and .d.reason == "exited" and .d.source == "init"
		and .d.code == 3 and .d.abnormal == true and .d.wall_ms >= 0 and .d.audit.records >= 3 and (.d.audit.head | length == 64)'
	[ "$(custody_result .session)" = "$(records .session | sed 1d | tr -d '"' | sort -u)" ]
	whole
}

@test "GOV-12: as a user, too" {
	suite_setup_user
	place
	printf '{"schema":1,"name":"p","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' >"$CUSTODY_HOME/p.json"
	custody_run --agent bob -p "$CUSTODY_HOME/p.json" -- true
	assert_status 0
	[ "$(kinds)" = "session.intent session.start session.end" ]
	whole
}

@test "ledger: records of one session, of one agent" {
	custody_run --agent bob -- true
	local bob
	bob=$(custody_result .session)
	custody_run --agent eve -- true
	run -0 --separate-stderr "$CUSTODY" ledger show --json --agent bob
	jq -e --arg s "$bob" '[.records[].session] | length >= 3 and unique == [$s]' <<<"$output"
	jq -e '[.records[].agent] | unique == ["bob"]' <<<"$output"
	run -0 --separate-stderr "$CUSTODY" ledger show --json --session "$bob" --kind session.end
	jq -e --arg s "$bob" '[.records[].session] == [$s]' <<<"$output"
	[ "$("$CUSTODY" ledger export --agent eve | jq -s '[.[].agent] | unique == ["eve"]')" = true ]
}

@test "run: the session's own chain is anchored in its end, and can be checked against it" {
	# Without records of what the command executes, which may still come.
	echo '{"schema":1,"name":"p","extends":"offline","audit":{"trace":[]}}' >"$CUSTODY_HOME/p.json"
	start own -p "$CUSTODY_HOME/p.json" -- sleep 1000
	cp "$CUSTODY_ROOT/sandbox/sessions/$SESSION/audit.ndjson" "$CUSTODY_HOME/audit.ndjson"
	[ "$(jq -r 'select(.k | startswith("session.")) | .k' "$CUSTODY_HOME/audit.ndjson" | paste -sd ' ')" = "session.intent session.start" ]
	jq -es '[.[].seq] == [range(length)]' "$CUSTODY_HOME/audit.ndjson"
	run "$CUSTODY" ledger verify "$CUSTODY_HOME/audit.ndjson"
	assert_status 4
	kill -9 "$PID"
	wait "$PID" || true
	exec 6<&-
	custody_run -- true
	[ "$(records 'select(.k == "session.end")' | head -n 1 | jq -r .d.audit.head)" = "$(tail -n 1 "$CUSTODY_HOME/audit.ndjson" | jq -r .h)" ]
}

@test "GOV-1: every refusal is a record with its reason, and nothing was made" {
	local p=$CUSTODY_HOME/p.json
	refused() { # ID OPTIONS... -- CMD
		local id=$1
		shift
		custody_run --agent bob "$@"
		assert_status 125
		[[ $output != *RAN* ]] || custody_fail "it ran"
		tail -n 1 "$SEG" | jq -e --arg id "$id" '.k == "session.refused" and .status == "denied" and .agent == "bob"
			and .d.refused == $id and (.d.why | length > 10) and .d.command[0] == "echo"' || custody_fail "no record '$id': $(tail -n 1 "$SEG")"
		[ ! -d "$CUSTODY_ROOT/run/sessions" ] || [ -z "$(ls -A "$CUSTODY_ROOT/run/sessions")" ]
		[ -z "$(find "$CUSTODY_ROOT/sandbox/open" -type f 2>/dev/null)" ]
	}
	refused profile -p nowhere -- echo RAN
	echo '{"schema":1,"name":"p",' >"$p"
	refused profile -p "$p" -- echo RAN
	echo '{"schema":1,"name":"p","extends":"offline","network":{"mode":"host"}}' >"$p"
	refused profile -p "$p" -- echo RAN
	echo '{"schema":1,"name":"p","extends":"offline","process":{"init":false}}' >"$p"
	refused unsupported -p "$p" -- echo RAN
	refused subject -v /nowhere:/x -- echo RAN
	refused subject -v "$CUSTODY_ROOT:/x:rw" -- echo RAN
	CUSTODY_LIBEXEC=$CUSTODY_HOME refused installation -- echo RAN
	whole
}

@test "GOV-1: a run that cannot be set up after the intent is refused in the same session" {
	local src=$BATS_TEST_DIRNAME/../../src
	mkdir "$CUSTODY_HOME/libexec"
	# An init that says nothing, and one that says that nothing holds.
	cc -static -w -o "$CUSTODY_HOME/libexec/custody-init" -x c - <<<'int main(void) { return 0; }'
	CUSTODY_LIBEXEC=$CUSTODY_HOME/libexec custody_run -- echo RAN
	assert_status 125
	[ "$(kinds)" = "session.intent session.refused" ]
	[ "$(tail -n 1 "$SEG" | jq -r .d.refused)" = setup-failed ]
	cc -static -w -D_GNU_SOURCE "-iquote$src" -o "$CUSTODY_HOME/libexec/custody-init" -x c - <<-'C'
		#include <sys/socket.h>
		#include <unistd.h>
		#include "layer/init-proto.h"
		int main(void)
		{
			struct init_msg m = { .magic = INIT_PROTO_MAGIC, .type = INIT_MSG_REPORT };
			send(INIT_FD, &m, sizeof(m), 0);
			recv(INIT_FD, &m, sizeof(m), 0);
			return 0;
		}
	C
	# It takes no filter for what would be observed.
	echo '{"schema":1,"name":"p","extends":"offline","audit":{"trace":[]}}' >"$CUSTODY_HOME/p.json"
	CUSTODY_LIBEXEC=$CUSTODY_HOME/libexec custody_run -p "$CUSTODY_HOME/p.json" -- echo RAN
	assert_status 125
	[[ $output != *RAN* ]]
	[ "$(tail -n 1 "$SEG" | jq -r .d.refused)" = layer ]
	[[ $(tail -n 1 "$SEG" | jq -r .d.why) == *user-namespace* ]]
	[ "$(kinds)" = "session.intent session.refused session.intent session.refused" ]
	whole
}

@test "GOV-1: limits that cannot be enforced are a record" {
	skip_without root # only root can unmount
	run_without_cgroups -- echo RAN
	assert_status 125
	[[ $output != *RAN* ]]
	[ "$(tail -n 1 "$SEG" | jq -r .d.refused)" = limits ]
	whole
}

@test "run: a command that is not there, or not executable, has started and ended" {
	custody_run -- /nowhere/at/all
	assert_status 127
	custody_run -- /etc/passwd
	assert_status 126
	[ "$(kinds)" = "session.intent session.start session.end session.intent session.start session.end" ]
	[ "$(records 'select(.k == "session.end") | .d.code' | paste -sd ' ')" = "127 126" ]
	whole
}

@test "run: --dry-run and a wrong option write nothing" {
	local before
	before=$(find "$CUSTODY_ROOT" -type f -exec sha256sum {} + | sort)
	custody_run --dry-run -- true
	assert_status 0
	custody_run --no-such-option -- true
	assert_status 125
	[ "$(find "$CUSTODY_ROOT" -type f -exec sha256sum {} + | sort)" = "$before" ]
}

@test "run: the first run creates the ledger silently and keeps the first seal key apart from it" {
	local key=$CUSTODY_ROOT/sandbox/ledger-keys/first-seal-key as
	for as in suite_setup suite_setup_user; do
		custody_teardown
		"$as"
		key=$CUSTODY_ROOT/sandbox/ledger-keys/first-seal-key
		[ ! -e "$key" ] || custody_fail "'ledger init' kept the key that it printed"
		rm -rf "$CUSTODY_ROOT/sandbox"
		suite_profile first '{"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
		[ "$as" = suite_setup ] || [ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$PROFILE"
		custody_run --profile "$PROFILE" -- echo hello
		assert_status 0
		[ "$output" = hello ]
		[ -z "$(stderr_rest)" ] || custody_fail "$stderr"
		[ "$(stat -c '%a %u' "$key")" = "400 $("${CUSTODY_AS[@]}" id -u)" ]
		# A copy alone proves nothing; with the key every record is proven, and another key is found out.
		cp -r "$CUSTODY_ROOT/sandbox/ledger" "$CUSTODY_HOME/copy"
		run --separate-stderr "$CUSTODY" ledger verify "$CUSTODY_HOME/copy"
		assert_status 4
		run --separate-stderr "$CUSTODY" ledger verify --k0 "$key" "$CUSTODY_HOME/copy"
		assert_status 0
		printf '%064d\n' 1 >"$CUSTODY_HOME/other"
		run --separate-stderr "$CUSTODY" ledger verify --k0 "$CUSTODY_HOME/other" "$CUSTODY_HOME/copy"
		assert_status 1
		run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" ledger init
		assert_status 1
		assert_stderr_has "$key"
		run "${CUSTODY_AS[@]}" "$CUSTODY" doctor
		[[ $output == *"ledger-keys/first-seal-key: move it"* ]] || custody_fail "$output"
	done
}

@test "TRUST-9: without space for the first seal key nothing starts, and the next start keeps the key of the ledger" {
	rm -rf "$CUSTODY_ROOT/sandbox"
	mkdir -p "$CUSTODY_ROOT/sandbox/ledger-keys/first-seal-key/in-the-way"
	chmod -R 0700 "$CUSTODY_ROOT/sandbox"
	custody_run -- echo RAN
	assert_status 125
	[[ $output != *RAN* ]]
	rm -r "$CUSTODY_ROOT/sandbox/ledger-keys/first-seal-key"
	custody_run -- echo RAN
	assert_status 0
	"$CUSTODY" ledger verify --k0 "$CUSTODY_ROOT/sandbox/ledger-keys/first-seal-key"
}

@test "GOV-12: values of the environment never reach the ledger, words that look like secrets are redacted" {
	SECRET_THING=hunter2hunter2 custody_run -e SECRET_THING -e OTHER=swordfish77 -- \
		sh -c true sh --password squeamish88 --token=ossifrage99 ghp_0123456789abcdefghijABCDEFGHIJ012345
	assert_status 0
	run grep -rlaE 'hunter2|swordfish|squeamish|ossifrage|ghp_0123' "$CUSTODY_ROOT"
	[ -z "$output" ] || custody_fail "a secret is in: $output"
	records 'select(.k == "session.intent")' | jq -e '(.d.env | index("SECRET_THING") and index("OTHER"))
		and (.d.command | any(test("^\\[redacted [0-9a-f]{8}, 11 bytes\\]$")) and any(startswith("--token=[redacted ")))'
}

@test "TRUST-9: a ledger that cannot be written starts nothing, and prints the fix" {
	skip_without root # only root can mount
	run --separate-stderr unshare -m sh -c '
		mount --bind "$CUSTODY_ROOT/sandbox" "$CUSTODY_ROOT/sandbox" && mount -o remount,bind,ro "$CUSTODY_ROOT/sandbox" || exit 99
		"$CUSTODY" run -- echo RAN' sh
	assert_status 125
	[ -z "$output" ]
	assert_stderr_has "not started: cannot write to the ledger"
	assert_stderr_has "CUSTODY_ROOT"
	[ -z "$(kinds)" ]
	[ ! -e "$CUSTODY_ROOT/run" ] || custody_fail "it made something of the session"
}

@test "TRUST-9: as a user whose state directory is closed, nothing starts" {
	suite_setup_user
	chmod 0500 "$CUSTODY_ROOT/sandbox" "$CUSTODY_ROOT/sandbox/ledger" "$CUSTODY_ROOT/sandbox/ledger-keys"
	chmod 0400 "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson "$CUSTODY_ROOT"/sandbox/ledger-keys/seal
	custody_run -- echo RAN
	assert_status 125
	[[ $output != *RAN* ]]
	assert_stderr_has "not started: cannot write to the ledger"
	[ ! -e "$CUSTODY_ROOT/run" ]
}

@test "TRUST-9: a full disk starts nothing; with room again runs start, and the ledger verifies" {
	skip_without root # only root can mount
	on_small_disk '
		fill
		"$CUSTODY" run -- echo RAN; echo "status $?"
		ls "$CUSTODY_ROOT/run" 2>/dev/null
		rm "$CUSTODY_ROOT/full"
		"$CUSTODY" run -- echo again; echo "status $?"
		"$CUSTODY" ledger verify | tail -n 1'
	assert_status 0
	[ "$output" = "status 125"$'\n'"again"$'\n'"status 0"$'\n'"completeness:  ok" ]
	assert_stderr_has "free space"
}

@test "run: an end is recorded also when the disk was filled during the run" {
	skip_without root # only root can mount
	mkfifo "$CUSTODY_HOME/go" "$CUSTODY_HOME/ready"
	on_small_disk '
		"$CUSTODY" run -- sh -c "echo ready; read x; exit 3" <"$CUSTODY_HOME/go" >"$CUSTODY_HOME/ready" 3>&- &
		exec 8>"$CUSTODY_HOME/go"
		read -r x <"$CUSTODY_HOME/ready"
		fill
		echo go >&8
		wait $!; echo "status $?"
		"$CUSTODY" ledger show --json | grep -c session.end
		"$CUSTODY" ledger verify | tail -n 1'
	[ "$output" = "status 3"$'\n'1$'\n'"completeness:  ok" ]
}

@test "TRUST-9: a ledger whose tail was cut starts nothing until a person decides" {
	custody_run -- true
	sed -i '$d' "$SEG"
	custody_run -- echo RAN
	assert_status 125
	[[ $output != *RAN* ]]
	assert_stderr_has "custody ledger"
	[ -z "$(ls -A "$CUSTODY_ROOT/run/sessions")" ]
	"$CUSTODY" ledger repair --accept-loss >/dev/null
	custody_run -- echo RAN
	assert_status 0
}

@test "ISO-7: a supervisor killed with -9: the next run records its end as lost, once, with its names" {
	die victim --agent bob --worker w7 -- sleep 1000
	[ "$(kinds "$SESSION")" = "session.intent session.start" ]
	custody_run -- true
	assert_status 0
	[ "$(kinds "$SESSION")" = "session.intent session.start session.end" ]
	jq -c --arg s "$SESSION" 'select(.session == $s and .k == "session.end")' "$SEG" | jq -e '.agent == "bob" and .worker == "w7"
		and .d.reason == "lost" and .d.source == "sweep" and .d.code == 125 and .d.abnormal and .d.audit.records >= 2'
	custody_run -- true
	[ "$(kinds "$SESSION")" = "session.intent session.start session.end" ]
	whole
}

@test "ISO-7: many starts at once find the same dead ones and close each once" {
	local i pids=() dead=()
	for i in 1 2 3; do
		die "victim$i" -- sleep 1000
		dead+=("$SESSION")
	done
	for i in 1 2 3 4 5 6; do
		"$CUSTODY" run -- true 3>&- &
		pids+=($!)
	done
	wait "${pids[@]}"
	custody_run -- true
	for i in "${dead[@]}"; do
		[ "$(kinds "$i")" = "session.intent session.start session.end" ]
	done
	whole
}

@test "ISO-7: after a reboot the runtime directory is gone; the claim is not" {
	die victim --agent bob -- sleep 1000
	rm -rf "$CUSTODY_ROOT/run"
	custody_run -- true
	[ "$(kinds "$SESSION")" = "session.intent session.start session.end" ]
	[ "$(jq -r --arg s "$SESSION" 'select(.session == $s and .k == "session.end") | "\(.agent) \(.d.reason) \(.d.audit.records >= 2)"' "$SEG")" = "bob lost true" ]
	whole
}

@test "ISO-7: killed between its end and its claim's: no second end" {
	custody_run -- true
	SESSION=$(custody_result .session)
	echo 0 >"$CUSTODY_ROOT/sandbox/open/$SESSION"
	: >"$CUSTODY_ROOT/sandbox/open/20200101T000000Z-00000000" # and one that never came to an intent
	custody_run -- true
	[ "$(kinds "$SESSION")" = "session.intent session.start session.end" ]
	[ -z "$(ls -A "$CUSTODY_ROOT/sandbox/open")" ]
	whole
}

@test "ISO-7: killed in the sync of its intent, before it made anything, and in the sync of its end" {
	local n
	custody_run -- true # makes the lane's keys, so that the first two syncs are those of the run
	for n in 1 2; do
		ASAN_OPTIONS=detect_leaks=0 run strace -qq -e trace=fdatasync -e inject=fdatasync:signal=KILL:when=$n "$CUSTODY" run --agent "a$n" -- true
		[ "$status" -eq 137 ] || custody_fail "it was not killed"
		SESSION=$(jq -r --arg a "a$n" 'select(.agent == $a and .k == "session.intent") | .session' "$SEG")
		[ -n "$SESSION" ]
		[ "$n" -eq 2 ] || [ ! -e "$CUSTODY_ROOT/run/sessions/$SESSION" ]
		custody_run -- true
		assert_status 0
		[ "$(jq -r --arg s "$SESSION" 'select(.session == $s and .k == "session.end") | .agent' "$SEG")" = "a$n" ]
		[ -z "$(ls -A "$CUSTODY_ROOT/sandbox/open")" ]
	done
	whole
}

@test "run: a running session is not closed by another process" {
	start alive -- sleep 1000
	custody_run -- true
	[ "$(kinds "$SESSION")" = "session.intent session.start" ]
	kill -TERM "$PID"
	wait "$PID" || true
	exec 6<&-
	[ "$(kinds "$SESSION")" = "session.intent session.start session.end" ]
	[ "$(jq -r --arg s "$SESSION" 'select(.session == $s and .k == "session.end") | .d.reason' "$SEG")" = cancelled ]
	whole
}

@test "GOV-12: concurrent runs each have intent, start and end" {
	local i pids=()
	for i in {1..12}; do
		"$CUSTODY" run --agent "a$i" -- sh -c "exit $((i % 3))" 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || true
	done
	[ "$(records 'select(.k == "session.intent") | .agent' | sort -u | wc -l)" -eq 12 ]
	[ "$(records 'select(.k == "session.end") | .d.code' | sort | uniq -c | awk '{ print $1 }' | paste -sd ' ')" = "4 4 4" ]
	whole
}

@test "run: the intent's checkpoint reaches a peer before the command ends" {
	echo '{"peers":[{"name":"share","type":"file","path":"'"$CUSTODY_HOME/notes"'"}]}' >"$CUSTODY_ROOT/sandbox/audit_peer"
	start watched -- sleep 1000
	wait_until test -s "$CUSTODY_HOME/notes"
	[ "$(kinds "$SESSION" | grep -c end)" -eq 0 ]
	kill -TERM "$PID"
	wait "$PID" || true
	exec 6<&-
	whole
}
