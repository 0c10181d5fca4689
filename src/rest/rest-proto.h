/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * custody-rest: makes one request over HTTPS.  It reads one line of JSON on stdin, and the value of a credential from a
 * descriptor of its own, so that no argument and no variable has it.  It writes one line of JSON on stdout and exits with 0; or
 * a sentence for the caller, and exits with 1.
 */
#define REST_PROGRAM "custody-rest"
#define REST_CREDENTIAL_FD 3
#define REST_LINE_MAX (1024 * 1024)
#define REST_REPLY_HEADERS_MAX (256 * 1024) /* of all headers, also informational ones and trailers */
#define REST_REPLY_HEADER_MAX 4096	    /* of one header's value that the caller gets */
