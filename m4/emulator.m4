dnl SPDX-License-Identifier: GPL-2.0-or-later
dnl CUSTODY_EMULATOR: how a cross build executes its own programs: the generator of the filter, custody for the completions, and
dnl the unit tests.  Empty in other builds.
AC_DEFUN([CUSTODY_EMULATOR], [
  AC_REQUIRE([AC_CANONICAL_HOST])
  AC_ARG_VAR([EMULATOR], [cross build: command that executes programs for the host system (default: qemu-CPU, libraries of the sysroot)])
  AS_IF([test "x$cross_compiling" != xyes], [EMULATOR=], [
    AS_IF([test -z "$EMULATOR"], [
      AC_CHECK_PROGS([QEMU_USER], [qemu-$host_cpu qemu-$host_cpu-static])
      custody_sysroot=`$CC -print-sysroot 2>/dev/null`
      AS_CASE(["$custody_sysroot"], [''|/], [custody_sysroot=/usr/$host_alias])
      AS_IF([test -n "$QEMU_USER"],
        [EMULATOR="$SHELL `cd "$srcdir" && pwd -P`/tests/arm64/emulate.sh $QEMU_USER $custody_sysroot"])])
    AC_MSG_CHECKING([whether '$EMULATOR' executes programs for $host])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
      [AS_IF([$EMULATOR ./conftest$ac_exeext >&AS_MESSAGE_LOG_FD 2>&1 </dev/null], [AC_MSG_RESULT([yes])], [
        AC_MSG_RESULT([no])
        AC_MSG_ERROR([a cross build executes two of its programs, the filter generator and custody for the completions.
  On Debian: apt-get install qemu-user
  Elsewhere: ./configure EMULATOR='COMMAND' with a command that executes programs for $host])])])])
  AM_CONDITIONAL([CROSS], [test -n "$EMULATOR"])
])
