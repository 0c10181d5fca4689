#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 at every named point of a run (src/base/seam.h), then `custody recover`: nothing is missing, nothing is left.

load ../lib/suite.bash

# Changes, adds and removes something, then fails.
PAYLOAD='echo new >new; echo more >>changed; rm kept; exit 3'

setup() {
	SRC=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	POINTS=$SRC/tests/lib/seam-points
	OPTIONS=()
	REBOOTED=
	suite_setup
	seamed
	worktree
}

teardown() {
	custody_teardown
}

# The same program with the seam in front, where any user may run it.
seamed() {
	SEAMED=$CUSTODY_HOME/bin/custody-seamed
	mkdir -p "$CUSTODY_HOME/bin"
	cp "${CUSTODY_BUILD:?a finished build directory}/tests/custody-seamed" "$SEAMED"
}

worktree() {
	"${CUSTODY_AS[@]}" sh -c 'rm -f new; echo old >changed; echo old >kept'
}

# points WHO [WHAT]: of the table.
points() {
	awk -v who="$1" -v what="${2:-}" '!/^#/ && $2 == who && (what == "" || $3 == what) { print $1 }' "$POINTS"
}

custody() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

# dying POINT HOW WORDS...: custody-seamed WORDS, of which POINT is the end; $status, and $ID when it became a session.
dying() {
	local point=$1 how=$2 before after
	shift 2
	before=$(custody ledger export --kind session.intent 2>/dev/null | jq -r .session)
	status=0
	CUSTODY_SEAM=$point CUSTODY_SEAM_DO=$how "${CUSTODY_AS[@]}" setsid --wait "$SEAMED" "$@" \
		>"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" </dev/null 3>&- || status=$?
	after=$(custody ledger export --kind session.intent 2>/dev/null | jq -r .session)
	ID=$(comm -13 <(sort <<<"$before") <(sort <<<"$after"))
}

# wrong TEXT: prints the state of the round that failed.
wrong() {
	printf '%s: %s (status %s, session %s)\n' "$ROUND" "$1" "$status" "${ID:-none}" >&2
	sed 's/^/  said: /' "$CUSTODY_HOME/err" >&2
	return 1
}

# By cgroup and by mounts.  A zombie that was not reaped yet does not count.
process_left() {
	local file
	{
		[ -z "$ID" ] || grep -lsF "custody-$ID" /proc/[0-9]*/cgroup
		grep -lsF "$CUSTODY_HOME/" /proc/[0-9]*/mountinfo
	} | while read -r file; do
		! grep -qs '^State:[[:space:]]*[^ZX]' "${file%/*}/status" || echo "$file"
	done
}
no_process_left() {
	[ -z "$(process_left)" ]
}

# Of sessions only their notes may stay, closed.
file_left() {
	sessions_left
	find "$CUSTODY_ROOT/sandbox/open" -mindepth 1 2>/dev/null
	find "$CUSTODY_ROOT/forensics" -mindepth 1 -maxdepth 1 \( -name '.*' -o -name '*.*' \) 2>/dev/null
}

