#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Sandbox roots: a place to work in that stays, its log, and that nothing leads out of it.

load ../lib/suite.bash

setup() {
	as_root
	suite_ungoverned
}

teardown() {
	if [ -n "${SWAPPER:-}" ]; then
		kill -9 "$SWAPPER" 2>/dev/null || true
		wait "$SWAPPER" 2>/dev/null || true
	fi
	custody_teardown
}

# Without the limits that are not delegated to the suite's user.
as_user() {
	suite_setup_user
	printf '{"schema":1,"name":"p","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' \
		>"$CUSTODY_HOME/user.json"
	chmod 0644 "$CUSTODY_HOME/user.json"
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$CUSTODY_HOME/user.json"
	OPTIONS=(--profile "$CUSTODY_HOME/user.json")
}

as_root() {
	suite_setup
	OPTIONS=()
}

# custody_run as the user that as_user or as_root set.
root_run() {
	custody_run "${OPTIONS[@]}" "$@"
}

root_of() { # NAME [LANE]
	echo "$CUSTODY_ROOT/${2:-sandbox}/sandbox/$1"
}

log_of() { # NAME: without the times
	cut -f 2- "$(root_of "$1")/logs/custody.log"
}

custody_do() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

modes_of() { # NAME
	local root
	root=$(root_of "$1")
	stat -c '%a %F' "$root" "$root/workspace" "$root/tmp" "$root/logs" | sort -u
}

@test "ROOT-1: it can be used from / and from a directory that was removed" {
	local who
	for who in as_root as_user; do
		$who
		suite_ungoverned
		cd /
		root_run --sandbox box -- sh -c 'echo root >file; pwd'
		assert_status 0
		[ "$(cat "$(root_of box)/workspace/file")" = root ]
		mkdir -m 0777 "$CUSTODY_HOME/gone"
		cd "$CUSTODY_HOME/gone"
		rmdir "$CUSTODY_HOME/gone"
		root_run --sandbox box -- sh -c 'echo gone >file'
		assert_status 0
		[ "$(cat "$(root_of box)/workspace/file")" = gone ]
		# Without it the worktree would be that directory.
		root_run -- true
		assert_status 125
		assert_stderr_has 'was removed'
		cd /
		root_run -- true
		assert_status 125
		custody_teardown
	done
	as_root
}

@test "ROOT-1: the first use makes it, the files stay, and the worktree is its workspace" {
	local who
	for who in as_root as_user; do
		"$who" && suite_ungoverned
		root_run --sandbox one -- sh -c 'pwd; echo hello >file; echo scratch >/tmp/t; mkdir -p a/b'
		assert_status 0
		[ "$output" = /work ]
		[ "$(modes_of one)" = "700 directory" ]
		[ "$(cat "$(root_of one)/workspace/file")" = hello ]
		[ "$(cat "$(root_of one)/tmp/t")" = scratch ]
		# The current directory has nothing to do with it.
		[ -z "$(ls -A)" ]
		root_run --sandbox one -w a/b -- sh -c 'pwd; cat /work/file /tmp/t'
		assert_status 0
		[ "$output" = "/work/a/b
hello
scratch" ]
	done
}

@test "ROOT-1: files of the payload inside belong to the caller outside" {
	local who uid
	for who in as_root as_user; do
		"$who" && suite_ungoverned
		uid=$("${CUSTODY_AS[@]}" id -u)
		root_run --sandbox one -- sh -c 'echo x >file; echo x >/tmp/t'
		assert_status 0
		[ "$(stat -c %u "$(root_of one)"/{workspace/file,tmp/t} | sort -u)" = "$uid" ]
	done
}

@test "ROOT-1: a user's roots lie in the user's data directory" {
	as_user
	# The suite's CUSTODY_ROOT is what a user does not have.
	CUSTODY_AS+=(env -u CUSTODY_ROOT -u XDG_DATA_HOME -u XDG_STATE_HOME -u XDG_CONFIG_HOME)
	custody_do ledger init >/dev/null
	root_run --sandbox one -- touch file
	assert_status 0
	[ -e "$CUSTODY_HOME/home/.local/share/custody/sandbox/sandbox/one/workspace/file" ]
	# And a run in a parent directory does not see them.
	cd "$CUSTODY_HOME/home/.local"
	root_run -- find . -name one
	assert_status 0
	[ -z "$output" ]
	cd share/custody/sandbox/sandbox/one/logs
	root_run -- ls
	assert_status 125
	assert_stderr_has "custody's own"
}

@test "ROOT-1: the next use repairs missing directories and wrong modes" {
	local who
	for who in as_root as_user; do
		"$who" && suite_ungoverned
		root_run --sandbox one -- sh -c 'echo x >file; chmod 0 /work /tmp'
		assert_status 0
		"${CUSTODY_AS[@]}" rmdir "$(root_of one)/tmp"
		"${CUSTODY_AS[@]}" chmod 0777 "$(root_of one)/logs" "$(root_of one)"
		root_run --sandbox one -- cat file
		assert_status 0
		[ "$output" = x ]
		[ "$(modes_of one)" = "700 directory" ]
	done
}

@test "ROOT-1: a link or a file in place of a directory is refused, and not followed" {
	local part root
	custody_run --sandbox one -- true
	root=$(root_of one)
	mkdir -m 0700 "$CUSTODY_HOME/elsewhere"
	for part in workspace tmp logs; do
		mv "$root/$part" "$root/aside"
		ln -s "$CUSTODY_HOME/elsewhere" "$root/$part"
		custody_run --sandbox one -- touch reached /tmp/reached
		assert_status 125
		assert_stderr_has "'$root/$part' is a symbolic link: rm '$root/$part'"
		rm "$root/$part"
		: >"$root/$part"
		custody_run --sandbox one -- touch reached
		assert_status 125
		assert_stderr_has "not a directory"
		rm "$root/$part"
		mv "$root/aside" "$root/$part"
	done
	mv "$root" "$root.aside"
	ln -s "$CUSTODY_HOME/elsewhere" "$root"
	custody_run --sandbox one -- touch reached
	assert_status 125
	assert_stderr_has "symbolic link"
	[ -z "$(ls -A "$CUSTODY_HOME/elsewhere")" ]
	[ ! -e "$root.aside/workspace/reached" ]
}

@test "ROOT-1: a root or a part of it that belongs to another user is refused with the command that fixes it" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	local root part
	custody_run --sandbox one -- true
	root=$(root_of one)
	for part in "" /workspace /tmp /logs; do
		chown "$SUITE_UID" "$root$part"
		custody_run --sandbox one -- touch reached
		assert_status 125
		assert_stderr_has "'$root$part' belongs to uid $SUITE_UID, not to you: chown -h 0:0 '$root$part'"
		chown 0 "$root$part"
	done
	[ ! -e "$root/workspace/reached" ]
	# As a user, roots of another user.
	chmod 0755 "$CUSTODY_ROOT" "$CUSTODY_ROOT/sandbox" "$CUSTODY_ROOT/sandbox/sandbox"
	run --separate-stderr setpriv --reuid "$SUITE_UID" --regid "$SUITE_UID" --clear-groups "$CUSTODY" run --sandbox one -- true
	assert_status 125
}

