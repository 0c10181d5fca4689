# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Once for all suites: which custody is tested, and what the host looked like before.

setup_suite() {
	CUSTODY=$(command -v "${CUSTODY:-custody}") || {
		echo "no custody to test: CUSTODY=/path/to/custody bats tests/integration" >&2
		return 1
	}
	export CUSTODY CUSTODY_TEST_MARK=$$-$RANDOM
	# shellcheck source=contrib/bats/custody.bash
	source "$(dirname "${BASH_SOURCE[0]}")/../../contrib/bats/custody.bash"
	# shellcheck source=tests/lib/leftovers.bash
	source "$(dirname "${BASH_SOURCE[0]}")/../lib/leftovers.bash"
	export LEFTOVERS_BEFORE=$BATS_SUITE_TMPDIR/leftovers.before
	leftovers_list >"$LEFTOVERS_BEFORE"
}
