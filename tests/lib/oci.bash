# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# custody-runtime by hand, on a bundle of busybox.  Needs suite.bash.
# shellcheck disable=SC2154 # status and output are set by bats

# oci_setup: RT, ROOT (state root), and the bundle B, whose process sleeps.
oci_setup() {
	suite_setup
	RT=${CUSTODY%/*}/custody-runtime
	ROOT=$CUSTODY_HOME/state
	make_bundle
}
oci_teardown() {
	local id
	for id in $(rt list -q); do rt delete --force "$id"; done
	custody_teardown
}
rt() {
	"$RT" --root "$ROOT" --cgroup-manager disabled "$@"
}
# make_bundle: busybox and a config.json that sleeps, in $CUSTODY_HOME/b.
make_bundle() {
	B=$CUSTODY_HOME/b
	mkdir -p "$B/rootfs/bin" "$B/rootfs/tmp" "$B/rootfs/proc" "$B/rootfs/dev" "$B/rootfs/sys"
	cp /bin/busybox "$B/rootfs/bin/busybox"
	ln -s busybox "$B/rootfs/bin/sh"
	"$RT" spec -b "$B"
	edit '.process.terminal = false | .process.args = ["/bin/busybox","sleep","100"] | .process.rlimits = []
		| .linux.namespaces |= map(select(.type != "cgroup")) | del(.linux.resources)
		| .mounts |= map(select(.type != "cgroup" and .type != "cgroup2")) | .root.readonly = false'
}
edit() { # JQ-PROGRAM
	jq "$1" "$B/config.json" >"$B/new" && mv "$B/new" "$B/config.json"
}
# refused WORDS...: the last `run` failed in words and left no container.
refused() {
	local word
	[ "$status" -eq 1 ] || { echo "status $status: $output"; return 1; }
	for word; do [[ $output == *"$word"* ]] || { echo "no '$word' in: $output"; return 1; }; done
	[ -z "$(rt list -q)" ]
	[ ! -e "$ROOT/x" ]
}
status_of() {
	rt state "$1" | jq -r .status
}
ended() {
	[ "$(status_of "$1")" = stopped ]
}
