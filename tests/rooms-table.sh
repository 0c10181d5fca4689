#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the table of rooms of docs/design/README.md, made from tests/rooms.  With --write it replaces the table in that page.
# tests/check-map.sh fails when the page and tests/rooms differ.
cd "${SRCDIR:-$(dirname "$0")/..}" || exit 1
rooms=${ROOMS:-tests/rooms} page=docs/design/README.md
table() {
	echo '| room | contents | may include |'
	echo '|---|---|---|'
	awk '
		/^#/ || !/:/ { next }
		{
			name = $0; sub(/:.*/, "", name)
			deps = $0; sub(/^[^:]*:/, "", deps); sub(/#.*/, "", deps); $0 = deps; $1 = $1; deps = $0
			print name "\t" deps
		}' "$rooms" | while IFS='	' read -r name deps; do
		text=$(sed -n "s|^$name:[^#]*# *||p" "$rooms")
		case $name in oci/*) dir=$name ;; *) dir=src/$name ;; esac
		# A room that is only planned has no folder to name.
		[ -d "$dir" ] || dir="$name (no folder yet)"
		printf '| %s | %s | %s |\n' "$dir" "$text" "$deps"
	done
}
if [ "${1:-}" != --write ]; then
	table
	exit
fi
new=$(mktemp) || exit 1
trap 'rm -f "$new"' EXIT
table >"$new"
awk -v table="$new" '
	/<!-- \/rooms -->/ { skip = 0 }
	!skip
	/<!-- rooms:/ { while ((getline line < table) > 0) print line; skip = 1; found = 1 }
	END { exit !found }' "$page" >"$page.new" && mv "$page.new" "$page"
