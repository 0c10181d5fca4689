#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2001,SC2016,SC2030,SC2031,SC2154 # scripts for others; bats' subshells and variables
#
# The commands of every day on state that is damaged, foreign, full, in use or half removed: a message, no change of the
# worktree, nothing followed.  Each table is commands x damages, so that a new command is one more line.

load ../lib/suite.bash

setup() {
	as_root
}

teardown() {
	custody_teardown
}

as_root() {
	suite_setup && suite_ungoverned
	LIMITS=()
}

as_user() {
	custody_teardown
	suite_setup_user && suite_ungoverned
	suite_profile user '{"enforce": {"optional": ["memory-limit", "pids-limit", "cpu-limit"]}}'
	chmod 0644 "$PROFILE"
	LIMITS=(--profile "$PROFILE")
}

as() {
	"${CUSTODY_AS[@]}" "$@"
}

# kept: a session with changes; ID is its, STATE its directory.
kept() {
	as sh -c 'mkdir -p dir; echo old >text; echo old >gone; echo old >dir/file'
	custody_run "${LIMITS[@]}" -- sh -c 'echo more >>text; rm -f gone; echo more >>dir/file; echo new >new'
	assert_status 0
	ID=$(custody_result .session)
	STATE=$CUSTODY_ROOT/sandbox/sessions/$ID
}

portrait() { # DIRECTORY...: all that a command could have changed in it
	find "$@" -printf '%p %y %m %U %s %l %T@\n' | sort
}

# damage KIND FILE: FILE of the state is KIND now; what a link names is in $CUSTODY_HOME/victim.
damage() {
	local victim
	victim=$CUSTODY_HOME/victim/$(basename "$2")
	as mkdir -p "$CUSTODY_HOME/victim"
	as rm -rf "$victim"
	case $1 in
	writable) as chmod -R a+rwX "$2" ;;
	unreadable) as chmod 000 "$2" ;;
	foreign) chown -h 4711 "$2" ;;
	huge | binary | empty) as chmod u+w "$2" ;;&
	huge) as truncate -s 1G "$2" ;;
	binary) as sh -c 'head -c 100000 /dev/urandom >"$1"' sh "$2" ;;
	empty) as sh -c ': >"$1"' sh "$2" ;;
	*) as mv "$2" "$victim" ;;&
	fifo) as mkfifo "$2" ;;
	link) as ln -s "$victim" "$2" ;;
	loop) as ln -s "$(basename "$2")" "$2" ;;
	directory) as mkdir "$2" ;;
	file) as touch "$2" ;;
	esac
}

# The commands, and a * at those that must not succeed: those that read the note, then those that read the changes.
NOTE_COMMANDS='* apply ID
* apply
* exec ID -- true
  diff ID
  show ID
  logs ID
  stop ID
  evidence show ID
  sessions --all
  df
  prune
  discard ID'
CHANGES_COMMANDS='* apply ID
* apply
  diff ID
  prune
  discard ID'

# try WORDS...: the command ends by itself with a message, and neither worktree nor the target of a link is changed.
try() {
	local before
	before=$(portrait . "$CUSTODY_HOME/victim")
	run --separate-stderr timeout -k 1 30 "${CUSTODY_AS[@]}" "$CUSTODY" "$@" </dev/null
	[ "$status" -lt 124 ] || [ "$status" -eq 125 ] || custody_fail "$WHAT: custody $*: status $status"
	[ "$status" -eq 0 ] || [ -n "$stderr" ] || custody_fail "$WHAT: custody $*: status $status without a message"
	[ "$(portrait . "$CUSTODY_HOME/victim")" = "$before" ] || custody_fail "$WHAT: custody $*: changed: $(diff <(echo "$before") <(portrait . "$CUSTODY_HOME/victim"))"
}

