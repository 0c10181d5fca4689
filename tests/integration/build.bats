#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The build refuses what it must, installs what it should, and its own checks can fail.
# CUSTODY_BUILD is a finished build directory (contrib/check.sh sets it).

bats_require_minimum_version 1.5.0

setup() {
	SRC=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
}

wrapped() { # the functions of libcrun and libc that the linker replaces
	cat "$SRC/oci/libcrun/local.mk" "$SRC/oci/runtime/local.mk" | tr ', ' '\n\n' | sed -n 's/.*--wrap=//p' | sort -u
}
# A small libcrun.a with VERSION inside, that calls what custody replaces but for the functions OMITTED; crun VERSION, if any.
fake_libcrun() { # VERSION CRUN [OMITTED...]
	local fake=$BATS_TEST_TMPDIR/fake version=$1 crun=$2 name
	shift 2
	rm -rf "$fake"
	mkdir -p "$fake/lib" "$fake/bin" "$fake/o"
	for name in $(wrapped); do
		[[ " $* " == *" $name "* ]] || printf 'void %s(void);\n' "$name" >>"$fake/o/declared.c"
		[[ " $* " == *" $name "* ]] || printf '\t%s();\n' "$name" >>"$fake/o/called.c"
	done
	printf '%s\nvoid libcrun_container_load_from_memory(void)\n{\n%s\n}\n' "$(cat "$fake/o/declared.c")" \
		"$(cat "$fake/o/called.c")" >"$fake/o/container.c"
	printf 'const char *version(void);\nconst char *version(void) { return "%s"; }\n' "${version:-none}" >"$fake/o/seccomp.c"
	[ "$version" != 1.8.1 ] ||
		printf 'const char *version(void);\nvoid write_file_with_flags(void);\nvoid write_file_with_flags(void) {}\n' >"$fake/o/seccomp.c"
	(cd "$fake/o" && cc -w -fno-builtin -c container.c seccomp.c && ar cr ../lib/libcrun.a container.o seccomp.o)
	[ -z "$crun" ] || printf '#!/bin/sh\necho "crun version %s"\n' "$crun" >"$fake/bin/crun"
	chmod -R +x "$fake/bin"
}
configure_with() { # LIBCRUN_A
	rm -rf "$BATS_TEST_TMPDIR/conf"
	mkdir -p "$BATS_TEST_TMPDIR/conf"
	(cd "$BATS_TEST_TMPDIR/conf" && "$SRC/configure" -q LIBCRUN_A="$1" 2>&1)
}
refused() { # TEXTS: configure must name each of them, and writes no Makefile
	local text
	run configure_with "$BATS_TEST_TMPDIR/fake/lib/libcrun.a"
	[ "$status" -ne 0 ]
	[ ! -e "$BATS_TEST_TMPDIR/conf/Makefile" ]
	for text; do
		[[ $output == *"$text"* ]] || {
			echo "missing: $text" >&2
			return 1
		}
	done
}

@test "PLAT-2: an unverified libcrun is refused, with its version and the command that compares it" {
	fake_libcrun 9.9 ''
	refused 'version 9.9' 'verified:  1.8.1 1.21 1.28' 'contrib/libcrun-verify.sh 9.9'
	fake_libcrun 9.9 9.9
	refused 'version 9.9' 'contrib/libcrun-verify.sh 9.9'
}

@test "PLAT-2: each verified version is accepted from another prefix, with its own declarations" {
	local version
	for version in 1.8.1 1.21 1.28; do
		fake_libcrun "$version" "$version"
		configure_with "$BATS_TEST_TMPDIR/fake/lib/libcrun.a"
		grep -qx "#define LIBCRUN_VERSION \"$version\"" "$BATS_TEST_TMPDIR/conf/custody-config.h"
		grep -qx "#define LIBCRUN_DECLARATIONS \"oci/libcrun/libcrun-$version.h\"" "$BATS_TEST_TMPDIR/conf/custody-config.h"
		[ -e "$SRC/oci/libcrun/libcrun-$version.h" ]
	done
}

