#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# TAP: src/ledger/ledger-export-kind.c has one row for each kind of record that the sources write, and no other.
#
# A kind is a literal of lower-case words with dots on a line that is about records or kinds, or one that begins like a
# known kind.  Names that only look so are listed below.
cd "$SRCDIR" || exit 1
table=src/ledger/ledger-export-kind.c
echo 1..2
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
result() { # NUMBER DESCRIPTION; fails when its standard input has a line
	if found=$(grep .); then
		printf '%s\n' "$found" | sed 's/^/# /'
		echo "not ok $1 - $2"
	else
		echo "ok $1 - $2"
	fi
}
sed -nE 's/^\t\{ "([a-z.-]+)",.*/\1/p' $table | sort >"$tmp/rows"
cut -d. -f1 "$tmp/rows" | sort -u >"$tmp/first"
cat >"$tmp/others" <<-'END'
	io.kubernetes.cri.container-type
	sandbox.enabled
	seccomp.allow
	seccomp.deny
	seccomp.violation
END
# The profile's and configuration's keys, files of cgroups, sysctls and annotations have tables of their own.
find src oci -name '*.c' ! -name '*-table.c' ! -path $table -print0 | xargs -0 grep -hE '"[a-z]+(\.[a-z-]+)+"' |
	grep -vE '^[[:space:]]*(/?\*|#)' | awk -v first="$tmp/first" '
	BEGIN { while ((getline word < first) > 0) known[word] = 1 }
	{
		about = $0 ~ /\.kind = |[a-z_]*record(ed)?\(|record_[a-z]+\(|ledger_[a-z_]+\(|append[a-z_]*\(/
		while (match($0, /"[a-z]+(\.[a-z-]+)+"/)) {
			name = substr($0, RSTART + 1, RLENGTH - 2)
			$0 = substr($0, RSTART + RLENGTH)
			begin = name
			sub(/\..*/, "", begin)
			if (about || begin in known) print name
		}
	}' | sort -u | grep -vxF -f "$tmp/others" | grep -vE '\.(json|ndjson|c|h|lock|conf|sock|log|tmp|txt|pid)$' >"$tmp/kinds"
grep -vxF -f "$tmp/rows" "$tmp/kinds" | result 1 "DOOR-9: every kind of record has a row in $table"
grep -vxF -f "$tmp/kinds" "$tmp/rows" | result 2 "every row of $table is a kind of record"
