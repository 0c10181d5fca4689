#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# From a bare Debian 12 to a sandboxed command, as root:
#
#	contrib/quickstart.sh
#
# Installs the packages that the build needs (only those that are missing), builds out of tree, and shows what becomes of
# a few commands.  Nothing is installed outside the build directory; run it again as often as you like.
#
#	BUILD=DIR	where to build (default: build/quickstart below the source tree)
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
# quietly LOG CMD...: shows the log only when it went wrong.
quietly() {
	local log=$BUILD/$1
	shift
	"$@" >"$log" 2>&1 </dev/null || {
		tail -n 20 "$log" >&2
		die "'$*' failed; all of it is in $log"
	}
}

packages='gcc libc6-dev make autoconf automake pkg-config crun libseccomp-dev libyajl-dev libcap-dev nettle-dev libarchive-dev'
missing=()
for name in $packages; do
	dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
done
mkdir -p "$BUILD" || exit 1
if [ ${#missing[@]} -gt 0 ]; then
	[ "$(id -u)" -eq 0 ] || die "packages are missing; as root: apt-get install ${missing[*]}"
	say "installing packages: ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	quietly apt-update.log apt-get update
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

# The demo works on a throw-away directory and keeps its state there.
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
	# Without a terminal: the demo is nobody who could be asked.
	setsid --wait "$custody" "$@" </dev/null
	got=$?
	if [ "$got" -eq "$want" ]; then
		printf '(exit status %d, as it should be)\n' "$got"
	else
		printf '(exit status %d; %d was expected)\n' "$got" "$want"
		bad=1
	fi
}

# shellcheck disable=SC2016 # for the shell inside
show 0 'A command in a sandbox: root of its own small world, no network but lo, a filter on system calls (Seccomp: 2).' \
	run --name demo -- sh -c 'id; echo; ls /; echo; cat /proc/net/dev | tail -n +3; grep -E "^(Seccomp|NoNewPrivs|CapEff):" /proc/self/status
echo "changed inside" >notes.txt; cat notes.txt'
printf 'Outside, notes.txt still says: %s\n' "$(cat notes.txt)"
[ "$(cat notes.txt)" = 'the original' ] || bad=1

show 0 'What it changed lies beside the original until somebody has looked at it ...' \
	diff demo
show 0 '... and says that it may come home.' \
	apply demo
printf 'Now notes.txt says: %s\n' "$(cat notes.txt)"
[ "$(cat notes.txt)" = 'changed inside' ] || bad=1

show 124 'A command that takes too long: stopped after two seconds, with everything it started.' \
	run --timeout 2s -- sleep 60

show 3 'A command that fails: its own exit status comes through.' \
	run -- sh -c 'echo "cannot do that" >&2; exit 3'

show 0 'What the two left behind: evidence of each end that was not normal.' \
	evidence ls

show 114 'A command that deletes without bounds: policy wants a person and their PIN.  Nobody is here, so nothing starts.' \
	run -- sh -c 'rm -rf *'
[ -e notes.txt ] || bad=1

show 0 'It is not forgotten either: the question waits for an answer.' \
	pending

show 0 'And all of it stands in the ledger, allowed and denied, each record sealed and chained to the one before.' \
	ledger verify

show 0 'What protects all this on this machine, layer by layer:' doctor

if [ "$bad" -ne 0 ]; then
	say 'Something above is not as it should be.'
	exit 1
fi
say "That was it.  The program: $custody   The tests: contrib/check.sh   More: README.md"
