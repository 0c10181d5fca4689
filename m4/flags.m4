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
