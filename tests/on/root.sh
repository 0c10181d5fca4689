#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the directory of a Debian root file system with some packages; makes it if the cache lacks it.
#
#	tests/on/root.sh SUITE [PACKAGE...]
#
# SUITE is bookworm, trixie or sid.  Without packages it is what a fresh minimal installation with git has.  The cache is
# custody-check in XDG_CACHE_HOME or ~/.cache; a root is kept for two weeks and can be deleted at any time.  It has its
# final name only when it is complete.  Nothing may write into it: run.sh takes a copy.
set -eu
die() {
	echo "root.sh: $*" >&2
	exit 1
}
say() {
	printf '# %s\n' "$*" >&2
}
self=$(cd "$(dirname "$0")" && pwd)/${0##*/}
here=${self%/*}
[ $# -ge 1 ] || { echo 'usage: root.sh bookworm|trixie|sid [PACKAGE...]' >&2; exit 64; }
suite=$1
shift
case $suite in
bookworm | trixie | sid) ;;
*) echo "root.sh: unknown suite '$suite'; use bookworm, trixie or sid" >&2; exit 64 ;;
esac
mapfile -t packages < <(printf '%s\n' "$@" | sort -u | grep .)
[ "$(id -u)" -eq 0 ] || die 'needs root: debootstrap does; use sudo'

# --- the cache ----------------------------------------------------------------------------------------------------
[ -n "${XDG_CACHE_HOME:-}${HOME:-}" ] || die 'neither XDG_CACHE_HOME nor HOME is set; XDG_CACHE_HOME=DIR chooses a cache'
cache=${XDG_CACHE_HOME:-$HOME/.cache}/custody-check
other='XDG_CACHE_HOME=DIR chooses another directory'
mkdir -p "${cache%/*}" && (umask 077 && mkdir -p "$cache") || die "cannot create the cache '$cache'; $other"
cache=$(cd "$cache" && pwd -P)
# Root runs programs from it: another user must not be able to replace them.
[ -O "$cache" ] || die "the cache '$cache' belongs to another user; $other"
[ -z "$(find "$cache" -maxdepth 0 -perm /022)" ] || die "others can write to the cache '$cache'; chmod 700 '$cache'"
: 2>/dev/null >"$cache/.write" || die "cannot write to the cache '$cache'; $other"
rm -f "$cache/.write"
options=$(findmnt -nro OPTIONS -T "$cache")
case ,$options, in
*,nodev,* | *,noexec,* | *,nosuid,*) die "the cache '$cache' is on a file system with nodev, noexec or nosuid; $other" ;;
esac
need=1500
[ ${#packages[@]} -eq 0 ] || need=6000
free=$(($(df --output=avail -k "$cache" | tail -n 1) / 1024))
[ "$free" -ge "$need" ] || die "$free MB free in '$cache', $need MB needed; make room, or $other"

key=$(printf '%s\n' 1 "$suite" "${packages[@]}" | sha256sum | cut -c1-12)
name=$suite-$key
fresh() {
	[ -e "$cache/$name/packages" ] && [ -n "$(find "$cache/$name/packages" -mtime -14)" ]
}
exec 9>"$cache/$name.lock"
flock -n 9 || { say "waiting for another process that makes the $suite root"; flock 9; }
if fresh; then
	touch "$cache/$name/used"
	printf '%s\n' "$cache/$name/root"
	exit
fi

# --- make it ------------------------------------------------------------------------------------------------------
# With the lock held these are left over from a killed process; a root that run.sh still copies is renamed first.
rm -rf --one-file-system "$cache/new-$name".* "$cache/old-$name".*
new=$(mktemp -d "$cache/new-$name.XXXXXX")
child='' signal=TERM
leave() {
	trap '' TERM INT HUP
	trap - EXIT
	[ -z "$child" ] || { kill "-$signal" "$child" && wait "$child"; } 2>/dev/null || true
	rm -rf --one-file-system "$new"
}
trap leave EXIT
trap 'exit 143' TERM INT HUP
log=$cache/$name.log

# The mirror that this host's own apt uses: no other is known to be reachable.  Empty: debootstrap's own default.
mirror() {
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(CREATED_BY)|$(SITE)' 2>/dev/null |
		awk -F'|' '$1 == "Debian" && $2 == "Debian" && $3 == "main" && $4 == "Packages" && $5 ~ /^(https?|file):/ && !n++ { print $5 }'
}
# quietly CMD...: a minute or more, so in the background: a signal ends it at once.
quietly() {
	local status=0
	"$@" >>"$log" 2>&1 9>&- </dev/null &
	child=$!
	wait "$child" || status=$?
	child=''
	return $status
}
minimal() {
	local mirror proxy site
	command -v debootstrap >/dev/null || die 'no debootstrap; apt-get install debootstrap'
	[ -e "${DEBOOTSTRAP_DIR:-/usr/share/debootstrap}/scripts/$suite" ] || die "this debootstrap does not know '$suite'; apt-get install debootstrap from a newer release"
	mirror=$(mirror)
	proxy=$(apt-config dump --no-empty --format '%v%n' Acquire::http::Proxy 2>/dev/null | head -n 1)
	[ -z "$proxy" ] || export http_proxy=$proxy https_proxy=$proxy
	say "$suite root: debootstrap (a minute or two; kept in $cache)"
	# Its mounts of /proc and /sys are gone with the namespace; unshare blocks SIGTERM.
	signal=KILL
	if ! quietly setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child \
		debootstrap --variant=minbase --include=git,ca-certificates "$suite" "$new/root" ${mirror:+"$mirror"}; then
		tail -n 5 "$log" >&2
		site=$(sed -n 's,.*\(https\?://[^/ ]*\).*,\1,p' "$log" | tail -n 1)
		die "debootstrap of $suite failed (${mirror:-${site:-default mirror}}); check the mirror with: apt-get update; log: $log"
	fi
	rm -rf "$new"/root/var/cache/apt/archives/*.deb
	chmod 755 "$new/root"
	echo debian >"$new/root/etc/hostname"
	printf '127.0.0.1 localhost\n127.0.1.1 debian\n::1 localhost\n' >"$new/root/etc/hosts"
	{
		# The snapshot of sid that a mirror has may be older than its Release file allows.
		[ "$suite" != sid ] || echo 'Acquire::Check-Valid-Until "false";'
		[ -z "$proxy" ] || printf 'Acquire::http::Proxy "%s";\n' "$proxy"
	} >"$new/root/etc/apt/apt.conf.d/01custody-check"
}
with_packages() {
	local base
	base=$("$self" "$suite" 9>&-) || exit
	cp -a --reflink=auto "$base" "$new/root"
	say "$suite root: installing ${#packages[@]} packages (once; kept in $cache)"
	cp -L /etc/resolv.conf "$new/root/etc/resolv.conf"
	# shellcheck disable=SC2016 # for the shell inside
	if ! quietly setpriv --pdeathsig TERM "$here/enter.sh" "$new/root" sh -c '
		apt-get update &&
		printf "#!/bin/sh\nexit 101\n" >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d &&
		apt-get install -y --no-install-recommends "$@" && rm /usr/sbin/policy-rc.d && apt-get clean' sh "${packages[@]}"; then
		grep -E '^E:|rror' "$log" | tail -n 5 >&2
		die "cannot install the packages in the $suite root; log: $log"
	fi
}
: >"$log"
start=$SECONDS
if [ ${#packages[@]} -eq 0 ]; then minimal; else with_packages; fi
printf '%s\n' "${packages[@]}" >"$new/packages"
touch "$new/used"
[ ! -e "$cache/$name" ] || mv "$cache/$name" "$cache/old-$name.$$"
mv "$new" "$cache/$name"
trap - EXIT
rm -rf --one-file-system "$cache/old-$name".*
say "$suite root: made in $((SECONDS - start)) s"
printf '%s\n' "$cache/$name/root"
