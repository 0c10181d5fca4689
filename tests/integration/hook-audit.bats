#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154,SC2317 # scripts for the inside; bats' subshells; functions as arguments
#
# CARD-3, CARD-5: under crun and runc an abnormal exit leaves evidence and intent, start and end in the ledger, and nothing else.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	umask 022
	lay_out
}

# What a test that failed left running is not the next one's.
teardown() {
	local dir
	for dir in "$CUSTODY_HOME"/state-{crun,runc}/*/; do
		[ -d "$dir" ] || continue
		RUNTIME=$(basename "$(dirname "$dir")")
		runtime "${RUNTIME#state-}" delete --force "$(basename "$dir")" 2>/dev/null || true
	done
	custody_teardown
}

lay_out() {
	mkdir -p dir
	echo original >kept
	echo inside >dir/file
	echo away >gone
	[ "$(id -u)" -ne 0 ] || chown -hR "$(owner)" .
	profile plain '{}'
}

write() { # CMD...: a bundle of profile plain
	bundle --profile "$CUSTODY_HOME/plain.json" -- "$@"
}

last() { # KIND FILTER: of $SESSION, or of whichever there is
	custody ledger show --json | jq -r --arg k "$1" --arg s "${SESSION:-}" \
		"[.records[] | select(.k == \$k and (\$s == \"\" or .session == \$s))] | last | $2"
}
taken() { # the directory of the session that ended last; "null": none
	last session.end .d.evidence
}
entry() { # PATH KEY: of its manifest
	jq -r --arg p "$1" "select(.p == \$p) | .$2" "$(taken)/manifest.ndjson"
}
metadata() { # FILTER
	jq -r "$1" "$(taken)/metadata.json"
}
store() { # how many are in the store
	find "$CUSTODY_ROOT/forensics" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l
}

# Only the record and the evidence are left.  The runtime does not wait for slow cleanup: it may finish after the runtime.
clean() {
	wait_until empty "$CUSTODY_ROOT/run/sessions" || custody_fail "session left: $(find "$CUSTODY_ROOT/run/sessions")"
	wait_until empty "$CUSTODY_ROOT/sandbox/open" || custody_fail 'a claim is left'
	custody ledger verify >/dev/null || custody_fail "$(custody ledger verify)"
}

empty() { # DIR
	[ -z "$(ls "$1")" ]
}

# The evidence is whole, and is what the ledger says.
sound() {
	local name
	name=$(basename "$(taken)")
	custody evidence verify "$name" >/dev/null
	[ "$(sha256sum <"$(taken)/metadata.json" | cut -d' ' -f1)" = "$(last session.end .d.evidence_sha256)" ]
	[ "$name" = "$(last session.end .session)" ]
	[ "$(custody ledger show --json | jq -c --arg s "$name" '[.records[] | select(.session == $s and (.k | startswith("session."))) | .k]')" = \
		'["session.intent","session.start","session.end"]' ]
	noted "$name"
}

# noted SESSION: its note says what the record says, and is closed.
noted() {
	local file=$CUSTODY_ROOT/sandbox/sessions/$1/session.json
	[ "$(jq -c '[.state, .exit.reason, .exit.code, .exit.source, .evidence]' "$file")" = \
		"$(custody ledger show --json | jq -c --arg s "$1" '.records[] | select(.session == $s and .k == "session.end") | ["ended", .d.reason, .d.code, .d.source, .d.evidence]')" ] || custody_fail "the note says something else: $(cat "$file")"
	[ "$(stat -c %a "$file")" = 400 ]
}

# The last session was killed; its evidence has the file `new`.
killed_with_evidence() {
	[ "$(last session.end '[.d.reason, .d.signal] | join(" ")')" = 'signaled 9' ]
	sound
	[ "$(cat "$(taken)/worktree/new")" = new ]
}

runs() { # STATUS
	runtime_run "$RUNTIME" "$BUNDLE"
	[ "$status" -eq "$1" ] || custody_fail "status $status: $stderr"
	clean
}

@test "CARD-3: every bundle has the audit hook, and its removal is refused" {
	write true
	[ "$(jq -r '.hooks.poststop[0].args[1]' "$BUNDLE/config.json")" = audit ]
	[ "$(jq -r '.hooks.poststop[0].env | join(" ")' "$BUNDLE/config.json")" = 'LC_ALL=C' ]
	cp "$BUNDLE/config.json" "$CUSTODY_HOME/kept"
	without() {
		jq "$1" "$CUSTODY_HOME/kept" >"$BUNDLE/config.json"
		runtime_run "$RUNTIME" "$BUNDLE"
		[ "$status" -ne 0 ]
		assert_stderr_has 'config.json does not match the subject'
		[ "$(store)" -eq 0 ]
		[ "$(records session.start)" -eq 0 ]
		clean
	}
	both without 'del(.hooks.poststop)'
	both without '.hooks.poststop[0].args += ["--env=HOME=/"]'
	both without '.hooks.createRuntime[1].args[2] |= sub("/run\""; "/ran\"")'
}

@test "CARD-3: ISO-4: a normal end is one record and nothing else" {
	write sh -c 'echo new >new; rm gone'
	normal() {
		runs 0
		[ "$(last session.end '[.d.reason, .d.code, .d.abnormal, .status] | join(" ")')" = 'exited 0 false ok' ]
		[ "$(taken)" = null ]
		[ "$(store)" -eq 0 ]
	}
	both normal
}

changes_are_kept() {
	runs 3
	[ "$(last session.end '[.d.reason, .d.code, .d.abnormal] | join(" ")')" = 'exited 3 true' ]
	sound
	[ "$(cat "$(taken)/worktree/new")" = new ]
	[ "$(cat "$(taken)/worktree/dir/file")" = "inside
more" ]
	[ ! -e "$(taken)/worktree/kept" ]
	[ "$(entry gone t)" = gone ]
	[ "$(entry new uid):$(entry new gid)" = "$(owner)" ]
	[ "$(metadata '[.scope, .status, .exit.code, .container, .bundle] | join(" ")')" = "changes complete 3 $CONTAINER $BUNDLE" ]
	# The original has not been touched.
	[ "$(cat kept gone dir/file)" = "original
away
inside" ]
}

@test "CARD-3: CARD-5: ISO-4: ISO-5: a status other than 0 keeps the changes" {
	write sh -c 'echo new >new; echo more >>dir/file; rm gone; exit 3'
	both changes_are_kept
}

@test "CARD-3: CARD-5: ISO-5: a user's bundle leaves evidence as well" {
	suite_setup_user
	lay_out
	write sh -c 'echo new >new; echo more >>dir/file; rm gone; exit 3'
	both changes_are_kept
	write sh -c 'echo new >new; kill -SEGV $$'
	both whole_tree 139
	profile plain '{"workspace": {"mode": "tmpfs"}}'
	write sh -c 'echo new >new; mkdir -m 0 shut; exit 3'
	in_memory() {
		runs 3
		sound
		[ "$(cat "$(taken)/worktree/new")" = new ]
		[ "$(metadata '[.scope, .status] | join(" ")')" = 'all complete' ]
	}
	both in_memory
}

whole_tree() { # STATUS
	runs "$1"
	[ "$(last session.end .d.code)" = "$1" ]
	sound
	[ "$(cat "$(taken)/worktree/"{kept,new,gone,dir/file})" = "original
new
away
inside" ]
	[ "$(metadata '[.scope, .status] | join(" ")')" = 'all complete' ]
}

@test "CARD-3: CARD-5: ISO-4: a signal, as a shell reports it, keeps the whole tree" {
	write sh -c 'echo new >new; kill -SEGV $$'
	both whole_tree 139
}

@test "CARD-5: ISO-5: the evidence has subject and config as they ran, names the missing files, and has no secret" {
	bundle --profile "$CUSTODY_HOME/plain.json" -e SECRET=hunter2 -- sh -c 'exit 3'
	files() {
		runs 3
		sound
		[ "$(cd "$(taken)" && echo *)" = 'SHA256SUMS config.json manifest.ndjson metadata.json subject.json worktree' ]
		[ "$(metadata '.absent | join(" ")')" = 'audit.ndjson stdio.log' ]
		cmp <(jq -cjS .subject "$BUNDLE/subject.json") "$(taken)/subject.json"
		[ "sha256:$(sha256sum <"$(taken)/subject.json" | cut -d' ' -f1)" = "$(metadata .digest)" ]
		cmp <(jq '.process.env |= map(sub("=.*"; "=[redacted]"))' "$BUNDLE/config.json") <(jq . "$(taken)/config.json")
		run grep -rl hunter2 "$(taken)"
		[ "$status" -eq 1 ]
		jq -e '.process.env | index("SECRET=[redacted]")' "$(taken)/config.json"
	}
	both files
}

started() { # ID CMD...: the container runs and its command has created the file `ready` in its tree
	runtime "$RUNTIME" create -b "$BUNDLE" "$1" < <(:) >>"$CUSTODY_HOME/thrown-away"
	runtime "$RUNTIME" start "$1"
	wait_until told session.start "$((STARTS += 1))"
}
told() { # KIND COUNT
	[ "$(records "$1")" -ge "$2" ]
}
# ready ID: its command is past the point where it wrote `new`.
ready() {
	wait_until exec_in "$1" test -e "$CUSTODY_HOME/work/new"
}
exec_in() { # ID CMD...: without the runtime's exec, which a user may not have
	local pid
	pid=$(runtime "$RUNTIME" state "$1" | jq .pid)
	shift
	nsenter -t "$pid" -m -r -- "$@"
}

@test "CARD-3: CARD-5: ISO-4: killed from outside: the true signal, and the whole tree" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	STARTS=0
	write sh -c 'echo new >new; exec sleep 1000'
	killed() {
		local id=custody-test-killed-$RUNTIME-$$
		started "$id"
		ready "$id"
		runtime "$RUNTIME" kill "$id" KILL
		wait_until told session.end "$STARTS"
		runtime "$RUNTIME" delete "$id"
		clean
		[ "$(last session.end '[.d.reason, .d.signal, .d.code] | join(" ")')" = 'signaled 9 137' ]
		sound
		[ "$(cat "$(taken)/worktree/"{kept,new})" = "original
new" ]
	}
	both killed
}

@test "CARD-5: a container is among the sessions: with its bundle while it runs, with its end and evidence afterwards, and no secret" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	STARTS=0
	write sh -c 'echo new >new; exec sleep 1000' sh --password hunter2
	listed() {
		local id=custody-test-listed-$RUNTIME-$$ session
		runtime "$RUNTIME" create -b "$BUNDLE" "$id" < <(:) >>"$CUSTODY_HOME/thrown-away"
		[ "$(custody sessions --json | jq '.sessions | length')" = 0 ]
		runtime "$RUNTIME" start "$id"
		wait_until is_listed "$id"
		[ "$(custody sessions --json | jq -r '.sessions[] | [.state, .name, .container, .bundle, .worktree, .workspace, .exit] | map(tostring) | join(" ")')" = \
			"running $id $id $BUNDLE $(pwd -P) overlay null" ]
		session=$(custody show "$id" --json | jq -r .session.session)
		[ "$(custody show "$session" --json | jq -c .session.argv[-2:])" = '["--password","[redacted]"]' ]
		custody show "$id" | grep -q "^bundle .*$BUNDLE"
		# Its warden only watches.
		run --separate-stderr custody stop "$id"
		[ "$status" -eq 1 ]
		assert_stderr_has 'another runtime'
		runtime "$RUNTIME" kill "$id" KILL
		wait_until told session.end "$((STARTS += 1))"
		runtime "$RUNTIME" delete "$id"
		clean
		sound
		[ "$(custody sessions --json | jq '.sessions | length')" = 0 ]
		[ "$(custody sessions --all --json | jq -r --arg s "$session" '.sessions[] | select(.session == $s) | [.state, .exit.reason, .evidence] | join(" ")')" = "ended signaled $(taken)" ]
		run --separate-stderr custody diff "$session"
		[ "$status" -eq 1 ]
		assert_stderr_has 'ran under another runtime'
	}
	both listed
}
is_listed() { # CONTAINER
	[ "$(custody sessions --json | jq --arg c "$1" '[.sessions[] | select(.container == $c)] | length')" = 1 ]
}

@test "CARD-5: a container that never started is no session; one that ended well has a note and no evidence" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	write true
	unstarted() {
		local id=custody-test-unstarted-$RUNTIME-$$ before
		before=$(custody sessions --all --json | jq '.sessions | length')
		runtime "$RUNTIME" create -b "$BUNDLE" "$id" < <(:) >>"$CUSTODY_HOME/thrown-away"
		runtime "$RUNTIME" delete --force "$id"
		runtime_settle
		clean
		[ "$(custody sessions --all --json | jq '.sessions | length')" = "$before" ]
		runs 0
		noted "$(last session.end .session)"
		[ "$(last session.end '[.d.reason, .d.code, .d.evidence] | map(tostring) | join(" ")')" = 'exited 0 null' ]
		[ "$(custody sessions --all --json | jq '.sessions | length')" = $((before + 1)) ]
	}
	both unstarted
}

@test "CARD-3: CARD-5: a running container that is deleted by force leaves evidence" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	STARTS=0
	write sh -c 'echo new >new; exec sleep 1000'
	forced() {
		local id=custody-test-forced-$RUNTIME-$$
		started "$id"
		ready "$id"
		runtime "$RUNTIME" delete --force "$id"
		runtime_settle
		clean
		killed_with_evidence
	}
	both forced
}

@test "CARD-3: CARD-5: ISO-4: out of memory is reported as such, though the runtime's cgroup is removed, and keeps the whole tree" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	bundle --profile "$CUSTODY_HOME/plain.json" --memory 32M -- sh -c 'echo new >new; head -c 200M /dev/zero | tail >/dev/null; kill -9 $$'
	out_of_memory() {
		runs 137
		[ "$(last session.end '[.d.reason, .d.source, .d.code, .d.abnormal] | join(" ")')" = 'oom cgroup 137 true' ]
		sound
		[ "$(metadata '[.exit.reason, .scope, .status] | join(" ")')" = 'oom all complete' ]
		[ "$(cat "$(taken)/worktree/"{kept,new})" = "original
new" ]
	}
	both out_of_memory
	# Killed without want of memory is not that.
	bundle --profile "$CUSTODY_HOME/plain.json" --memory 32M -- sh -c 'kill -9 $$'
	killed() {
		runs 137
		[ "$(last session.end '[.d.reason, .d.code] | join(" ")')" = 'exited 137' ]
	}
	both killed
}

@test "CARD-3: ISO-4: a refused container leaves a record and no evidence" {
	judged_strictly
	refused() {
		runtime_run "$RUNTIME" "$BUNDLE"
		[ "$status" -ne 0 ]
		assert_stderr_has 'needs approval'
		[ "$(last session.refused .status)" = denied ]
		[ "$(records session.start)" -eq 0 ]
		[ "$(store)" -eq 0 ]
		clean
	}
	profile plain '{"workspace": {"mode": "rw"}}'
	echo 'exit 3' >script.sh
	write sh script.sh
	both refused
}
judged_strictly() {
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{}' >"$CUSTODY_ROOT/etc/custody.json"
}

@test "CARD-5: ISO-4: the other kinds of worktree: in memory whole, ro and rw named" {
	kind() { # JQ-FILTER WANT
		runs 3
		sound
		[ "$(metadata "$1")" = "$2" ]
	}
	profile plain '{"workspace": {"mode": "tmpfs"}}'
	write sh -c 'echo new >new; exit 3'
	both kind '[.scope, .status, .tree.files] | join(" ")' 'all complete 1'
	[ "$(cat "$(taken)/worktree/new")" = new ]
	profile plain '{"workspace": {"mode": "ro"}}'
	write sh -c 'exit 3'
	both kind '[.status, .why] | join(" ")' 'none the worktree was read-only: nothing was changed'
	profile plain '{"workspace": {"mode": "rw"}}'
	write sh -c 'exit 3'
	both kind '[.status, .why] | join(" ")' 'none the worktree was written in place: it has the changes'
}

@test "ISO-4: the profile sets after which exits, and how much" {
	keeps() { # STATUS COUNT
		rm -rf "$CUSTODY_ROOT/forensics"
		runs "$1"
		[ "$(store)" -eq "$2" ] || custody_fail "$(store) are kept"
	}
	profile plain '{"forensics": {"expect_exit": [3, 143]}}'
	write sh -c 'exit 3'
	both keeps 3 0
	write sh -c 'kill -TERM $$'
	both keeps 143 0
	write sh -c 'exit 4'
	both keeps 4 1
	# A signal inside is known as its shell's number: both words mean it.
	profile plain '{"forensics": {"on": ["signaled"]}}'
	write sh -c 'kill -SEGV $$'
	both keeps 139 1
	write sh -c 'exit 4'
	both keeps 4 0
	profile plain '{"forensics": {"capture": "all"}}'
	write sh -c 'exit 4'
	both keeps 4 1
	[ "$(metadata .scope)" = all ]
}

@test "ISO-5: hidden paths are not in the evidence" {
	profile plain '{"filesystem": {"hide": ["/work/dir"]}}'
	write sh -c 'kill -SEGV $$'
	hidden() {
		runs 139
		[ "$(cat "$(taken)/worktree/kept")" = original ]
		[ ! -e "$(taken)/worktree/dir/file" ]
	}
	both hidden
}

# --- kills ----------------------------------------------------------------------------------------------------------

# both_halves: the pids of the only custody-warden of this test: who watches, and its child, who keeps.
both_halves() {
	local dir pid keeper='' watcher=''
	for dir in /proc/[0-9]*; do
		pid=${dir#/proc/}
		[ "$(cat "$dir/comm" 2>/dev/null)" = custody-warden ] || continue
		[[ $(readlink "$dir/fd/4") == "$CUSTODY_ROOT/run/sessions/"* ]] || continue
		if [ "$(cat "/proc/$(leftover_parent "$pid")/comm" 2>/dev/null)" = custody-warden ]; then
			keeper=$pid
		else
			watcher=$pid
		fi
	done
	[[ -n $watcher && -n $keeper ]] || custody_fail "custody-warden: '$watcher' '$keeper'"
	echo "$watcher $keeper"
}
dead() { # PID: gone, or only its parent has not looked yet
	[[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) != [!ZX]* ]]
}
init_of() { # ID: pid of its first process
	runtime "$RUNTIME" state "$1" | jq .pid
}
# unwatched ID: a container that runs and whose warden was killed, all of it.
unwatched() {
	local watcher keeper
	started "$1"
	ready "$1"
	read -r watcher keeper < <(both_halves)
	kill -STOP "$keeper"
	kill -9 "$watcher" "$keeper"
	wait_until dead "$watcher"
	wait_until dead "$keeper"
}

# ended ID RECOVER...: another process recovers it, before or after the container's end.
recovered() {
	local id=custody-test-unwatched-$RUNTIME-$$ pid
	unwatched "$id"
	pid=$(init_of "$id")
	! dead "$pid" || custody_fail 'the container did not outlive its warden'
	SESSION=
	SESSION=$(last session.intent .session)
	"$@"
	dead "$pid" || custody_fail 'it runs without a supervisor'
	[ "$(last session.end '[.d.reason, .d.source, .d.abnormal] | join(" ")')" = 'lost sweep true' ]
	sound
	[ "$(metadata '[.scope, .status, .exit.reason, .container] | join(" ")')" = "all complete lost $id" ]
	[ "$(cat "$(taken)/worktree/"{kept,new})" = "original
new" ]
	[ "$(entry new uid):$(entry new gid)" = "$(owner)" ]
	clean
	# Whatever the runtime does now: it is over.
	runtime "$RUNTIME" delete --force "$id"
	[ "$(records session.end)" -eq "$(records session.intent)" ]
	clean
}

keeper_tells() { # the facts known when the container has exited
	[ "$(last session.end '[.d.reason, .d.source, .d.abnormal] | join(" ")')" = 'lost keeper true' ]
	sound
	[ "$(metadata '[.scope, .status] | join(" ")')" = 'all complete' ]
	[ "$(cat "$(taken)/worktree/"{kept,new})" = "original
new" ]
}

@test "CARD-5: ISO-4: the warden killed: its backup kills the container, keeps the tree and records the end" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	STARTS=0
	write sh -c 'echo new >new; exec sleep 1000'
	kept() {
		local id=custody-test-kept-$RUNTIME-$$ watcher keeper pid
		started "$id"
		ready "$id"
		pid=$(init_of "$id")
		read -r watcher keeper < <(both_halves)
		kill -9 "$watcher"
		wait_until dead "$keeper"
		dead "$pid" || custody_fail 'it runs without a supervisor'
		keeper_tells
		runtime "$RUNTIME" delete --force "$id"
		clean
		[ "$(records session.end)" -eq "$STARTS" ]
	}
	both kept
	# The other half alone: nothing is lost with it.
	alone() {
		local id=custody-test-alone-$RUNTIME-$$ watcher keeper
		started "$id"
		ready "$id"
		read -r watcher keeper < <(both_halves)
		kill -9 "$keeper"
		runtime "$RUNTIME" delete --force "$id"
		wait_until dead "$watcher"
		clean
		[ "$(last session.end '[.d.reason, .d.signal] | join(" ")')" = 'signaled 9' ]
		sound
	}
	RUNTIME=crun
	alone
}

@test "CARD-5: ISO-4: a user's warden killed: its other half keeps the tree" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	local id=custody-test-user-$$ watcher keeper
	suite_setup_user
	lay_out
	write sh -c 'echo new >new; exec sleep 1000'
	RUNTIME=crun
	STARTS=0
	started "$id"
	ready "$id"
	read -r watcher keeper < <(both_halves)
	kill -9 "$watcher"
	wait_until dead "$keeper"
	keeper_tells
	runtime crun delete --force "$id"
	clean
}

@test "CARD-5: ISO-4: ISO-7: the warden killed: recover ends the container, keeps its tree and closes the record" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	STARTS=0
	write sh -c 'echo new >new; exec sleep 1000'
	both recovered custody recover
}

@test "CARD-5: ISO-4: ISO-7: the warden killed: the next start does the same" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	STARTS=0
	write sh -c 'echo new >new; exec sleep 1000'
	RUNTIME=crun
	recovered custody run --profile "$CUSTODY_HOME/plain.json" -- true
}

@test "CARD-5: ISO-4: the warden killed, then the container: audit records it as lost" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	STARTS=0
	write sh -c 'echo new >new; exec sleep 1000'
	lost() {
		local id=custody-test-lost-$RUNTIME-$$
		unwatched "$id"
		runtime "$RUNTIME" delete --force "$id"
		[ "$(last session.end '[.d.reason, .d.source, .d.abnormal] | join(" ")')" = 'lost audit true' ]
		sound
		[ "$(metadata '[.status, .why] | join(": ")')" = 'none: custody-warden was killed before the container exited, and with it the descriptors of the worktree' ]
		[ -s "$(taken)/config.json" ]
		clean
	}
	both lost
}

@test "CARD-3: CARD-5: a slow warden does not block the runtime, and cleans up by itself" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	STARTS=0
	write sh -c 'echo new >new; exec sleep 1000'
	slow() {
		local id=custody-test-slow-$RUNTIME-$$ pid keeper
		started "$id"
		ready "$id"
		read -r pid keeper < <(both_halves)
		kill -STOP "$pid"
		runtime "$RUNTIME" delete --force "$id"
		compgen -G "$CUSTODY_ROOT/run/sessions/*/audited" >/dev/null
		[ "$(records session.end)" -eq $((STARTS - 1)) ]
		kill -CONT "$pid"
		wait_until dead "$pid"
		wait_until dead "$keeper"
		clean
		killed_with_evidence
	}
	both slow
}

