#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats' variables
#
# --home keep: a private home of the project that stays between runs.  And the message about a full /tmp, home or /dev/shm.

load ../lib/suite.bash

setup() {
	as_root
}

teardown() {
	custody_teardown
}

as_root() {
	suite_setup
	OPTIONS=()
	ALONE=(setsid --wait)
}

# Without the limits that are not delegated to the suite's user.
as_user() {
	suite_setup_user
	printf '{"schema":1,"name":"p","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' \
		>"$CUSTODY_HOME/user.json"
	[ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$CUSTODY_HOME/user.json"
	OPTIONS=(--profile "$CUSTODY_HOME/user.json")
}

# govern OPTIONS -- CMD...: a run without a terminal.
govern() {
	local as=("${CUSTODY_AS[@]}")
	CUSTODY_AS=("${ALONE[@]}" "${as[@]}")
	custody_run "${OPTIONS[@]}" "$@" </dev/null
	CUSTODY_AS=("${as[@]}")
}

custody_do() {
	"${CUSTODY_AS[@]}" "$CUSTODY" "$@"
}

home_of() { # NAME: the part that is mounted
	echo "$CUSTODY_ROOT"/sandbox/home/*-"$1"/home
}

level() { # OPTIONS -- CMD...
	"${ALONE[@]}" "${CUSTODY_AS[@]}" "$CUSTODY" check --json "${OPTIONS[@]}" "$@" </dev/null | jq -r .verdict.level
}

@test "ISO-3: GOV-7: a kept home stays, asks no more than one in memory, and is private" {
	local who command
	for who in as_root as_user; do
		"$who"
		# Without the option it is empty and in memory.
		govern -- sh -c 'echo x >~/file; stat -fc %T ~'
		assert_status 0
		[ "$output" = tmpfs ]
		[ ! -e "$CUSTODY_ROOT/sandbox/home" ]
		# shellcheck disable=SC2016 # expanded inside
		govern --home keep -- sh -c 'test -z "$(ls -A ~)" && mkdir ~/dir && echo kept >~/dir/file && stat -c "%u %a" ~'
		assert_status 0
		[ "$output" = "0 700" ]
		# On the disk it belongs to the caller, whatever ids the session had.
		[ "$(stat -c %u "$(home_of default)/dir/file")" = "$("${CUSTODY_AS[@]}" id -u)" ]
		[ "$(stat -c %a "$(home_of default)" "$CUSTODY_ROOT/sandbox/home" | sort -u)" = 700 ]
		# shellcheck disable=SC2016 # expanded inside
		govern --home keep -- sh -c 'cat ~/dir/file; mv ~/dir/file ~/moved; mkdir ~/dir/second; echo $HOME'
		assert_status 0
		[ "$output" = "kept
/home/sandbox" ]
		for command in make 'touch ~/x' 'rm ~/dir/file' 'echo x >~/.profile' 'npm install'; do
			[ "$(level --home keep -- sh -c "$command")" = "$(level -- sh -c "$command")" ] || custody_fail "$command"
		done
		[ "$(level --home keep -- make)" = A ]
		# Another name, and another project.
		govern --home keep=other -- sh -c 'ls -A ~'
		assert_status 0
		[ -z "$output" ]
		"${CUSTODY_AS[@]}" mkdir "$CUSTODY_HOME/project"
		cd "$CUSTODY_HOME/project" || return
		govern --home keep -- sh -c 'ls -A ~'
		assert_status 0
		[ -z "$output" ]
		[ "$("${CUSTODY_AS[@]}" ls "$CUSTODY_ROOT/sandbox/home" | wc -l)" = 3 ]
		cd "$CUSTODY_HOME" || return
		custody_teardown
	done
	as_root
}

@test "ISO-3: a directory that was made again at the same path is another project" {
	mkdir "$CUSTODY_HOME/project"
	cd "$CUSTODY_HOME/project" || return
	govern --home keep -- sh -c 'echo old >~/file'
	assert_status 0
	mv "$CUSTODY_HOME/project" "$CUSTODY_HOME/away"
	mkdir "$CUSTODY_HOME/project"
	cd "$CUSTODY_HOME/project" || return
	govern --home keep -- sh -c 'ls -A ~'
	assert_status 0
	[ -z "$output" ]
}

@test "GOV-3: GOV-6: unbounded deletes, the network and binds still ask with a kept home" {
	govern --home keep -- true
	assert_status 0
	# shellcheck disable=SC2088 # literally
	[ "$(level --home keep -- sh -c 'rm -rf ~')" = C ]
	[ "$(level --home keep -- rm -rf /home/sandbox)" = C ]
	[ "$(level --home keep --network host -- make)" = C ]
	[ "$(level --home keep -- sudo ls)" = B ]
	mkdir sub
	[ "$(level --home keep -v ./sub:/mnt:rw -- make)" = C ]
	# shellcheck disable=SC2016 # expanded inside
	govern --home keep -- sh -c 'echo x >~/file; rm -rf ~/*'
	assert_status 114
	[ ! -e "$(home_of default)/file" ]
}

@test "GOV-9: GOV-12: the subject names a kept home, and only then" {
	local with without
	govern --home keep -- true
	assert_status 0
	with=$(custody_do check --json --home keep -- make)
	without=$(custody_do check --json -- make)
	[ "$(jq -r .digest <<<"$with")" != "$(jq -r .digest <<<"$without")" ]
	jq -e --arg path "$(home_of default)" '.subject.mounts[] | select(.target == "/home/sandbox") |
		.kind == "bind" and .rw and .disposable and .source == $path and (.inode | length) > 0' <<<"$with"
	jq -e '[.. | objects | select(has("disposable"))] == []' <<<"$without"
	# Another directory is another subject.
	mv "$(dirname "$(home_of default)")" "$CUSTODY_HOME/old"
	govern --home keep -- true
	assert_status 0
	[ "$(jq -r .digest <<<"$with")" != "$(custody_do check --json --home keep -- make | jq -r .digest)" ]
}

@test "GOV-16: the card names a kept home" {
	govern --home keep -- sh -c 'echo x >/etc/x'
	assert_status 114
	run script -qec "$CUSTODY approve $(basename "$CUSTODY_ROOT"/sandbox/requests/*.json .json)" /dev/null <<<n
	[[ $output == *'/home/sandbox'*'(disposable: made by custody'* ]] || custody_fail "$output"
}

@test "GOV-7: a profile may keep the home; one of the worktree may not" {
	suite_profile kept '{"process": {"home": "keep=agent"}}'
	govern -p "$PROFILE" -- sh -c 'echo x >~/file'
	assert_status 0
	[ -e "$(home_of agent)/file" ]
	# The command line wins.
	govern -p "$PROFILE" --home memory -- sh -c 'ls -A ~'
	assert_status 0
	[ -z "$output" ]
	suite_profile wrong '{"process": {"home": "keep=../x"}}'
	govern -p "$PROFILE" -- true
	assert_status 125
	assert_stderr_has 'process.home'
	mkdir -p .custody/profiles
	printf '{"schema":1,"name":"mine","extends":"offline","process":{"home":"keep"}}' >.custody/profiles/mine.json
	govern -p mine -- true
	assert_status 125
	assert_stderr_has 'process.home'
	[ ! -e "$(home_of default)" ]
}

@test "LANE-1: ISO-3: a home is kept in the sandbox lane only, and not for bundles, memory and odd names" {
	local word
	CUSTODY_ALLOW_PROD=1 govern --lane prod --allow-prod --home keep -- true
	assert_status 116
	assert_stderr_has 'sandbox lane only'
	[ ! -e "$CUSTODY_ROOT/prod/home" ]
	run -64 "$CUSTODY" bundle -o "$CUSTODY_HOME/b" --home keep -- true
	[[ $output == *'a bundle has no process that would lock it'* ]]
	suite_profile kept '{"process": {"home": "keep"}}'
	run "$CUSTODY" bundle -o "$CUSTODY_HOME/b" -p "$PROFILE" -- true
	[ "$status" -ne 0 ]
	[[ $output == *"'process.home' keep is not supported in a bundle"* ]] || custody_fail "$output"
	suite_profile tmpfs '{"workspace": {"mode": "tmpfs"}}'
	govern -p "$PROFILE" --home keep -- true
	assert_status 125
	assert_stderr_has 'in memory'
	for word in kept keep= keep=.x keep=A 'keep=a b' keep=a/b keep=0123456789abcdef-x ''; do
		govern --home "$word" -- true
		assert_status 125
	done
	# Neither check nor --dry-run makes one.
	run -125 --separate-stderr "$CUSTODY" check --home keep -- true
	assert_stderr_has 'does not exist'
	govern --home keep --dry-run -- true
	assert_status 125
	[ ! -e "$CUSTODY_ROOT/sandbox/home" ]
}

@test "ISO-3: attack: what an earlier run left in the home does not affect the next set-up" {
	local who
	for who in as_root as_user; do
		"$who"
		"${CUSTODY_AS[@]}" sh -c 'echo secret >"$1/outside"' sh "$CUSTODY_HOME"
		govern --home keep -- python3 -c 'import os, socket
os.chdir(os.environ["HOME"])
for name in "home", "disposable", "project", "bin", "x": os.symlink("'"$CUSTODY_HOME"'/outside", name)
os.symlink("/", "root"); os.symlink("loop", "loop"); os.mkfifo("fifo")
s = socket.socket(socket.AF_UNIX); s.bind("socket")
os.mkdir("shut"); open("shut/file", "w").close(); os.chmod("shut", 0)
try: os.mknod("device", 0o20666, os.makedev(1, 1)); print("made a device")
except OSError: pass
os.chmod(".", 0)'
		assert_status 0
		[ -z "$output" ]
		govern --home keep -- sh -c 'stat -c %a ~; ls -A ~ | wc -l; cat ~/x'
		assert_status 1
		[ "${lines[0]}" = 700 ] && [ "${lines[1]}" = 10 ]
		[ "$("${CUSTODY_AS[@]}" cat "$CUSTODY_HOME/outside")" = secret ]
		# A target in the home would be such a link.
		govern --home keep -v "$CUSTODY_HOME:/home/sandbox/x" -- sh -c 'echo started'
		assert_status 125
		assert_stderr_has 'entries earlier runs wrote'
		[[ $output != *started* ]]
		custody_do df >/dev/null
		run custody_do reset --home
		[ "$status" -eq 0 ] || custody_fail "$output"
		[ -z "$("${CUSTODY_AS[@]}" ls -A "$(home_of default)")" ]
		[ "$("${CUSTODY_AS[@]}" cat "$CUSTODY_HOME/outside")" = secret ]
		custody_teardown
	done
	as_root
}

@test "GOV-7: attack: a replaced home, a copied stamp and a link are refused" {
	local home dir
	govern --home keep -- sh -c 'echo x >~/file'
	assert_status 0
	home=$(home_of default) dir=$(dirname "$(home_of default)")
	# Another directory in place of the home: not the one that custody made.
	mkdir "$CUSTODY_HOME/mine"
	echo precious >"$CUSTODY_HOME/mine/file"
	mv "$home" "$CUSTODY_HOME/old"
	mv "$CUSTODY_HOME/mine" "$home"
	chmod 0700 "$home"
	govern --home keep -- rm /home/sandbox/file
	assert_status 125
	assert_stderr_has 'written for another directory'
	[ "$(cat "$home/file")" = precious ]
	# What the message says helps: an ordinary directory, which asks.
	rm "$dir/disposable"
	govern --home keep -- rm /home/sandbox/file
	assert_status 114
	[ "$(cat "$home/file")" = precious ]
	mv "$home" "$CUSTODY_HOME/mine"
	ln -s "$CUSTODY_HOME/mine" "$home"
	govern --home keep -- rm /home/sandbox/file
	assert_status 125
	[ "$(cat "$CUSTODY_HOME/mine/file")" = precious ]
	# The same for the directory above.
	mv "$dir" "$CUSTODY_HOME/dir"
	ln -s "$CUSTODY_HOME/dir" "$dir"
	govern --home keep -- true
	assert_status 125
	if [ "$(id -u)" -eq 0 ]; then
		rm "$dir"
		mkdir -m 0700 "$dir"
		chown "$SUITE_UID" "$dir"
		govern --home keep -- true
		assert_status 125
		assert_stderr_has "belongs to uid $SUITE_UID"
	fi
}

@test "ISO-3: attack: the payload reaches neither the stamp, other homes nor a set-id mode" {
	local who
	for who in as_root as_user; do
		"$who"
		govern --home keep=other -- sh -c 'echo secret >~/other-secret'
		assert_status 0
		# shellcheck disable=SC2016 # expanded inside
		govern --home keep -- sh -c 'ls -A ~/..; find / -xdev \( -name disposable -o -name other-secret \) 2>/dev/null
			test ! -e '"$CUSTODY_ROOT"'/sandbox || echo found; cp /bin/true ~/program; chmod u+s ~/program 2>/dev/null; chmod g+s ~ 2>/dev/null
			stat -c %a ~ ~/program'
		assert_status 0
		[[ $output != *disposable* && $output != *other-secret* && $output != *found* ]] || custody_fail "$output"
		[[ ${lines[-1]} != 4* && ${lines[-2]} = 700 ]] || custody_fail "$output"
		grep -q ' /home/sandbox rw,nosuid,nodev' <<<"$(govern --home keep -- cat /proc/self/mountinfo && echo "$output")"
		custody_teardown
	done
	as_root
}

@test "ROOT-5: two runs share a home; reset and prune refuse while one uses it" {
	local one two inode
	one=$(custody_do run -d --home keep -- sh -c 'echo one >~/one; exec sleep 600')
	two=$(custody_do run -d --home keep -- sh -c 'until test -e ~/one; do :; done; cp ~/one ~/two; exec sleep 600')
	until [ -e "$(home_of default)/two" ]; do :; done
	run -1 --separate-stderr custody_do reset --home
	assert_stderr_has "a session uses home"
	run custody_do prune --all --yes
	[ "$(cat "$(home_of default)/two")" = one ]
	custody_do stop "$one" "$two" >/dev/null 2>&1 || { custody_do stop "$one" && custody_do stop "$two"; }
	inode=$(stat -c %i "$(home_of default)")
	run custody_do reset --home --dry-run
	[[ $output == *'2 entries'*'would be removed'* ]] || custody_fail "$output"
	[ "$(cat "$(home_of default)/two")" = one ]
	run custody_do reset --home --json
	[ "$(jq -r '.entries' <<<"$output")" = 2 ]
	[ -z "$(ls -A "$(home_of default)")" ] && [ "$(stat -c %i "$(home_of default)")" = "$inode" ]
	govern --home keep -- sh -c 'ls -A ~'
	assert_status 0
	[ -z "$output" ]
	[ "$(custody_do ledger show --json | jq -r '.records[] | select(.k | startswith("home.")) | .k + " " + .status' | tr '\n' ,)" = \
		"home.reset denied,home.reset ok,home.cleared ok," ]
	run -1 --separate-stderr custody_do reset --home=missing
	assert_stderr_has 'does not exist'
	run -64 custody_do reset --home --logs
}

@test "ROOT-5: df lists homes with project and size, prune removes those that were not used" {
	local id
	govern --home keep -- sh -c 'head -c 1M /dev/urandom >~/file'
	assert_status 0
	govern --home keep=other -- true
	assert_status 0
	custody_do df --json >df.json
	jq -e --arg pwd "$PWD" '[.items[] | select(.kind == "home")] | length == 2 and all(.what == $pwd) and
		(map(.bytes) | max) > 1000000' df.json
	[ "$(jq '.totals.home > 1000000' df.json)" = true ]
	id=$(jq -r '[.items[] | select(.kind == "home")] | max_by(.bytes).id' df.json)
	# Nothing by itself, nothing that is younger.
	custody_do prune >/dev/null
	custody_do prune --older 1d --yes >/dev/null
	[ -e "$(home_of default)/file" ]
	touch -d '3 days ago' "$(dirname "$(home_of default)")/project"
	run custody_do prune --older 1d --dry-run
	[[ $output == *"would remove home"*"$id"*"1 would be removed" ]] || custody_fail "$output"
	[ -e "$(home_of default)/file" ]
	# The rest of a removal that was killed goes, too.
	mkdir -p "$CUSTODY_ROOT/sandbox/home/.gone-0123456789abcdef-x/home/dir"
	custody_do prune --older 1d --yes >/dev/null
	[ "$(ls -A "$CUSTODY_ROOT/sandbox/home" | wc -l)" = 1 ] && [ -e "$(home_of other)" ]
	[ "$(custody_do ledger show --json | jq -r '.records[] | select(.k == "home.expire").d.home')" = "$id" ]
	# By its ID, from anywhere.
	cd / || return
	run custody_do reset --home="$(basename "$(dirname "$(home_of other)")")"
	[ "$status" -eq 0 ]
}

@test "ISO-3: runs that make the same home at once all use it" {
	local i pids=()
	for i in 1 2 3 4; do
		"${ALONE[@]}" "$CUSTODY" run --home keep -- sh -c "echo >~/$i" </dev/null 2>"$CUSTODY_HOME/err.$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || custody_fail "$(cat "$CUSTODY_HOME"/err.*)"; done
	[ "$(ls -A "$(home_of default)" | tr '\n' ' ')" = "1 2 3 4 " ]
	[ "$(ls -A "$CUSTODY_ROOT/sandbox/home" | wc -l)" = 1 ]
}

@test "ISO-5: evidence has no file of a kept home" {
	govern --home keep -- sh -c 'echo token >~/credentials; echo x >file; exit 3'
	assert_status 3
	[ -e "$(home_of default)/credentials" ]
	[ -n "$(find "$CUSTODY_ROOT/forensics" -name file)" ]
	[ -z "$(find "$CUSTODY_ROOT/forensics" -name credentials)" ]
	run -1 grep -rl token "$CUSTODY_ROOT/forensics" --include=credentials
}

@test "ISO-13: a run that fails with a full /tmp, home or /dev/shm names the limit" {
	local who place key bytes
	for who in as_root as_user; do
		"$who"
		jq -n '{schema: 1, name: "small", extends: "offline", remove: ["/filesystem/tmpfs"], limits: {tmp: "1M", shm: "2M"},
			filesystem: {tmpfs: [{path: "/home/sandbox", size: "3M"}]},
			enforce: {optional: ["memory-limit", "pids-limit", "cpu-limit"]}}' >"$CUSTODY_HOME/small.json"
		[ "$who" = as_root ] || [ "$(id -u)" -ne 0 ] || chown "$SUITE_UID" "$CUSTODY_HOME/small.json"
		OPTIONS=(-p "$CUSTODY_HOME/small.json")
		while read -r place key bytes; do
			govern --result "$CUSTODY_HOME/r.json" -- dd if=/dev/zero of="$place/x" bs=64k
			assert_status 1
			assert_stderr_has "$place is full"
			assert_stderr_has "$key of the profile"
			"${CUSTODY_AS[@]}" jq -e --arg place "$place" --arg key "$key" --argjson bytes "$bytes" \
				'.full == [{path: $place, bytes: $bytes, limit: $key}] and .exit.reason == "exited"' "$CUSTODY_HOME/r.json"
		done <<-END
			/tmp limits.tmp 1048576
			/dev/shm limits.shm 2097152
			/home/sandbox filesystem.tmpfs 3145728
		END
		# A run that succeeds has it in the result alone; others have neither.
		govern --result "$CUSTODY_HOME/r.json" -- sh -c 'dd if=/dev/zero of=/tmp/x bs=64k 2>/dev/null; true'
		assert_status 0
		[[ $stderr != *full* ]]
		[ "$("${CUSTODY_AS[@]}" jq -r '.full[].path' "$CUSTODY_HOME/r.json")" = /tmp ]
		govern --result "$CUSTODY_HOME/r.json" -- false
		assert_status 1
		[ "$("${CUSTODY_AS[@]}" jq 'has("full")' "$CUSTODY_HOME/r.json")" = false ]
		# A file on a full tmpfs that is mapped: the signal is explained.
		govern -- python3 -c 'import mmap, os
f = open("/tmp/x", "w+b"); f.truncate(4 << 20); m = mmap.mmap(f.fileno(), 4 << 20)
for i in range(0, 4 << 20, 4096): m[i] = 1'
		assert_status 135
		assert_stderr_has "/tmp is full"
		custody_teardown
	done
	as_root
}

@test "ISO-13: the disk limit counts what a run writes to a kept home" {
	suite_profile small '{"limits": {"disk": "20M"}}'
	govern -p "$PROFILE" --home keep --result r.json -- sh -c 'for i in 1 2 3 4; do head -c 15M /dev/zero >~/$i; done; exec sleep 600'
	[ "$(jq -r .exit.reason r.json)" = disk-limit ]
}