@test "ROOT-1: names are strict" {
	local name
	for name in '' . .. .hidden ../one a/b /tmp A 'a b' $'a\n' ä "$(printf 'a%.0s' {1..65})"; do
		custody_run --sandbox "$name" -- true
		assert_status 125
		assert_stderr_has "not a valid sandbox root name"
	done
	[ ! -e "$CUSTODY_ROOT/sandbox/sandbox" ]
	custody_run --sandbox "$(printf 'a%.0s' {1..64})" -- true
	assert_status 0
	echo '{"schema":1,"name":"p","extends":"offline","workspace":{"sandbox":"../one"}}' >"$CUSTODY_HOME/p.json"
	custody_run --profile "$CUSTODY_HOME/p.json" -- true
	assert_status 125
	assert_stderr_has "workspace.sandbox"
}

@test "ROOT-1: check and dry-run create nothing, and name the files that would be written" {
	run --separate-stderr custody_do check --sandbox one -- true
	assert_status 125
	assert_stderr_has "sandbox root 'one' ("
	assert_stderr_has 'does not exist: the first run in it creates it'
	run --separate-stderr custody_do run --dry-run --sandbox one -- true
	assert_status 125
	[ ! -e "$CUSTODY_ROOT/sandbox/sandbox" ]
	custody_run --sandbox one -- true
	run --separate-stderr custody_do check --explain --sandbox one -- make
	assert_output_has "$(root_of one)/workspace"
	assert_output_has "$(root_of one)/tmp"
	run --separate-stderr custody_do run --dry-run --sandbox one -- true
	assert_status 0
}

@test "ROOT-1: policy sees a worktree that is written in place" {
	local digest
	rm "$CUSTODY_ROOT/etc/custody.json"
	CUSTODY_AS=(setsid --wait) # no terminal
	custody_run --sandbox one -- touch file
	assert_status 0
	# Without a terminal the run is not explicit: a program that runs others may destroy existing files.
	custody_run --sandbox one -- make
	assert_status 114
	assert_stderr_has "custody approve"
	run --separate-stderr custody_do check --json --sandbox one -- make
	[ "$(jq -r '.subject.worktree | .mode + " " + .source' <<<"$output")" = "rw $(root_of one)/workspace" ]
	[ "$(jq -r '.verdict.axes.domain' <<<"$output")" = workspace ]
	[ "$(jq -r '.verdict.axes.outcome' <<<"$output")" = irreversible ]
	[ "$(jq -r '.verdict.level' <<<"$output")" = C ]
	digest=$(jq -r .digest <<<"$output")
	run --separate-stderr custody_do check --json --sandbox one -- make
	[ "$(jq -r .digest <<<"$output")" = "$digest" ]
	# Another root is another subject, and the same name with another directory behind it as well.
	custody_run --sandbox two -- touch file
	run --separate-stderr custody_do check --json --sandbox two -- make
	[ "$(jq -r .digest <<<"$output")" != "$digest" ]
	mv "$(root_of one)" "$(root_of one).old"
	custody_run --sandbox one -- touch file
	run --separate-stderr custody_do check --json --sandbox one -- make
	[ "$(jq -r .digest <<<"$output")" != "$digest" ]
	[[ $(log_of two) == $'-\t-\trun\ttouch file\tallowed\n-\t-\tend\ttouch file\texited 0' ]]
}

@test "ROOT-1: a profile names the root, and its mode counts" {
	echo '{"schema":1,"name":"p","extends":"offline","workspace":{"sandbox":"mine"}}' >"$CUSTODY_HOME/p.json"
	custody_run --profile "$CUSTODY_HOME/p.json" -- sh -c 'echo x >file'
	assert_status 0
	[ "$(cat "$(root_of mine)/workspace/file")" = x ]
	# The command line's name wins.
	custody_run --profile "$CUSTODY_HOME/p.json" --sandbox other -- sh -c 'echo y >file'
	[ "$(cat "$(root_of other)/workspace/file")" = y ]
	[ "$(cat "$(root_of mine)/workspace/file")" = x ]
	for mode in overlay ro; do
		jq -n --arg m $mode '{schema:1,name:"q",extends:"offline",workspace:{mode:$m}}' >"$CUSTODY_HOME/q.json"
		custody_run --profile "$CUSTODY_HOME/q.json" --sandbox mine -- sh -c 'cat file; echo z >file; echo t >/tmp/t; true'
		assert_status 0
		[ "$output" = x ]
		[ "$(cat "$(root_of mine)/workspace/file")" = x ]
		[ ! -e "$(root_of mine)/tmp/t" ]
	done
	jq -n '{schema:1,name:"q",extends:"offline",workspace:{mode:"tmpfs"}}' >"$CUSTODY_HOME/q.json"
	custody_run --profile "$CUSTODY_HOME/q.json" --sandbox mine -- true
	assert_status 125
	assert_stderr_has "sandbox root 'mine'"
	# Two worktrees are one too many; a bundle holds no root.
	jq -n '{schema:1,name:"q",extends:"offline",workspace:{sandbox:"mine",source:"/tmp"}}' >"$CUSTODY_HOME/q.json"
	custody_run --profile "$CUSTODY_HOME/q.json" -- true
	assert_status 125
	assert_stderr_has "workspace.source"
	run custody_do bundle -o "$CUSTODY_HOME/b" --sandbox mine -- true
	[ "$status" -ne 0 ]
	run custody_do bundle -o "$CUSTODY_HOME/b" --profile "$CUSTODY_HOME/p.json" -- true
	[ "$status" -ne 0 ]
	[ ! -e "$CUSTODY_HOME/b" ]
}

