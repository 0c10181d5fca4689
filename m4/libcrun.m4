dnl SPDX-License-Identifier: GPL-2.0-or-later
dnl CUSTODY_LIBCRUN: finds libcrun.a and refuses a version that was not verified.
dnl
dnl Debian's package `crun` ships the archive without headers, without a .pc file and without a version in it.
dnl oci/libcrun/libcrun.h declares the few functions and the one struct that custody uses, and those declarations are
dnl right only for the versions below; a wrong struct layout compiles, links and then corrupts memory.  So an unknown
dnl version is an error, not a warning.
m4_define([custody_libcrun_verified], [1.8.1 1.21])

AC_DEFUN([CUSTODY_LIBCRUN], [
  AC_ARG_VAR([LIBCRUN_A], [path of libcrun.a, if the compiler does not find it])
  AC_ARG_WITH([libcrun-headers],
    [AS_HELP_STRING([--with-libcrun-headers=DIR],
      [use the real headers in DIR (DIR/libcrun/container.h) instead of our declarations; any version])])

  AC_MSG_CHECKING([for libcrun.a])
  AS_IF([test -z "$LIBCRUN_A"], [LIBCRUN_A=`$CC -print-file-name=libcrun.a`])
  AS_IF([test -f "$LIBCRUN_A"], [AC_MSG_RESULT([$LIBCRUN_A])], [
    AC_MSG_RESULT([no])
    AC_MSG_ERROR([libcrun.a not found.
  On Debian it is part of the package crun: apt-get install crun
  Elsewhere: ./configure LIBCRUN_A=/path/to/libcrun.a])])
  dnl Absolute and without "..": dpkg-query compares names, not files.
  LIBCRUN_A=`cd "\`dirname "$LIBCRUN_A"\`" && pwd -P`/`basename "$LIBCRUN_A"`

  AC_MSG_CHECKING([whether it has the functions that are needed])
  AS_IF([${NM:-nm} -g --defined-only "$LIBCRUN_A" 2>/dev/null | grep -q ' T libcrun_container_load_from_memory$'],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$LIBCRUN_A does not define libcrun_container_load_from_memory: not a libcrun for this machine])])

  AC_MSG_CHECKING([for the version of libcrun])
  dnl The package that owns the file has the version; without a package manager, the crun installed beside it.
  custody_crun_pkg=`dpkg-query -S "$LIBCRUN_A" 2>/dev/null | sed -n '1s/: .*//p'`
  LIBCRUN_VERSION=
  AS_IF([test -n "$custody_crun_pkg"],
    [LIBCRUN_VERSION=`dpkg-query -W -f '${source:Upstream-Version}' "$custody_crun_pkg" 2>/dev/null`])
  AS_IF([test -z "$LIBCRUN_VERSION"], [
    custody_crun_dir=`dirname "$LIBCRUN_A"`
    for custody_crun in "$custody_crun_dir/../bin/crun" "$custody_crun_dir/../../bin/crun"; do
      AS_IF([test -z "$LIBCRUN_VERSION" && test -x "$custody_crun"],
        [LIBCRUN_VERSION=`"$custody_crun" --version </dev/null 2>/dev/null | sed -n '1s/^crun version //p'`])
    done])
  AC_MSG_RESULT([${LIBCRUN_VERSION:-unknown}])

  custody_crun_known=no
  for custody_v in custody_libcrun_verified; do
    AS_IF([test "x$LIBCRUN_VERSION" = "x$custody_v"], [custody_crun_known=yes])
  done
  LIBCRUN_CPPFLAGS=
  AS_IF([test -n "$with_libcrun_headers" && test "x$with_libcrun_headers" != xno], [
    AS_IF([test -f "$with_libcrun_headers/libcrun/container.h"],
      [LIBCRUN_CPPFLAGS="-I$with_libcrun_headers"],
      [AC_MSG_ERROR([--with-libcrun-headers: $with_libcrun_headers/libcrun/container.h does not exist])])
    AC_DEFINE([HAVE_LIBCRUN_HEADERS], [1], [Define to 1 to include libcrun's own headers.])
  ], [test "x$custody_crun_known" != xyes], [
    AC_MSG_ERROR([this libcrun version has not been verified with custody.
  found:     $LIBCRUN_A, version ${LIBCRUN_VERSION:-unknown}
  verified:  custody_libcrun_verified
  custody declares the part of libcrun that it uses, and a declaration that is off by one field corrupts memory.
  Either install a verified version (Debian 12: apt-get install crun)
  or pass the headers of your version: ./configure --with-libcrun-headers=DIR])])
  AC_DEFINE_UNQUOTED([LIBCRUN_DECLARATIONS], ["oci/libcrun/libcrun-$LIBCRUN_VERSION.h"],
    [Declarations of that version.])
  AC_DEFINE_UNQUOTED([LIBCRUN_VERSION], ["${LIBCRUN_VERSION:-unknown}"], [Version of the libcrun linked.])
  AC_SUBST([LIBCRUN_A])
  AC_SUBST([LIBCRUN_CPPFLAGS])
])
