/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-grammar-impl.h"

#include <string.h>

#define KINDS ":#<>?\"/$!&~=%^"

const struct grammar_row *grammar_find(const char *name, size_t len)
{
	size_t low = 0, high = grammar_n_rows;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int c = strncmp(grammar_rows[middle].name, name, len);

		if (c == 0 && grammar_rows[middle].name[len] != '\0')
			c = 1;
		if (c == 0)
			return &grammar_rows[middle];
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

int grammar_short_kind(const struct grammar_row *row, char c)
{
	for (const char *p = row->shorts; p && *p; p++) {
		bool valued = p[1] && strchr(KINDS, p[1]);

		if (*p == c && !strchr(KINDS, c))
			return valued ? p[1] : '\0';
		p += valued;
	}
	return -1;
}

int grammar_long_kind(const struct grammar_row *row, const char *name, size_t len)
{
	for (const char *p = row->longs, *stop; p && *p; p = *stop ? stop + 1 : stop) {
		size_t own;

		stop = strchrnul(p, ' ');
		own = (size_t)(stop - p);
		if (own > 0 && strchr(KINDS, stop[-1]))
			own--;
		if (own == len && strncmp(p, name, len) == 0)
			return strchr(KINDS, p[own]) ? p[own] : '\0';
	}
	return -1;
}

bool grammar_kind_has_separate_value(int kind)
{
	return kind > 0 && kind != '?' && kind != '~' && kind != '%';
}

static void next_letter(struct grammar_iter *g, struct grammar_item *ret)
{
	int kind;

	ret->letter = *g->cluster++;
	kind = g->row ? grammar_short_kind(g->row, ret->letter) : -1;
	if (grammar_kind_has_separate_value(kind) && !*g->cluster)
		g->i++;
	if (kind > 0 || !*g->cluster)
		g->cluster = NULL;
}

bool grammar_iter_next(struct grammar_iter *g, struct grammar_item *ret)
{
	const char *t;

	*ret = (struct grammar_item){ 0 };
	if (g->cluster) {
		next_letter(g, ret);
		return true;
	}
	if (g->i >= g->n)
		return false;
	t = g->w[g->i++].text;
	if (!g->ended && str_eq(t, "--")) {
		g->ended = true;
		return grammar_iter_next(g, ret);
	}
	if (g->ended || t[0] != '-' || !t[1]) {
		ret->operand = t;
		return true;
	}
	if (t[1] != '-') {
		g->cluster = t + 1;
		next_letter(g, ret);
		return true;
	}
	ret->name = t + 2;
	ret->len = strcspn(ret->name, "=");
	if (!ret->name[ret->len] && g->row &&
	    grammar_kind_has_separate_value(grammar_long_kind(g->row, ret->name, ret->len)))
		g->i++;
	return true;
}

bool grammar_item_is(const struct grammar_item *o, const char *list)
{
	const char *space = strchrnul(list, ' ');

	if (o->letter)
		return memchr(list, o->letter, (size_t)(space - list)) != NULL;
	for (const char *p = *space ? space + 1 : space, *stop; o->name && *p; p = *stop ? stop + 1 : stop) {
		stop = strchrnul(p, ',');
		if ((size_t)(stop - p) == o->len && strncmp(p, o->name, o->len) == 0)
			return true;
	}
	return false;
}
