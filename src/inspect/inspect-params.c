/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "inspect/inspect-impl.h"

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
	return n > 0 && n <= INSPECT_NAME_MAX && !name[n];
}

/* A whole string that names a file or a URL. */
static bool is_path(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (inspect_is(text[i], INSPECT_BLANK))
			return false;
	return len > 0 && (text[0] == '.' || strchr(text, '/') || strchr(text, '\\'));
}

static void check_string(const struct walk *w, const char *place, const char *name, const char *text)
{
	const size_t len = strlen(text);
	enum inspect_rule rule = is_path(text, len) ? inspect_name_rule(text, len) : INSPECT_NO_RULE;

	if (rule != INSPECT_NO_RULE)
		inspect_add(w->found, rule, place);
	if (inspect_has_proc_path(text, len))
		inspect_add(w->found, INSPECT_PROC_PATH, place);
	inspect_value(&(struct inspect_scan){ .found = w->found,
					      .place = place,
					      .name = name,
					      .lines = strchr(text, '\n') != NULL },
		      text, len);
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
	case JDOC_NULL:
	case JDOC_BOOL:
	case JDOC_INT:
		break;
	}
}

void inspect_params(const struct jdoc *d, struct inspect_found *found)
{
	struct walk w = { .found = found };

	check(&w, NULL, d);
	strbuf_done(&w.place);
}
