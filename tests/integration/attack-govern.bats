#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for the inside; bats' subshells
#
# Attacks on lanes, policy, approval and evidence, with the programs as they are installed.  An attack on one
# function at a time is in tests/unit: test-grant-race, test-pin, test-request, test-lane.

load ../lib/suite.bash
load ../lib/approval.bash
load ../lib/runtime.bash

setup() {
	unset CUSTODY_LANE CUSTODY_ALLOW_PROD
	approval_setup
	SEG=$CUSTODY_ROOT/sandbox/ledger/00000000000000000000.ndjson
}

teardown() {
	[ -z "${PID:-}" ] || kill -9 "$PID" 2>/dev/null || true
	[ -z "${ID:-}" ] || runtime crun delete --force "$ID" 2>/dev/null || true
	custody_teardown
}

# profile NAME JSON: a profile file that extends offline.
profile() {
	jq -n --arg name "$1" --argjson body "$2" '{schema: 1, name: $name, extends: "offline"} + $body' >"$CUSTODY_HOME/$1.json"
	PROFILE=$CUSTODY_HOME/$1.json
}

whole() {
	"$CUSTODY" ledger verify --json | jq -e '.integrity.verdict == "ok" and .completeness.verdict == "ok"' >/dev/null
}

# nothing_started STATUS: and it is a record of a refusal.
nothing_started() {
	assert_status "$1"
	[[ $output != *"ask"* ]] || custody_fail "it ran"
	[ "$(tail -n 1 "$SEG" | jq -r .k)" = session.refused ] || custody_fail "no record: $(tail -n 1 "$SEG")"
}

# ---- what the words of a command show ----

@test "GOV-14: a rule that allows rm does not allow what its redirection overwrites" {
	printf '{"rules":[{"effect":"allow","argv":["rm"]}]}\n' >"$CUSTODY_ROOT/etc/custody.json"
	profile rw '{"workspace": {"mode": "rw"}}'
	mkdir build
	echo kept >main.c
	run --separate-stderr alone "$CUSTODY" run -p "$PROFILE" -- sh -c 'rm -rf build > main.c'
	nothing_started 114
	[ "$(cat main.c)" = kept ] && [ -d build ] || custody_fail "the refused command ran"
	run --separate-stderr alone "$CUSTODY" run -p "$PROFILE" -- sh -c 'rm -rf build > /dev/null'
	assert_status 0
	[ ! -e build ] || custody_fail "the allowed command did not run"
}

@test "GOV-3: GOV-7: unknown targets start in an overlay and need the PIN in a writable tree; spelled ones always do" {
	local cmd
	mkdir build
	echo kept >build/a
	profile rw '{"workspace": {"mode": "rw"}}'
	run --separate-stderr alone "$CUSTODY" run -- sh -c 'rm -rf "$X"; d=$(mktemp -d); rm -rf "$d"; cd build && rm -rf *'
	assert_status 0
	[ "$(cat build/a)" = kept ]
	for cmd in 'rm -rf "$X"' 'find build | xargs rm -rf' 'git clean -fdx'; do
		run --separate-stderr alone "$CUSTODY" run -p "$PROFILE" -- sh -c "$cmd"
		nothing_started 114
		[ "$(tail -n 1 "$SEG" | jq -r .d.approval.level)" = C ] || custody_fail "$cmd: $(tail -n 1 "$SEG")"
	done
	for cmd in 'x=*; rm -rf $x' 'eval "$(echo rm -rf ./*)"' 'cd build; rm -rf *' 'chroot / rm -rf usr' 'git rm -r :/' \
		'echo "${x:-'"'"'}"; rm -rf ~; echo "'"'"'}"'; do
		run --separate-stderr alone "$CUSTODY" run -- sh -c "$cmd"
		nothing_started 114
		[ "$(tail -n 1 "$SEG" | jq -r .d.approval.level)" = C ] || custody_fail "$cmd: $(tail -n 1 "$SEG")"
	done
	[ "$(cat build/a)" = kept ]
}

# ---- between approval and start ----

@test "GOV-9: a link that leads to another program after the approval is another question" {
	printf 'echo ask one\n' >one.sh
	printf 'echo ask two\n' >two.sh
	ln -s one.sh link.sh
	printf '{"rules":[{"effect":"ask","argv":["sh","link.sh"]}]}\n' >"$CUSTODY_ROOT/etc/custody.json"
	run --separate-stderr alone "$CUSTODY" run -- sh link.sh
	assert_status 114
	approve "$(pending '.requests[0].id')"
	ln -sf two.sh link.sh
	run --separate-stderr alone "$CUSTODY" run -- sh link.sh
	nothing_started 114
	[ "$(grants '.grants[0].used')" = 0 ]
	ln -sf one.sh link.sh
	run --separate-stderr alone "$CUSTODY" run -- sh link.sh
	assert_status 0
	[ "$output" = "ask one" ]
	whole
}

