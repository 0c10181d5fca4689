#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# custody-runtime without its plug-in behaves like crun: no trace of custody.
# shellcheck disable=SC2016 # scripts for other shells

load ../lib/suite.bash

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	suite_setup
	RT=${CUSTODY%/*}/custody-runtime
	make_bundle
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	custody_teardown
}

# A container that prints what it sees of itself, and a config.json that no writer of JSON would give back.
make_bundle() {
	local b=$CUSTODY_HOME/b
	mkdir -p "$b"/rootfs/{bin,tmp,proc,dev,sys}
	cp /bin/busybox "$b/rootfs/bin/busybox"
	cat >"$b/rootfs/look" <<-'SCRIPT'
		echo out
		echo err >&2
		busybox grep -E '^(Uid|Gid|Groups|Cap|NoNew|Seccomp|Sig[PBIC]|Umask|Threads)' /proc/self/status
		busybox mount
		busybox env
		busybox ls -ln /dev | busybox awk '{ print $1, $3, $4, $NF }'
		busybox ls /proc/self/fd
		busybox cat /proc/self/limits /proc/self/oom_score_adj
		exit 7
	SCRIPT
	"$RT" spec -b "$b"
	jq '.process.terminal = false | .process.rlimits = [] | .root.readonly = false
		| .linux.namespaces |= map(select(.type != "cgroup")) | del(.linux.resources)
		| .mounts |= map(select(.type != "cgroup" and .type != "cgroup2"))
		| .process.args = ["/bin/busybox","sh","/look"] | .annotations = {"a": "\u00e9/"}' "$b/config.json" >"$b/new"
	# Blanks, escapes and an order of their own.
	sed 's/"annotations"/  "annotations"  /; s/é/\\u00e9/; s,/",\\/",' "$b/new" >"$b/config.json"
	printf '\n\n' >>"$b/config.json"
	rm "$b/new"
}

# in_copy NAME RUNTIME [CUSTODY.JSON]: on a copy on write of the host, with an empty /run and /tmp, RUNTIME lives two
# containers' lives.  What it printed is in NAME.out and NAME.err; every file that came, went or changed in NAME.files.
in_copy() {
	cat >"$CUSTODY_HOME/life" <<-'SCRIPT'
		rt=$1 root=/run/${1##*/}
		cd /run/bundle
		"$rt" run one </dev/null
		echo "run: $?"
		"$rt" create two </dev/null >/run/two.out 2>&1
		echo "create: $?"
		"$rt" state two
		! cmp /run/bundle/config.json "$root/two/config.json" || echo 'libcrun had the same bytes'
		"$rt" start two
		echo "start: $?"
		until [[ $("$rt" state two) == *stopped* ]]; do :; done
		"$rt" delete two
		echo "delete: $?"
		"$rt" delete --force two
		echo "again: $?"
		cat /run/two.out
		rm /run/two.out
	SCRIPT
	run unshare -m --propagation private bash -euc '
		dir=$1 rt=$2 config=$3
		mkdir "$dir"
		mount -t tmpfs -o mode=755 tmpfs "$dir"
		mkdir "$dir"/{up,work,root}
		mount -t overlay -o "lowerdir=/,upperdir=$dir/up,workdir=$dir/work" overlay "$dir/root"
		cd "$dir/root"
		mount -t proc proc proc
		mount --rbind /dev dev
		mount --rbind /sys sys
		# crun refuses a host with both versions.
		! mountpoint -q sys/fs/cgroup/unified || umount sys/fs/cgroup/unified
		mount -t tmpfs -o mode=755 tmpfs run
		mount -t tmpfs -o mode=1777 tmpfs tmp
		mkdir run/bin run/bundle run/home
		mount --bind "${rt%/*}" run/bin
		cp -a "$CUSTODY_HOME/b/." run/bundle
		cp "$CUSTODY_HOME/life" run/life
		if [ -n "$config" ]; then
			mkdir -p etc/custody
			printf "%s" "$config" >etc/custody/custody.json
		fi
		list() {
			{
				find "$dir/up" \( -type f -printf "%s " , -printf "%m %U %y /%P\n" \)
				find run tmp -xdev -path run/bin -prune -o \( -type f -printf "%s " , -printf "%m %U %y /%p\n" \)
			} | LC_ALL=C sort
		}
		list >"$dir/before"
		chroot . env -i PATH=/usr/bin:/bin HOME=/run/home USER=root bash /run/life "/run/bin/${rt##*/}" >"$dir.out" 2>"$dir.err"
		list | LC_ALL=C diff "$dir/before" - | sed -n "s/^\([<>]\)/\1/p" >"$dir.files"' sh "$CUSTODY_HOME/$1" "$2" "${3:-}"
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
}
# What differs between any two containers, and the name of the program.
plain() { # FILE
	sed -E 's/"pid": ?[0-9]+/"pid": N/; s/"created": ?"[^"]*"/"created": T/; s/custody-runtime/crun/g' "$CUSTODY_HOME/$1"
}
is_crun() { # NAME
	local kind
	for kind in out err files; do
		diff <(plain "crun.$kind") <(plain "$1.$kind") || return
	done
}

