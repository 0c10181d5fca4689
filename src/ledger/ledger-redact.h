/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/json.h"

/*
 * Secrets are replaced before a record is hashed, because nothing can be removed afterwards. A false positive
 * costs one word of a record, which is cheaper than a leaked secret.
 */
#define REDACTED "[redacted]"

/* Additions of a site to the built-in lists. Both NULL-terminated or NULL. */
struct redact {
	char *const *flags;   /* "--pass-phrase": its value, after '=' or the next word */
	char *const *headers; /* "X-Site-Auth": its value, to the end of the line */
};

/*
 * A message may quote words of a command: ARGV, whose secrets are replaced wherever they appear.  ARGV may be NULL.  Heap,
 * NULL on ENOMEM.
 */
char *redact_message(const char *text, char *const *argv, const struct redact *rules);
/* Heap, NULL on ENOMEM.  Any bytes.  RULES may be NULL. */
char *redact_text(const char *text, const struct redact *rules);
char **redact_argv(char *const *argv,
		   const struct redact *rules); /* also a flag's value in the next argument */

/*
 * Redacts every string below D, as a message about ARGV, except "b64" members; an allocation failure marks D broken, so it is not
 * written.
 */
void redact_document(struct jdoc *d, char *const *argv, const struct redact *rules);
