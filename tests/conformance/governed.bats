# SPDX-License-Identifier: GPL-2.0-or-later
# Governed containers of podman or docker: what is asked, approved, refused and recorded, how they end, and what is kept of them.
# shellcheck disable=SC2016 # scripts for the inside
load lib.bash
load docker.bash
load ../../contrib/bats/custody.bash
load governed.bash

setup_file() { governed_setup_file; }
teardown_file() { governed_teardown_file; }
setup() { governed_setup; }
teardown() { governed_teardown; }

# mark [OPTION...]: a container whose command leaves a line in the volume, and ends with 0.
mark() {
	run "$ENGINE" run --rm -v "$SUITE/volume:/volume" "$@" box sh -c 'echo ran >>/volume/mark'
}

@test "GOV-8: GOV-11: no grant: refused with the line that approves it; approved: one start, all recorded (sample)" {
	asks
	mark
	assert_denied
	assert_request "$CUSTODY_REQUEST" 1
	is 0 "$(marks)"
	is approval "$(last session.refused .d.refused)"
	mark
	assert_denied
	assert_request "$CUSTODY_REQUEST" 2
	approve --uses 1
	mark
	is 0 "$status"
	is 1 "$(marks)"
	ended_as exited 0
	is 'grant.reserve session.intent grant.consume session.start session.end' "$(order)"
	# Its one use is over.
	mark
	assert_denied
	is 1 "$(marks)"
}
# order: of the records of the newest session that ended.
order() {
	"$CUSTODY" ledger show --json | jq -r '.records | (map(select(.k == "session.end")) | last | .session) as $s |
		[.[] | select(.session == $s) | .k] | join(" ")'
}
