/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "review/review-ask.h"
#include "review/review-judge.h"

void review_alias_free(struct review_alias *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i].path);
	free(list);
}

struct finder {
	const struct changes *changes;
	int base;
	struct review_alias *list;
	size_t n;
};

static int add(struct finder *w, const char *name, struct fault *f)
{
	_cleanup_free_ char *path = NULL;
	struct review_alias *more;
	int r;

	if (strpbrk(name, "*?["))
		return 0;
	r = review_link_target(w->changes, w->base, name, &path, f);
	if (r < 0 || !path)
		return r;
	more = reallocarray(w->list, w->n + 1, sizeof(*more));
	if (!more)
		return fault_errno(f, ENOMEM, "review");
	w->list = more;
	w->list[w->n++] = (struct review_alias){ .path = TAKE_PTR(path), .name = name };
	return 0;
}

static bool is_allowed(const char *name, char *const *allow)
{
	for (; allow && *allow; allow++)
		if (strcasecmp(*allow, name) == 0 || review_ask_matches(*allow, name, NULL))
			return true;
	return false;
}

int review_alias_find(const struct changes *c, int base, const struct review_gate *g,
		      struct review_alias **ret, size_t *ret_n, struct fault *f)
{
	struct finder w = { .changes = c, .base = base };
	int r = 0;

	for (char *const *name = g->ask; r == 0 && name && *name; name++)
		r = add(&w, *name, f);
	for (const char *const *name = review_ask_names(); r == 0 && *name; name++)
		if (!is_allowed(*name, g->allow))
			r = add(&w, *name, f);
	if (r < 0) {
		review_alias_free(w.list, w.n);
		return r;
	}
	*ret = w.list;
	*ret_n = w.n;
	return 0;
}
