#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# Decisions before a run starts: lane, policy, approval, and only then side effects.  Terms of an approval are
# approval*.bats' business.

load ../lib/suite.bash

setup() {
	suite_setup
	unset CUSTODY_LANE CUSTODY_ALLOW_PROD
	SEG=$CUSTODY_ROOT/sandbox/ledger/00000000000000000000.ndjson
	mkdir "$CUSTODY_ROOT/etc"
	configure '{}'
}

teardown() {
	[ -z "${PID:-}" ] || kill "$PID" 2>/dev/null || true
	custody_teardown
}

# configure JSON: custody.json with a rule that asks for `echo ask` and one that denies `echo deny`.
configure() {
	jq -n --argjson more "$1" '{rules: [{effect: "ask", argv: ["echo", "ask"]}, {effect: "deny", argv: ["echo", "deny"], why: "not here"}]}
		+ $more' >"$CUSTODY_ROOT/etc/custody.json"
}

# profile NAME JSON: a profile file that extends offline.
profile() {
	jq -n --arg name "$1" --argjson body "$2" '{schema: 1, name: $name, extends: "offline"} + $body' >"$CUSTODY_HOME/$1.json"
	PROFILE=$CUSTODY_HOME/$1.json
}

# alone CMD...: without a controlling terminal.
alone() {
	setsid --wait "$@" </dev/null 3>&-
}

# govern [OPTIONS] -- CMD...: as custody_run, without a terminal.
govern() {
	CUSTODY_AS=(setsid --wait)
	custody_run "$@" </dev/null
	CUSTODY_AS=()
	request=$(grep -oE 'custody approve( --lane prod)? [0-9a-f]{16}' <<<"$stderr" | grep -oE '[0-9a-f]{16}$' | head -n 1)
}

approve() {
	"$CUSTODY" approve "$1" --yes >/dev/null
}

last() { # FILTER
	tail -n 1 "$SEG" | jq -r "$1"
}

kinds() {
	jq -r 'select(.session and (.k | test("^session[.]|^lane[.]refused$"))) | .k' "$SEG" | paste -sd ' '
}

whole() {
	"$CUSTODY" ledger verify --json | jq -e '.integrity.verdict == "ok" and .completeness.verdict == "ok"' >/dev/null
}

# traced ARGUMENTS...: `custody run ARGUMENTS`, and no process, mount, cgroup or session directory was made.
traced() {
	ASAN_OPTIONS=detect_leaks=0 run --separate-stderr setsid --wait strace -f -qq -o "$CUSTODY_HOME/trace" \
		-e trace=clone,clone3,fork,vfork,execve,mount,move_mount,open_tree,unshare,mkdir,mkdirat "$CUSTODY" run "$@" </dev/null
	[ "$(grep -c execve "$CUSTODY_HOME/trace")" -eq 1 ] || custody_fail "it executed something: $(cat "$CUSTODY_HOME/trace")"
	! grep -E 'clone|fork|mount\(|open_tree|unshare|/sys/fs/cgroup|sessions' "$CUSTODY_HOME/trace" || custody_fail "it made something"
	[ ! -e "$CUSTODY_ROOT/run" ] || custody_fail "there is a runtime directory"
}

# ---- order ----

@test "GOV-1: denied by policy: 113, a record with the verdict, and no process, mount, cgroup or directory" {
	traced -- echo deny RAN
	assert_status 113
	[[ $output != *RAN* ]]
	assert_stderr_has "denied by policy"
	assert_stderr_has "custody.json:"
	[ "$(kinds)" = session.refused ]
	[ "$(last '"\(.status) \(.d.refused) \(.d.approval.granted) \(.d.approval.verdict.decision)"')" = "denied policy false deny" ]
	[[ $(last .d.digest) =~ ^sha256:[0-9a-f]{64}$ ]]
	whole
}