# cases FILE COMMANDS KIND...: one line for each that this user can make.
cases() {
	local name=$1 commands=$2 kind
	shift 2
	for kind; do
		case $kind in
		foreign) [ "${#CUSTODY_AS[@]}" -eq 0 ] || continue ;;
		unreadable) [ "${#CUSTODY_AS[@]}" -ne 0 ] || continue ;;
		esac
		sed "s/^/$name $kind /" <<<"$commands"
	done
}

# damaged: reads the lines of cases.
damaged() {
	local name kind refuse words
	while read -r name kind words; do
		refuse=${words%%[!\*]*}
		words=${words#\* }
		words=${words//ID/$ID}
		WHAT="$kind $name"
		as cp -a "$STATE" "$CUSTODY_HOME/saved"
		damage "$kind" "$STATE/$name"
		# shellcheck disable=SC2086 # words
		try $words
		if [ -n "$refuse" ]; then
			[ "$status" -ne 0 ] || custody_fail "$WHAT: custody $words succeeded"
			[[ $stderr == *"$name"* || $stderr == *"$ID"* || $stderr == *'no session'* ]] || custody_fail "$WHAT: custody $words does not say of what"
		fi
		chmod -R u+rwX "$STATE" 2>/dev/null || true
		rm -rf "$STATE"
		as mv "$CUSTODY_HOME/saved" "$STATE"
	done
}

damaged_sessions() {
	kept
	{
		cases layer.json "$CHANGES_COMMANDS" writable unreadable foreign huge binary empty fifo link loop directory
		cases session.json "$NOTE_COMMANDS" unreadable foreign huge binary empty fifo link loop directory
		cases base "$CHANGES_COMMANDS" unreadable huge binary empty fifo link loop directory
		cases u "$CHANGES_COMMANDS" fifo link loop file foreign
	} >"$CUSTODY_HOME/cases"
	damaged < <(sample 60 <"$CUSTODY_HOME/cases")
	# It was the damage: without it all is applied.
	as "$CUSTODY" apply "$ID"
	[ "$(cat text new)" = "old
more
new" ]
}

@test "ISO-3: damaged, foreign and replaced files of a session: each command says so, follows nothing, changes nothing" {
	damaged_sessions
}

@test "ISO-3: rootless: damaged, unreadable and replaced files of a session" {
	as_user
	damaged_sessions
}

# --- two commands at once ---------------------------------------------------------------------------------------------------

# Each line: two commands on one session with changes, and the files of the worktree that may be there after both.
PAIRS='apply ID|apply ID|new
apply ID|discard ID|new old
apply ID|prune --all --yes|new old
apply ID|run --continue=ID -- true|new old
discard ID|discard ID|old
discard ID|prune --all --yes|old
prune --all --yes|prune --all --yes|old
run --continue=ID -- true|discard ID|old
run --continue=ID -- true|run --continue=ID -- true|old
run --continue=ID -- true|diff ID|old
diff ID|discard ID|old
df|discard ID|old
sessions --all|prune --all --yes|old'

# start FILE WORDS...: in the background, without a terminal; PID is its process.
start() {
	local file=$1 limits=()
	shift
	[ "$1" != run ] || limits=("${LIMITS[@]}")
	set -- "$1" "${limits[@]}" "${@:2}"
	timeout -k 1 60 "${CUSTODY_AS[@]}" "$CUSTODY" "$@" </dev/null >"$file.out" 2>"$file.err" 3>&- &
	PID=$!
}

two_at_once() {
	local first second after pids codes seen
	while IFS='|' read -r first second after; do
		rm -rf -- ./*
		kept
		# shellcheck disable=SC2086 # words
		{
			start "$CUSTODY_HOME/one" ${first//ID/$ID} && pids=("$PID")
			start "$CUSTODY_HOME/two" ${second//ID/$ID} && pids+=("$PID")
		}
		codes=()
		for PID in "${pids[@]}"; do
			status=0
			wait "$PID" || status=$?
			codes+=("$status")
			[ "$status" -lt 124 ] || [ "$status" -eq 125 ] || custody_fail "$first and $second: status $status: $(cat "$CUSTODY_HOME/one.err" "$CUSTODY_HOME/two.err")"
		done
		seen=old
		[ ! -e new ] || seen=new
		[[ " $after " == *" $seen "* ]] || custody_fail "$first and $second: $seen"
		# All or nothing.
		if [ "$seen" = new ]; then
			[ "$(cat text dir/file new | tr '\n' ' ')" = 'old more old more new ' ] && [ ! -e gone ]
		else
			[ "$(cat text gone dir/file | tr '\n' ' ')" = 'old old old ' ]
		fi || custody_fail "$first and $second: half of the changes"
		as "$CUSTODY" ledger verify >/dev/null
		as "$CUSTODY" discard --all --yes >/dev/null 2>&1 || true
		[ -z "$(find "$CUSTODY_ROOT/sandbox/sessions" -mindepth 2 -name u)" ] || custody_fail "$first and $second: changes are left (${codes[*]})"
		[ -z "$(sessions_left)" ] || custody_fail "$first and $second: left: $(sessions_left)"
	done <<<"$PAIRS"
}

@test "ISO-7: two commands at once on one session: each ends, the worktree is old or new, nothing is left" {
	two_at_once
}

@test "ISO-7: rootless: two commands at once on one session" {
	as_user
	two_at_once
}

# held: while another command has the lock of the session, nothing of it is read in part, applied or removed.
held() {
	local words fd
	kept
	exec {fd}<"$STATE"
	flock -n "$fd"
	for words in 'apply ID' 'discard ID' 'diff ID' 'run --continue=ID -- true' 'prune --all --yes' 'discard --all --yes'; do
		# shellcheck disable=SC2086 # words
		start "$CUSTODY_HOME/one" ${words//ID/$ID}
		status=0
		wait "$PID" || status=$?
		case $words in
		*--all*) [ "$status" -lt 124 ] ;;
		*) [ "$status" -ne 0 ] && grep -q 'by another process' "$CUSTODY_HOME/one.err" ;;
		esac || custody_fail "$words: status $status: $(cat "$CUSTODY_HOME/one.err")"
		[ -e "$STATE/layer.json" ] && [ "$(cat "$STATE/u/new")" = new ] && [ ! -e new ] && [ -e gone ] || custody_fail "$words acted"
	done
	exec {fd}<&-
	as "$CUSTODY" apply "$ID" >/dev/null
	[ "$(cat new)" = new ]
}

@test "ISO-7: while another command has the lock of a session, each one is refused or passes it" {
	held
	as_user
	held
}

# --- killed between two steps ---------------------------------------------------------------------------------------------

# killed_at N WORDS...: custody WORDS, killed at the N-th system call that changes a file system.  Status 1: it came to its end.
killed_at() {
	local n=$1
	shift
	status=0
	timeout -k 1 60 strace -qq -f -o /dev/null -e trace=unlinkat,renameat,renameat2,mkdirat,linkat,fdatasync,fsync,pwrite64,symlinkat \
		-e "inject=unlinkat,renameat,renameat2,mkdirat,linkat,fdatasync,fsync,pwrite64,symlinkat:signal=KILL:when=$n" \
		"${CUSTODY_AS[@]}" "$CUSTODY" "$@" </dev/null >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" || status=$?
	[ "$status" -ne 124 ] || custody_fail "$* did not end: $(cat "$CUSTODY_HOME/err")"
	[ "$status" -ge 128 ]
}

# The state is as before or after; the next command removes the rest of the changes, and applies none of them in part.
killed_commands() {
	local words n most=0
	type -p strace >/dev/null || skip 'strace is not installed'
	for words in 'discard ID' 'prune --all --yes' 'apply ID' 'discard --all --yes'; do
		for ((n = 1; n < 60; n += 1 + n / 8)); do
			rm -rf -- ./*
			kept
			# shellcheck disable=SC2086 # words
			killed_at "$n" ${words//ID/$ID} || break
			wait_until no_lock "$ID"
			if [ "$words" = 'apply ID' ]; then
				# Old or new, each path; and the same command does the rest, unless it was killed after it.
				[ "$(cat text)" = old ] || [ "$(cat text)" = "$(printf 'old\nmore')" ] || custody_fail "$words at $n: $(cat text)"
				as "$CUSTODY" apply "$ID" >/dev/null 2>&1 || true
				[ "$(cat text dir/file new | tr '\n' ' ')" = 'old more old more new ' ] && [ ! -e gone ] || custody_fail "$words at $n: $(ls)"
			else
				[ "$(cat text gone dir/file | tr '\n' ' ')" = 'old old old ' ] && [ ! -e new ] || custody_fail "$words at $n"
			fi
			as "$CUSTODY" discard --all --yes >/dev/null 2>&1 || true
			wait_until no_lock "$ID"
			[ -z "$(find . -name '.custody*')" ] || custody_fail "$words at $n: left in the worktree: $(find . -name '.custody*')"
			[ -z "$(find "$STATE" -mindepth 1 -name u -o -mindepth 1 -name layer.json)" ] || custody_fail "$words at $n: left: $(ls "$STATE")"
			as "$CUSTODY" ledger verify >/dev/null || custody_fail "$words at $n: the ledger"
			[ "$n" -le "$most" ] || most=$n
		done
	done
	[ "$most" -ge 8 ]
}

# The detached removal of a killed apply holds it.
no_lock() { # ID
	[ ! -d "$CUSTODY_ROOT/sandbox/sessions/$1" ] || flock -n "$CUSTODY_ROOT/sandbox/sessions/$1" true
}

@test "ISO-7: discard, prune and apply killed at each change of a file: the next command finishes" {
	killed_commands
}

# --- files that a run reads ------------------------------------------------------------------------------------------------

# FILE KIND: ran, or the words of the refusal.
INPUTS='.git/ directory ran
.git fifo .git
.git link .git
.git loop .git
.git huge .git
.git binary .git
.git empty .git
.custody/profile fifo profile
.custody/profile link profile
.custody/profile loop profile
.custody/profile huge profile
.custody/profile binary profile
.custody/profile empty profile
.custody/profile directory profile
home/.gitconfig fifo ran
home/.gitconfig loop ran
home/.gitconfig huge ran
home/.gitconfig binary ran
home/.gitconfig directory ran
home/.gitconfig unreadable ran
tools/bin fifo ran
tools/bin loop ran
tools/bin link ran
tools/bin huge ran
home/.pyenv fifo ran
home/.pyenv loop ran
home/.cargo huge ran'

# make_input FILE KIND: below this directory, or below the home.
make_input() {
	local file=$1
	case $file in
	home/* | tools/*) file=$CUSTODY_HOME/$file ;;
	esac
	as mkdir -p "$(dirname "$file")" "$CUSTODY_HOME/victim"
	case $2 in
	fifo) as mkfifo "$file" ;;
	link) as ln -s "$CUSTODY_HOME/victim" "$file" ;;
	loop) as ln -s "$(basename "$file")" "$file" ;;
	huge) as truncate -s 1G "$file" ;;
	binary) as sh -c 'head -c 100000 /dev/urandom >"$1"' sh "$file" ;;
	empty) as touch "$file" ;;
	directory) as mkdir -p "$file" ;;
	unreadable) as sh -c ': >"$1"; chmod 000 "$1"' sh "$file" ;;
	esac
	INPUT=$file
}

inputs_are_bad() {
	local file kind want named='^none '
	# A profile that is named replaces the default one.
	[ "${#LIMITS[@]}" -eq 0 ] || named='^.custody/profile '
	mkdir -p "$CUSTODY_HOME/home" "$CUSTODY_HOME/tools"
	[ "${#CUSTODY_AS[@]}" -eq 0 ] || [ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$CUSTODY_HOME/home" "$CUSTODY_HOME/tools"
	while read -r file kind want; do
		rm -rf .git .custody ./*
		make_input "$file" "$kind"
		run --separate-stderr timeout -k 1 30 "${CUSTODY_AS[@]}" env "HOME=$CUSTODY_HOME/home" "PATH=$CUSTODY_HOME/tools/bin:$PATH" \
			"$CUSTODY" run "${LIMITS[@]}" --tools -- echo it-ran </dev/null
		if [ "$want" = ran ]; then
			[ "$status $output" = '0 it-ran' ] || custody_fail "$kind $file: status $status"
		else
			[ "$status" -eq 125 ] && [ -z "$output" ] && [[ $stderr == *"$want"* ]] || custody_fail "$kind $file: status $status"
		fi
		[ -z "$(sessions_left)" ] || custody_fail "$kind $file: left: $(sessions_left)"
		rm -rf "$INPUT"
	done < <(grep -v "$named" <<<"$INPUTS")
}

@test "GOV-4: a .git, a default profile, git's settings and tools as FIFO, link, loop or 1 GB: refused by name or passed" {
	inputs_are_bad
}

@test "GOV-4: rootless: git's settings, .git and tools as FIFO, link, loop or 1 GB: refused by name or passed" {
	as_user
	inputs_are_bad
}

# --- full disk ---------------------------------------------------------------------------------------------------------------

# full_commands: on a file system without a free block each command ends with words, and with room again all work.
full_commands() {
	local words
	set -e
	cd "$CUSTODY_HOME"
	tune2fs -r 0 "$(findmnt -no SOURCE fs)" >/dev/null
	mkdir fs/root fs/work
	chmod 755 fs fs/work fs/root
	export CUSTODY_ROOT=$PWD/fs/root
	cp -a root/etc fs/root/
	cd fs/work
	"$CUSTODY" ledger init >/dev/null
	echo old >text
	"$CUSTODY" run --home keep -- sh -c 'echo more >>text; echo new >new; echo x >~/x' >/dev/null
	dd if=/dev/zero of=../filler bs=1M 2>/dev/null || true
	dd if=/dev/zero of=../filler2 bs=512 2>/dev/null || true
	while read -r words; do
		status=0
		# shellcheck disable=SC2086 # words
		timeout -k 1 60 "$CUSTODY" $words >../../out 2>../../err </dev/null || status=$?
		[ "$status" -lt 124 ] || [ "$status" -eq 125 ] || { echo "$words: status $status" >&2 && exit 91; }
		[ "$status" -eq 0 ] || [ -s ../../err ] || { echo "$words: no words" >&2 && exit 92; }
		! grep -qi 'missing overlayfs\|internal error' ../../err || { echo "$words: $(cat ../../err)" >&2 && exit 93; }
		[ "$(cat text)" = old ] && [ ! -e new ] || { echo "$words: the worktree changed" >&2 && exit 94; }
	done <<-END
		run -- true
		run --continue -- true
		run --home keep -- true
		check -- true
		diff
		diff --stat
		show
		sessions --all
		df
		apply
		evidence ls
		ledger verify
		recover
	END
	rm ../filler ../filler2
	"$CUSTODY" run --home keep -- sh -c 'cat ~/x'
	"$CUSTODY" apply >/dev/null
	cat text new
	"$CUSTODY" prune --all --yes >/dev/null
	"$CUSTODY" ledger verify >/dev/null
}

@test "ISO-5: a full disk: each command of every day says so and changes nothing; with room again all work" {
	skip_without root
	export -f full_commands
	run --separate-stderr on_file_system ext4 bash -c full_commands
	[ "$status" -eq 0 ] || custody_fail "$stderr"
	[ "$output" = "x
old
more
new" ]
}
