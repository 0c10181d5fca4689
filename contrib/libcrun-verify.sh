#!/bin/bash
# Compares what oci/libcrun declares with libcrun's own headers:
#
#	contrib/libcrun-verify.sh			each version that configure accepts
#	contrib/libcrun-verify.sh VERSION		the source package of that version, for example 1.21
#	contrib/libcrun-verify.sh --suite SUITE		the version in that suite of Debian, for example trixie
#	contrib/libcrun-verify.sh DIR [VERSION]		an unpacked source tree
#	contrib/libcrun-verify.sh --tap			each version that configure accepts, with results for contrib/check.sh
#
# For a version that configure does not know it says which declarations match, and what to add.  Source packages come from the
# Debian mirror of this machine, through a configuration of apt that lives in a temporary directory: nothing of the host's apt
# changes, nothing of the source is executed.
#
#	MIRROR=URL	Debian mirror (default: the one that apt uses here)
#	SUITES=...	suites with source packages (default: bookworm trixie sid)
#
# Exit status: 0 everything matches, 1 a difference, 64 wrong usage, 77 a source package cannot be fetched.
set -u
cd "$(dirname "$0")/.." || exit 1
SRC=$(pwd -P)
CC=${CC:-cc}
SUITES=${SUITES:-bookworm trixie sid}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

say() {
	printf '%s\n' "$*"
}
die() { # STATUS WORDS...
	local status=$1
	shift
	printf 'libcrun-verify.sh: %s\n' "$*" >&2
	exit "$status"
}

# known: the list of m4/libcrun.m4, VERSION or VERSION=OTHER.
known() {
	sed -n 's/^m4_define(\[custody_libcrun_verified\], \[\(.*\)\])$/\1/p' "$SRC/m4/libcrun.m4"
}

# --- source packages --------------------------------------------------------------------------------------------------
apt_prepare() {
	local suite mirror=${MIRROR:-}
	[ ! -e "$tmp/apt/ready" ] || return 0
	[ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(ORIGIN)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		sed -n 's/^Debian|//p' | grep -v security | sort -u | head -n 1)
	[ -n "$mirror" ] || die 77 'apt names no Debian mirror here; set MIRROR=URL'
	mkdir -p "$tmp/apt/lists/partial" "$tmp/apt/cache/archives/partial" "$tmp/packages"
	for suite in $SUITES; do
		say "deb-src $mirror $suite main"
	done >"$tmp/apt/sources.list"
	cat >"$tmp/apt/apt.conf" <<-END
		Dir::Etc::sourcelist "$tmp/apt/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::State::lists "$tmp/apt/lists";
		Dir::Cache "$tmp/apt/cache";
		APT::Sandbox::User "root";
		Acquire::Check-Valid-Until "false";
	END
	APT_CONFIG=$tmp/apt/apt.conf apt-get -qq update >"$tmp/apt/log" 2>&1 ||
		die 77 "cannot read the package lists of $mirror: $(tail -n 1 "$tmp/apt/log")"
	: >"$tmp/apt/ready"
}