@test "GOV-9: the next card names the changes between approval and start" {
	printf '{"rules":[{"effect":"ask","argv":["env"]}]}\n' >"$CUSTODY_ROOT/etc/custody.json"
	run --separate-stderr alone "$CUSTODY" run -e A=1 -- env
	assert_status 114
	approve "$(pending '.requests[0].id')"
	run --separate-stderr alone "$CUSTODY" run -e A=2 -- env
	nothing_started 114
	run --separate-stderr alone "$CUSTODY" run -e A=1 -m 64M -- env
	nothing_started 114
	[ "$(pending '.requests | length')" = 2 ]
	local id
	for id in $(pending '.requests[].id'); do
		run "$CUSTODY" pending "$id"
		[[ $output == *env* ]]
	done
	# The one that was approved still is.
	run --separate-stderr alone "$CUSTODY" run -e A=1 -- env
	assert_status 0
	[[ $output == *A=1* ]]
}

# ---- grants ----

@test "GOV-11: sixteen starts race for one use of an imported grant" {
	local i pids=()
	ask race
	approve "$request" --output "$CUSTODY_HOME/grant.json"
	for i in {1..16}; do
		alone "$CUSTODY" run --grant "$CUSTODY_HOME/grant.json" -- echo ask race >"$CUSTODY_HOME/out.$i" 2>/dev/null 3>&- &
		pids+=($!)
	done
	suite_started "${pids[@]}"
	[ "$STARTED" -eq 1 ]
	[ "$(cat "$CUSTODY_HOME"/out.* | grep -c 'ask race')" -eq 1 ]
	[ "$(records grant.consume)" -eq 1 ]
	whole
}

