#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2030,SC2031,SC2154,SC2317 # scripts for the inside; bats' subshells; functions as arguments
#
# GOV-9: argv[0] and the files that a command names run from a copy that was hashed, whatever becomes of the originals.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	suite_ungoverned
	umask 022
	lay_out
}

teardown() {
	if [ -n "${SWAPPER:-}" ]; then
		kill "$SWAPPER" 2>/dev/null || true
		wait "$SWAPPER" 2>/dev/null || true
		SWAPPER=
	fi
	custody_teardown
}

# Programs that print their name, wait for a line, and print the content of their own file.
lay_out() {
	mkdir -p sub
	printf '#!/bin/sh\necho first\nread line\ngrep -c first "$0"\nexit 0\n' >prog
	chmod 0755 prog
	cp prog sub/script.sh
	cp prog target.sh
	ln -s target.sh link.sh
	ln -s sub way
	printf 'import sys\nprint("first", flush=True)\nsys.stdin.readline()\nprint(open(sys.argv[0]).read().count("first"))\n' >main.py
	if [ "$(id -u)" -eq 0 ] && [ ${#CUSTODY_AS[@]} -eq 0 ]; then
		chown -hR 64321:64322 .
	elif [ "$(id -u)" -eq 0 ]; then
		chown -hR "$SUITE_UID:$SUITE_UID" .
	fi
}

profile() { # MODE
	jq -n --arg mode "$1" '{schema: 1, name: $mode, extends: "offline", workspace: {mode: $mode},
		enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}' >"$CUSTODY_HOME/$1.json"
	PROFILE=$CUSTODY_HOME/$1.json
	if [ "$(id -u)" -eq 0 ] && [ ${#CUSTODY_AS[@]} -gt 0 ]; then
		chown "$SUITE_UID" "$PROFILE"
	fi
}

# Concurrent changes of the tree.
rewrite() { # FILE
	echo 'echo second' >"$1"
}
replace() {
	printf '#!/bin/sh\necho second\n' >"$1.new"
	chmod 0755 "$1.new"
	mv -f "$1.new" "$1"
}
link_away() {
	rm -f "$1"
	ln -s /etc/passwd "$1"
}
make_directory() {
	rm -f "$1"
	mkdir "$1"
}
take_away() {
	rm -f "$1"
}

# started FILE CHANGE WORDS...: the command runs and waits; CHANGE modifies FILE; the command continues and must still read its own file.
started() {
	local file=$1 change=$2 in out pid line
	shift 2
	mkfifo "$CUSTODY_HOME/in" "$CUSTODY_HOME/out"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --profile "$PROFILE" -- "$@" <"$CUSTODY_HOME/in" >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" &
	pid=$!
	exec {in}>"$CUSTODY_HOME/in" {out}<"$CUSTODY_HOME/out"
	read -r line <&"$out" || true
	"$change" "$file"
	echo go >&"$in"
	line+=$(cat <&"$out")
	exec {in}>&- {out}<&-
	wait "$pid" || custody_fail "$* ended with $?: $(cat "$CUSTODY_HOME/err")"
	[ "$line" = first2 ] || [ "$line" = first1 ] || custody_fail "$* after $change of $file said: $line"
	rm -rf "$CUSTODY_HOME/in" "$CUSTODY_HOME/out" ./*
	lay_out
}

sealed_while_running() {
	local change
	for change in rewrite replace link_away make_directory take_away; do
		started prog "$change" ./prog
		started sub/script.sh "$change" sh sub/script.sh
		started main.py "$change" python3 main.py
		started target.sh "$change" sh link.sh
		started link.sh "$change" sh link.sh
	done
	started way replace sh way/script.sh
}

@test "GOV-9: overlay: the hashed program runs, whatever happens to the tree" {
	profile overlay
	sealed_while_running
}

@test "GOV-9: ro: the hashed program runs, whatever happens to the tree" {
	profile ro
	sealed_while_running
}

@test "GOV-9: rw: the hashed program runs, whatever happens to the tree" {
	profile rw
	sealed_while_running
}

@test "GOV-9: as a user: the hashed program runs, whatever happens to the tree" {
	suite_setup_user
	lay_out
	for mode in overlay ro rw; do
		profile "$mode"
		started prog replace ./prog
		started target.sh link_away sh link.sh
		started sub/script.sh rewrite sh sub/script.sh
	done
}

# between FILE CHANGE WORDS...: CHANGE befalls FILE after it was hashed and before anything was mounted.
between() {
	local file=$1 change=$2
	shift 2
	suite_gate creator-placed --profile "$PROFILE" -e "PATH=${INSIDE_PATH:-/usr/bin:/bin}" -- "$@" --- "$change" "$file" <<<go
	[ "$status" -eq 0 ] || custody_fail "$* ended with $status: $(cat "$CUSTODY_HOME/err")"
	grep -qx first "$CUSTODY_HOME/out" || custody_fail "$* after $change of $file said: $(cat "$CUSTODY_HOME/out")"
	rm -rf ./*
	lay_out
}

@test "GOV-9: swapped between the hash and the first mount, the copy runs" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	for mode in overlay ro rw; do
		profile "$mode"
		between prog replace ./prog
		between sub/script.sh rewrite sh sub/script.sh
		between link.sh link_away sh link.sh
		between main.py take_away python3 main.py
	done
}

@test "GOV-9: a program that env, timeout or bash find through PATH is sealed like argv[0]" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	INSIDE_PATH=$PWD/sub:/usr/bin:/bin
	for mode in overlay ro rw; do
		profile "$mode"
		between sub/script.sh replace script.sh
		between sub/script.sh replace env script.sh
		between sub/script.sh rewrite timeout -s KILL 60 script.sh
		between sub/script.sh replace bash script.sh
		between sub/script.sh rewrite nice -n 5 env A=b bash script.sh
	done
	# A program that is not known to run another: sealed where the tree is not written.
	profile overlay
	between sub/script.sh replace setpriv --no-new-privs script.sh
	between sub/script.sh replace find . -maxdepth 0 -exec script.sh ';'
	# A file of the same name in the working directory is another one.
	cp prog script.sh
	sed -i s/first/zeroth/ script.sh
	between sub/script.sh replace env script.sh
}

# Two programs take turns under one name, as fast as renames go.
swap_for_ever() {
	while :; do
		ln -f a prog.new && mv -f prog.new prog
		ln -f b prog.new && mv -f prog.new prog
		ln -sf /etc/passwd prog.new && mv -f prog.new prog
	done
}

@test "GOV-9: against a racing swapper a run is refused or runs one whole program" {
	local i
	profile overlay
	# Each says its name, then what it finds under the name it was started by.
	for name in a b; do
		printf '#!/bin/sh\necho %s\nfor i in %s; do grep -q "^# whole %s" "$0" || echo torn; done\nexit 0\n%s\n# whole %s\n' \
			$name "$(seq -s ' ' 60)" $name "$(head -c 20000 /dev/zero | tr '\0' '#')" $name >$name
		chmod 0755 $name
	done
	ln -f a prog
	swap_for_ever 2>/dev/null &
	SWAPPER=$!
	for i in {1..25}; do
		custody_run --profile "$PROFILE" -- sh prog
		case $status:${output//$'\n'/ } in
		0:a | 0:b) ;;
		# The link to /etc/passwd is no program, and no file of the tree.
		127:* | 2:* | 126:*) ;;
		125:*) [[ $stderr =~ changed|replaced|"names a file" ]] ;;
		*) custody_fail "try $i: status $status, said: $output / $stderr" ;;
		esac
	done
}

@test "GOV-9: ISO-3: parents of a sealed file have the attributes of the tree" {
	profile overlay
	mkdir -m 0750 dir
	echo 'stat -c "%a %u:%g %Y %n" dir dir/x.sh .; ls dir' >dir/x.sh
	echo data >dir/other
	chmod 0640 dir/x.sh
	touch -d @1000000000 dir/x.sh dir
	[ "$(id -u)" -ne 0 ] || chown -R 64321:64322 dir
	touch -d @1000000000 dir
	custody_run --profile "$PROFILE" -- sh dir/x.sh
	assert_status 0
	assert_output_has '750 0:0 1000000000 dir'
	assert_output_has '640 0:0 1000000000 dir/x.sh'
	assert_output_has 'other'
	custody_run --profile "$PROFILE" -- sh -c 'stat -c "%a %u:%g %Y %n" dir dir/x.sh'
	assert_output_has '750 0:0 1000000000 dir'
}

@test "GOV-9: a file of another user keeps its owner" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	profile overlay
	echo secret >private
	chmod 0600 private
	chown 0:0 private
	custody_run --profile "$PROFILE" -- cat private
	[ "$status" -ne 0 ]
	[[ $output != *secret* ]]
	custody_run --profile "$PROFILE" -- sh -c 'stat -c %u:%g private' sh private
	assert_output_has 65534:65534
}

@test "GOV-9: set-id bits are never sealed" {
	profile overlay
	cp /bin/true suid
	chmod 6755 suid
	custody_run --profile "$PROFILE" -- stat -c %a suid
	assert_status 0
	assert_output_has 755
	[[ $output != *6755* ]]
}

@test "GOV-9: sealed files can be written, moved and removed in an overlay; the tree keeps them" {
	profile overlay
	custody_run --profile "$PROFILE" -- sh -c 'echo x >>prog && mv prog moved && rm sub/script.sh && rm -r sub && ! ls prog sub' \
		sh prog sub/script.sh
	assert_status 0
	[ -f prog ]
	[ -f sub/script.sh ]
}

@test "GOV-9: rw: data files are written in place, programs find the files beside them" {
	profile rw
	echo 'echo neighbour; echo new >data' >sub/lib.sh
	echo '. "$(dirname "$0")/lib.sh"; echo more >>"$1"' >sub/main.sh
	echo old >data
	[ "$(id -u)" -ne 0 ] || chown -hR 64321:64322 .
	custody_run --profile "$PROFILE" -- sh sub/main.sh data
	assert_status 0
	assert_output_has neighbour
	[ "$(cat data)" = $'new\nmore' ]
	custody_run --profile "$PROFILE" -- sh -c 'touch /run/custody/operands/x' sh prog
	[ "$status" -ne 0 ]
	custody_run --profile "$PROFILE" -- ./prog <<<go
	assert_status 0
}

@test "GOV-9: FIFOs, devices and directories are no operands and do not block" {
	profile overlay
	mkfifo fifo
	custody_run --timeout 60 --profile "$PROFILE" -- stat -c %F fifo sub .
	assert_status 0
	assert_output_has fifo
}

@test "GOV-9: more than 64 files or 64 MiB are refused and nothing runs" {
	local many=()
	profile rw
	for i in {1..65}; do
		echo x >"f$i"
		many+=("f$i")
	done
	custody_run --profile "$PROFILE" -- touch ran "${many[@]}"
	assert_status 125
	assert_stderr_has -- '--no-seal'
	[ ! -e ran ]
	truncate -s $((64 * 1024 * 1024 + 1)) big
	custody_run --profile "$PROFILE" -- sh -c 'touch ran' sh big
	assert_status 125
	assert_stderr_has '64 MiB'
	[ ! -e ran ]
}

@test "GOV-9: CARD-2: a bundle runs its sealed copies under crun and runc" {
	for mode in overlay ro rw; do
		profile "$mode"
		rm -rf ./*
		lay_out
		bundle --profile "$PROFILE" -- sh link.sh
		[ -f "$BUNDLE/operands/target.sh" ]
		replace target.sh
		link_away link.sh
		for name in crun runc; do
			runtime_run "$name" "$BUNDLE"
			assert_status 0
			assert_output_has first
			[[ $output != *second* ]]
		done
	done
}

@test "GOV-9: CARD-2: a user's bundle runs its sealed copies under crun" {
	suite_setup_user
	lay_out
	for mode in overlay ro rw; do
		profile "$mode"
		bundle --profile "$PROFILE" -- ./prog
		replace prog
		runtime_run crun "$BUNDLE"
		assert_status 0
		assert_output_has first
		rm -rf ./*
		lay_out
	done
}

# asked OPTIONS -- CMD...: starts it and waits until its request is there; $PID, $REQUEST.
asked() {
	"${CUSTODY_AS[@]}" setsid --wait "$CUSTODY" run --wait --profile "$PROFILE" "$@" </dev/null >"$CUSTODY_HOME/out" 2>"$CUSTODY_HOME/err" &
	PID=$!
	wait_until pending
}
pending() {
	REQUEST=$("${CUSTODY_AS[@]}" "$CUSTODY" pending --json | jq -r '.requests[0].id // empty')
	[ -n "$REQUEST" ]
}
# answered: a person says yes; $status.
answered() {
	"${CUSTODY_AS[@]}" "$CUSTODY" approve "$REQUEST" --yes >/dev/null 2>&1
	status=0
	wait "$PID" || status=$?
}
ask_for_sh() {
	mkdir -p "$CUSTODY_ROOT/etc"
	echo '{"rules": [{"effect": "ask", "argv": ["sh"]}]}' >"$CUSTODY_ROOT/etc/custody.json"
	if [ "$(id -u)" -eq 0 ] && [ ${#CUSTODY_AS[@]} -gt 0 ]; then
		chown -R "$SUITE_UID" "$CUSTODY_ROOT/etc"
	fi
}

between_approval_and_start() {
	ask_for_sh
	profile overlay
	echo 'echo first' >sub/script.sh
	asked -- sh sub/script.sh
	echo 'echo second' >sub/script.sh
	answered
	[ "$status" -eq 0 ]
	[ "$(cat "$CUSTODY_HOME/out")" = first ]
	# The new one is another subject, without an approval.
	asked -- sh sub/script.sh
	kill "$PID"
	wait "$PID" || true
	"${CUSTODY_AS[@]}" "$CUSTODY" deny "$REQUEST" >/dev/null 2>&1

	echo 'a and b' >data
	asked --seal-tree -- sh -c 'echo ran'
	answered
	[ "$status" -eq 0 ]
	[ "$(cat "$CUSTODY_HOME/out")" = ran ]
	asked --seal-tree -- sh -c 'echo ran; true'
	echo 'a and c' >data
	answered
	[ "$status" -eq 125 ]
	[ ! -s "$CUSTODY_HOME/out" ]
	grep -q "changed after it was sealed: 'data'" "$CUSTODY_HOME/err"

	# A name that becomes a file while a person thinks.
	asked -- sh later
	echo 'echo later' >later
	answered
	[ "$status" -eq 125 ]
	[ ! -s "$CUSTODY_HOME/out" ]
	grep -q "'later' names a file" "$CUSTODY_HOME/err"
}

@test "GOV-9: between approval and start: the copy runs; a sealed tree or a new file is refused by name" {
	between_approval_and_start
}

@test "GOV-9: between approval and start, as a user" {
	suite_setup_user
	lay_out
	between_approval_and_start
}

digest_of() {
	"$CUSTODY" check --json "$@" | jq -r .digest
}

@test "GOV-9: --no-seal and --seal-tree are part of the approved subject" {
	local named none tree
	echo x >data
	named=$(digest_of -- sh sub/script.sh)
	none=$(digest_of --no-seal -- sh sub/script.sh)
	tree=$(digest_of --seal-tree -- sh sub/script.sh)
	[ "$named" != "$none" ]
	[ "$named" != "$tree" ]
	[ "$none" != "$tree" ]
	echo y >data
	[ "$(digest_of -- sh sub/script.sh)" = "$named" ]
	[ "$(digest_of --seal-tree -- sh sub/script.sh)" != "$tree" ]
	echo y >sub/script.sh
	[ "$(digest_of -- sh sub/script.sh)" != "$named" ]
	[ "$(digest_of --no-seal -- sh sub/script.sh)" = "$none" ]
}

@test "GOV-9: with --no-seal changes of the tree are visible, which shows that the other tests can fail" {
	local before
	profile rw
	before=$(digest_of --no-seal --profile "$PROFILE" -- sh -c 'read x; cat data' sh data)
	[ -n "$before" ]
	echo old >data
	[ "$(id -u)" -ne 0 ] || chown 64321:64322 data
	custody_run --no-seal --profile "$PROFILE" -- sh -c 'grep -c operands /proc/self/mountinfo; echo new >data' sh prog
	assert_output_has 0
	[ "$(cat data)" = new ]
}