# fetch VERSION: sets `tree`.  1: the mirror has no such package, or not its upstream archive.
fetch() {
	local version=$1 debian uri name size sum orig='' patches=''
	apt_prepare
	debian=$(APT_CONFIG=$tmp/apt/apt.conf apt-cache showsrc crun 2>/dev/null | sed -n 's/^Version: //p' |
		grep -E "^${version//./\\.}(-|$)" | sort -Vu | tail -n 1)
	[ -n "$debian" ] || {
		say "crun $version: no source package in $SUITES"
		return 1
	}
	while read -r uri name size sum; do
		uri=${uri//\'/}
		case $name in
		*.orig.tar.[gx]z | *.debian.tar.?z) ;;
		*) continue ;;
		esac
		# apt-helper compares the checksum of the signed package list.
		APT_CONFIG=$tmp/apt/apt.conf /usr/lib/apt/apt-helper download-file "$uri" "$tmp/packages/$name" "$sum" >"$tmp/log" 2>&1 || {
			say "crun $debian: cannot fetch $name ($size bytes): $(grep -m1 -oE '[0-9]{3} .*|Hash Sum.*' "$tmp/log")"
			continue
		}
		case $name in
		*.orig.*) orig=$tmp/packages/$name ;;
		*) patches=$tmp/packages/$name ;;
		esac
	done < <(APT_CONFIG=$tmp/apt/apt.conf apt-get -qq --print-uris source "crun=$debian" 2>/dev/null)
	[ -n "$orig" ] || return 1
	tree=$tmp/tree-$version
	mkdir -p "$tree"
	tar -xf "$orig" -C "$tree" --strip-components=1 --no-same-owner || return 1
	if [ -n "$patches" ]; then
		tar -xf "$patches" -C "$tree" --no-same-owner
		[ ! -e "$tree/debian/patches/series" ] ||
			sed 's/[ \t]*#.*//; /^$/d' "$tree/debian/patches/series" | while read -r name; do
				patch -s -p1 -d "$tree" <"$tree/debian/patches/$name"
			done
	else
		say "crun $debian: compared without Debian's patches"
	fi
}

# --- comparison ---------------------------------------------------------------------------------------------------------
# stubs TREE: their headers, and what those include and no part of ours depends on.  Container definitions are opaque to us; an
# inline function that reads one gets 0.
stubs() {
	local file
	rm -rf "$tmp/stubs"
	mkdir -p "$tmp/stubs/ocispec"
	for file in "$1"/src/libcrun/*.h; do
		sed -E 's/\bdef(->[a-z_]+)+/0/g' "$file" >"$tmp/stubs/${file##*/}"
	done
	cat >"$tmp/stubs/config.h" <<-'END'
		#define LIBCRUN_PUBLIC extern
		#define HAVE_ERROR_H 1
		#define HAVE_SECCOMP 1
	END
	{
		say '#include <stdint.h>'
		say '#undef linux'
		grep -ohE 'runtime_spec_schema_[a-z_0-9]+' "$1"/src/libcrun/*.h | grep -v '_schema_h$' | sort -u |
			sed 's/.*/typedef void &;/'
		say 'typedef void json_map_string_string; typedef void json_object; typedef void *yajl_val;'
	} >"$tmp/stubs/ocispec/runtime_spec_schema_config_schema.h"
}

theirs='
#include <container.h>
#include <error.h>
#include <status.h>
#include <utils.h>
#include <linux.h>
#include <cgroup.h>
#include <seccomp.h>
int ensure_cloned_binary (void);
'

# compile DECLARATIONS NAME: standard input as C.
compile() {
	$CC -std=gnu11 -fsyntax-only -w -Werror=incompatible-pointer-types -D_GNU_SOURCE -I"$tmp/stubs" \
		-iquote "$SRC/src" -iquote "$SRC" -DLIBCRUN_DECLARATIONS="\"oci/libcrun/libcrun-$1.h\"" -x c - 2>"$tmp/$2"
}

# Our prototypes after theirs: the compiler refuses a second declaration of another type.
signatures() { # TREE DECLARATIONS
	{
		say "$theirs"
		say '#define LIBCRUN_THEIR_STRUCTS'
		say '#define libcrun_ignore_paused custody_ignore_paused'
		say '#include "oci/libcrun/libcrun-wrap.h"'
		say '_Static_assert(LIBCRUN_SECCOMP_SKIP_CACHE == 2, "LIBCRUN_SECCOMP_SKIP_CACHE");'
	} | compile "$2" signatures
}

