#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# From a bare Debian 12, 13 or sid to a sandboxed command, as root, or as a user where the packages are installed:
#
#	contrib/quickstart.sh
#
# Installs missing packages that the build needs, builds out of tree, and demonstrates a few commands.  custody itself is
# installed in the build directory only; the script can be run again at any time.
#
#	BUILD=DIR	build directory (default: build/quickstart below the source tree)
set -u
cd "$(dirname "$0")/.." || exit 1
SRC=$(pwd -P)
BUILD=${BUILD:-$SRC/build/quickstart}
PREFIX=$BUILD/inst

say() {
	printf '\n== %s\n' "$*"
}
die() {
	printf 'quickstart.sh: %s\n' "$*" >&2
	exit 1
}
# quietly LOG CMD...: run CMD; print the end of its log only if it fails.
quietly() {
	local log=$BUILD/$1
	shift
	"$@" >"$log" 2>&1 </dev/null || {
		tail -n 20 "$log" >&2
		die "'$*' failed; see $log"
	}
}

packages='gcc libc6-dev libcrypt-dev make autoconf automake pkg-config crun libseccomp-dev libyajl-dev libcap-dev nettle-dev
	libarchive-dev'
# list_missing: sets `missing`.  The libcrun of some releases reads JSON with json-c; ours is linked statically, so it needs that.
list_missing() {
	local name
	missing=()
	for name in $packages $({
		dpkg-query -W -f '${Depends}' crun
		apt-cache show --no-all-versions crun
	} 2>/dev/null | grep -o 'libjson-c' | sed 's/$/-dev/;q'); do
		dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
	done
}
mkdir -p "$BUILD" || exit 1
list_missing
if [ ${#missing[@]} -gt 0 ]; then
	[ "$(id -u)" -eq 0 ] || die "packages are missing; as root: apt-get install ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	say 'installing packages'
	quietly apt-update.log apt-get update
	list_missing
	printf '%s\n' "${missing[*]}"
	quietly apt-install.log apt-get install -y --no-install-recommends "${missing[@]}"
fi

say "building in $BUILD"
quietly autogen.log ./autogen.sh
cd "$BUILD" || exit 1
quietly configure.log "$SRC/configure" -q --prefix="$PREFIX"
quietly make.log make -j2
quietly install.log make install
custody=$PREFIX/bin/custody
"$custody" --version

# The demo uses a temporary directory, also for custody's state.
demo=$(mktemp -d "${TMPDIR:-/tmp}/custody-demo.XXXXXX") || exit 1
trap 'cd /; rm -rf "$demo"' EXIT
chmod 0755 "$demo"
mkdir "$demo/work"
echo 'the original' >"$demo/work/notes.txt"
export CUSTODY_ROOT=$demo/root
mkdir "$CUSTODY_ROOT"
cd "$demo/work" || exit 1
bad=0

# show EXPECTED-STATUS EXPLANATION CMD...
show() {
	local want=$1 what=$2 got
	shift 2
	say "$what"
	printf '$ custody'
	printf ' %q' "$@"
	printf '\n'
	# Without a terminal, so that no command waits for an answer.
	setsid --wait "$custody" "$@" </dev/null
	got=$?
	if [ "$got" -eq "$want" ]; then
		printf '(exit status %d, as expected)\n' "$got"
	else
		printf '(exit status %d; expected %d)\n' "$got" "$want"
		bad=1
	fi
}

# An ordinary user may have no cgroup for limits, in a container for example: then the demo runs without them, as custody proposes.
# Every other refusal is an unexpected result below.
without=() doctor=0
words=$(setsid --wait "$custody" run -- true 2>&1 </dev/null | sed -n 's/.*custody run --without \([a-z,-]*\) -- true$/\1/p')
if [ -n "$words" ]; then
	without=(--without "$words") doctor=1
	say "This user has no cgroup for $words: the demo runs without.  For all limits, as root: $custody setup $(id -un)"
fi

# shellcheck disable=SC2016 # for the shell inside
show 0 'Run a command in a sandbox: root inside only, no network except lo, a system call filter (Seccomp: 2).' \
	run "${without[@]}" --name demo -- sh -c 'id; echo; ls /; echo; cat /proc/net/dev | tail -n +3; grep -E "^(Seccomp|NoNewPrivs|CapEff):" /proc/self/status
echo "changed inside" >notes.txt; cat notes.txt'
printf 'Outside, notes.txt still contains: %s\n' "$(cat notes.txt)"
[ "$(cat notes.txt)" = 'the original' ] || bad=1

show 0 'The changes are kept beside the original.  Review them ...' \
	diff demo
show 0 '... then apply them to the original.' \
	apply demo
printf 'Now notes.txt contains: %s\n' "$(cat notes.txt)"
[ "$(cat notes.txt)" = 'changed inside' ] || bad=1

show 124 'A command that exceeds its time limit: killed after two seconds, with all its child processes.' \
	run "${without[@]}" --timeout 2s -- sleep 60

show 3 'A command that fails: custody returns its exit status.' \
	run "${without[@]}" -- sh -c 'echo "cannot do that" >&2; exit 3'

show 0 'List the evidence of these two abnormal exits.' \
	evidence ls

show 114 'An unbounded delete: policy requires an approver and their PIN.  There is no terminal, so nothing starts.' \
	run -- sh -c 'rm -rf *'
[ -e notes.txt ] || bad=1

show 0 'List the request, which waits for an approver.' \
	pending

show 0 'Check the ledger for tampering: it records allowed and denied runs in a sealed hash chain.' \
	ledger verify

show "$doctor" 'Check each confinement layer on this machine:' doctor
# Nothing but the cgroup may be missing.
[ "$doctor" -eq 0 ] || "$custody" doctor </dev/null | grep -q '^1 of [0-9]* checks failed' || bad=1

if [ "$bad" -ne 0 ]; then
	say 'A step above had an unexpected result.'
	exit 1
fi
say "Done.  Program: $custody   Tests: contrib/check.sh   Documentation: README.md"
printf 'To use it in this shell:  export PATH=%q:"$PATH"\n' "$PREFIX/bin"
printf 'To install it for all users in /usr/local:  mkdir -p build/install && cd build/install && ../../configure && make install\n'
