#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# TAP: requirement ids in names of tests are spelled one way, at the start of the name.  In C: GOV_6_some_words, which tests/unit/tap.h
# prints as "GOV-6: some words"; in bats: "GOV-6: some words".  `check-requirements.sh count` prints how many tests name each id.
cd "${SRCDIR:-.}" || exit 1
families='CARD|DOOR|GOV|ISO|LANE|PLAT|ROOT|TRUST'

# FILE:NAME of every test.
c_tests() {
	find tests/unit -name '*.c' -exec grep -oE '\bT\([A-Za-z0-9_]+\)' /dev/null {} + | sed -E 's/:T\((.*)\)$/:\1/'
}
bats_tests() {
	find tests -name '*.bats' -exec grep -E '^@test ' /dev/null {} + | sed -E "s/:@test [\"'](.*)[\"'] \{.*/:\1/"
}

if [ "$1" = count ]; then
	{
		c_tests | cut -d: -f2 | sed -E 's/_/-/; s/_/: /; :again; s/^(.*: [A-Z]+)_([0-9]+)_/\1-\2: /; t again'
		bats_tests | cut -d: -f2-
	} | grep -oE "^(($families)-[0-9]+: )+" | tr -d ' ' | tr ':' '\n' | grep . | sort -t- -k1,1 -k2,2n | uniq -c
	exit
fi

# NUMBER TITLE: fails if a line came in.
no_line() {
	lines=$(cat)
	if [ -z "$lines" ]; then
		echo "ok $1 - $2"
	else
		printf '%s\n' "$lines" | sed 's/^/# /'
		echo "not ok $1 - $2"
	fi
}
echo 1..3
if [ -z "$(c_tests)" ] || [ -z "$(bats_tests)" ]; then
	echo 'Bail out! No test found.'
	exit 1
fi
c_tests | sed -E "s/:(($families)_[0-9]+_)+/:/" | grep -iE "[:_]($families)[_-]?[0-9]+(_|$)" |
	no_line 1 'requirements: ids of C tests are spelled GOV_6_ and come first'
c_tests | grep -E ':[A-Z]+_[0-9]+_' | grep -vE ":($families)_" |
	no_line 2 'requirements: no C test starts with an unknown id'
bats_tests | sed -E "s/:(($families)-[0-9]+: )+/:/" | grep -iE "\b($families)[ _-]?[0-9]+\b" |
	no_line 3 'requirements: ids of bats tests are spelled "GOV-6: " and come first'
