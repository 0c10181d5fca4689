/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/shell-parse.h"

#include <errno.h>
#include <string.h>

/* Unquoted braces and $IFS, told apart from their quoted selves until the word is complete. */
#define BRACE_OPEN '\x02'
#define BRACE_COMMA '\x03'
#define BRACE_CLOSE '\x04'
#define FIELD_BREAK '\x05'

#define BRACE_WORDS_MAX 64

struct text {
	char *bytes;
	size_t len, room;
	unsigned int flags;
};

static int add(struct shell_parse *x, struct text *t, char c)
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

static int add_literal(struct shell_parse *x, struct text *t, char c)
{
	/* Text that was itself a word of an outer command: what was unknown there is unknown here. */
	if (c == SHELL_UNKNOWN) {
		t->flags |= SHELL_WORD_UNKNOWN | SHELL_WORD_SPLIT;
		return add(x, t, c);
	}
	/* Our own marks; nobody types these. */
	if (c >= BRACE_OPEN && c <= FIELD_BREAK)
		return shell_bad(x, "control character");
	return add(x, t, c);
}

static int add_unknown(struct shell_parse *x, struct text *t, bool quoted)
{
	t->flags |= SHELL_WORD_UNKNOWN | (quoted ? 0 : SHELL_WORD_SPLIT);
	return add(x, t, SHELL_UNKNOWN);
}

