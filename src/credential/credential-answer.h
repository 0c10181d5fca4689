/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "credential/secret.h"

/*
 * What a program of a credential prints: {"version":1,"token":"...","expires_at":"2026-11-19T15:00:00Z"}.  Other members
 * are ignored, expires_at may be missing.  Messages quote nothing of the text.
 */
int credential_answer_parse(const char *text, size_t len, struct secret **ret_token, uint64_t *ret_expires_us,
			    struct fault *f) _must_check_;

/* RFC 3339 with Z or an offset; microseconds since 1970. */
int credential_time_parse(const char *text, size_t len, uint64_t *ret_us) _must_check_;
