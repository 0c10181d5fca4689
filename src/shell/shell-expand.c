/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shell/shell-parse.h"

#include <errno.h>
#include <string.h>

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

int shell_read_parenthesis(struct shell_parse *x)
{
	struct shell_heredoc *outer = x->heredocs;
	unsigned int scope = x->scope;
	bool no_newline = x->no_newline, assigning = x->assigning;
	int r;

	r = shell_enter(x);
	if (r < 0)
		return r;
	x->assigning = false;
	x->heredocs = NULL;
	x->no_newline = no_newline || outer;
	x->scope = ++x->scopes;
	r = shell_list(x);
	x->scope = scope;
	if (r < 0)
		return r;
	if (x->at >= x->end || *x->at != ')')
		return shell_fail(x, "( is not closed");
	if (x->heredocs)
		return shell_fail(x, "here-document without a body");
	x->at++;
	x->heredocs = outer;
	x->no_newline = no_newline;
	x->assigning = assigning;
	shell_leave(x);
	return 0;
}

static int add_expansion(struct shell_parse *x, const char *from, const char *name, size_t len,
			 const char *instead, size_t n_instead, unsigned int scope, bool quoted)
{
	struct shell_expansion *e;

	if (!x->base)
		return 0;
	e = arena_alloc(x->arena, sizeof(*e));
	if (!e)
		return x->arena->error;
	*e = (struct shell_expansion){ .from = (size_t)(from - x->base),
				       .to = (size_t)(x->at - x->base),
				       .name = name ? arena_text(x->arena, name, len) : NULL,
				       .instead = instead ? arena_text(x->arena, instead, n_instead) : NULL,
				       .scope = scope,
				       .quoted = quoted,
				       .assigned = x->assigning };
	if (x->arena->error)
		return x->arena->error;
	*x->expansions = e;
	x->expansions = &e->next;
	return 0;
}

/* The text between backquotes, with one level of backslashes removed, parsed as commands. */
int shell_read_backquote(struct shell_parse *x, bool quoted)
{
	struct shell_parse inner = *x;
	struct shell_text body = { 0 };
	const char *from = x->at;
	unsigned int scope;
	int r = 0;

	for (x->at++; x->at < x->end && *x->at != '`'; x->at++) {
		if (*x->at == '\\' && x->at + 1 < x->end &&
		    (x->at[1] == '`' || x->at[1] == '\\' || x->at[1] == '$' || (quoted && x->at[1] == '"')))
			x->at++;
		else if (*x->at == '\n')
			r = shell_check_newline(x);
		if (r == 0)
			r = shell_add_literal(x, &body, *x->at);
		if (r < 0)
			return r;
	}
	if (x->at >= x->end)
		return shell_fail(x, "` is not closed");
	x->at++;
	if (body.len == 0)
		return 0;
	inner.at = body.bytes;
	inner.end = body.bytes + body.len;
	inner.base = NULL;
	inner.heredocs = NULL;
	scope = inner.scope = ++inner.scopes;
	r = shell_enter(&inner);
	if (r == 0)
		r = shell_list(&inner);
	x->tail = inner.tail;
	x->scopes = inner.scopes;
	x->functions = inner.functions;
	x->bash_only = inner.bash_only;
	x->why = inner.why;
	if (r == 0 && (inner.at < inner.end || inner.heredocs))
		r = shell_fail(x, "incomplete command in `...`");
	return r < 0 ? r : add_expansion(x, from, NULL, 0, NULL, 0, scope, quoted);
}

/* FROM is at "${", the position after "}": ${name}, ${name:-word}, ${name[@]}. */
static int add_parameter(struct shell_parse *x, const char *from, bool quoted)
{
	const char *name = from + 2, *p = name, *end = x->at - 1, *word = NULL;

	while (p < end && is_name(*p))
		p++;
	if (p == name && p < end && strchr("@*", *p))
		p++;
	if (p == name)
		return 0;
	if (p < end && *p == ':' && end - p > 1 && strchr("-=+", p[1]))
		word = p + 2;
	else if (p < end && strchr("-=+", *p))
		word = p + 1;
	return add_expansion(x, from, name, (size_t)(p - name), word, word ? (size_t)(end - word) : 0, 0,
			     quoted);
}

