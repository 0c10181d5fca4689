#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Other Debian suites (tests/on): roots, the cache, the namespaces; debootstrap is a small replacement here.

bats_require_minimum_version 1.5.0
load '../../contrib/bats/custody'

setup() {
	SRC=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
	ON=$SRC/tests/on
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	CACHE=$XDG_CACHE_HOME/custody-check
	export DEBOOTSTRAP_DIR=$BATS_TEST_TMPDIR/debootstrap FAKE=$BATS_TEST_TMPDIR
	mkdir -p "$DEBOOTSTRAP_DIR/scripts" "$BATS_TEST_TMPDIR/bin"
	touch "$DEBOOTSTRAP_DIR"/scripts/{bookworm,trixie,sid}
	# Its arguments are options, the suite, the directory and perhaps a mirror.
	cat >"$BATS_TEST_TMPDIR/bin/debootstrap" <<'END'
#!/bin/bash
while [[ $1 == -* ]]; do shift; done
echo "$*" >>"$FAKE/calls"
mkdir -p "$2"/{etc/apt/apt.conf.d,var/cache/apt/archives,proc,sys,dev,run,root,tmp}
if [ -e "$FAKE/broken" ]; then
	cat "$FAKE/broken" >&2
	exit 1
fi
if [ -p "$FAKE/started" ]; then
	# Open until the end of this process.
	exec 5>"$FAKE/started"
	echo started >&5
	read -r <"$FAKE/go"
fi
for program in bash env cat hostname umount; do
	path=$(command -v $program)
	{ echo "$path"; ldd "$path" | grep -o '/[^ ]*'; } | while read -r file; do
		mkdir -p "$2${file%/*}" && cp -Lu "$file" "$2$file"
	done
done
[ -e "$2/bin/bash" ] || { mkdir -p "$2/bin" && cp "$2/usr/bin/bash" "$2/bin/"; }
END
	chmod +x "$BATS_TEST_TMPDIR/bin/debootstrap"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
}
fake_program() { # NAME TEXT
	printf '#!/bin/sh\n%s\n' "$2" >"$BATS_TEST_TMPDIR/bin/$1"
	chmod +x "$BATS_TEST_TMPDIR/bin/$1"
}
roots() { # the complete ones
	find "$CACHE" -mindepth 1 -maxdepth 1 -type d -name '*-*' ! -name 'new-*' ! -name 'old-*' 2>/dev/null
}

