/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shell/shell-split.h"

#include <errno.h>
#include <string.h>

#include "shell/shell-parse.h"

/*
 * Recursive descent over POSIX's shell grammar, with common bash extensions.  Rules of this file:
 * 1. It MUST NOT skip text: every byte belongs to a word, an operator, a comment or a here-document.
 * 2. Where sh and bash read differently, it MUST take the reading that shows more commands, or refuse.
 * 3. It MUST NOT go back: each byte is read once per level of backquotes, so the time is linear.
 */

static bool at_closer(const struct shell_parse *x)
{
	static const char *const closers[] = {
		"then", "do", "done", "fi", "elif", "else", "esac", "}", NULL
	};

	for (size_t i = 0; closers[i]; i++)
		if (shell_peek(x, 0) == closers[i][0] && shell_is_word(x, closers[i]))
			return true;
	return false;
}

/* *RET_SIMPLE: exactly one simple command. */
static int read_one(struct shell_parse *x, bool and_then, bool *ret_simple)
{
	int r = shell_read_keyword(x);

	*ret_simple = false;
	if (r != 0)
		return r < 0 ? r : shell_read_tail(x);
	if (shell_is_word(x, "coproc"))
		return shell_fail(x, "coproc");
	if (shell_is_word(x, "[["))
		return shell_read_condition(x) ?: shell_read_tail(x);
	if (shell_take_word(x, "function") || shell_at_function(x))
		return shell_read_function(x);
	*ret_simple = true;
	return shell_read_simple(x, and_then);
}

int shell_read_process(struct shell_parse *x, bool and_then, bool *ret_simple)
{
	int r = shell_enter(x);

	if (r == 0)
		r = read_one(x, and_then, ret_simple);
	shell_leave(x);
	return r;
}

/* "!" and "time" before a pipeline. Is its exit status negated? */
static bool skip_prefixes(struct shell_parse *x)
{
	bool turned = false;

	for (;;) {
		if (shell_take_word(x, "!"))
			turned = true;
		else if (!shell_take_word(x, "time"))
			return turned;
		else
			(void)(shell_take_word(x, "-p") || shell_take_word(x, "--"));
	}
}

static int read_pipeline(struct shell_parse *x, bool and_then, bool *ret_simple)
{
	bool turned = skip_prefixes(x), piped = false;
	int r;

	for (;;) {
		r = shell_read_process(x, and_then, ret_simple);
		shell_skip_blanks(x);
		if (turned || piped)
			*ret_simple = false;
		if (r < 0 || shell_peek(x, 0) != '|' || shell_peek(x, 1) == '|')
			return r;
		x->at += shell_peek(x, 1) == '&' ? 2 : 1;
		r = shell_skip_lines(x);
		if (r < 0)
			return r;
		and_then = false;
		piped = true;
		(void)skip_prefixes(x);
	}
}

static int read_and_or(struct shell_parse *x)
{
	bool and_then = false, simple;
	int r;

	for (;;) {
		r = read_pipeline(x, and_then, &simple);
		if (r < 0)
			return r;
		if (shell_peek(x, 0) == '&' && shell_peek(x, 1) == '&')
			and_then = simple;
		else if (shell_peek(x, 0) == '|' && shell_peek(x, 1) == '|')
			and_then = false;
		else
			return 0;
		x->at += 2;
		r = shell_skip_lines(x);
		if (r < 0)
			return r;
	}
}

int shell_list(struct shell_parse *x)
{
	int r;

	for (;;) {
		r = shell_skip_lines(x);
		if (r < 0 || x->at >= x->end || *x->at == ')' || at_closer(x))
			return r;
		if (*x->at == ';')
			return shell_peek(x, 1) == ';' || shell_peek(x, 1) == '&'
				       ? 0
				       : shell_fail(x, "; without a command");
		r = read_and_or(x);
		if (r < 0)
			return r;
		if (x->at >= x->end || *x->at == ')' || *x->at == '\n')
			continue;
		if (*x->at == ';' && (shell_peek(x, 1) == ';' || shell_peek(x, 1) == '&'))
			return 0;
		if (*x->at == ';' || *x->at == '&')
			x->at++;
		else if (!at_closer(x)) /* after a group: "{ a; } }" */
			return shell_fail(x, "unexpected text after a command");
	}
}

int shell_split(struct arena *a, const char *text, size_t len, struct shell *ret)
{
	struct shell_parse x = { .arena = a,
				 .at = text,
				 .end = text + len,
				 .base = text,
				 .tail = &ret->first,
				 .expansions = &ret->expansions };
	int r = 0;

	*ret = (struct shell){ 0 };
	if (len > SHELL_TEXT_MAX)
		r = shell_fail(&x, "too long");
	else if (memchr(text, '\0', len))
		r = shell_fail(&x, "NUL");
	if (r == 0)
		r = shell_list(&x);
	if (r == 0 && x.at < x.end)
		r = shell_fail(&x, "unexpected closing word or bracket");
	if (r == 0 && x.heredocs)
		r = shell_fail(&x, "here-document without a body");
	if (r == -ENOMEM)
		return r;
	ret->functions = x.functions;
	ret->bash_only = x.bash_only;
	if (r < 0)
		ret->why = r == -E2BIG ? "too long" : x.why;
	return 0;
}
