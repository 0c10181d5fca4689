/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-impl.h"

/* Values that a document must tell apart and not show: HMACs under the lane's key. */

/* {"NAME": HMAC} of a list of "NAME=value"; the values of a name that is repeated count in their order. */
int engine_sign_env(const struct engine_work *w, const struct jdoc *env, bool without_hostname,
		    struct jdoc *ret);
/* `argv`, and `redacted` if a word has a secret, as subject/subject-redact.h writes them. */
int engine_sign_argv(struct engine_work *w, struct jdoc *document);
/* TEXT, or "hmac:..." if it has a secret or is long. */
int engine_sign_text(const struct engine_work *w, const char *text, struct jdoc *object, const char *key);