@test "GOV-1: without an approval: 114, a record, a request, and nothing else" {
	traced -- echo ask RAN
	assert_status 114
	[[ $output != *RAN* ]]
	[ "$(kinds)" = session.refused ]
	[ "$(last '"\(.d.refused) \(.d.approval.level) \(.d.approval.granted)"')" = "approval B false" ]
	[ "$(jq -r 'select(.k == "approval.request") | .status' "$SEG")" = ok ]
	whole
}

@test "GOV-1: without the keys of a lane: 116, a record in the sandbox lane, nothing of prod" {
	traced --lane prod -- echo RAN
	assert_status 116
	[ "$(last '"\(.d.refused) \(.d.lane)"')" = "lane prod" ]
	[ ! -e "$CUSTODY_ROOT/prod" ]
	whole
}

@test "GOV-12: the record of an allowed run names policy, or the approver and the time" {
	govern -- echo fine
	assert_status 0
	jq -c 'select(.k == "session.intent") | .d.approval' "$SEG" | jq -e '.level == "A" and .granted and .by == "policy"
		and .verdict.decision == "allow" and (.verdict.axes.intention == "autonomous")'
	govern -- echo ask
	assert_status 114
	approve "$request"
	govern -- echo ask
	assert_status 0
	[ "$output" = ask ]
	jq -c 'select(.k == "session.intent") | .d.approval' "$SEG" | tail -n 1 | jq -e --arg by "$(id -un)" '.level == "B" and .granted
		and .by == $by and (.granted_at | startswith("20"))'
	[ "$(custody_result '"\(.lane) \(.verdict.level) \(.verdict.decision)"')" = "sandbox B ask" ]
	[ "$(custody_result .digest)" = "$(jq -r 'select(.k == "session.intent") | .d.digest' "$SEG" | tail -n 1)" ]
	whole
}

@test "GOV-1: policy, approval, intent, reservation used up, start: in this order in the ledger" {
	govern -- echo ask
	approve "$request"
	govern -- echo ask
	assert_status 0
	[ "$(jq -r '.k | select(test("^(session|approval|grant)[.]") and . != "approval.drop")' "$SEG" | paste -sd ' ')" = \
		"approval.request session.refused approval.grant grant.reserve session.intent grant.consume session.start session.end" ]
	whole
}

@test "GOV-11: one approval, many starts at once: one of them runs" {
	local i pids=()
	govern -- echo ask
	approve "$request"
	for i in {1..8}; do
		alone "$CUSTODY" run -- echo ask >"$CUSTODY_HOME/out.$i" 2>"$CUSTODY_HOME/err.$i" &
		pids+=($!)
	done
	suite_started "${pids[@]}"
	[ "$STARTED" -eq 1 ]
	[ "$(cat "$CUSTODY_HOME"/out.* | grep -c '^ask$')" -eq 1 ]
	[ "$(jq -r 'select(.k == "grant.consume") | .k' "$SEG" | wc -l)" -eq 1 ]
	whole
}

@test "GOV-11: an approval whose run could not be set up is not used up" {
	govern -- echo ask
	approve "$request"
	mkdir "$CUSTODY_HOME/libexec"
	cc -static -w -o "$CUSTODY_HOME/libexec/custody-init" -x c - <<<'int main(void) { return 0; }'
	CUSTODY_LIBEXEC=$CUSTODY_HOME/libexec govern -- echo ask
	assert_status 125
	[ "$(jq -r 'select(.k == "grant.release") | .k' "$SEG" | wc -l)" -eq 1 ]
	govern -- echo ask
	assert_status 0
	whole
}

@test "GOV-11: killed with an unused approval: it can be used again" {
	govern -- echo ask
	approve "$request"
	# An init that never reports: the reservation is held by a supervisor that waits.
	mkdir "$CUSTODY_HOME/libexec"
	cc -static -w -o "$CUSTODY_HOME/libexec/custody-init" -x c - <<<'#include <unistd.h>
		int main(void) { char c; read(3, &c, 1); return 0; }'
	CUSTODY_LIBEXEC=$CUSTODY_HOME/libexec "$CUSTODY" run -- echo ask </dev/null >/dev/null 2>&1 3>&- &
	PID=$!
	wait_until grep -q grant.reserve "$SEG"
	wait_until compgen -G "$CUSTODY_ROOT/run/sessions/*" >/dev/null
	govern -- echo ask
	assert_status 114
	kill -9 "$PID"
	wait "$PID" || true
	govern -- echo ask
	assert_status 0
	whole
}

