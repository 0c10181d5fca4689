#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# custody approve --always: one decision with the PIN, then every start of the same program starts without a terminal.

load ../lib/suite.bash
load ../lib/approval.bash

setup() {
	approval_setup
	prepare
}

teardown() {
	custody_teardown
}

# A worktree that is written in place: ./agent may delete all of it, so without a terminal it is a C.
prepare() {
	suite_profile agent "{\"workspace\":{\"mode\":\"rw\"},\"enforce\":{\"optional\":[\"memory-limit\",\"pids-limit\",\"cpu-limit\"]}}"
	printf '#!/bin/sh\necho agent "$@"\ntouch ran\n' >agent
	chmod 755 agent
	if [ "$("${CUSTODY_AS[@]}" id -u)" != "$(id -u)" ]; then chown -R "$SUITE_UID:$SUITE_UID" . "$PROFILE" "$CUSTODY_ROOT"; fi
	printf '246813\n' | "${CUSTODY_AS[@]}" "$CUSTODY" pin set --pin-fd 0 >/dev/null
}

# start WORDS...: `custody run WORDS` without a terminal; $request is the id that a refusal names.
start() {
	rm -f ran
	run --separate-stderr alone "${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$PROFILE" "$@"
	request=$(sed -n 's/.*custody approve \([0-9a-f]\{16\}\).*/\1/p' <<<"$stderr" | head -n 1)
}

starts() {
	start "$@"
	[ "$status" -eq 0 ] || custody_fail "not started: $*"
}

# refused TEXT WORDS...: nothing runs, and the message has TEXT.
refused() {
	local text=$1
	shift
	start "$@"
	[ "$status" -eq 114 ] || custody_fail "status $status: $*"
	[ ! -e ran ] || custody_fail "it ran: $*"
	[[ $stderr == *"$text"* ]] || custody_fail "no '$text' in: $stderr"
}

always() { # [WORDS of approve]
	on_terminal 'expect:EVERY start' 'expect:Approve?' 'send:y\n' 'expect:PIN' 'send:246813\n' -- \
		"${CUSTODY_AS[@]}" "$CUSTODY" approve "$request" --always "$@"
}