@test "CARD-5: ISO-4: the runtime killed: the container's end is still recorded" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	local file=$CUSTODY_HOME/crun.pid id=custody-test-orphan-$$ pid
	STARTS=1
	RUNTIME=crun
	write sh -c 'echo new >new; exec sleep 1000'
	(
		CUSTODY_AS=(sh -c 'echo $$ >"$1"; shift; exec "$@"' sh "$file")
		runtime crun run -b "$BUNDLE" "$id" < <(:) >>"$CUSTODY_HOME/thrown-away" 2>&1
	) &
	pid=$!
	wait_until told session.start 1
	ready "$id"
	kill -9 "$(cat "$file")"
	wait "$pid" || true
	runtime crun kill "$id" KILL
	wait_until told session.end 1
	runtime_settle
	killed_with_evidence
	runtime crun delete --force "$id"
	[ "$(records session.end)" -eq 1 ]
	clean
}

# --- false input -------------------------------------------------------------------------------------------------

# audited ID [JQ-FILTER]: the hook by hand, as the runtime would call it, with a state of the caller's own.
audited() {
	local args
	mapfile -t args < <(jq -r '.hooks.poststop[0].args[1:][]' "$BUNDLE/config.json")
	run --separate-stderr bash -c 'printf "%s" "$1" | "${@:2}"' bash \
		"$(jq -cn --arg b "$BUNDLE" --arg id "$1" '{ociVersion: "1.0.2", id: $id, pid: 0, bundle: $b, status: "stopped"}' | jq -c "${2:-.}")" \
		"${CUSTODY_AS[@]}" "$(jq -r '.hooks.poststop[0].path' "$BUNDLE/config.json")" "${args[@]}"
}