# The note agrees with the record; a session that never started has no note.
note_is() { # WHAT
	local file=$CUSTODY_ROOT/sandbox/sessions/$ID/session.json
	case $1 in
	unmade) [ ! -e "$file" ] || wrong 'a note of nothing' ;;
	*)
		[ "$(jq -r '"\(.state) \(.exit.reason // .reason) \(.evidence)"' "$file")" = "ended $(end '"\(.d.reason) \(.d.evidence)"')" ] ||
			wrong "the note says something else: $(cat "$file")"
		;;
	esac
}

# The host has no leftovers of it: process, cgroup, mount, socket, directory.
host_is_clean() {
	wait_until no_process_left 2>/dev/null || wrong "a process is left: $(process_left | head -n 3)" || return
	[ -z "$(file_left)" ] || wrong "left: $(file_left | head -n 5)" || return
	! grep -F "$CUSTODY_HOME/" /proc/self/mountinfo >&2 || wrong 'a mount is left' || return
	! grep -F "$CUSTODY_HOME/" /proc/net/unix >&2 || wrong 'a socket is left' || return
	[ -z "$ID" ] || [ -z "$(find /sys/fs/cgroup -name "custody-$ID")" ] || wrong 'a cgroup is left'
}

# end FILTER: of the one record that ends session ID.
end() {
	jq -r "$1" <<<"$END"
}

evidence_is_whole() {
	local dir
	dir=$(end '.d.evidence // empty')
	[ -n "$dir" ] || wrong 'no evidence' || return
	[ "$dir" = "$CUSTODY_ROOT/forensics/$ID" ] || wrong "evidence in $dir" || return
	custody evidence verify "$ID" >"$CUSTODY_HOME/verified" 2>&1 || wrong "$(cat "$CUSTODY_HOME/verified")" || return
	[ "$(end .d.evidence_sha256)" = "$(sha256sum <"$dir/metadata.json" | cut -d' ' -f1)" ] || wrong 'other evidence than recorded' || return
	[ "$(jq -r .lane,.digest "$dir/metadata.json" | paste -sd ' ')" = "sandbox $(custody ledger export --session "$ID" --kind session.intent 2>/dev/null | jq -r .d.digest)" ] || wrong 'it does not say of what' || return
	[ "$(jq -r .status "$dir/metadata.json")" = complete ] || wrong "evidence: $(jq -r '.status, .why' "$dir/metadata.json")" || return
	[ "$(end .d.audit.head)" != null ] || wrong 'no chain' || return
	custody ledger verify --anchor "$(end '"\(.d.audit.records):\(.d.audit.head)"')" "$dir/audit.ndjson" >/dev/null || wrong 'the chain is not the one recorded'
}

evidence_has_all() {
	local dir=$CUSTODY_ROOT/forensics/$ID
	[ "$(cat "$dir/worktree/new" "$dir/worktree/changed" | paste -sd ' ')" = 'new old more' ] || wrong 'the evidence lacks written files' || return
	[ "$(jq -r 'select(.p == "kept") | .t' "$dir/manifest.ndjson")" = gone ] || wrong 'the evidence lacks removed files'
}

# Facts that only the supervisor knew; they are in the runtime directory, which a reboot clears.
evidence_has_papers() {
	local dir=$CUSTODY_ROOT/forensics/$ID
	if [ -n "$REBOOTED" ]; then
		[ "$(jq -r '[.absent[] | select(. != "stdio.log")] | sort | join(" ")' "$dir/metadata.json")" = 'config.json subject.json' ] || wrong 'missing files are not named'
		return
	fi
	[ "sha256:$(sha256sum <"$dir/subject.json" | cut -d' ' -f1)" = "$(jq -r .digest "$dir/metadata.json")" ] || wrong 'the subject is another one' || return
	[ "$(jq -r '[.process.env[] | sub(".*="; "")] | unique | join(" ")' "$dir/config.json")" = '[redacted]' ] || wrong 'config.json has the values of the environment, or none' || return
	[ "$(jq -r '.process.args[-1]' "$dir/config.json")" = "$(jq -r '.command[-1]' "$dir/metadata.json")" ] || wrong 'config.json is another one'
}

# What a session changed whose supervisor died can be reviewed as that of any other, unless it may not be whole.
changes_are_kept() {
	[ -n "$REBOOTED" ] || [ "$(jq -r .kept "$CUSTODY_ROOT/sandbox/sessions/$ID/session.json")" = true ] || wrong 'its changes are not kept' || return
	if [ -n "$REBOOTED" ]; then
		! custody diff "$ID" >"$CUSTODY_HOME/diff" 2>&1 || wrong 'what may not be whole is offered' || return
		grep -q 'then they are in its evidence' "$CUSTODY_HOME/diff" || wrong "it does not say why: $(cat "$CUSTODY_HOME/diff")"
		return
	fi
	custody diff "$ID" >"$CUSTODY_HOME/diff" 2>&1 || wrong "diff: $(cat "$CUSTODY_HOME/diff")" || return
	[ "$(grep -E '^[+-][a-z]' "$CUSTODY_HOME/diff" | sort | paste -sd ' ')" = '+more +new -old' ] || wrong "diff: $(cat "$CUSTODY_HOME/diff")" || return
	[ "${PAYLOAD%chmod*}" = "$PAYLOAD" ] || return 0
	custody apply "$ID" >"$CUSTODY_HOME/apply" 2>&1 || wrong "apply: $(cat "$CUSTODY_HOME/apply")" || return
	[ "$(cat new changed | paste -sd ' ')" = 'new old more' ] && [ ! -e kept ] || wrong 'apply did not restore it'
}

# is WHAT: of the table, for the session ID, when everything is over.
is() {
	local ends
	custody ledger verify --json >"$CUSTODY_HOME/verify" || wrong "the ledger does not verify: $(cat "$CUSTODY_HOME/verify")" || return
	jq -e '.completeness.verdict == "ok"' "$CUSTODY_HOME/verify" >/dev/null || wrong "the ledger is not complete: $(jq -c .completeness "$CUSTODY_HOME/verify")" || return
	if [ "$1" = none ]; then
		[ -z "$ID" ] || wrong 'it is on the record'
		return
	fi
	[ -n "$ID" ] || wrong 'it is not on the record' || return
	END=$(custody ledger export --session "$ID" 2>/dev/null | jq -c 'select(.k == "session.end" or .k == "session.refused")')
	ends=$(grep -c . <<<"$END")
	[ "$ends" = 1 ] || wrong "$ends ends" || return
	note_is "$1" || return
	case $1 in
	unmade)
		[ "$(end '.d.evidence // empty')" = '' ] || wrong 'evidence of nothing' || return
		[ ! -e "$CUSTODY_ROOT/forensics/$ID" ] || wrong 'evidence of nothing'
		;;
	lost | kept)
		[ "$(end .d.reason)" = lost ] || wrong "reason $(end .d.reason)" || return
		evidence_is_whole && evidence_has_papers || return
		[ "$1" = lost ] || { evidence_has_all && changes_are_kept; }
		;;
	ended)
		[ "$(end '"\(.d.reason) \(.d.code)"')" = 'exited 3' ] || wrong "reason $(end .d.reason)" || return
		evidence_is_whole && evidence_has_all
		;;
	*) wrong "the table says '$1'" ;;
	esac
}

