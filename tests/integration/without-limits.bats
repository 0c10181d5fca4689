#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The first command of an ordinary user whose host delegates no cgroup: the refusal, the lines in it, and --without.

load ../lib/suite.bash

ALL=memory-limit,pids-limit,cpu-limit

setup() {
	suite_setup_user
	suite_ungoverned
}

teardown() {
	custody_teardown
}

# pasted LINE: LINE in a shell of that user that finds `custody` as a caller does.
pasted() {
	local file=$CUSTODY_HOME/results/pasted
	run --separate-stderr "${CUSTODY_AS[@]}" env PATH="$(dirname "$CUSTODY"):$PATH" sh -c "$1"
	CUSTODY_RESULT=
	[ ! -s "$file" ] || CUSTODY_RESULT=$(cat "$file")
}

# remedy WORD: the line of the refusal that has WORD, as a person copies it.
remedy() {
	sed -n "s/^    \\(.*$1.*\\)$/\\1/p" <<<"$stderr"
}

notices() {
	grep -c '^custody: without ' <<<"$stderr" || true
}

@test "PLAT-3: without a cgroup the refusal names the limits and shows two lines to paste" {
	skip_with HOST-CGROUP
	custody_run -- touch ran
	assert_status 125
	[ ! -e ran ]
	[ "$(head -n 1 <<<"$stderr")" = "custody run: cannot enforce 'memory-limit', 'pids-limit', 'cpu-limit': no cgroup with memory, pids, cpu is delegated to this user" ]
	[ "$(wc -l <<<"$stderr")" -eq 5 ]
	[ -n "$(remedy ' setup ')" ]
	[ -n "$(remedy --without)" ]
	[ "$(custody_result .detail)" = "$(sed -n '1s/^custody run: //p' <<<"$stderr")" ]
}

@test "PLAT-3: the line with --without works when it is pasted, whatever the words of the command" {
	skip_with HOST-CGROUP
	local line words=(sh -c 'printf "<%s>" "$@"; echo >ran' sh 'a b' "it's" '$HOME' '' $'tab\tand\nline' 'ä' '%s' '*')
	custody_run -e "X=1 2" -- "${words[@]}"
	assert_status 125
	[ ! -e ran ]
	line=$(remedy --without)
	[[ $line != *$'\t'* ]]
	pasted "$line"
	assert_status 0
	[ "$output" = $'<a b><it\'s><$HOME><><tab\tand\nline><ä><%s><*>' ]
	[ "$(notices)" -eq 1 ]
	# A part of the limits was named before.
	custody_run --without pids-limit -- echo RAN
	assert_status 125
	assert_stderr_has "cannot enforce 'memory-limit', 'cpu-limit':"
	pasted "$(remedy --without)"
	assert_status 0
	[ "$output" = RAN ]
}

@test "PLAT-3: --without and enforce.optional: the same limits are missing by name, one line says so, the others are proven" {
	skip_with HOST-CGROUP
	local as options name
	suite_profile weak '{"enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}'
	chmod 0644 "$PROFILE"
	for as in "--without $ALL" "-q --without memory-limit --without cpu-limit,pids-limit" "--profile $PROFILE"; do
		# shellcheck disable=SC2086 # words
		custody_run $as -- echo RAN
		assert_status 0
		[ "$output" = RAN ]
		for name in memory-limit pids-limit cpu-limit; do
			assert_layer "$name" optional-missing
		done
		assert_layer disk-limit
		assert_layer seccomp
		[ "$(custody_result '[.layers[] | select(.state == "optional-missing")] | length')" -eq 3 ]
		[ "$(notices)" -eq 1 ]
		assert_stderr_has "custody: without memory-limit, pids-limit, cpu-limit: no cgroup with memory, pids, cpu is delegated to this user; still applied: "
		assert_stderr_has "disk-limit"
		[ -z "$(stderr_rest)" ]
	done
}

@test "PLAT-3: in place of missing limits processes have limits of their own" {
	skip_with HOST-CGROUP
	custody_run --without "$ALL" --memory 64M --pids-limit 6 -- sh -c 'awk "/data size|processes/ { print \$(NF - 2), \$(NF - 1) }" /proc/self/limits
		head -c 200M /dev/zero | tail >/dev/null; echo "memory: $?"
		sh -c "i=0; while [ \$i -lt 20 ]; do sleep 60 & i=\$((i + 1)); done"; echo "forks: $?"; exec pkill -x sleep'
	assert_stderr_has "still applied: 64 MB of data per process, 6 processes, disk-limit"
	assert_output_has "67108864 67108864"
	assert_output_has "6 6"
	[[ $output =~ "forks: "[1-9] ]]
	[[ $output =~ "memory: "[1-9] ]]
	# The kernel counts for each id, and a command with capabilities may take several.
	suite_profile caps '{"dangerous": ["no-capabilities"]}'
	chmod 0644 "$PROFILE"
	custody_run --profile "$PROFILE" --without "$ALL" --pids-limit 6 -- true
	assert_stderr_has " per process, 6 processes of each id, disk-limit"
	# Without a limit none is promised.
	custody_run --without "$ALL" --memory 0 --pids-limit 0 --cpus 0 -- awk '/data size|processes/ { print $(NF - 1) }' /proc/self/limits
	assert_status 0
	[ "$(notices)" -eq 0 ]
	assert_output_has unlimited
}

@test "PLAT-3: a command in a running session has the limits of its processes too" {
	skip_with HOST-CGROUP
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" run -d --without "$ALL" --memory 64M -- sleep 1000
	assert_status 0
	local id=$output
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" exec "$id" -- awk '/data size/ { print $(NF - 1) }' /proc/self/limits
	assert_output_has 67108864
	"${CUSTODY_AS[@]}" "$CUSTODY" stop --time 0 "$id"
}