@test "ROOT-1: doctor tries the layers of such a profile, and leaves its root alone" {
	echo '{"schema":1,"name":"p","extends":"offline","workspace":{"sandbox":"mine"}}' >"$CUSTODY_HOME/p.json"
	run --separate-stderr custody_do doctor --json --profile "$CUSTODY_HOME/p.json" </dev/null
	[ "$(jq -r '.checks[] | select(.id == "HOST-CANARY") | .state' <<<"$output")" = ok ]
	[ ! -e "$(root_of mine)" ]
}

@test "ROOT-1: the default root is one like any other" {
	custody_run --sandbox default -- sh -c 'echo x >file'
	assert_status 0
	[ "$(cat "$(root_of default)/workspace/file")" = x ]
}

@test "ROOT-2: no working directory leads out" {
	local dir who root
	for who in as_root as_user; do
		"$who" && suite_ungoverned
		root_run --sandbox one -- sh -c 'mkdir in; ln -s /etc abs; ln -s ../logs up; ln -s / top; ln -s /proc/self/root proc; ln -s in fine; ln -s ../../../../../../etc far'
		assert_status 0
		root=$(root_of one)
		for dir in /etc / .. ../logs in/../../logs /work/../etc abs up top proc proc/etc far /proc/self/root /proc/self/cwd /usr; do
			root_run --sandbox one -w "$dir" -- touch reached
			assert_status 125
			assert_stderr_has "${dir#/work/}"
			assert_stderr_has "$root"
		done
		root_run --sandbox one -w fine -- sh -c 'cd "$(pwd -P)"; pwd'
		assert_status 0
		[ "$output" = /work/in ]
		root_run --sandbox one -w /tmp -- pwd
		assert_status 0
		[ "$output" = /tmp ]
		[ -z "$(find "$root" -name reached)" ]
	done
}

@test "ROOT-2: no source of a volume leads out" {
	local source who root
	for who in as_root as_user; do
		"$who" && suite_ungoverned
		root_run --sandbox one -- sh -c 'mkdir in; echo x >in/file; ln -s /etc abs; ln -s ../logs up; ln -s /proc/self/root proc; ln -s in fine; ln -s /etc/passwd pw'
		assert_status 0
		root=$(root_of one)
		for source in /etc .. ../logs ./../logs ./in/../../logs ./abs ./up ./proc ./proc/etc ./pw ./abs/passwd /proc/self/root/etc "$root/workspace/abs" "$root/logs"; do
			root_run --sandbox one -v "$source:/mnt" -- ls -R /mnt
			assert_status 125
			assert_stderr_has "$source"
			assert_stderr_has "$root"
			[ -z "$output" ]
		done
		root_run --sandbox one -v ./fine:/mnt -- cat /mnt/file
		assert_status 0
		[ "$output" = x ]
		root_run --sandbox one -v ./in:/mnt:rw -- sh -c 'echo y >/mnt/file'
		assert_status 0
		[ "$(cat "$root/workspace/in/file")" = y ]
	done
}

@test "ROOT-2: a file with a second name outside is refused" {
	custody_run --sandbox one -- true
	echo secret >"$CUSTODY_HOME/secret"
	ln "$CUSTODY_HOME/secret" "$(root_of one)/workspace/twin"
	custody_run --sandbox one -v ./twin:/mnt/file:rw -- sh -c 'echo changed >/mnt/file'
	assert_status 125
	assert_stderr_has "twin"
	assert_stderr_has "$(root_of one)"
	[ "$(cat "$CUSTODY_HOME/secret")" = secret ]
}

@test "ROOT-2: a mount in a root is no part of it" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	local root
	custody_run --sandbox one -- mkdir -p m in/m
	root=$(root_of one)
	mkdir "$CUSTODY_HOME/outside"
	echo secret >"$CUSTODY_HOME/outside/file"
	mounted() { # POINT OPTIONS...
		run --separate-stderr unshare -m --propagation private sh -c 'mount --bind "$1" "$2" && shift 2 && "$@"' \
			sh "$CUSTODY_HOME/outside" "$root/workspace/$1" "$CUSTODY" run --sandbox one "${@:2}"
		assert_status 125
		assert_stderr_has "is a mount point"
		assert_stderr_has "$root"
		[ -z "$output" ]
	}
	mounted m -- cat m/file
	mounted m -w m -- cat file
	mounted m -v ./m:/mnt -- cat /mnt/file
	mounted in/m -v ./in:/mnt -- cat /mnt/m/file
	custody_run --sandbox one -v ./in:/mnt -- ls -A /mnt
	assert_status 0
	[ "$output" = m ]
}

@test "ROOT-2: no path of a profile in the workspace leads out" {
	local root
	custody_run --sandbox one -- sh -c 'ln -s /etc abs; mkdir in'
	root=$(root_of one)
	profile() { # JSON
		jq -n --argjson more "$1" '{schema:1,name:"p",extends:"offline"} + $more' >"$CUSTODY_HOME/p.json"
		custody_run --profile "$CUSTODY_HOME/p.json" --sandbox one -- touch reached
	}
	for more in '{"process":{"cwd":"/work/abs"}}' '{"process":{"cwd":"/etc"}}' '{"filesystem":{"hide":["/work/abs/passwd"]}}' \
		"{\"filesystem\":{\"ro\":[\"$root/workspace/abs:/mnt\"]}}" '{"filesystem":{"ro":["/usr/share:/work/abs/x"]}}' \
		"{\"filesystem\":{\"ro\":[\"$root/../one/workspace/abs:/mnt\"]}}" "{\"filesystem\":{\"ro\":[\"$root/logs:/mnt\"]}}"; do
		profile "$more"
		assert_status 125
	done
	ln -s "$root/workspace" "$CUSTODY_HOME/link"
	profile "{\"filesystem\":{\"ro\":[\"$CUSTODY_HOME/link/abs:/mnt\"]}}"
	assert_status 125
	assert_stderr_has "abs"
	assert_stderr_has "$root"
	[ ! -e "$root/workspace/reached" ]
	profile "{\"filesystem\":{\"ro\":[\"$root/workspace/in:/mnt\"]},\"process\":{\"cwd\":\"/work/in\"}}"
	assert_status 0
}