# round POINT HOW STATUS WHAT: dies there, is recovered, and then WHAT holds.
round() {
	ROUND="killed at $1 ($2)"
	dying "$1" "$2" run "${OPTIONS[@]}" -- sh -c "$PAYLOAD"
	[ "$status" -eq "$3" ] || wrong "status $status, expected $3: the point was not reached, or dying was not noticed" || return
	custody recover >/dev/null 2>>"$CUSTODY_HOME/err" || wrong 'recover failed' || return
	is "$4" && host_is_clean && worktree
}

rounds() { # HOW STATUS WHAT...: one for each point on stdin
	local point n=0
	while read -r point; do
		round "$point" "$1" "$2" "$(awk -v p="$point" '$1 == p { print $3 }' "$POINTS")" || return
		n=$((n + 1))
	done
	[ "$n" -gt 0 ] || custody_fail 'no such point in the table'
}

@test "ISO-7: the table has the points that the sources have, 30 and more of them" {
	local in_table in_sources
	in_table=$(awk '!/^#/ { print $1 }' "$POINTS" | sort)
	in_sources=$(grep -rhoE '\bseam\("[a-z-]+"\)' "$SRC/src" "$SRC/oci" | cut -d'"' -f2 | sort)
	[ "$(uniq -d <<<"$in_sources")" = "" ]
	diff <(echo "$in_table") <(echo "$in_sources")
	[ "$(wc -l <<<"$in_table")" -ge 30 ]
}

