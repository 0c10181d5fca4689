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

static int show_word(struct jdoc *word, const struct jdoc *shown, struct fault *f)
{
	char *copy = word->type == JDOC_STRING && shown->type == JDOC_STRING ? strdup(shown->string) : NULL;

	if (!copy)
		return fault_set(f, EINVAL, LABEL ": process.args has an item that is not a string");
	free(word->string);
	word->string = copy;
	return 0;
}

/* Words that SUBJECT has redacted, in the same form: the command is at the end of process.args. */
static int show_words(struct jdoc *d, const struct jdoc *subject, struct fault *f)
{
	const struct jdoc *redacted = jdoc_get(subject, "redacted"), *argv = jdoc_get(subject, "argv");
	struct jdoc *args = jdoc_get(jdoc_get(d, "process"), "args");
	int r = 0;

	if (!redacted)
		return 0;
	if (redacted->type != JDOC_ARRAY || !argv || argv->type != JDOC_ARRAY || !args ||
	    args->type != JDOC_ARRAY || args->n_items < argv->n_items)
		return fault_set(f, EINVAL, LABEL ": process.args does not fit the subject");
	for (size_t i = 0; r == 0 && i < redacted->n_items; i++) {
		const struct jdoc *arg = jdoc_get(redacted->items[i], "arg");

		if (!arg || arg->type != JDOC_INT || arg->integer < 0 ||
		    (uint64_t)arg->integer >= argv->n_items)
			return fault_set(f, EINVAL, LABEL ": process.args does not fit the subject");
		r = show_word(args->items[args->n_items - argv->n_items + (size_t)arg->integer],
			      argv->items[arg->integer], f);
	}
	return r;
}

int evidence_config_write(const char *text, size_t len, const struct jdoc *subject, struct strbuf *out,
			  struct fault *f)
{
	const struct jdoc_limits limits = { .wide = true };
	_cleanup_jdoc_ struct jdoc *d = NULL;
	struct jdoc *env;
	int r;

	r = jdoc_parse(text, len, LABEL, &limits, &d, f);
	if (r < 0)
		return r;
	env = jdoc_get(jdoc_get(d, "process"), "env");
	if (env && env->type != JDOC_ARRAY)
		return fault_set(f, EINVAL, LABEL ": process.env is not an array");
	for (size_t i = 0; r == 0 && env && i < env->n_items; i++)
		r = hide_value(env->items[i], f);
	if (r == 0)
		r = show_words(d, subject, f);
	return r < 0 ? r : jdoc_write(d, memchr(text, '\n', len) ? JDOC_PRETTY : JDOC_CANONICAL, out, f);
}