bool shell_is_end(char c)
{
	return strchr(" \t\n;&|<>()", c) != NULL; /* NUL as well */
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

static int read_dollar(struct shell_parse *x, struct text *t, bool quoted);
static int read_double(struct shell_parse *x, struct text *t);

static int note_newline(struct shell_parse *x)
{
	if (x->heredocs || x->no_newline)
		return shell_bad(x, "line break inside a word before a here-document");
	return 0;
}

static int read_single(struct shell_parse *x, struct text *t)
{
	for (x->at++; x->at < x->end; x->at++) {
		int r;

		if (*x->at == '\'') {
			x->at++;
			return 0;
		}
		r = *x->at == '\n' ? note_newline(x) : 0;
		if (r == 0)
			r = add_literal(x, t, *x->at);
		if (r < 0)
			return r;
	}
	return shell_bad(x, "' is not closed");
}

static int digits_value(struct shell_parse *x, unsigned int base, unsigned int max)
{
	unsigned int value = 0, n = 0;

	for (; x->at < x->end && n < max; x->at++, n++) {
		char c = *x->at;
		unsigned int d = c >= '0' && c <= '9'	? (unsigned int)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10
				 : c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10
							: 99;

		if (d >= base)
			break;
		value = value * base + d;
	}
	return (int)(value & 0xff);
}

/* After $' : bash's escapes.  sh knows no such quote, so a \' in it would end the text elsewhere. */
static int read_ansi(struct shell_parse *x, struct text *t)
{
	static const char from[] = "abefnrtvE\\\"?", to[] = "\a\b\033\f\n\r\t\v\033\\\"?";

	while (x->at < x->end && *x->at != '\'') {
		const char *known;
		char c = *x->at++;
		int r;

		if (c == '\\' && x->at < x->end) {
			c = *x->at++;
			known = c ? strchr(from, c) : NULL;
			if (c == '\'')
				return shell_bad(x, "\\' in $'...', which sh reads otherwise");
			if (known)
				c = to[known - from];
			else if (c == 'x')
				c = (char)digits_value(x, 16, 2);
			else if (c == 'u' || c == 'U')
				c = (char)digits_value(x, 16, c == 'u' ? 4 : 8);
			else if (c >= '0' && c <= '7') {
				x->at--;
				c = (char)digits_value(x, 8, 3);
			} else
				return shell_bad(x, "escape in $'...'");
			if (!c) /* ends the string in bash */
				return shell_bad(x, "NUL in $'...'");
		}
		r = c == '\n' ? note_newline(x) : 0;
		if (r == 0)
			r = add_literal(x, t, c);
		if (r < 0)
			return r;
	}
	if (x->at >= x->end)
		return shell_bad(x, "' is not closed");
	x->at++;
	return 0;
}

int shell_read_parenthesis(struct shell_parse *x)
{
	struct shell_heredoc *outer = x->heredocs;
	unsigned int scope = x->scope;
	bool no_newline = x->no_newline;
	int r;

	r = shell_enter(x);
	if (r < 0)
		return r;
	x->heredocs = NULL;
	x->no_newline = no_newline || outer;
	x->scope = ++x->scopes;
	r = shell_list(x);
	x->scope = scope;
	if (r < 0)
		return r;
	if (x->at >= x->end || *x->at != ')')
		return shell_bad(x, "( is not closed");
	if (x->heredocs)
		return shell_bad(x, "here-document without a body");
	x->at++;
	x->heredocs = outer;
	x->no_newline = no_newline;
	shell_leave(x);
	return 0;
}

/* The text between backquotes, one level of backslashes taken off, read as commands. */
static int read_backquote(struct shell_parse *x, bool quoted)
{
	struct shell_parse inner = *x;
	struct text body = { 0 };
	int r = 0;

	for (x->at++; x->at < x->end && *x->at != '`'; x->at++) {
		if (*x->at == '\\' && x->at + 1 < x->end &&
		    (x->at[1] == '`' || x->at[1] == '\\' || x->at[1] == '$' || (quoted && x->at[1] == '"')))
			x->at++;
		else if (*x->at == '\n')
			r = note_newline(x);
		if (r == 0)
			r = add_literal(x, &body, *x->at);
		if (r < 0)
			return r;
	}
	if (x->at >= x->end)
		return shell_bad(x, "` is not closed");
	x->at++;
	if (body.len == 0)
		return 0;
	inner.at = body.bytes;
	inner.end = body.bytes + body.len;
	inner.heredocs = NULL;
	inner.scope = ++inner.scopes;
	r = shell_enter(&inner);
	if (r == 0)
		r = shell_list(&inner);
	x->tail = inner.tail;
	x->scopes = inner.scopes;
	x->why = inner.why;
	if (r == 0 && (inner.at < inner.end || inner.heredocs))
		r = shell_bad(x, "` holds no whole command");
	return r;
}

/* After "${": through the matching brace.  What is assigned or chosen there stays unknown, what runs does not. */
static int read_parameter(struct shell_parse *x, struct text *t, bool quoted)
{
	struct text inner = { 0 };
	int r = shell_enter(x);

	while (r == 0 && x->at < x->end && *x->at != '}') {
		switch (*x->at) {
		case '\\':
			x->at += x->at + 1 < x->end ? 2 : 1;
			break;
		case '\'':
			r = quoted ? shell_bad(x, "' in \"${...}\", which shells read differently")
				   : read_single(x, &inner);
			break;
		case '"':
			r = quoted ? shell_bad(x, "\" in \"${...}\", which shells read differently")
				   : read_double(x, &inner);
			break;
		case '`':
			r = read_backquote(x, quoted);
			break;
		case '$':
			r = read_dollar(x, &inner, quoted);
			break;
		case '\n':
			r = note_newline(x);
			x->at++;
			break;
		default:
			x->at++;
		}
	}
	if (r < 0)
		return r;
	if (x->at >= x->end)
		return shell_bad(x, "${ is not closed");
	x->at++;
	shell_leave(x);
	return add_unknown(x, t, quoted);
}

int shell_read_arithmetic(struct shell_parse *x)
{
	struct text inner = { 0 };
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
					return shell_bad(x, "(( is not closed by ))");
				x->at += 2;
				shell_leave(x);
				return 0;
			}
			open--;
			x->at++;
			break;
		case '$':
			r = read_dollar(x, &inner, true);
			break;
		case '`':
			r = read_backquote(x, true);
			break;
		/* Quotes move the end for one shell and not for the other. */
		case '\'':
		case '"':
		case '\\':
		case '\n':
		case '#':
			return shell_bad(x, "quote or comment in arithmetic");
		default:
			x->at++;
		}
	}
	return r < 0 ? r : shell_bad(x, "(( is not closed");
}

static int read_variable(struct shell_parse *x, struct text *t, bool quoted)
{
	const char *name = x->at;

	if (strchr("@*#?-$!", *x->at) || (*x->at >= '0' && *x->at <= '9')) {
		x->at++;
		return add_unknown(x, t, quoted);
	}
	while (x->at < x->end && is_name(*x->at))
		x->at++;
	if (!quoted && x->at - name == 3 && memcmp(name, "IFS", 3) == 0)
		return add(x, t, FIELD_BREAK);
	return add_unknown(x, t, quoted);
}

static bool names_ifs(const struct shell_parse *x)
{
	return x->end - x->at > 3 && memcmp(x->at, "IFS", 3) == 0 && !is_name(x->at[3]);
}