@test "CARD-3: a forged state ends no session: its container keeps running, supervised" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	local id=custody-test-forged-$$ pid
	STARTS=0
	RUNTIME=crun
	runtime_own_init
	write sh -c 'echo new >new; exec sleep 1000'
	started "$id"
	ready "$id"
	pid=$(init_of "$id")
	audited "$id"
	assert_status 0
	audited "$id" '.bundle = "/nowhere" | .pid = 1'
	assert_status 0
	# Nor one that is only created.
	runtime runc create -b "$BUNDLE" "$id-2" < <(:) >>"$CUSTODY_HOME/thrown-away"
	audited "$id-2"
	assert_status 0
	! dead "$pid" || custody_fail 'it was ended'
	[ "$(find "$CUSTODY_ROOT/run/sessions" -mindepth 1 -maxdepth 1 | wc -l)" -eq 2 ]
	[ "$(records session.end)" -eq 0 ]
	[ "$(store)" -eq 0 ]
	runtime runc delete --force "$id-2"
	runtime crun delete --force "$id"
	runtime_settle
	[ "$(records session.end)" -eq 1 ]
	sound
	clean
}

@test "CARD-3: audit of an unknown container, and of one that is over: nothing happens" {
	RUNTIME=crun
	write sh -c 'exit 3'
	audited unknown
	assert_status 0
	runs 3
	audited "$CONTAINER"
	assert_status 0
	audited "$CONTAINER"
	assert_status 0
	[ "$(records session.end)" -eq 1 ]
	[ "$(store)" -eq 1 ]
	clean
	audited "../../etc" '.id = "../.."'
	assert_status 0
	audited x 'del(.id)'
	[ "$status" -ne 0 ]
	audited x 'del(.bundle)'
	[ "$status" -ne 0 ]
	run "$(jq -r '.hooks.poststop[0].path' "$BUNDLE/config.json")" audit <<<'{"id": "x", "bundle": "/nonexistent"}'
	[ "$status" -ne 0 ]
	clean
}

