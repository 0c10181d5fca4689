#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the tables of docs/design/engine.md, made from oci/engine/engine-field.c and oci/engine/engine-annotation.c.  With --write
# it replaces them in that page.  tests/check-map.sh fails when they differ.
cd "${SRCDIR:-$(dirname "$0")/..}" || exit 1
page=docs/design/engine.md
fields() {
	echo '| member | rule | how, or why |'
	echo '|---|---|---|'
	awk '
		/^(static )?const struct engine_field [a-z_]*\[\] = \{/ { table = $0; sub(/\[\].*/, "", table); sub(/.* /, "", table) }
		/^\t\{ "/ {
			split($0, part, "\"")
			rest = part[3]
			gsub(/[ \t]/, "", rest)
			split(rest, word, ",")
			n[table]++
			row = table SUBSEP n[table]
			key[row] = part[2]; rule[row] = word[2]; inside[row] = word[3]
			what = $0
			sub(/^[^"]*"[^"]*"[^"]*"/, "", what)
			sub(/" \},?[ \t]*$/, "", what)
			gsub(/\\"/, "\"", what)
			text[row] = what
		}
		function name(rule) {
			return rule == "ENGINE_REFUSE" ? "refuse" : rule == "ENGINE_INTERSECT" ? "intersect" : \
				rule == "ENGINE_SUBJECT" ? "in the subject" : "noise"
		}
		function show(table, prefix,    i, row, path) {
			for (i = 1; i <= n[table]; i++) {
				row = table SUBSEP i
				path = prefix key[row]
				if (inside[row] == "NULL" || text[row] != "" || rule[row] == "ENGINE_REFUSE")
					print "| `" path "` | " name(rule[row]) " | " text[row] " |"
				if (inside[row] != "NULL" && rule[row] != "ENGINE_REFUSE") show(inside[row], path ".")
			}
		}
		END { show("engine_fields", "") }' oci/engine/engine-field.c
}
annotations() {
	echo '| annotation | rule | why |'
	echo '|---|---|---|'
	sed -n '/^static const struct engine_annotation table/,/^};/p' oci/engine/engine-annotation.c | awk -F'"' '/^\t\{ "/ {
		rule = $3 ~ /REFUSE/ ? "refuse" : $3 ~ /SUBJECT/ ? "in the subject" : "noise"
		print "| `" $2 "` | " rule " | " ($4 == "" ? "unknown names of custody; the nearest one is named" : $4) " |"
	}'
}
replace() { # MARK FILE: the lines between both marks
	awk -v mark="$1" -v file="$2" '
		index($0, "<!-- " mark ":") { print; while ((getline line < file) > 0) print line; skip = 1 }
		index($0, "<!-- /" mark " -->") { skip = 0 }
		!skip { print }' $page
}
if [ "${1:-}" != --write ]; then
	fields
	annotations
	exit
fi
new=$(mktemp) || exit 1
trap 'rm -f "$new" "$new.page"' EXIT
for table in fields annotations; do
	$table >"$new"
	replace "$table" "$new" >"$new.page" && cat "$new.page" >$page
done
