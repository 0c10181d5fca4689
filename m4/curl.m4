dnl SPDX-License-Identifier: GPL-2.0-or-later
dnl CUSTODY_CURL: finds libcurl for custody-rest and custody-peer, the only programs that use it.  CURLOPT_PROTOCOLS_STR is in 7.85.
AC_DEFUN([CUSTODY_CURL], [
  AC_ARG_WITH([curl],
    [AS_HELP_STRING([--without-curl], [do not build custody-rest and custody-peer: tools of kind rest are refused, peers over TLS lag])])
  custody_curl=no
  AS_IF([test "x$with_curl" != xno],
    [PKG_CHECK_MODULES([CURL], [libcurl >= 7.85], [custody_curl=`$PKG_CONFIG --modversion libcurl`], [:])])
  AS_IF([test "x$with_curl" = xyes && test "$custody_curl" = no],
    [AC_MSG_ERROR([--with-curl: missing libcurl 7.85 (Debian: apt-get install libcurl4-gnutls-dev)])])
  AM_CONDITIONAL([CURL], [test "$custody_curl" != no])
])