# members: "STRUCT MEMBER" for each struct of our headers.
members() { # DECLARATIONS
	cat "$SRC/oci/libcrun/libcrun-types.h" "$SRC/oci/libcrun/libcrun-$1.h" | awk '
		/^struct [a-z_]+ \{/ { name = $2; next }
		/^\};/ { name = "" }
		name != "" && /;/ {
			sub(/\/\*.*/, ""); sub(/;.*/, ""); sub(/\[.*/, "")
			if (match($0, /\(\*[a-z_]+\)/)) print name, substr($0, RSTART + 2, RLENGTH - 3)
			else { n = split($0, part, /[ \t*]+/); print name, part[n] }
		}'
}

# Offset and size of each member, and the size of each struct; ours have other names in this file.
layouts() { # TREE DECLARATIONS
	local list name member
	list=$(members "$2")
	[ "$(wc -l <<<"$list")" -gt 40 ] || die 1 'found too few members in oci/libcrun'
	{
		say '#include <stddef.h>'
		say "$theirs"
		say 'typedef struct libcrun_error_s their_error;'
		for name in $(cut -d' ' -f1 <<<"$list" | sort -u); do
			say "typedef struct $name their_$name;"
			say "#define $name our_$name"
		done
		say '#define libcrun_error_t our_error_t'
		say '#define crun_output_handler our_output_handler'
		say '#include "oci/libcrun/libcrun-types.h"'
		for name in $(cut -d' ' -f1 <<<"$list" | sort -u); do
			say "_Static_assert(sizeof(struct $name) == sizeof(their_$name), \"size of $name\");"
		done
		while read -r name member; do
			say "_Static_assert(offsetof(struct $name, $member) == offsetof(their_$name, $member), \"$name.$member\");"
			say "_Static_assert(sizeof(((struct $name *)0)->$member) == sizeof(((their_$name *)0)->$member), \"$name.$member\");"
		done <<<"$list"
	} | compile "$2" layouts
}

# Calls that our wraps recognise by their flags, and a function that no header declares.
calls() { # TREE DECLARATIONS
	local flags ok=0
	tr -s ' \t\n' ' ' <"$1/src/libcrun/linux.c" >"$tmp/linux.c"
	: >"$tmp/calls"
	expect() { # TEXT
		grep -qF "$1" "$tmp/linux.c" || {
			say "linux.c has no call: ...$1" >>"$tmp/calls"
			ok=1
		}
	}
	flags=$(sed -n 's/^#define OPEN_PLAIN_TARGET (\(.*\))$/\1/p' "$SRC/oci/libcrun/libcrun-$2.h")
	expect "rootfsfd, target, $flags)"
	flags=$(sed -n 's/^#define OPEN_DEV (\(.*\))$/\1/p' "$SRC/oci/libcrun/libcrun-$2.h")
	expect "\"dev\", $flags"
	tr -s ' \t\n' ' ' <"$1/src/libcrun/container.c" | grep -qF 'O_CREAT | O_TRUNC, ' || {
		say 'container.c creates no pid file with O_CREAT | O_TRUNC' >>"$tmp/calls"
		ok=1
	}
	tr -s ' \t\n' ' ' <"$1/src/libcrun/cloned_binary.c" | grep -qE 'int ensure_cloned_binary ?\(void\)' || {
		say 'cloned_binary.c has no int ensure_cloned_binary(void)' >>"$tmp/calls"
		ok=1
	}
	return "$ok"
}

# compare TREE DECLARATIONS: 0, or 1 with the differences in $tmp/differences.
compare() {
	local part r=0
	: >"$tmp/differences"
	signatures "$1" "$2" || r=1
	layouts "$1" "$2" || r=1
	calls "$1" "$2" || r=1
	for part in signatures layouts calls; do
		grep -E 'error:|no call|creates no|has no' "$tmp/$part" | sed "s|^<stdin>:[0-9:]* ||; s|$SRC/||; s|$tmp/stubs/||" >>"$tmp/differences"
	done
	# A compiler that cannot be executed gives no error of that form.
	[ "$r" = 0 ] || [ -s "$tmp/differences" ] || cat "$tmp"/{signatures,layouts} >>"$tmp/differences"
	return "$r"
}

# verify TREE VERSION
verify() {
	local entry decl='' best='' fewest=1000 n
	[ -e "$1/src/libcrun/container.h" ] || die 64 "'$1' is not a source tree of crun: src/libcrun/container.h does not exist"
	stubs "$1"
	for entry in $(known); do
		[ "${entry%%=*}" != "$2" ] || decl=${entry#*=}
	done
	if [ -n "$decl" ]; then
		if compare "$1" "$decl"; then
			say "crun $2: oci/libcrun/libcrun-$decl.h matches"
			return 0
		fi
		say "crun $2: oci/libcrun/libcrun-$decl.h differs:"
		sed 's/^/  /' "$tmp/differences"
		return 1
	fi
	for decl in $(known | tr ' ' '\n' | grep -v =); do
		if compare "$1" "$decl"; then
			say "crun $2: not in the list of m4/libcrun.m4; oci/libcrun/libcrun-$decl.h matches.  Run the tests with it after you added"
			say "  $2=$decl    to custody_libcrun_verified"
			say "  $2:FUNCTION    to custody_libcrun_unwrapped for each function that $decl has there"
			return 1
		fi
		n=$(wc -l <"$tmp/differences")
		[ "$n" -ge "$fewest" ] || {
			best=$decl fewest=$n
			cp "$tmp/differences" "$tmp/best"
		}
	done
	say "crun $2: not in the list of m4/libcrun.m4; no declarations match.  oci/libcrun/libcrun-$best.h is nearest:"
	sed 's/^/  /' "$tmp/best"
	say "Write oci/libcrun/libcrun-$2.h with these differences and add $2 to custody_libcrun_verified in m4/libcrun.m4, add the file to"
	say 'oci/libcrun/local.mk, run this again, then the tests.'
	return 1
}

usage() {
	die 64 'usage: libcrun-verify.sh [VERSION | --suite SUITE | --tap | DIR [VERSION]]'
}
TAP=0
case $#:${1:-} in
0:) ;;
1:--tap) TAP=1 && shift ;;
2:--suite)
	SUITES=$2
	apt_prepare
	version=$(APT_CONFIG=$tmp/apt/apt.conf apt-cache showsrc crun 2>/dev/null | sed -n 's/^Version: \([^-]*\).*/\1/p' | sort -V | tail -n 1)
	[ -n "$version" ] || die 77 "the mirror has no source package of crun in $2"
	set -- "$version"
	;;