OFF='{"sandbox":{"enabled":false},"security_profile":"off"}'

@test "ISO-14: without a custody.json the runtime has zero effect: it is crun" {
	in_copy crun "$(command -v crun)"
	in_copy ours "$RT"
	is_crun ours
	# And the lists above were not empty.
	grep -qx 'libcrun had the same bytes' "$CUSTODY_HOME/ours.out"
	grep -qx 'run: 7' "$CUSTODY_HOME/ours.out"
	[ "$(cat "$CUSTODY_HOME/ours.files")" = '> 700 0 d /run/custody-runtime' ]
}

@test "ISO-14: enabled:false and security_profile:off in custody.json have zero effect" {
	in_copy crun "$(command -v crun)"
	in_copy ours "$RT" "$OFF"
	is_crun ours
	grep -qx 'libcrun had the same bytes' "$CUSTODY_HOME/ours.out"
}

@test "ISO-14: the comparison sees one file, one byte and one variable too many" {
	local what fake=$CUSTODY_HOME/bin/custody-runtime
	mkdir "$CUSTODY_HOME/bin"
	cp "$RT" "$CUSTODY_HOME/bin/real"
	in_copy crun "$(command -v crun)"
	for what in 'mkdir -p /var/lib/custody/zero' 'touch /run/home/.x' 'chmod 0750 /root' '[ "$1" != start ] || echo' 'ulimit -n 99' \
		'[ "$1" != create ] || sed -i "s/  / /" config.json; [ "$1" != state ] || echo "  " >>config.json'; do
		printf '#!/bin/bash\n%s\nexec /run/bin/real --root /run/custody-runtime "$@"\n' "$what" >"$fake"
		chmod 0755 "$fake"
		rm -rf "$CUSTODY_HOME"/fake*
		in_copy fake "$fake"
		! is_crun fake >/dev/null || { echo "not seen: $what" && return 1; }
	done
	printf '#!/bin/bash\nexec /run/bin/real --root /run/custody-runtime "$@"\n' >"$fake"
	rm -rf "$CUSTODY_HOME"/fake*
	in_copy fake "$fake"
	is_crun fake
}

# calls VERB NAME [ARGUMENT...]: the system calls of the runtime itself, by name and error, in NAME.VERB.  Memory is left out, and of
# custody.json its reading: all up to the end of it.
calls() {
	local verb=$1 name=$2
	shift 2
	strace -qq -e signal=none -o "$CUSTODY_HOME/trace" "$RT" --root "$CUSTODY_HOME/s" --cgroup-manager disabled "$verb" "$@" x \
		</dev/null >"$CUSTODY_HOME/out"
	awk '/custody\.json", O_RDONLY/ { n = NR; open = !/ENOENT/ } open && NR > n && /^close\(/ { n = NR; open = 0 } { l[NR] = $0 }
		END { for (i = n + 1; i <= NR; i++) print l[i] }' "$CUSTODY_HOME/trace" |
		sed -E 's/\(.*= (-1 E[A-Z]+)?.*/ \1/; s/\(.*//' | grep -vxE '(brk|mmap|munmap|mprotect) ?' >"$CUSTODY_HOME/$name.$verb"
	[ "$(wc -l <"$CUSTODY_HOME/$name.$verb")" -gt 10 ]
}
# traced_life NAME [CUSTODY.JSON]: twice, because the first one makes directories.
traced_life() {
	rm -rf "$CUSTODY_ROOT"
	mkdir -p "$CUSTODY_ROOT/etc"
	[ -z "${2:-}" ] || printf %s "$2" >"$CUSTODY_ROOT/etc/custody.json"
	for _ in 1 2; do
		calls create "$1" -b "$CUSTODY_HOME/b"
		calls start "$1"
		wait_until is_stopped
		calls state "$1"
		calls delete "$1"
	done
}
is_stopped() {
	[ "$("$RT" --root "$CUSTODY_HOME/s" --cgroup-manager disabled state x | jq -r .status)" = stopped ]
}

@test "ISO-14: with both switches off each verb makes the system calls that it makes without a custody.json" {
	local verb
	jq '.process.args = ["/bin/busybox", "true"]' "$CUSTODY_HOME/b/config.json" >"$CUSTODY_HOME/new"
	mv "$CUSTODY_HOME/new" "$CUSTODY_HOME/b/config.json"
	traced_life without
	traced_life off "$OFF"
	traced_life on '{"sandbox":{"enabled":true}}'
	for verb in create start state delete; do
		diff "$CUSTODY_HOME/without.$verb" "$CUSTODY_HOME/off.$verb"
	done
	# And the lists tell a governed container apart.
	for verb in create start delete; do
		run ! diff -q "$CUSTODY_HOME/without.$verb" "$CUSTODY_HOME/on.$verb"
	done
}
