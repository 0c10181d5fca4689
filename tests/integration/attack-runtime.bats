#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# custody-runtime against an image, a configuration or a container that wants a file of the host.  docs/THREATS.md lists the
# published attacks on runc and crun, each with its test here.

# shellcheck disable=SC2016 # scripts for other shells

load ../lib/suite.bash
load ../lib/oci.bash

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	oci_setup
	OUT=$CUSTODY_HOME/outside
	mkdir "$OUT"
	NULL=$(stat -c %u:%g:%a:%t:%T /dev/null)
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	[ "$(stat -c %u:%g:%a:%t:%T /dev/null)" = "$NULL" ]
	oci_teardown
}
# user_namespace: the bundle's root is an id of its own outside.
user_namespace() {
	edit '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 200000, size: 65536}]
		| .linux.gidMappings = .linux.uidMappings | .mounts |= map(select(.type != "sysfs"))'
	chown -R 200000:200000 "$B/rootfs"
	chmod 0711 "$CUSTODY_HOME" "$B"
}
# without_dev: the image's own /dev, with nothing mounted on or below it.
without_dev() {
	edit '.mounts |= map(select(.destination | startswith("/dev") | not))'
}
link() { # NAME TARGET: in the image, instead of its directory
	rm -rf "$B/rootfs/${1:?}"
	mkdir -p "$(dirname "$B/rootfs/$1")"
	ln -s "$2" "$B/rootfs/$1"
}
untouched() { # the last `run` was refused, and nothing was made outside
	[ -z "$(ls -A "$OUT")" ] || { ls -lA "$OUT" && return 1; }
	refused "$@"
}

# --- stdio ----------------------------------------------------------------------------------------------------------
# A process inside that has become the owner may change the mode as well.
TAKE='for fd in 0 1 2; do busybox chmod 0 /proc/self/fd/$fd; busybox chown 5 /proc/self/fd/$fd; done; exit 0'
keeps_owners() { # COMMAND...
	run python3 "${BATS_TEST_DIRNAME%/*}/lib/stdio-owner.py" "$OUT" "$@"
	[ "$status" -eq 0 ]
	[ -z "$output" ] || { echo "$output" && return 1; }
}
@test "attack: exec as another user: a device, file, FIFO, socket or terminal of the host keeps owner and mode" {
	rt run -d -b "$B" x < <(:)
	keeps_owners "$RT" --root "$ROOT" --cgroup-manager disabled exec --user 1000:1000 x sh -c "$TAKE"
	jq -n --arg take "$TAKE" '{args: ["/bin/sh","-c",$take], cwd: "/", env: ["PATH=/bin"], user: {uid: 1000, gid: 1000}}' >"$B/p"
	keeps_owners "$RT" --root "$ROOT" --cgroup-manager disabled exec -p "$B/p" x
}
@test "attack: run with a user namespace: a device, file, FIFO, socket or terminal of the host keeps owner and mode" {
	user_namespace
	jq --arg take "$TAKE" '.process.args = ["/bin/sh","-c",$take]' "$B/config.json" >"$B/new" && mv "$B/new" "$B/config.json"
	keeps_owners "$RT" --root "$ROOT" --cgroup-manager disabled run -b "$B" x
	# exec joins the namespace before it gives stdio away.
	edit '.process.args = ["/bin/busybox","sleep","100"]'
	rt run -d -b "$B" x < <(:) > >(:) 2>&1
	keeps_owners "$RT" --root "$ROOT" --cgroup-manager disabled exec --user 1000:1000 x sh -c "$TAKE"
}
@test "attack: run as another user: a device, file, FIFO, socket or terminal of the host keeps owner and mode" {
	edit '.process.user = {uid: 1000, gid: 1000} | .process.args = ["/bin/sh","-c","exit 0"]'
	keeps_owners "$RT" --root "$ROOT" --cgroup-manager disabled run -b "$B" x
	# Also where the container's /dev is the host's, here a copy.
	mkdir "$CUSTODY_HOME/dev"
	mknod -m 0666 "$CUSTODY_HOME/dev/null" c 1 3
	without_dev
	edit '.mounts += [{destination: "/dev", source: "'"$CUSTODY_HOME/dev"'", type: "bind", options: ["rbind"]}]'
	keeps_owners "$RT" --root "$ROOT" --cgroup-manager disabled run -b "$B" x
	[ "$(stat -c %u:%a "$CUSTODY_HOME/dev/null")" = 0:666 ]
}
@test "runtime: a pipe is given to the process, which may open it again" {
	edit '.process.user = {uid: 1000, gid: 1000} | .process.args = ["/bin/sh","-c","echo again >/dev/stdout"]'
	[ "$(rt run -b "$B" x < <(:) | cat)" = again ]
	edit '.process.args = ["/bin/busybox","sleep","100"]'
	rt run -d -b "$B" x < <(:)
	[ "$(rt exec --user 1001 x sh -c 'echo again >/dev/stdout' < <(:) | cat)" = again ]
}
@test "attack: a directory of the host as standard input is refused" {
	run rt run -b "$B" x <"$OUT"
	refused 'standard input is a directory'
	rt run -d -b "$B" x < <(:)
	run rt exec x sh -c 'busybox ls /proc/self/fd/0/..' <"$OUT"
	[ "$status" -eq 1 ]
	[[ $output == *'standard input is a directory'* ]]
}

