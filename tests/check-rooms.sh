#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# TAP: which room may include which.  tests/rooms lists every folder of C sources in order of dependency, with its purpose and
# the rooms that it may include.  A room may name only rooms above it, so the list cannot hold a cycle.
cd "$SRCDIR" || exit 1
rooms=${ROOMS:-tests/rooms}
echo 1..7
result() { # NUMBER DESCRIPTION; fails when its standard input has a line
	if found=$(grep .); then
		printf '%s\n' "$found" | sed 's/^/# /'
		echo "not ok $1 - $2"
	else
		echo "ok $1 - $2"
	fi
}
sources() {
	find src oci -name '*.[ch]' | sort
}
own='^[[:space:]]*#[[:space:]]*include[[:space:]]*"'
# One line per violation: KIND TEXT.
violations() {
	sources | xargs grep -nHE "$own" /dev/null | awk -F'"' -v rooms="$rooms" '
		BEGIN {
			while ((getline line < rooms) > 0) {
				if (line ~ /^#/ || line !~ /:/) continue
				name = line; sub(/:.*/, "", name)
				deps = line; sub(/^[^:]*:/, "", deps); sub(/#.*/, "", deps)
				n = split(deps, d, " ")
				for (i = 1; i <= n; i++) {
					if (!(d[i] in known)) print "order " name " names " d[i] ", which is not above it"
					may[name, d[i]] = 1
				}
				known[name] = 1
			}
			# Without the list every include would pass.
			if (!("base" in known)) print "order " rooms " names no room"
		}
		{
			file = $1; sub(/:.*/, "", file)
			from = file; sub(/\/[^\/]*$/, "", from); sub(/^src\//, "", from)
			to = $2
			if (to !~ /\//) { print "bare " file " includes \"" to "\" without its room"; next }
			sub(/\/[^\/]*$/, "", to)
			if (!(from in known)) print "stray " file " is in no room of " rooms
			else if (to != from && !((from, to) in may)) print "include " file ": " from " may not include " to
		}'
}
list=$(violations)
of_kind() {
	printf '%s\n' "$list" | sed -n "s/^$1 //p"
}
of_kind order | result 1 'every room names only rooms above it'
of_kind bare | result 2 'own headers are named with their room'
of_kind stray | result 3 'every source is in a room'
of_kind include | result 4 'every include is allowed for its room'
sources | grep -v '^oci/libcrun/' |
	xargs grep -nHE 'include[[:space:]]*<(libcrun|ocispec)/|\blibcrun_[a-z_]+[[:space:]]*\(' /dev/null |
	result 5 "libcrun's declarations stay in oci/libcrun"
sources | xargs grep -nHE "${own}(\.\./)*tests/" /dev/null | result 6 'no source includes a test'
# A header called *-impl.h is private to its room.
sources | xargs grep -nHE "${own}[^\"]*-impl\.h\"" /dev/null | awk -F'"' '{
	file = $1; sub(/:.*/, "", file)
	from = file; sub(/\/[^\/]*$/, "", from); sub(/^src\//, "", from)
	to = $2; sub(/\/[^\/]*$/, "", to)
	if (to != from) print file " includes the private header " $2
}' | result 7 'private headers stay in their room'
