dnl SPDX-License-Identifier: GPL-2.0-or-later
dnl CUSTODY_CFLAGS(VAR, FLAGS): append to VAR each flag that the compiler accepts.
dnl -Werror is on while probing, so that clang's "unknown option" warning counts as a no.  Accepted flags stay on:
dnl -Wformat-security alone only causes the warning "ignored without -Wformat".
AC_DEFUN([CUSTODY_CFLAGS], [
  custody_save="$CFLAGS"
  for custody_f in $2; do
    AC_MSG_CHECKING([whether $CC accepts $custody_f])
    CFLAGS="$custody_save -Werror $$1 $custody_f"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
      [AC_MSG_RESULT([yes]); $1="$$1 $custody_f"], [AC_MSG_RESULT([no])])
  done
  CFLAGS="$custody_save"
  AC_SUBST([$1])
])
dnl CUSTODY_LDFLAGS(VAR, FLAGS): the same for the linker.
AC_DEFUN([CUSTODY_LDFLAGS], [
  custody_save="$LDFLAGS"
  for custody_f in $2; do
    AC_MSG_CHECKING([whether the linker accepts $custody_f])
    LDFLAGS="$custody_save $$1 $custody_f"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
      [AC_MSG_RESULT([yes]); $1="$$1 $custody_f"], [AC_MSG_RESULT([no])])
  done
  LDFLAGS="$custody_save"
  AC_SUBST([$1])
])
dnl CUSTODY_PACKED_RELOCATIONS(VAR): append the flag for packed relative relocations (DT_RELR) to the flags VAR of a static-pie
dnl program, if such a program starts: a C library before 2.36 links it and does not relocate it.  Unpacked, each pointer in a
dnl table is 24 bytes that every start reads.
AC_DEFUN([CUSTODY_PACKED_RELOCATIONS], [
  custody_save="$LDFLAGS"
  AC_MSG_CHECKING([whether programs start with packed relative relocations])
  LDFLAGS="$custody_save $$1 -Wl,-z,pack-relative-relocs"
  AS_CASE(["$$1"], [*-static-pie*], [
    AC_RUN_IFELSE([AC_LANG_PROGRAM([[static int one = 1; int *volatile place = &one;]],
                                   [[return place != &one || *place != 1;]])],
      [AC_MSG_RESULT([yes]); $1="$$1 -Wl,-z,pack-relative-relocs"],
      [AC_MSG_RESULT([no])],
      [AC_MSG_RESULT([no, cross-compiling])])],
    [AC_MSG_RESULT([no, not position-independent])])
  LDFLAGS="$custody_save"
])
