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
