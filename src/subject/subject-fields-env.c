/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"
#include "base/str.h"
#include "subject/subject-fields.h"

#define DOMAIN "custody.env/1"
#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_"
#define DIGITS "0123456789"
#define ADVISORY_MAX 64

/*
 * Set by the terminal, and different at each retry: not in the document as long as their value is plain.
 * With any other value they are treated like all variables.
 */
/* clang-format off */
static const struct {
	const char *name, *letters;
} advisory[] = {
	{ "TERM",    WORD   },
	{ "COLUMNS", DIGITS },
	{ "LINES",   DIGITS },
};
/* clang-format on */

static bool is_advisory(const char *name, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(advisory); i++)
		if (strcmp(advisory[i].name, name) == 0)
			return !value[strspn(value, advisory[i].letters)] && strlen(value) <= ADVISORY_MAX;
	return false;
}

/* A name contains no '=', and neither part contains a NUL: the encoding is unambiguous. */
static int sign_value(const char *name, const char *value, const struct digest_key *key,
		      char hex[DIGEST_HEX_SIZE])
{
	_cleanup_strbuf_ struct strbuf t = { 0 };
	struct digest d;

	strbuf_add(&t, DOMAIN, sizeof(DOMAIN));
	strbuf_add(&t, name, strlen(name) + 1);
	strbuf_puts(&t, value);
	if (t.broken)
		return -ENOMEM;
	digest_hmac(key->bytes, sizeof(key->bytes), t.text, t.len, &d);
	digest_to_hex(&d, hex);
	return 0;
}

static void check_value(struct jmap *m, const struct jdoc *values, const char *name, const char *hex)
{
	const char *given = jdoc_get_string(values, name);
	struct digest a, b;

	if (!given)
		(void)jmap_fail(m, EPERM, "environment variable '%.64s' was not approved", name);
	else if (digest_from_hex(given, &a) < 0)
		(void)jmap_fail(m, EINVAL, "'env.%.64s' is not an HMAC", name);
	else if (digest_from_hex(hex, &b) < 0 || !digest_equal(&a, &b))
		(void)jmap_fail(m, EPERM,
				"environment variable '%.64s' has another value than was approved (or the "
				"digest key differs)",
				name);
}

static void map_value(struct jmap *m, struct jdoc *values, const char *var, const struct digest_key *key,
		      size_t *n)
{
	_cleanup_free_ char *name = strndup(var, strcspn(var, "="));
	const char *value = var + strcspn(var, "=");
	char hex[DIGEST_HEX_SIZE];

	if (!name || !*name || *value++ != '=') {
		(void)jmap_fail(m, name ? EINVAL : ENOMEM, "environment variable without a name");
		return;
	}
	if (!str_is_utf8(var, strlen(var))) {
		(void)jmap_fail(m, EILSEQ, "environment variable '%.64s' is not UTF-8", name);
		return;
	}
	if (is_advisory(name, value))
		return;
	if (sign_value(name, value, key, hex) < 0)
		(void)jmap_fail(m, ENOMEM, "no memory");
	else if (m->reading)
		check_value(m, values, name, hex);
	else
		jdoc_set_string(values, name, hex);
	(*n)++;
}

/* Sorted by name without duplicates, as subject_build leaves them: the order is not in the document. */
static bool is_sorted(const char *a, const char *b)
{
	size_t la = strcspn(a, "="), lb = strcspn(b, "="), n = la < lb ? la : lb;
	int c = memcmp(a, b, n);

	return c < 0 || (c == 0 && la < lb);
}

void subject_map_env(struct jmap *m, const struct subject *s, const struct digest_key *key)
{
	struct jdoc *values = jmap_value(m, "env", JDOC_OBJECT);
	size_t n = 0;

	for (size_t i = 0; m->r == 0 && values && s->env && s->env[i]; i++) {
		if (i && !is_sorted(s->env[i - 1], s->env[i]))
			(void)jmap_fail(m, EINVAL, "environment variable '%.*s' is out of order or duplicate",
					(int)strcspn(s->env[i], "="), s->env[i]);
		map_value(m, values, s->env[i], key, &n);
	}
	if (m->r < 0 || !m->reading || n == values->n_members)
		return;
	for (size_t i = 0; i < values->n_members; i++) {
		size_t len = strlen(values->members[i].key), k = 0;

		while (s->env && s->env[k] &&
		       (strncmp(s->env[k], values->members[i].key, len) != 0 || s->env[k][len] != '='))
			k++;
		if (!s->env || !s->env[k]) {
			(void)jmap_fail(m, EPERM, "environment variable '%.64s' was approved but is missing",
					values->members[i].key);
			return;
		}
	}
	(void)jmap_fail(m, EPERM, "unexpected environment variables: they differ from the approved ones");
}
