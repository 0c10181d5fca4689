#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Boots a machine with cgroup v2 and all its controllers, runs suites in it and prints their results as TAP.
#
#	tests/vm/run.sh [--systemd] [--arch arm64] PREFIX [SUITE...]
#
# PREFIX is where custody was installed (make install).  Without --systemd a script is pid 1 and everything runs as
# root; with it systemd is, and what an ordinary user has in a login session is seen.  A SUITE is one of guest.sh's;
# the default is all of them.  Needs root (debootstrap), qemu-system-x86, debootstrap, busybox-static and
# e2fsprogs.  The kernel and the machine's root file system are Debian's packages, fetched by name into VM_CACHE and
# never installed here.  --arch arm64: a machine of that architecture (qemu-system-arm) with the packages that tests/arm64/root.sh
# unpacks, for a PREFIX of a cross build; without systemd.
#
#	VM_SUITE=trixie	Debian's release in the machine, kernel and root file system (default: bookworm)
#	VM_CACHE=DIR	kernel, root file system and logs (default: custody-vm in TMPDIR); may be kept or deleted
#	VM_ACCEL=kvm	where that works; the default is software emulation, which works everywhere
#	VM_SAMPLE=1	of engines' scenarios only those that CI affords
#	VM_FILTER=REGEX	of engines' scenarios and files of tests/integration only the tests whose names match; of unit tests, programs
#	VM_MINUTES=N	the machine is switched off after so long (default: 40)
#	VM_DESTDIR=DIR	PREFIX is below DIR (make install DESTDIR=DIR)
#	VM_BUILD=DIR	build directory whose unit tests the suite `unit` runs
#	ARM64_ROOT=DIR	with --arch arm64: directory of tests/arm64/root.sh (default: arm64/root in VM_CACHE)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
src=${here%/tests/vm}
mode=plain arch=amd64
die() {
	echo "tests/vm/run.sh: $*" >&2
	exit 1
}
while [ $# -gt 0 ]; do
	case $1 in
	--systemd) mode=systemd ;;
	--arch)
		arch=${2:-}
		shift
		;;
	*) break ;;
	esac
	shift
done
[ $# -ge 1 ] || die "usage: run.sh [--systemd] [--arch arm64] PREFIX [SUITE...]"
# The first serial line is the console; results are written to the second.
case $arch-$mode in
amd64-*)
	qemu=qemu-system-x86_64 package=qemu-system-x86 machine=(-M q35) console=ttyS0 results=ttyS1
	results_device=(-serial chardev:tap)
	;;
arm64-plain)
	qemu=qemu-system-aarch64 package=qemu-system-arm machine=(-M virt -cpu cortex-a72) console=ttyAMA0 results=ttyS0
	results_device=(-device "pci-serial,chardev=tap")
	;;
*) die "unknown machine: --arch $arch, pid 1 $mode" ;;
esac
destdir=${VM_DESTDIR:-}
prefix=$1
[ -n "$destdir" ] || prefix=$(cd "$1" && pwd -P)
shift
[ -x "$destdir$prefix/bin/custody" ] || die "no custody in '$destdir$prefix/bin'; first: make install"
[ "$(id -u)" -eq 0 ] || die 'needs root: debootstrap does'
for tool in $qemu debootstrap busybox mke2fs; do
	command -v "$tool" >/dev/null || die "no $tool; apt-get install $package debootstrap busybox-static e2fsprogs"