@test "GOV-13: --wait starts as soon as it is approved, and runs once" {
	mkfifo "$CUSTODY_HOME/events"
	setsid --wait "$CUSTODY" run --wait --status-fd 5 -- echo ask waited </dev/null >"$CUSTODY_HOME/out" 2>/dev/null 5>"$CUSTODY_HOME/events" 3>&- &
	PID=$!
	exec 6<"$CUSTODY_HOME/events"
	# It is recorded before it is filed.
	is_filed() { [ "$("$CUSTODY" pending --json | jq '.requests | length')" = 1 ]; }
	wait_until is_filed
	[ ! -e "$CUSTODY_ROOT/run" ]
	approve "$("$CUSTODY" pending --json | jq -r '.requests[0].id')"
	wait "$PID"
	exec 6<&-
	[ "$(cat "$CUSTODY_HOME/out")" = "ask waited" ]
	whole
}

@test "GOV-9: a script changed after the approval is another question; the approved one runs from its copy" {
	echo 'echo one' >script.sh
	configure '{"rules": [{"effect": "ask", "argv": ["sh", "script.sh"]}]}'
	govern -- sh script.sh
	assert_status 114
	local first=$request
	approve "$first"
	echo 'echo two' >script.sh
	govern -- sh script.sh
	assert_status 114
	[ "$request" != "$first" ]
	[[ $output != *two* ]]
	echo 'echo one' >script.sh
	govern -- sh script.sh
	assert_status 0
	[ "$output" = one ]
}

@test "GOV-9: environment, profile, network and mounts change the request" {
	local first
	govern -- echo ask
	first=$request
	[ -n "$first" ]
	govern -e X=1 -- echo ask
	[ -n "$request" ] && [ "$request" != "$first" ]
	profile other '{"limits": {"pids": 77}}'
	govern -p "$PROFILE" -- echo ask
	[ -n "$request" ] && [ "$request" != "$first" ]
	mkdir "$CUSTODY_HOME/data"
	govern -v "$CUSTODY_HOME/data:/data" -- echo ask
	[ -n "$request" ] && [ "$request" != "$first" ]
	govern -- echo ask
	[ "$request" = "$first" ]
}

# ---- what nothing skips ----

@test "GOV-3: GOV-6: an unbounded delete is C under every setting, and none of them lets it run" {
	local cmd
	suite_ungoverned
	for cmd in 'rm -rf /' 'rm -rf *' 'rm -fr ~' 'find . -delete' 'cd /x; rm -r -f ..'; do
		govern --yes -- sh -c "$cmd"
		assert_status 114
		[ "$(last '"\(.d.refused) \(.d.approval.level)"')" = "approval C" ] || custody_fail "$cmd: $(last .d)"
	done
	[ "$(kinds | tr ' ' '\n' | sort -u)" = session.refused ]
}

@test "GOV-6: a run that cannot be decided is refused: a broken configuration starts nothing and is a record" {
	echo '{"rules": [' >"$CUSTODY_ROOT/etc/custody.json"
	govern -- echo RAN
	assert_status 125
	[[ $output != *RAN* ]]
	[ "$(last .d.refused)" = config ]
	echo '{"no_such_key": 1}' >"$CUSTODY_ROOT/etc/custody.json"
	govern -- echo RAN
	assert_status 125
	assert_stderr_has no_such_key
	chmod 0666 "$CUSTODY_ROOT/etc/custody.json"
	govern -- echo RAN
	assert_status 125
	[ ! -e "$CUSTODY_ROOT/run" ]
}

@test "GOV-6: --yes answers no question without a terminal" {
	govern --yes -- echo ask RAN
	assert_status 114
	[[ $output != *RAN* ]]
}

