#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Attacks on governed containers: a hostile config.json, bundle or image, and a caller who races files.  By hand, with a bundle.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # scripts for other shells; variables of one test; status is set by bats

load ../lib/suite.bash
load ../lib/oci.bash

setup() {
	[ "$(id -u)" -eq 0 ] || skip 'missing: root'
	oci_setup
	HOST=$CUSTODY_HOME/host
	mkdir -p "$B/rootfs/work" "$CUSTODY_ROOT/etc" "$HOST"
	chmod 0755 "$CUSTODY_ROOT"
	echo of-the-host >"$HOST/file"
	isolated
}
teardown() {
	[ "$(id -u)" -eq 0 ] || return 0
	oci_teardown
}
isolated() {
	echo '{"sandbox":{"enabled":true}}' >"$CUSTODY_ROOT/etc/custody.json"
}
command_is() { # SCRIPT
	edit ".process.args = [\"/bin/sh\",\"-c\",$(jq -n --arg s "$1" '$s')]"
}
mount_is() { # JSON: one more
	edit ".mounts += [$1]"
}
last() { # KIND FILTER
	"$CUSTODY" ledger show --json | jq -r --arg k "$1" "[.records[] | select(.k == \$k)] | last | $2"
}
# try CMD...: as `run`, but a container that was created by mistake does not keep the pipe of the output.
try() {
	status=0
	"$@" >"$CUSTODY_HOME/tried" 2>&1 </dev/null || status=$?
	output=$(cat "$CUSTODY_HOME/tried")
}
# stopped WORDS...: run was refused in words, the command did not run, no container is left.
stopped() {
	try rt run -b "$B" x
	refused "$@"
	[[ $output != *RAN* ]]
}

