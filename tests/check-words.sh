#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints every use of a word of tests/words as FILE:LINE: WORD -> REPLACEMENT, and how many there are.  Exit status 1 if there is one.
# Usage: check-words.sh [PATH...] (default: everything that a reader sees)
cd "${SRCDIR:-.}" || exit 1
words=${WORDS:-tests/words}
[ $# -gt 0 ] || set -- src oci profiles docs contrib tests m4 .ci README.md NEWS SECURITY.md Makefile.am configure.ac
find "$@" -type f \( -name '*.[ch]' -o -name '*.md' -o -name '*.sh' -o -name '*.bash' -o -name '*.bats' -o -name '*.py' -o -name '*.mk' \
	-o -name '*.am' -o -name '*.ac' -o -name '*.m4' -o -name '*.json' -o -path '*/bench/*' -o -name README.md -o -name NEWS -o -name run \) \
	! -path '*/corpus/*' ! -path 'tests/data/*' | sort | LC_ALL=C xargs awk -v words="$words" '
	BEGIN {
		while ((getline line < words) > 0) {
			if (line ~ /^#/ || line == "") continue
			n = split(line, part, "\t")
			if (part[1] == "allow" && n == 3) { place[++allowed] = part[2]; text[allowed] = part[3] }
			else if (n == 2) { any = any (any == "" ? "" : "|") tolower(part[1]); pattern[++rules] = "(^|[^a-z0-9_])(" tolower(part[1]) ")([^a-z0-9_]|$)"; instead[rules] = part[2] }
			else { print words ": not REGEX TAB REPLACEMENT: " line; found++ }
		}
		if (!rules) { print words ": no rule"; found++ }
	}
	FNR == 1 { inside = 0; c = FILENAME ~ /\.[ch]$/ }
	# Comments and string literals of a line of C.
	function spoken(line,   out, tok, at) {
		out = ""
		while (line != "") {
			if (inside) {
				at = index(line, "*/")
				if (!at) return out " " line
				out = out " " substr(line, 1, at - 1); line = substr(line, at + 2); inside = 0
			} else if (match(line, /\/\*|\/\/|"([^"\\]|\\.)*"/)) {
				tok = substr(line, RSTART, RLENGTH); line = substr(line, RSTART + RLENGTH)
				if (tok == "/*") inside = 1
				else if (tok == "//") { out = out " " line; line = "" }
				else out = out " " tok
			} else line = ""
		}
		return out
	}
	{
		said = tolower(c ? spoken($0) : $0)
		if (said !~ any) next # most lines
		for (i = 1; i <= rules; i++) {
			if (!match(said, pattern[i])) continue
			word = substr(said, RSTART, RLENGTH); gsub(/^[^a-z0-9]+|[^a-z0-9]+$/, "", word)
			for (a = 1; a <= allowed; a++) if (FILENAME ~ place[a] && $0 ~ text[a]) break
			if (a <= allowed) continue
			print FILENAME ":" FNR ": " word " -> " instead[i]; found++
		}
	}
	END { print found + 0 " uses of words in " words; exit found > 0 }'
