/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "inspect/inspect-impl.h"

#define RANDOM_MIN 16 /* of a name that is shown */

/* PLACE is a JSON pointer, whose names are shown only if they are plain and have no secret. */
struct walk {
	struct inspect_found *found;
	struct strbuf place;
};

static bool is_plain(const char *name)
{
	size_t n = 0;

	while (inspect_is(name[n], INSPECT_VALUE) && name[n] != '/' && name[n] != '~')
		n++;
	/* A random one may be a secret that no rule knows. */
	return n > 0 && n <= INSPECT_NAME_MAX && !name[n] && !(n >= RANDOM_MIN && inspect_is_random(name, n));
}

/*
 * A whole string that names a file or a URL.  With blanks in it, it is one if it begins like one: else it is a sentence about files.  A
 * name alone is one if it looks like a file's.
 */
static bool is_path(const char *text, size_t len)
{
	static const char *const begins[] = { "/", "./", "../", "~/", "file:" };

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (len > strlen(begins[i]) && memcmp(text, begins[i], strlen(begins[i])) == 0)
			return !memchr(text, '\n', len);
	for (size_t i = 0; i < len; i++)
		if (inspect_is(text[i], INSPECT_BLANK))
			return false;
	for (size_t i = 0; i < len; i++)
		if (strchr("/\\._", text[i]))
			return true;
	return false;
}

static void check_path(const struct walk *w, const char *place, const char *text, size_t len)
{
	enum inspect_rule rule;

	while (len > 0 && inspect_is(text[0], INSPECT_BLANK)) {
		text++;
		len--;
	}
	while (len > 0 && inspect_is(text[len - 1], INSPECT_BLANK))
		len--;
	rule = is_path(text, len) ? inspect_name_rule(text, len) : INSPECT_NO_RULE;
	if (rule != INSPECT_NO_RULE)
		inspect_add(w->found, rule, place);
	if (inspect_has_proc_path(text, len))
		inspect_add(w->found, INSPECT_PROC_PATH, place);
}

/* A path in a URL, or one that a tool puts into a URL. */
static void check_percent(const struct walk *w, const char *place, const char *text, size_t len)
{
	char *plain = memchr(text, '%', len) ? malloc(len) : NULL;

	if (!plain) {
		if (memchr(text, '%', len))
			inspect_broken(w->found);
		return;
	}
	check_path(w, place, plain, inspect_view_percent(text, len, plain));
	explicit_bzero(plain, len);
	free(plain);
}

static void check_string(const struct walk *w, const char *place, const char *name, const char *text)
{
	const size_t len = strlen(text);

	check_path(w, place, text, len);
	check_percent(w, place, text, len);
	inspect_value(&(struct inspect_scan){ .found = w->found,
					      .place = place,
					      .name = name,
					      .lines = strchr(text, '\n') != NULL },
		      text, len);
}

/* A secret may have digits alone. */
static void check_number(const struct walk *w, const char *place, const char *name, const struct jdoc *d)
{
	char text[24];

	if (d->wide)
		(void)snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)d->integer);
	else
		(void)snprintf(text, sizeof(text), "%" PRId64, d->integer);
	check_string(w, place, name, text);
}

static void check(struct walk *w, const char *name, const struct jdoc *d);

/* A name that is a secret itself is not repeated: its number stands for it. */
static void check_member(struct walk *w, const struct jdoc_member *m, size_t number)
{
	const size_t len = w->place.len, before = w->found->total;
	_cleanup_inspect_found_ struct inspect_found own = { 0 };

	strbuf_printf(&w->place, "/#%zu", number);
	if (w->place.broken) {
		inspect_broken(w->found);
		return;
	}
	check_string(w, w->place.text, NULL, m->key);
	if (is_plain(m->key) && w->found->total == before) {
		const struct walk alone = { .found = &own };

		/* The name is shown: here the rules that are allowed count as well. */
		check_string(&alone, "", NULL, m->key);
	}
	if (is_plain(m->key) && w->found->total == before && own.total == 0) {
		w->place.len = len;
		strbuf_printf(&w->place, "/%s", m->key);
	}
	check(w, m->key, m->value);
	w->place.len = len;
	if (w->place.text)
		w->place.text[len] = '\0';
}

static void check_items(struct walk *w, const char *name, const struct jdoc *d)
{
	const size_t len = w->place.len;

	for (size_t i = 0; i < d->n_items; i++) {
		strbuf_printf(&w->place, "/%zu", i);
		check(w, name, d->items[i]);
		w->place.len = len;
		if (w->place.text)
			w->place.text[len] = '\0';
	}
}

static void check(struct walk *w, const char *name, const struct jdoc *d)
{
	if (w->place.broken) {
		inspect_broken(w->found);
		return;
	}
	switch (d->type) {
	case JDOC_STRING:
		check_string(w, w->place.text ? w->place.text : "", name, d->string);
		break;
	case JDOC_ARRAY:
		check_items(w, name, d);
		break;
	case JDOC_OBJECT:
		for (size_t i = 0; i < d->n_members; i++)
			check_member(w, &d->members[i], i);
		break;
	case JDOC_INT:
		check_number(w, w->place.text ? w->place.text : "", name, d);
		break;
	case JDOC_NULL:
	case JDOC_BOOL:
		break;
	}
}

void inspect_params(const struct jdoc *d, struct inspect_found *found)
{
	struct walk w = { .found = found };

	check(&w, NULL, d);
	strbuf_done(&w.place);
}
