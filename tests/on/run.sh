#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a command as root in a throw-away copy of a Debian root file system: root.sh makes it, enter.sh enters it.
#
#	tests/on/run.sh [--packages "NAME..."] [--tree] [--bind DIR] [--keep] SUITE CMD...
#
#	SUITE			bookworm, trixie or sid
#	--packages "NAME..."	what the root has beside git; without it only what a minimal installation has
#	--tree			clone HEAD of this tree to /root/custody and start there: uncommitted changes are not in it
#	--bind DIR		this directory of the host, writable, at the same path
#	--keep			keep the copy and print its directory; tests/on/enter.sh enters it again
#
# The exit status is CMD's.  Example: tests/on/run.sh --packages 'podman crun' trixie podman --version
set -eu
die() {
	echo "run.sh: $*" >&2
	exit 1
}
usage() {
	echo 'usage: run.sh [--packages "NAME..."] [--tree] [--bind DIR] [--keep] bookworm|trixie|sid CMD...' >&2
	exit 64
}
here=$(cd "$(dirname "$0")" && pwd)
src=${here%/tests/on}
packages='' tree=0 bind=() keep=0
while [ $# -gt 0 ]; do
	case $1 in
	--packages) [ $# -ge 2 ] || usage; packages=$2; shift ;;
	--bind) [ $# -ge 2 ] || usage; bind=(--bind "$2"); shift ;;
	--tree) tree=1 ;;
	--keep) keep=1 ;;
	-*) usage ;;
	*) break ;;
	esac
	shift
done
[ $# -ge 2 ] || usage
suite=$1
shift
if [ "$tree" = 1 ]; then
	command -v git >/dev/null || die 'no git; apt-get install git'
	# The owner of the tree may be another user than root.
	config=$(mktemp)
	trap 'rm -f "$config"' EXIT
	git config -f "$config" safe.directory '*'
	export GIT_CONFIG_GLOBAL=$config
	head=$(git -C "$src" rev-parse --short HEAD 2>/dev/null) || die "'$src' is not a git clone; HEAD of the tree is what runs there"
	changed=$(git -C "$src" status --porcelain | wc -l)
	printf '# tree: HEAD (%s)%s\n' "$head" "$([ "$changed" -eq 0 ] || printf '; %d uncommitted changes are not in it' "$changed")" >&2
fi
# shellcheck disable=SC2086 # a list of words
root=$("$here/root.sh" "$suite" $packages) || exit
cache=${root%/*/*}

# A copy, not an overlay: custody makes overlays of its own, and an upper directory on an overlay is refused.
exec 7>"$cache/run.lock"
flock 7
for old in "$cache"/run.*/; do
	[ -d "$old" ] && [ ! -e "$old/kept" ] || continue
	# Its owner was killed if the lock is free.
	exec 8>"$old/lock"
	! flock -n 8 || rm -rf --one-file-system "$old"
	exec 8>&-
done
work=$(mktemp -d "$cache/run.XXXXXX")
exec 8>"$work/lock"
flock 8
exec 7>&-
child=''
leave() {
	trap '' TERM INT HUP
	trap - EXIT
	[ -z "$child" ] || { kill "$child" && wait "$child"; } 2>/dev/null || true
	rm -f "${config:-}"
	if [ "$keep" = 1 ] && [ -d "$work/root" ]; then
		touch "$work/kept"
		echo "# kept: $work/root" >&2
	else
		rm -rf --one-file-system "$work"
	fi
}
trap 'exit 143' TERM INT HUP
trap leave EXIT
cp -a --reflink=auto "$root" "$work/root" || die "cannot copy the root to '$work'; make room, or XDG_CACHE_HOME=DIR chooses another directory"
chmod 755 "$work" "$work/root"
cp -L /etc/resolv.conf "$work/root/etc/resolv.conf" 2>/dev/null || true
if [ "$tree" = 1 ]; then
	git clone -q --no-local "$src" "$work/root/root/custody"
	set -- env -C /root/custody "$@"
fi
env --default-signal=INT,QUIT setpriv --pdeathsig TERM "$here/enter.sh" "${bind[@]}" "$work/root" "$@" <&0 8>&- &
child=$!
status=0
wait "$child" || status=$?
child=''
exit "$status"
