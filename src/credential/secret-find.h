/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "credential/secret.h"

/* Is the value S, or one of its longer lines, in LEN bytes of TEXT, in any spelling of redact_find_spelled()?  TEXT may be any bytes. */
int secret_find(const struct secret *s, const char *text, size_t len, bool *ret,
		struct fault *f) _must_check_;