@test "TRUST-9: a question that cannot be filed on a full disk, or read-only, starts nothing" {
	skip_without root # only root can mount
	run --separate-stderr unshare -m setsid --wait sh -c '
		cp -r "$CUSTODY_ROOT/etc" "$CUSTODY_HOME/etc"
		mount -t tmpfs -o size=2m tmpfs "$CUSTODY_ROOT" && mv "$CUSTODY_HOME/etc" "$CUSTODY_ROOT/etc" && "$CUSTODY" ledger init >/dev/null || exit 99
		"$CUSTODY" run -- echo first
		dd if=/dev/zero of="$CUSTODY_ROOT/full" bs=4k 2>/dev/null
		"$CUSTODY" run -- echo ask RAN; echo "status $?"
		rm "$CUSTODY_ROOT/full"
		mount -o remount,ro "$CUSTODY_ROOT" || exit 99
		"$CUSTODY" run -- echo ask RAN; echo "status $?"
		"$CUSTODY" run -- echo RAN; echo "status $?"' </dev/null
	[[ $output == first$'\n'status\ 1[12][45]$'\n'status\ 1[12][45]$'\n'status\ 125 ]] || custody_fail "it went on"
}

# ---- provenance ----

axis() { # AXIS
	custody_result ".verdict.axes.$1"
}

@test "GOV-5: the requester: unknown, as an admin maps uid or cgroup, or a person at a terminal" {
	govern -- true
	[ "$(axis intention)" = autonomous ]
	configure '{"provenance": [{"uid": '"$(id -u)"', "intention": "task"}]}'
	govern -- true
	[ "$(axis intention)" = task ]
	configure '{"provenance": [{"uid": 4242, "intention": "explicit"}, {"cgroup": "/", "intention": "task"}]}'
	govern -- true
	[ "$(axis intention)" = task ]
	configure '{"provenance": [{"cgroup": "/no/such", "intention": "explicit"}]}'
	govern -- true
	[ "$(axis intention)" = autonomous ]
	configure '{}'
	script -qec "$CUSTODY run --result $CUSTODY_HOME/tty.json -- true" /dev/null >/dev/null </dev/null
	[ "$(jq -r .verdict.axes.intention "$CUSTODY_HOME/tty.json")" = explicit ]
}

@test "GOV-4: --provenance only ever raises, and an unknown word starts nothing" {
	local taint plain level
	for cmd in true 'rm -f a' 'git push' './unknown'; do
		govern --dry-run -- sh -c "$cmd"
		plain=$(grep -oE 'level [ABC]' <<<"$stderr")
		[ -n "$plain" ]
		for taint in tool_output web_content unknown; do
			govern --dry-run --provenance "$taint" -- sh -c "$cmd"
			level=$(grep -oE 'level [ABC]' <<<"$stderr")
			[[ ! $level < $plain ]] || custody_fail "$cmd: $plain became $level with $taint"
		done
	done
	govern --provenance explicit -- echo RAN
	assert_status 113
	[[ $output != *RAN* ]]
	[ "$(last .d.refused)" = policy ]
}

@test "run: --dry-run prints digest and verdict like check, and writes nothing" {
	"$CUSTODY" check --json -- echo ask >"$CUSTODY_HOME/check.json" || [ $? -eq 1 ]
	local before
	before=$(find "$CUSTODY_ROOT" -type f -exec sha256sum {} + | sort)
	govern --dry-run -- echo ask
	assert_status 0
	jq -e .ociVersion <<<"$output" >/dev/null
	assert_stderr_has "$(jq -r .digest "$CUSTODY_HOME/check.json")"
	assert_stderr_has "policy says ask, level B"
	[ "$(find "$CUSTODY_ROOT" -type f -exec sha256sum {} + | sort)" = "$before" ]
	govern -- echo ask
	[ "$(custody_result .digest)" = "$(jq -r .digest "$CUSTODY_HOME/check.json")" ]
}

