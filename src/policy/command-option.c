/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

/* A list of options: short letters, a space, long names with commas between: "ab long,other". */
static const char *long_names(const char *list)
{
	const char *space = list ? strchr(list, ' ') : NULL;

	return space ? space + 1 : NULL;
}

static bool has_letter(const char *list, char c)
{
	for (; list && *list && *list != ' '; list++)
		if (*list == c)
			return true;
	return false;
}

/* GNU accepts any unique prefix of a name; here any prefix matches. */
static bool has_name(const char *list, const char *name, size_t len)
{
	for (const char *p = long_names(list), *comma; p && len > 0; p = comma ? comma + 1 : NULL) {
		comma = strchr(p, ',');
		if (strncmp(p, name, len) == 0 && (!comma || p + len <= comma))
			return true;
	}
	return false;
}

static bool has_exact_name(const char *list, const char *name, size_t len)
{
	for (const char *p = long_names(list), *comma; p; p = comma ? comma + 1 : NULL) {
		comma = strchr(p, ',');
		if (strncmp(p, name, len) == 0 && (p[len] == ',' || p[len] == '\0'))
			return true;
	}
	return false;
}

void option_iter_init(struct option_iter *o, const struct simple_command *c, bool posix)
{
	*o = (struct option_iter){
		.w = c->w, .n = c->n, .i = 1, .args = c->row ? c->row->args : NULL, .posix = posix
	};
}

static const char *next_word(struct option_iter *o)
{
	return o->i < o->n ? o->w[o->i++].text : NULL;
}

static void take_short(struct option_iter *o, struct option_word *ret)
{
	ret->c = *o->cluster++;
	if (has_letter(o->args, ret->c)) {
		ret->value = *o->cluster ? o->cluster : next_word(o);
		o->cluster = NULL;
	} else if (!*o->cluster) {
		o->cluster = NULL;
	}
}

static void take_long(struct option_iter *o, const char *text, struct option_word *ret)
{
	const char *equals = strchr(text, '=');

	ret->name = text;
	ret->len = equals ? (size_t)(equals - text) : strlen(text);
	if (equals)
		ret->value = equals + 1;
	else if (has_exact_name(o->args, text, ret->len) ||
		 (ret->len >= 3 && has_name(o->args, text, ret->len)))
		ret->value = next_word(o);
}

bool option_iter_next(struct option_iter *o, struct option_word *ret)
{
	const char *text;

	*ret = (struct option_word){ .at = o->i };
	if (o->cluster) {
		ret->at = o->i - 1;
		take_short(o, ret);
		return true;
	}
	text = next_word(o);
	if (!text)
		return false;
	if (o->ended || text[0] != '-' || text[1] == '\0') {
		ret->word = text;
		o->ended = o->ended || o->posix;
		return true;
	}
	if (text[1] != '-') {
		o->cluster = text + 1;
		take_short(o, ret);
		return true;
	}
	if (text[2] == '\0') {
		o->ended = o->dashes = true;
		return option_iter_next(o, ret);
	}
	take_long(o, text + 2, ret);
	return true;
}

bool option_word_is_operand(const struct option_word *o)
{
	return o->word != NULL;
}

bool option_word_is(const struct option_word *o, const char *list)
{
	if (o->c)
		return has_letter(list, o->c);
	return o->name && has_name(list, o->name, o->len);
}
