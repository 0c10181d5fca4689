/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "ledger/ledger-redact.h"

#define LABEL "config.json"

static int hide_value(struct jdoc *word, struct fault *f)
{
	_cleanup_free_ char *plain = NULL;

	if (word->type != JDOC_STRING)
		return fault_set(f, EINVAL, LABEL ": process.env has an item that is not a string");
	if (asprintf(&plain, "%.*s=" REDACTED, (int)strcspn(word->string, "="), word->string) < 0) {
		plain = NULL;
		return fault_errno(f, ENOMEM, LABEL);
	}
	free(word->string);
	word->string = TAKE_PTR(plain);
	return 0;
}

int evidence_config_write(const char *text, size_t len, struct strbuf *out, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	struct jdoc *env;
	int r;

	r = jdoc_parse(text, len, LABEL, NULL, &d, f);
	if (r < 0)
		return r;
	env = jdoc_get(jdoc_get(d, "process"), "env");
	if (env && env->type != JDOC_ARRAY)
		return fault_set(f, EINVAL, LABEL ": process.env is not an array");
	for (size_t i = 0; r == 0 && env && i < env->n_items; i++)
		r = hide_value(env->items[i], f);
	return r < 0 ? r : jdoc_write(d, memchr(text, '\n', len) ? JDOC_PRETTY : JDOC_CANONICAL, out, f);
}
