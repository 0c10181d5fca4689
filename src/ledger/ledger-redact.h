/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/json.h"

/*
 * Secrets do not enter the ledger: they are replaced before anything is hashed, because nothing can be taken out
 * afterwards.  A false alarm costs a word of a record; that is the cheaper mistake.
 */
#define REDACTED "[redacted]"

/* What a site adds to the built-in lists.  Both NULL-terminated or NULL. */
struct redact {
	char *const *flags;   /* "--pass-phrase": its value, behind '=' or the next word */
	char *const *headers; /* "X-Site-Auth": its value, to the end of the line */
};

/* Heap, NULL on ENOMEM.  Any bytes.  RULES may be NULL. */
char *redact_text(const char *text, const struct redact *rules);
char **redact_argv(char *const *argv,
		   const struct redact *rules); /* also a flag's value in the next argument */

/* Every string below D but those called "b64"; what cannot be allocated makes D broken, so it is not written. */
void redact_document(struct jdoc *d);