# --- working directory (CVE-2024-21626) -----------------------------------------------------------------------------
@test "attack: CVE-2024-21626: no descriptor is a working directory, neither the runtime's nor a leaked one" {
	local fd
	for fd in 3 4 5 6 7 8 9 10 11 12; do
		edit '.process.cwd = "/proc/self/fd/'$fd'" | .process.args = ["/bin/sh","-c","echo started; busybox pwd"]'
		run bash -c "exec 7<'$OUT' 9</; exec \"\$@\"" bash "$RT" --root "$ROOT" --cgroup-manager disabled run -b "$B" x
		[[ $output != *started* ]]
		refused
	done
	# By a link of the image, and in a directory below.
	link w /proc/self/fd/9/tmp
	edit '.process.cwd = "/w"'
	run bash -c "exec 9</; exec \"\$@\"" bash "$RT" --root "$ROOT" --cgroup-manager disabled run -b "$B" x
	[[ $output != *started* ]]
	refused
	# A descriptor that the caller passes on purpose is not a working directory either.
	edit '.process.cwd = "/proc/self/fd/3"'
	run bash -c "exec 3<'$OUT'; exec \"\$@\"" bash "$RT" --root "$ROOT" --cgroup-manager disabled run --preserve-fds 1 -b "$B" x
	[[ $output != *started* ]]
	refused "outside of the container's root"
}
@test "attack: CVE-2024-21626: exec: no descriptor is a working directory, neither the runtime's nor a leaked one" {
	local fd
	rt run -d -b "$B" x < <(:)
	for fd in 3 4 5 6 7 8 9 10; do
		run bash -c "exec 7<'$OUT' 9</; exec \"\$@\"" bash "$RT" --root "$ROOT" --cgroup-manager disabled \
			exec --cwd /proc/self/fd/$fd x sh -c 'echo started'
		[ "$status" -ne 0 ]
		[[ $output != *started* ]]
	done
	run bash -c "exec 3<'$OUT'; exec \"\$@\"" bash "$RT" --root "$ROOT" --cgroup-manager disabled \
		exec --preserve-fds 1 --cwd /proc/self/fd/3 x sh -c 'echo started'
	[ "$status" -ne 0 ]
	[[ $output != *started* && $output == *"outside of the container's root"* ]]
}
@test "attack: CVE-2024-21626: another process's root or directory is not a working directory" {
	local dir
	edit '.linux.namespaces |= map(select(.type != "pid")) | .process.args = ["/bin/sh","-c","echo started"]'
	for dir in /proc/$$/root /proc/$$/cwd /proc/$$/root/tmp/.; do
		edit '.process.cwd = "'"$dir"'"'
		run rt run -b "$B" x
		[[ $output != *started* ]]
		refused "outside of the container's root"
		run rt run --no-pivot -b "$B" x
		[[ $output != *started* ]]
		refused
	done
}
@test "attack: CVE-2024-21626: no program is found through a leaked descriptor" {
	cp /bin/busybox "$OUT/evil"
	edit '.process.args = ["/proc/self/fd/7/evil","echo","started"]'
	run bash -c "exec 7<'$OUT'; exec \"\$@\"" bash "$RT" --root "$ROOT" --cgroup-manager disabled run -b "$B" x
	[[ $output != *started* ]]
	refused 'no such file'
	edit '.process.args = ["/bin/busybox","sleep","100"]'
	rt run -d -b "$B" x < <(:)
	run bash -c "exec 7<'$OUT'; exec \"\$@\"" bash "$RT" --root "$ROOT" --cgroup-manager disabled exec x /proc/self/fd/7/evil echo started
	[ "$status" -ne 0 ]
	[[ $output != *started* ]]
}
@test "runtime: working directories of the container work, also through its own /proc" {
	edit '.process.args = ["/bin/busybox","pwd"] | .process.cwd = "/tmp/new"'
	[ "$(rt run -b "$B" x < <(:))" = /tmp/new ]
	edit '.process.cwd = "/proc/self/root/tmp"'
	[ "$(rt run -b "$B" x < <(:))" = /tmp ]
	edit '.process.cwd = "/proc/sys"'
	[ "$(rt run -b "$B" x < <(:))" = /proc/sys ]
}

