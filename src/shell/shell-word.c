/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shell/shell-parse.h"

#include <errno.h>
#include <string.h>

bool shell_is_end(char c)
{
	switch (c) {
	case '\0':
	case ' ':
	case '\t':
	case '\n':
	case ';':
	case '&':
	case '|':
	case '<':
	case '>':
	case '(':
	case ')':
		return true;
	default:
		return false;
	}
}

int shell_add(struct shell_parse *x, struct shell_text *t, char c)
{
	if (t->len + 1 >= t->room) {
		size_t room = t->room ? t->room * 2 : 32;
		char *bytes = arena_alloc(x->arena, room);

		if (!bytes)
			return x->arena->error;
		if (t->len)
			memcpy(bytes, t->bytes, t->len);
		t->bytes = bytes;
		t->room = room;
	}
	t->bytes[t->len++] = c;
	t->bytes[t->len] = '\0';
	return 0;
}

int shell_add_literal(struct shell_parse *x, struct shell_text *t, char c)
{
	/* Text that was a word of an outer command: its unknown parts stay unknown. */
	if (c == SHELL_UNKNOWN) {
		t->flags |= SHELL_WORD_UNKNOWN | SHELL_WORD_SPLIT;
		return shell_add(x, t, c);
	}
	/* Internal markers, not valid input. */
	if (c >= SHELL_BRACE_OPEN && c <= SHELL_FIELD_BREAK)
		return shell_fail(x, "control character");
	return shell_add(x, t, c);
}

int shell_add_unknown(struct shell_parse *x, struct shell_text *t, bool quoted)
{
	t->flags |= SHELL_WORD_UNKNOWN | (quoted ? 0 : SHELL_WORD_SPLIT);
	return shell_add(x, t, SHELL_UNKNOWN);
}

int shell_check_newline(struct shell_parse *x)
{
	if (x->heredocs || x->no_newline)
		return shell_fail(x, "line break inside a word before a here-document");
	return 0;
}

static int read_plain(struct shell_parse *x, struct shell_text *t)
{
	char c = *x->at++;

	switch (c) {
	case '\\':
		if (x->at >= x->end)
			return shell_add(x, t, c);
		if (*x->at == '\n') {
			x->at++;
			return shell_check_newline(x);
		}
		return shell_add_literal(x, t, *x->at++);
	case '{':
		return shell_add(x, t, SHELL_BRACE_OPEN);
	case ',':
		return shell_add(x, t, SHELL_BRACE_COMMA);
	case '}':
		return shell_add(x, t, SHELL_BRACE_CLOSE);
	default:
		return shell_add_literal(x, t, c);
	}
}

/* One word, quotes removed; $IFS and braces yield several. The text of an assignment is not split. */
int shell_read_word(struct shell_parse *x, struct shell_words *out, bool assignment)
{
	struct shell_text t = { 0 };
	int r = 0;

	if (x->end - x->at > 1 && (*x->at == '<' || *x->at == '>') && x->at[1] == '(') {
		x->at += 2;
		r = shell_read_parenthesis(x);
		return r < 0 ? r : shell_push_word(x, out, "\x01", SHELL_WORD_UNKNOWN);
	}
	while (r == 0 && x->at < x->end && !shell_is_end(*x->at)) {
		if (*x->at == '\'') {
			r = shell_read_single(x, &t);
		} else if (*x->at == '"') {
			r = shell_read_double(x, &t);
		} else if (*x->at == '$') {
			r = shell_read_dollar(x, &t, false);
		} else if (*x->at == '`') {
			r = shell_read_backquote(x, false);
			if (r == 0)
				r = shell_add_unknown(x, &t, false);
		} else {
			r = read_plain(x, &t);
		}
	}
	return r < 0 ? r : shell_push_fields(x, out, &t, assignment);
}
