#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Boots a machine with cgroup v2 and all its controllers, runs suites in it and prints their results as TAP.
#
#	tests/vm/run.sh [--systemd] PREFIX [SUITE...]
#
# PREFIX is where custody was installed (make install).  Without --systemd a script is pid 1 and everything runs as
# root; with it systemd is, and what an ordinary user has in a login session is seen.  A SUITE is one of guest.sh's;
# the default is all of them.  Needs root (debootstrap), qemu-system-x86, debootstrap, busybox-static and
# e2fsprogs.  The kernel and the machine's root file system are Debian's packages, fetched by name into VM_CACHE and
# never installed here.
#
#	VM_CACHE=DIR	kernel, root file system and logs (default: custody-vm in TMPDIR); may be kept or deleted
#	VM_ACCEL=kvm	where that works; the default is software emulation, which works everywhere
#	VM_SAMPLE=1	of engines' scenarios only those that CI affords
#	VM_FILTER=REGEX	of engines' scenarios only those whose names match
#	VM_MINUTES=N	the machine is switched off after so long (default: 40)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
src=${here%/tests/vm}
mode=plain
die() {
	echo "tests/vm/run.sh: $*" >&2
	exit 1
}
[ "${1:-}" != --systemd ] || { mode=systemd; shift; }
[ $# -ge 1 ] || die "usage: run.sh [--systemd] PREFIX [SUITE...]"
prefix=$(cd "$1" && pwd -P)
shift
[ -x "$prefix/bin/custody" ] || die "no custody in '$prefix/bin'; first: make install"
[ "$(id -u)" -eq 0 ] || die 'needs root: debootstrap does'
for tool in qemu-system-x86_64 debootstrap busybox mke2fs; do
	command -v "$tool" >/dev/null ||
		die "no $tool; apt-get install qemu-system-x86 debootstrap busybox-static e2fsprogs"
done
cache=${VM_CACHE:-${TMPDIR:-/tmp}/custody-vm}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd -P)
work=$(mktemp -d "$cache/run.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM INT HUP
log() {
	printf '# %s\n' "$*"
}

# --- downloads: once ----------------------------------------------------------------------------------------------------
kernel_package() {
	apt-cache depends linux-image-cloud-amd64 | awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ && !n++ { print $2 }'
}
fetch_kernel() {
	local name
	[ ! -e "$cache/kernel/done" ] || return 0
	name=$(kernel_package)
	[ -n "$name" ] || { apt-get update && name=$(kernel_package); }
	[ -n "$name" ] || die "apt-cache knows no linux-image-cloud-amd64"
	log "kernel: $name"
	rm -rf "$cache/kernel"
	mkdir -p "$cache/kernel"
	(cd "$cache/kernel" && apt-get -o APT::Sandbox::User=root download "$name" && dpkg -x "$name"_*.deb . && rm -- *.deb)
	touch "$cache/kernel/done"
}
# The mirror that this host's own apt uses: no other is known to be reachable.
mirror() {
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT) $(CREATED_BY)' |
		awk '$2 == "bookworm" && $3 == "main" && $4 == "Packages" && !n++ { print $1 }'
}
packages=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,kmod,bats,jq,procps,util-linux,uidmap,runc,crun
packages=$packages,busybox-static,strace,podman,conmon,catatonit,iproute2,python3,docker.io,containerd,python3-grpcio
packages=$packages,containernetworking-plugins
make_root() {
	local root=$cache/root version module
	[ ! -e "$cache/root.img" ] || return 0
	log "root file system: debootstrap (a few minutes, once)"
	rm -rf "$root"
	# Its mounts of /proc and /sys are gone with the namespace.
	unshare -m --propagation private debootstrap --variant=minbase --include="$packages" bookworm "$root" "$(mirror)" \
		>"$cache/debootstrap.log" 2>&1 || { tail -n 20 "$cache/debootstrap.log" >&2; die 'debootstrap failed'; }
	rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/usr/share/doc "$root"/usr/share/man
	cp -a "$cache/kernel/lib/modules" "$root/lib/"
	version=$(cd "$root/lib/modules" && echo *)
	chroot "$root" depmod "$version"
	# Which modules stand between the machine and its disks.
	for module in virtio_pci virtio_blk; do
		chroot "$root" modprobe -S "$version" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$cache/modules"
	chroot "$root" useradd -m -u 1000 -s /bin/bash tester
	echo custody-vm >"$root/etc/hostname"
	: >"$root/etc/fstab"
	# Sparse: what the suites write is thrown away with the snapshot.
	mke2fs -q -t ext4 -d "$root" "$cache/root.img.new" 4G
	mv "$cache/root.img.new" "$cache/root.img"
	rm -rf "$root"
}

# --- files of each run -------------------------------------------------------------------------------------------------
make_initrd() {
	local dir=$work/initrd module
	mkdir -p "$dir"/{bin,proc,dev,root}
	cp /bin/busybox "$dir/bin/"
	while read -r module; do
		cp "$cache/kernel$module" "$dir/"
		echo "busybox insmod /${module##*/}"
	done <"$cache/modules" >"$work/insmod"
	sed "/^# modules$/r $work/insmod" "$here/initrd.sh" >"$dir/init"
	chmod 0755 "$dir/init"
	(cd "$dir" && find . | busybox cpio -o -H newc 2>/dev/null) >"$work/initrd.img"
}
# The tree and the installed programs, as a disk that is a tar archive.
make_payload() {
	tar -C / -cf "$work/payload.tar" --transform "s,^${src#/},opt/custody," "${prefix#/}" \
		"${src#/}/tests" "${src#/}/contrib" "${src#/}/profiles"
	truncate -s %512 "$work/payload.tar"
}
boot() {
	local accel=(-accel 'tcg,thread=multi') append
	[ "${VM_ACCEL:-tcg}" = tcg ] || accel=(-accel "$VM_ACCEL" -cpu host)
	append="console=ttyS0 quiet panic=-1 custody.mode=$mode custody.prefix=$prefix custody.suites=$(IFS=,; echo "$*")"
	[ "${VM_SAMPLE:-0}" = 0 ] || append="$append custody.sample=1"
	[ -z "${VM_FILTER:-}" ] || append="$append custody.filter=${VM_FILTER// /.}"
	# The machine has no network.  What it says on its second serial line are the results.
	timeout -k 10 $((${VM_MINUTES:-40} * 60)) qemu-system-x86_64 "${accel[@]}" -M q35 -smp 2 -m "${VM_MEMORY:-1536}" \
		-nodefaults -display none -no-reboot \
		-kernel "$cache"/kernel/boot/vmlinuz-* -initrd "$work/initrd.img" -append "$append" \
		-drive "file=$cache/root.img,format=raw,if=virtio,snapshot=on" \
		-drive "file=$work/payload.tar,format=raw,if=virtio,read-only=on" \
		-serial "file:$cache/console-$mode.log" -chardev stdio,id=tap,signal=off -serial chardev:tap </dev/null
}

exec 9>"$cache/lock"
flock 9
fetch_kernel >&2
make_root >&2
flock -u 9
export TMPDIR=$work
make_initrd
make_payload
status=0
boot "$@" 9>&- | tee "$work/tap" || status=$?
if [ "$status" -ne 0 ] || ! grep -q '^1\.\.[0-9]' "$work/tap"; then
	log "the machine did not reach its end (status $status); its console:"
	tail -n 40 "$cache/console-$mode.log" | tr -d '\r' | sed 's/^/# /'
	exit 1
fi
! grep -q '^not ok' "$work/tap"