@test "CARD-5: ISO-5: two containers of one bundle at once: each has its own evidence" {
	local ids=(a b c d) id pids=()
	write sh -c 'mktemp mine-XXXXXX; sleep 0.1; exit 3'
	for id in "${ids[@]}"; do
		runtime crun run -b "$BUNDLE" "custody-test-many-$id-$$" < <(:) >"$CUSTODY_HOME/out-$id" 2>&1 &
		pids+=($!)
	done
	wait "${pids[@]}" || true
	runtime_settle
	clean
	[ "$(store)" -eq 4 ]
	for id in "${ids[@]}"; do
		path=$(find "$CUSTODY_ROOT/forensics" -name "$(cat "$CUSTODY_HOME/out-$id")")
		[ "$(jq -r .container "${path%/worktree/*}/metadata.json")" = "custody-test-many-$id-$$" ]
		[ "$(find "${path%/*}" -name 'mine-*' | wc -l)" -eq 1 ]
	done
}

@test "CARD-5: ISO-5: bundle moved and edited, worktree replaced by a link: the evidence has the files that ran" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	STARTS=0
	moved() {
		local id=custody-test-moved-$RUNTIME-$$
		write sh -c 'echo new >new; exec sleep 1000'
		cp "$BUNDLE/subject.json" "$CUSTODY_HOME/subject"
		started "$id"
		ready "$id"
		mv "$BUNDLE" "$BUNDLE-moved"
		echo '{}' >"$BUNDLE-moved/config.json"
		echo '{}' >"$BUNDLE-moved/subject.json"
		mkdir "$CUSTODY_HOME/secrets"
		echo hunter2 >"$CUSTODY_HOME/secrets/new"
		mv "$CUSTODY_HOME/work" "$CUSTODY_HOME/work-moved"
		ln -s "$CUSTODY_HOME/secrets" "$CUSTODY_HOME/work"
		runtime "$RUNTIME" kill "$id" KILL
		wait_until told session.end "$STARTS"
		# crun starts hooks in the bundle's directory: now it cannot, and may die of SIGPIPE when it writes the state to them.
		runtime "$RUNTIME" delete --force "$id" || true
		runtime_settle
		rm "$CUSTODY_HOME/work"
		mv "$CUSTODY_HOME/work-moved" "$CUSTODY_HOME/work"
		rm -rf "$CUSTODY_HOME/secrets" "$BUNDLE-moved"
		clean
		sound
		[ "$(cat "$(taken)/worktree/"{kept,new})" = "original
new" ]
		run grep -r hunter2 "$(taken)"
		[ "$status" -eq 1 ]
		cmp <(jq -cjS .subject "$CUSTODY_HOME/subject") "$(taken)/subject.json"
		[ "$(jq -r '.process.args[-1]' "$(taken)/config.json")" = 'echo new >new; exec sleep 1000' ]
	}
	both moved
}

@test "CARD-5: ISO-5: a store without room: the end has the reason, and is recorded" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	mkdir -m 0700 "$CUSTODY_ROOT/forensics"
	write sh -c 'head -c 1000000 /dev/zero >new; exit 3'
	full() {
		run unshare -m --propagation slave sh -c '! mountpoint -q /sys/fs/cgroup/unified || umount /sys/fs/cgroup/unified
			mount -t tmpfs -o size=16k,mode=700 full "$1"; mount -t tmpfs -o size=16k,mode=700 full "$2"; shift 2; exec "$@"' \
			sh "$CUSTODY_ROOT/forensics" "$CUSTODY_ROOT/sandbox/staging" "$RUNTIME" --root "$CUSTODY_HOME/state-$RUNTIME" run -b "$BUNDLE" "custody-test-full-$RUNTIME-$$" < <(:)
		assert_status 3
		runtime_settle
		[ "$(last session.end '[.d.reason, .d.code, .d.evidence] | join(" ")')" = 'exited 3 ' ]
		[[ $(last session.end .d.evidence_error) == *'No space left'* ]]
		clean
	}
	[ -d "$CUSTODY_ROOT/sandbox/staging" ] || mkdir -m 0700 "$CUSTODY_ROOT/sandbox/staging"
	both full
	[ "$(store)" -eq 0 ]
}

@test "CARD-5: ISO-5: a store without room: evidence is staged, and delivered once the store has room" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	mkdir -m 0700 "$CUSTODY_ROOT/forensics"
	write sh -c 'head -c 100000 /dev/urandom >big; exit 3'
	# Not `crun run`: it would wait for who delivers, now and then, because that one becomes its child.
	unshare -m --propagation slave sh -c '! mountpoint -q /sys/fs/cgroup/unified || umount /sys/fs/cgroup/unified
		mount -t tmpfs -o size=16k,mode=700 full "$1"; crun --root "$2" create -b "$3" "$4" && crun --root "$2" start "$4"' \
		sh "$CUSTODY_ROOT/forensics" "$CUSTODY_HOME/state-crun" "$BUNDLE" "custody-test-staged-$$" < <(:) >>"$CUSTODY_HOME/thrown-away"
	wait_until told session.end 1
	runtime crun delete --force "custody-test-staged-$$"
	clean
	suite_end_deliveries
	[ "$(last session.end '[.d.code, .d.evidence_staged, .d.evidence_error] | map(tostring) | join(" ")')" = '3 true null' ]
	[ "$(store)" -eq 0 ]
	"$CUSTODY" evidence deliver
	[ "$(store)" -eq 1 ]
	"$CUSTODY" evidence verify "$(basename "$(last session.end .d.evidence)")"
	clean
}

# A custody-warden that receives its request and no handover: strace replaces the kernel's answers.
warden_that_is_deaf() {
	local libexec=$CUSTODY_HOME/libexec
	mkdir "$libexec"
	cp "${CUSTODY_LIBEXEC:-$(dirname "$(readlink -f "$CUSTODY")")/../libexec/custody}"/custody-{hook,init,pack,warden} "$libexec"
	mv "$libexec/custody-warden" "$libexec/warden"
	cat >"$libexec/deaf" <<-END
		#!/bin/sh
		exec $(command -v strace) -D -qq -o /dev/null -e trace=recvmsg -e inject=recvmsg:error=EAGAIN:when=2+ $libexec/warden "\$@" </dev/null >/dev/null 2>&1
	END
	chmod 755 "$libexec/deaf"
	export CUSTODY_LIBEXEC=$libexec
	its_warden_is warden
}
# Where the container is refused strace would be left to crun, whose hook then seems to last until its time is over.
its_warden_is() { # warden | deaf
	cp "$CUSTODY_LIBEXEC/$1" "$CUSTODY_LIBEXEC/new"
	mv "$CUSTODY_LIBEXEC/new" "$CUSTODY_LIBEXEC/custody-warden"
}

# alone PID: the process has no child.
alone() {
	[ -z "$(cat "/proc/$1/task/$1/children")" ]
}
waits() { # PID: custody-init, asleep
	[ "$(tr '\0' '\n' <"/proc/$1/cmdline" | head -n 1)" = /run/custody/init ] && [[ $(sed 's/.*) //' "/proc/$1/stat") == S* ]]
}

unanswered() {
	echo '{}' >"$CUSTODY_ROOT/etc/custody.json"
	its_warden_is deaf
	runtime_run "$RUNTIME" "$BUNDLE"
	its_warden_is warden
	[ "$status" -eq 125 ] || custody_fail "status $status: $stderr"
	assert_stderr_has 'did not answer in time'
	clean
	[ "$(records session.start)" -eq 0 ]
	[ "$(last session.refused .d.refused)" = setup-failed ]
}

@test "CARD-3: CARD-5: a container whose warden has no worktree descriptor never runs its command, and its grant is returned" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	command -v strace >/dev/null || skip 'no strace'
	warden_that_is_deaf
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"rules":[{"effect":"ask","argv":["sleep","1000"]}]}' >"$CUSTODY_ROOT/etc/custody.json"
	write sleep 1000
	unheld() {
		local request id=custody-test-unheld-$RUNTIME-$$ pid releases
		releases=$(records grant.release)
		runtime_run "$RUNTIME" "$BUNDLE"
		assert_stderr_has 'custody approve'
		request=$(custody pending --json | jq -r '.requests[0].id')
		custody approve "$request" --yes 2>/dev/null
		its_warden_is deaf
		runtime "$RUNTIME" create -b "$BUNDLE" "$id" < <(:) >>"$CUSTODY_HOME/thrown-away"
		its_warden_is warden
		runtime "$RUNTIME" start "$id"
		pid=$(init_of "$id")
		wait_until waits "$pid"
		alone "$pid" || custody_fail 'the command runs'
		runtime "$RUNTIME" kill "$id" KILL
		wait_until dead "$pid"
		runtime "$RUNTIME" delete --force "$id"
		clean
		[ "$(last session.refused '[.d.refused, .d.why] | join(": ")')" = 'setup-failed: custody-hook did not pass the worktree descriptors' ]
		[ "$(records grant.release)" -eq $((releases + 1)) ]
		[ "$(records grant.consume)" -eq 0 ]
		[ "$(records session.start)" -eq 0 ]
		[ "$(store)" -eq 0 ]
		custody revoke "$(custody grants --json | jq -r '.grants[0].id')" >/dev/null
	}
	both unheld
	[ "$(custody sessions --all --json | jq '.sessions | length')" -eq 0 ]
	# init waits for 30 s at most.
	[ "${CUSTODY_TEST_FULL:-0}" = 0 ] || both unanswered
}