@test "PLAT-2: an archive of one version and a crun of another are refused, both by name" {
	fake_libcrun 1.21 1.8.1
	refused 'mixed' 'libcrun.a:  1.21' 'crun installed with it:  1.8.1' 'apt-get install --reinstall crun'
	fake_libcrun 1.8.1 1.28
	refused 'mixed' 'libcrun.a:  1.8.1' 'crun installed with it:  1.28'
	# Neither a version inside nor the functions of 1.8.1.
	fake_libcrun '' 1.28
	refused 'is not libcrun 1.28'
}

@test "PLAT-2: a package that is not installed completely, or of another version, is refused" {
	fake_libcrun 1.21 1.21
	mkdir "$BATS_TEST_TMPDIR/bin"
	cat >"$BATS_TEST_TMPDIR/bin/dpkg-query" <<-'END'
		#!/bin/sh
		case "$*" in
		-S*) echo "crun: $2" ;;
		*Upstream-Version*) printf %s "$PACKAGED" ;;
		*Status-Status*) printf %s "$STATUS" ;;
		esac
	END
	chmod +x "$BATS_TEST_TMPDIR/bin/dpkg-query"
	export PATH=$BATS_TEST_TMPDIR/bin:$PATH PACKAGED=1.21 STATUS=half-installed
	refused "'half-installed'" 'dpkg --configure -a'
	export STATUS=installed PACKAGED=1.28
	refused 'mixed' 'package crun:  1.28'
	export PACKAGED=1.21
	configure_with "$BATS_TEST_TMPDIR/fake/lib/libcrun.a"
}

@test "PLAT-2: an archive that does not call a function that custody replaces is refused, with its name" {
	local name
	for name in safe_openat fchown ensure_cloned_binary libcrun_generate_seccomp; do
		fake_libcrun 1.21 1.21 "$name" write_file_with_flags
		refused "does not call: $name" 'contrib/libcrun-verify.sh 1.21'
	done
	# 1.21 writes the pid file by another function, which is replaced too; 1.8.1 has no other.
	fake_libcrun 1.21 1.21 write_file_with_flags
	configure_with "$BATS_TEST_TMPDIR/fake/lib/libcrun.a"
	fake_libcrun 1.8.1 1.8.1 write_file_with_flags
	refused 'does not call: write_file_with_flags'
}

# A source tree of crun whose headers are made of our declarations of 1.21.
fake_tree() {
	local tree=$BATS_TEST_TMPDIR/tree name
	rm -rf "$tree"
	mkdir -p "$tree/src/libcrun"
	for name in error status utils linux cgroup; do
		echo '#pragma once' >"$tree/src/libcrun/$name.h"
	done
	echo 'enum { LIBCRUN_SECCOMP_SKIP_CACHE = 2 };' >"$tree/src/libcrun/seccomp.h"
	{
		printf '#pragma once\n#include <%s>\n' stdbool.h
		printf '#include <%s>\n' stddef.h stdio.h string.h fcntl.h pwd.h sys/types.h unistd.h
		cd "$SRC/oci/libcrun"
		cat libcrun-types.h libcrun-1.21.h libcrun.h libcrun-wrap.h | grep -vE '^#(include|pragma)' |
			sed '/^static inline/,/^}/d; s/libcrun_ignore_paused/theirs_only/'
	} >"$tree/src/libcrun/container.h"
	printf 'openat (rootfsfd, target, O_CLOEXEC | O_NOFOLLOW\n | O_DIRECTORY);\n(rootfsfd, "dev", O_CLOEXEC | O_PATH | O_DIRECTORY);\n' \
		>"$tree/src/libcrun/linux.c"
	echo 'ret = write_file_at_with_flags (AT_FDCWD, O_CREAT | O_TRUNC, 0700, pid_file);' >"$tree/src/libcrun/container.c"
	echo 'int ensure_cloned_binary(void)' >"$tree/src/libcrun/cloned_binary.c"
}
verify() { # STATUS EXPRESSION FILE TEXT: after sed EXPRESSION on FILE of the tree, as version 1.21
	fake_tree
	sed -i -E "$2" "$BATS_TEST_TMPDIR/tree/src/libcrun/$3"
	run "$SRC/contrib/libcrun-verify.sh" "$BATS_TEST_TMPDIR/tree" "${5:-1.21}"
	[ "$status" -eq "$1" ] && [[ $output == *"$4"* ]] || {
		echo "$2: status $status: $output" >&2
		return 1
	}
}

