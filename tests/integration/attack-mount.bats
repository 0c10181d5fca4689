#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# custody-runtime against a container that shares a volume or the root with the one that is created, and exchanges its
# directories meanwhile; and against links of an image where libcrun mounts by descriptor.

# shellcheck disable=SC2016 # scripts for other shells

load ../lib/suite.bash
load ../lib/oci.bash

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	oci_setup
	V=$CUSTODY_HOME/volume
	OUT=$CUSTODY_HOME/outside
	mkdir -m 0777 "$V" "$OUT"
	EXCHANGER=
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	[ -z "$EXCHANGER" ] || kill "$EXCHANGER" 2>/dev/null || true
	oci_teardown
}
# exchange A B: again and again, until the test ends.
exchange() {
	python3 -c 'import ctypes, sys
rename = ctypes.CDLL(None).renameat2
while True: rename(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)' "$1" "$2" 3>&- &
	EXCHANGER=$!
}
volume() { # SOURCE DESTINATION OPTIONS
	edit '.mounts += [{destination: "'"$2"'", source: "'"$1"'", type: "bind", options: ['"$3"']}]'
}
user_namespace() {
	edit '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 200000, size: 65536}]
		| .linux.gidMappings = .linux.uidMappings | .mounts |= map(select(.type != "sysfs"))'
	chown -R 200000:200000 "$B/rootfs"
	chmod 0711 "$CUSTODY_HOME" "$B"
}

@test "attack: CVE-2019-16884, CVE-2026-41579: with a user namespace too, no volume lands on /, /proc, /sys or /dev by a link" {
	local to
	user_namespace
	edit '.process.args = ["/bin/busybox","echo","ran"]'
	volume "$V" /y '"rbind"'
	for to in / ../.. /proc ../proc /proc/sys /sys /dev /dev/shm; do
		ln -sfn "$to" "$B/rootfs/y"
		run rt run -b "$B" x < <(:)
		[ -z "$(ls -A "$V")" ] || { ls -lA "$V" && return 1; }
		refused link || { echo "$to" && return 1; }
	done
	ln -sfn /tmp "$B/rootfs/y"
	[ "$(rt run -b "$B" x < <(:))" = ran ]
}
@test "attack: CVE-2019-16884, CVE-2026-41579: an idmapped volume does not land on /, /proc, /sys or /dev by a link" {
	local to
	edit '.process.args = ["/bin/busybox","echo","ran"]'
	volume "$V" /y '"bind","idmap=uids=0-0-10;gids=0-0-10"'
	for to in / /proc /sys /dev; do
		ln -sfn "$to" "$B/rootfs/y"
		run rt run -b "$B" x < <(:)
		[ -z "$(ls -A "$V")" ] || { ls -lA "$V" && return 1; }
		refused link || { echo "$to" && return 1; }
	done
}

# Before the fix three of thirty runs wrote the file.
@test "attack: a read-only volume in a shared volume stays read-only while its directory is exchanged" {
	local n started=0
	mkdir "$V/d" "$CUSTODY_HOME/second"
	ln -s /second "$V/l"
	echo kept >"$OUT/file"
	volume "$CUSTODY_HOME/second" /second '"bind"'
	volume "$V" /v '"bind"'
	volume "$OUT" /v/d '"bind","ro"'
	edit '.process.args = ["/bin/sh","-c","for i in 1 2 3 4 5 6 7 8 9; do for d in d l; do echo gone 1<>/v/$d/file; done; done 2>/dev/null; exit 0"]'
	exchange "$V/d" "$V/l"
	for n in {1..60}; do
		! rt run -b "$B" x < <(:) || started=$((started + 1))
		[ "$(cat "$OUT/file")" = kept ] || { echo "written in run $n" && return 1; }
	done
	[ "$started" -gt 0 ]
	kill "$EXCHANGER"
	wait "$EXCHANGER" || true
	EXCHANGER=
	rm -rf "$V/d" "$V/l"
	rt run -b "$B" x < <(:)
	[ "$(cat "$OUT/file")" = kept ]
}
@test "attack: tmpcopyup copies into the new tmpfs only while its directory is exchanged" {
	local n
	mkdir "$V/t"
	ln -s /ro "$V/l"
	echo planted >"$V/t/planted"
	volume "$OUT" /ro '"bind","ro"'
	volume "$V" /v '"bind"'
	edit '.process.args = ["/bin/busybox","true"] | .mounts += [{destination: "/v/t", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"]}]'
	exchange "$V/t" "$V/l"
	for n in {1..60}; do
		rt run -b "$B" x < <(:) || true
		[ -z "$(ls -A "$OUT")" ] || { echo "copied in run $n" && return 1; }
	done
}
# Before the fix eleven of forty runs could write /proc/sys.
@test "attack: masked and read-only paths of /proc hold while a container with the same root exchanges /proc" {
	local n started=0
	mkdir "$B/rootfs/other"
	edit '.linux.maskedPaths = ["/proc/kcore","/proc/keys","/proc/scsi"] | .linux.readonlyPaths = ["/proc/bus","/proc/fs","/proc/irq","/proc/sys"]
		| .process.args = ["/bin/sh","-c","for d in /proc /other; do echo >$d/sys/kernel/domainname && echo written; done 2>/dev/null; exit 0"]'
	exchange "$B/rootfs/proc" "$B/rootfs/other"
	for n in {1..60}; do
		run rt run -b "$B" x < <(:)
		[[ $output != *written* ]] || { echo "written in run $n" && return 1; }
		[ "$status" -ne 0 ] || started=$((started + 1))
	done
	[ "$started" -gt 0 ]
}
@test "attack: a device of the configuration is created in the root, wherever its path leads" {
	local path
	for path in ../../../made ../../made made /dev/../../made; do
		edit '.linux.devices = [{path: "'"$path"'", type: "c", major: 1, minor: 3}]'
		run rt run -b "$B" x < <(:)
		[ -z "$(find "$CUSTODY_HOME" -name made)" ] || { find "$CUSTODY_HOME" -name made && return 1; }
		refused "path' must be" || { echo "$path" && return 1; }
	done
	edit '.process.args = ["/bin/busybox","ls","/dev/made"] | .linux.devices = [{path: "/dev/made", type: "c", major: 1, minor: 3}]'
	rt run -b "$B" x < <(:)
}
@test "attack: a mount namespace of other processes gets no file system of the container" {
	local change before
	before=$(cat /proc/self/mountinfo)
	cp "$B/config.json" "$B/good"
	for change in '"/proc/self/ns/mnt"' "\"/proc/$$/ns/mnt\"" '"/proc/1/ns/mnt"' '""'; do
		cp "$B/good" "$B/config.json"
		edit '.linux.namespaces |= map(if .type == "mount" then .path = '"$change"' else . end)'
		run unshare -m "$RT" --root "$ROOT" --cgroup-manager disabled run -b "$B" x < <(:)
		refused 'mount namespace' || { echo "$change" && return 1; }
	done
	cp "$B/good" "$B/config.json"
	edit '.linux.namespaces += [{type: "mount", path: "/proc/self/ns/mnt"}]'
	run unshare -m "$RT" --root "$ROOT" --cgroup-manager disabled run -b "$B" x < <(:)
	refused repeated
	[ "$(cat /proc/self/mountinfo)" = "$before" ]
	cp "$B/good" "$B/config.json"
	edit '.process.args = ["/bin/busybox","true"] | .linux.namespaces |= map(if .type == "mount" then .path = null else . end)'
	rt run -b "$B" x < <(:)
}