@test "ISO-7: the installed program has no such switch" {
	! grep -q CUSTODY_SEAM "$CUSTODY" || custody_fail 'it names the variable'
	CUSTODY_SEAM=go-sent CUSTODY_SEAM_LOG=$CUSTODY_HOME/log custody_run -- sh -c 'exit 7'
	assert_status 7
	[ ! -e "$CUSTODY_HOME/log" ]
}

@test "ISO-7: killed before anything is on the record" {
	points run none | rounds die 137
}

@test "ISO-7: killed between the intent and the start" {
	points run unmade | rounds die 137
}

@test "ISO-7: killed while it runs" {
	points run lost | rounds die 137
}

@test "ISO-7: killed after the payload's end, until the end is on the record" {
	points run kept | rounds die 137
}

@test "ISO-7: killed when the end is on the record" {
	points run ended | rounds die 137
}

@test "ISO-7: the creator killed alone is a refusal, and nothing has to be recovered" {
	points creator | rounds die 125
}

@test "ISO-7: supervisor and creator killed while the container is made" {
	points creator | rounds parent 137
}

@test "ISO-7: the whole process group killed" {
	{ points run unmade; points run lost; points run kept; } | sample 8 | rounds group 137
}

@test "ISO-7: killed at the second, third and fourth cgroup and in the middle of the tree" {
	local n
	for n in 2 3 4; do
		CUSTODY_SEAM_TIME=$n round cgroup-made die 137 unmade
		CUSTODY_SEAM_TIME=$n round entry-met die 137 kept
	done
}

@test "ISO-7: recover killed on its way, and recovered" {
	local point first
	# Points shared with a run, and its own.
	for point in $(points recover) evidence-made entry-met tree-copied sums-written evidence-renamed end-written; do
		ROUND="recover killed at $point"
		dying output-drained die run -- sh -c "$PAYLOAD"
		[ "$status" -eq 137 ] || wrong 'it was not killed'
		first=$ID
		dying "$point" die recover
		[ "$status" -eq 137 ] || wrong 'recover was not killed'
		[ -z "$ID" ] || wrong 'recover is no session'
		ID=$first
		custody recover >/dev/null 2>>"$CUSTODY_HOME/err" || wrong 'recover failed'
		is kept
		host_is_clean
		worktree
	done
}

@test "ISO-6: a killed removal is finished later, and half-removed evidence is not listed" {
	ROUND='evidence rm killed'
	local first second
	custody_run -- sh -c "$PAYLOAD"
	first=$(basename "$(custody_result .evidence)")
	custody_run -- sh -c "$PAYLOAD"
	second=$(basename "$(custody_result .evidence)")
	dying evidence-going die evidence rm "$first"
	[ "$status" -eq 137 ]
	[ "$(custody evidence ls --json | jq -r '.evidence[].id')" = "$second" ]
	[ -d "$CUSTODY_ROOT/forensics/$first.going" ]
	custody recover
	[ "$(ls "$CUSTODY_ROOT/forensics")" = "$second" ]
	# So does the next prune.
	dying evidence-going die evidence rm "$second"
	custody evidence prune
	[ -z "$(ls "$CUSTODY_ROOT/forensics")" ]
}

supervisor_is_dead() {
	[ ! -e "$CUSTODY_ROOT/run/sessions/$ID" ] || flock -n "$CUSTODY_ROOT/run/sessions/$ID" true
}

