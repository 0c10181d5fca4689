#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The README's two commands on another Debian: quickstart.sh in a minimal root, then check.sh in one that has the packages
# of the tests already, so that they are downloaded once.
#
#	tests/on/suite.sh [--full|--prepare] SUITE DIR
#
# check.sh runs with --platform, or --platform --full; --prepare only makes the roots.  DIR gets the logs, and in the file `results` one line for each
# result: "passed", "failed NAME" or "skipped NAME: REASON"; the last one is "complete".
set -u
here=$(cd "$(dirname "$0")" && pwd)
src=${here%/tests/on}
usage() {
	echo 'usage: suite.sh [--full|--prepare] bookworm|trixie|sid DIR' >&2
	exit 64
}
full=() prepare=0
case ${1:-} in
--full) full=(--full) && shift ;;
--prepare) prepare=1 && shift ;;
esac
[ $# -eq 2 ] || usage
suite=$1
mkdir -p "$2" || exit 1
dir=$(cd "$2" && pwd -P)
: >"$dir/results"
run=("$here/run.sh" --tree --bind "$dir")
child=''
leave() {
	trap '' TERM INT HUP
	trap - EXIT
	[ -z "$child" ] || { kill "$child" && wait "$child"; } 2>/dev/null
}
trap 'exit 143' TERM INT HUP
trap leave EXIT
# wait_for CMD...: in the background, so that a signal ends it at once
wait_for() {
	local status
	setpriv --pdeathsig TERM "$@" </dev/null &
	child=$!
	wait "$child"
	status=$?
	child=''
	return $status
}

packages=$(CHECK_RELEASE=$suite "$src/contrib/check.sh" --platform --packages) || exit
# shellcheck disable=SC2086 # a list of words
wait_for "$here/root.sh" "$suite" >/dev/null && wait_for "$here/root.sh" "$suite" $packages >/dev/null || exit 1
[ "$prepare" = 0 ] || exit 0

echo "== quickstart.sh on $suite, minimal installation"
start=$SECONDS
if wait_for "${run[@]}" "$suite" sh -c 'contrib/quickstart.sh && [ -z "$(git status --porcelain)" ]' >"$dir/quickstart.log" 2>&1; then
	echo passed >>"$dir/results"
	echo "   ok      PLAT-1: quickstart.sh works on a minimal installation ($((SECONDS - start)) s)"
else
	echo 'failed PLAT-1: quickstart.sh works on a minimal installation' >>"$dir/results"
	echo "   FAILED  PLAT-1: quickstart.sh works on a minimal installation ($((SECONDS - start)) s); last lines of $dir/quickstart.log:"
	tail -n 40 "$dir/quickstart.log" | sed 's/^/   | /'
fi

echo "== check.sh --platform ${full[*]} on $suite"
rm -f "$dir/inside"
# shellcheck disable=SC2016 # for the shell inside
wait_for "${run[@]}" --packages "$packages" "$suite" \
	env STRICT=1 RESULTS="$dir/inside" CUSTODY_TEST_SEED="${CUSTODY_TEST_SEED:-1}" \
	sh -c 'dir=$1; shift
	contrib/check.sh "$@"; cp build/check/*.log build/check/*.tap build/check/doctor*.json "$dir" 2>/dev/null' sh "$dir" --platform "${full[@]}" 2>&1
[ ! -e "$dir/inside" ] || cat "$dir/inside" >>"$dir/results"