# ---- a profile's own words ----

@test "GOV-13: a profile may ask for more approvals and fewer approvers than the configuration, not for less" {
	profile two '{"governance": {"min_approvals": 2}}'
	govern -p "$PROFILE" -- echo ask
	assert_status 114
	approve "$request"
	govern -p "$PROFILE" -- echo ask RAN
	assert_status 114
	profile one '{"governance": {"min_approvals": 1, "allow_self": true}}'
	configure '{"allow_self": false}'
	govern -p "$PROFILE" -- echo ask
	run "$CUSTODY" approve "$request" --yes
	govern -p "$PROFILE" -- echo ask RAN
	assert_status 114
	configure '{}'
	profile self '{"governance": {"allow_self": false}}'
	govern -p "$PROFILE" -- echo ask
	run "$CUSTODY" approve "$request" --yes
	govern -p "$PROFILE" -- echo ask RAN
	assert_status 114
	profile others '{"governance": {"approvers": ["unknown-user"]}}'
	govern -p "$PROFILE" -- echo ask RAN
	assert_status 114
	assert_stderr_has "governance.approvers"
	[ "$(kinds | tr ' ' '\n' | sort -u)" = session.refused ]
}

@test "GOV-2: a profile may only tighten the security profile" {
	profile strict '{"governance": {"security_profile": "strict"}}'
	govern -p "$PROFILE" -- true
	[ "$(axis profile)" = strict ]
	profile off '{"governance": {"security_profile": "off"}}'
	govern -p "$PROFILE" -- true
	[ "$(axis profile)" = balanced ]
}

@test "GOV-12: words that the site or the profile calls secret stay out of the ledger" {
	configure '{"redact": {"flags": ["--pass-phrase"], "headers": ["X-Site-Auth"]}}'
	profile p '{"audit": {"redact": ["--codeword"]}}'
	govern -p "$PROFILE" -- true --pass-phrase=xyzzy1 --codeword xyzzy2 -H 'X-Site-Auth: xyzzy3'
	assert_status 0
	# A refusal is a record as well, however early.
	govern -p "$PROFILE" -- echo deny --pass-phrase=xyzzy4 --codeword xyzzy5
	assert_status 113
	govern -p nowhere -- true --pass-phrase xyzzy6
	assert_status 125
	govern --lane nowhere -- true --pass-phrase xyzzy7
	assert_status 125
	govern --lane prod -- true --pass-phrase xyzzy8 --pass-phrase=xyzzy9
	assert_status 116
	[ "$(kinds)" = "session.intent session.start session.end session.refused session.refused session.refused lane.refused" ]
	run grep -rl xyzzy "$CUSTODY_ROOT"
	[ -z "$output" ] || custody_fail "a secret is in: $output"
}

# ---- lanes ----

@test "LANE-1: no lane or a blank one is the sandbox, aliases count, anything else is refused naming the two" {
	local lane
	for lane in '' ' ' sandbox test ' TEST '; do
		CUSTODY_LANE=$lane govern -- true
		assert_status 0
		[ "$(custody_result .lane)" = sandbox ]
	done
	for lane in staging prodd; do
		govern --lane "$lane" -- echo RAN
		assert_status 125
		[[ $output != *RAN* ]]
		assert_stderr_has sandbox
		assert_stderr_has prod
		[ "$(last .d.refused)" = lane ]
	done
	govern --lane production -- echo RAN
	assert_status 116
}

prod_profile() {
	profile prod '{"network": {"class": "prod"}}'
}

@test "LANE-2: prod needs both keys; with either missing nothing runs, and the command on stderr works unchanged" {
	local line
	prod_profile
	for line in '' --allow-prod; do
		# shellcheck disable=SC2086 # no word or one
		govern --lane prod $line -p "$PROFILE" -- echo 'it ran'
		assert_status 116
		[[ $output != *'it ran'* ]]
	done
	assert_stderr_has CUSTODY_ALLOW_PROD
	CUSTODY_ALLOW_PROD=1 govern --lane prod -p "$PROFILE" -- echo 'it ran'
	assert_status 116
	assert_stderr_has --allow-prod
	[ ! -e "$CUSTODY_ROOT/prod" ]
	line=$(grep -o 'CUSTODY_ALLOW_PROD=1 .*' <<<"$stderr")
	line=${line/ custody run/ $CUSTODY run}
	run --separate-stderr setsid --wait sh -c "$line" </dev/null
	assert_status 0
	[ "$output" = 'it ran' ]
}

