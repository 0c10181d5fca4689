/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject-redact.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "subject/operand.h"
#include "subject/subject-fields.h"
#include "subject/subject-program.h"

_Static_assert(REDACT_KEY_SIZE == DIGEST_KEY_SIZE, "the key of the lane is the key of placeholders");

#define REDACTED_KEY "redacted"

/* A script that runs from its sealed copy has another word in config.json: the true one could not be found there. */
static int show_replaced(const struct subject *s, char **shown, size_t i, struct fault *f)
{
	_cleanup_free_ char *word = operand_word(s, i);
	char *copy;

	if (!word)
		return fault_errno(f, ENOMEM, "subject");
	if (str_eq(word, s->argv[i]))
		return 1;
	copy = strdup(s->argv[i]);
	if (!copy)
		return fault_errno(f, ENOMEM, "subject");
	free(shown[i]);
	shown[i] = copy;
	return 0;
}

/* A file that the command could run or open: by its path, in the working directory or through PATH. */
static bool is_file(const void *arg, const char *name)
{
	const struct subject *s = arg;
	char host[PATH_MAX], path[PATH_MAX];

	if (subject_find_program(s, name, host))
		return true;
	return !strchr(name, '/') && snprintf(path, sizeof(path), "./%s", name) < (int)sizeof(path) &&
	       subject_find_program(s, path, host);
}

int subject_redact(struct subject *s, const struct redact *rules, const struct digest_key *key,
		   struct fault *f)
{
	struct redact all = rules ? *rules : (struct redact){ 0 };
	_cleanup_strv_ char **shown = NULL;
	bool any = false;

	all.key = key->bytes;
	all.plain = true;
	all.marked = false;
	all.is_file = is_file;
	all.is_file_arg = s;
	shown = redact_argv(s->argv, &all);
	if (!shown)
		return fault_errno(f, ENOMEM, "subject");
	for (size_t i = 0; s->argv[i]; i++) {
		int r = str_eq(shown[i], s->argv[i]) ? 0 : show_replaced(s, shown, i, f);

		if (r < 0)
			return r;
		any = any || r > 0;
	}
	strv_free(s->shown);
	s->shown = any ? TAKE_PTR(shown) : NULL;
	return 0;
}

static void write_word(struct jmap *m, struct jdoc *list, const char *word, size_t i,
		       const struct redact *rules)
{
	struct jdoc *item = jdoc_append_object(list);
	char hex[DIGEST_HEX_SIZE];
	struct digest d;

	if (redact_sign_word(rules, word, &d) < 0) {
		(void)jmap_fail(m, ENOMEM, "no memory");
		return;
	}
	digest_to_hex(&d, hex);
	jdoc_set_int(item, "arg", (int64_t)i);
	jdoc_set_string(item, "hmac", hex);
}

static void write_words(struct jmap *m, const struct subject *s, const struct redact *rules)
{
	struct jdoc *list;

	if (!s->shown || m->r < 0)
		return;
	list = jmap_value(m, REDACTED_KEY, JDOC_ARRAY);
	for (size_t i = 0; s->argv[i] && m->r == 0; i++)
		if (!str_eq(s->argv[i], s->shown[i]))
			write_word(m, list, s->argv[i], i, rules);
}

/* WORD is accepted in place of S->argv[I] if the HMAC is its own and the text that was approved shows the rest of it. */
static void take_word(struct jmap *m, struct subject *s, size_t i, const char *word,
		      const struct digest *hmac, const struct redact *rules)
{
	struct digest d;
	char *copy = strdup(word);

	if (!copy || redact_sign_word(rules, word, &d) < 0)
		(void)jmap_fail(m, ENOMEM, "no memory");
	else if (!digest_equal(hmac, &d))
		(void)jmap_fail(
			m, EPERM,
			"argument %zu has another value than was approved (or the digest key differs)", i);
	else if (!redact_shows(rules, word, s->argv[i]))
		(void)jmap_fail(m, EPERM, "'argv[%zu]' hides more of the argument than a secret", i);
	if (m->r < 0) {
		free(copy);
		return;
	}
	free(s->argv[i]);
	s->argv[i] = copy;
}

static void read_word(struct jmap *m, struct subject *s, struct jmap *item, size_t n, char *const *true_words,
		      const struct redact *rules)
{
	uint64_t i = 0;
	struct digest hmac = { 0 };

	jmap_u64(item, "arg", &i);
	subject_map_digest(item, "hmac", &hmac);
	jmap_leave(m, item);
	if (m->r < 0)
		return;
	/* A second entry of a word would read the true word as the redacted one, and fails. */
	if (i == 0 || i >= n)
		(void)jmap_fail(m, EINVAL, "'" REDACTED_KEY "' names argument %llu", (unsigned long long)i);
	else
		take_word(m, s, i, true_words[i], &hmac, rules);
}

static void read_words(struct jmap *m, struct subject *s, char *const *args, const struct redact *rules)
{
	struct jdoc *list;
	size_t n = strv_len(s->argv), n_args = args ? strv_len(args) : 0;

	if (m->r < 0 || !jdoc_get(m->d, REDACTED_KEY))
		return;
	list = jmap_value(m, REDACTED_KEY, JDOC_ARRAY);
	if (m->r < 0)
		return;
	if (n_args < n) {
		(void)jmap_fail(m, EPERM, "the command of config.json has fewer words than was approved");
		return;
	}
	s->shown = strv_copy(s->argv);
	if (!s->shown)
		(void)jmap_fail(m, ENOMEM, "no memory");
	for (size_t i = 0; m->r == 0 && i < list->n_items; i++) {
		struct jmap item;

		jmap_enter_item(m, REDACTED_KEY, list, i, &item);
		read_word(m, s, &item, n, args + (n_args - n), rules);
	}
}

void subject_map_redacted(struct jmap *m, struct subject *s, char *const *args, const struct digest_key *key)
{
	const struct redact rules = { .key = key->bytes };

	if (m->reading)
		read_words(m, s, args, &rules);
	else
		write_words(m, s, &rules);
}