# --- links in the image ---------------------------------------------------------------------------------------------
@test "attack: CVE-2026-47766, CVE-2026-41579: a /dev that is a link is refused, with and without a tmpfs on it" {
	local target
	edit '.process.args = ["/bin/busybox","true"]'
	mkdir -p "$B/rootfs/$OUT"
	for target in "$OUT" "../../outside" "/proc/self/cwd/../outside" "/proc/1/root$OUT"; do
		link dev "$target"
		run rt run -b "$B" x
		untouched "'/dev'" 'symbolic link'
	done
	without_dev
	for target in "$OUT" "../../outside" "/proc/self/cwd/../outside"; do
		link dev "$target"
		run rt run -b "$B" x
		untouched "'/dev'" 'symbolic link'
	done
	user_namespace
	chmod 0777 "$OUT"
	run rt run -b "$B" x
	untouched "'/dev'" 'symbolic link'
}
@test "attack: a path below /dev that is a link is refused where /dev is the image's" {
	local name
	edit '.mounts |= map(select(.destination != "/dev"))'
	for name in pts shm mqueue; do
		link dev/$name "$OUT"
		run rt run -b "$B" x
		untouched "'/dev/$name'" 'symbolic link'
		rm "$B/rootfs/dev/$name"
	done
	# A new file system hides it.
	link dev/shm "$OUT"
	edit '.mounts |= [{destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid"]}] + .
		| .process.args = ["/bin/busybox","true"]'
	rt run -b "$B" x < <(:)
}
@test "attack: CVE-2019-19921, CVE-2023-27561, CVE-2023-28642: a /proc or /sys that is a link is refused" {
	local name target
	edit '.process.args = ["/bin/busybox","true"]'
	mkdir -p "$B/rootfs/$OUT"
	for name in proc sys; do
		for target in "$OUT" ../../outside tmp; do
			link $name "$target"
			run rt run -b "$B" x
			untouched "'/$name'" 'symbolic link'
		done
		rm "$B/rootfs/$name"
		mkdir "$B/rootfs/$name"
	done
	# proc and sysfs elsewhere, in a directory that is a link
	link deep "$OUT"
	mkdir "$OUT/proc"
	for name in proc sysfs; do
		edit '.mounts += [{destination: "/deep/proc", type: "'$name'", source: "'$name'"}]'
		run rt run -b "$B" x
		[ -z "$(ls -A "$OUT/proc")" ]
		refused "'/deep/proc'" 'symbolic link'
		edit '.mounts |= .[:-1]'
	done
}
@test "attack: CVE-2019-16884: a /proc that is not the kernel's is refused" {
	mkdir -p "$OUT/self/attr"
	edit '.mounts |= map(select(.destination != "/proc")) + [{destination: "/proc", type: "bind", source: "'"$OUT"'", options: ["rbind"]}]'
	run rt run -b "$B" x
	refused "'/proc'" 'not a proc file system'
	edit '.mounts |= .[:-1] + [{destination: "/proc/", type: "tmpfs", source: "tmpfs"}]'
	run rt run -b "$B" x
	refused "'/proc'" 'not a proc file system'
	# With the option bind the type is a word only; jq writes no escape of its own.
	for option in bind '\\u0062ind'; do
		edit '.mounts |= .[:-1] + [{destination: "/proc", type: "proc", source: "'"$OUT"'", options: ["@"]}]'
		sed -i 's/"@"/"'"$option"'"/' "$B/config.json"
		run rt run -b "$B" x
		refused "'/proc'" 'not a proc file system'
	done
	edit '.mounts |= .[:-1] + [{destination: "//proc", type: "bind", source: "/proc", options: ["rbind"]}]
		| .linux.namespaces |= map(select(.type != "pid")) | .process.args = ["/bin/busybox","true"] | del(.linux.maskedPaths, .linux.readonlyPaths)'
	rt run -b "$B" x < <(:)
}
@test "attack: CVE-2025-52565, CVE-2026-88264: a /dev/console that is a link creates no file of the host" {
	without_dev
	edit '.process.terminal = true'
	link dev/console "$OUT/made"
	run rt create -b "$B" x
	untouched "'/dev/console'" 'symbolic link'
	# In a copy of the image's /dev the name is not followed either: at that point /dev has been mounted.
	link dev/console "$OUT/made"
	edit '.mounts += [{destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"]}]'
	run rt create -b "$B" x
	untouched
}
@test "attack: CVE-2025-31133, CVE-2026-88265: a /dev/null that is a link is refused" {
	without_dev
	edit '.process.args = ["/bin/busybox","true"]'
	mknod -m 0666 "$CUSTODY_HOME/null" c 1 3
	for target in /proc/self/exe /proc/self/fd/3 /tmp/file "$OUT/made"; do
		link dev/null "$target"
		run rt run -b "$B" x <"$CUSTODY_HOME/null"
		untouched "'/dev/null'" 'symbolic link'
	done
	# A file in its place does not become standard input.
	rm "$B/rootfs/dev/null"
	echo secret >"$B/rootfs/dev/null"
	edit '.process.args = ["/bin/busybox","cat"]'
	[ "$(echo mine | rt run -b "$B" x)" = mine ]
	run rt run -b "$B" x <"$CUSTODY_HOME/null"
	refused 'not the null device'
}
@test "attack: CVE-2025-31133: masked files are covered by the host's null device, not by the image's" {
	without_dev
	echo open >"$B/rootfs/dev/null"
	edit '.linux.maskedPaths = ["/proc/kcore", "/proc/keys"] | .process.args = ["/bin/busybox","stat","-c","%t:%T","/proc/keys"]'
	[ "$(rt run -b "$B" x < <(:))" = 1:3 ]
}
@test "attack: CVE-2024-45310: no directory of the host is created for the notification socket" {
	link run "$OUT"
	NOTIFY_SOCKET=/run/systemd/notify run rt create -b "$B" x
	untouched '/run/systemd/notify' 'symbolic link'
	rm "$B/rootfs/run"
	link run/systemd "$OUT"
	NOTIFY_SOCKET=/run/systemd/notify run rt create -b "$B" x
	untouched '/run/systemd/notify' 'symbolic link'
	# In a volume as well.
	rm -rf "$B/rootfs/run"
	mkdir "$CUSTODY_HOME/volume"
	ln -s "$OUT" "$CUSTODY_HOME/volume/systemd"
	edit '.mounts += [{destination: "/run", type: "bind", source: "'"$CUSTODY_HOME/volume"'", options: ["rbind"]}]'
	NOTIFY_SOCKET=/run/systemd/notify run rt create -b "$B" x
	untouched '/run/systemd/notify' 'symbolic link'
}
@test "attack: CVE-2019-18837, CVE-2021-30465, CVE-2024-45310: a mount and a working directory through a link stay in the image" {
	link data "$OUT"
	link back ../../outside
	echo file >"$CUSTODY_HOME/file"
	edit '.process.args = ["/bin/busybox","true"] | .process.cwd = "/data/made" | .mounts += [
		{destination: "/data/a", type: "tmpfs", source: "tmpfs"},
		{destination: "/back/b", type: "bind", source: "'"$CUSTODY_HOME/file"'", options: ["bind"]},
		{destination: "/back/c/d", type: "bind", source: "/usr", options: ["rbind"]}]'
	run rt run -b "$B" x
	[ -z "$(ls -A "$OUT")" ]
	[ -z "$(rt list -q)" ]
}
@test "attack: CVE-2021-30465, CVE-2024-45310: a directory that becomes a link while it is mounted on stays in the image" {
	local n pid
	mkdir -p "$CUSTODY_HOME/volume/d"
	ln -s "$OUT" "$CUSTODY_HOME/volume/l"
	edit '.process.args = ["/bin/busybox","true"] | .mounts += [
		{destination: "/v", type: "bind", source: "'"$CUSTODY_HOME/volume"'", options: ["rbind"]},
		{destination: "/v/d/a/b", type: "tmpfs", source: "tmpfs"},
		{destination: "/v/d/f", type: "bind", source: "/etc/hostname", options: ["bind"]}]'
	python3 -c 'import ctypes, sys
