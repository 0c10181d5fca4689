#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154,SC2317 # scripts for the inside; bats' subshells; functions as arguments
#
# CARD-3: under crun and runc, without a custody plug-in, a bundle needs approval before it runs and is in the ledger.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	umask 022
	lay_out
}

teardown() {
	custody_teardown
}

lay_out() {
	mkdir -p sub
	printf 'touch ran\necho first\n' >script.sh
	echo data >file
	[ "$(id -u)" -ne 0 ] || chown -hR "$(owner)" .
	profile rw '{"workspace": {"mode": "rw"}}'
	profile plain '{}'
}

# judged JSON: custody.json.  Without a terminal, the admin's configuration gives the caller's intention.
judged() {
	mkdir -p "$CUSTODY_ROOT/etc"
	echo "$1" >"$CUSTODY_ROOT/etc/custody.json"
	[ "$(id -u)" -ne 0 ] || [ ${#CUSTODY_AS[@]} -eq 0 ] || chown -R "$SUITE_UID" "$CUSTODY_ROOT/etc"
}
explicit() {
	judged "$(jq -n --argjson uid "$("${CUSTODY_AS[@]}" id -u)" '{provenance: [{uid: $uid, intention: "explicit"}]}')"
}

# The file is there already: runtime_trust leaves it alone.
write() { # OPTIONS -- CMD...
	[ -e "$CUSTODY_ROOT/etc/custody.json" ] || judged '{}'
	bundle "$@"
}

last() { # KIND FILTER
	custody ledger show --json | jq --arg k "$1" "[.records[] | select(.k == \$k)] | last | $2"
}
whole() {
	custody ledger verify >/dev/null
}

level() { # LETTER: of the bundle's command
	[ "$(last session.refused .d.approval.level)" = "\"$1\"" ]
}

refused() { # WORDS...
	runtime_run "$RUNTIME" "$BUNDLE"
	[ "$status" -ne 0 ] || custody_fail "it ran"
	[ ! -e ran ] || custody_fail "the payload was executed"
	for words in "$@"; do
		assert_stderr_has "$words"
	done
	[ "$(last session.refused .status)" = '"denied"' ]
	[ -z "$(ls "$CUSTODY_ROOT/sandbox/open" 2>/dev/null)" ]
	[ -z "$(ls "$CUSTODY_ROOT/run/sessions" 2>/dev/null)" ]
	whole
}

runs() {
	runtime_run "$RUNTIME" "$BUNDLE"
	assert_status 0
	whole
}

request() { # the id of the only request
	custody pending --json | jq -r '.requests[0].id'
}

level_a() {
	local before after ended
	before=$(records session.end)
	runtime_run "$RUNTIME" "$BUNDLE"
	assert_status 3
	assert_output_has data
	after=$(records session.end)
	[ "$after" -eq $((before + 1)) ]
	[ "$(last session.intent '[.d.approval.level, .d.action, .d.profile] | join(" ")')" = '"A create plain"' ]
	ended=$(last session.end '[.d.reason, .d.code] | join(" ")')
	# Before Linux 6.15 the status is lost if the runtime reaps first (docs/design/hooks.md, "end"): seen in an emulated machine.
	[ "$ended" = '"exited 3"' ] || { [[ $ended == '"lost'* ]] && [ "$(printf '%s\n' "$(uname -r)" 6.15 | sort -V | head -n 1)" != 6.15 ]; } ||
		custody_fail "$ended"
	[ "$(last session.start .session)" = "$(last session.end .session)" ]
	[ -z "$(ls "$CUSTODY_ROOT/sandbox/open")" ]
	whole
}

@test "CARD-3: GOV-1: a level A runs under crun and runc and is in the ledger" {
	write --profile "$CUSTODY_HOME/plain.json" -- sh -c 'cat file; exit 3'
	[ "$(jq -r '.hooks.createRuntime[0].args[1]' "$BUNDLE/config.json")" = approve ]
	[ "$(jq -r '.hooks.prestart' "$BUNDLE/config.json")" = null ]
	both level_a
	both level_a
}

needs_approval() {
	refused 'level B needs approval' 'custody approve' "$(jq -r .digest "$BUNDLE/subject.json" | cut -c8-23)"
	level B
}

# Level B in a writable tree: an explicit run whose effects cannot be undone.
level_b() {
	explicit
	write --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
}

@test "CARD-3: GOV-1: GOV-9: a level B is refused without a grant, executes nothing, and runs once with one" {
	level_b
	both needs_approval
	[ "$(custody pending --json | jq -r '[(.requests | length), .requests[0].count] | join(" ")')" = '1 2' ]
	for RUNTIME in crun runc; do
		rm -f ran
		"${CUSTODY_AS[@]}" "$CUSTODY" approve "$(request)" --yes 2>/dev/null
		runs
		[ -e ran ]
		rm ran
		[ "$(last session.intent .d.approval.granted)" = true ]
		[ "$(last session.intent .d.approval.level)" = '"B"' ]
		# Once is once, and consumed with a record before the end.
		[ "$(last grant.consume .session)" = "$(last session.end .session)" ]
		refused 'consumed'
	done
}

@test "CARD-3: GOV-3: a level C is refused; a yes without the PIN does not help" {
	judged '{}'
	write --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	level_c() {
		refused 'level C needs approval'
		level C
	}
	both level_c
	run "$CUSTODY" approve "$(request)" --yes
	[ "$status" -ne 0 ]
	both level_c
}

@test "CARD-3: a level C runs once after a person gave the PIN" {
	judged '{}'
	write --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	RUNTIME=crun
	refused 'level C needs approval'
	python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" 'expect:new PIN: ' 'send:246813\n' 'expect:gain' 'send:246813\n' -- "$CUSTODY" pin set
	python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" 'expect:pprove' 'send:yes\n' 'expect:PIN' 'send:246813\n' -- \
		"$CUSTODY" approve "$(request)"
	runs
	[ -e ran ]
	rm ran
	refused 'consumed'
}

@test "CARD-3: GOV-6: a bundle has no standing approval, and none of a run answers for it" {
	judged '{}'
	# The same program, profile and worktree, approved for own runs.
	printf '246813\n' | "$CUSTODY" pin set --pin-fd 0
	run setsid --wait "$CUSTODY" run --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	[ "$status" -eq 114 ]
	python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" 'expect:pprove' 'send:yes\n' 'expect:PIN' 'send:246813\n' -- \
		"$CUSTODY" approve "$(request)" --always
	setsid --wait "$CUSTODY" run --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	[ -e ran ]
	rm ran
	write --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	both refused 'level C needs approval'
	[ ! -e ran ]
	run --separate-stderr "$CUSTODY" approve "$(request)" --always
	[ "$status" -ne 0 ]
	[[ $stderr == *"can have no standing approval: it is of a bundle"* ]]
}

# edited JQ-FILTER WORDS...: config.json changed by hand.
edited() {
	local filter=$1
	shift
	cp "$BUNDLE/config.json" "$CUSTODY_HOME/kept"
	jq "$filter" "$CUSTODY_HOME/kept" >"$BUNDLE/config.json"
	if cmp -s <(jq . "$CUSTODY_HOME/kept") "$BUNDLE/config.json"; then
		custody_fail "'$filter' changes nothing"
	fi
	both refused 'config.json does not match the subject' "$@"
	cat "$CUSTODY_HOME/kept" >"$BUNDLE/config.json"
}

@test "CARD-3: GOV-9: an edited config.json is refused and the difference is named" {
	write --profile "$CUSTODY_HOME/plain.json" -e SECRET=hunter2 -- sh -c 'exit 0'
	edited '.process.args[-1] = "touch ran"' 'process.args'
	edited '.process.cwd = "/tmp"' 'process.cwd'
	edited '.process.noNewPrivileges = false' noNewPrivileges
	edited '.hostname = "other"' hostname
	edited '.linux.resources = {}' resources
	edited '.mounts += [{destination: "/srv", type: "bind", source: "/", options: ["rbind"]}]' mounts
	# runc mounts before it asks.
	rm -rf --one-file-system "$BUNDLE/rootfs/srv"
	edited '.hooks.createRuntime[1].args[2] |= sub("/work"; "/werk")' hooks
	edited '.annotations["run.oci.seccomp_bpf_data"] = "AAAA"' seccomp_bpf_data
	# Its own arguments too: it was called with them, and made with others.
	edited '.hooks.createRuntime[0].args += ["--provenance=unknown"] | .hooks.createRuntime[0].timeout = 31' timeout
	# One byte that no JSON reader sees.
	cp "$BUNDLE/config.json" "$CUSTODY_HOME/kept"
	echo >>"$BUNDLE/config.json"
	both refused 'config.json does not match the subject'
	cat "$CUSTODY_HOME/kept" >"$BUNDLE/config.json"
	both runs
}

# replaced head|tail FROM TO: the first or last FROM in config.json becomes TO, of the same length: every other byte keeps its
# place, and the runtime would accept the file.
replaced() {
	local at
	[ ${#2} -eq ${#3} ]
	cp "$BUNDLE/config.json" "$CUSTODY_HOME/kept"
	at=$(grep -obF -- "$2" "$BUNDLE/config.json" | "$1" -n 1 | cut -d: -f1)
	[ -n "$at" ] || custody_fail "config.json does not have '$2'"
	printf '%s' "$3" | dd of="$BUNDLE/config.json" bs=1 seek="$at" conv=notrunc status=none
	[ "$(stat -c %s "$BUNDLE/config.json")" = "$(stat -c %s "$CUSTODY_HOME/kept")" ]
	refused 'config.json does not match the subject'
	cat "$CUSTODY_HOME/kept" >"$BUNDLE/config.json"
}

# Most of config.json is the filter, whose text the hook has from the build: the bytes before, in and behind it count alike.
@test "CARD-3: GOV-9: an edit of the same length before, in and behind the seccomp part of config.json is refused" {
	RUNTIME=crun
	write --profile "$CUSTODY_HOME/plain.json" -- sh -c 'exit 0'
	replaced head '"limit": 512' '"limit": 999'
	replaced head '"defaultErrnoRet": 38' '"defaultErrnoRet": 39'
	replaced head '"mkdir"' '"mount"'
	replaced tail '"prlimit64"' '"prlimit65"'
	replaced head '"mode=755"' '"mode=777"'
	replaced tail 'exit 0' 'exit 1'
	runs
}

@test "CARD-3: GOV-9: --seal-tree in a bundle: a file that is changed, added or removed afterwards refuses it" {
	write --profile "$CUSTODY_HOME/plain.json" --seal-tree -- sh -c 'cat file'
	both runs
	echo DATA >file
	both refused 'the worktree changed after it was sealed'
	echo data >file
	echo new >sub/new
	both refused 'the worktree changed after it was sealed'
	rm sub/new
	mv script.sh "$CUSTODY_HOME/away"
	both refused 'the worktree changed after it was sealed'
	mv "$CUSTODY_HOME/away" script.sh
	both runs
}

@test "CARD-3: GOV-9: an edited value of the environment is refused and not shown" {
	write --profile "$CUSTODY_HOME/plain.json" -e SECRET=hunter2 -- sh -c 'exit 0'
	sed -i 's/hunter2/hunter3/' "$BUNDLE/config.json"
	try() {
		refused SECRET
		[[ $stderr != *hunter* ]]
	}
	both try
}

@test "CARD-3: GOV-9: an edited subject.json is refused" {
	write --profile "$CUSTODY_HOME/plain.json" -- sh -c 'exit 0'
	cp "$BUNDLE/subject.json" "$CUSTODY_HOME/kept"
	sed -i '0,/exit 0/s//exit 1/' "$BUNDLE/subject.json"
	both refused subject.json
	# With a digest that fits it is another subject, which config.json is not.
	jq '.subject.cwd = "/"' "$CUSTODY_HOME/kept" >"$BUNDLE/subject.json"
	digest=$(jq -cjS .subject "$BUNDLE/subject.json" | sha256sum | cut -d' ' -f1)
	jq --arg d "sha256:$digest" '.digest = $d' "$BUNDLE/subject.json" >"$BUNDLE/new"
	cat "$BUNDLE/new" >"$BUNDLE/subject.json"
	rm "$BUNDLE/new"
	both refused 'config.json does not match the subject'
	rm "$BUNDLE/subject.json"
	both refused subject.json
}

@test "CARD-3: GOV-7: GOV-9: a bundle that claims a disposable worktree is refused" {
	# config.json does not show the stamp: without the refusal this would be a level A.
	write --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	jq '.subject.worktree.disposable = true' "$BUNDLE/subject.json" >"$CUSTODY_HOME/new"
	digest=$(jq -cjS .subject "$CUSTODY_HOME/new" | sha256sum | cut -d' ' -f1)
	jq --arg d "sha256:$digest" '.digest = $d' "$CUSTODY_HOME/new" >"$BUNDLE/subject.json"
	both refused 'a bundle cannot use a disposable directory'
}

@test "CARD-3: GOV-9: script rewritten: the sealed copy runs; the copy edited: refused" {
	write --profile "$CUSTODY_HOME/plain.json" -- sh script.sh
	echo 'echo second' >script.sh
	try() {
		runs
		assert_output_has first
		[[ $output != *second* ]]
	}
	both try
	printf 'touch ran\necho f1rst\n' >"$BUNDLE/operands/script.sh"
	both refused "sealed copy of 'script.sh'"
	rm "$BUNDLE/operands/script.sh"
	both refused sealed
}

@test "CARD-3: GOV-9: profile edited: the bundle runs as it was judged" {
	write --profile "$CUSTODY_HOME/plain.json" -- sh -c 'cat /proc/net/dev | wc -l'
	profile plain '{"network": {"mode": "host"}}'
	try() {
		runs
		[ "$output" -eq 3 ] # two lines of heading, and lo
	}
	both try
}

@test "CARD-3: GOV-9: a writable source that was replaced is refused, also by a link" {
	explicit
	mkdir data
	echo 'touch /data/ran' >script.sh
	write --profile "$CUSTODY_HOME/plain.json" -v "$PWD/data:/data:rw" -- sh script.sh
	RUNTIME=crun
	refused 'level B needs approval'
	"$CUSTODY" approve "$(request)" --yes --uses 9 2>/dev/null
	both runs
	[ -e data/ran ]
	mv data old
	mkdir data
	both refused "'$PWD/data' was replaced"
	[ ! -e data/ran ]
	rmdir data
	ln -s old data
	both refused 'symbolic link'
	rm data
	mv old data
	both runs
}

@test "CARD-3: a bundle that others may write, that is linked or of another user is refused" {
	write --profile "$CUSTODY_HOME/plain.json" -- sh -c 'touch ran'
	chmod g+w "$BUNDLE"
	both refused "$BUNDLE"
	chmod g-w "$BUNDLE"
	chmod o+w "$BUNDLE/config.json"
	both refused config.json
	chmod 0600 "$BUNDLE/config.json"
	mv "$BUNDLE/subject.json" "$CUSTODY_HOME/elsewhere"
	ln -s "$CUSTODY_HOME/elsewhere" "$BUNDLE/subject.json"
	both refused subject.json
	mv "$CUSTODY_HOME/elsewhere" "$BUNDLE/subject.json"
	if [ "$(id -u)" -eq 0 ]; then
		chown 64321 "$BUNDLE/subject.json"
		both refused subject.json
		chown 0 "$BUNDLE/subject.json"
	fi
	both runs
}

@test "CARD-3: files added to the bundle's root are refused" {
	write --profile "$CUSTODY_HOME/plain.json" -- sh -c 'exit 0'
	echo "$PWD/evil.so" >"$BUNDLE/rootfs/etc/ld.so.preload"
	both refused ld.so.preload
}

@test "CARD-3: the reason is written to the file of run.oci.hooks.stderr, which may be added" {
	level_b
	jq --arg file "$CUSTODY_HOME/said" '.annotations["run.oci.hooks.stderr"] = $file' "$BUNDLE/config.json" >"$CUSTODY_HOME/new"
	cat "$CUSTODY_HOME/new" >"$BUNDLE/config.json"
	try() {
		rm -f "$CUSTODY_HOME/said"
		refused 'level B needs approval'
		[ "$(grep -c 'level B needs approval' "$CUSTODY_HOME/said")" -eq 1 ]
		[ "$(grep -c 'level B needs approval' "$BUNDLE/custody-hook.err")" -eq 1 ]
	}
	both try
}

@test "CARD-3: the reason reaches the terminal, also when the runtime's own output goes elsewhere" {
	level_b
	told() {
		run python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" -- bash -c 'source "$1/../lib/suite.bash" && source "$1/../lib/runtime.bash" &&
			runtime "$2" run -b "$3" "custody-test-$2-$$" < <(:) >>"$4" 2>&1' bash "$BATS_TEST_DIRNAME" "$RUNTIME" "$BUNDLE" \
			"$CUSTODY_HOME/thrown-away"
		[ "$status" -ne 0 ] || custody_fail "it ran"
		assert_output_has 'level B needs approval'
		assert_output_has "custody approve $(request)"
		[ ! -e ran ]
		runtime_settle
	}
	both told
}

@test "CARD-3: a denied request stays denied" {
	level_b
	RUNTIME=crun
	refused 'level B needs approval'
	"$CUSTODY" deny "$(request)" --reason 'not today' >/dev/null
	both refused 'not today'
}

@test "CARD-3: GOV-11: of eight starts that race for one use one runs" {
	local pids=() i
	explicit
	mkdir out
	[ "$(id -u)" -ne 0 ] || chown 64321:64322 out
	echo 'mktemp out/XXXXXX' >script.sh
	write --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	RUNTIME=crun
	refused 'level B needs approval'
	"$CUSTODY" approve "$(request)" --yes 2>/dev/null
	for i in {1..8}; do
		runtime crun run -b "$BUNDLE" "custody-test-race-$i-$$" < <(:) >>"$CUSTODY_HOME/thrown-away" 2>&1 &
		pids+=($!)
	done
	wait "${pids[@]}" || true
	runtime_settle
	[ "$(find out -type f | wc -l)" -eq 1 ]
	[ "$(records grant.consume)" -eq 1 ]
	whole
}

# hooked STATE-PID: the hook by hand, as the runtime would call it.
hooked() {
	local args
	mapfile -t args < <(jq -r '.hooks.createRuntime[0].args[1:][]' "$BUNDLE/config.json")
	run --separate-stderr bash -c 'printf "%s" "$1" | "$2" "${@:3}"' bash \
		"$(jq -cn --arg b "$BUNDLE" --argjson pid "$1" '{ociVersion: "1.0.2", id: "x", pid: $pid, bundle: $b, status: "created"}')" \
		"$(jq -r '.hooks.createRuntime[0].path' "$BUNDLE/config.json")" "${args[@]}"
}

@test "CARD-3: a pid that is not the container's is not believed" {
	write --profile "$CUSTODY_HOME/plain.json" -- true
	hooked 0
	[ "$status" -ne 0 ]
	hooked 1
	[ "$status" -ne 0 ]
	hooked 4194303
	[ "$status" -ne 0 ]
	# Older than the calling process.
	hooked $$
	[ "$status" -ne 0 ]
	assert_stderr_has 'older than the runtime'
	# Young, but no container.
	local args
	mapfile -t args < <(jq -r '.hooks.createRuntime[0].args[1:][]' "$BUNDLE/config.json")
	run --separate-stderr bash -c 'sleep 1000 </dev/null >/dev/null 2>&1 & young=$!
		jq -cn --arg b "$1" --argjson pid $young "{id: \"x\", pid: \$pid, bundle: \$b}" >"$3"
		"$2" "${@:4}" <"$3"; status=$?; kill $young; exit $status' bash "$BUNDLE" \
		"$(jq -r '.hooks.createRuntime[0].path' "$BUNDLE/config.json")" "$CUSTODY_HOME/state" "${args[@]}"
	[ "$status" -ne 0 ]
	assert_stderr_has 'not the first one of a pid namespace'
	[ "$(records session.intent)" -eq 0 ]
}

@test "CARD-3: the hook reads all of stdin, also when it has nothing to do with it" {
	local hook
	write --profile "$CUSTODY_HOME/plain.json" -- true
	hook=$(jq -r '.hooks.createRuntime[0].path' "$BUNDLE/config.json")
	for words in 'approve' 'approve --lane=nowhere' 'audit' 'audit --lane=sandbox --security=off' 'nonsense' 'mount {'; do
		# shellcheck disable=SC2086
		{ head -c 9000000 /dev/zero; echo "$?" >"$CUSTODY_HOME/rc"; } | "$hook" $words >/dev/null 2>&1 || true
		[ "$(cat "$CUSTODY_HOME/rc")" = 0 ] || custody_fail "'$words' left some"
	done
}

@test "CARD-3: a ledger that cannot be written stops the container" {
	[ "$(id -u)" -ne 0 ] || suite_setup_user
	lay_out
	write --profile "$CUSTODY_HOME/plain.json" -- sh -c 'touch ran; echo ran'
	chmod 0500 "$CUSTODY_ROOT/sandbox/ledger"
	chmod 0400 "$CUSTODY_ROOT"/sandbox/ledger/*
	runtime_run crun "$BUNDLE"
	chmod -R u+w "$CUSTODY_ROOT/sandbox/ledger"
	[ "$status" -ne 0 ]
	[[ $output != *ran* ]]
	assert_stderr_has 'cannot write to the ledger'
}

state() { # WORD: is the container in that state?
	[ "$(runtime crun state "$ID" | jq -r .status)" = "$1" ]
}
told() { # KIND COUNT
	[ "$(records "$1")" -ge "$2" ]
}
empty() { # DIR
	[ -z "$(ls "$1")" ]
}

@test "CARD-3: created and never started: the grant is released; started and killed: it is used" {
	runtime_own_init
	level_b
	RUNTIME=crun
	refused 'level B needs approval'
	"$CUSTODY" approve "$(request)" --yes 2>/dev/null
	ID=custody-test-created-$$
	runtime crun create -b "$BUNDLE" "$ID" < <(:) >>"$CUSTODY_HOME/thrown-away"
	state created
	[ "$(records session.start)" -eq 0 ]
	[ "$(records grant.consume)" -eq 0 ]
	# Reserved: no other start gets it.
	run runtime crun run -b "$BUNDLE" "custody-test-second-$$" < <(:)
	[ "$status" -ne 0 ]
	grep -q reserved "$BUNDLE/custody-hook.err"
	[ ! -e ran ]
	runtime crun delete --force "$ID"
	wait_until told grant.release 1
	runtime_settle
	[ "$(last session.refused .d.refused)" = '"setup-failed"' ]
	runs
	[ -e ran ]
	whole
}

@test "CARD-3: exit.json and the ledger have how a container ended" {
	local id=custody-test-killed-$$
	judged '{}'
	write --profile "$CUSTODY_HOME/plain.json" -- sleep 1000
	ID=$id
	runtime crun create -b "$BUNDLE" "$id" < <(:) >>"$CUSTODY_HOME/thrown-away"
	runtime crun start "$id"
	wait_until told session.start 1
	runtime crun kill "$id" KILL
	wait_until compgen -G "$CUSTODY_ROOT/run/sessions/*/exit.json" >/dev/null
	[ "$(jq -r '[.reason, .signal, .code, .container] | join(" ")' "$CUSTODY_ROOT"/run/sessions/*/exit.json)" = "signaled 9 137 $id" ]
	[ "$(last session.end '[.d.reason, .d.signal] | join(" ")')" = '"signaled 9"' ]
	runtime crun delete --force "$id"
	wait_until empty "$CUSTODY_ROOT/run/sessions"
	whole
}

@test "CARD-3: a user's bundle is judged under crun as well" {
	suite_setup_user
	lay_out
	RUNTIME=crun
	judged '{}'
	write --profile "$CUSTODY_HOME/plain.json" -- sh -c 'cat file; exit 3'
	# Again and again: what a user sees of a zombie must not be taken for an end.
	for _ in {1..5}; do
		level_a
	done
	level_b
	needs_approval
	"${CUSTODY_AS[@]}" "$CUSTODY" approve "$(request)" --yes 2>/dev/null
	runs
	[ -e ran ]
	rm ran
	refused consumed
	sed -i 's/script.sh/scripts.h/' "$BUNDLE/config.json"
	refused 'config.json does not match the subject'
}

@test "CARD-3: the admin's on_request command runs once for a container's request" {
	cat >"$CUSTODY_HOME/tell" <<-'END'
		#!/bin/sh
		{ echo "$#:$*"; cat; } >>"$(dirname "$0")/told"
	END
	chmod +x "$CUSTODY_HOME/tell"
	judged "$(jq -n --arg tell "$CUSTODY_HOME/tell" '{on_request: [$tell, "fixed"], provenance: [{uid: 0, intention: "explicit"}]}')"
	write --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	both needs_approval
	[ "$(head -n 1 "$CUSTODY_HOME/told")" = "2:fixed $(request)" ]
	[ "$(tail -n 1 "$CUSTODY_HOME/told" | jq -r .id)" = "$(request)" ]
	[ "$(wc -l <"$CUSTODY_HOME/told")" = 2 ]
}

@test "CARD-3: LANE-3: a bundle of lane prod needs both keys at each start" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	judged '{}'
	profile prod '{"network": {"mode": "none", "class": "prod"}}'
	CUSTODY_ALLOW_PROD=1 bundle --lane prod --allow-prod --profile "$CUSTODY_HOME/prod.json" -- sh -c 'echo in prod'
	try() {
		runtime_run "$RUNTIME" "$BUNDLE"
		[ "$status" -ne 0 ]
		[[ $output != *'in prod'* ]]
		assert_stderr_has CUSTODY_ALLOW_PROD
		CUSTODY_ALLOW_PROD=yes runtime_run "$RUNTIME" "$BUNDLE"
		assert_status 0
		assert_output_has 'in prod'
	}
	both try
	"$CUSTODY" ledger verify --lane prod >/dev/null
	[ "$("$CUSTODY" ledger show --lane prod --json | jq '[.records[] | select(.k == "session.end")] | length')" -eq 2 ]
	# The flag is the bundle's: one that was written without it is refused.
	jq 'del(.hooks.createRuntime[0].args[] | select(. == "--allow-prod"))' "$BUNDLE/config.json" >"$CUSTODY_HOME/new"
	cat "$CUSTODY_HOME/new" >"$BUNDLE/config.json"
	CUSTODY_ALLOW_PROD=yes runtime_run crun "$BUNDLE"
	[ "$status" -ne 0 ]
	assert_stderr_has -- --allow-prod
}

# Every entry of lane prod: type, mode, size, times and content.
prod_state() {
	(cd "$CUSTODY_ROOT" && find prod -printf '%p %y %m %s %T@ %C@\n' | sort && find prod -type f -exec sha256sum {} + | sort)
}

# prod_untouched MISSING: one key is missing.  Refused, recorded in the sandbox lane's ledger, and prod is as it was.
prod_untouched() {
	local before refusals
	before=$(prod_state)
	refusals=$(records lane.refused)
	runtime_run "$RUNTIME" "$BUNDLE"
	[ "$status" -ne 0 ] || custody_fail "it ran"
	[ ! -e ran ] || custody_fail "the payload was executed"
	assert_stderr_has "missing: $1;"
	[ "$(prod_state)" = "$before" ] || {
		diff <(echo "$before") <(prod_state) >&2
		custody_fail "the state of lane prod changed"
	}
	[ "$(records lane.refused)" -eq $((refusals + 1)) ]
	[ "$(last lane.refused '[.d.refused, .d.lane, .d.action, .status] | join(" ")')" = '"lane prod create denied"' ]
	[ "$("$CUSTODY" pending --lane prod --json | jq '.requests | length')" -eq "$REQUESTS" ]
	[ -z "$(ls "$CUSTODY_ROOT/run/sessions" 2>/dev/null)" ]
	whole
}

@test "LANE-2: LANE-3: with one key missing a bundle of lane prod opens no file of prod" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	judged '{}'
	profile prod '{"network": {"mode": "none", "class": "prod"}, "workspace": {"mode": "rw"}}'
	# Level B: past the gate a request would be filed.
	CUSTODY_ALLOW_PROD=1 bundle --lane prod --allow-prod --profile "$CUSTODY_HOME/prod.json" -- sh script.sh
	cp "$BUNDLE/config.json" "$CUSTODY_HOME/armed"
	jq 'del(.hooks.createRuntime[0].args[] | select(. == "--allow-prod"))' "$CUSTODY_HOME/armed" >"$CUSTODY_HOME/unarmed"
	# Prod has no ledger yet, and none is created.
	[ ! -e "$CUSTODY_ROOT/prod/ledger" ]
	REQUESTS=0
	both prod_untouched CUSTODY_ALLOW_PROD
	cat "$CUSTODY_HOME/unarmed" >"$BUNDLE/config.json"
	CUSTODY_ALLOW_PROD=1 both prod_untouched --allow-prod
	[ ! -e "$CUSTODY_ROOT/prod/ledger" ]
	# With both keys prod gets a ledger and a request; one key later changes neither.
	cat "$CUSTODY_HOME/armed" >"$BUNDLE/config.json"
	CUSTODY_ALLOW_PROD=1 runtime_run crun "$BUNDLE"
	[ "$status" -ne 0 ]
	assert_stderr_has 'custody approve'
	REQUESTS=1
	both prod_untouched CUSTODY_ALLOW_PROD
	cat "$CUSTODY_HOME/unarmed" >"$BUNDLE/config.json"
	CUSTODY_ALLOW_PROD=1 both prod_untouched --allow-prod
	both prod_untouched '--allow-prod and CUSTODY_ALLOW_PROD'
}

libexec() {
	echo "${CUSTODY_LIBEXEC:-$(dirname "$(readlink -f "$CUSTODY")")/../libexec/custody}"
}

# warden_elsewhere: writes a bundle whose custody-warden is $WARDEN, a copy that may be damaged.
warden_elsewhere() {
	local libexec=$CUSTODY_HOME/libexec
	mkdir "$libexec"
	cp "$(libexec)"/custody-{hook,init,pack,warden} "$libexec"
	CUSTODY_LIBEXEC=$libexec write "$@"
	WARDEN=$libexec/custody-warden
}

# unwatched WORDS...: refused like anything else, and it is in the ledger why.
unwatched() {
	local before
	before=$(records session.refused)
	refused custody-warden "make install" "$@"
	[[ $output != *ran* ]] || custody_fail "the payload was executed"
	[ "$(records session.refused)" -eq $((before + 1)) ]
	[ "$(last session.refused .d.refused)" = '"setup-failed"' ]
	[[ $(last session.refused .d.why) == *custody-warden* ]]
	[ "$(records session.start)" -eq 2 ]
}

@test "CARD-3: without custody-warden nothing runs" {
	warden_elsewhere --profile "$CUSTODY_HOME/plain.json" -- sh -c 'echo ran'
	both runs
	[ "$output" = ran ]
	cp "$WARDEN" "$CUSTODY_HOME/whole"
	# Not even executed: the kernel does not know what it is.
	echo 'no program' >"$WARDEN"
	both unwatched damaged
	# Executed, and dies of itself: nothing but headers.
	head -c 8192 "$CUSTODY_HOME/whole" >"$WARDEN"
	both unwatched damaged
	# Executed, and something else.
	printf '#!/bin/sh\nexit 0\n' >"$WARDEN"
	both unwatched damaged
	rm "$WARDEN"
	both unwatched
	cp "$CUSTODY_HOME/whole" "$WARDEN"
	both runs
}

# The program, spoken to as custody-hook would.
@test "CARD-3: custody-warden exits without a request, and kills the container of a request that it cannot parse" {
	python3 - "$(libexec)/custody-warden" <<-'EOF'
		import os, signal, socket, subprocess, sys

		def start():
		    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		    warden = subprocess.Popen([sys.argv[1]], pass_fds=[7], preexec_fn=lambda: os.dup2(theirs.fileno(), 7))
		    theirs.close()
		    return ours, warden

		ours, warden = start()
		assert ours.recv(10) == b"r"
		ours.close()
		assert warden.wait() == 0

		ours, warden = start()
		ours.close()
		assert warden.wait() >= 0

		fds = [os.open("/", os.O_RDONLY) for _ in range(3)]
		for text, n in (b"nonsense", 3), (b"{}", 3), (b"{}", 1), (b"{}", 0):
		    box = subprocess.Popen(["sleep", "1000"])
		    ours, warden = start()
		    assert ours.recv(10) == b"r"
		    socket.send_fds(ours, [text], [os.pidfd_open(box.pid)] + fds[:n])
		    assert box.wait() == -signal.SIGKILL
		    assert warden.wait() > 0
	EOF
	run "$(libexec)/custody-warden" 7>&-
	[ "$status" -eq 64 ]
}

@test "CARD-3: GOV-11: a grant is not lost to a damaged custody-warden" {
	explicit
	warden_elsewhere --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	RUNTIME=crun
	refused 'level B needs approval'
	"$CUSTODY" approve "$(request)" --yes 2>/dev/null
	cp "$WARDEN" "$CUSTODY_HOME/whole"
	echo 'no program' >"$WARDEN"
	both refused damaged
	[ "$(records grant.consume)" -eq 0 ]
	[ "$(records grant.reserve)" -eq 0 ]
	cp "$CUSTODY_HOME/whole" "$WARDEN"
	runs
	[ -e ran ]
}

@test "CARD-3: the next start sweeps the session of a watched container that was not deleted" {
	judged '{}'
	write --profile "$CUSTODY_HOME/plain.json" -- true
	runtime crun create -b "$BUNDLE" "custody-test-left-$$" < <(:) >>"$CUSTODY_HOME/thrown-away"
	runtime crun start "custody-test-left-$$"
	wait_until compgen -G "$CUSTODY_ROOT/run/sessions/*/exit.json" >/dev/null
	wait_until empty "$CUSTODY_ROOT/sandbox/open"
	custody_run --profile "$CUSTODY_HOME/plain.json" -- true
	assert_status 0
	[ -z "$(ls "$CUSTODY_ROOT/run/sessions")" ]
	runtime crun delete "custody-test-left-$$"
	whole
}

@test "CARD-3: GOV-13: a profile's approval settings apply to its bundles" {
	explicit
	profile rw '{"workspace": {"mode": "rw"}, "governance": {"min_approvals": 2}}'
	write --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	RUNTIME=crun
	refused 'level B needs approval'
	"$CUSTODY" approve "$(request)" --yes 2>/dev/null
	both refused 'level B needs approval'
	profile rw '{"workspace": {"mode": "rw"}, "governance": {"allow_self": false}}'
	write --profile "$CUSTODY_HOME/rw.json" -- sh script.sh
	refused 'level B needs approval'
	"$CUSTODY" approve "$(request)" --yes 2>/dev/null || true
	both refused 'level B needs approval'
}

@test "CARD-3: redacted options of a profile are in no record of its bundles" {
	judged '{"redact": {"flags": ["--site"]}}'
	profile plain '{"audit": {"redact": ["--gate"]}}'
	write --profile "$CUSTODY_HOME/plain.json" -- echo --gate hunter2 --site hunter3
	both runs
	"$CUSTODY" ledger show --json >"$CUSTODY_HOME/records"
	grep -q -- --gate "$CUSTODY_HOME/records"
	[ "$(grep -c hunter "$CUSTODY_HOME/records")" -eq 0 ]
	[ "$(last session.intent '[.d.approval.granted, .d.approval.by] | join(" ")')" = '"true policy"' ]
}