# standing [WORDS]: a standing approval of ./agent, or of the command WORDS; $id is its id.
standing() {
	[ $# -gt 0 ] || set -- ./agent first
	start -- "$@"
	[ "$status" -eq 114 ] || custody_fail "status $status: $*"
	always
	assert_status 0
	id=$(grants '[.grants[] | select(.standing)] | last | .id')
}

@test "GOV-6: after one decision with the PIN every start runs without a terminal, with one record each" {
	standing
	assert_output_has "approved every start of $PWD/agent in $PWD"
	starts -- ./agent one
	assert_output_has "agent one"
	starts -- ./agent 'rm -rf /' --dangerously
	mkdir sub
	starts -w "$PWD/sub" -- ../agent from below
	[ "$(grants '.grants[0] | [.level, .used, .state, .standing.program] | join(" ")')" = "C 3 valid $PWD/agent" ]
	"$CUSTODY" grants | grep -q "3, always"
	# Each use is a record of its session; its intention is the one of a task, its level a B.
	[ "$("$CUSTODY" ledger show --json --kind grant.consume | jq -r '[.records[] | select(.d.standing) | .session] | unique | length')" = 3 ]
	[ "$("$CUSTODY" ledger show --json --kind session.intent | jq -r '.records | last | .d.approval | [.level, .granted, .verdict.axes.intention] | join(" ")')" = \
		"B true task" ]
	"$CUSTODY" ledger verify >/dev/null
	[ "$(pending '.requests | length')" = 0 ]
}

@test "GOV-6: it answers at a terminal too, where the card would ask" {
	standing
	on_terminal -- "$CUSTODY" run --profile "$PROFILE" -- ./agent here
	assert_status 0
	[[ $output != *"Approve?"* ]]
	assert_output_has "agent here"
}

@test "GOV-9: a standing approval is void with the name of the part: the program" {
	standing
	cp agent kept
	echo '# changed' >>agent
	refused "standing approval $id is void for this run, changed: program_sha256" -- ./agent one
	cp agent other
	refused "changed: program, program_sha256" -- ./other one
	# Through a link it is the same file; the same bytes at another place are another program.
	cat kept >agent
	cp kept elsewhere
	refused "changed: program" -- ./elsewhere one
	starts -- ./agent one
}

@test "GOV-9: a standing approval is void with the name of the part: the profile" {
	standing
	cp "$PROFILE" "$CUSTODY_HOME/kept.json"
	jq '.limits = {"pids": 100}' "$CUSTODY_HOME/kept.json" >"$PROFILE"
	refused "changed: profile" -- ./agent one
	cp "$CUSTODY_HOME/kept.json" "$PROFILE"
	starts -- ./agent one
}

@test "GOV-9: a standing approval is void with the name of the part: the worktree" {
	standing sh ./agent first
	mkdir "$CUSTODY_HOME/second"
	cp agent "$CUSTODY_HOME/second/"
	(cd "$CUSTODY_HOME/second" && refused "worktree, worktree_id" -- sh ./agent one)
	"$CUSTODY" revoke "$id"
	standing
	# Another directory under the same name.
	cp -a "$PWD" "$CUSTODY_HOME/copy"
	top=$PWD
	cd /
	mv "$top" "$CUSTODY_HOME/away"
	mv "$CUSTODY_HOME/copy" "$top"
	cd "$top"
	refused "changed: worktree_id" -- ./agent one
	cd /
	mv "$top" "$CUSTODY_HOME/copy"
	mv "$CUSTODY_HOME/away" "$top"
	cd "$top"
	starts -- ./agent one
}

@test "GOV-9: a standing approval is void with the name of the part: the network and the other settings" {
	standing
	mkdir "$CUSTODY_HOME/vol"
	refused "changed: egress" --network host -- ./agent one
	refused "settings.mounts" -v "$CUSTODY_HOME/vol:/vol:rw" -- ./agent one
	refused "settings.mounts" -v "$CUSTODY_HOME/vol:/vol:ro" -- ./agent one
	refused "changed: settings.env" -e LD_PRELOAD=./x.so -- ./agent one
	refused "changed: settings.limits" --memory 64m -- ./agent one
	refused "changed: settings.seal" --no-seal -- ./agent one
	# Language and terminal are not settings.
	LANG=de_DE.UTF-8 LC_ALL=C TERM=screen starts -- ./agent one
	[ "$(grants '.grants[0].used')" = 1 ]
}

@test "GOV-9: a standing approval of a shell, an interpreter or a wrapper is for its arguments alone" {
	printf 'touch ran\n' >build.sh
	mkdir sub tools
	printf 'all:\n\ttouch ran\n' >build.mk
	for words in 'sh build.sh' 'env X=1 ./agent x' 'nice ./agent x' 'make -f build.mk'; do
		read -ra command <<<"$words"
		standing "${command[@]}"
		starts -- "${command[@]}"
		refused "changed: settings.argv" -- "${command[@]}" more
	done
	# Neither text, nor another program, nor another directory, nor another content of the script.
	refused "settings.argv" -- sh -c './agent y'
	refused "settings.argv" -- env X=1 ./agent y
	refused "settings.argv" -- nice ./agent y
	refused "settings.argv" -- make -f build.mk SHELL=./agent
	refused "settings.argv" -- make --eval 'all:; touch other'
	cp build.sh sub/
	refused "changed: settings.cwd" -w "$PWD/sub" -- sh build.sh
	printf 'touch ran other\n' >build.sh
	refused "changed: settings.operands" -- sh build.sh
	[ ! -e other ]
	# Under another name it is the same file.
	ln -s "$(command -v sh)" tools/agent2
	refused "settings.argv" -- ./tools/agent2 -c './agent y'
}

@test "GOV-9: a file that is several programs is approved by the name that was called" {
	printf '#!/bin/sh\necho "as ${0##*/}"\ntouch ran\n' >multi
	chmod 755 multi
	ln -s multi reads
	ln -s multi removes
	standing ./reads one
	starts -- ./reads two
	refused "changed: settings.name" -- ./removes two
	refused "changed: settings.name" -- ./multi two
}

@test "GOV-9: a standing approval is void for a run that continues other changes, and has a name there" {
	suite_profile agent '{"dangerous":["host-network"],"network":{"mode":"host"},"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
	standing
	custody_run -- sh -c 'printf "#!/bin/sh\necho other\n" >new; chmod 755 new; mv new agent'
	assert_status 0
	base=$(custody_result .session)
	refused "changed: program_sha256, settings.worktree" --continue="$base" -- ./agent one
	[ -z "$output" ]
	always
	assert_status 0
	starts --continue="$base" -- ./agent two
	assert_output_has other
	[ "$(grants '[.grants[] | .standing.program] | unique | join(" ")')" = "$PWD/agent" ]
	starts -- ./agent three
	assert_output_has "agent three"
}

@test "GOV-3: GOV-5: GOV-6: unbounded deletes, the system and the web are never covered" {
	standing sh -c './agent x'
	starts -- sh -c './agent x'
	[ -e ran ]
	touch keep
	for command in './agent; rm -rf *' './agent; rm -rf /' './agent; rm -rf "$x"' './agent; git clean -fdx' './agent; echo x >/etc/hosts' './agent; mount -t tmpfs x /mnt'; do
		refused "approval required" -- sh -c "$command"
		[ -e keep ]
		# Nor can one be signed for it.
		run --separate-stderr "$CUSTODY" approve "$request" --always
		[ "$status" -ne 0 ]
		assert_stderr_has "can have no standing approval"
		assert_stderr_has "one start at a time"
	done
	for source in web_content unknown; do
		refused "approval required" --provenance "$source" -- sh -c './agent x'
		run --separate-stderr "$CUSTODY" approve "$request" --always
		assert_stderr_has "words from the web or from an unknown source"
	done
	starts --provenance tool_output -- sh -c './agent x'
	[ "$(grants '[.grants[] | select(.standing)] | length')" = 1 ]
}

made_by_a_payload() {
	local one two options
	suite_profile net '{"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
	chmod 0644 "$PROFILE"
	# With --continue it counts for the content of the base, which a run without an approval writes.
	starts -- sh -c 'echo 1 >made'
	one=$(basename "$(dirname "$(echo "$CUSTODY_ROOT"/sandbox/sessions/*/u)")")
	start --network host --continue="$one" -- ./agent first
	[ "$status" -eq 114 ]
	always
	assert_status 0
	[ "$("${CUSTODY_AS[@]}" "$CUSTODY" grants --json | jq -r '[.grants[] | select(.standing)] | last | .standing.program')" = "$PWD/agent" ]
	starts --network host --continue="$one" -- ./agent again
	assert_output_has 'agent again'
	starts --fresh -- sh -c 'echo 2 >made'
	two=$(basename "$(find "$CUSTODY_ROOT/sandbox/sessions" -name made -newer "$CUSTODY_ROOT/sandbox/sessions/$one/u/made" -path '*/u/made' -printf '%h\n' | sed 's,/u$,,' | sort | tail -n 1)")
	[ "$two" != "$one" ]
	refused 'changed: settings.worktree' --network host --continue="$two" -- ./agent again
	[ -z "$output" ]
	refused 'changed: settings.worktree' --network host -- ./agent again
	# A kept home and a disposable root are written without an approval as well, and their content is bound by no digest.
	for options in '--home keep' '--sandbox box --disposable'; do
		# shellcheck disable=SC2086 # words
		starts $options -- sh -c 'echo x >x'
		# shellcheck disable=SC2086
		refused 'approval required' --network host $options -- sh -c './agent x'
		[ -z "$output" ]
		run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" approve "$request" --always
		[ "$status" -ne 0 ]
		assert_stderr_has 'can have no standing approval: runs without an approval write to its kept home or disposable root'
	done
	[ "$("${CUSTODY_AS[@]}" "$CUSTODY" grants --json | jq '[.grants[] | select(.standing)] | length')" = 1 ]
}

@test "GOV-6: GOV-9: attack: a standing approval covers nothing that runs without an approval wrote" {
	made_by_a_payload
	custody_teardown
	approval_setup_user
	prepare
	made_by_a_payload
}

@test "GOV-6: a denying rule wins over a standing approval" {
	standing
	printf '{"rules":[{"effect":"deny","argv":["./agent"]}]}\n' >"$CUSTODY_ROOT/etc/custody.json"
	start -- ./agent one
	[ "$status" -eq 113 ]
	[ ! -e ran ]
}

@test "GOV-10: without the PIN no standing approval is signed" {
	start -- ./agent one
	for words in "--yes" "--uses 3" "--fleet x" "--output $CUSTODY_HOME/grant"; do
		# shellcheck disable=SC2086 # several words
		run --separate-stderr alone "$CUSTODY" approve "$request" --always $words
		[ "$status" -eq 64 ]
	done
	run --separate-stderr alone "$CUSTODY" approve "$request" --always
	[ "$status" -ne 0 ]
	[[ $stderr != *--yes* ]]
	on_terminal 'expect:Approve?' 'send:n\n' -- "$CUSTODY" approve "$request" --always
	[ "$status" -ne 0 ]
	on_terminal 'expect:Approve?' 'send:y\n' 'expect:PIN' 'send:111111\n' 'expect:wrong PIN' 'send:\n' -- "$CUSTODY" approve "$request" --always
	[ "$status" -ne 0 ]
	[ "$(grants '.grants | length')" = 0 ]
	refused "approval required" -- ./agent one
	always --for 31d
	[ "$status" -ne 0 ]
	[ "$(grants '.grants | length')" = 0 ]
	always --for 2d
	assert_status 0
	starts -- ./agent one
	end=$(grants '.grants[0].expires')
	[ $(($(date -d "$end" +%s) - $(date +%s))) -le $((2 * 86400)) ]
}

@test "GOV-13: a requester that is no approver signs no standing approval" {
	approval_config '"allow_self":false'
	start -- ./agent one
	on_terminal 'expect:Approve?' 'send:y\n' 'expect:PIN' 'send:246813\n' -- "$CUSTODY" approve "$request" --always
	[ "$status" -ne 0 ]
	[ "$(grants '.grants | length')" = 0 ]
	refused "approval required" -- ./agent one
	# One that was signed before that rule does not count any more.
	approval_config
	standing
	starts -- ./agent one
	approval_config '"allow_self":false'
	refused "may not approve" -- ./agent one
}

@test "GOV-11: a revoked standing approval starts nothing, also when the revocation comes between create and start" {
	standing
	suite_gate creator-placed --profile "$PROFILE" -- ./agent raced --- "$CUSTODY" revoke "$id" < <(:)
	[ "$status" -ne 0 ]
	[ ! -e ran ]
	grep -q revoked "$CUSTODY_HOME/err"
	[ "$(records grant.consume)" = 0 ]
	refused "standing approval $id does not count: revoked" -- ./agent one
	"$CUSTODY" ledger verify >/dev/null
}

@test "GOV-11: an expired standing approval starts nothing" {
	start -- ./agent first
	always --for 1s
	assert_status 0
	id=$(grants '.grants[0].id')
	is_expired() { [ "$(grants '.grants[0].state')" = expired ]; }
	wait_until is_expired
	refused "standing approval $id does not count: expired" -- ./agent one
}

@test "GOV-11: an edited standing approval starts nothing" {
	standing
	file=$(echo "$CUSTODY_ROOT"/sandbox/grants/*-"$id".json)
	cp "$file" "$CUSTODY_HOME/kept"
	sha=$(jq -r .statement.standing.program_sha256 "$file")
	echo '# changed' >>agent
	new=$(sha256sum agent | cut -d' ' -f1)
	sed -i "s/$sha/$new/" "$file"
	refused "approval required" -- ./agent one
	[ "$(grants '.grants[0].state')" = edited ]
	# The end date, the number of uses, the level.
	sed -i '$d' agent
	for edit in 's/"not_after_us":1/"not_after_us":2/' 's/"uses":1000000/"uses":999999/' 's/"level":"C"/"level":"B"/'; do
		sed "$edit" "$CUSTODY_HOME/kept" >"$file"
		! cmp -s "$CUSTODY_HOME/kept" "$file" || custody_fail "the edit $edit changes nothing"
		refused "does not count: the statement does not match its signature" -- ./agent one
	done
	cat "$CUSTODY_HOME/kept" >"$file"
	starts -- ./agent one
}

@test "GOV-11: a standing approval of another lane, ledger or state directory starts nothing" {
	standing
	grants=$CUSTODY_ROOT/sandbox/grants
	# Another state: its ledger has another key.
	mkdir -p "$CUSTODY_HOME/root2/etc"
	cp "$CUSTODY_ROOT/etc/custody.json" "$CUSTODY_HOME/root2/etc/"
	CUSTODY_ROOT=$CUSTODY_HOME/root2 "$CUSTODY" ledger init >/dev/null
	for dir in keys approvers grants digest-key; do
		[ ! -e "$CUSTODY_ROOT/sandbox/$dir" ] || cp -a "$CUSTODY_ROOT/sandbox/$dir" "$CUSTODY_HOME/root2/sandbox/"
	done
	find "$CUSTODY_ROOT/sandbox" -maxdepth 1 -name '*digest*' -exec cp -a {} "$CUSTODY_HOME/root2/sandbox/" \;
	CUSTODY_ROOT=$CUSTODY_HOME/root2 refused "standing approval $id does not count: granted for another ledger" -- ./agent one
	# Without its uses it was copied by hand.
	mv "$grants/$id.uses" "$CUSTODY_HOME/uses"
	refused "standing approval $id does not count: its uses are not registered" -- ./agent one
	mv "$CUSTODY_HOME/uses" "$grants/$id.uses"
	starts -- ./agent one
	# The other lane.
	CUSTODY_ALLOW_PROD=1 start --lane prod --allow-prod -- ./agent one
	[ "$status" -eq 114 ]
	mkdir -p "$CUSTODY_ROOT/prod/grants"
	cp -a "$grants"/. "$CUSTODY_ROOT/prod/grants/"
	rm -f ran
	CUSTODY_ALLOW_PROD=1 start --lane prod --allow-prod -- ./agent one
	[ "$status" -eq 114 ]
	[ ! -e ran ]
	[ "$("$CUSTODY" grants --all --json --lane prod | jq -r '[.grants[].state] | unique | join(" ")')" = foreign-lane ]
}

@test "GOV-11: a standing approval is no grant of a subject, and a grant is no standing approval" {
	standing
	# As --grant it is for another digest.
	run --separate-stderr alone "$CUSTODY" run --profile "$PROFILE" --grant "$(echo "$CUSTODY_ROOT"/sandbox/grants/*-"$id".json)" -- sh ./agent one
	[ "$status" -ne 0 ]
	[ ! -e ran ]
	"$CUSTODY" revoke "$id" >/dev/null
	# A C for one start does not make the next one start.
	refused "approval required" -- ./agent two
	on_terminal 'expect:Approve?' 'send:y\n' 'expect:PIN' 'send:246813\n' -- "$CUSTODY" approve "$request"
	assert_status 0
	starts -- ./agent two
	refused "approval required" -- ./agent two
	refused "approval required" -- ./agent three
}

@test "GOV-11: the program is replaced while the card is shown: nothing is signed" {
	start -- ./agent one
	on_terminal 'expect:Approve?' "do:echo '# changed' >>agent; setsid -w $CUSTODY run --profile $PROFILE --no-seal -- ./agent one </dev/null; true" \
		'send:y\n' 'expect:PIN' 'send:246813\n' -- "$CUSTODY" approve "$request" --always
	id=$(grants '.grants[0].id')
	# The request that was shown is of other bytes than the file has now.
	refused "changed: " -- ./agent one
	# The same subject with another program: a program of the host is not in its digest.
	mkdir "$CUSTODY_HOME/tools"
	cp agent "$CUSTODY_HOME/tools/tool"
	start -v "$CUSTODY_HOME/tools:/tools:ro" -- /tools/tool one
	first=$request
	on_terminal 'expect:Approve?' "do:echo '# more' >>$CUSTODY_HOME/tools/tool; setsid -w $CUSTODY run --profile $PROFILE -v $CUSTODY_HOME/tools:/tools:ro -- /tools/tool one </dev/null; true" \
		'send:y\n' 'expect:PIN' 'send:246813\n' -- "$CUSTODY" approve "$request" --always
	[ "$status" -ne 0 ]
	[[ $output$stderr == *"has changed: review it again"* ]]
	start -v "$CUSTODY_HOME/tools:/tools:ro" -- /tools/tool one
	[ "$status" -eq 114 ]
	[ "$request" = "$first" ]
	[ ! -e ran ]
	always
	assert_status 0
	starts -v "$CUSTODY_HOME/tools:/tools:ro" -- /tools/tool two
}

@test "GOV-13: a run that waits starts when a standing approval is signed" {
	rm -f ran
	alone "$CUSTODY" run --profile "$PROFILE" --wait -- ./agent waiting >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" 3>&- &
	pid=$!
	asked() { [ "$(pending '.requests | length')" = 1 ]; }
	wait_until asked
	request=$(pending '.requests[0].id')
	always
	assert_status 0
	wait "$pid"
	grep -q "agent waiting" "$CUSTODY_HOME/out"
	[ "$(grants '.grants[0].used')" = 1 ]
}

@test "GOV-11: a request without parts, or of another machine, can have no standing approval" {
	start -- ./agent one
	file=$CUSTODY_ROOT/sandbox/requests/$request.json
	jq -c 'del(.standing)' "$file" >"$CUSTODY_HOME/without.json"
	cat "$CUSTODY_HOME/without.json" >"$file"
	run --separate-stderr "$CUSTODY" approve "$request" --always
	[ "$status" -ne 0 ]
	assert_stderr_has "can have no standing approval: it is of a bundle, of another machine"
	refused "approval required" -- ./agent one
	# Carried to another state.
	cp "$file" "$CUSTODY_HOME/carried.json"
	mkdir -p "$CUSTODY_HOME/root2/etc"
	run --separate-stderr env CUSTODY_ROOT="$CUSTODY_HOME/root2" "$CUSTODY" approve "$CUSTODY_HOME/carried.json" --always
	[ "$status" -ne 0 ]
	assert_stderr_has "can have no standing approval"
	[ "$(grants '.grants | length')" = 0 ]
}

@test "GOV-6: an ordinary user has the same, and another user's state is refused" {
	custody_teardown
	approval_setup_user
	prepare
	grants() { "${CUSTODY_AS[@]}" "$CUSTODY" grants --json --all | jq -r "$1"; }
	standing
	starts -- ./agent one
	[ "$(grants '.grants[0] | [.used, .standing.uid] | join(" ")')" = "1 $("${CUSTODY_AS[@]}" id -u)" ]
	if [ "$(id -u)" -eq 0 ]; then
		rm -f ran
		run --separate-stderr alone "$CUSTODY" run --profile "$PROFILE" -- ./agent two
		[ "$status" -ne 0 ]
		[ ! -e ran ]
	fi
}
