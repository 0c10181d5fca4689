#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What people and other programs get wrong: one clear message, the right status, nothing left behind.

load ../lib/suite.bash

setup() {
	suite_setup
	P=$CUSTODY_HOME/p.json
}

teardown() {
	custody_teardown
}

# refused TEXT [OPTIONS]: a run with them ends with 125 and one line that says TEXT, and the command never runs.
refused() {
	local text=$1
	shift
	custody_run "$@" -- sh -c 'echo RAN'
	assert_status 125
	assert_stderr_has "$text"
	[ "$(wc -l <<<"$stderr")" -eq 1 ] || custody_fail "more than one line on stderr"
	[[ $output != *RAN* ]]
	[ ! -d "$CUSTODY_ROOT/run/sessions" ] || [ -z "$(ls -A "$CUSTODY_ROOT/run/sessions")" ]
}

@test "bad profile: missing" {
	refused "no-such-profile" --profile no-such-profile
	refused "$P" --profile "$P"
}

@test "bad profile: unreadable" {
	echo '{"schema":1,"name":"p"}' >"$P"
	chmod 0000 "$P"
	chmod 0755 "$CUSTODY_ROOT"
	suite_as_user
	custody_run --profile "$P" -- true
	assert_status 125
	assert_stderr_has "$P"
	assert_stderr_has "cannot be read"
}

# The rest of this test as an ordinary user.
suite_as_user() {
	[ "$(id -u)" -eq 0 ] || return 0
	chown "$SUITE_UID" "$CUSTODY_ROOT" "$CUSTODY_HOME/work" "$CUSTODY_HOME/results"
	CUSTODY_AS=(setpriv --reuid "$SUITE_UID" --regid "$SUITE_UID" --clear-groups)
}

@test "bad profile: world-writable" {
	echo '{"schema":1,"name":"p","extends":"offline"}' >"$P"
	chmod 0666 "$P"
	refused "$P" --profile "$P"
}

@test "bad profile: symlink, FIFO, directory, device" {
	ln -s /etc/passwd "$CUSTODY_HOME/link.json"
	refused link.json --profile "$CUSTODY_HOME/link.json"
	mkfifo "$CUSTODY_HOME/fifo.json"
	refused fifo.json --profile "$CUSTODY_HOME/fifo.json"
	refused "$CUSTODY_HOME" --profile "$CUSTODY_HOME/"
	refused /dev/zero --profile /dev/zero
}

@test "bad profile: 1 GB, binary, empty" {
	truncate -s 1G "$CUSTODY_HOME/big.json"
	refused big.json --profile "$CUSTODY_HOME/big.json"
	cp /bin/true "$CUSTODY_HOME/bin.json"
	refused bin.json --profile "$CUSTODY_HOME/bin.json"
	: >"$CUSTODY_HOME/empty.json"
	refused empty.json --profile "$CUSTODY_HOME/empty.json"
}

@test "bad profile: unknown key with the nearest one, wrong type with its line" {
	echo '{"schema":1,"name":"p","extends":"offline","limits":{"memroy":"1G"}}' >"$P"
	refused "memory" --profile "$P"
	printf '{"schema":1,"name":"p","extends":"offline",\n"limits":{"memory":true}}' >"$P"
	refused "$P:2:" --profile "$P"
}

@test "bad profile: a section of a later capability refuses the run by name" {
	echo '{"schema":1,"name":"p","extends":"offline","trust":{"context_file":"ai.project.json"}}' >"$P"
	custody_run --profile "$P" -- sh -c 'echo RAN'
	assert_status 125
	assert_stderr_has trust
	[[ $output != *RAN* ]]
}

@test "bad profile: process.init false needs a bundle" {
	echo '{"schema":1,"name":"p","extends":"offline","process":{"init":false}}' >"$P"
	refused "custody bundle" --profile "$P"
}

@test "bad command: not found and not executable" {
	custody_run -- /nowhere/at/all
	assert_status 127
	assert_stderr_has "cannot execute '/nowhere/at/all' inside: No such file or directory, or its interpreter"
	custody_run -- nowhere
	assert_status 127
	assert_stderr_has "-v mounts more of the host"
	custody_run -- 'ls -l; id'
	assert_status 127
	assert_stderr_has "custody run -- sh -c 'LINE'"
	custody_run -- /etc/passwd
	assert_status 126
	assert_stderr_has "mode +x"
	printf '#!/no/such/interpreter\n' >script
	chmod +x script
	custody_run -- ./script
	assert_status 127
	custody_run -- ''
	[ "$status" -eq 125 ] || [ "$status" -eq 127 ]
}

# outside_tool DIR: a program that is outside only, and says RAN if it is executed there.
outside_tool() {
	mkdir -p "$1"
	printf '#!/bin/sh\necho ran >>%q\necho "from $0"\n' "$CUSTODY_HOME/RAN" >"$1/tool"
	chmod -R a+rX "$1"
	chmod 0755 "$1/tool"
}

