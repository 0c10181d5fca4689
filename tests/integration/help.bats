#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What custody says about its own command line, and what its manual says of it.

load ../lib/suite.bash

MAN=$BATS_TEST_DIRNAME/../../docs/man

setup() {
	custody_setup
	export LC_ALL=C
}
teardown() { custody_teardown; }

commands() {
	"$CUSTODY" help | awk '/^  [a-z]/ { print $1 }'
}

# page COMMAND: the manual pages whose synopsis has it.
page() {
	grep -lE "^ +custody $1( |\$)" "$MAN"/*.1.md
}

# options: every option that stdin names, a line each.
options() {
	grep -oE '(^|[^a-zA-Z0-9-])--?[a-zA-Z][a-z0-9-]*' | grep -oE -e '--?[a-zA-Z][a-z0-9-]*$' | sort -u
}

@test "help: every command answers --help and -h as 'custody help' does, and does nothing else" {
	local name n=0
	rm -rf "$CUSTODY_ROOT" && mkdir "$CUSTODY_ROOT"
	for name in $(commands); do
		run -0 --separate-stderr "$CUSTODY" help "$name"
		[[ $output == *"custody $name"* ]]
		[ -z "$stderr" ]
		local help=$output
		run -0 --separate-stderr "$CUSTODY" "$name" --help
		[ "$output" = "$help" ]
		run -0 --separate-stderr "$CUSTODY" "$name" -h
		[ "$output" = "$help" ]
		n=$((n + 1))
	done
	[ "$n" -ge 27 ]
	[ -z "$(ls -A "$CUSTODY_ROOT")" ]
}

@test "help: a command that is not there is a mistake, and the nearest is named" {
	run -64 --separate-stderr "$CUSTODY" help aprove
	assert_stderr_has "did you mean 'custody approve'?"
}

@test "help: every option that a command's help names stands in its manual" {
	local name option text missing=""
	for name in $(commands); do
		[ "$name" != help ] && [ "$name" != version ] || continue
		[ -n "$(page "$name")" ] || { missing+=" $name: no page;" && continue; }
		# Those of run are run's: check and bundle say which they share.
		[ "$name" != check ] && [ "$name" != bundle ] && [ "$name" != shell ] || continue
		text=$(page "$name" | xargs cat)
		for option in $("$CUSTODY" help "$name" | options); do
			[ "$option" != --help ] && [ "$option" != -h ] || continue
			options <<<"$text" | grep -qxF -e "$option" || missing+=" $name $option;"
		done
	done
	echo "missing:$missing"
	[ -z "$missing" ]
}

@test "help: every option that a synopsis has is one that the command knows" {
	local name option unknown=""
	for name in $(commands); do
		[ -n "$(page "$name")" ] || continue
		for option in $(page "$name" | xargs sed -n '/^## SYNOPSIS/,/^## [^S]/p' | grep -E "^ +custody $name( |\$)" | sed 's/ -- .*//' | options); do
			"$CUSTODY" help "$name" | options | grep -qxF -e "$option" || unknown+=" $name $option;"
		done
	done
	echo "unknown:$unknown"
	[ -z "$unknown" ]
}

@test "help: every option of custody-runtime stands in its manual, and every one of the manual is known" {
	local rt=${CUSTODY%/*}/custody-runtime verb known
	known=$({ "$rt" help && for verb in $("$rt" help | awk '/^  [a-z]/ { print $1 }'); do "$rt" help "$verb"; done; } |
		sed -nE 's/^ +(-[a-zA-Z] )? *(--[a-z-]+).*/\1 \2/p' | options)
	[ "$(wc -l <<<"$known")" -ge 50 ]
	diff <(echo "$known") <(sed -n '/^## OPTIONS OF/,/^## FILES/p' "$MAN/custody-runtime.8.md" | options)
}

# examples: lines of README.md and of the manual's pages that begin with custody, without the command that is run.
examples() {
	cat "$MAN"/../../README.md "$MAN"/*.1.md | sed -nE 's/^    (\$ |[a-z]+\$ +|CUSTODY_ALLOW_PROD=1 )?(custody [a-z].*)/\2/p' |
		sed 's/[#|;].*//; s/ -- .*//; s/[>"`].*//'
}

@test "help: every command and option of an example in README.md and in the manual is there" {
	local line name option n=0 unknown=""
	while read -r line; do
		name=$(cut -d' ' -f2 <<<"$line")
		commands | grep -qxF -e "$name" || { unknown+=" custody $name;" && continue; }
		for option in $(options <<<"$line"); do
			"$CUSTODY" help "$name" | options | grep -qxF -e "$option" || unknown+=" $name $option;"
		done
		n=$((n + 1))
	done < <(examples)
	echo "unknown:$unknown"
	[ -z "$unknown" ]
	[ "$n" -ge 60 ]
}

@test "help: recover takes no option of run: nothing is recovered by mistake" {
	local option
	for option in --dry-run --json --yes; do
		run -64 --separate-stderr "$CUSTODY" recover $option
		assert_stderr_has "unknown option '$option'"
		[ -z "$output" ]
	done
	[ ! -e "$CUSTODY_ROOT/sandbox/ledger" ]
}