/* After "${": through the matching brace. Values there stay unknown; commands in substitutions are found. */
static int read_parameter(struct shell_parse *x, struct shell_text *t, bool quoted)
{
	struct shell_text inner = { 0 };
	int r = shell_enter(x);

	while (r == 0 && x->at < x->end && *x->at != '}') {
		switch (*x->at) {
		case '\\':
			x->at += x->at + 1 < x->end ? 2 : 1;
			break;
		case '\'':
			r = quoted ? shell_fail(x, "' in \"${...}\", which shells read differently")
				   : shell_read_single(x, &inner);
			break;
		case '"':
			r = quoted ? shell_fail(x, "\" in \"${...}\", which shells read differently")
				   : shell_read_double(x, &inner);
			break;
		case '`':
			r = shell_read_backquote(x, quoted);
			break;
		case '$':
			r = shell_read_dollar(x, &inner, quoted);
			break;
		case '\n':
			r = shell_check_newline(x);
			x->at++;
			break;
		default:
			x->at++;
		}
	}
	if (r < 0)
		return r;
	if (x->at >= x->end)
		return shell_fail(x, "${ is not closed");
	x->at++;
	shell_leave(x);
	return shell_add_unknown(x, t, quoted);
}

static int read_sums(struct shell_parse *x)
{
	struct shell_text inner = { 0 };
	unsigned int open = 0;
	int r = shell_enter(x);

	while (r == 0 && x->at < x->end) {
		switch (*x->at) {
		case '(':
			open++;
			x->at++;
			break;
		case ')':
			if (open == 0) {
				if (x->at + 1 >= x->end || x->at[1] != ')')
					return shell_fail(x, "(( is not closed by ))");
				x->at += 2;
				shell_leave(x);
				return 0;
			}
			open--;
			x->at++;
			break;
		case '$':
			r = shell_read_dollar(x, &inner, true);
			break;
		case '`':
			r = shell_read_backquote(x, true);
			break;
		/* Shells disagree on whether quotes here hide the end. */
		case '\'':
		case '"':
		case '\\':
		case '\n':
		case '#':
			return shell_fail(x, "quote or comment in arithmetic");
		default:
			x->at++;
		}
	}
	return r < 0 ? r : shell_fail(x, "(( is not closed");
}

int shell_read_arithmetic(struct shell_parse *x)
{
	const char *base = x->base;
	int r;

	x->base = NULL;
	r = read_sums(x);
	x->base = base;
	return r;
}

static int read_variable(struct shell_parse *x, struct shell_text *t, bool quoted)
{
	const char *name = x->at;
	int r;

	if (strchr("@*#?-$!", *x->at) || (*x->at >= '0' && *x->at <= '9')) {
		x->at++;
		r = add_expansion(x, name - 1, name, 1, NULL, 0, 0, quoted);
		return r < 0 ? r : shell_add_unknown(x, t, quoted);
	}
	while (x->at < x->end && is_name(*x->at))
		x->at++;
	r = add_expansion(x, name - 1, name, (size_t)(x->at - name), NULL, 0, 0, quoted);
	if (r < 0)
		return r;
	if (!quoted && x->at - name == 3 && memcmp(name, "IFS", 3) == 0)
		return shell_add(x, t, SHELL_FIELD_BREAK);
	return shell_add_unknown(x, t, quoted);
}

static bool names_ifs(const struct shell_parse *x)
{
	return x->end - x->at > 3 && memcmp(x->at, "IFS", 3) == 0 && !is_name(x->at[3]);
}

int shell_read_dollar(struct shell_parse *x, struct shell_text *t, bool quoted)
{
	const char *from = x->at;
	unsigned int scope;
	char next;
	int r;

	x->at++;
	next = x->at < x->end ? *x->at : '\0';
	if (next == '(' && x->at + 1 < x->end && x->at[1] == '(') {
		x->at += 2;
		r = shell_read_arithmetic(x);
		return r < 0 ? r : shell_add_unknown(x, t, quoted);
	}
	if (next == '(') {
		x->at++;
		scope = x->scopes + 1;
		r = shell_read_parenthesis(x);
		if (r == 0)
			r = add_expansion(x, from, NULL, 0, NULL, 0, scope, quoted);
		return r < 0 ? r : shell_add_unknown(x, t, quoted);
	}
	if (next == '{') {
		struct shell_text ignored = { 0 };

		x->at++;
		if (quoted || !names_ifs(x)) {
			r = read_parameter(x, t, quoted);
			return r < 0 ? r : add_parameter(x, from, quoted);
		}
		r = read_parameter(x, &ignored, quoted);
		return r < 0 ? r : shell_add(x, t, SHELL_FIELD_BREAK);
	}
	if ((next == '\'' || next == '"') && !quoted)
		t->flags |= SHELL_WORD_BASH;
	if (next == '\'' && !quoted) {
		x->at++;
		return shell_read_ansi(x, t);
	}
	if (next == '"' && !quoted)
		return shell_read_double(x, t);
	if (next && (is_name(next) || strchr("@*#?-$!", next)))
		return read_variable(x, t, quoted);
	return next == '[' ? shell_add_unknown(x, t, quoted) : shell_add(x, t, '$');
}