@test "LANE-5: LANE-7: an override is a record of prod's own ledger; the lanes share nothing" {
	prod_profile
	govern -- true
	CUSTODY_ALLOW_PROD=yes govern --lane prod --allow-prod --agent bob -p "$PROFILE" -- true
	assert_status 0
	[ "$(custody_result .lane)" = prod ]
	jq -c 'select(.k == "lane.override")' "$CUSTODY_ROOT/prod/ledger/00000000000000000000.ndjson" |
		jq -e --argjson uid "$(id -u)" '.agent == "bob" and .d.uid == $uid and .d.command == ["true"] and .d.lane == "prod" and (.t | length > 20)'
	[ "$(jq -r '.k' "$CUSTODY_ROOT/prod/ledger/00000000000000000000.ndjson" | paste -sd ' ')" = \
		"ledger.open lane.override session.intent session.start session.end" ]
	run ! grep -q "$(custody_result .session)" "$SEG"
	run ! cmp -s "$CUSTODY_ROOT/sandbox/ledger/public" "$CUSTODY_ROOT/prod/ledger/public"
	# A variable that was exported once arms nothing.
	export CUSTODY_ALLOW_PROD=1
	govern --lane prod -p "$PROFILE" -- true
	assert_status 116
	unset CUSTODY_ALLOW_PROD
}

@test "LANE-6: a grant of one lane does not count in the other" {
	prod_profile
	jq '.network.class = "any"' "$PROFILE" >"$PROFILE.new" && mv "$PROFILE.new" "$PROFILE"
	govern -p "$PROFILE" -- echo ask
	approve "$request"
	CUSTODY_ALLOW_PROD=1 govern --lane prod --allow-prod -p "$PROFILE" -- echo ask RAN
	assert_status 114
	[[ $output != *RAN* ]]
	[ ! -e "$CUSTODY_ROOT/run" ]
}

@test "LANE-4: a profile of one class is refused in the other lane, naming both" {
	prod_profile
	govern -p "$PROFILE" -- echo RAN
	assert_status 116
	assert_stderr_has test
	assert_stderr_has prod
	[ "$(last .d.refused)" = subject ]
	profile test '{"network": {"class": "test"}}'
	CUSTODY_ALLOW_PROD=1 govern --lane prod --allow-prod -p "$PROFILE" -- echo RAN
	assert_status 116
	[[ $output != *RAN* ]]
	[ ! -e "$CUSTODY_ROOT/run" ]
}

# ---- the doctor ----

@test "doctor: its canary runs unattended also where everything is asked for, and is a record" {
	configure '{"governance": {"security_profile": "strict"}, "rules": [{"effect": "ask", "network": "none"}]}'
	run --separate-stderr setsid --wait "$CUSTODY" doctor --json </dev/null
	jq -e '[.layers[].tries[]?] | length > 20 and all(.stopped)' <<<"$output" >/dev/null || custody_fail "the canary did not run"
	[ "$(jq -r 'select(.k == "session.intent") | "\(.d.action) \(.d.approval.by)"' "$SEG" | sort -u)" = "doctor doctor" ]
	whole
}

# axes OPTIONS... -- CMD: of a check, as "raw lowered domain level"
axes() {
	"${CUSTODY_AS[@]}" "$CUSTODY" check --json "$@" </dev/null |
		jq -r '.verdict | "\(.axes.raw_outcome) \(.axes.outcome) \(.axes.domain) \(.level)"'
}

