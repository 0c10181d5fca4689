#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Unpacks Debian packages for arm64 into DIR: headers and libraries for a cross build, programs for an emulator.
#
#	tests/arm64/root.sh DIR
#
# Needs root and debootstrap, which downloads the packages by name.  No program of the packages is executed: a maintainer script
# would need an emulator, and a foreign architecture in dpkg would change this host.  DIR is made anew when this script changes.
set -euo pipefail
die() {
	echo "tests/arm64/root.sh: $*" >&2
	exit 1
}
[ $# -eq 1 ] || die 'usage: root.sh DIR'
[ "$(id -u)" -eq 0 ] || die 'needs root: debootstrap does'
command -v debootstrap >/dev/null || die 'no debootstrap; apt-get install debootstrap'

suite=bookworm
# What custody links.
packages=libc6-dev,libseccomp-dev,libyajl-dev,libcap-dev,nettle-dev,libgmp-dev,libcrypt-dev,libarchive-dev,libsystemd0,crun
# What its tests execute in an emulated machine, and the kernel of that machine.
packages=$packages,bats,jq,procps,util-linux,uidmap,runc,kmod,iproute2,python3,git,busybox-static
packages=$packages,podman,conmon,catatonit,linux-image-cloud-arm64
mkdir -p "$(dirname "$1")"
root=$(cd "$(dirname "$1")" && pwd -P)/$(basename "$1")
key=$(cksum <"$0")
[ "$(cat "$root/.packages" 2>/dev/null)" != "$key" ] || exit 0

rm -rf "$root" "$root.new"
mkdir -p "$root.new"
trap 'rm -rf "$root.new" "$root.debs"' EXIT
# The mirror that this host's own apt uses: no other is known to be reachable.  Empty: debootstrap's own default.
# shellcheck disable=SC2016 # apt's own variables
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT) $(CREATED_BY)' |
	awk '$2 == "bookworm" && $3 == "main" && $4 == "Packages" && !n++ { print $1 }')
rm -rf "$root.debs"
unshare -m --propagation private debootstrap --download-only --arch=arm64 --variant=minbase --include="$packages" \
	"$suite" "$root.debs" ${mirror:+"$mirror"} >"$root.log" 2>&1 ||
	{ tail -n 20 "$root.log" >&2; die 'debootstrap failed'; }

for dir in bin sbin lib; do
	mkdir -p "$root.new/usr/$dir"
	ln -s "usr/$dir" "$root.new/$dir"
done
# The database of dpkg: `dpkg-query --admindir` tells which package owns a file.  "installed", as configure requires of crun: for
# headers and libraries unpacking is all.
database=$root.new/var/lib/dpkg
mkdir -p "$database/info" "$database/updates"
: >"$database/status"
for deb in "$root.debs"/var/cache/apt/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$root.new"
	{
		echo 'Status: install ok installed'
		dpkg-deb -f "$deb"
		echo
	} >>"$database/status"
	name=$(dpkg-deb -f "$deb" Package)
	[ "$(dpkg-deb -f "$deb" Multi-Arch)" != same ] || name=$name:arm64
	dpkg-deb --fsys-tarfile "$deb" | tar -t | sed 's,^\.,,; s,/$,,; s,^$,/.,' >"$database/info/$name.list"
done
echo arm64 >"$database/arch"
# A linker follows an absolute link to this host's files.
find "$root.new/usr/lib/aarch64-linux-gnu" -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do
	ln -sfrT "$root.new$target" "$link"
done

# What the maintainer scripts would have done and the tests need.
cp "$root.new/usr/share/base-passwd/passwd.master" "$root.new/etc/passwd"
cp "$root.new/usr/share/base-passwd/group.master" "$root.new/etc/group"
echo 'tester:x:1000:1000::/home/tester:/bin/bash' >>"$root.new/etc/passwd"
echo 'tester:x:1000:' >>"$root.new/etc/group"
install -d -o 1000 -g 1000 "$root.new/home/tester"
ln -sf mawk "$root.new/usr/bin/awk"
[ -e "$root.new/bin/sh" ] || ln -s dash "$root.new/bin/sh"
: >"$root.new/etc/fstab"
echo custody-vm >"$root.new/etc/hostname"
rm -rf "$root.new"/usr/share/doc/* "$root.new"/usr/share/man/*
for version in "$root.new"/lib/modules/*; do
	busybox depmod -b "$root.new" "${version##*/}"
done
echo "$key" >"$root.new/.packages"
mv "$root.new" "$root"