@test "GOV-11: a used grant whose uses are removed, or that is restored as a file, starts nothing" {
	ask again
	approve "$request" --output "$CUSTODY_HOME/grant.json"
	run --separate-stderr alone "$CUSTODY" run -- echo ask again
	assert_status 0
	rm "$CUSTODY_ROOT"/sandbox/grants/*.uses
	run --separate-stderr alone "$CUSTODY" run -- echo ask again
	nothing_started 114
	run --separate-stderr alone "$CUSTODY" run --grant "$CUSTODY_HOME/grant.json" -- echo ask again
	[ "$status" -ne 0 ]
	[ "$(records grant.consume)" -eq 1 ]
	rm "$CUSTODY_ROOT"/sandbox/grants/*
	run --separate-stderr alone "$CUSTODY" run --grant "$CUSTODY_HOME/grant.json" -- echo ask again
	[ "$status" -ne 0 ]
	[[ $output != *"ask again"* ]]
	[ "$(records grant.consume)" -eq 1 ]
}

@test "GOV-11: killed at any synced write before the start, an approval is used at most once" {
	local n ran
	for n in 1 2 3 4 5 6; do
		ask "crash $n"
		approve "$request"
		: >"$CUSTODY_HOME/out"
		alone strace -f -qq -o /dev/null -e trace=fdatasync,fsync -e "inject=fdatasync,fsync:signal=KILL:when=$n" \
			"$CUSTODY" run -- echo ask "crash $n" >>"$CUSTODY_HOME/out" 2>/dev/null 3>&- || true
		for _ in 1 2; do
			alone "$CUSTODY" run -- echo ask "crash $n" >>"$CUSTODY_HOME/out" 2>/dev/null 3>&- || true
		done
		ran=$(grep -c "ask crash $n" "$CUSTODY_HOME/out" || true)
		[ "$ran" -le 1 ] || custody_fail "killed at write $n it ran $ran times"
		[ "$(jq -r 'select(.k == "grant.consume") | .d.request' "$SEG" | grep -c "$request")" -eq 1 ] ||
			custody_fail "killed at write $n: $(grep -c grant.consume "$SEG") uses"
	done
	"$CUSTODY" ledger verify >/dev/null
}

@test "GOV-11: approve and deny at once: the run obeys the one that is last in the ledger" {
	local i
	for i in {1..6}; do
		ask "both $i"
		"$CUSTODY" approve "$request" --yes >/dev/null 2>&1 3>&- &
		PID=$!
		"$CUSTODY" deny "$request" --reason no >/dev/null 2>&1 3>&- || true
		wait "$PID" || true
		PID=
		run --separate-stderr alone "$CUSTODY" run -- echo ask "both $i"
		if [ "$(jq -r 'select(.k == "approval.grant") | .d.request' "$SEG" | grep -c "$request")" -eq 0 ]; then
			nothing_started 114
		else
			[ "$status" -eq 0 ] || [ "$status" -eq 114 ]
		fi
	done
	whole
}

@test "GOV-11: two approvals at once of a request for one run: not more runs than yeses" {
	local i n=0
	ask twice
	"$CUSTODY" approve "$request" --yes >/dev/null 2>&1 3>&- &
	PID=$!
	"$CUSTODY" approve "$request" --yes >/dev/null 2>&1 || true
	wait "$PID" || true
	PID=
	for i in 1 2 3; do
		run --separate-stderr alone "$CUSTODY" run -- echo ask twice
		[ "$status" -ne 0 ] || n=$((n + 1))
	done
	[ "$n" -eq "$(records approval.grant)" ]
	[ "$n" -eq 1 ]
	whole
}

@test "GOV-13: an expired request cannot be approved, whatever the wall clock" {
	unshare --time --boottime 100 true 2>/dev/null || skip 'no time namespaces here'
	approval_config '"request_expiry": 3600'
	ask late
	run --separate-stderr unshare --time --boottime 7200 --fork "$CUSTODY" approve "$request" --yes
	[ "$status" -ne 0 ]
	[ "$(records approval.grant)" = 0 ]
	ask late
	nothing_started 114
}

@test "GOV-11: a grant expires by the time since boot, whatever the wall clock" {
	# Wall time cannot be namespaced; the time since boot can, and the grant is bound to that as well.
	unshare --time --boottime 100 true 2>/dev/null || skip 'no time namespaces here'
	ask clock
	approve "$request" --for 3600
	run --separate-stderr alone unshare --time --boottime 7200 --fork "$CUSTODY" run -- echo ask clock
	nothing_started 114
	[ "$(grants '.grants[0].used')" = 0 ]
	run --separate-stderr alone "$CUSTODY" run -- echo ask clock
	assert_status 0
}

@test "GOV-11: the record of a use is on the disk before anything else is written, and before the start" {
	ask synced
	approve "$request"
	run --separate-stderr alone strace -f -y -qq -s 400 -o "$CUSTODY_HOME/trace" -e trace=write,pwrite64,writev,pwritev,fdatasync,fsync \
		"$CUSTODY" run -- echo ask synced
	assert_status 0
	# After that write the same process syncs, and only then starts.
	awk '/grant\.consume/ && !pid { pid = $1; next }
		pid && $1 == pid && /f(data)?sync\([0-9]+<[^>]*ndjson>/ { synced = 1 }
		pid && /session\.start/ { exit !synced }
		END { exit !synced }' "$CUSTODY_HOME/trace" || custody_fail "$(grep -A8 grant.consume "$CUSTODY_HOME/trace")"
	[ "$(grep -c 'grant\.consume' "$CUSTODY_HOME/trace")" -ge 1 ]
}

# ---- approvers ----

@test "GOV-6: --yes is no answer to a C: the card is asked, and not even a PIN is tried" {
	set_pin 271828
	on_terminal 'expect:Approve?' 'send:n\n' -- "$CUSTODY" run --yes -- sh -c 'rm -rf *'
	assert_status 114
	[ "$(records pin.try)" = 0 ]
	[ "$(records approval.deny)" = 1 ]
}


@test "GOV-13: variables of the requester choose no approver, no configuration and no lane of root's" {
	local home=$CUSTODY_HOME/evil
	mkdir -p "$home/.config/custody" "$home/.local/state"
	printf '{"rules":[{"effect":"allow","argv":["echo","ask"]}],"governance":{"security_profile":"off"}}\n' >"$home/.config/custody/custody.json"
	for v in "HOME=$home" "XDG_CONFIG_HOME=$home/.config" "XDG_STATE_HOME=$home/.local/state" CUSTODY_LANE=sandbox \
		"LOGNAME=root" "USER=root" "SUDO_USER=root" CUSTODY_ALLOW_PROD=1; do
		run --separate-stderr alone env "$v" "$CUSTODY" run -- echo ask "$v"
		nothing_started 114
	done
	run --separate-stderr alone env CUSTODY_LANE=prod CUSTODY_ALLOW_PROD=1 "$CUSTODY" run -- echo ask
	assert_status 116
	run --separate-stderr alone env CUSTODY_ROOT=relative "$CUSTODY" run -- echo ask
	[ "$status" -ne 0 ]
	[[ $output != *ask* ]]
}

@test "GOV-13: a configuration or a state of another user is refused" {
	[ "$(id -u)" -eq 0 ] || skip 'needs two users'
	chown "$SUITE_UID" "$CUSTODY_ROOT/etc/custody.json"
	run --separate-stderr alone "$CUSTODY" run -- echo ask
	assert_status 125
	assert_stderr_has "belongs to uid $SUITE_UID"
	chown 0 "$CUSTODY_ROOT/etc/custody.json"
	local dir
	ask mine
	for dir in requests keys; do
		[ -d "$CUSTODY_ROOT/sandbox/$dir" ] || continue
		chown "$SUITE_UID" "$CUSTODY_ROOT/sandbox/$dir"
		run --separate-stderr "$CUSTODY" approve "$request" --yes
		[ "$status" -ne 0 ]
		chown 0 "$CUSTODY_ROOT/sandbox/$dir"
	done
	[ "$(records approval.grant)" = 0 ]
}

@test "GOV-1: a state that became read-only starts nothing, approved or not" {
	ask frozen
	approve "$request"
	run --separate-stderr alone unshare -m sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" run -- echo ask frozen' \
		sh "$CUSTODY_ROOT" "$CUSTODY"
	[ "$status" -ne 0 ]
	[[ $output != *"ask frozen"* ]]
	run --separate-stderr alone "$CUSTODY" run -- echo ask frozen
	assert_status 0
	whole
}

@test "GOV-1: a disk that is full when the use is to be counted starts nothing, and the yes is not lost" {
	ask full
	approve "$request"
	run --separate-stderr alone unshare -m sh -c '
		mount -t tmpfs -o size=2m,mode=0700 none /mnt && cp -a "$1/." /mnt/ && mount --bind /mnt "$1" || exit 99
		dd if=/dev/zero of="$1/fill" bs=4k 2>/dev/null
		"$2" run -- echo ask full' sh "$CUSTODY_ROOT" "$CUSTODY"
	[ "$status" -ne 0 ] && [ "$status" -ne 99 ]
	[[ $output != *"ask full"* ]]
	run --separate-stderr alone "$CUSTODY" run -- echo ask full
	assert_status 0
}

# ---- from inside ----

@test "GOV-13: a worktree or a volume that holds custody's own directories shows nothing of them inside" {
	approve "$(ask x && echo "$request")"
	cd "$CUSTODY_HOME"
	local look='cat root/sandbox/keys/* root/sandbox/digest.key root/etc/custody.json root/sandbox/ledger/* root/sandbox/ledger-keys/*;
		find root/sandbox root/etc root/run -mindepth 1; true'
	run --separate-stderr alone "$CUSTODY" run -- sh -c "$look"
	assert_status 0
	[ -z "$output" ] || custody_fail "it is seen: $output"
	profile ro '{"workspace": {"mode": "ro"}}'
	run --separate-stderr alone "$CUSTODY" run -p "$PROFILE" -- sh -c "$look"
	assert_status 0
	[ -z "$output" ] || custody_fail "it is seen: $output"
	run --separate-stderr alone "$CUSTODY" run -v "$CUSTODY_ROOT:/x/root:ro" -w /x -- sh -c "$look"
	[ -z "$output" ] || custody_fail "it is seen: $output"
	# Neither as a copy of the named files, nor with the directory itself as the worktree.
	run --separate-stderr alone "$CUSTODY" run -p "$PROFILE" -- sh root/sandbox/digest.key
	[ "$status" -ne 0 ]
	[[ $stderr != *"$(cat root/sandbox/digest.key)"* ]]
	assert_stderr_has "is hidden in the sandbox"
	cd "$CUSTODY_ROOT/sandbox"
	run --separate-stderr alone "$CUSTODY" run -- cat digest.key
	assert_status 125
	assert_stderr_has "custody's own"
	cd "$CUSTODY_HOME/work"
}

@test "GOV-13: the same for an ordinary user with everything below the worktree" {
	approval_setup_user
	profile user '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	local as=("${CUSTODY_AS[@]}" env "CUSTODY_ROOT=$PWD/root" "$CUSTODY")
	"${as[@]}" key new >/dev/null
	[ -s root/sandbox/keys/"$(basename "$(ls root/sandbox/keys/*.json)")" ]
	run --separate-stderr alone "${as[@]}" run -p "$PROFILE" -- sh -c 'cat root/sandbox/keys/* root/sandbox/digest.key; find root/sandbox -mindepth 1; true'
	assert_status 0
	[ -z "$output" ] || custody_fail "it is seen: $output"
	rm -rf root
}

@test "GOV-13: CARD-3: the same in a bundle under crun and runc" {
	local name
	command -v crun >/dev/null && command -v runc >/dev/null || skip 'no other runtime'
	export CUSTODY_ROOT=$PWD/root
	mkdir root
	suite_make_ledger
	runtime_trust
	"$CUSTODY" key new >/dev/null
	bundle -- sh -c 'cat root/sandbox/digest.key root/sandbox/keys/*; find root/sandbox root/etc -mindepth 1; echo end'
	for name in crun runc; do
		runtime_run "$name" "$BUNDLE"
		[ "$output" = end ] || custody_fail "$name: $output $stderr"
	done
	rm -rf root
	CUSTODY_ROOT=$CUSTODY_HOME/root
}

# stays_shut WORDS: the bundle under both runtimes: not executed, refused with WORDS, and a record.
stays_shut() {
	local name
	for name in crun runc; do
		runtime_run "$name" "$BUNDLE"
		[ "$status" -ne 0 ] || custody_fail "$name: it ran"
		[[ $output != *payload* ]] || custody_fail "$name: the payload was executed"
		assert_stderr_has "$1"
		[ "$(tail -n 1 "$SEG" | jq -r .k)" = session.refused ] || custody_fail "$name: no record: $(tail -n 1 "$SEG")"
	done
}

@test "GOV-6: CARD-3: a bundle is judged by the rules of the day it starts, and as strictly as the day it was written" {
	command -v crun >/dev/null && command -v runc >/dev/null || skip 'no other runtime'
	bundle -- echo payload
	runtime_run crun "$BUNDLE"
	assert_status 0
	printf '{"rules":[{"effect":"deny","argv":["echo"]}]}\n' >"$CUSTODY_ROOT/etc/custody.json"
	stays_shut "denied by policy"
	# The profile's word holds also where the configuration asks for less.
	printf '{"governance":{"security_profile":"off"},"provenance":[{"uid":%s,"intention":"explicit"}]}\n' "$(id -u)" >"$CUSTODY_ROOT/etc/custody.json"
	bundle -- sh -c 'git reset --hard; echo payload'
	runtime_run crun "$BUNDLE"
	[[ $output == *payload* ]]
	profile strict '{"governance": {"security_profile": "strict"}}'
	bundle -p "$PROFILE" -- sh -c 'git reset --hard; echo payload'
	stays_shut "needs approval"
}

@test "GOV-11: CARD-3: revoked between create and start: the warden ends it, and no use is recorded" {
	command -v crun >/dev/null || skip 'no crun'
	printf '{"rules":[{"effect":"ask","argv":["sleep"]}]}\n' >"$CUSTODY_ROOT/etc/custody.json"
	bundle -- sleep 1000
	runtime_run crun "$BUNDLE"
	[ "$status" -ne 0 ]
	approve "$(pending '.requests[0].id')"
	ID=custody-test-revoked-$$
	runtime crun create -b "$BUNDLE" "$ID" < <(:) >>"$CUSTODY_HOME/thrown-away"
	"$CUSTODY" revoke "$(grants '.grants[0].id')"
	runtime crun start "$ID" || true
	# Not by itself: it would sleep for longer than this test waits.
	is_told() { compgen -G "$CUSTODY_ROOT/run/sessions/*/exit.json" >/dev/null; }
	wait_until is_told
	runtime crun delete --force "$ID" || true
	runtime_settle
	[ "$(records grant.consume)" = 0 ]
	[ "$(records session.start)" = 0 ]
}

