/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ledger/ledger-redact-impl.h"
#include "ledger/ledger-redact.h"

#define REDACTED_B64 "W3JlZGFjdGVkXQ==" /* [redacted] */
#define REPLACE_MIN 6			/* minimal length of a word that is replaced inside of others */

/* Appends TEXT with each WORD in it replaced by SHOWN.  A short word only in quotes: it may be a part of others. */
static char *replace_word(const char *text, const char *word, const char *shown)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	const size_t len = strlen(word);
	const char *hit;

	for (const char *from = text; (hit = strstr(from, word)); text = from = hit + len) {
		bool quoted = hit > text && hit[-1] == '\'' && hit[len] == '\'';

		strbuf_add(&b, text, (size_t)(hit - text));
		strbuf_puts(&b, quoted || len >= REPLACE_MIN ? shown : word);
	}
	strbuf_puts(&b, text);
	return strbuf_take(&b);
}

/* NOW with WORD replaced; takes NOW. */
static char *replace_next(char *now, const char *word, const char *shown)
{
	_cleanup_free_ char *before = now;

	return before && shown ? replace_word(before, word, shown) : NULL;
}

static char *replace_value(char *now, const char *value, const struct redact *rules)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *shown = NULL;

	redact_put_marker(&b, rules, value, strlen(value));
	shown = strbuf_take(&b);
	return replace_next(now, value, shown);
}

/* The words of a command and how they are shown, for all texts that may quote them. */
struct quoted {
	char *const *argv;
	char **shown;  /* one for each word; NULL: there is no command */
	char **values; /* the values in them that were replaced */
};

static void quoted_destroy(struct quoted *q)
{
	strv_free(q->shown);
	strv_free(q->values);
}

static int quoted_init(struct quoted *q, char *const *argv, const struct redact *rules)
{
	*q = (struct quoted){ .argv = argv };
	q->shown = argv ? redact_argv_values(argv, rules, &q->values) : NULL;
	return argv && !q->shown ? -ENOMEM : 0;
}

static char *redact_quotes(const char *text, const struct quoted *q, const struct redact *rules)
{
	_cleanup_free_ char *now = redact_mask(text, rules);

	for (size_t i = 0; q->shown && q->argv[i] && now; i++)
		if (*q->argv[i] && !str_eq(q->argv[i], q->shown[i]))
			now = replace_next(now, q->argv[i], q->shown[i]);
	/* It may quote a part of a word. */
	for (size_t i = 0; q->values && q->values[i] && now; i++)
		if (*q->values[i])
			now = replace_value(now, q->values[i], rules);
	return now ? redact_text(now, rules) : NULL;
}

char *redact_message(const char *text, char *const *argv, const struct redact *rules)
{
	struct quoted q;
	char *now = NULL;

	if (quoted_init(&q, argv, rules) == 0)
		now = redact_quotes(text, &q, rules);
	quoted_destroy(&q);
	return now;
}

/* A key cannot be replaced: a document with a secret in one is not written. */
static bool is_clean(const char *key, const struct redact *rules)
{
	_cleanup_free_ char *masked = redact_has_secrets(rules) ? redact_mask(key, rules) : NULL;

	return !redact_has_secrets(rules) || str_eq(masked, key);
}

/* Bytes that are not UTF-8: as a whole. */
static void redact_b64(struct jdoc *d, const struct redact *rules)
{
	char *text;

	if (d->type != JDOC_STRING || !d->string || !redact_is_secret_b64(d->string, rules))
		return;
	text = strdup(REDACTED_B64);
	d->broken |= !text;
	free(d->string);
	d->string = text;
}

static void redact_value(struct jdoc *d, const struct quoted *q, const struct redact *rules)
{
	char *text;

	if (!d)
		return;
	switch (d->type) {
	case JDOC_STRING:
		text = d->string ? redact_quotes(d->string, q, rules) : NULL;
		if (text) {
			free(d->string);
			d->string = text;
		} else {
			d->broken = true;
		}
		break;
	case JDOC_ARRAY:
		for (size_t i = 0; i < d->n_items; i++)
			redact_value(d->items[i], q, rules);
		break;
	case JDOC_OBJECT:
		for (size_t i = 0; i < d->n_members; i++) {
			d->broken |= !is_clean(d->members[i].key, rules);
			if (!str_eq(d->members[i].key, "b64"))
				redact_value(d->members[i].value, q, rules);
			else if (redact_has_secrets(rules))
				redact_b64(d->members[i].value, rules);
		}
		break;
	case JDOC_NULL:
	case JDOC_BOOL:
	case JDOC_INT:
		break;
	}
}

void redact_document(struct jdoc *d, char *const *argv, const struct redact *rules)
{
	struct quoted q;

	if (quoted_init(&q, argv, rules) == 0)
		redact_value(d, &q, rules);
	else if (d)
		d->broken = true;
	quoted_destroy(&q);
}