@test "PLAT-3: other names are refused, with the names that may be given; nothing runs" {
	local list
	for list in bogus pids-limit,bogus '' ', ' seccomp user-namespace disk-limit time-limit MEMORY-LIMIT memory 'memory-limit pids-limit'; do
		custody_run --without "$list" -- touch ran
		assert_status 125
		assert_stderr_has "memory-limit, pids-limit, cpu-limit"
		[ ! -e ran ]
	done
	custody_run --without "$ALL,seccomp" -- touch ran
	assert_stderr_has "a run cannot go without 'seccomp'"
	[ ! -e ran ]
}

@test "PLAT-3: --without changes the digest, and check and the subject show it" {
	local plain without
	digest() { "${CUSTODY_AS[@]}" "$CUSTODY" check --json "$@" -- true | jq -r .digest; }
	plain=$(digest)
	without=$(digest --without cpu-limit)
	[ "$plain" != "$without" ]
	[ "$without" != "$(digest --without "$ALL")" ]
	[ "$(digest --without "$ALL")" = "$(digest --without cpu-limit --without pids-limit,memory-limit)" ]
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" check --json --without cpu-limit -- true
	[ "$(jq -c .subject.optional <<<"$output")" = '["cpu-limit"]' ]
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" check --without "$ALL" -- true
	grep -qx 'may lack    memory-limit, pids-limit, cpu-limit' <<<"$output"
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" check -- true
	[[ $output != *"may lack"* ]]
}

@test "PLAT-3: the card names what the run may lack" {
	rm "$CUSTODY_ROOT/etc/custody.json"
	run --separate-stderr python3 "$BATS_TEST_DIRNAME/../lib/terminal.py" 'expect:may lack' 'expect:cpu-limit' 'send:n\n' -- \
		"${CUSTODY_AS[@]}" "$CUSTODY" run --without cpu-limit --network host -v "$PWD:/data:rw" -- sh -c 'touch ran; rm -rf /data/x'
	[[ $output == *"may lack"*cpu-limit* ]]
	[ ! -e ran ]
}

@test "PLAT-3: a limit that is available is enforced although it may be missing" {
	skip_without root
	custody_teardown
	suite_setup
	suite_ungoverned
	skip_without HOST-CGROUP
	custody_run --without "$ALL" --memory 32M -- sh -c 'head -c 200M /dev/zero | tail >/dev/null'
	assert_reason oom
	assert_layer memory-limit
	assert_layer pids-limit
	assert_layer cpu-limit
	[ "$(notices)" -eq 0 ]
}

@test "PLAT-3: where only memory is delegated, memory is proven and the others are named" {
	skip_without root cgroup-v1
	local dir
	dir=$(awk -F: '{ n = split($2, l, ","); for (i = 1; i <= n; i++) if (l[i] == "memory") print $3 }' /proc/self/cgroup)
	dir=/sys/fs/cgroup/memory${dir%/}/custody-delegated-$$
	mkdir "$dir"
	chown "$SUITE_UID" "$dir" "$dir/cgroup.procs"
	within() { run --separate-stderr bash -c 'echo $$ >"$1/cgroup.procs" || exit 99; shift; exec "$@"' sh "$dir" "${CUSTODY_AS[@]}" "$CUSTODY" run --json "$@"; CUSTODY_RESULT=$(tail -n 1 <<<"$output"); }
	within -- echo RAN
	assert_stderr_has "cannot enforce 'pids-limit', 'cpu-limit':"
	[[ $output != RAN* ]] || custody_fail "it ran"
	within --without "$ALL" -- true
	rmdir "$dir"
	assert_status 0
	assert_layer memory-limit
	assert_layer pids-limit optional-missing
	assert_layer cpu-limit optional-missing
	assert_stderr_has "custody: without pids-limit, cpu-limit: no cgroup with pids, cpu is delegated to this user; still applied: 512 processes, memory-limit, disk-limit"
}

@test "PLAT-3: a bundle of a user says that its config.json has no such limit" {
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" bundle --without "$ALL" -o bundle -- true
	assert_status 0
	[ "$(jq -c '.linux.resources | [.memory, .pids, .cpu]' bundle/config.json)" = '[null,null,null]' ]
	assert_stderr_has "without memory-limit, pids-limit, cpu-limit"
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" bundle --without cpu-limit -o other -- true
	assert_status 0
	[ "$(jq -c '.linux.resources | [.memory.limit > 0, .pids.limit > 0, .cpu]' other/config.json)" = '[true,true,null]' ]
}

@test "PLAT-3: doctor says the missing delegation once, with both remedies" {
	skip_with HOST-CGROUP
	run --separate-stderr "${CUSTODY_AS[@]}" "$CUSTODY" doctor --json
	[ "$(jq -r '[.checks[] | select(.severity == "error") | .id] | join(" ")' <<<"$output")" = HOST-CGROUP ]
	jq -e '.checks[] | select(.id == "HOST-CGROUP") | (.text | contains("memory-limit, pids-limit, cpu-limit"))
		and (.remedy | test("^sudo .*custody setup [^\n]+\n[^\n]*custody run --without memory-limit,pids-limit,cpu-limit -- COMMAND$"))' <<<"$output"
	# HOST-SUBUID names the same command for ids.
	[ "$(jq '[.checks[] | select(.id != "HOST-SUBUID") | select((.text // "") + (.remedy // "") | test("delegated to this user|custody setup"))] | length' <<<"$output")" -eq 1 ]
}