@test "LANE-6: CARD-3: a bundle of one lane with the hook of the other is refused" {
	command -v crun >/dev/null && command -v runc >/dev/null || skip 'no other runtime'
	profile prod '{"network": {"mode": "none", "class": "prod"}}'
	CUSTODY_ALLOW_PROD=1 bundle --lane prod --allow-prod -p "$PROFILE" -- echo payload
	# Under the sandbox lane both keys are not required.
	sed -i 's/"--lane=prod"/"--lane=sandbox"/' "$BUNDLE/config.json"
	grep -q -- --lane=sandbox "$BUNDLE/config.json"
	stays_shut "lane 'prod'"
}

@test "ROOT-3: neither the other lane's state nor evidence can be made writable" {
	mkdir -m 0700 "$CUSTODY_ROOT/prod"
	run --separate-stderr alone "$CUSTODY" run -v "$CUSTODY_ROOT/prod:/x:rw" -- touch /x/planted
	assert_status 125
	assert_stderr_has "custody's own"
	[ ! -e "$CUSTODY_ROOT/prod/planted" ]
	mkdir -m 0700 "$CUSTODY_ROOT/forensics"
	run --separate-stderr alone "$CUSTODY" run -v "$CUSTODY_ROOT/forensics:/x:rw" -- touch /x/planted
	assert_status 125
	assert_stderr_has "custody's own"
}