@test "GOV-7: the sandbox lowers the level by one step where effects are ephemeral, and not at all elsewhere" {
	echo '{"schema":1,"name":"rw","extends":"offline","workspace":{"mode":"rw"}}' >"$CUSTODY_HOME/rw.json"
	mkdir "$CUSTODY_HOME/out"
	[ "$(axes -- ./x)" = "soft reversible workspace A" ]
	[ "$(axes -p "$CUSTODY_HOME/rw.json" -- ./x)" = "irreversible irreversible workspace C" ]
	[ "$(axes -v "$CUSTODY_HOME/out:/out:rw" -- ./x)" = "irreversible irreversible workspace C" ]
	# The domain stays what it is, and so does what no sandbox changes.
	[ "$(axes -- sudo make)" != "$(axes -- make)" ]
	[[ $(axes -- sudo make) == *" system "[BC] ]]
	[[ $(axes -- rm -rf /) == *" C" ]]
}

@test "GOV-14: every part of a compound command counts, rules match whole words" {
	[[ $(axes -- sh -c 'git log') == *" A" ]]
	[[ $(axes -- sh -c 'git log && rm -rf /') == *" C" ]]
	[[ $(axes -- sh -c 'git log; true | (cd / && rm -rf .)') == *" C" ]]
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"rules":[{"effect":"deny","argv":["git","push"]}]}' >"$CUSTODY_ROOT/etc/custody.json"
	custody_run -- sh -c 'true && git push origin main'
	assert_status 113
	custody_run -- sh -c 'git pushy 2>/dev/null; true'
	assert_status 0
}

@test "GOV-16: a writable tree and a program that runs others: irreversible, and paths that may be deleted are named" {
	echo '{"schema":1,"name":"rw","extends":"offline","workspace":{"mode":"rw"}}' >"$CUSTODY_HOME/rw.json"
	echo keep >kept
	custody_run -p "$CUSTODY_HOME/rw.json" -- sh -c 'echo gone >kept'
	assert_status 114
	[ "$(cat kept)" = keep ]
	run "$CUSTODY" check --explain -p "$CUSTODY_HOME/rw.json" -- make </dev/null
	[[ $output == *"may delete everything under"*"$PWD"* ]]
}


@test "GOV-1: approval: a program that is missing inside is reported, and no question is asked about it" {
	local word
	echo 'echo x' >script
	chmod +x script
	ln -s nowhere dangling
	ln -s /nowhere/sh away
	for word in no-such-program ./missing missing/x ./dangling ./away /missing /usr/bin/no-such-program /home/x/y; do
		custody_run --network host -- "$word"
		assert_status 127
		assert_stderr_has "cannot execute '$word' inside: No such file or directory"
		assert_reason exited
		[ "$("$CUSTODY" pending --json | jq '.requests | length')" = 0 ] || custody_fail "$word: a request was filed"
	done
	[ "$("$CUSTODY" ledger show --kind session.refused --json | grep -c '"refused":"program"')" = 8 ]
	run --separate-stderr python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" -- "$CUSTODY" run --network host -- no-such-program
	assert_status 127
	[[ $output != *"[y/N]"* ]] || custody_fail "asked: $output"
}

@test "GOV-1: approval: whatever may exist inside is asked about as before" {
	local word n=0
	mkdir -p bin
	echo 'echo x' | tee script >bin/tool
	chmod +x script bin/tool
	ln -s /bin/sh shell
	ln -s ../work/script around
	ln -s script again
	for word in sh /bin/sh /usr/bin/../bin/sh ./script bin/tool ./shell ./again ./around ./loop /proc/self/exe; do
		[ "$word" != ./loop ] || ln -s loop loop
		n=$((n + 1))
		custody_run --network host -- "$word"
		assert_status 114
		[ "$("$CUSTODY" pending --json | jq '.requests | length')" = "$n" ] || custody_fail "$word: no request"
	done
	custody_run --network host -e "PATH=$PWD/bin" -- tool
	assert_status 114
	custody_run --network host -e PATH= -- script
	assert_status 114
}