# Exchanges a directory and a link in the workspace for as long as the test lasts.
swap() { # X Y
	python3 - "$1" "$2" >/dev/null 2>&1 3>&- <<'EOF' &
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(1, signal.SIGKILL, 0, 0, 0)
x, y = (os.fsencode(a) for a in sys.argv[1:])
while True:
    libc.renameat2(-100, x, -100, y, 2)
    time.sleep(0.0002)  # two cores, and the run needs one
EOF
	SWAPPER=$!
}

# Each round shows the inner file, or nothing; the unit test does thousands of the deciding step alone.
rounds() { # N OPTIONS...
	local n=$1 i got seen=0
	shift
	for ((i = 0; i < n; i++)); do
		status=0
		got=$("${CUSTODY_AS[@]}" "$CUSTODY" run "${OPTIONS[@]}" --sandbox one "$@" 2>"$CUSTODY_HOME/stderr") || status=$?
		case $status:$got in
		0:inside) seen=$((seen + 1)) ;;
		125:) grep -qF -e "$(root_of one)" -e 'replaced by a symbolic link since it was checked' "$CUSTODY_HOME/stderr" || custody_fail "round $i: $(cat "$CUSTODY_HOME/stderr")" || return ;;
		*) custody_fail "round $i saw '$got': $(cat "$CUSTODY_HOME/stderr")" || return ;;
		esac
	done
	echo "# $seen of $n rounds saw the directory" >&3
}

swapped_tree() {
	root_run --sandbox one -- sh -c 'mkdir x; echo inside >x/file'
	assert_status 0
	mkdir -m 0755 "$CUSTODY_HOME/outside"
	echo outside >"$CUSTODY_HOME/outside/file"
	ln -s "$CUSTODY_HOME/outside" "$(root_of one)/workspace/y"
	swap "$(root_of one)/workspace/x" "$(root_of one)/workspace/y"
}

@test "ROOT-2: a source that is swapped for a link while the run is prepared never shows an outer file" {
	swapped_tree
	rounds 40 -v ./x:/mnt -- cat /mnt/file
}

@test "ROOT-2: the same as a user, where the runtime mounts by name" {
	as_user
	suite_ungoverned
	swapped_tree
	rounds 40 -v ./x:/mnt -- cat /mnt/file
}

@test "ROOT-2: a working directory that is swapped for a link is the one inside, or none" {
	swapped_tree
	# Inside, the link leads to a directory that is there as well.
	rm "$CUSTODY_HOME/outside/file"
	ln -sfn /usr "$(root_of one)/workspace/y" 2>/dev/null || true
	rounds 25 -w x -- sh -c 'cat file 2>/dev/null || pwd -P'
}

@test "ROOT-3: from inside nothing else of the root or of the host is reached" {
	custody_run --sandbox one -- sh -c 'ls -A /work/.. | grep -c custody.log; cat ../logs/custody.log; find / -xdev -name custody.log 2>/dev/null; ls /work/../../logs; grep logs /proc/self/mounts'
	[ "$output" = 0 ]
	[ "$(log_of one | wc -l)" -eq 2 ]
}

