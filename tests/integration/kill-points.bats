#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 at every named point of a run (src/base/seam.h), then `custody recover`: nothing is missing, nothing is left.

load ../lib/suite.bash

setup() {
	SRC=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	POINTS=$SRC/tests/lib/seam-points
	suite_setup
}

teardown() {
	custody_teardown
}

# points WHO [WHAT]: of the table.
points() {
	awk -v who="$1" -v what="${2:-}" '!/^#/ && $2 == who && (what == "" || $3 == what) { print $1 }' "$POINTS"
}

@test "ISO-7: the table has the points that the sources have, 30 and more of them" {
	local in_table in_sources
	in_table=$(awk '!/^#/ { print $1 }' "$POINTS" | sort)
	in_sources=$(grep -rhoE '\bseam\("[a-z-]+"\)' "$SRC/src" "$SRC/oci" | cut -d'"' -f2 | sort)
	[ "$(uniq -d <<<"$in_sources")" = "" ]
	diff <(echo "$in_table") <(echo "$in_sources")
	[ "$(wc -l <<<"$in_table")" -ge 30 ]
}

@test "ISO-7: the product knows no such switch" {
	! grep -q CUSTODY_SEAM "$CUSTODY" || custody_fail 'it names the variable'
	CUSTODY_SEAM=go-sent CUSTODY_SEAM_LOG=$CUSTODY_HOME/log custody_run -- sh -c 'exit 7'
	assert_status 7
	[ ! -e "$CUSTODY_HOME/log" ]
}
