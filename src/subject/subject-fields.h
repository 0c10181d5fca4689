/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/json-map.h"
#include "state/digest-key.h"
#include "subject/subject.h"

/* Shared by the files that write and read the document of a subject only. */

/* Everything but the values that are kept as HMACs.  P is the profile of S; the reader fills it. */
void subject_map(struct jmap *m, struct subject *s, struct profile *p);
void subject_map_mounts(struct jmap *m, struct subject *s, struct profile *p);

void subject_map_operands(struct jmap *m, struct subject *s); /* after argv */

void subject_map_digest(struct jmap *m, const char *key, struct digest *d);
/* Reading: allocates the items of ARRAY and one more, and sets *N.  NULL after a failure. */
void *subject_map_room(struct jmap *m, const char *key, const struct jdoc *array, size_t max, size_t size,
		       size_t *n);

/*
 * `redacted`: the words of argv that have a secret, each with the HMAC of the true word; missing if no word has one.  Reading: the
 * true words are the last ones of ARGS, each only if its HMAC matches.  After subject_map.
 */
void subject_map_redacted(struct jmap *m, struct subject *s, char *const *args, const struct digest_key *key);

/* `env`: names, and the HMAC of each value. */
void subject_map_env(struct jmap *m, const struct subject *s, const struct digest_key *key);