@test "PLAT-2: libcrun-verify.sh finds a changed member, signature, flag or call, and says what to add for a new version" {
	verify 0 '' container.h 'libcrun-1.21.h matches'
	verify 1 's/\tchar \*intelrdt;//' container.h intelrdt
	verify 1 's/^\tbool detach;/\tint detach;/' container.h libcrun_context_s.detach
	verify 1 's/^\tint argc;/\tint argc, more;\n\tvoid *last;/' container.h 'size of libcrun_context_s'
	verify 1 's/(define ROOT_PARAMETERS const char \*root).*/\1, size_t root_len/' container.h safe_openat
	verify 1 's/(libcrun_container_kill\(.*)const char \*signal/\1int signal/' container.h libcrun_container_kill
	verify 1 's/SKIP_CACHE = 2/SKIP_CACHE = 4/' seccomp.h LIBCRUN_SECCOMP_SKIP_CACHE
	verify 1 's/O_CLOEXEC \| O_NOFOLLOW/O_NOFOLLOW/' linux.c 'rootfsfd, target, O_CLOEXEC'
	verify 1 's/"dev"/"Dev"/' linux.c '"dev", O_CLOEXEC'
	verify 1 's/O_CREAT/0/' container.c 'pid file'
	verify 1 's/\(void\)/(int)/' cloned_binary.c ensure_cloned_binary
	verify 1 '' container.h '1.99=1.21' 1.99
	verify 1 's/\tchar \*intelrdt;//' container.h 'Write oci/libcrun/libcrun-1.99.h' 1.99
	run "$SRC/contrib/libcrun-verify.sh" /nonexistent 1.21
	[ "$status" -eq 64 ]
}

@test "CARD-1: an archive that is not libcrun is refused" {
	mkdir -p "$BATS_TEST_TMPDIR/fake"
	cp "$(cc -print-file-name=libcap.a)" "$BATS_TEST_TMPDIR/fake/libcrun.a"
	run configure_with "$BATS_TEST_TMPDIR/fake/libcrun.a"
	[ "$status" -ne 0 ]
	[[ $output == *"not a libcrun"* ]]
}

@test "CARD-1: no libcrun at all names the package" {
	run configure_with /nonexistent/libcrun.a
	[ "$status" -ne 0 ]
	[[ $output == *"apt-get install crun"* ]]
}

@test "PLAT-5: a cross build whose programs cannot be executed is refused, with the package" {
	mkdir -p "$BATS_TEST_TMPDIR/conf"
	cd "$BATS_TEST_TMPDIR/conf"
	# As a cross build for arm64, with the compiler of this machine.
	run "$SRC/configure" -q --build=x86_64-linux-gnu --host=aarch64-linux-gnu CC=cc EMULATOR=false
	[ "$status" -ne 0 ]
	[[ $output == *"apt-get install qemu-user"* ]]
	[[ $output == *"EMULATOR='COMMAND'"* ]]
	[ ! -e Makefile ]
}