done
release=${VM_SUITE:-bookworm}
cache=${VM_CACHE:-${TMPDIR:-/tmp}/custody-vm}
[ "$release" = bookworm ] || cache=$cache/$release
mkdir -p "$cache"
cache=$(cd "$cache" && pwd -P)
system=$cache # kernel, image of the root file system, names of modules, log of the console
[ "$arch" = amd64 ] || system=$cache/$arch
mkdir -p "$system"
packages_root=${ARM64_ROOT:-$cache/arm64/root}
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
# Of another release this host's apt knows no packages: debootstrap then fetches the kernel with the root file system.
fetch_kernel() {
	local name
	[ ! -e "$cache/kernel/done" ] && [ "$release" = bookworm ] || return 0
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
packages=$packages,busybox-static,git,strace,podman,conmon,catatonit,iproute2,python3,docker.io,containerd,python3-grpcio
packages=$packages,containernetworking-plugins,apparmor,bubblewrap
# debootstrap does not follow names that packages provide: python3-grpcio needs libre2-11.
[ "$release" = bookworm ] || packages=$packages,linux-image-cloud-amd64,libre2-11
take_kernel() { # ROOT
	rm -rf "$cache/kernel"
	mkdir -p "$cache/kernel/boot" "$cache/kernel/lib"
	mv "$1"/boot/vmlinuz-* "$cache/kernel/boot/"
	cp -a "$1/lib/modules" "$cache/kernel/lib/"
	rm -rf "${1:?}"/boot/*
	touch "$cache/kernel/done"
}
make_root() {
	local root=$cache/root version module
	# Made anew when the list changes.
	[ ! -e "$cache/root.img" ] || [ "$(cat "$cache/packages" 2>/dev/null)" != "$packages" ] || return 0
	log "root file system: debootstrap (a few minutes, once)"
	rm -rf "$root"
	# Its mounts of /proc and /sys are gone with the namespace.
	unshare -m --propagation private debootstrap --variant=minbase --include="$packages" "$release" "$root" "$(mirror)" \
		>"$cache/debootstrap.log" 2>&1 || { tail -n 20 "$cache/debootstrap.log" >&2; die 'debootstrap failed'; }
	rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/usr/share/doc "$root"/usr/share/man
	if [ "$release" = bookworm ]; then cp -a "$cache/kernel/lib/modules" "$root/lib/"; else take_kernel "$root"; fi
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
	echo "$packages" >"$cache/packages"
	rm -rf "$root"
}

# The packages for arm64 are unpacked, not installed.  Modules in the order of their dependencies; overlay too, because depmod
# has not written the indexes that modprobe reads.
make_root_arm64() {
	"$src/tests/arm64/root.sh" "$packages_root"
	[ "$packages_root/.packages" -nt "$system/root.img" ] || return 0
	log 'root file system for arm64'
	rm -rf "$system/kernel"
	mkdir -p "$system/kernel"
	cp -a "$packages_root/boot" "$system/kernel/"
	awk -F ': *' -v dir="/lib/modules/$(ls "$packages_root/lib/modules")/" '
		{ needs[$1] = $2 }
		function load(file, n, i, words) {
			if (seen[file]++)
				return
			n = split(needs[file], words, " ")
			for (i = n; i > 0; i--)
				load(words[i])
			print dir file
		}
		END {
			for (file in needs)
				if (file ~ /\/(virtio_pci|virtio_blk|overlay)\.ko$/)
					load(file)
		}' "$packages_root"/lib/modules/*/modules.dep >"$system/modules"
	mke2fs -q -t ext4 -d "$packages_root" "$system/root.img.new" 4G
	mv "$system/root.img.new" "$system/root.img"
}

# --- files of each run -------------------------------------------------------------------------------------------------
make_initrd() {
	local dir=$work/initrd module from=$cache/kernel busybox=/bin/busybox
	[ "$arch" = amd64 ] || from=$packages_root busybox=$packages_root/bin/busybox
	mkdir -p "$dir"/{bin,proc,dev,root}
	cp "$busybox" "$dir/bin/"
	while read -r module; do
		cp "$from${module#/usr}" "$dir/"
		# Since Debian 13 they are compressed.
		[[ $module != *.xz ]] || xz -d "$dir/${module##*/}"
		module=${module%.xz}
		echo "busybox insmod /${module##*/}"
	done <"$system/modules" >"$work/insmod"
	sed "/^# modules$/r $work/insmod" "$here/initrd.sh" >"$dir/init"
	chmod 0755 "$dir/init"
	(cd "$dir" && find . | busybox cpio -o -H newc 2>/dev/null) >"$work/initrd.img"
}
# The tree and the installed programs, as a disk that is a tar archive.
make_payload() {
	tar -C "$destdir/" -cf "$work/payload.tar" "${prefix#/}"
	tar -C / -rf "$work/payload.tar" --transform "s,^${src#/},opt/custody," "${src#/}/tests" "${src#/}/contrib" "${src#/}/profiles"
	# Only linked files: objects are many times as large.
	[ -z "${VM_BUILD:-}" ] || (cd "$VM_BUILD" && find . -path ./inst -prune -o -type f -executable ! -name '*.sh' -print) |
		tar -C "$VM_BUILD" -rf "$work/payload.tar" --transform 's,^\.,opt/build,' -T -
	if [[ " $* " == *' bench '* ]]; then
		"$src/contrib/bench/start" --build "$work/bench"
		tar -C "$work" -rf "$work/payload.tar" --transform 's,^,opt/,' bench
	fi
	truncate -s %512 "$work/payload.tar"
}
boot() {
	local accel=(-accel 'tcg,thread=multi') append
	# Without cmpxchg16b: QEMU 7.2 returns wrong flags from it, and the kernel of Debian 13 panics.
	[ "$arch" != amd64 ] || accel+=(-cpu 'qemu64,-cx16')
	[ "${VM_ACCEL:-tcg}" = tcg ] || accel=(-accel "$VM_ACCEL" -cpu host)
	# Measurements: a clock that counts instructions, 1 ns each, is independent of the host's load.
	local processors=2
	[[ " $* " != *' bench '* ]] || { accel=(-accel 'tcg,thread=single' -icount shift=0 -cpu 'qemu64,-cx16') && processors=1; }
	append="console=$console quiet panic=-1 custody.results=$results custody.mode=$mode custody.prefix=$prefix custody.suites=$(IFS=,; echo "$*")"
	[ "${VM_SAMPLE:-0}" = 0 ] || append="$append custody.sample=1"
	[ -z "${VM_FILTER:-}" ] || append="$append custody.filter=${VM_FILTER// /.}"
	# The machine has no network.  What it says on its second serial line are the results.
	timeout -k 10 $((${VM_MINUTES:-40} * 60)) "$qemu" "${accel[@]}" "${machine[@]}" -smp "$processors" -m "${VM_MEMORY:-1536}" \
		-nodefaults -display none -no-reboot \
		-kernel "$system"/kernel/boot/vmlinuz-* -initrd "$work/initrd.img" -append "$append" \
		-drive "file=$system/root.img,format=raw,if=virtio,snapshot=on" \
		-drive "file=$work/payload.tar,format=raw,if=virtio,read-only=on" \
		-serial "file:$system/console-$mode.log" -chardev stdio,id=tap,signal=off "${results_device[@]}" </dev/null
}

exec 9>"$cache/lock"
flock 9
if [ "$arch" = arm64 ]; then
	make_root_arm64 >&2
else
	fetch_kernel >&2
	make_root >&2
fi
flock -u 9
export TMPDIR=$work
make_initrd
make_payload "$@"
status=0
boot "$@" 9>&- | tee "$work/tap" || status=$?
if [ "$status" -ne 0 ] || ! grep -q '^1\.\.[0-9]' "$work/tap"; then
	log "the machine did not reach its end (status $status); its console:"
	tail -n 40 "$system/console-$mode.log" | tr -d '\r' | sed 's/^/# /'
	exit 1
fi
! grep -q '^not ok' "$work/tap"
