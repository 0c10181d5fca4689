/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shell/shell-parse.h"

#include <errno.h>
#include <string.h>

/* The word after << is not expanded; any quote in it makes the body literal. */
int shell_read_delimiter(struct shell_parse *x, const char **ret, bool *ret_quoted)
{
	struct shell_text t = { 0 };
	int r = 0;

	*ret_quoted = false;
	while (r == 0 && x->at < x->end && !shell_is_end(*x->at)) {
		char c = *x->at;

		if (c == '\'') {
			*ret_quoted = true;
			r = shell_read_single(x, &t);
		} else if (c == '"' || c == '\\' || c == '$' || c == '`') {
			/* Rare, and shells disagree on it. */
			if (c != '"' || !memchr(x->at + 1, '"', (size_t)(x->end - x->at - 1)))
				return shell_fail(x, "delimiter of a here-document");
			*ret_quoted = true;
			for (x->at++; r == 0 && *x->at != '"'; x->at++)
				r = strchr("$`\\\n", *x->at) ? shell_fail(x, "delimiter of a here-document")
							     : shell_add_literal(x, &t, *x->at);
			x->at++;
		} else {
			r = shell_add_literal(x, &t, c);
			x->at++;
		}
	}
	if (r < 0)
		return r;
	if (t.len == 0)
		return shell_fail(x, "here-document without a delimiter");
	*ret = t.bytes;
	return 0;
}

/* Substitutions in the body of an unquoted here-document run. */
static int expand_body(struct shell_parse *x, const char *body, size_t len)
{
	struct shell_parse inner = *x;
	struct shell_text ignored = { 0 };
	int r = 0;

	inner.at = body;
	inner.end = body + len;
	inner.base = NULL;
	inner.heredocs = NULL;
	inner.no_newline = false;
	while (r == 0 && inner.at < inner.end) {
		if (*inner.at == '\\')
			inner.at += inner.at + 1 < inner.end ? 2 : 1;
		else if (*inner.at == '$')
			r = shell_read_dollar(&inner, &ignored, true);
		else if (*inner.at == '`')
			r = shell_read_backquote(&inner, false);
		else
			inner.at++;
	}
	x->tail = inner.tail;
	x->scopes = inner.scopes;
	x->functions = inner.functions;
	x->bash_only = inner.bash_only;
	if (r < 0)
		x->why = inner.why;
	return r;
}

static int read_heredoc(struct shell_parse *x, struct shell_heredoc *h)
{
	size_t want = strlen(h->delimiter), len;
	const char *body = x->at, *stop = NULL;
	char *text;

	while (!stop && x->at < x->end) {
		const char *start = x->at, *line = start, *nl = memchr(line, '\n', (size_t)(x->end - line)),
			   *last;

		last = nl ? nl : x->end;
		x->at = nl ? nl + 1 : x->end;
		/* The shell joins such a line with the next one before it searches for the delimiter. */
		if (!h->quoted && nl && nl > line && nl[-1] == '\\')
			return shell_fail(x, "backslash at the end of a here-document's line");
		for (; h->tabs && line < last && *line == '\t'; line++)
			;
		if ((size_t)(last - line) == want && memcmp(line, h->delimiter, want) == 0)
			stop = start;
	}
	if (!stop)
		return shell_fail(x, "here-document without its end");
	len = (size_t)(stop - body);
	text = arena_text(x->arena, body, len);
	if (!text)
		return x->arena->error;
	h->redirect->word = (struct shell_word){ text, 0 };
	return h->quoted ? 0 : expand_body(x, text, len);
}

int shell_read_heredocs(struct shell_parse *x)
{
	struct shell_heredoc *h = x->heredocs;
	int r = 0;

	x->heredocs = NULL;
	for (; h && r == 0; h = h->next)
		r = read_heredoc(x, h);
	return r;
}