@test "ROOT-4: one line per operation, allowed or denied" {
	local log
	custody_run --sandbox one --agent bob --worker w1 -- sh -c 'exit 3'
	custody_run --sandbox one --agent bob --worker w1 --profile nonesuch -- true
	custody_run --sandbox one --agent bob --worker w1 -w /etc -- true
	custody_run --sandbox one --agent bob -- sh -c 'kill -9 $$'
	log=$(log_of one)
	[ "$log" = "bob	w1	run	sh -c 'exit 3'	allowed
bob	w1	end	sh -c 'exit 3'	exited 3
bob	w1	run	true	denied: profile
bob	w1	run	true	denied: subject
bob	-	run	sh -c 'kill -9 \$\$'	allowed
bob	-	end	sh -c 'kill -9 \$\$'	signaled 137" ]
	[[ $(head -n 1 "$(root_of one)/logs/custody.log") =~ ^20[0-9-]+T[0-9:.]+Z$'\t' ]]
	[ "$(awk -F '\t' 'NF != 6' "$(root_of one)/logs/custody.log")" = "" ]
	[ "$(stat -c %a "$(root_of one)/logs/custody.log")" = 600 ]
}

@test "ROOT-4: the log has policy's refusals" {
	local uid
	uid=$("${CUSTODY_AS[@]}" id -u)
	CUSTODY_AS=(setsid --wait) # no terminal
	jq -n --argjson uid "$uid" '{provenance: [{uid: $uid, intention: "explicit"}], rules: [{effect: "deny", argv: ["touch"]}]}' >"$CUSTODY_ROOT/etc/custody.json"
	custody_run --sandbox one -- touch file
	assert_status 113
	custody_run --sandbox one -- make
	assert_status 114
	[ "$(log_of one)" = "-	-	run	touch file	denied: policy
-	-	run	make	denied: approval" ]
	[ -z "$(ls -A "$(root_of one)/workspace")" ]
}

@test "ROOT-4: no name, command or path makes a second line or a seventh field, and secrets stay out" {
	custody_run --sandbox one --agent $'a\tb' --worker $'w\nx' -- sh -c $': \t\n: \x1b[2Jforged\tline'
	custody_run --sandbox one -- env true --password hunter2
	[ "$(log_of one | wc -l)" -eq 4 ]
	[ "$(awk -F '\t' 'NF != 6' "$(root_of one)/logs/custody.log")" = "" ]
	run ! grep -P '[\x00-\x08\x0b-\x1f]|hunter2' "$(root_of one)/logs/custody.log"
	[[ $(log_of one) == *'a\x09b'$'\t''w\x0Ax'* ]]
}

@test "ROOT-4: a run is refused while its root is reset, with that reason" {
	custody_run --sandbox one -- true
	run --separate-stderr flock -x "$(root_of one)" "$CUSTODY" run --sandbox one --agent bob -- touch reached
	assert_status 125
	assert_stderr_has "sandbox root 'one' is being reset"
	[ "$(log_of one | tail -n 1)" = "bob	-	run	touch reached	denied: sandbox" ]
	[ ! -e "$(root_of one)/workspace/reached" ]
}

@test "ROOT-4: a log that cannot be written starts nothing" {
	local log
	custody_run --sandbox one -- true
	log=$(root_of one)/logs/custody.log
	mv "$log" "$CUSTODY_HOME/old.log"
	: >"$CUSTODY_HOME/outside"
	ln -s "$CUSTODY_HOME/outside" "$log"
	custody_run --sandbox one -- touch reached
	assert_status 125
	assert_stderr_has "custody.log"
	rm "$log"
	ln "$CUSTODY_HOME/outside" "$log"
	custody_run --sandbox one -- touch reached
	assert_status 125
	rm "$log"
	mkdir "$log"
	custody_run --sandbox one -- touch reached
	assert_status 125
	[ ! -s "$CUSTODY_HOME/outside" ]
	[ ! -e "$(root_of one)/workspace/reached" ]
	# The ledger has intent, start and end of each, and none is recorded as lost.
	rmdir "$log"
	run --separate-stderr custody_do ledger verify
	[ "$(custody_do ledger show --json | grep -c '"refused":"log"')" -eq 3 ]
	custody_run --sandbox one -- true
	assert_status 0
	[ "$(custody_do ledger show --json | grep -c '"reason":"lost"')" -eq 0 ]
}

@test "ROOT-4: a session whose supervisor died has its line" {
	local pid
	mkfifo "$CUSTODY_HOME/pipe"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --sandbox one --agent bob -- sh -c 'echo here; sleep 600' >"$CUSTODY_HOME/pipe" 3>&- &
	pid=$!
	read -r line <"$CUSTODY_HOME/pipe"
	[ "$line" = here ]
	kill -9 "$pid"
	wait "$pid" || true
	run --separate-stderr custody_do recover
	assert_status 0
	[ "$(log_of one | tail -n 1)" = "bob	-	end	sh -c 'echo here; sleep 600'	lost" ]
}

@test "ROOT-6: agent and worker are in every record of a run and of a refusal" {
	custody_run --sandbox one --agent bob --worker w1 -- true
	custody_run --sandbox one --agent bob --worker w1 -w /etc -- true
	custody_run --agent bob --worker w1 -- sh -c 'exit 3'
	custody_do ledger show --json >"$CUSTODY_HOME/records"
	[ "$(grep -c '"k":"session\.' "$CUSTODY_HOME/records")" -eq 7 ]
	[ "$(grep '"k":"session\.' "$CUSTODY_HOME/records" | grep -c '"agent":"bob","worker":"w1"')" -eq 7 ]
	[ "$(jq -r '.agent + " " + .worker' "$(custody_result .evidence)/metadata.json")" = "bob w1" ]
	[ "$(jq -r '.agent + " " + .worker' <<<"$CUSTODY_RESULT")" = "bob w1" ]
}

@test "ROOT-6: agent and worker are in the records of an approval, an override, a reset and a lost session" {
	local pid line
	rm "$CUSTODY_ROOT/etc/custody.json"
	CUSTODY_AS=(setsid --wait) # no terminal
	custody_run --sandbox one --agent bob --worker w1 -- make
	assert_status 114
	custody_do deny --all
	jq -n --argjson uid "$(id -u)" '{provenance: [{uid: $uid, intention: "explicit"}]}' >"$CUSTODY_ROOT/etc/custody.json"
	custody_run --sandbox one --agent bob --worker w1 -- sh ./nonesuch
	assert_status 114
	run --separate-stderr custody_do approve --yes "$(custody_do pending --json | jq -r '.requests[0].id')"
	assert_status 0
	custody_run --sandbox one --agent bob --worker w1 -- sh ./nonesuch
	assert_reason exited
	suite_ungoverned
	run env CUSTODY_ALLOW_PROD=1 "$CUSTODY" run --allow-prod --lane prod --sandbox one --agent bob --worker w1 -- true
	mkfifo "$CUSTODY_HOME/pipe"
	"$CUSTODY" run --sandbox one --agent bob --worker w1 -- sh -c 'echo here; sleep 600' >"$CUSTODY_HOME/pipe" 3>&- &
	pid=$!
	read -r line <"$CUSTODY_HOME/pipe"
	kill -9 "$pid"
	wait "$pid" || true
	run custody_do reset --sandbox one --agent bob --worker w1
	{ "$CUSTODY" ledger show --json && "$CUSTODY" ledger show --lane prod --json; } | jq -r '.records[] | select(.k | test("^(ledger|key)[.]") | not) | [.k, .agent, .worker] | @tsv' | sort -u >"$CUSTODY_HOME/who"
	cat "$CUSTODY_HOME/who"
	run ! grep -v $'\tbob\tw1$' "$CUSTODY_HOME/who"
	for kind in approval.request approval.drop approval.grant grant.reserve grant.consume session.refused lane.override session.intent session.start session.end sandbox.reset sandbox.cleared; do
		grep -q "^$kind	" "$CUSTODY_HOME/who" || custody_fail "no $kind"
	done
}

@test "ROOT-6: several roots and several runs in one, at once" {
	local i pids=()
	for i in 1 2 3 4; do
		"${CUSTODY_AS[@]}" "$CUSTODY" run -q --sandbox "r$((i % 2))" --agent "a$i" -- sh -c "echo $i >f$i; cat f$i" >"$CUSTODY_HOME/out$i" 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	for i in 1 2 3 4; do
		[ "$(cat "$CUSTODY_HOME/out$i" "$(root_of "r$((i % 2))")/workspace/f$i")" = "$i
$i" ]
		[ "$(grep -c "^a$i" <(log_of "r$((i % 2))"))" -eq 2 ]
		[ ! -e "$(root_of "r$(((i + 1) % 2))")/workspace/f$i" ]
	done
}

# --- reset ---------------------------------------------------------------------------------------------------------------

@test "ROOT-5: reset empties workspace and tmp, keeps the log, and is on the record before and after" {
	local who inode
	for who in as_root as_user; do
		"$who" && suite_ungoverned
		root_run --sandbox one -- sh -c 'mkdir -p a/b/c; echo x >a/b/c/f; echo t >/tmp/t; mkfifo p; ln -s /etc l; chmod 0 a/b; chmod 0 a'
		assert_status 0
		inode=$(stat -c %i "$(root_of one)/workspace")
		run --separate-stderr custody_do reset --sandbox one --dry-run
		assert_status 0
		assert_output_has "would be removed"
		[ "$(ls "$(root_of one)/workspace" | wc -l)" -eq 3 ]
		root_run --sandbox one -- chmod 0 /work /tmp
		run --separate-stderr custody_do reset --sandbox one --agent bob --worker w1
		assert_status 0
		[ -z "$(find "$(root_of one)/workspace" "$(root_of one)/tmp" -mindepth 1)" ]
		[ "$(modes_of one)" = "700 directory" ]
		# An approval for this root still applies to this root.
		[ "$(stat -c %i "$(root_of one)/workspace")" = "$inode" ]
		[ "$(log_of one | tail -n 2)" = "bob	w1	reset	$(root_of one)	allowed
bob	w1	end	$(root_of one)	cleared" ]
		[ "$(log_of one | wc -l)" -eq 6 ]
		[ "$(custody_do ledger show --json | jq -r '.records[] | select(.k | startswith("sandbox.")) | .k + " " + .status + " " + .agent + " " + .worker + " " + .d.sandbox')" = "sandbox.reset ok bob w1 one
sandbox.cleared ok bob w1 one" ]
		run --separate-stderr custody_do ledger verify
		[ "$status" -eq 0 ] || [ "$status" -eq 4 ]
	done
}

@test "ROOT-5: without a name it is the shared one; --logs clears those too; a missing root is reported" {
	custody_run --sandbox default -- touch file
	custody_run --sandbox one -- touch file
	run --separate-stderr custody_do reset
	assert_status 0
	[ ! -e "$(root_of default)/workspace/file" ]
	[ -e "$(root_of one)/workspace/file" ]
	touch "$(root_of one)/logs/custody.log.1"
	run --separate-stderr custody_do reset --sandbox one --logs
	assert_status 0
	[ "$(ls "$(root_of one)/logs")" = custody.log ]
	[ "$(log_of one)" = "-	-	reset	$(root_of one)	cleared" ]
	run --separate-stderr custody_do reset --sandbox nonesuch
	assert_status 1
	assert_stderr_has "nonesuch"
	[ ! -e "$(root_of nonesuch)" ]
	run custody_do reset --sandbox ../one
	[ "$status" -eq 125 ]
	run custody_do reset --sandbox
	[ "$status" -eq 64 ]
	run custody_do reset file
	[ "$status" -eq 64 ]
}

@test "ROOT-5: refused while a session lives there, and the refusal is on the record" {
	local pid line
	mkfifo "$CUSTODY_HOME/pipe" "$CUSTODY_HOME/go"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --sandbox one -- sh -c 'echo x >file; echo here; read -r line' <"$CUSTODY_HOME/go" >"$CUSTODY_HOME/pipe" 3>&- &
	pid=$!
	exec 8>"$CUSTODY_HOME/go"
	read -r line <"$CUSTODY_HOME/pipe"
	run --separate-stderr custody_do reset --sandbox one --agent bob
	assert_status 1
	assert_stderr_has "a session is running or starting in sandbox root 'one'"
	[ "$(cat "$(root_of one)/workspace/file")" = x ]
	[ "$(log_of one | tail -n 1)" = "bob	-	reset	$(root_of one)	denied: busy" ]
	[ "$(custody_do ledger show --json | jq -r '.records[] | select(.k == "sandbox.reset") | .status')" = denied ]
	# Others are not concerned, nor is a second run in the same one.
	custody_run --sandbox one -- cat file
	assert_status 0
	custody_run --sandbox two -- touch file
	run --separate-stderr custody_do reset --sandbox two
	assert_status 0
	echo go >&8
	exec 8>&-
	wait "$pid"
	run --separate-stderr custody_do reset --sandbox one
	assert_status 0
	[ ! -e "$(root_of one)/workspace/file" ]
}

@test "ROOT-5: a detached session lives there as well" {
	local id
	id=$(custody_do run -d --sandbox one -- sh -c 'echo x >file; sleep 600' </dev/null 2>/dev/null 3>&-)
	wait_until test -e "$(root_of one)/workspace/file"
	run --separate-stderr custody_do reset --sandbox one
	assert_status 1
	[ -e "$(root_of one)/workspace/file" ]
	run --separate-stderr custody_do stop "$id"
	assert_status 0
	run --separate-stderr custody_do reset --sandbox one
	assert_status 0
	[ ! -e "$(root_of one)/workspace/file" ]
}

@test "ROOT-5: runs and resets at the same time never meet" {
	local i pids=()
	custody_run --sandbox one -- true
	for i in 1 2 3; do
		(
			for ((n = 0; n < 6; n++)); do
				"$CUSTODY" run -q --sandbox one -- sh -c 'f=f$$; echo x >$f; for i in 1 2 3 4 5 6 7 8; do [ -e $f ] || exit 99; done; exit 0' 3>&- || [ $? -eq 125 ] || exit 1
			done
		) 3>&- &
		pids+=($!)
	done
	for ((i = 0; i < 12; i++)); do
		run custody_do reset --sandbox one
		[ "$status" -le 1 ]
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	run ! grep -E 'exited 99|lost' "$(root_of one)/logs/custody.log"
	run custody_do reset --sandbox one
	[ "$status" -eq 0 ]
}

@test "ROOT-5: the session of a dead supervisor is ended and kept before the reset" {
	local pid line
	mkfifo "$CUSTODY_HOME/pipe"
	"${CUSTODY_AS[@]}" "$CUSTODY" run --sandbox one -- sh -c 'echo here; while :; do echo x >file; done' >"$CUSTODY_HOME/pipe" 3>&- &
	pid=$!
	read -r line <"$CUSTODY_HOME/pipe"
	kill -9 "$pid"
	wait "$pid" || true
	run --separate-stderr custody_do reset --sandbox one
	assert_status 0
	[ -z "$(ls -A "$(root_of one)/workspace")" ]
	[ "$(custody_do ledger show --json | jq -r '.records[] | select(.k == "session.end") | .d.reason')" = lost ]
	[[ $(log_of one) == *$'\tlost\n'*$'\treset\t'*$'\tcleared' ]]
}

@test "ROOT-5: no link is followed, no other name of a file is emptied" {
	custody_run --sandbox one -- true
	mkdir "$CUSTODY_HOME/outside"
	echo kept >"$CUSTODY_HOME/outside/file"
	ln -s "$CUSTODY_HOME/outside" "$(root_of one)/workspace/l"
	ln -s "$CUSTODY_HOME/outside" "$(root_of one)/tmp/l"
	ln "$CUSTODY_HOME/outside/file" "$(root_of one)/workspace/twin"
	run --separate-stderr custody_do reset --sandbox one
	assert_status 0
	[ "$(cat "$CUSTODY_HOME/outside/file")" = kept ]
	mv "$(root_of one)/workspace" "$(root_of one)/aside"
	ln -s "$CUSTODY_HOME/outside" "$(root_of one)/workspace"
	run --separate-stderr custody_do reset --sandbox one
	assert_status 125
	assert_stderr_has "symbolic link"
	[ "$(cat "$CUSTODY_HOME/outside/file")" = kept ]
}

@test "ROOT-5: something mounted in it is not entered, and nothing is removed" {
	[ "$(id -u)" -eq 0 ] || skip_without root
	local root at
	custody_run --sandbox one -- sh -c 'mkdir -p d/m; echo x >d/file; echo m >f'
	root=$(root_of one)
	mkdir "$CUSTODY_HOME/outside"
	echo kept >"$CUSTODY_HOME/outside/file"
	for at in workspace/d/m workspace tmp logs workspace/f; do
		if [ "$at" = workspace/f ]; then source=$CUSTODY_HOME/outside/file; else source=$CUSTODY_HOME/outside; fi
		# In a mount namespace of its own; bound from the same file system, so that only the mount id differs.
		run --separate-stderr unshare -m --propagation private sh -c 'mount --bind "$1" "$2" && shift 2 && "$@"; s=$?; exit $s' \
			sh "$source" "$root/$at" "$CUSTODY" reset --sandbox one --logs
		assert_status 1
		assert_stderr_has "'$root/$at' is a mount point: umount it first"
		[ "$(cat "$root/workspace/d/file" "$CUSTODY_HOME/outside/file")" = "x
kept" ]
	done
}

@test "ROOT-5: ten thousand levels and directories without any mode" {
	local who
	for who in as_root as_user; do
		"$who" && suite_ungoverned
		root_run --sandbox one -- python3 -c '
import os
for i in range(10000):
    os.mkdir("d")
    os.chdir("d")
open("f", "w").close()
os.chmod(".", 0)
os.chdir("/work")
for i in range(20):
    os.mkdir("m%d" % i)
    open("m%d/f" % i, "w").close()
    os.chmod("m%d" % i, 0)
'
		assert_status 0
		run --separate-stderr custody_do reset --sandbox one
		assert_status 0
		[ -z "$(ls -A "$(root_of one)/workspace")" ]
	done
}

@test "ROOT-5: a reset that cannot be recorded is not done" {
	custody_run --sandbox one -- sh -c 'echo x >file'
	mv "$CUSTODY_ROOT/sandbox/ledger" "$CUSTODY_HOME/ledger"
	: >"$CUSTODY_ROOT/sandbox/ledger"
	run --separate-stderr custody_do reset --sandbox one
	assert_status 125
	[ "$(cat "$(root_of one)/workspace/file")" = x ]
	rm "$CUSTODY_ROOT/sandbox/ledger"
	mv "$CUSTODY_HOME/ledger" "$CUSTODY_ROOT/sandbox/ledger"
	rm "$(root_of one)/logs/custody.log"
	ln -s /dev/null "$(root_of one)/logs/custody.log"
	run --separate-stderr custody_do reset --sandbox one
	assert_status 125
	[ "$(cat "$(root_of one)/workspace/file")" = x ]
	# That log is got rid of by saying so.
	run --separate-stderr custody_do reset --sandbox one --logs
	assert_status 0
	[ -f "$(root_of one)/logs/custody.log" ] && [ ! -L "$(root_of one)/logs/custody.log" ]
}

@test "ROOT-5: prod needs both keys, and its roots are its own" {
	local prod
	custody_run --sandbox one -- sh -c 'echo sandbox >file'
	run --separate-stderr env CUSTODY_ALLOW_PROD=1 "$CUSTODY" run --allow-prod --lane prod --sandbox one -- sh -c 'cat file; echo prod >file'
	assert_status 0
	[ -z "$output" ]
	[ "$(cat "$(root_of one)/workspace/file" "$(root_of one prod)/workspace/file")" = "sandbox
prod" ]
	run --separate-stderr custody_do reset --lane prod --sandbox one
	assert_status 116
	run --separate-stderr custody_do reset --lane prod --allow-prod --sandbox one
	assert_status 116
	assert_stderr_has "CUSTODY_ALLOW_PROD"
	[ "$(cat "$(root_of one prod)/workspace/file")" = prod ]
	run --separate-stderr env CUSTODY_ALLOW_PROD=1 "$CUSTODY" reset --allow-prod --lane prod --sandbox one
	assert_status 0
	[ ! -e "$(root_of one prod)/workspace/file" ]
	[ "$(cat "$(root_of one)/workspace/file")" = sandbox ]
	[ "$("$CUSTODY" ledger show --lane prod --json | jq -r '.records[] | select(.k == "lane.override" and .d.action == "reset") | .d.command | join(" ")')" = "reset --allow-prod --lane prod --sandbox one" ]
	# A root that was copied from another lane has the stamp of that lane.
	mv "$(root_of one prod)" "$(root_of two)"
	custody_run --sandbox two -- touch reached
	assert_status 116
	[ ! -e "$(root_of two)/workspace/reached" ]
}

# --- restore --------------------------------------------------------------------------------------------------------------

@test "ROOT-2: evidence is restored into a root beneath its workspace, or not at all" {
	local id dir
	echo evidence >file
	custody_run -- sh -c 'echo changed >file; kill -9 $$'
	id=$(custody_result .session)
	custody_run --sandbox one -- sh -c 'mkdir in; ln -s /tmp abs; ln -s ../logs up; ln -s /proc/self/root proc; ln -s in fine; ln -s /tmp/x dangling'
	for dir in .. ../logs ../other "$(root_of one)/workspace/new" /tmp/new abs abs/new up/new proc/tmp/new in/../../logs/new dangling; do
		run --separate-stderr custody_do evidence restore "$id" "$dir" --sandbox one
		assert_status 125
		assert_stderr_has "$dir"
		assert_stderr_has "$(root_of one)"
	done
	[ ! -e /tmp/new ] && [ ! -e /tmp/x ] && [ ! -e "$(root_of one)/other" ] && [ ! -e "$(root_of one)/logs/new" ]
	[ "$(log_of one | grep -c $'restore\t.*\tdenied: outside')" -eq 11 ]
	# Not through the back door either.
	ln -s "$(root_of one)/workspace" "$CUSTODY_HOME/link"
	for dir in "$(root_of one)/workspace/new" "$(root_of one)/logs/new" "$(root_of new)" "$CUSTODY_HOME/link/new"; do
		run --separate-stderr custody_do evidence restore "$id" "$dir"
		assert_status 125
		assert_stderr_has "--sandbox NAME"
		[ ! -e "$dir" ]
	done
	run --separate-stderr custody_do evidence restore "$id" fine/back --sandbox one
	assert_status 0
	[ "$(cat "$(root_of one)/workspace/in/back/file")" = changed ]
	[ "$(log_of one | tail -n 1)" = "-	-	restore	$(root_of one)/workspace/fine/back	allowed" ]
	[ "$(custody_do ledger show --json | jq -r '.records[] | select(.k == "evidence.restore") | .session')" = "$id" ]
	run --separate-stderr custody_do evidence restore "$id" more --sandbox one --exact
	assert_status 125
	# A failure is in the log too, with its reason: after the announcement in the ledger as well.
	run --separate-stderr custody_do evidence restore "$id" fine/back --sandbox one
	assert_status 125
	[[ $(log_of one | tail -n 1) == *$'\tfailed: '*'not empty'* ]] || custody_fail "log: $(log_of one | tail -n 2)"
	[ "$(custody_do ledger show --json | jq -r '[.records[] | select(.k == "evidence.restored") | .session, .status] | join(" ")')" = "$id failed" ]
	run --separate-stderr custody_do evidence restore 20200101T000000Z-00000000 in/none --sandbox one
	[ "$status" -ne 0 ]
	[[ $(log_of one | tail -n 1) == *$'restore\tin/none\tfailed: '* ]] || custody_fail "log: $(log_of one | tail -n 2)"
	# Anywhere else as before.
	run --separate-stderr custody_do evidence restore "$id" "$CUSTODY_HOME/elsewhere"
	assert_status 0
	[ "$(cat "$CUSTODY_HOME/elsewhere/file")" = changed ]
}

# --- review ---------------------------------------------------------------------------------------------------------------

@test "ROOT-2: applied changes stay in their root, are in its log, and do not race with a reset" {
	local id who
	for who in as_root as_user; do
		"$who" && suite_ungoverned
		jq '. + {workspace: {mode: "overlay"}}' "${OPTIONS[1]:-/dev/stdin}" <<<'{"schema":1,"name":"p","extends":"offline"}' >"$CUSTODY_HOME/over.json"
		[ "$(id -u)" -ne 0 ] || [ "$who" = as_root ] || chown "$SUITE_UID" "$CUSTODY_HOME/over.json"
		root_run --sandbox one -- sh -c 'mkdir d; echo x >d/file'
		custody_run --profile "$CUSTODY_HOME/over.json" --sandbox one --agent bob --worker w1 -- sh -c 'echo y >d/file; echo z >new'
		assert_status 0
		[ "$(cat "$(root_of one)/workspace/d/file")" = x ]
		id=$(custody_result .session)
		run --separate-stderr flock -x "$(root_of one)" "${CUSTODY_AS[@]}" "$CUSTODY" apply "$id"
		assert_status 125
		assert_stderr_has "is being reset"
		# A parent directory that became a link is not followed.
		mkdir -p "$CUSTODY_HOME/outside"
		echo kept >"$CUSTODY_HOME/outside/file"
		mv "$(root_of one)/workspace/d" "$(root_of one)/workspace/e"
		ln -s "$CUSTODY_HOME/outside" "$(root_of one)/workspace/d"
		run --separate-stderr custody_do apply "$id"
		[ "$status" -ne 0 ]
		[ "$(cat "$CUSTODY_HOME/outside/file")" = kept ]
		rm "$(root_of one)/workspace/d"
		mv "$(root_of one)/workspace/e" "$(root_of one)/workspace/d"
		run --separate-stderr custody_do apply "$id" ../logs/custody.log
		[ "$status" -ne 0 ]
		run --separate-stderr custody_do apply "$id" new
		assert_status 0
		[ "$(cat "$(root_of one)/workspace/new")" = z ]
		[ "$(log_of one | tail -n 2)" = "bob	w1	apply	$(root_of one)/workspace	allowed
bob	w1	end	$(root_of one)/workspace	applied" ]
		run --separate-stderr custody_do discard "$id"
		assert_status 0
		[ "$(log_of one | tail -n 1)" = "bob	w1	discard	$(root_of one)/workspace	allowed" ]
		rm -r "$CUSTODY_HOME/outside"
	done
}