@test "GOV-1: a program of the caller's PATH that is outside only is named, with the option that shows it" {
	local dir=$CUSTODY_HOME/kit/bin
	outside_tool "$dir"
	PATH=relative:$CUSTODY_HOME/none:$dir:$PATH custody_run -- tool
	assert_status 127
	assert_stderr_has "cannot execute 'tool' inside: No such file or directory; outside it is '$dir/tool'; to show it: custody run -v $dir:$dir -- $dir/tool"
	[ ! -e "$CUSTODY_HOME/RAN" ] || custody_fail "executed outside"
	custody_run -- "$dir/tool"
	assert_status 127
	assert_stderr_has "custody run -v $dir:$dir -- $dir/tool"
	# What it says works.
	custody_run -v "$dir:$dir" -- "$dir/tool"
	assert_status 0
	assert_output_has "from $dir/tool"
	# No question is asked about it either.
	PATH=$dir:$PATH custody_run --network host -- tool
	assert_status 127
	assert_stderr_has "outside it is '$dir/tool'"
}

@test "GOV-1: a program of the caller's PATH behind a link, in the home, and one that PATH inside lacks" {
	local dir=$CUSTODY_HOME/kit/bin links=$CUSTODY_HOME/links
	outside_tool "$dir"
	mkdir -p "$links" bin
	ln -s "$dir/tool" "$links/tool"
	PATH=$links:$PATH custody_run -- tool
	assert_status 127
	assert_stderr_has "custody run -v $links:$links -v $dir:$dir -- $links/tool"
	custody_run -v "$links:$links" -v "$dir:$dir" -- "$links/tool"
	assert_status 0
	# Of the home only the file.
	HOME=$dir PATH=$dir:$PATH custody_run -- tool
	assert_status 127
	assert_stderr_has "custody run -v $dir/tool:$dir/tool -- $dir/tool"
	cp "$dir/tool" bin/here
	PATH=$PWD/bin:$PATH custody_run -- here
	assert_status 127
	assert_stderr_has "in the PATH inside; it is '$PWD/bin/here': custody run -- $PWD/bin/here"
}

@test "GOV-1: a name outside that is no program, or that no option can name, is not offered" {
	local dir=$CUSTODY_HOME/kit word
	mkdir -p "$dir/bin/folder" "$dir/a"$'\n'"b"
	echo x >"$dir/bin/plain"
	mkfifo -m 0755 "$dir/bin/fifo"
	ln -s nowhere "$dir/bin/dangling"
	outside_tool "$dir/a"$'\n'"b"
	for word in folder plain fifo dangling; do
		PATH=$dir/bin:$PATH custody_run -- "$word"
		assert_status 127
		assert_stderr_has "-v mounts more of the host"
	done
	PATH=$dir/a$'\n'b:$PATH custody_run -- tool
	assert_status 127
	[[ $stderr != *"outside it is"* ]] || custody_fail "$stderr"
	[ ! -e "$CUSTODY_HOME/RAN" ]
}

@test "bad command: an interpreter that is missing inside is named" {
	local dir=$CUSTODY_HOME/kit/bin
	printf '#!/no/such/interpreter -x\n' >script
	printf '#!%s/script\n' "$PWD" >second
	printf '#!/bin/sh\r\necho x\r\n' >dos
	printf '#!/no/such/\033[31m\n' >colour
	mkdir -p "$dir"
	cp /bin/sh "$dir/lang"
	printf '#!%s/lang\necho RAN\n' "$dir" >own
	chmod +x script second dos colour own
	custody_run -- ./script
	assert_status 127
	assert_stderr_has "cannot execute './script' inside: its interpreter '/no/such/interpreter' is missing inside"
	custody_run -- ./second
	assert_status 127
	assert_stderr_has "its interpreter '/no/such/interpreter' is missing inside"
	custody_run -- ./dos
	assert_status 127
	assert_stderr_has "ends with a carriage return"
	custody_run -- ./colour
	assert_status 127
	assert_stderr_has "its interpreter is missing inside"
	[[ $stderr != *$'\033'* ]]
	custody_run -- ./own
	assert_status 127
	assert_stderr_has "its interpreter '$dir/lang' is missing inside; to show it: custody run -v $dir:$dir -- ./own"
	custody_run -v "$dir:$dir" -- ./own
	assert_status 0
	assert_output_has RAN
}

@test "bad command: an ELF interpreter that is missing inside is named; one that is no name is not" {
	python3 - <<-'EOF'
		import struct
		def image(name, phnum=1, size=None):
		    head = b"\x7fELF\x02\x01\x01" + bytes(9)
		    head += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400000, 64, 0, 0, 64, 56, phnum, 0, 0, 0)
		    return head + struct.pack("<IIQQQQQQ", 3, 4, 120, 0, 0, size or len(name), len(name), 1) + name
		open("elf", "wb").write(image(b"/lib/ld-none.so.1\0"))
		open("odd", "wb").write(image(b"/lib/ld-none.so.1\0", phnum=9))
	EOF
	chmod +x elf odd
	custody_run -- ./elf
	[ "$status" -eq 127 ] || skip "not of this machine"
	assert_stderr_has "cannot execute './elf' inside: its interpreter '/lib/ld-none.so.1' is missing inside"
	custody_run -- ./odd
	[ "$status" -eq 126 ] || [ "$status" -eq 127 ]
}

