/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shell/shell-parse.h"

#include <errno.h>
#include <string.h>

int shell_fail(struct shell_parse *x, const char *why)
{
	x->why = why;
	return -EBADMSG;
}

int shell_enter(struct shell_parse *x)
{
	if (++x->depth > SHELL_DEPTH_MAX)
		return shell_fail(x, "nested too deeply");
	return 0;
}

void shell_leave(struct shell_parse *x)
{
	x->depth--;
}

char shell_peek(const struct shell_parse *x, size_t ahead)
{
	return (size_t)(x->end - x->at) > ahead ? x->at[ahead] : '\0';
}

size_t shell_offset(const struct shell_parse *x)
{
	return x->base ? (size_t)(x->at - x->base) : 0;
}

void shell_skip_blanks(struct shell_parse *x)
{
	for (;;) {
		if (shell_peek(x, 0) == ' ' || shell_peek(x, 0) == '\t')
			x->at++;
		else if (shell_peek(x, 0) == '\\' && shell_peek(x, 1) == '\n')
			x->at += 2;
		else
			break;
	}
	if (shell_peek(x, 0) == '#')
		while (x->at < x->end && *x->at != '\n')
			x->at++;
}

static int take_newline(struct shell_parse *x)
{
	x->at++;
	if (x->no_newline)
		return shell_fail(x, "line break inside a substitution before a here-document");
	return x->heredocs ? shell_read_heredocs(x) : 0;
}

int shell_skip_lines(struct shell_parse *x)
{
	int r = 0;

	shell_skip_blanks(x);
	while (r == 0 && shell_peek(x, 0) == '\n') {
		r = take_newline(x);
		shell_skip_blanks(x);
	}
	return r;
}

/* Length of the unquoted plain word at the position; 0 if it is quoted, expanded or not a word. */
size_t shell_plain_length(const struct shell_parse *x)
{
	const char *p = x->at;

	while (p < x->end && !shell_is_end(*p)) {
		if (strchr("'\"\\$`", *p))
			return 0;
		p++;
	}
	return (size_t)(p - x->at);
}

/* WORD has no quotes: compare it with the text at the position. */
bool shell_is_word(const struct shell_parse *x, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(x->end - x->at) >= len && memcmp(x->at, word, len) == 0 &&
	       shell_is_end(shell_peek(x, len));
}

bool shell_take_word(struct shell_parse *x, const char *word)
{
	if (!shell_is_word(x, word))
		return false;
	x->at += strlen(word);
	shell_skip_blanks(x);
	return true;
}

int shell_require_word(struct shell_parse *x, const char *word, const char *why)
{
	int r = shell_skip_lines(x);

	if (r < 0)
		return r;
	return shell_take_word(x, word) ? 0 : shell_fail(x, why);
}
