#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2154 # scripts for another shell; set by bats
#
# CARD-3: the hooks of a bundle, called with states that are not, or no longer, those of a container.

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	suite_setup
	umask 022
	HOOK=${CUSTODY_LIBEXEC:-$(dirname "$(readlink -f "$CUSTODY")")/../libexec/custody}/custody-hook
}
teardown() {
	custody_teardown
}

@test "CARD-3: a number that is no longer the container's: nothing is mounted over the host" {
	[ "$(id -u)" -eq 0 ] || skip "as a user the runtime has entered the container by itself"
	bundle -- true
	jq -r '.hooks.createRuntime[] | select(.args[1] == "mount") | .args[2]' "$BUNDLE/config.json" >"$CUSTODY_HOME/plan"
	# The host of this test is a mount namespace of its own, with mounts that are shared as a host's are.
	run --separate-stderr unshare -m --propagation shared bash -c 'sleep 1000 &
		trap "kill $!" EXIT
		grep -o "shared:" /proc/self/mountinfo | wc -l >"$3/before"
		jq -nc --argjson pid $! --arg bundle "$2" "{ociVersion: \"1.0.2\", id: \"stale\", \$pid, \$bundle, status: \"created\"}" |
			"$1" mount "$(cat "$3/plan")"
		status=$?
		grep -o "shared:" /proc/self/mountinfo | wc -l >"$3/after"
		grep -F "$2" /proc/self/mountinfo
		exit $status' - "$HOOK" "$BUNDLE" "$CUSTODY_HOME"
	assert_status 1
	[ -z "$output" ] || custody_fail "mounted: $output"
	assert_stderr_has "has the host's mounts"
	[ "$(cat "$CUSTODY_HOME/before")" -gt 0 ]
	[ "$(cat "$CUSTODY_HOME/before")" = "$(cat "$CUSTODY_HOME/after")" ] || custody_fail "the host's mounts were detached"
}

@test "CARD-3: messages of a hook escape control sequences in names" {
	odd=$CUSTODY_HOME/$'odd\e[31m\xc2\x9b5m'
	mkdir "$CUSTODY_HOME/real"
	ln -s real "$odd"
	run --separate-stderr "$HOOK" approve --lane=sandbox --security=balanced --env=CUSTODY_ROOT="$CUSTODY_ROOT" \
		--env=CUSTODY_LIBEXEC="$(dirname "$HOOK")" \
		< <(jq -nc --arg bundle "$odd" '{ociVersion: "1.0.2", id: "odd", pid: 1, $bundle, status: "creating"}')
	assert_status 1
	[ -s "$odd/custody-hook.err" ] && [[ $stderr == *odd* ]]
	if printf '%s' "$stderr" | cat - "$odd/custody-hook.err" | LC_ALL=C grep -q $'\x1b\|\xc2\x9b'; then
		custody_fail "sent as it is: $(printf '%s' "$stderr" | cat -v)"
	fi
	# And it is a record.
	grep -q '"k":"session.refused"' "$CUSTODY_ROOT"/sandbox/ledger/*.ndjson
}