@test "bad worktree: it does not exist, or vanishes" {
	echo "{\"schema\":1,\"name\":\"p\",\"extends\":\"offline\",\"workspace\":{\"source\":\"$CUSTODY_HOME/none\"}}" >"$P"
	refused "$CUSTODY_HOME/none" --profile "$P"
	mkdir gone
	cd gone
	rmdir ../gone
	custody_run -- true
	assert_status 125
	[ -n "$stderr" ]
	cd ..
}

@test "bad worktree: a file" {
	touch "$CUSTODY_HOME/file"
	echo "{\"schema\":1,\"name\":\"p\",\"extends\":\"offline\",\"workspace\":{\"source\":\"$CUSTODY_HOME/file\"}}" >"$P"
	refused "$CUSTODY_HOME/file" --profile "$P"
}

@test "bad volume: missing source, missing target, no absolute target" {
	refused /nowhere -v /nowhere:/x
	refused "relative" -v "$CUSTODY_HOME:relative"
	refused "nonsense" -v "$CUSTODY_HOME:/x:nonsense"
}

@test "bad result file: found out before anything runs" {
	run --separate-stderr "$CUSTODY" run --result /nowhere/result.json -- sh -c 'echo RAN'
	assert_status 125
	assert_stderr_has /nowhere/result.json
	[[ $output != *RAN* ]]
}

@test "full disk: the run is refused or fails with a message, nothing stays" {
	skip_without root # only root can mount
	# 64 KiB for state and run directories, all of it taken.
	run --separate-stderr unshare -m sh -c '
		mount -t tmpfs -o size=64k,nr_inodes=20 tmpfs "$CUSTODY_ROOT" || exit 99
		head -c 1M /dev/zero >"$CUSTODY_ROOT/full" 2>/dev/null
		i=0; while touch "$CUSTODY_ROOT/i$i" 2>/dev/null; do i=$((i + 1)); done
		"$CUSTODY" run -- echo RAN; rc=$?
		rm -f "$CUSTODY_ROOT"/i* "$CUSTODY_ROOT/full"
		find "$CUSTODY_ROOT" -path "*/sessions/*" -o -path "*/crun/*"
		exit $rc' sh
	assert_status 125
	assert_stderr_has "No space left"
	[ -z "$output" ]
}

@test "nearly full disk: the message names the space, and never a missing overlayfs" {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	truncate -s 24M "$CUSTODY_HOME/disk"
	mkfs.ext4 -q -m 0 -b 4096 -O ^has_journal "$CUSTODY_HOME/disk"
	# The space for each step of a start in turn is the one that is missing.
	run --separate-stderr unshare -m --propagation private sh -c '
		mount -o loop "$1/disk" "$CUSTODY_ROOT" && chmod 0755 "$CUSTODY_ROOT" || exit 99
		"$CUSTODY" ledger init >/dev/null || exit 99
		dd if=/dev/zero of="$CUSTODY_ROOT/full" bs=4k 2>/dev/null
		for i in $(seq 20); do
			truncate -s -8k "$CUSTODY_ROOT/full"
			"$CUSTODY" run -- true
		done' sh "$CUSTODY_HOME"
	assert_stderr_has 'no space is left for the overlay'
	[[ $stderr != *fuse-overlayfs* && $stderr != *'needs overlayfs'* ]]
}

@test "no user namespaces: refused with the layer and its requirement" {
	skip_without root # only root can set the limit
	# A user namespace of its own in which no further one may be made: what a host that forbids them looks like.
	run --separate-stderr unshare -Urm sh -c '
		echo 0 >/proc/sys/user/max_user_namespaces || exit 99
		mount -t tmpfs tmpfs "$CUSTODY_ROOT" || exit 99
		"$CUSTODY" run -- echo RAN' sh
	assert_status 125
	[[ $output != *RAN* ]]
	assert_stderr_has "ser namespace"
}

@test "no cgroups: limits are refused by name, optional ones are not" {
	skip_without root # only root can unmount
	run_without_cgroups -- echo RAN
	assert_status 125
	[[ $output != *RAN* ]]
	assert_stderr_has "'memory-limit'"
	assert_stderr_has "no cgroup file system"
	echo '{"schema":1,"name":"p","extends":"offline","enforce":{"optional":["memory-limit","pids-limit","cpu-limit"]}}' >"$P"
	run_without_cgroups --profile "$P" -- echo RAN
	assert_status 0
	assert_output_has RAN
}