@test "PLAT-1: --on refuses an unknown suite, a missing one, other modes and an ordinary user before anything is done" {
	local words
	fake_program id 'echo 64321'
	for words in '--on buster' '--on Trixie' '--on trixie/../sid' '--on' '--on trixie --vm' '--on trixie --live podman' \
		'--on sid --platform' '--platform --vm'; do
		# shellcheck disable=SC2086 # a list of words
		run "$SRC/contrib/check.sh" $words
		[ "$status" -eq 64 ]
		[ ${#lines[@]} -eq 1 ]
	done
	run "$SRC/contrib/check.sh" --on buster
	[[ $output == *"unknown suite 'buster'; use --on trixie, sid or bookworm"* ]]
	run "$SRC/contrib/check.sh" --on trixie
	[ "$status" -eq 1 ]
	[[ $output == *'--on needs root: sudo contrib/check.sh --on trixie' ]]
	run "$ON/root.sh" trixie
	[ "$status" -eq 1 ]
	[[ $output == *'needs root'* ]]
	run "$ON/root.sh" buster
	[ "$status" -eq 64 ]
	[ ! -e "$CACHE" ]
	[ ! -e "$FAKE/calls" ]
}

@test "PLAT-1: a cache that cannot be made, that others can write, that is another user's or full is refused with the fix" {
	skip_without root
	run env XDG_CACHE_HOME=/proc/no "$ON/root.sh" trixie
	[ "$status" -eq 1 ]
	[[ $output == *"cannot create the cache '/proc/no/custody-check'; XDG_CACHE_HOME=DIR chooses another directory" ]]
	mkdir -p "$CACHE"
	chmod 777 "$CACHE"
	run "$ON/root.sh" trixie
	[ "$status" -eq 1 ]
	[[ $output == *"others can write to the cache '$CACHE'; chmod 700 '$CACHE'" ]]
	chmod 700 "$CACHE"
	chown 64321 "$CACHE"
	run "$ON/root.sh" trixie
	[ "$status" -eq 1 ]
	[[ $output == *"the cache '$CACHE' belongs to another user; XDG_CACHE_HOME=DIR chooses another directory" ]]
	chown 0 "$CACHE"
	run unshare -m sh -c "mount -o bind '$CACHE' '$CACHE' && mount -o remount,bind,ro '$CACHE' && '$ON/root.sh' trixie"
	[ "$status" -eq 1 ]
	[[ $output == *"cannot write to the cache '$CACHE'; XDG_CACHE_HOME=DIR chooses another directory" ]]
	run unshare -m sh -c "mount -t tmpfs -o nodev,size=4m,mode=700 x '$CACHE' && '$ON/root.sh' trixie"
	[ "$status" -eq 1 ]
	[[ $output == *"the cache '$CACHE' is on a file system with nodev, noexec or nosuid; XDG_CACHE_HOME=DIR"* ]]
	run unshare -m sh -c "mount -t tmpfs -o size=4m,mode=700 x '$CACHE' && '$ON/root.sh' trixie"
	[ "$status" -eq 1 ]
	[[ $output == *"4 MB free in '$CACHE', 1500 MB needed; make room, or XDG_CACHE_HOME=DIR chooses another directory" ]]
	[ ! -e "$FAKE/calls" ]
	[ -z "$(roots)" ]
}

@test "PLAT-1: without debootstrap, without its script for the suite and without a mirror the fix is named, and no root is left" {
	skip_without root
	mv "$BATS_TEST_TMPDIR/bin/debootstrap" "$BATS_TEST_TMPDIR/kept"
	# What root.sh calls, and no debootstrap.
	mkdir "$BATS_TEST_TMPDIR/few"
	for program in bash dirname id sort grep mkdir find rm findmnt df tail sha256sum cut flock mktemp apt-get apt-config awk head; do
		ln -s "$(command -v $program)" "$BATS_TEST_TMPDIR/few/"
	done
	run env PATH="$BATS_TEST_TMPDIR/few" "$ON/root.sh" trixie
	[ "$status" -eq 1 ]
	[[ $output == *'no debootstrap; apt-get install debootstrap' ]]
	mv "$BATS_TEST_TMPDIR/kept" "$BATS_TEST_TMPDIR/bin/debootstrap"
	rm "$DEBOOTSTRAP_DIR/scripts/sid"
	run "$ON/root.sh" sid
	[ "$status" -eq 1 ]
	[[ $output == *"this debootstrap does not know 'sid'"* ]]
	[ ! -e "$FAKE/calls" ]
	echo 'E: Failed getting release file' >"$FAKE/broken"
	run "$ON/root.sh" trixie
	[ "$status" -eq 1 ]
	[[ $output == *'E: Failed getting release file'*"debootstrap of trixie failed "*'check the mirror with: apt-get update; log: '* ]]
	[ -z "$(roots)" ]
	[ -z "$(find "$CACHE" -name 'new-*')" ]
}

@test "PLAT-1: a killed debootstrap leaves no root and no process; the next run makes it, the one after that uses it" {
	skip_without root
	local pid root
	mkfifo "$FAKE/started" "$FAKE/go"
	"$ON/root.sh" trixie >/dev/null 2>&1 3>&- &
	pid=$!
	exec 6<"$FAKE/started"
	read -r <&6
	kill -9 "$pid"
	# Reads the end of file when the last process that had it open is gone.
	[ -z "$(cat <&6)" ]
	exec 6<&-
	[ -z "$(roots)" ]
	[ -n "$(find "$CACHE" -name 'new-*')" ]
	rm "$FAKE/started"
	root=$("$ON/root.sh" trixie 2>/dev/null)
	[ -x "$root/bin/bash" ]
	[ "$(roots)" = "${root%/root}" ]
	[ -z "$(find "$CACHE" -name 'new-*')" ]
	[ "$("$ON/root.sh" trixie)" = "$root" ]
	[ "$(wc -l <"$FAKE/calls")" -eq 2 ]
	# Two weeks later it is made again.
	touch -d '15 days ago' "${root%/root}/packages"
	[ "$("$ON/root.sh" trixie 2>/dev/null)" = "$root" ]
	[ "$(wc -l <"$FAKE/calls")" -eq 3 ]
	[ -z "$(find "$CACHE" -name 'old-*')" ]
}

@test "PLAT-1: two runs at a time make one root" {
	skip_without root
	local first second
	mkfifo "$FAKE/started" "$FAKE/go"
	"$ON/root.sh" trixie >"$FAKE/first" 2>/dev/null 3>&- &
	first=$!
	exec 6<"$FAKE/started"
	read -r <&6
	"$ON/root.sh" trixie >"$FAKE/second" 2>"$FAKE/waits" 3>&- 6<&- &
	second=$!
	until grep -q 'waiting for another process that makes the trixie root' "$FAKE/waits"; do kill -0 "$second"; done
	echo >"$FAKE/go"
	exec 6<&-
	wait "$first"
	wait "$second"
	cmp "$FAKE/first" "$FAKE/second"
	[ "$(wc -l <"$FAKE/calls")" -eq 1 ]
}

@test "PLAT-1: suites and packages have roots of their own; only sid accepts an expired Release file" {
	skip_without root
	local trixie sid
	trixie=$("$ON/root.sh" trixie 2>/dev/null)
	sid=$("$ON/root.sh" sid 2>/dev/null)
	[ "$trixie" != "$sid" ]
	grep -qr 'Check-Valid-Until "false"' "$sid/etc/apt/apt.conf.d"
	run grep -qr 'Check-Valid-Until' "$trixie/etc/apt/apt.conf.d"
	[ "$status" -ne 0 ]
	# The packages cannot be installed in this small root: the fault is reported and no root keeps the name.
	run "$ON/root.sh" trixie podman
	[ "$status" -eq 1 ]
	[[ $output == *'cannot install the packages in the trixie root; log: '* ]]
	[ "$(roots | wc -l)" -eq 2 ]
}

@test "PLAT-1: a command changes neither the cached root nor the host, has ids, mounts and cgroups of its own, and its status counts" {
	skip_without root
	local root before host cgroups
	root=$("$ON/root.sh" trixie 2>/dev/null)
	# Other runs of tests/on may have some.
	cgroups=$(find /sys/fs/cgroup -name 'check-on-*' | sort)
	before=$(find "$root" -printf '%p %T@ %C@\n' | sort)
	host=$(hostname; cat /proc/self/mountinfo)
	# shellcheck disable=SC2016 # for the shell inside
	run --separate-stderr "$ON/run.sh" trixie bash -c '
		echo changed >/root/file; hostname inside; echo pid $$ of $PPID; cat /proc/self/cgroup
		[ ! -e "$1" ] && [ ! -e /etc/passwd ] && [ -c /dev/null ] && [ -z "${FAKE:-}" ] || exit 9
		exit 7' sh "$SRC"
	[ "$status" -eq 7 ]
	[[ $output == *' of 1'* ]]
	# The root of a cgroup namespace, in every hierarchy; with v2 alone a cgroup below it.
	run grep -vE ':/(suite)?$' <(printf '%s\n' "${lines[@]:1}")
	[ -z "$output" ]
	[ "$(find "$root" -printf '%p %T@ %C@\n' | sort)" = "$before" ]
	[ "$(hostname; cat /proc/self/mountinfo)" = "$host" ]
	[ -z "$(find "$CACHE" -maxdepth 1 -name 'run.??????')" ]
	[ -z "$(comm -13 <(echo "$cgroups") <(find /sys/fs/cgroup -name 'check-on-*' | sort))" ]
}

@test "PLAT-1: a killed run ends its processes, and the next run removes its copy" {
	skip_without root
	local pid
	"$ON/root.sh" trixie >/dev/null 2>&1
	mkdir "$FAKE/bound"
	mkfifo "$FAKE/bound/started" "$FAKE/bound/go"
	# shellcheck disable=SC2016 # for the shell inside
	"$ON/run.sh" --bind "$FAKE/bound" trixie bash -c 'cd "$1" && exec 5>started && echo started >&5 && read -r <go' sh "$FAKE/bound" \
		>/dev/null 2>&1 3>&- &
	pid=$!
	exec 6<"$FAKE/bound/started"
	read -r <&6
	kill -9 "$pid"
	[ -z "$(cat <&6)" ]
	exec 6<&-
	[ -n "$(find "$CACHE" -maxdepth 1 -name 'run.??????')" ]
	"$ON/run.sh" trixie bash -c :
	[ -z "$(find "$CACHE" -maxdepth 1 -name 'run.??????')" ]
}

# A tree whose tests/on/suite.sh only reports.
small_tree() { # RESULTS...
	mkdir -p "$BATS_TEST_TMPDIR/tree/"{contrib,tests/on}
	cp "$SRC/contrib/check.sh" "$BATS_TEST_TMPDIR/tree/contrib/"
	printf '%s\n' "$@" >"$BATS_TEST_TMPDIR/reported"
	printf '#!/bin/sh\nfor dir; do :; done\nmkdir -p "$dir"; cp %s/reported "$dir/results"\n' "$BATS_TEST_TMPDIR" \
		>"$BATS_TEST_TMPDIR/tree/tests/on/suite.sh"
	chmod +x "$BATS_TEST_TMPDIR/tree/tests/on/suite.sh"
	fake_program dpkg-query 'echo installed'
}

@test "PLAT-1: results of another suite are counted under its name; those of sid are printed and its failures not counted" {
	skip_without root
	local check=$BATS_TEST_TMPDIR/tree/contrib/check.sh
	small_tree passed passed 'failed unit: a test' 'skipped fuse: missing: HOST-FUSE' complete
	run "$check" --on trixie
	[ "$status" -eq 1 ]
	[[ $output == *'FAILED: trixie: unit: a test'* ]]
	[[ $output == *'skipped: trixie: fuse: missing: HOST-FUSE'* ]]
	[ "${lines[-1]}" = '2 passed, 1 failed, 1 skipped' ]
	run "$check" --on sid
	[ "$status" -eq 0 ]
	[[ $output == *'FAILED  sid: unit: a test (informational'* ]]
	[ "${lines[-1]}" = '2 passed, 0 failed, 1 skipped' ]
	small_tree passed passed
	run "$check" --on trixie
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = '2 passed, 1 failed, 0 skipped' ]
	[[ $output == *'FAILED: trixie: aborted before the last suite'* ]]
}