@test "CARD-1: make install DESTDIR installs programs and profiles, statically linked" {
	: "${CUSTODY_BUILD:?a finished build directory}"
	local dest=$BATS_TEST_TMPDIR/dest prog list
	make -s -C "$CUSTODY_BUILD" install DESTDIR="$dest" >/dev/null
	list=$(cd "$dest" && find . -type f)
	[[ $list == */bin/custody* ]]
	[[ $list == */libexec/custody/custody-init* ]]
	[[ $list == */libexec/custody/custody-pack* ]]
	[[ $list == */libexec/custody/custody-warden* ]]
	[[ $list == */share/custody/profiles/offline.json* ]]
	[[ $list == */share/custody/bats/custody.bash* ]]
	while read -r prog; do
		# Exceptions: libsystemd and libcurl have no static archives, libarchive is needed only where a share is slow, and names are
		# resolved by the host's C library.
		case ${prog##*/} in
		custody-runtime-systemd | custody-scope | custody-pack | custody-peer | custody-rest | custody-egress) continue ;;
		esac
		[ "$(head -c 4 "$prog" | tr -d '\0')" = $'\x7fELF' ] || continue
		run readelf -l "$prog"
		[[ $output != *INTERP* ]] || {
			echo "$prog needs a dynamic loader" >&2
			return 1
		}
	done < <(find "$dest" -type f -path '*/*bin/*' -o -type f -path '*/libexec/*')
}

@test "check-rooms: each forbidden include is found" {
	local tree=$BATS_TEST_TMPDIR/tree place
	for place in 'src/base/x.c layer/layer.h' 'src/policy/x.c cli/dispatch.h' 'src/policy/x.c subject/subject.h' \
		'src/warden/x.c cli/dispatch.h' 'src/warden/x.c oci/bundle/bundle.h' 'src/session/x.c oci/libcrun/libcrun-adapter.h' \
		'oci/hook/x.c run/run.h' 'src/policy/x.c policy.h' 'src/attic/x.c base/fd.h' 'src/run/x.c libcrun/container.h' \
		'src/cli/x.c ledger/ledger-impl.h'; do
		rm -rf "$tree"
		mkdir "$tree"
		cp -r "$SRC/src" "$SRC/oci" "$tree"
		export SRCDIR=$tree ROOMS=$SRC/tests/rooms
		run sh "$SRC/tests/check-rooms.sh"
		[[ $output == *'ok 7 '* && $output != *'not ok'* ]]
		mkdir -p "$tree/$(dirname "${place% *}")"
		case $place in
		*' libcrun/'*) echo "#include <${place#* }>" >"$tree/${place% *}" ;;
		*) echo "#include \"${place#* }\"" >"$tree/${place% *}" ;;
		esac
		run sh "$SRC/tests/check-rooms.sh"
		[[ $output == *'not ok'* ]] || {
			echo "not found: $place" >&2
			return 1
		}
	done
}

@test "check-rooms: a room that names one below it, or an empty list, is found" {
	export SRCDIR=$SRC ROOMS=$BATS_TEST_TMPDIR/rooms
	sed 's/^policy:/& cli/' "$SRC/tests/rooms" >"$ROOMS"
	run sh "$SRC/tests/check-rooms.sh"
	[[ $output == *'policy names cli, which is not above it'* && $output == *'not ok 1 '* ]]
	: >"$ROOMS"
	run sh "$SRC/tests/check-rooms.sh"
	[[ $output == *'names no room'* && $output == *'not ok 1 '* ]]
}

@test "check-symbols: a name that libcrun has is found" {
	mkdir "$BATS_TEST_TMPDIR/lib"
	echo 'int libcrun_container_create(void); int libcrun_container_create(void) { return 0; }' >"$BATS_TEST_TMPDIR/x.c"
	cc -c -o "$BATS_TEST_TMPDIR/x.o" "$BATS_TEST_TMPDIR/x.c"
	ar cr "$BATS_TEST_TMPDIR/lib/libx.a" "$BATS_TEST_TMPDIR/x.o"
	LIBCRUN_A=$(cc -print-file-name=libcrun.a) BUILDDIR=$BATS_TEST_TMPDIR/lib run sh "$SRC/tests/check-symbols.sh"
	[[ $output == *'not ok'* ]]
	[[ $output == *libcrun_container_create* ]]
}

