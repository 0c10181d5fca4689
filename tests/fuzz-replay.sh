#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# TAP: every fuzz target survives its stored corpus; a target without a corpus, or the reverse, is a failure.
# shellcheck disable=SC2086 # a list of words
set -- $FUZZ_TARGETS
[ $# -gt 0 ] || {
	echo '1..0 # SKIP no fuzz target in this build'
	exit 0
}
echo "1..$(($# + 1))"
n=0
for target; do
	n=$((n + 1))
	name=${target##*/fuzz-}
	corpus=$SRCDIR/tests/fuzz/corpus/$name
	# shellcheck disable=SC2086 # nothing, or the command of a cross build
	if [ -n "$(ls "$corpus" 2>/dev/null)" ] && ${EMULATOR:-} "$BUILDDIR/$target" "$corpus"/* >&2; then
		echo "ok $n - fuzz-$name replays its corpus"
	else
		echo "not ok $n - fuzz-$name replays its corpus"
	fi
done
orphans=
for dir in "$SRCDIR"/tests/fuzz/corpus/*/; do
	name=$(basename "$dir")
	case " $* " in *"/fuzz-$name "*) ;; *) orphans="$orphans $name" ;; esac
done
if [ -z "$orphans" ]; then
	echo "ok $((n + 1)) - every corpus has its target"
else
	echo "not ok $((n + 1)) - every corpus has its target # without:$orphans"
fi
