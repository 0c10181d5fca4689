/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/json.h"

/*
 * Secrets are replaced before a record is hashed, because nothing can be removed afterwards. A false positive
 * costs one word of a record, which is cheaper than a leaked secret.
 *
 * A placeholder is "[redacted]" or, with a key and if the value is plain (only [A-Za-z0-9._~+/=-], at least
 * REDACT_PLAIN_MIN, and no dash, dot or tilde first), "[redacted 1a2b3c4d, 51 bytes]": the first digits of the value's HMAC,
 * and its length.
 */
#define REDACTED "[redacted]"
#define REDACT_KEY_SIZE 32
#define REDACT_PLAIN_MIN 8

/* Bytes that are secret wherever they stand, borrowed: a credential that this process has loaded.  Longer than any word. */
struct redact_secret {
	const char *at;
	size_t len;
};

/* Additions of a site to the built-in lists.  Lists are NULL-terminated or NULL. */
struct redact {
	char *const *flags;   /* "--pass-phrase": its value, after '=' or the next word */
	char *const *headers; /* "X-Site-Auth": its value, to the end of the line */
	const uint8_t *key;   /* of the lane, REDACT_KEY_SIZE bytes; NULL: placeholders without digits */
	/* PLAIN: is there a file of this name that a command could run or open?  Such a value is shown.  NULL: not asked. */
	bool (*is_file)(const void *arg, const char *name);
	const void *is_file_arg;
	bool plain; /* only plain values: nothing that an approver has to read can hide behind one */
	const struct redact_secret *secrets;
	size_t n_secrets;
	bool marked; /* the words were redacted before: their placeholders stay.  Else one is a forgery and replaced */
};

/*
 * A message may quote words of a command: ARGV, whose secrets are replaced wherever they appear.  ARGV may be NULL.  Heap,
 * NULL on ENOMEM.
 */
char *redact_message(const char *text, char *const *argv, const struct redact *rules);
/* Heap, NULL on ENOMEM.  Any bytes.  RULES may be NULL.  Placeholders in TEXT stay. */
char *redact_text(const char *text, const struct redact *rules);
char **redact_argv(char *const *argv,
		   const struct redact *rules); /* also a flag's value in the next argument */

/* HMAC of a whole word that redact_argv changed, under RULES->key. */
int redact_sign_word(const struct redact *rules, const char *word, struct digest *ret) _must_check_;
/* Is SHOWN the true WORD with plain values of it replaced?  Whatever the lists of RULES are; with its key. */
bool redact_shows(const struct redact *rules, const char *word, const char *shown);

/* The first place in BYTES of one of SECRETS, or of a long line of one; NULL: none. */
const char *redact_find_secret(const char *bytes, size_t len, const struct redact_secret *secrets, size_t n);
/*
 * The same, and each one also in base64 (both alphabets, at any offset, in lines of any length), in hexadecimal digits with or without
 * punctuation, in UTF-16, with white space in it, each of them also in strings of JSON and percent-encoded: once, not in one another.
 * Pure; -ENOMEM.
 */
int redact_find_spelled(const char *bytes, size_t len, const struct redact_secret *secrets, size_t n,
			bool *ret) _must_check_;

/*
 * Redacts every string below D, as a message about ARGV, except "b64" members without a secret of RULES; an allocation failure marks D broken, so it is not
 * written.
 */
void redact_document(struct jdoc *d, char *const *argv, const struct redact *rules);