@test "lint: a banned call is found, in a comment or a string it is not" {
	local tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree/src" "$tree/oci" "$tree/tests" "$tree/contrib"
	printf '/* strcpy(a, b) */\nconst char *s = "system(x)"; // popen(\nint my_strcpy(int);\n' >"$tree/src/good.c"
	SRCDIR=$tree LINT_ONLY=banned run sh "$SRC/tests/lint.sh"
	[ "$status" -eq 0 ]
	printf 'int x(void);\nint x(void)\n{\n\treturn strcpy(a, b);\n}\n' >"$tree/src/bad.c"
	SRCDIR=$tree LINT_ONLY=banned run sh "$SRC/tests/lint.sh"
	[ "$status" -ne 0 ]
	[[ $output == *'src/bad.c:4: strcpy() is banned; use strbuf'* ]]
}

@test "check-words: a listed word in a comment, a string or a document is found, with its place and replacement" {
	local tree=$BATS_TEST_TMPDIR/tree word='no''body' place
	export SRCDIR=$tree WORDS=$SRC/tests/words
	for place in 'src/base/fd.c:1:/* %s reads it. */' 'src/base/fd.c:2:const char *s = "%s";' 'docs/x.md:1:It is for %s.' \
		'tests/integration/x.bats:1:@test "x: %s" {' 'README.md:1:%s'; do
		rm -rf "$tree"
		mkdir -p "$tree"/{src/base,docs,tests/integration}
		printf '/* A comment.\n * Two lines. */\nint no%s_at_all;\n' body >"$tree/src/base/fd.c"
		echo 'A document.' >"$tree/README.md"
		run sh "$SRC/tests/check-words.sh" src docs tests README.md
		[ "$status" -eq 0 ]
		[[ $output == '0 uses of words'* ]]
		IFS=: read -r file line text <<<"$place"
		[ "$line" -eq 1 ] || echo >"$tree/$file"
		[ "$line" -ne 1 ] || : >"$tree/$file"
		# shellcheck disable=SC2059 # a format
		printf "$text\n" "$word" >>"$tree/$file"
		run sh "$SRC/tests/check-words.sh" src docs tests README.md
		[ "$status" -ne 0 ]
		[[ $output == *"$file:$line: $word -> the role"* && $output == *'1 uses of words'* ]] || {
			echo "not found: $place" >&2
			return 1
		}
	done
}

@test "check-words: an allow line excuses only its place; an empty list fails" {
	local tree=$BATS_TEST_TMPDIR/tree word='no''body'
	export SRCDIR=$tree WORDS=$BATS_TEST_TMPDIR/words
	mkdir -p "$tree/src"
	printf 'uid %s\n' "$word" | tee "$tree/src/a.md" >"$tree/src/b.md"
	printf '%s again\n' "$word" >>"$tree/src/a.md"
	printf '%s\tthe role\nallow\t^src/a\\.md$\tuid %s\n' "$word" "$word" >"$WORDS"
	run sh "$SRC/tests/check-words.sh" src
	[ "$status" -ne 0 ]
	[[ $output != *'src/a.md:1:'* && $output == *'src/a.md:2:'* && $output == *'src/b.md:1:'* && $output == *'2 uses of words'* ]]
	: >"$WORDS"
	run sh "$SRC/tests/check-words.sh" src
	[ "$status" -ne 0 ]
	[[ $output == *': no rule'* ]]
	echo 'a line without a tab' >"$WORDS"
	run sh "$SRC/tests/check-words.sh" src
	[ "$status" -ne 0 ]
	rm "$WORDS"
	run sh "$SRC/tests/check-words.sh" src
	[ "$status" -ne 0 ]
}

