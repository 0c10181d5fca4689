# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Governed containers by hand: custody-runtime and a bundle.  Needs suite.bash and oci.bash.
# shellcheck disable=SC2016,SC2034,SC2154 # programs for jq; output is set for the test, status and output by bats

# engine_setup: as oci_setup, with a command that prints "ran".
engine_setup() {
	oci_setup
	mkdir -p "$B/rootfs/work" "$CUSTODY_ROOT/etc"
	chmod 0755 "$CUSTODY_ROOT"
	edit '.process.env = ["PATH=/bin","TOKEN_OF_ANN=ghp_swordfish"] | .process.args = ["/bin/sh","-c","echo ran"]'
}
EXPLICIT='"provenance":[{"uid":0,"intention":"explicit"}]'
conf() { # MEMBERS
	echo "{$1}" >"$CUSTODY_ROOT/etc/custody.json"
}
# sandbox.enabled and security_profile.  Directories are no image, so every container is at least a B unless policy is off.
isolated() { conf '"sandbox":{"enabled":true}'"${1:+,$1}"; }
judged() { conf '"security_profile":"balanced",'"$EXPLICIT${1:+,$1}"; }
both() { isolated '"security_profile":"balanced",'"$EXPLICIT"; }

command_is() { # SCRIPT
	edit ".process.args = [\"/bin/sh\",\"-c\",$(jq -n --arg s "$1" '$s')]"
}
last() { # KIND FILTER
	"$CUSTODY" ledger show --json "${@:3}" | jq -r --arg k "$1" "[.records[] | select(.k == \$k)] | last | $2"
}
count() { # KIND
	"$CUSTODY" ledger show --json | jq --arg k "$1" '[.records[] | select(.k == $k)] | length'
}
request() {
	"$CUSTODY" pending --json | jq -r '.requests[0].id'
}
approve() {
	"$CUSTODY" approve "$(request)" --yes "$@"
}
wardens() { # of this test
	local p
	for p in $(pgrep -x custody-warden); do
		! tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qxF "CUSTODY_ROOT=$CUSTODY_ROOT" || echo "$p"
	done
}
# kill_wardens: the backup, which is younger, first: it must not see the other one die.
kill_wardens() {
	local p
	for p in $(wardens | sort -rn); do
		kill -9 "$p"
		wait_until gone "$p"
	done
}
gone() { # PID: exited, whether or not it was reaped
	[ ! -e "/proc/$1/stat" ] || grep -q ') Z ' "/proc/$1/stat"
}
# nothing_left: no container, session, claim or process.
nothing_left() {
	[ -z "$(rt list -q)" ]
	[ ! -e "$ROOT/x" ]
	[ -z "$(ls "$CUSTODY_ROOT/run/sessions" 2>/dev/null)" ]
	[ -z "$(ls "$CUSTODY_ROOT"/*/open 2>/dev/null)" ]
	[ -z "$(wardens)" ]
}
complete() { # the ledger is whole
	"$CUSTODY" ledger verify | grep -q 'completeness:  ok'
}
# try CMD...: as `run`, but a container that was created by mistake does not keep the pipe of the output.
try() {
	status=0
	"$@" >"$CUSTODY_HOME/tried" 2>&1 </dev/null || status=$?
	output=$(cat "$CUSTODY_HOME/tried")
}
# asked LEVEL: create is refused, names the request, leaves nothing, and is recorded.
asked() {
	try rt create -b "$B" x
	refused "level $1 needs approval" "custody approve $(request)"
	[ "$(last session.refused .d.refused)" = approval ]
	nothing_left
	complete
}
live() { # the life of a container with output in $output
	rt create -b "$B" x >"$CUSTODY_HOME/out" </dev/null
	rt start x
	wait_until ended x
	rt delete x
	output=$(cat "$CUSTODY_HOME/out")
}
