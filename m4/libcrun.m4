dnl SPDX-License-Identifier: GPL-2.0-or-later
dnl CUSTODY_LIBCRUN: finds libcrun.a, refuses a version that was not verified, and an archive that lacks what custody replaces.
dnl
dnl Debian's package `crun` ships the archive without headers and without a .pc file.  oci/libcrun declares the part that custody
dnl uses, and each declaration is right only for the versions below; a wrong struct layout compiles, links and then corrupts
dnl memory.  So an unknown version is an error, not a warning.
dnl
dnl VERSION, with declarations in oci/libcrun/libcrun-VERSION.h, or VERSION=OTHER, with those of OTHER.
m4_define([custody_libcrun_verified], [1.8.1 1.21 1.28])
dnl VERSION:FUNCTION: a function that is replaced in other versions and that this one need not call.
dnl write_file_with_flags: the pid file is written by write_file_at_with_flags since 1.21, which is replaced as well.
m4_define([custody_libcrun_unwrapped], [1.21:write_file_with_flags 1.28:write_file_with_flags])

dnl The versions that the archive, its package and the crun installed with it claim; they must agree.
AC_DEFUN([CUSTODY_LIBCRUN_VERSION], [
  AC_MSG_CHECKING([for the version of libcrun])
  dnl The archive has it since 1.14, as part of the key of its seccomp cache; 1.8.1 has a function that 1.20 removed.
  custody_crun_member=`$AR t "$LIBCRUN_A" 2>/dev/null | grep 'seccomp\.o$' | head -n 1`
  custody_crun_inside=`$AR p "$LIBCRUN_A" $custody_crun_member 2>/dev/null | LC_ALL=C tr '\000' '\n' |
    LC_ALL=C sed 's/.*@<:@^ -~@:>@//' | LC_ALL=C grep -aE '^@<:@0-9@:>@+\.@<:@0-9@:>@+(\.@<:@0-9@:>@+)*$' | sort -u`
  AS_IF([test -z "$custody_crun_inside" && grep -q '^T write_file_with_flags$' conftest.nm], [custody_crun_inside=1.8.1])
  dnl The package that owns the file.  The sysroot of a cross compiler has its own package database, in which names are relative
  dnl to the sysroot.
  custody_dpkg_query=dpkg-query
  custody_crun_file=$LIBCRUN_A
  custody_sysroot=`$CC -print-sysroot 2>/dev/null`
  AS_IF([test "x$cross_compiling" = xyes && test -f "$custody_sysroot/var/lib/dpkg/status"], [
    custody_sysroot=`cd "$custody_sysroot" && pwd -P | sed 's,/$,,'`
    AS_CASE(["$LIBCRUN_A"], ["$custody_sysroot"/*], [
      custody_dpkg_query="dpkg-query --admindir=$custody_sysroot/var/lib/dpkg"
      custody_crun_file=`echo "$LIBCRUN_A" | sed "s,^$custody_sysroot,,"`])])
  custody_crun_pkg=`$custody_dpkg_query -S "$custody_crun_file" 2>/dev/null | sed -n '1s/: .*//p'`
  custody_crun_packaged= custody_crun_status=installed
  AS_IF([test -n "$custody_crun_pkg"], [
    custody_crun_packaged=`$custody_dpkg_query -W -f '${source:Upstream-Version}' "$custody_crun_pkg" 2>/dev/null`
    custody_crun_status=`$custody_dpkg_query -W -f '${db:Status-Status}' "$custody_crun_pkg" 2>/dev/null`])
  dnl The crun installed with it; nothing if it cannot run here.
  custody_crun_beside=
  custody_crun_dir=`dirname "$LIBCRUN_A"`
  for custody_crun in "$custody_crun_dir/../bin/crun" "$custody_crun_dir/../../bin/crun"; do
    AS_IF([test -z "$custody_crun_beside" && test -x "$custody_crun"],
      [custody_crun_beside=`"$custody_crun" --version </dev/null 2>/dev/null | sed -n '1s/^crun version //p'`])
  done
  LIBCRUN_VERSION=
  custody_crun_mixed=no
  for custody_v in "$custody_crun_inside" "$custody_crun_packaged" "$custody_crun_beside"; do
    AS_IF([test -z "$custody_v"], [],
      [test -z "$LIBCRUN_VERSION"], [LIBCRUN_VERSION=$custody_v],
      [test "x$LIBCRUN_VERSION" != "x$custody_v"], [custody_crun_mixed=yes])
  done
  AC_MSG_RESULT([${LIBCRUN_VERSION:-unknown}])
  AS_IF([test "x$custody_crun_status" != xinstalled], [
    AC_MSG_ERROR([the package $custody_crun_pkg is '$custody_crun_status': $LIBCRUN_A may be of another version than dpkg reports.
  Complete the installation: dpkg --configure -a && apt-get install --reinstall $custody_crun_pkg])])
  AS_IF([test "$custody_crun_mixed" = yes], [
    AC_MSG_ERROR([this libcrun is mixed of several versions, so its declarations are unknown.
  $LIBCRUN_A:  ${custody_crun_inside:-no version inside}
  package ${custody_crun_pkg:-(none owns it)}:  ${custody_crun_packaged:-unknown}
  crun installed with it:  ${custody_crun_beside:-unknown}
  Reinstall it: apt-get install --reinstall ${custody_crun_pkg:-crun}])])
  AS_IF([test -n "$LIBCRUN_VERSION" && test -z "$custody_crun_inside"], [
    AC_MSG_ERROR([$LIBCRUN_A is not libcrun $LIBCRUN_VERSION: it has neither that version inside nor the functions of 1.8.1.
  Reinstall it: apt-get install --reinstall ${custody_crun_pkg:-crun}])])
])

dnl Each function after --wrap= is called by the archive from another object than its own: else the linker replaces nothing.
AC_DEFUN([CUSTODY_LIBCRUN_WRAPS], [
  AC_MSG_CHECKING([whether it calls the functions that custody replaces])
  custody_crun_gone=
  for custody_name in `cat "$srcdir/oci/libcrun/local.mk" "$srcdir/oci/runtime/local.mk" | tr ', ' '\n\n' |
      sed -n 's/.*--wrap=//p' | sort -u`; do
    AS_CASE([" custody_libcrun_unwrapped "], [*" $LIBCRUN_VERSION:$custody_name "*], [],
      [AS_IF([grep -q "^U $custody_name\$" conftest.nm], [], [custody_crun_gone="$custody_crun_gone $custody_name"])])
  done
  AS_IF([test -z "$custody_crun_gone"], [AC_MSG_RESULT([yes])], [
    AC_MSG_RESULT([no:$custody_crun_gone])
    AC_MSG_ERROR([$LIBCRUN_A does not call:$custody_crun_gone
  custody replaces these functions of libcrun $LIBCRUN_VERSION to keep files of the host from containers (docs/design/runtime.md);
  without a call the linker would drop that protection without a message.
  Reinstall Debian's archive (apt-get install --reinstall crun), or compare yours: contrib/libcrun-verify.sh $LIBCRUN_VERSION])])
])

dnl Libraries that the archive needs beyond those of custody: LIBCRUN_LIBS; LIBCRUN_JSON is the one with a static archive.
AC_DEFUN([CUSTODY_LIBCRUN_LIBRARIES], [
  LIBCRUN_JSON= LIBCRUN_MATH=
  AS_IF([grep -q '^U json_object_put$' conftest.nm], [LIBCRUN_JSON=-ljson-c])
  AS_IF([grep -q '^U log2$' conftest.nm], [LIBCRUN_MATH=-lm])
  AS_IF([grep -q '^U blake3_hasher_init$' conftest.nm && ! grep -q '^T blake3_hasher_init$' conftest.nm],
    [AC_DEFINE([LIBCRUN_NEEDS_BLAKE3], [1], [Define to 1 if libcrun.a refers to libblake3.])])
])

AC_DEFUN([CUSTODY_LIBCRUN], [
  AC_ARG_VAR([LIBCRUN_A], [path of libcrun.a, if the compiler does not find it])

  AC_MSG_CHECKING([for libcrun.a])
  AS_IF([test -z "$LIBCRUN_A"], [LIBCRUN_A=`$CC -print-file-name=libcrun.a`])
  AS_IF([test -f "$LIBCRUN_A"], [AC_MSG_RESULT([$LIBCRUN_A])], [
    AC_MSG_RESULT([no])
    AC_MSG_ERROR([libcrun.a not found.
  On Debian it is part of the package crun: apt-get install crun
  Elsewhere: ./configure LIBCRUN_A=/path/to/libcrun.a])])
  dnl Absolute and without "..": dpkg-query compares names, not files.
  LIBCRUN_A=`cd "\`dirname "$LIBCRUN_A"\`" && pwd -P`/`basename "$LIBCRUN_A"`

  dnl "T NAME" for what it defines, "U NAME" for what one object asks of another.
  ${NM:-nm} -g "$LIBCRUN_A" 2>/dev/null | awk 'NF >= 2 { print $(NF - 1), $NF }' | sort -u >conftest.nm
  AC_MSG_CHECKING([whether it has the functions that are needed])
  AS_IF([grep -q '^T libcrun_container_load_from_memory$' conftest.nm],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$LIBCRUN_A does not define libcrun_container_load_from_memory: not a libcrun for this machine])])

  CUSTODY_LIBCRUN_VERSION
  custody_crun_declared=
  for custody_v in custody_libcrun_verified; do
    AS_IF([test "x${custody_v%%=*}" = "x$LIBCRUN_VERSION"], [custody_crun_declared=${custody_v#*=}])
  done
  AS_IF([test -z "$custody_crun_declared"], [
    AC_MSG_ERROR([this libcrun version has not been verified with custody.
  found:     $LIBCRUN_A, version ${LIBCRUN_VERSION:-unknown}
  verified:  custody_libcrun_verified
  custody declares the part of libcrun that it uses, and a declaration that is off by one field corrupts memory.
  Either install a verified version (Debian 12, 13, sid: apt-get install crun)
  or compare yours with the declarations: contrib/libcrun-verify.sh ${LIBCRUN_VERSION:-VERSION}])])
  CUSTODY_LIBCRUN_WRAPS
  CUSTODY_LIBCRUN_LIBRARIES
  rm -f conftest.nm
  AC_DEFINE_UNQUOTED([LIBCRUN_VERSION], ["$LIBCRUN_VERSION"], [Version of the libcrun linked.])
  AC_DEFINE_UNQUOTED([LIBCRUN_DECLARATIONS], ["oci/libcrun/libcrun-$custody_crun_declared.h"], [Its declarations.])
  AC_SUBST([LIBCRUN_A])
])