rename = ctypes.CDLL(None).renameat2
while True: rename(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)' "$CUSTODY_HOME/volume/d" "$CUSTODY_HOME/volume/l" 3>&- &
	pid=$!
	for n in {1..15}; do rt run -b "$B" x < <(:) || true; done
	kill $pid
	[ -z "$(ls -A "$OUT")" ]
}
@test "attack: CVE-2025-52881: sysctls are written to the kernel, not to what the configuration mounts over them" {
	echo mine >"$CUSTODY_HOME/file"
	edit '.linux.sysctl = {"net.ipv4.ip_forward": "1"} | .process.args = ["/bin/busybox","cat","/proc/1/net/snmp"] | .mounts += [
		{destination: "/proc/sys/net/ipv4/ip_forward", type: "bind", source: "'"$CUSTODY_HOME/file"'", options: ["bind"]}]'
	run rt run -b "$B" x < <(:)
	[ "$status" -eq 0 ]
	[ "$(cat "$CUSTODY_HOME/file")" = mine ]
	# The first number of the table is 1 where packets are forwarded.
	[[ $output == *$'\nIp: 1 '* ]]
}
@test "attack: CVE-2023-25809: without a cgroup namespace the host's cgroups cannot be written" {
	user_namespace
	edit '.mounts += [{destination: "/sys", type: "sysfs", source: "sysfs", options: ["nosuid","noexec","nodev","ro"]}]
		| .linux.namespaces |= map(select(.type != "network" and .type != "cgroup"))
		| .process.args = ["/bin/sh","-c","busybox find /sys/fs/cgroup -type f; busybox mkdir /sys/fs/cgroup/evil && echo made; exit 0"]'
	run rt run -b "$B" x < <(:)
	[ "$status" -eq 0 ]
	[[ $output != *made* && $output != */sys/fs/cgroup/*/* ]]
	[ ! -e /sys/fs/cgroup/evil ]
}
@test "attack: CVE-2021-43784: a value longer than a 16-bit length is refused, not cut" {
	edit '.process.args = ["/bin/busybox","echo","started"] | .linux.namespaces |= map(if .type == "ipc" then .path = "/" + ("x" * 70000) else . end)'
	run rt run -b "$B" x < <(:)
	[[ $output != *started* ]]
	refused 'name too long'
}
@test "attack: CVE-2025-24965: handlers that an annotation names are not loaded" {
	local name
	for name in krun wasm nosuch; do
		edit '.annotations = {"run.oci.handler": "'$name'"}'
		link .krun_config.json "$OUT/made"
		run rt create -b "$B" x
		untouched handler
	done
}

# --- hooks ----------------------------------------------------------------------------------------------------------
# long_state: more than a pipe holds, so that the write meets a hook that has exited.
long_state() {
	edit '.annotations.long = ("x" * 200000)'
}
@test "runtime: a hook that exits without reading its input is no failure" {
	local kind n
	edit '.process.args = ["/bin/busybox","true"]'
	cp /bin/true "$CUSTODY_HOME/silent"
	long_state
	for kind in prestart createRuntime createContainer poststart poststop; do
		edit '.hooks = {'$kind': [{path: "'"$CUSTODY_HOME/silent"'"}, {path: "'"$CUSTODY_HOME/silent"'", timeout: 20}]}'
		rt create -b "$B" x < <(:)
		rt start x
		wait_until ended x
		rt delete x
		[ ! -e "$ROOT/x" ]
	done
	edit '.hooks = {startContainer: [{path: "/bin/busybox", args: ["busybox","true"]}]}'
	rt run -b "$B" x < <(:)
	# The usual size: here the outcome depends on timing.
	edit 'del(.annotations.long) | .hooks = {poststop: [{path: "'"$CUSTODY_HOME/silent"'"}]}'
	for n in {1..20}; do
		rt create -b "$B" "x$n" < <(:)
		rt delete --force "x$n"
		[ ! -e "$ROOT/x$n" ]
	done
}
@test "runtime: hook and payload inherit neither an ignored nor a blocked SIGPIPE" {
	printf '#!/bin/sh\ngrep -E "^Sig(Blk|Ign)" /proc/self/status >>"%s"\n' "$CUSTODY_HOME/seen" >"$CUSTODY_HOME/hook"
	chmod +x "$CUSTODY_HOME/hook"
	long_state
	edit '.hooks = {createRuntime: [{path: "'"$CUSTODY_HOME/hook"'"}], poststop: [{path: "'"$CUSTODY_HOME/hook"'"}]}
		| .process.args = ["/bin/busybox","grep","-E","^Sig(Blk|Ign)","/proc/self/status"]'
	(trap '' PIPE && rt run -b "$B" x < <(:)) >>"$CUSTODY_HOME/seen"
	[ "$(wc -l <"$CUSTODY_HOME/seen")" -eq 6 ]
	# Bit 12 is signal 13.
	while read -r _ mask; do [ $((0x$mask & 0x1000)) -eq 0 ]; done <"$CUSTODY_HOME/seen"
}
@test "runtime: a time limit of weeks does not end a hook at once" {
	local seconds
	# In milliseconds: above INT_MAX, and just above UINT_MAX.
	for seconds in 2500000 4294968; do
		edit '.process.args = ["/bin/busybox","true"]
			| .hooks = {createRuntime: [{path: "/bin/sleep", args: ["sleep","1"], timeout: '$seconds'}]}'
		run rt run -b "$B" x < <(:)
		[ "$status" -eq 0 ] || { echo "$seconds: $output" && return 1; }
	done
}
@test "runtime: a hook that neither reads nor exits is ended by its time limit" {
	long_state
	edit '.hooks = {createRuntime: [{path: "/bin/sleep", args: ["sleep","100"], timeout: 1}]}'
	run rt create -b "$B" x < <(:)
	refused 'timeout expired'
}

# --- volumes through links of the image -------------------------------------------------------------------------------
@test "attack: CVE-2019-16884, CVE-2026-41579: a volume does not land on /, /proc, /sys or /dev by a link of the image" {
	local to
	mkdir "$CUSTODY_HOME/volume"
	edit '.process.args = ["/bin/busybox","echo","ran"]
		| .mounts += [{destination: "/data/x/..x/", source: "'"$CUSTODY_HOME/volume"'", type: "bind", options: ["rbind"]}]'
	for to in / ../../.. /proc ../../proc /proc/sys /proc/self/attr /sys /dev /dev/shm /tmp/second; do
		link data/x/..x "$to"
		ln -sfn ../dev "$B/rootfs/tmp/second"
		run rt run -b "$B" x < <(:)
		[ -z "$(ls -A "$CUSTODY_HOME/volume")" ]
		refused 'link' || { echo "$to" && return 1; }
	done
	link data/x/..x /tmp/elsewhere
	mkdir "$B/rootfs/tmp/elsewhere"
	[ "$(rt run -b "$B" x < <(:))" = ran ]
}
@test "runtime: proc, a device or a file may be bound where an engine says so" {
	mkdir -p "$B/rootfs/host/proc"
	edit '.process.args = ["/bin/busybox","head","-c","3","/host/proc/version","/proc/cpuinfo"]
		| .mounts += [{destination: "/host/proc", source: "/proc", type: "bind", options: ["rbind","ro"]},
			{destination: "/proc/cpuinfo", source: "/proc/version", type: "bind", options: ["bind","ro"]}]'
	run rt run -b "$B" x < <(:)
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
	[ "$(grep -c Lin <<<"$output")" -eq 2 ]
}

# --- values that libcrun ignores or misreads ----------------------------------------------------------------------------
@test "attack: an id that is no id does not mean root, in config.json and in exec -p" {
	local id key
	edit '.process.args = ["/bin/busybox","id"]'
	cp "$B/config.json" "$B/good"
	for key in uid gid additionalGids; do
		for id in '"1000"' '"0x3e8"' true '{}' '[[1]]' '["1"]' 4294967295 4294967296 '[4294967295]' -1 1.5; do
			jq --argjson id "$id" '.process.user = {uid: 5, gid: 5} | .process.user.'$key' = $id' "$B/good" >"$B/config.json"
			run rt run -b "$B" x < <(:)
			refused "$key" || { echo "$key $id" && return 1; }
		done
	done
	cp "$B/good" "$B/config.json"
	edit '.process.args = ["/bin/busybox","sleep","100"]'
	rt run -d -b "$B" x < <(:) > >(:) 2>&1
	for id in '"1000"' true 4294967295; do
		jq -n --argjson id "$id" '{args: ["/bin/busybox","id"], cwd: "/", user: {uid: $id, gid: 5}}' >"$B/p"
		run rt exec -p "$B/p" x
		[ "$status" -eq 1 ]
		[[ $output == *uid* && $output != *gid=* ]] || { echo "$id: $output" && return 1; }
	done
}
@test "attack: a protection whose value has the wrong type is refused, not dropped" {
	local change
	cp "$B/config.json" "$B/good"
	for change in '.process.noNewPrivileges = "true"' '.process.capabilities = []' '.process.capabilities.bounding = "CAP_KILL"' \
		'.process.apparmorProfile = ["p"]' '.process.selinuxLabel = 1' '.root.readonly = "true"' '.root.readonly = 1' '.linux = []' \
		'.linux.namespaces = {}' '.linux.seccomp = []' '.linux.seccomp = "x"' '.linux.maskedPaths = "/proc/kcore"' \
		'.linux.maskedPaths = [1]' '.linux.readonlyPaths = {}' '.linux.uidMappings = {}' '.linux.resources = []' \
		'.linux.resources.devices = {}' '.linux.resources.pids = [5]' '.linux.resources.pids.limit = "5"' \
		'.linux.resources.memory.limit = "50M"' '.linux.resources.cpu.quota = "5"' '.process = []' '.process.user = 5' \
		'.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: {names: ["mkdir"], action: "SCMP_ACT_ERRNO"}}' \
		'.linux.seccomp = {defaultAction: "SCMP_ACT_ERRNO", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ALLOW", args: "x"}]}' \
		'.hooks = {prestart: {path: "/bin/false"}}' '.hooks = {prestart: ["/bin/false"]}' '.hooks = []' \
		'.hooks = {prestart: [{path: "/bin/true", timeout: "1"}]}' '.mounts[0].options = "ro"' '.mounts[0].options = [5]' \
		'.linux.namespaces[0].path = 5' '.linux.uidMappings = [{containerID: "0", hostID: 5, size: 1}]' \
		'.linux.resources.devices = [{allow: "false", access: "rwm"}]' '.linux.intelRdt.closID = "../../x"' \
		'.linux.resources.hugepageLimits = "x"' '.linux.resources.hugepageLimits = [{pageSize: "2MB", limit: "0"}]' \
		'.linux.resources.rdma = 5' '.linux.resources.network.classID = "5"' '.linux.resources.blockIO.weight = "10"' \
		'.linux.resources.blockIO.throttleReadBpsDevice = "x"' '.linux.resources.memory.swappiness = "5"' \
		'.linux.resources.blockIO.throttleReadBpsDevice = [{major: 8, minor: 0, rate: "5"}]' '.process.oomScoreAdj = "5"' \
		'.linux.devices = [{path: "/dev/x", type: "c", major: "1", minor: 3}]' '.linux.devices = [{path: "/dev/x", type: "x"}]' \
		'.linux.devices = ["/dev/x"]' '.hooks = {prestart: [{path: "true"}]}' '.hooks = {prestart: [{path: "./true"}]}'; do
		cp "$B/good" "$B/config.json"
		edit "$change"
		run rt run -b "$B" x < <(:)
		refused 'config.json' || { echo "$change" && return 1; }
	done
	# null is "not set", as for runc.
	cp "$B/good" "$B/config.json"
	edit '.process.args = ["/bin/busybox","true"] | .linux.seccomp = null | .process.noNewPrivileges = null | .linux.resources = null'
	rt run -b "$B" x < <(:)
}
@test "attack: update: a limit of the wrong type is refused, not dropped" {
	local text
	rt run -d -b "$B" x < <(:) > >(:) 2>&1
	for text in '{"pids":{"limit":"5"}}' '{"pids":5}' '{"memory":{"limit":"50M"}}' '{"cpu":{"quota":"5"}}' '{"blockIO":{"weight":"5"}}' \
		'{"pids":{"limit":5},"pids":{"limit":7}}' '{"hugepageLimits":{}}' '{"p\u0069ds":{"limit":5}}'; do
		run rt update -r - x <<<"$text"
		[ "$status" -eq 1 ] || { echo "$text: $output" && return 1; }
		[[ $output == *resources* ]] || { echo "$text: $output" && return 1; }
	done
}
@test "attack: a cgroupsPath that leaves the cgroup file systems is refused and makes no directory" {
	local path
	for path in "/../../../../../../../..$OUT/x" "../../../../../../../..$OUT/x" /a/.. .. "/a/../../../../../../..$OUT/x"; do
		edit '.linux.cgroupsPath = "'"$path"'"'
		run "$RT" --root "$ROOT" run -b "$B" x < <(:)
		untouched cgroupsPath || { echo "$path" && return 1; }
	done
}
@test "attack: without a mount namespace nothing is mounted on the host" {
	local change before
	before=$(cat /proc/self/mountinfo)
	cp "$B/config.json" "$B/good"
	for change in 'null' '[]' 'map(select(.type != "mount"))'; do
		cp "$B/good" "$B/config.json"
		edit ".linux.namespaces |= $change | del(.hostname)"
		# Private: what a fault mounts ends with this shell.
		run unshare -m --propagation private sh -c '"$@" </dev/zero; status=$?; cat /proc/self/mountinfo >"$0"; exit $status' \
			"$OUT/mounts" "$RT" --root "$ROOT" --cgroup-manager disabled run -b "$B" x
		if grep -F "$B" "$OUT/mounts"; then return 1; fi
		refused 'mount namespace' || { echo "$change" && return 1; }
	done
	[ "$(cat /proc/self/mountinfo)" = "$before" ]
}
