/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/str.h"
#include "ledger/ledger-redact.h"

/* Private to ledger-redact*.c. */
/* TEXT with the secrets of RULES replaced; heap; NULL on ENOMEM.  First of all: other rules could replace a part of one. */
char *redact_mask(const char *text, const struct redact *rules);
/* Does TEXT, which is base64, hold one of them?  True as well if that cannot be told. */
bool redact_is_secret_b64(const char *text, const struct redact *rules);
static inline bool redact_has_secrets(const struct redact *rules)
{
	return rules && rules->n_secrets > 0;
}
void redact_put_marker(struct strbuf *b, const struct redact *rules, const char *value, size_t len);
/* redact_argv(), and the values that it replaced are appended to *VALUES; NULL: not needed. */
char **redact_argv_values(char *const *argv, const struct redact *rules, char ***values);
