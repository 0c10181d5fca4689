#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a unit test under valgrind; messages of valgrind become TAP comments and a failure.
# A leak counts in the test itself only: a child that ends with _exit() has its parent's objects and frees none of them.
export CUSTODY_TEST_VALGRIND=1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
(
	echo "$BASHPID" >"$tmp/pid"
	exec valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect \
		--errors-for-leak-kinds=none --log-file="$tmp/%p.log" "$@"
)
status=$?
cat "$tmp"/*.log | sed 's/^/# /'
if grep -qE 'are (definitely|indirectly) lost|\) bytes in .* definitely lost' "$tmp/$(cat "$tmp/pid").log"; then
	echo '# the test itself leaks' && status=99
fi
exit "$status"
