#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# TAP: who may include whom.  base <- core <- warden <- cli; oci uses base and core; cli is the only room that
# knows both sides; libcrun's declarations appear only in its adapter.
cd "$SRCDIR" || exit 1
num=0
echo 1..7
rule() { # DESCRIPTION PATTERN FILES...
	desc=$1 pat=$2
	shift 2
	num=$((num + 1))
	if bad=$(grep -nE "$pat" "$@" /dev/null); then
		printf '%s\n' "$bad" | sed 's/^/# /'
		echo "not ok $num - $desc"
	else
		echo "ok $num - $desc"
	fi
}
sources() { # DIR...
	find "$@" -name '*.[ch]'
}
own='^[[:space:]]*#[[:space:]]*include[[:space:]]*"'
# shellcheck disable=SC2046 # our file names hold no blanks
{
	rule 'base includes only base' "$own(core|warden|cli|oci)/" $(sources src/base)
	rule 'core includes only core and base' "$own(warden|cli|oci)/" $(sources src/core)
	rule 'warden includes only warden, core and base' "$own(cli|oci)/" $(sources src/warden)
	rule 'oci includes only oci, core and base' "$own(warden|cli)/" $(sources oci | grep -v '/hook-main\.c$')
	rule 'own headers are named with their room' "${own}[^\"/]*\"" $(sources src oci)
	rule "libcrun's declarations stay in the adapter" \
		'include[[:space:]]*(<(libcrun|ocispec)/|"oci/libcrun-(abi|api|decl)[^"]*")|\blibcrun_[a-z_]+[[:space:]]*\(' \
		$(sources src oci | grep -v '^oci/libcrun')
	rule 'nothing includes a test' "${own}(\.\./)*tests/" $(sources src oci)
}
