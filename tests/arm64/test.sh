#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a unit test of a cross build in the emulator: LOG_COMPILER of `make check`.
#
# tests/arm64/needs names the cases that need a capability of the kernel that an emulator of programs may not have.  Such a case is
# reported as skipped, with the id of the capability, if it fails and the probe reports the capability missing.
set -u
here=$(cd "$(dirname "$0")" && pwd -P)
name=${1##*/}
# shellcheck disable=SC2086 # a command and its arguments
missing=$($EMULATOR "$BUILDDIR/tests/arm64/probe") || {
	echo 'Bail out! The probe of the emulator failed.'
	exit 1
}
needs=$(grep -P "^$name\t" "$here/needs")
while IFS=$'\t' read -r _ id cases; do
	[ "$cases" != all ] || ! grep -qx "$id" <<<"$missing" || {
		echo "1..0 # SKIP missing: $id"
		exit 0
	}
done <<<"$needs"
# shellcheck disable=SC2086
$EMULATOR "$@" | awk -F '\t' -v missing="$missing" -v needs="$needs" '
	BEGIN {
		n = split(missing, ids, "\n")
		for (i = 1; i <= n; i++)
			is_missing[ids[i]] = 1
		n = split(needs, rows, "\n")
	}
	/^not ok / {
		for (i = 1; i <= n; i++) {
			split(rows[i], row, "\t")
			if (is_missing[row[2]] && $0 ~ row[3]) {
				sub(/^not /, "")
				$0 = $0 " # SKIP missing: " row[2]
				skipped++
				break
			}
		}
	}
	{ print; fflush() }'
status=${PIPESTATUS[0]}
# A program that reports failed cases returns 1; the lines above have each of them.
[ "$status" -le 1 ] || exit "$status"
