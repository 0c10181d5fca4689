#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs that build on each other: run --continue, and the review of such a chain.

load ../lib/suite.bash

setup() {
	suite_setup && suite_ungoverned
}

teardown() {
	custody_teardown
}

custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

asked() { # STATUS WORDS...
	local want=$1
	shift
	run --separate-stderr custody "$@"
	[ "$status" -eq "$want" ] || custody_fail "expected status $want, got $status"
}

# ran [OPTIONS] -- CMD...: it must succeed; ID is its session.
ran() {
	custody_run "${LIMITS[@]}" "$@"
	assert_status 0
	ID=$(custody_result .session)
}

# refused TEXT [OPTIONS]: a run with these options does not start, and says TEXT.
refused() {
	local text=$1
	shift
	custody_run "${LIMITS[@]}" "$@" -- sh -c 'echo ran; echo ran >ran'
	assert_status 125
	[ -z "$output" ]
	assert_stderr_has "$text"
}

# As root, then as an ordinary user, whose cgroups may be without limits.
as_both() {
	LIMITS=()
	"$@"
	suite_setup_user
	suite_profile u '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	chmod 0644 "$PROFILE"
	LIMITS=(--profile "$PROFILE")
	"$@"
}

# user_files: a worktree of the suite's user.
user_files() {
	"${CUSTODY_AS[@]}" sh -c 'mkdir dir gone; echo old >text; echo inside >dir/file; echo here >gone/file; echo secret >hidden'
}

kept() { # SESSION NAME
	echo "$CUSTODY_ROOT/sandbox/sessions/$1/$2"
}

# All that a payload sees of a tree.
portrait() {
	echo 'find . -mindepth 1 | sort | while read -r f; do if [ -d "$f" ]; then echo "$f $(stat -c %a "$f")"; else echo "$f $(stat -c %a "$f") $(cat "$f")"; fi; done'
}