@test "ISO-7: a detached run, killed after its caller has exited" {
	local point
	for point in payload-ended tree-copied layer-kept end-written; do
		ROUND="detached, killed at $point"
		dying "$point" die run -d -- sh -c "echo said; $PAYLOAD"
		[ "$status" -eq 0 ] || wrong 'it was not started'
		wait_until supervisor_is_dead
		custody recover >/dev/null 2>>"$CUSTODY_HOME/err" || wrong 'recover failed'
		is "$(awk -v p="$point" '$1 == p { print $3 }' "$POINTS")"
		host_is_clean
		[ "$(cat "$CUSTODY_ROOT/forensics/$ID/stdio.log")" = said ] || wrong 'what it said is not in the evidence'
		[ "$(custody logs "$ID")" = said ] || wrong 'what it said is gone'
		worktree
	done
	# Before its release its caller still waits, and is informed.
	ROUND='detached, killed before it started'
	dying start-recorded die run -d -- sh -c "$PAYLOAD"
	[ "$status" -eq 125 ] || wrong 'its caller was told nothing'
	custody recover >/dev/null 2>>"$CUSTODY_HOME/err"
	is lost
	host_is_clean
}

@test "ISO-7: worktrees without a layer of changes" {
	local mode dir
	suite_ungoverned
	for mode in tmpfs rw ro; do
		ROUND="killed with a worktree that is $mode"
		worktree
		echo "{\"schema\":1,\"name\":\"$mode\",\"extends\":\"offline\",\"workspace\":{\"mode\":\"$mode\"}}" >"$CUSTODY_HOME/$mode.json"
		dying payload-ended die run --profile "$CUSTODY_HOME/$mode.json" -- sh -c 'echo new >new'
		[ "$status" -eq 137 ] || wrong 'it was not killed'
		custody recover >/dev/null 2>>"$CUSTODY_HOME/err" || wrong 'recover failed'
		dir=$CUSTODY_ROOT/forensics/$ID
		[ "$(jq -r '.status, .exit.reason, .profile' "$dir/metadata.json" | paste -sd ' ')" = "none lost $mode" ] || wrong 'other evidence'
		custody evidence verify "$ID" >/dev/null || wrong 'it does not verify'
		host_is_clean
	done
}

@test "ISO-7: after a reboot, when the runtime directory is empty" {
	local point
	REBOOTED=1
	for point in intent-recorded chain-opened payload-started output-drained sums-written end-written; do
		ROUND="killed at $point, rebooted"
		dying "$point" die run -- sh -c "$PAYLOAD"
		[ "$status" -eq 137 ] || wrong 'it was not killed'
		wait_until no_process_left
		# Files that a reboot removes.
		find /sys/fs/cgroup -depth -name "custody-$ID" -exec rmdir {} +
		rm -rf "$CUSTODY_ROOT/run"
		custody recover >/dev/null 2>>"$CUSTODY_HOME/err" || wrong 'recover failed'
		is "$(awk -v p="$point" '$1 == p { print $3 }' "$POINTS")"
		host_is_clean
		worktree
	done
}

@test "ISO-7: after a reboot that left the runtime directory, unsynced changes are not offered for review" {
	local note
	ROUND='killed, and started again'
	dying output-drained die run -- sh -c "$PAYLOAD"
	[ "$status" -eq 137 ] || wrong 'it was not killed'
	note=$CUSTODY_ROOT/sandbox/sessions/$ID/session.json
	jq -c '.supervisor.boot = "00000000"' "$note" >"$CUSTODY_HOME/note"
	cat "$CUSTODY_HOME/note" >"$note"
	custody recover >/dev/null 2>>"$CUSTODY_HOME/err" || wrong 'recover failed'
	grep -q 'cannot be reviewed: the machine was restarted' "$CUSTODY_HOME/err" || wrong 'it does not say so'
	[ "$(jq -r '"\(.changed) \(.kept)"' "$note")" = 'true false' ] || wrong 'the note says something else'
	run ! custody diff "$ID"
	run ! custody apply "$ID"
	[ "$(cat changed kept | paste -sd ' ')" = 'old old' ] || wrong 'it was applied'
	host_is_clean
}

