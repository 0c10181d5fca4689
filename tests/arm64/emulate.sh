#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Executes a program of another architecture with that architecture's libraries:
#
#	tests/arm64/emulate.sh QEMU SYSROOT PROGRAM [ARGUMENT...]
#
# Not `qemu -L SYSROOT`: that would also find the sysroot's own / and /tmp where a test opens those of this host.
set -eu
qemu=$1 sysroot=$2
shift 2
loader=$(LC_ALL=C readelf -l "$1" 2>/dev/null | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
[ -z "$loader" ] || {
	libraries=
	for dir in "$sysroot"/lib "$sysroot"/usr/lib "$sysroot"/usr/lib/*-linux-gnu*; do
		libraries=$libraries:$dir
	done
	set -- "$sysroot$loader" --library-path "${libraries#:}" "$@"
}
exec "$qemu" "$@"
