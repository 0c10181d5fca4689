/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shell/shell-parse.h"

#include <errno.h>
#include <string.h>

#define BRACE_WORDS_MAX 64

int shell_push_word(struct shell_parse *x, struct shell_words *out, const char *text, unsigned int flags)
{
	if (out->n == out->room) {
		size_t room = out->room ? out->room * 2 : 8;
		struct shell_word *v = arena_alloc(x->arena, room * sizeof(*v));

		if (!v)
			return x->arena->error;
		if (out->n)
			memcpy(v, out->v, out->n * sizeof(*v));
		out->v = v;
		out->room = room;
	}
	out->v[out->n++] = (struct shell_word){ text, flags };
	return 0;
}

static void plain_braces(char *text)
{
	for (; *text; text++)
		*text = *text == SHELL_BRACE_OPEN    ? '{'
			: *text == SHELL_BRACE_COMMA ? ','
			: *text == SHELL_BRACE_CLOSE ? '}'
						     : *text;
}

/* "a{b,c}d" -> abd acd, one group and no nesting; anything more complex becomes an unknown value. */
static int push_braces(struct shell_parse *x, struct shell_words *out, char *text, unsigned int flags)
{
	char *open = strchr(text, SHELL_BRACE_OPEN), *close = open ? strchr(open, SHELL_BRACE_CLOSE) : NULL;
	bool comma = open && memchr(open, SHELL_BRACE_COMMA, close ? (size_t)(close - open) : 0);
	bool range = open && close && memmem(open, (size_t)(close - open), "..", 2);
	size_t n = 0;
	int r = 0;

	if (!close || (!comma && !range)) {
		plain_braces(text);
		return shell_push_word(x, out, text, flags);
	}
	if (range || strchr(open + 1, SHELL_BRACE_OPEN) || strchr(close + 1, SHELL_BRACE_CLOSE)) {
		plain_braces(text);
		*open = SHELL_UNKNOWN;
		return shell_push_word(x, out, text, flags | SHELL_WORD_UNKNOWN | SHELL_WORD_SPLIT);
	}
	plain_braces(close);
	for (char *part = open + 1, *next; part <= close && r == 0; part = next + 1) {
		size_t before = (size_t)(open - text), len, after = strlen(close + 1);
		char *made;

		next = memchr(part, SHELL_BRACE_COMMA, (size_t)(close - part));
		if (!next)
			next = close;
		len = (size_t)(next - part);
		if (++n > BRACE_WORDS_MAX)
			return shell_fail(x, "braces with too many words");
		made = arena_alloc(x->arena, before + len + after + 1);
		if (!made)
			return x->arena->error;
		memcpy(made, text, before);
		memcpy(made + before, part, len);
		memcpy(made + before + len, close + 1, after + 1);
		plain_braces(made);
		r = shell_push_word(x, out, made, flags);
	}
	return r;
}

int shell_push_fields(struct shell_parse *x, struct shell_words *out, struct shell_text *t, bool assignment)
{
	char *text = t->bytes, *stop;
	int r = 0;

	if (!text)
		return shell_push_word(x, out, "", t->flags);
	for (char *p = text; assignment && *p; p++)
		if (*p == SHELL_FIELD_BREAK) {
			*p = SHELL_UNKNOWN;
			t->flags |= SHELL_WORD_UNKNOWN;
		}
	if (assignment) {
		plain_braces(text);
		return shell_push_word(x, out, text, t->flags);
	}
	do {
		stop = strchr(text, SHELL_FIELD_BREAK);
		if (stop)
			*stop = '\0';
		if (*text || (!stop && text == t->bytes))
			r = push_braces(x, out, text, t->flags);
		text = stop ? stop + 1 : NULL;
	} while (r == 0 && text);
	return r;
}