@test "GOV-13: the payload has no descriptor, socket or process of its supervisor" {
	run --separate-stderr alone "$CUSTODY" run -- sh -c 'ls /proc/self/fd | tr "\n" " "; ls -d /proc/[0-9]* | wc -l; cat /proc/1/environ /proc/1/maps; ls -l /proc/1/cwd/ /proc/1/root/ ; true' 
	assert_status 0
	# 0 1 2 and the directory that ls itself reads.
	[[ $output == "0 1 2 3 "* ]] || custody_fail "descriptors"
	[[ $output != *CUSTODY* ]]
	[[ $output != *"$CUSTODY_ROOT"* ]]
}

# ---- evidence of a hostile tree ----

evidence_of() { # the directory of the last one
	find "$CUSTODY_ROOT/forensics" -mindepth 1 -maxdepth 1 -type d | sort | tail -n 1
}

@test "ISO-5: evidence of a worktree that holds the evidence does not hold itself, nor any key" {
	cd "$CUSTODY_HOME"
	"$CUSTODY" key new >/dev/null
	for _ in 1 2; do
		run --separate-stderr alone "$CUSTODY" run -- sh -c 'kill -9 $$'
		assert_status 137
	done
	[ -n "$(evidence_of)" ]
	[ -z "$(find "$(evidence_of)" -mindepth 2 \( -name manifest.ndjson -o -name digest.key -o -name ledger-keys \))" ]
	! grep -rqs '"seed"' "$(evidence_of)" || custody_fail "a private key was captured"
	cd "$CUSTODY_HOME/work"
}