1:-* | 2:-*) usage ;;
1:* | 2:*)
	if [ -d "$1" ]; then
		verify "$(cd "$1" && pwd -P)" "${2:-$(sed -n 's/^\*\{0,1\} *crun-\([0-9.]*\)$/\1/p' "$1/NEWS" 2>/dev/null | head -n 1)}"
		exit
	fi
	[ $# -eq 1 ] || die 64 "'$1' is not a directory"
	;;
*) usage ;;
esac
[ $# -gt 0 ] || mapfile -t versions < <(known | tr ' ' '\n' | sed 's/=.*//')
[ $# -eq 0 ] || versions=("$1")
[ "$TAP" = 0 ] || say "1..${#versions[@]}"

worst=0 n=0
for version in "${versions[@]}"; do
	tree='' r=77
	if (apt_prepare) && fetch "$version"; then
		verify "$tree" "$version"
		r=$?
	fi >"$tmp/out" 2>&1
	sed "$([ "$TAP" = 0 ] || echo 's/^/# /')" "$tmp/out"
	n=$((n + 1))
	case $TAP:$r in
	1:0) say "ok $n - PLAT-2: the declarations of libcrun $version are those of its source package" ;;
	1:77) say "ok $n - PLAT-2: the declarations of libcrun $version # SKIP missing: source package" ;;
	1:*) say "not ok $n - PLAT-2: the declarations of libcrun $version are those of its source package" ;;
	esac
	case $r:$worst in
	0:* | 77:1) ;;
	*) worst=$r ;;
	esac
done
[ "$TAP" = 1 ] || exit "$worst"