static int read_dollar(struct shell_parse *x, struct text *t, bool quoted)
{
	char next;
	int r;

	x->at++;
	next = x->at < x->end ? *x->at : '\0';
	if (next == '(' && x->at + 1 < x->end && x->at[1] == '(') {
		x->at += 2;
		r = shell_read_arithmetic(x);
		return r < 0 ? r : add_unknown(x, t, quoted);
	}
	if (next == '(') {
		x->at++;
		r = shell_read_parenthesis(x);
		return r < 0 ? r : add_unknown(x, t, quoted);
	}
	if (next == '{') {
		struct text ignored = { 0 };

		x->at++;
		if (quoted || !names_ifs(x))
			return read_parameter(x, t, quoted);
		r = read_parameter(x, &ignored, quoted);
		return r < 0 ? r : add(x, t, FIELD_BREAK);
	}
	if (next == '\'' && !quoted) {
		x->at++;
		return read_ansi(x, t);
	}
	if (next == '"' && !quoted)
		return read_double(x, t);
	if (next && (is_name(next) || strchr("@*#?-$!", next)))
		return read_variable(x, t, quoted);
	return next == '[' ? add_unknown(x, t, quoted) : add(x, t, '$');
}

static int read_double(struct shell_parse *x, struct text *t)
{
	int r = 0;

	x->at++;
	while (r == 0 && x->at < x->end && *x->at != '"') {
		if (*x->at == '$') {
			r = read_dollar(x, t, true);
		} else if (*x->at == '`') {
			r = read_backquote(x, true);
			if (r == 0)
				r = add_unknown(x, t, true);
		} else if (*x->at == '\\' && x->at + 1 < x->end && strchr("$`\"\\\n", x->at[1])) {
			if (x->at[1] != '\n')
				r = add_literal(x, t, x->at[1]);
			x->at += 2;
		} else {
			if (*x->at == '\n')
				r = note_newline(x);
			if (r == 0)
				r = add_literal(x, t, *x->at++);
		}
	}
	if (r < 0)
		return r;
	if (x->at >= x->end)
		return shell_bad(x, "\" is not closed");
	x->at++;
	return 0;
}

static int push(struct shell_parse *x, struct shell_words *out, const char *text, unsigned int flags)
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
		*text = *text == BRACE_OPEN    ? '{'
			: *text == BRACE_COMMA ? ','
			: *text == BRACE_CLOSE ? '}'
					       : *text;
}

/* "a{b,c}d" -> abd acd, one group and no nesting; anything richer is a value that is not known. */
static int push_braces(struct shell_parse *x, struct shell_words *out, char *text, unsigned int flags)
{
	char *open = strchr(text, BRACE_OPEN), *close = open ? strchr(open, BRACE_CLOSE) : NULL;
	bool comma = open && memchr(open, BRACE_COMMA, close ? (size_t)(close - open) : 0);
	bool range = open && close && memmem(open, (size_t)(close - open), "..", 2);
	size_t n = 0;
	int r = 0;

	if (!close || (!comma && !range)) {
		plain_braces(text);
		return push(x, out, text, flags);
	}
	if (range || strchr(open + 1, BRACE_OPEN) || strchr(close + 1, BRACE_CLOSE)) {
		plain_braces(text);
		*open = SHELL_UNKNOWN;
		return push(x, out, text, flags | SHELL_WORD_UNKNOWN | SHELL_WORD_SPLIT);
	}
	plain_braces(close);
	for (char *part = open + 1, *next; part <= close && r == 0; part = next + 1) {
		size_t before = (size_t)(open - text), len, after = strlen(close + 1);
		char *made;

		next = memchr(part, BRACE_COMMA, (size_t)(close - part));
		if (!next)
			next = close;
		len = (size_t)(next - part);
		if (++n > BRACE_WORDS_MAX)
			return shell_bad(x, "braces with too many words");
		made = arena_alloc(x->arena, before + len + after + 1);
		if (!made)
			return x->arena->error;
		memcpy(made, text, before);
		memcpy(made + before, part, len);
		memcpy(made + before + len, close + 1, after + 1);
		plain_braces(made);
		r = push(x, out, made, flags);
	}
	return r;
}

static int push_fields(struct shell_parse *x, struct shell_words *out, struct text *t, bool assignment)
{
	char *text = t->bytes, *stop;
	int r = 0;

	if (!text)
		return push(x, out, "", t->flags);
	for (char *p = text; assignment && *p; p++)
		if (*p == FIELD_BREAK) {
			*p = SHELL_UNKNOWN;
			t->flags |= SHELL_WORD_UNKNOWN;
		}
	if (assignment) {
		plain_braces(text);
		return push(x, out, text, t->flags);
	}
	do {
		stop = strchr(text, FIELD_BREAK);
		if (stop)
			*stop = '\0';
		if (*text || (!stop && text == t->bytes))
			r = push_braces(x, out, text, t->flags);
		text = stop ? stop + 1 : NULL;
	} while (r == 0 && text);
	return r;
}