@test "ISO-7: an approval whose run died before it was used can be used, afterwards it cannot" {
	local point what request uses
	printf '#!/bin/sh\n%s\n' "$PAYLOAD" >job
	chmod 755 job
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"rules":[{"effect":"ask","argv":["./job"]}]}' >"$CUSTODY_ROOT/etc/custody.json"
	for point in reservation-recorded run-judged intent-recorded creator-forked worktree-held consumption-recorded approval-consumed payload-started; do
		ROUND="approved, killed at $point"
		dying none die run -- ./job
		request=$(sed -n 's/.* approve \([0-9a-f]\{16\}\).*/\1/p' "$CUSTODY_HOME/err" | head -n 1)
		[ "$status" -eq 114 ] && [ -n "$request" ] || wrong 'it was not asked for'
		custody approve "$request" --yes >/dev/null
		dying "$point" die run -- ./job
		[ "$status" -eq 137 ] || wrong 'it was not killed'
		custody recover >/dev/null 2>>"$CUSTODY_HOME/err" || wrong 'recover failed'
		what=$(awk -v p="$point" '$1 == p { print $3 }' "$POINTS")
		is "$what"
		host_is_clean
		worktree
		uses=$(custody ledger export --kind grant.consume 2>/dev/null | wc -l)
		dying none die run -- ./job
		case $point in
		consumption-recorded | approval-consumed | payload-started) [ "$status" -eq 114 ] || wrong 'used twice' ;;
		*)
			[ "$status" -eq 3 ] || wrong 'the approval was lost'
			dying none die run -- ./job
			[ "$status" -eq 114 ] || wrong 'used twice'
			uses=$((uses + 1))
			;;
		esac
		[ "$(custody ledger export --kind grant.consume 2>/dev/null | wc -l)" = "$uses" ] || wrong 'uses differ from the records'
		[ "$point" != reservation-recorded ] || [ "$uses" = 1 ]
		worktree
	done
}

@test "ISO-7: as a user" {
	suite_setup_user
	seamed
	cat >"$CUSTODY_HOME/u.json" <<-'END'
		{"schema":1,"name":"u","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}
	END
	OPTIONS=(--profile "$CUSTODY_HOME/u.json")
	worktree
	points run | grep -v '^cgroup-m' | sample 12 | rounds die 137
	printf '%s\n' host-left tmpfs-mounted root-made container-prepared container-created container-started | rounds parent 137
	printf '%s\n' host-left tmpfs-mounted root-made container-prepared container-created container-started | rounds die 125
	# Captured by a child in a user namespace, because only it can read it; the child dies with its parent and leaves no second capture.
	PAYLOAD="${PAYLOAD%exit 3}chmod 000 new changed .; exit 3"
	printf '%s\n' namespace-entered evidence-made tree-copied sums-written | rounds parent 137
}

@test "ISO-5: a worktree that cannot be held for evidence refuses the run; nothing was executed, and it is recorded" {
	ROUND='no descriptor for the worktree'
	dying worktree-wanted starve run -- sh -c "echo ran >&2; $PAYLOAD"
	[ "$status" -eq 125 ] || wrong 'it was not refused'
	grep -q 'hold the worktree' "$CUSTODY_HOME/err" || wrong 'it does not say why'
	! grep -qx ran "$CUSTODY_HOME/err" || wrong 'it was executed'
	is unmade
	[ "$(end '"\(.k) \(.d.refused)"')" = 'session.refused setup-failed' ] || wrong "recorded as $(end .k)"
	[ "$(custody ledger export --session "$ID" --kind session.start 2>/dev/null)" = '' ] || wrong 'a start is recorded'
	[ "$(cat changed kept | paste -sd ' ')" = 'old old' ] || wrong 'it was executed'
	# Without a recover: the supervisor lives, and cleans up itself.
	host_is_clean
}
