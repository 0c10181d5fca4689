#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Configures a cross build for arm64 in the current directory, with the packages that root.sh unpacked into ROOT:
#
#	tests/arm64/configure.sh ROOT [ARGUMENTS OF configure...]
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$1" && pwd -P)
shift
[ -e "$root/.packages" ] || {
	echo "tests/arm64/configure.sh: '$root' is not complete; first, as root: $here/root.sh $root" >&2
	exit 1
}
export PKG_CONFIG=pkg-config PKG_CONFIG_SYSROOT_DIR="$root"
export PKG_CONFIG_LIBDIR="$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig"
exec "$here/../../configure" --host=aarch64-linux-gnu CC="aarch64-linux-gnu-gcc --sysroot=$root" "$@"
