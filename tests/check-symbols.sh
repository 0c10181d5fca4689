#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# TAP: no external name of ours is also one of libcrun's; static linking would clash or, worse, substitute.
echo 1..1
desc="our external names are not libcrun's"
globals() {
	"${NM:-nm}" -g --defined-only "$@" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
globals "$BUILDDIR"/lib*.a >"$tmp/ours"
globals "$LIBCRUN_A" >"$tmp/theirs"
both=$(comm -12 "$tmp/ours" "$tmp/theirs")
# An empty list means that nm failed, not that all is well.
if [ -s "$tmp/ours" ] && [ -s "$tmp/theirs" ] && [ -z "$both" ]; then
	echo "ok 1 - $desc"
else
	echo "# $(wc -l <"$tmp/ours") of ours, $(wc -l <"$tmp/theirs") of libcrun's, in both:"
	printf '%s\n' "$both" | sed 's/^/# /'
	echo "not ok 1 - $desc"
fi
