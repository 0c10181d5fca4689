#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Rewrites the generated sections of the manual pages from the command table.
#
#	docs/man/sections.sh CUSTODY		rewrite the pages beside this script
#	docs/man/sections.sh CUSTODY OUT	write all pages with such sections to the directory OUT instead
#
# A section stands between "<!-- generated: SECTION COMMAND... -->" and "<!-- end -->"; SECTION is synopsis or options.
set -eu
custody=$1
pages=$(cd "$(dirname "$0")" && pwd)
out=${2:-}

# section SYNOPSIS|OPTIONS COMMAND...
section() {
	local kind=$1 name
	shift
	[ "$kind" != synopsis ] || echo
	for name in "$@"; do
		"$custody" help --section "$kind" "$name"
	done
	echo
}

# rewrite PAGE
rewrite() {
	local line inside=0 words
	while IFS= read -r line; do
		if [[ $line == '<!-- generated: '*' -->' ]]; then
			words=${line#<!-- generated: }
			echo "$line"
			# shellcheck disable=SC2086 # words
			section ${words% -->}
			inside=1
		elif [[ $line == '<!-- end -->' ]]; then
			inside=0
		fi
		[ "$inside" = 1 ] || printf '%s\n' "$line"
	done <"$1"
}

for page in "$pages"/*.md; do
	grep -q '^<!-- generated: ' "$page" || continue
	text=$(rewrite "$page")
	if [ -n "$out" ]; then
		printf '%s\n' "$text" >"$out/${page##*/}"
	elif [ "$text" != "$(cat "$page")" ]; then
		printf '%s\n' "$text" >"$page"
		echo "rewrote ${page##*/}"
	fi
done
