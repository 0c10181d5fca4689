/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "egress/http-head.h"

/* NULL: good; else why not.  HOST or HOST:PORT; RET_PORT is 0 without a port.  No address, no user, no dot at the end. */
const char *http_authority_parse(const char *text, size_t len, char ret_host[HOSTNAME_SIZE],
				 uint16_t *ret_port);

/* The request line BYTES[0..LEN) without CR LF: method, target, host and port as far as the target has them, version. */
const char *http_request_line_parse(struct http_head *head, const char *bytes, size_t len);