@test "CARD-7: file systems of the host do not come in by the type of a mount" {
	local type
	command_is 'echo RAN; cat /x/file; echo changed >/x/file'
	mkdir "$CUSTODY_HOME/of-overlay"
	cp "$B/config.json" "$B/same"
	mount_is '{destination:"/x",type:"overlay",source:"overlay",options:["lowerdir=/tmp","upperdir='"$HOST"'","workdir='"$CUSTODY_HOME/of-overlay"'"]}'
	stopped "'mounts[" overlay rw-root
	[ "$(cat "$HOST/file")" = of-the-host ]
	for type in ext4 debugfs tracefs bpf devtmpfs securityfs; do
		cp "$B/same" "$B/config.json"
		mount_is '{destination:"/x",type:"'$type'",source:"/dev/vda"}'
		stopped "'mounts[" "$type" rw-root
	done
}
@test "CARD-7: no second /proc or /sys, which nothing masks" {
	command_is 'echo RAN; cat /x/kernel/uevent_seqnum /x/sys/kernel/core_pattern'
	cp "$B/config.json" "$B/same"
	mount_is '{destination:"/x",type:"proc",source:"proc"}'
	stopped "'mounts[" no-masked-paths
	cp "$B/same" "$B/config.json"
	mount_is '{destination:"/x",type:"sysfs",source:"sysfs"}'
	stopped "'mounts[" no-masked-paths
	# The one that is there is read-only, whatever was asked.
	cp "$B/same" "$B/config.json"
	command_is 'busybox grep -o "^sysfs /sys sysfs r[ow]" /proc/mounts'
	edit '(.mounts[] | select(.type == "sysfs") | .options) = ["nosuid","rw"]'
	try rt run -b "$B" x
	[ "$status" -eq 0 ] && [ "$output" = 'sysfs /sys sysfs ro' ]
}
@test "CARD-7: a relative source of a bind is that of the bundle" {
	command_is 'echo RAN; echo changed >/x/file'
	# From $CUSTODY_HOME/b.
	mount_is '{destination:"/x",type:"bind",source:"../../../../../../etc",options:["bind"]}'
	stopped "'mounts[" 'writing' "'/etc'"
	mount_is '{destination:"/",type:"bind",source:"'"$HOST"'",options:["bind"]}'
	edit 'del(.mounts[-2])'
	stopped 'not the root'
	[ "$(cat "$HOST/file")" = of-the-host ]
}
@test "GOV-11: started by another runtime: killed, recorded, and the approval is used up" {
	echo '{"security_profile":"balanced","provenance":[{"uid":0,"intention":"explicit"}]}' >"$CUSTODY_ROOT/etc/custody.json"
	command_is 'echo RAN; busybox sleep 100'
	try rt create -b "$B" x
	refused 'level B needs approval'
	"$CUSTODY" approve "$("$CUSTODY" pending --json | jq -r '.requests[0].id')" --yes --uses 1
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	# What libcrun does to start a container.
	timeout 10 sh -c 'printf x >"$0"' "$ROOT/x/exec.fifo"
	wait_until ended x
	wait_until ledger_has session.end
	[ "$(last session.end .d.reason)" = violation ]
	[ "$(last grant.consume .k)" = grant.consume ]
	rt delete x
	try rt create -b "$B" x
	refused 'level B needs approval'
	# One that is over before it was seen.
	isolated
	command_is 'echo RAN'
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	timeout 10 sh -c 'printf x >"$0"' "$ROOT/x/exec.fifo"
	wait_until ended x
	rt delete x
	[ "$(last session.end .d.reason)" = violation ]
}
ledger_has() { # KIND
	[ "$(last "$1" .k)" = "$1" ]
}
# exchanged CMD...: between the verdict and libcrun, while create waits for a lock that this test holds.
exchanged() {
	local pid lock
	"$CUSTODY" approve "$("$CUSTODY" pending --json | jq -r '.requests[0].id')" --yes --uses 1
	exec {lock}>>"$CUSTODY_ROOT/sandbox/grants/lock"
	flock "$lock"
	rt create -b "$B" x >"$CUSTODY_HOME/tried" 2>&1 </dev/null {lock}>&- &
	pid=$!
	wait_until waits_for "$CUSTODY_ROOT/sandbox/grants/lock"
	"$@"
	flock -u "$lock"
	status=0
	wait "$pid" || status=$?
	output=$(cat "$CUSTODY_HOME/tried")
}
waits_for() { # LOCK
	grep -q -- "-> FLOCK .*:$(stat -c %i "$1") " /proc/locks
}
asks() {
	echo '{"sandbox":{"enabled":true},"security_profile":"balanced","provenance":[{"uid":0,"intention":"explicit"}]}' >"$CUSTODY_ROOT/etc/custody.json"
	try rt create -b "$B" x
	refused 'needs approval'
}
@test "CARD-7: a source or a root that is exchanged after the verdict is not used" {
	command_is 'echo RAN; cat /x/file'
	mkdir "$CUSTODY_HOME/good"
	ln -s good "$CUSTODY_HOME/link"
	cp "$B/config.json" "$B/same"
	mount_is '{destination:"/x",type:"bind",source:"'"$CUSTODY_HOME/link"'",options:["bind","ro"]}'
	asks
	exchanged ln -sfn host "$CUSTODY_HOME/link"
	refused "'mounts[" exchanged
	cp "$B/same" "$B/config.json"
	cp -a "$B/rootfs" "$B/evil"
	mv "$B/rootfs" "$B/real"
	ln -s real "$B/rootfs"
	asks
	exchanged ln -sfn evil "$B/rootfs"
	refused root.path exchanged
	[ "$(readlink "$B/rootfs")" = evil ]
}
@test "CARD-7: a link of the image does not hide which program a bind brings" {
	mkdir "$B/rootfs/data"
	cp /bin/busybox "$B/rootfs/data/tool"
	ln -s /data/tool "$B/rootfs/bin/tool"
	cp /bin/busybox "$HOST/tool"
	mount_is '{destination:"/data",type:"bind",source:"'"$HOST"'",options:["bind","ro"]}'
	edit '.process.args = ["/bin/tool","echo","RAN"]'
	stopped 'args[0]'
}
@test "GOV-9: of two variables PATH libcrun takes the last one, and so does the subject" {
	mkdir "$B/rootfs/other"
	printf '#!/bin/sh\necho no\n' >"$B/rootfs/bin/tool"
	printf '#!/bin/sh\necho right\n' >"$B/rootfs/other/tool"
	chmod 755 "$B/rootfs/bin/tool" "$B/rootfs/other/tool"
	edit '.process.env = ["PATH=/bin","PATH=/other"] | .process.args = ["tool","echo","right"]'
	try rt run -b "$B" x
	[ "$status" -eq 0 ] && [ "$output" = right ]
}
@test "GOV-8: a descriptor of the caller or a hook is an effect on the host" {
	echo '{"sandbox":{"enabled":true},"security_profile":"balanced","provenance":[{"uid":0,"intention":"explicit"}]}' >"$CUSTODY_ROOT/etc/custody.json"
	command_is 'echo RAN; echo changed >/proc/self/fd/3/file'
	edit '.root.readonly = true'
	status=0
	rt run --preserve-fds 1 -b "$B" x 3<"$HOST" >"$CUSTODY_HOME/tried" 2>&1 </dev/null || status=$?
	output=$(cat "$CUSTODY_HOME/tried")
	refused 'needs approval'
	[ "$(cat "$HOST/file")" = of-the-host ]
}