@test "ISO-6: deep names, many holes and many links cost the evidence no more than the quota" {
	approval_config '"sandbox":{"forensic_quota":"16M"}'
	cat >deep.py <<-'EOF'
		import os
		f = os.open("holes", os.O_RDWR | os.O_CREAT)
		for i in range(1100):
		    os.pwrite(f, b"x", i * 65536)
		os.pwrite(f, b"x", 1 << 30)
		open("one", "w").write("x" * 1000)
		for i in range(500):
		    os.link("one", "link%d" % i)
		os.mkfifo("fifo")
		os.symlink("/etc/shadow", "shadow")
		for i in range(400):
		    os.mkdir("d" * 250)
		    os.chdir("d" * 250)
		os._exit(3)
	EOF
	custody_run -- python3 deep.py
	local dir
	dir=$(evidence_of)
	[ "$(du -sk "$dir" | cut -f 1)" -lt 16384 ] || custody_fail "$(du -sk "$dir")"
	[ "$(jq -r .status "$dir/metadata.json")" = partial ]
	[ ! -L "$dir/worktree/shadow" ] && [ ! -e "$dir/worktree/fifo" ]
	[ "$(stat -c %a "$dir")" = 700 ]
	"$CUSTODY" evidence verify "$(basename "$dir")"
}

@test "ISO-5: names of the payload's reach no terminal as they are, and forge no line of the manifest" {
	custody_run -- sh -c 'n=$(printf "x\n{\"p\":\"forged\",\"t\":\"f\"}\033]0;owned\007"); : >"$n"; : >"$(printf "bad\377")"; exit 3'
	assert_status 3
	local dir
	dir=$(evidence_of)
	[ -z "$(jq -r 'select(.p == "forged") | .p' "$dir/manifest.ndjson")" ]
	for verb in ls "show $(basename "$dir")" "verify $(basename "$dir")"; do
		# shellcheck disable=SC2086 # two words
		run --separate-stderr "$CUSTODY" evidence $verb
		[[ $output$stderr != *$'\033'* ]] || custody_fail "an escape sequence in 'evidence $verb'"
	done
}