a_chain_adds_up() {
	local one two seen frozen before
	user_files
	before=$(sh -c "$(portrait)")
	ran -- sh -c 'echo one >>text; rm -r gone; mkdir new; echo 1 >new/a; echo 1 >new/b; printf "#!/bin/sh\necho script \$1\n" >tool; chmod 755 tool'
	one=$ID
	frozen=$(cd "$(kept "$one" u)" && find . -printf '%p %y %m %s\n' | sort)
	# The changes are visible, and removed entries are not.
	ran --continue -- sh -c 'cat text new/a; ls'
	[ "$output" = "old
one
1
dir
hidden
new
text
tool" ]
	# It changed nothing: the first is still the newest with changes.
	ran --continue -- sh -c 'echo two >>text; rm new/a tool; echo 2 >new/c; mkdir gone; echo 2 >gone/other; chmod 700 dir; rm dir/file'
	two=$ID
	[ "$(custody_result '.continues.sessions | join(" ")')" = "$one" ]
	custody_result .continues.manifest | grep -Eqx 'sha256:[0-9a-f]{64}'
	ran --continue="$two" -- sh -c "$(portrait)"
	seen=$output
	# Neither the worktree nor the frozen upper was written.
	[ "$(sh -c "$(portrait)")" = "$before" ]
	[ "$(cd "$(kept "$one" u)" && find . -printf '%p %y %m %s\n' | sort)" = "$frozen" ]
	# The sum, not the last step.
	asked 0 diff
	assert_stderr_has "$two"
	assert_output_has '+one
+two'
	assert_output_has 'deleted  gone/file (file)'
	assert_output_has 'deleted  dir/file (file)'
	assert_output_has '+++ b/gone/other'
	[[ $output != *tool* && $output != *new/a* ]]
	asked 0 diff "$one"
	assert_output_has '+++ b/new/a'
	[[ $output != *two* ]]
	asked 0 apply
	assert_output_has "applied with it: the changes of session $one"
	diff <(sh -c "$(portrait)") <(echo "$seen")
	[ ! -e "$(kept "$one" u)" ] && [ ! -e "$(kept "$two" u)" ] && [ ! -e "$(kept "$two" s)" ]
	jq -s -e --arg s "$one" --arg with "$two" 'any(.[]; .k == "review.applied" and .session == $s and .d.with == $with)' \
		"$CUSTODY_ROOT"/sandbox/ledger/*.ndjson >/dev/null
	asked 0 ledger verify
	asked 1 diff
	rm -rf -- *
}

@test "ISO-3: a continued run begins on the kept changes; diff and apply show the sum of the chain" {
	as_both a_chain_adds_up
}

digest_of() { # WORDS...: of a check
	asked 0 check --json "$@"
	jq -r .digest <<<"$output"
}

operands_are_merged() {
	user_files
	ran -- sh -c 'mkdir bin; printf "#!/bin/sh\necho tool \$1; exec cat \$2\n" >bin/tool; chmod 755 bin/tool; echo base >text; echo data >data'
	# argv[0] and operands exist only in the changes; they run from sealed copies.
	ran --continue -- bin/tool 1 data
	[ "$output" = "tool 1
data" ]
	ran --continue -- sh bin/tool 2 text
	[ "$output" = "tool 2
base" ]
	asked 0 check --json --continue "${LIMITS[@]}" -- bin/tool 1 data
	[ "$(jq -r '[.subject.operands.files[].path] | join(" ")' <<<"$output")" = "bin/tool data" ]
	[ "$(jq -r '.subject.operands.files[1].sha256' <<<"$output")" = "$(echo data | sha256sum | cut -d' ' -f1)" ]
	# Hidden paths and the working directory are those of the merged tree as well.
	ran --continue -w bin -- ls
	[ "$output" = tool ]
	ran --continue -- sh -c 'echo S >.env; echo more >bin/more'
	ran --continue -- sh -c 'cat .env; ls bin'
	[ "$output" = "more
tool" ]
	# A path that the profile hides exists only in the changes; --seal-tree hashes the merged tree.
	suite_profile hiding "$(jq -n --arg path "$PWD/bin/more" '{filesystem: {hide: [$path]}, enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}')"
	chmod 0644 "$PROFILE"
	ran -p "$PROFILE" --continue -- sh -c 'cat bin/more; cat bin/tool | wc -l'
	[ "$output" = 2 ]
	ran --continue --seal-tree -- cat data
	[ "$output" = data ]
	ran --continue -- sh -c 'echo other >data'
	[ "$(digest_of --seal-tree --continue "${LIMITS[@]}" -- true)" != "$(digest_of --seal-tree "${LIMITS[@]}" -- true)" ]
	# Without --continue nothing of it is there.
	run -127 custody run "${LIMITS[@]}" -- bin/tool 1 data
	rm -rf -- *
}

@test "GOV-9: argv[0], operands, hidden paths and -w of a continued run are found in the merged tree" {
	as_both operands_are_merged
}

digests_name_content() {
	local plain one again other
	user_files
	plain=$(digest_of "${LIMITS[@]}" -- cat text)
	ran -- sh -c 'echo changed >text'
	[ "$(digest_of "${LIMITS[@]}" -- cat text)" = "$plain" ]
	asked 0 check --json "${LIMITS[@]}" -- cat text
	jq -e '.subject.worktree | has("base") | not' <<<"$output"
	one=$(digest_of --continue "${LIMITS[@]}" -- true)
	# Another session with the same changes: the digest names content, no session.
	ran -- sh -c 'sleep 0.1; echo changed >text'
	again=$(digest_of --continue "${LIMITS[@]}" -- true)
	[ "$one" = "$again" ]
	ran --continue -- sh -c 'chmod 600 text'
	other=$(digest_of --continue "${LIMITS[@]}" -- true)
	[ "$one" != "$other" ]
	[ "$(custody_result .digest)" != "$(digest_of "${LIMITS[@]}" -- sh -c 'chmod 600 text')" ]
	rm -rf -- *
}

@test "GOV-9: the digest of a continued run names its base by content, and other digests stay as they were" {
	as_both digests_name_content
}

bases_are_refused() {
	local here=$PWD one
	user_files
	refused 'no session of this directory has kept changes' --continue
	refused "no session has the id, id prefix or name 'nosuch'" --continue=nosuch
	refused '--restarted concerns --continue' --restarted
	ran -- sh -c 'echo 1 >new'
	one=$ID
	# Another worktree: by its identity.
	"${CUSTODY_AS[@]}" mkdir sub
	cd sub || return
	refused 'no session of this directory has kept changes' --here --continue
	refused 'its worktree is another directory' --here --continue="$one"
	cd "$here" || return
	mv "$here" "$here.moved"
	"${CUSTODY_AS[@]}" mkdir "$here"
	cd "$here" || return
	refused "is not the directory that session '$one' used" --continue="$one"
	[ -z "$(ls -A)" ]
	cd / && rmdir "$here" && mv "$here.moved" "$here" && cd "$here" || return
	# Another boot: --restarted.
	jq -c '.boot = "00000000"' "$(kept "$one" layer.json)" >"$CUSTODY_HOME/layer.json"
	"${CUSTODY_AS[@]}" cp "$CUSTODY_HOME/layer.json" "$(kept "$one" layer.json)"
	refused 'the machine was restarted' --continue
	ran --continue --restarted -- cat new
	[ "$output" = 1 ]
	# A review holds it.
	flock "$(kept "$one" .)" true
	(
		flock 9
		refused 'is being reviewed, removed or continued' --continue --restarted
	) 9<"$(kept "$one" .)"
	asked 0 discard
	refused "no changes of session '$one' are kept" --continue="$one"
	[ ! -e ran ]
	rm -rf -- *
}

@test "ISO-3: a session that cannot be continued is refused by name, and nothing runs" {
	as_both bases_are_refused
}

@test "ISO-3: only an overlay of the kernel in a user namespace can be continued" {
	LIMITS=()
	ran -- sh -c 'echo 1 >new'
	for mode in ro rw tmpfs; do
		suite_profile m "{\"workspace\": {\"mode\": \"$mode\"}}"
		refused "has '$mode'" --continue -p "$PROFILE"
	done
	suite_profile f '{"workspace": {"overlay": "fuse"}}'
	refused "workspace.overlay 'fuse'" --continue -p "$PROFILE"
	refused 'sandbox root keeps its content' --continue --sandbox box
	asked 64 bundle -o "$CUSTODY_HOME/bundle" --continue -- true
	assert_stderr_has 'a bundle is started on its worktree'
	asked 125 run --continue --fresh -- true
	[ ! -e ran ]
}

bases_stay() {
	local one two three
	user_files
	ran -- sh -c 'echo 1 >new'
	one=$ID
	ran --continue -- sh -c 'echo 2 >>new'
	two=$ID
	ran --continue -- sh -c 'echo 3 >>new'
	three=$ID
	[ "$(custody_result '.continues.sessions | join(" ")')" = "$two $one" ]
	asked 0 show "$three"
	assert_output_has "continues  $two"
	asked 0 show --json "$three"
	[ "$(jq -r '.session.continues | join(" ")' <<<"$output")" = "$two $one" ]
	for verb in discard apply; do
		asked 1 $verb "$two"
		assert_stderr_has "session $two is continued by session $three"
		asked 1 $verb "$one"
		assert_stderr_has "session $one is continued by session $two"
	done
	[ -d "$(kept "$one" u)" ] && [ -d "$(kept "$two" u)" ] && [ ! -e new ]
	# The newest may go; then the one before is the last.
	asked 0 discard "$three"
	ran --continue -- cat new
	[ "$output" = "1
2" ]
	# All at once, in any order.
	asked 0 discard "$one" "$two"
	[ ! -e "$(kept "$one" u)" ] && [ ! -e "$(kept "$two" u)" ]
	ran -- sh -c 'echo 1 >new'
	ran --continue -- sh -c 'echo 2 >>new'
	asked 0 prune --all --yes
	assert_output_has '2 removed'
	ran -- sh -c 'echo 1 >new'
	ran --continue -- sh -c 'echo 2 >>new'
	asked 0 discard --all --yes
	asked 1 diff
	rm -rf -- *
}

@test "ISO-3: a base with kept children is neither applied nor discarded; show and result name the chain" {
	as_both bases_stay
}

expiry_spares_bases() {
	local one two
	user_files
	ran -- sh -c 'head -c 300000 /dev/zero >big'
	one=$ID
	ran --continue -- sh -c 'echo 2 >new'
	two=$ID
	# Only the base is older than the limit.
	jq -c '.ended_us = 1000000' "$(kept "$one" layer.json)" >"$CUSTODY_HOME/layer.json"
	"${CUSTODY_AS[@]}" cp "$CUSTODY_HOME/layer.json" "$(kept "$one" layer.json)"
	asked 0 prune
	assert_output_has '0 removed
1 kept: sessions continue them'
	asked 0 prune --json
	[ "$(jq .continued <<<"$output")" = 1 ]
	[ -d "$(kept "$one" u)" ]
	asked 0 discard "$two"
	asked 0 prune
	assert_output_has '1 removed'
	[ ! -e "$(kept "$one" u)" ]
	rm -rf -- *
}

@test "EVI-6: expiry spares changes that a kept session continues" {
	as_both expiry_spares_bases
}

conflicts_are_found() {
	local one
	user_files
	ran -- sh -c 'echo one >text; echo one >made'
	one=$ID
	# Between the runs: one file that the base changed, one that it made, one that it did not touch.
	"${CUSTODY_AS[@]}" sh -c 'echo host >text; echo host >made; echo host >hidden'
	ran --continue -- sh -c 'cat text made hidden; echo two >>hidden; echo two >>dir/file'
	[ "$output" = "one
one
host" ]
	asked 1 apply
	assert_stderr_has 'refused text'
	assert_stderr_has 'refused made'
	[[ $stderr != *'refused hidden'* && $stderr != *'refused dir'* ]]
	[ "$(cat text made)" = "host
host" ]
	asked 0 apply --skip-refused
	[ "$(cat text made hidden dir/file)" = "host
host
host
two
inside
two" ]
	# The refused changes stay for review, with their base.
	[ -d "$(kept "$one" u)" ]
	asked 0 diff
	assert_output_has '+one'
	asked 0 discard --all --yes
	rm -rf -- *
}

@test "GOV-9: apply of a chain refuses what the worktree changed since the first run that touched it" {
	as_both conflicts_are_found
}

lists_of_the_base_hold() {
	local strict lax id
	user_files
	"${CUSTODY_AS[@]}" sh -c 'mkdir many; for i in 1 2 3 4; do echo >many/$i; done; echo old >guarded; echo old >asked'
	suite_profile strict '{"workspace": {"protect": [".git/hooks", ".git/config", "guarded"], "ask": ["asked"], "ask_deletions": 3},
		"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	strict=$PROFILE
	suite_profile lax '{"workspace": {"protect": [], "allow": ["*"], "ask_deletions": 500},
		"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	lax=$PROFILE
	chmod 0644 "$strict" "$lax"
	LIMITS=()
	ran --profile "$strict" -- sh -c 'echo new >guarded'
	ran --profile "$lax" --continue -- sh -c 'echo 1 >fine'
	ran --profile "$lax" --continue -- sh -c 'echo 2 >fine'
	asked 1 apply
	assert_stderr_has 'refused guarded'
	[ ! -e fine ] && [ "$(cat guarded)" = old ]
	asked 0 discard --all --yes
	ran --profile "$strict" -- sh -c 'echo new >asked; rm -r many; echo x >CLAUDE.md'
	ran --profile "$lax" --continue -- sh -c 'echo 1 >fine'
	run --separate-stderr setsid --wait "${CUSTODY_AS[@]}" "$CUSTODY" apply --yes </dev/null
	[ "$status" -eq 114 ] || custody_fail "status $status: $stderr"
	for id in 'the limit is 3' 'to confirm: modified asked' 'to confirm: added CLAUDE.md'; do
		assert_stderr_has "$id"
	done
	[ -e many/1 ] && [ "$(cat asked)" = old ] && [ ! -e CLAUDE.md ]
	# A stricter profile above a lax one holds for both as well.
	asked 0 discard --all --yes
	ran --profile "$lax" -- sh -c 'echo new >guarded'
	ran --profile "$strict" --continue -- sh -c 'echo 1 >fine'
	asked 1 apply
	assert_stderr_has 'refused guarded'
	asked 0 discard --all --yes
	rm -rf -- *
}

@test "ISO-11: attack: what the profile of a base protects and asks for holds for the whole chain" {
	as_both lists_of_the_base_hold
}

@test "ISO-3: workspace.continue makes it the default until the changes are applied or discarded" {
	LIMITS=()
	user_files
	suite_profile c '{"workspace": {"continue": true}}'
	ran -p "$PROFILE" -- sh -c 'echo 1 >>new'
	[ "$(custody_result 'has("continues")')" = false ]
	ran -p "$PROFILE" -- sh -c 'echo 2 >>new; cat new'
	[ "$output" = "1
2" ]
	ran -p "$PROFILE" --fresh -- sh -c 'ls new || true'
	[ -z "$output" ]
	ran --fresh -- sh -c 'ls new || true'
	[ -z "$output" ]
	asked 0 apply
	[ "$(cat new)" = "1
2" ]
	ran -p "$PROFILE" -- cat new
	[ "$(custody_result 'has("continues")')" = false ]
	# A sandbox root keeps its content by itself; a bundle starts on its worktree.
	ran -p "$PROFILE" -- sh -c 'echo 3 >>new'
	ran -p "$PROFILE" --sandbox box -- true
	asked 0 bundle -o "$CUSTODY_HOME/bundle" -p "$PROFILE" -- true
	jq -e '.worktree | has("base") | not' "$CUSTODY_HOME/bundle/subject.json"
	# A profile of the worktree cannot.
	mkdir -p .custody/profiles
	echo '{"schema":1,"name":"sly","extends":"offline","workspace":{"continue":true}}' >.custody/profiles/sly.json
	refused workspace.continue -p sly
}

@test "ISO-7: a killed supervisor leaves a chain that recover completes, and its base stays" {
	local one pid two
	LIMITS=()
	user_files
	ran -- sh -c 'echo 1 >new; rm -r gone'
	one=$ID
	asked 0 run -d --continue -- sh -c 'echo 2 >>new; echo ready; exec sleep 1000'
	two=$output
	wait_until grep -q ready "$(kept "$two" stdio.log)"
	# While it runs.
	asked 1 discard "$one"
	assert_stderr_has 'is being reviewed, removed or continued'
	asked 0 diff "$one"
	asked 0 prune --all --yes
	[ -d "$(kept "$one" u)" ]
	pid=$(jq .supervisor.pid "$(kept "$two" session.json)")
	kill -9 "$pid"
	wait_until custody_is_dead "$pid"
	asked 1 discard "$one"
	assert_stderr_has "is continued by session $two"
	asked 0 recover
	asked 0 diff "$two"
	assert_output_has '+1
+2'
	assert_output_has 'deleted  gone/file (file)'
	[ "$(jq -r '.continues.sessions | join(" ")' "$CUSTODY_ROOT/forensics/$two/metadata.json")" = "$one" ]
	# The sum can be made again while its base exists.
	rm -r "$(kept "$two" s)"
	asked 0 diff "$two"
	assert_output_has '+1
+2'
	rm -r "$(kept "$two" s)"
	ran --continue="$two" -- cat new
	[ "$output" = "1
2" ]
	asked 0 apply "$two"
	[ "$(cat new)" = "1
2" ]
}

custody_is_dead() {
	[ ! -e "/proc/$1" ]
}

@test "EVI-1: evidence of a continued run holds its own changes and names the chain" {
	local one
	LIMITS=()
	ran -- sh -c 'echo 1 >new; echo 1 >old'
	one=$ID
	custody_run --continue -- sh -c 'echo 2 >new; exit 3'
	assert_status 3
	assert_evidence new
	[ ! -e "$(custody_result .evidence)/worktree/old" ]
	[ "$(jq -r '.continues.sessions | join(" ")' "$(custody_result .evidence)/metadata.json")" = "$one" ]
	# It shares files with the new upper, and the frozen one is as it was.
	[ "$(cat "$(kept "$one" u)/new")" = 1 ]
}

two_at_once() {
	local one
	user_files
	ran -- sh -c 'echo 1 >new'
	one=$ID
	"${CUSTODY_AS[@]}" mkfifo "$CUSTODY_HOME/go"
	asked 0 run -d "${LIMITS[@]}" --continue -- sh -c 'echo 2 >>new; echo ready; exec sleep 1000'
	first=$output
	wait_until grep -q ready "$(kept "$first" stdio.log)"
	if [ "${#LIMITS[@]}" -eq 0 ]; then
		# Its files belong to ids that the first one has now.
		refused 'in use by a running session' --continue
	else
		ran --continue -- sh -c 'cat new'
		[ "$output" = 1 ]
	fi
	refused 'is still running' --continue="$first"
	asked 0 stop "$first"
	ran --continue="$first" -- cat new
	[ "$output" = "1
2" ]
	asked 0 discard --all --yes
	rm -rf -- * "$CUSTODY_HOME/go"
}

@test "ISO-1: two runs on one base never share their ids; a user's share one anyway" {
	as_both two_at_once
}

@test "ISO-3: a long chain stays one layer deep and names sixteen sessions" {
	LIMITS=()
	ran -- sh -c 'echo 0 >new'
	for i in $(seq 18); do
		ran --continue -- sh -c "echo $i >>new"
	done
	[ "$(custody_result '.continues.sessions | length')" = 16 ]
	asked 0 run --dry-run --continue -- true
	[ "$(jq -r '.mounts[] | select(.type == "overlay") | .options[] | select(startswith("lowerdir="))' <<<"$output" | tr -cd : | wc -c)" = 1 ]
	ran --continue -- cat new
	[ "$output" = "$(seq 0 18)" ]
	asked 0 apply
	[ "$(cat new)" = "$(seq 0 18)" ]
	# Bases that the last session does not name are contained in the worktree as well.
	[ "$(grep -c 'applied with it' <<<"$output")" = 18 ]
	asked 1 diff
	assert_stderr_has 'no session of this directory has kept changes'
}

a_running_session_shows_its_changes() {
	local one two before
	user_files
	ran -- sh -c 'echo 1 >new; rm -r gone'
	one=$ID
	asked 0 run -d "${LIMITS[@]}" -- sh -c 'echo alone >alone; rm -r gone; echo ready; exec sleep 1000'
	two=$output
	wait_until grep -q ready "$(kept "$two" stdio.log)"
	asked 0 diff "$two"
	assert_stderr_has "session $two is still running: its changes at this moment"
	assert_output_has '+alone'
	assert_output_has 'deleted  gone/file (file)'
	[[ $output != *b/new* ]]
	for verb in apply discard; do
		asked 1 $verb "$two"
		assert_stderr_has 'is still running'
	done
	[ ! -e alone ] && [ -e gone ]
	asked 0 stop "$two"
	asked 0 discard "$two"
	# Of a chain it is the sum; neither upper is touched.
	asked 0 run -d "${LIMITS[@]}" --continue="$one" -- sh -c 'echo 2 >>new; chmod 600 text; mkdir gone; ln new name; mkdir secret; echo x >secret/x; chmod 0 secret; echo ready; exec sleep 1000'
	two=$output
	wait_until grep -q ready "$(kept "$two" stdio.log)"
	before=$(find "$(kept "$two" u)" "$(kept "$one" u)" -printf '%p %y %m %s %n %C@\n' | sort)
	asked 0 diff "$two"
	assert_stderr_has 'its changes at this moment'
	assert_output_has '+1
+2'
	assert_output_has 'deleted  gone/file (file)'
	assert_output_has 'text: mode 0644 -> 0600'
	assert_output_has '+++ b/secret/x'
	[ "$(find "$(kept "$two" u)" -printf '%p %y %m %s %n %C@\n' | sort)" = "$(grep -F "$(kept "$two" u)" <<<"$before")" ]
	[ -z "$(find "$(kept "$two" .)" -maxdepth 1 -name 's*' ! -name session.json ! -name stdio.log)" ]
	asked 0 stop "$two"
	asked 0 discard --all --yes
	rm -rf -- *
}

@test "ISO-3: diff of a session that runs shows its changes at that moment and writes nothing" {
	as_both a_running_session_shows_its_changes
}

@test "ISO-3: two sessions may continue one base; custody shell continues as well" {
	local one two
	LIMITS=()
	ran -- sh -c 'echo 1 >new'
	one=$ID
	ran --continue="$one" -- sh -c 'echo 2 >left'
	two=$ID
	ran --continue="$one" -- sh -c 'ls; echo 3 >right'
	[ "$output" = new ]
	asked 0 apply "$two"
	[ "$(cat new left)" = "1
2" ]
	# The other one still needs it.
	[[ $output != *"$one"* ]]
	[ -d "$(kept "$one" u)" ]
	asked 0 apply
	assert_output_has "applied with it: the changes of session $one"
	[ "$(cat right)" = 3 ] && [ ! -e "$(kept "$one" u)" ]
	ran -- sh -c 'echo kept >inside'
	run script -qec "$CUSTODY shell --continue" /dev/null <<<'cat inside; exit'
	[ "$status" -eq 0 ]
	[[ $output == *kept* ]]
}

seamed() { # POINT HOW WORDS...: custody WORDS, killed at POINT
	local point=$1 how=$2
	shift 2
	mkdir -p "$CUSTODY_HOME/bin"
	cp "${CUSTODY_BUILD:?a finished build directory}/tests/custody-seamed" "$CUSTODY_HOME/bin/"
	run --separate-stderr env CUSTODY_SEAM="$point" CUSTODY_SEAM_DO="$how" CUSTODY_SEAM_TIME="${TIME:-1}" \
		"${CUSTODY_AS[@]}" setsid --wait "$CUSTODY_HOME/bin/custody-seamed" "$@"
	[ "$status" -eq 137 ] || custody_fail "not killed at $point: status $status"
}

# Only complete sums; the sessions of whose changes nothing is kept are closed.
nothing_is_left() {
	[ -z "$(find "$CUSTODY_ROOT/sandbox/sessions" -mindepth 2 -maxdepth 2 -name 's.*')" ]
	[ -z "$(sessions_left)" ]
}

killed_in_a_sum() {
	local one two how frozen at point
	user_files
	ran -- sh -c 'echo 1 >new; mkdir deep; echo 1 >deep/a; echo 1 >deep/b; rm -r gone'
	one=$ID
	frozen=$(find "$(kept "$one" u)" -printf '%p %y %m %s %U %T@\n' | sort)
	for at in 1:sum-entry-placed 4:sum-entry-placed 6:sum-entry-placed 1:sum-made 1:sum-renamed; do
		point=${at#*:} how=die TIME=${at%:*}
		# A user's sum is made by a child.
		[ "${#CUSTODY_AS[@]}" -eq 0 ] || [ "$point" != sum-entry-placed ] || how=parent
		seamed "$point" $how run "${LIMITS[@]}" --continue="$one" -- sh -c 'echo 2 >>new; rm deep/a; echo 2 >deep/c'
		asked 0 recover
		two=$(cd "$CUSTODY_ROOT/sandbox/sessions" && grep -l '"chain"' ./*/layer.json | cut -d/ -f2)
		[ -n "$two" ]
		nothing_is_left
		[ "$(find "$(kept "$one" u)" -printf '%p %y %m %s %U %T@\n' | sort)" = "$frozen" ]
		asked 0 diff "$two"
		assert_output_has '+1
+2'
		assert_output_has 'deleted  gone/file (file)'
		[[ $output != *deep/a* ]]
		# Made again for a run or a review, which is killed as well.
		rm -r "$(kept "$two" s)"
		for verb in "run ${LIMITS[*]} --continue=$two -- true" "apply $two" "diff $two"; do
			# shellcheck disable=SC2086 # words
			[ "$point" = sum-renamed ] || seamed "$point" $how $verb
			[ ! -e new ]
		done
		ran --continue="$two" -- sh -c 'cat new; ls deep'
		[ "$output" = "1
2
b
c" ]
		nothing_is_left
		asked 0 discard "$two"
	done
	asked 0 ledger verify
	seamed sum-made die run "${LIMITS[@]}" --continue="$one" -- sh -c 'echo 2 >>new'
	asked 0 recover
	asked 0 apply
	[ "$(cat new)" = "1
2" ] && [ ! -e gone ]
	nothing_is_left
	rm -rf -- *
}

@test "ISO-7: kill -9 while a sum is made: recover, diff or the next run makes it, and the base is as it was" {
	as_both killed_in_a_sum
}

full_disk() {
	set -e
	cd "$CUSTODY_HOME"
	# Room for the records of root, and not for the directories of the sum.
	tune2fs -r 2048 "$(findmnt -no SOURCE fs)" >/dev/null
	mkdir fs/root fs/work
	chmod 755 fs fs/work fs/root
	export CUSTODY_ROOT=$PWD/fs/root
	cp -a root/etc fs/root/
	cd fs/work
	"$CUSTODY" ledger init >/dev/null
	echo old >text
	"$CUSTODY" run -- sh -c 'echo 1 >>text; mkdir many; cd many; seq 6000 | xargs mkdir'
	fallocate -l 250M ../filler
	"$CUSTODY" run --continue -- sh -c 'echo 2 >>text; cat /dev/zero >big || true' 2>../../err
	cat ../../err >&2
	grep -q 'are not added to those of session .* yet: .*No space left' ../../err
	[ -z "$(find ../root/sandbox/sessions -mindepth 2 -maxdepth 2 -name s -o -name 's.*')" ]
	"$CUSTODY" diff last text >../../out 2>../../err && exit 91
	grep -q 'No space left' ../../err
	"$CUSTODY" apply 2>../../err && exit 92
	grep -q 'No space left' ../../err
	[ "$(cat text)" = old ]
	rm ../filler
	if [ "$1" = continue ]; then
		"$CUSTODY" run --continue -- sh -c 'cat text; rm big; echo 3 >>text'
	fi
	"$CUSTODY" apply >/dev/null
	cat text
	ls many | wc -l
	"$CUSTODY" ledger verify >/dev/null
}

@test "ISO-5: a full disk while a sum is made: when it has room again, apply and --continue work" {
	skip_without root
	export -f full_disk
	for next in apply continue; do
		rm -rf "$CUSTODY_HOME/fs" "$CUSTODY_HOME/disk"
		run --separate-stderr on_file_system ext4 bash -c "full_disk $next"
		[ "$status" -eq 0 ] || custody_fail "$next: $stderr"
		[ "${lines[-1]}" = 6000 ]
	done
	[ "${lines[*]}" = 'old 1 2 old 1 2 3 6000' ]
}
