#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# TAP: removes one refusal at a time from a copy of the sources and expects the named test to fail.
#
#	tests/mutants/run.sh [--sample N] [REGEX]
#
# tests/mutants/list has one mutant per line, separated by tabs: name, test, file, Perl expression.  The expression must change
# exactly one line of the file.  The test is `unit NAME` or `bats FILE [REGEX]`.  As root; the copy and its build are temporary.
set -u
here=$(cd "$(dirname "$0")" && pwd -P)
src=${here%/tests/mutants}
sample=0 regex=.
while [ $# -gt 0 ]; do
	case $1 in
	--sample)
		sample=${2:?--sample needs a number}
		shift
		;;
	*) regex=$1 ;;
	esac
	shift
done
tmp=$(mktemp -d "${TMPDIR:-/tmp}/custody-mutants.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
chmod 0755 "$tmp"
mkdir "$tmp/src" "$tmp/build" || exit 1

lines() {
	grep -vE '^(#|$)' "$here/list" | grep -E "$regex" | if [ "$sample" -gt 0 ]; then
		shuf -n "$sample" --random-source=<(yes "${CUSTODY_TEST_SEED:-1}")
	else
		cat
	fi
}
install_build() {
	make -C "$tmp/build" -j2 >"$tmp/make.log" 2>&1 && make -C "$tmp/build" install >"$tmp/install.log" 2>&1
}
# run_test TEST: the named test against the build in $tmp; its output goes to $tmp/test.log
run_test() {
	local kind name filter
	read -r kind name filter <<<"$1"
	case $kind in
	unit)
		make -C "$tmp/build" check TESTS="tests/unit/$name" >"$tmp/test.log" 2>&1
		;;
	bats)
		(
			cd "$tmp/src" || exit 1
			export CUSTODY=$tmp/inst/bin/custody PATH=$tmp/inst/bin:$PATH CUSTODY_SRC=$tmp/src CUSTODY_BUILD=$tmp/build STRICT=0
			export BATS_TEST_TIMEOUT=600
			# Tests that stop a run at a seam need that program, which only `make check` builds.
			! grep -Eq 'custody-seamed|suite_gate' "tests/integration/$name" || make -C "$tmp/build" -j2 tests/custody-seamed || exit 1
			exec bats --tap --setup-suite-file tests/integration/setup_suite.bash ${filter:+-f "$filter"} \
				"tests/integration/$name"
		) >"$tmp/test.log" 2>&1 </dev/null
		;;
	*) return 99 ;;
	esac
}
result() { # ok|not-ok NAME [TEXT]
	num=$((num + 1))
	if [ "$1" = ok ]; then
		echo "ok $num - mutant: $2"
	else
		bad=1
		echo "not ok $num - mutant: $2 ($3)"
	fi
}

count=$(lines | wc -l)
echo "1..$count"
num=0 bad=0
(cd "$src" && tar -c --exclude=./.git --exclude=./build --exclude=./autom4te.cache .) | tar -x -C "$tmp/src" || exit 1
[ -x "$tmp/src/configure" ] || (cd "$tmp/src" && ./autogen.sh) >"$tmp/autogen.log" 2>&1 || exit 1
(cd "$tmp/build" && "$tmp/src/configure" -q --prefix="$tmp/inst" CFLAGS='-O1 -g') >"$tmp/configure.log" 2>&1 || {
	echo "Bail out! configure failed"
	exit 1
}
install_build || {
	echo "Bail out! the build failed"
	exit 1
}
declare -A green=()
while IFS=$'\t' read -r name test file expression; do
	# A test that fails without the mutant shows nothing.
	if [ -z "${green[$test]:-}" ]; then
		if install_build && run_test "$test" && ! grep -q '^1\.\.0' "$tmp/test.log"; then
			green[$test]=yes
		else
			green[$test]=no
		fi
	fi
	if [ "${green[$test]}" = no ]; then
		sed 's/^/# /' "$tmp/test.log" | tail -n 20
		result not-ok "$name" "'$test' fails or is empty without the mutant"
		continue
	fi
	perl -p -e "$expression" "$src/$file" >"$tmp/src/$file"
	changed=$(diff "$src/$file" "$tmp/src/$file" | grep -c '^<')
	if [ "$changed" -ne 1 ]; then
		result not-ok "$name" "the expression changes $changed lines of $file, not one"
	elif ! install_build; then
		grep -m 5 -E 'error|warning' "$tmp/make.log" | sed 's/^/# /'
		result not-ok "$name" "the mutant does not compile"
	elif run_test "$test"; then
		result not-ok "$name" "survived: '$test' passes without the refusal"
	else
		result ok "$name"
	fi
	cp "$src/$file" "$tmp/src/$file"
done < <(lines)
exit "$bad"