static int read_plain(struct shell_parse *x, struct text *t)
{
	char c = *x->at++;

	switch (c) {
	case '\\':
		if (x->at >= x->end)
			return add(x, t, c);
		if (*x->at == '\n') {
			x->at++;
			return note_newline(x);
		}
		return add_literal(x, t, *x->at++);
	case '{':
		return add(x, t, BRACE_OPEN);
	case ',':
		return add(x, t, BRACE_COMMA);
	case '}':
		return add(x, t, BRACE_CLOSE);
	default:
		return add_literal(x, t, c);
	}
}

/*
 * One word, quotes taken off.  Several come out of $IFS and of braces.  The text of an assignment is not split.
 */
int shell_read_word(struct shell_parse *x, struct shell_words *out, bool assignment)
{
	struct text t = { 0 };
	int r = 0;

	if (x->end - x->at > 1 && (*x->at == '<' || *x->at == '>') && x->at[1] == '(') {
		x->at += 2;
		r = shell_read_parenthesis(x);
		return r < 0 ? r : push(x, out, "\x01", SHELL_WORD_UNKNOWN);
	}
	while (r == 0 && x->at < x->end && !shell_is_end(*x->at)) {
		if (*x->at == '\'') {
			r = read_single(x, &t);
		} else if (*x->at == '"') {
			r = read_double(x, &t);
		} else if (*x->at == '$') {
			r = read_dollar(x, &t, false);
		} else if (*x->at == '`') {
			r = read_backquote(x, false);
			if (r == 0)
				r = add_unknown(x, &t, false);
		} else {
			r = read_plain(x, &t);
		}
	}
	return r < 0 ? r : push_fields(x, out, &t, assignment);
}

/* The word after << is not expanded; any quote in it makes the body literal. */
int shell_read_delimiter(struct shell_parse *x, const char **ret, bool *ret_quoted)
{
	struct text t = { 0 };
	int r = 0;

	*ret_quoted = false;
	while (r == 0 && x->at < x->end && !shell_is_end(*x->at)) {
		char c = *x->at;

		if (c == '\'') {
			*ret_quoted = true;
			r = read_single(x, &t);
		} else if (c == '"' || c == '\\' || c == '$' || c == '`') {
			/* Rare, and shells disagree about half of it. */
			if (c != '"' || !memchr(x->at + 1, '"', (size_t)(x->end - x->at - 1)))
				return shell_bad(x, "delimiter of a here-document");
			*ret_quoted = true;
			for (x->at++; r == 0 && *x->at != '"'; x->at++)
				r = strchr("$`\\\n", *x->at) ? shell_bad(x, "delimiter of a here-document")
							     : add_literal(x, &t, *x->at);
			x->at++;
		} else {
			r = add_literal(x, &t, c);
			x->at++;
		}
	}
	if (r < 0)
		return r;
	if (t.len == 0)
		return shell_bad(x, "here-document without a delimiter");
	*ret = t.bytes;
	return 0;
}

/* Substitutions in the body of an unquoted here-document run. */
static int expand_body(struct shell_parse *x, const char *body, size_t len)
{
	struct shell_parse inner = *x;
	struct text ignored = { 0 };
	int r = 0;

	inner.at = body;
	inner.end = body + len;
	inner.heredocs = NULL;
	inner.no_newline = false;
	while (r == 0 && inner.at < inner.end) {
		if (*inner.at == '\\')
			inner.at += inner.at + 1 < inner.end ? 2 : 1;
		else if (*inner.at == '$')
			r = read_dollar(&inner, &ignored, true);
		else if (*inner.at == '`')
			r = read_backquote(&inner, false);
		else
			inner.at++;
	}
	x->tail = inner.tail;
	x->scopes = inner.scopes;
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
		/* The shell joins such a line with the next one before it looks for the delimiter. */
		if (!h->quoted && nl && nl > line && nl[-1] == '\\')
			return shell_bad(x, "backslash at the end of a here-document's line");
		for (; h->tabs && line < last && *line == '\t'; line++)
			;
		if ((size_t)(last - line) == want && memcmp(line, h->delimiter, want) == 0)
			stop = start;
	}
	if (!stop)
		return shell_bad(x, "here-document without its end");
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
