dnl SPDX-License-Identifier: GPL-2.0-or-later
dnl CUSTODY_SYSTEMD: finds libsystemd for custody-runtime-systemd and custody-scope, the only programs that use systemd's bus.
dnl libcrun.a and src/cgroup/sd-bus.h refer to it by name only, so the shared library is enough: no header, no development package.
AC_DEFUN([CUSTODY_SYSTEMD], [
  AC_ARG_WITH([systemd],
    [AS_HELP_STRING([--without-systemd], [do not build custody-runtime-systemd and custody-scope: engines cannot use systemd's cgroups, users' runs get no scope])])
  SYSTEMD_LIBS=
  AS_IF([test "x$with_systemd" != xno], [
    AC_MSG_CHECKING([for libsystemd])
    custody_save_libs="$LIBS"
    for custody_lib in -lsystemd -l:libsystemd.so.0; do
      LIBS="$custody_lib $custody_save_libs"
      AS_IF([test -z "$SYSTEMD_LIBS"],
        [AC_LINK_IFELSE([AC_LANG_CALL([], [sd_bus_default_system])], [SYSTEMD_LIBS=$custody_lib])])
    done
    LIBS="$custody_save_libs"
    AC_MSG_RESULT([${SYSTEMD_LIBS:-no}])
    AS_IF([test -z "$SYSTEMD_LIBS" && test "x$with_systemd" = xyes],
      [AC_MSG_ERROR([--with-systemd: missing libsystemd.so.0 (Debian: apt-get install libsystemd0)])])
  ])
  AC_SUBST([SYSTEMD_LIBS])
  AM_CONDITIONAL([SYSTEMD], [test -n "$SYSTEMD_LIBS"])
])