@test "check-requirements: an id in another spelling is found" {
	local tree=$BATS_TEST_TMPDIR/tree name
	export SRCDIR=$tree
	mkdir -p "$tree/tests/unit"
	echo '@test "GOV-9: ISO-3: a sentence" {' >"$tree/tests/x.bats"
	echo 'TAP_MAIN(T(GOV_6_a_sentence), T(utf8_is_decoded))' >"$tree/tests/unit/x.c"
	run sh "$SRC/tests/check-requirements.sh"
	[[ $output == *'ok 3 '* && $output != *'not ok'* ]]
	run sh "$SRC/tests/check-requirements.sh" count
	[ "$(tr -s ' \n' ' ' <<<"$output")" = ' 1 GOV-6 1 GOV-9 1 ISO-3 ' ]
	for name in gov_6_a GOV6_a iso5_a a_GOV_6 ABC_6_a; do
		echo "TAP_MAIN(T($name))" >"$tree/tests/unit/x.c"
		run sh "$SRC/tests/check-requirements.sh"
		[[ $output == *'not ok'* ]] || {
			echo "not found: $name" >&2
			return 1
		}
	done
	echo 'TAP_MAIN(T(a))' >"$tree/tests/unit/x.c"
	for name in 'gov-6: a' 'a (GOV-6)' 'GOV-6, ISO-3: a' 'GOV 6: a'; do
		echo "@test \"$name\" {" >"$tree/tests/x.bats"
		run sh "$SRC/tests/check-requirements.sh"
		[[ $output == *'not ok 3 '* ]] || {
			echo "not found: $name" >&2
			return 1
		}
	done
}

@test "LANE-9: live suites in the lane prod need both keys; one alone is refused with the full command" {
	local whole='CUSTODY_ALLOW_PROD_LIVE=1 contrib/check.sh --live podman --lane prod --allow-prod-live'
	run env -u CUSTODY_ALLOW_PROD_LIVE "$SRC/contrib/check.sh" --live podman --lane prod --allow-prod-live
	[ "$status" -eq 64 ]
	[[ $output == *"$whole"* ]]
	run env CUSTODY_ALLOW_PROD_LIVE=1 "$SRC/contrib/check.sh" --live podman --lane prod
	[ "$status" -eq 64 ]
	[[ $output == *"$whole"* ]]
	for value in 0 false no off 2 ' 1' 'yes please' ''; do
		run env CUSTODY_ALLOW_PROD_LIVE="$value" "$SRC/contrib/check.sh" --live podman --lane prod --allow-prod-live
		[ "$status" -eq 64 ]
		[[ $output == *"$whole"* ]]
	done
	for lane in production Prod ' prod'; do
		run env CUSTODY_ALLOW_PROD_LIVE=1 "$SRC/contrib/check.sh" --live podman --lane "$lane" --allow-prod-live
		[ "$status" -eq 64 ]
		[[ $output == *"unknown lane"* ]]
	done
	[[ $output != *'== build'* ]]
}

@test "check.sh: an engine, a lane or an option that is unknown is refused before anything is done" {
	run "$SRC/contrib/check.sh" --live no-such-engine
	[ "$status" -eq 64 ]
	[[ $output == *"unknown live suite 'no-such-engine'"* ]]
	run "$SRC/contrib/check.sh" --live podman --lane prod
	[ "$status" -eq 64 ]
	[[ $output == *'--allow-prod-live'* ]]
	run "$SRC/contrib/check.sh" --live-destructive
	[ "$status" -eq 64 ]
	run "$SRC/contrib/check.sh" --nonsense
	[ "$status" -eq 64 ]
}

@test "CARD-1: a benchmark outside of a build directory says so and compiles nothing" {
	local bench
	mkdir "$BATS_TEST_TMPDIR/empty"
	for bench in evidence ledger policy; do
		run --separate-stderr env -u BUILDDIR -C "$BATS_TEST_TMPDIR/empty" bash "$SRC/contrib/bench/$bench"
		[ "$status" -eq 64 ]
		[[ $stderr == "$bench: '.' is not a build directory"* ]]
		[ -z "$(ls -A "$BATS_TEST_TMPDIR/empty")" ]
	done
}

@test "PLAT-1: quickstart prints a line that puts custody onto the PATH, and it does" {
	local line
	line=$(PREFIX="$BATS_TEST_TMPDIR/a dir" bash -c "$(grep 'export PATH=' "$SRC/contrib/quickstart.sh")" | sed 's/.*: *export/export/')
	mkdir -p "$BATS_TEST_TMPDIR/a dir/bin"
	printf '#!/bin/sh\necho found\n' >"$BATS_TEST_TMPDIR/a dir/bin/custody"
	chmod +x "$BATS_TEST_TMPDIR/a dir/bin/custody"
	[ "$(bash -c "$line; custody")" = found ]
}
