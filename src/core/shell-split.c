/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/shell-split.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "core/shell-parse.h"

/*
 * Recursive descent over POSIX's shell grammar, with what of bash's is common.  Rules of this file:
 * 1. It MUST NOT skip text: every byte belongs to a word, an operator, a comment or a here-document.
 * 2. Where sh and bash read differently, it MUST take the reading that shows more commands, or refuse.
 * 3. It MUST NOT go back: each byte is read once per level of backquotes, so the time is linear.
 */

int shell_bad(struct shell_parse *x, const char *why)
{
	x->why = why;
	return -EBADMSG;
}

int shell_enter(struct shell_parse *x)
{
	if (++x->depth > SHELL_DEPTH_MAX)
		return shell_bad(x, "nested too deeply");
	return 0;
}

void shell_leave(struct shell_parse *x)
{
	x->depth--;
}

static char peek(const struct shell_parse *x, size_t ahead)
{
	return (size_t)(x->end - x->at) > ahead ? x->at[ahead] : '\0';
}

static void skip_blanks(struct shell_parse *x)
{
	for (;;) {
		if (peek(x, 0) == ' ' || peek(x, 0) == '\t')
			x->at++;
		else if (peek(x, 0) == '\\' && peek(x, 1) == '\n')
			x->at += 2;
		else
			break;
	}
	if (peek(x, 0) == '#')
		while (x->at < x->end && *x->at != '\n')
			x->at++;
}

static int take_newline(struct shell_parse *x)
{
	x->at++;
	if (x->no_newline)
		return shell_bad(x, "line break inside a substitution before a here-document");
	return x->heredocs ? shell_read_heredocs(x) : 0;
}

static int skip_lines(struct shell_parse *x)
{
	int r = 0;

	skip_blanks(x);
	while (r == 0 && peek(x, 0) == '\n') {
		r = take_newline(x);
		skip_blanks(x);
	}
	return r;
}

/* Length of the unquoted plain word that stands here; 0 when it is quoted, expanded or no word. */
static size_t plain_length(const struct shell_parse *x)
{
	const char *p = x->at;

	while (p < x->end && !shell_is_end(*p)) {
		if (strchr("'\"\\$`", *p))
			return 0;
		p++;
	}
	return (size_t)(p - x->at);
}

static bool is_word(const struct shell_parse *x, const char *word)
{
	size_t len = strlen(word);

	return plain_length(x) == len && memcmp(x->at, word, len) == 0;
}

static bool take_word(struct shell_parse *x, const char *word)
{
	if (!is_word(x, word))
		return false;
	x->at += strlen(word);
	skip_blanks(x);
	return true;
}

static int want_word(struct shell_parse *x, const char *word, const char *why)
{
	int r = skip_lines(x);

	if (r < 0)
		return r;
	return take_word(x, word) ? 0 : shell_bad(x, why);
}

static bool at_closer(const struct shell_parse *x)
{
	static const char *const closers[] = {
		"then", "do", "done", "fi", "elif", "else", "esac", "}", NULL
	};
	size_t len = plain_length(x);

	for (size_t i = 0; len > 0 && len <= 4 && closers[i]; i++)
		if (strlen(closers[i]) == len && memcmp(x->at, closers[i], len) == 0)
			return true;
	return false;
}

static int new_command(struct shell_parse *x, struct shell_command **ret)
{
	struct shell_command *c = arena_alloc(x->arena, sizeof(*c));

	if (!c)
		return x->arena->error;
	*c = (struct shell_command){ .loops = x->loops > 0, .scope = x->scope };
	*ret = c;
	return 0;
}

static void emit(struct shell_parse *x, struct shell_command *c, const struct shell_words *w)
{
	c->words = w->v;
	c->n_words = w->n;
	*x->tail = c;
	x->tail = &c->next;
}

static int add_redirect(struct shell_parse *x, struct shell_command *c, enum shell_redirect_kind kind,
			struct shell_redirect **ret)
{
	struct shell_redirect *d = arena_alloc(x->arena, sizeof(*d));

	if (!d)
		return x->arena->error;
	*d = (struct shell_redirect){ .next = c->redirects, .kind = kind, .word = { "", 0 } };
	c->redirects = d;
	*ret = d;
	return 0;
}

static bool at_process_substitution(const struct shell_parse *x)
{
	return (peek(x, 0) == '<' || peek(x, 0) == '>') && peek(x, 1) == '(';
}

static int read_target(struct shell_parse *x, struct shell_redirect *d)
{
	struct shell_words w = { 0 };
	int r;

	skip_blanks(x);
	if (at_process_substitution(x)) {
		x->at += 2;
		d->word = (struct shell_word){ "\x01", SHELL_WORD_UNKNOWN };
		return shell_read_parenthesis(x);
	}
	if (x->at >= x->end || shell_is_end(*x->at))
		return shell_bad(x, "redirection without a target");
	r = shell_read_word(x, &w, false);
	if (r < 0)
		return r;
	/* bash refuses several words here, sh takes the first: an unknown file is both. */
	d->word = w.n == 1 ? w.v[0] : (struct shell_word){ "\x01", SHELL_WORD_UNKNOWN };
	return 0;
}

static int read_here(struct shell_parse *x, struct shell_redirect *d)
{
	struct shell_heredoc *h = arena_alloc(x->arena, sizeof(*h)), **tail = &x->heredocs;
	int r;

	if (!h)
		return x->arena->error;
	*h = (struct shell_heredoc){ .redirect = d, .tabs = peek(x, 0) == '-' };
	x->at += h->tabs;
	skip_blanks(x);
	r = shell_read_delimiter(x, &h->delimiter, &h->quoted);
	while (*tail)
		tail = &(*tail)->next;
	*tail = h;
	return r;
}

static bool is_descriptor(const char *text)
{
	return strcmp(text, "-") == 0 || (*text && strspn(text, "0123456789") == strlen(text));
}

/* At '<' or '>', not a process substitution. */
static int read_redirect(struct shell_parse *x, struct shell_command *c)
{
	enum shell_redirect_kind kind = *x->at == '<' ? SHELL_REDIRECT_READ : SHELL_REDIRECT_WRITE;
	struct shell_redirect *d = NULL;
	bool duplicate = false;
	char second;
	int r;

	x->at++;
	second = peek(x, 0);
	if (kind == SHELL_REDIRECT_READ && second == '<') {
		x->at++;
		r = add_redirect(x, c, SHELL_REDIRECT_HERE, &d);
		if (r < 0)
			return r;
		if (peek(x, 0) != '<')
			return read_here(x, d);
		x->at++;
		return read_target(x, d);
	}
	if (second == '>') {
		kind = kind == SHELL_REDIRECT_WRITE ? SHELL_REDIRECT_APPEND : SHELL_REDIRECT_WRITE;
		x->at++;
	} else if (second == '&') {
		duplicate = true;
		x->at++;
	} else if (second == '|' && kind == SHELL_REDIRECT_WRITE) {
		x->at++;
	}
	r = add_redirect(x, c, kind, &d);
	if (r == 0)
		r = read_target(x, d);
	if (r == 0 && duplicate && is_descriptor(d->word.text))
		c->redirects = d->next;
	return r;
}

static int read_redirects(struct shell_parse *x, struct shell_command *c)
{
	int r = 0;

	skip_blanks(x);
	while (r == 0) {
		size_t digits = 0;

		while (peek(x, digits) >= '0' && peek(x, digits) <= '9')
			digits++;
		if ((peek(x, digits) != '<' && peek(x, digits) != '>') || at_process_substitution(x))
			break;
		x->at += digits;
		r = read_redirect(x, c);
		skip_blanks(x);
	}
	return r;
}

/* Length of "name=", "name+=" or "name[...]=" at the start of this word, else 0. */
static size_t assignment_length(const struct shell_parse *x, size_t *ret_name)
{
	const char *p = x->at;

	while (p < x->end && (*p == '_' || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			      (p > x->at && *p >= '0' && *p <= '9')))
		p++;
	*ret_name = (size_t)(p - x->at);
	if (*ret_name == 0)
		return 0;
	if (p < x->end && *p == '[') {
		while (p < x->end && *p != ']' && !shell_is_end(*p))
			p++;
		if (p >= x->end || *p != ']')
			return 0;
		p++;
	}
	if (p + 1 < x->end && *p == '+' && p[1] == '=')
		p++;
	return p < x->end && *p == '=' ? (size_t)(p - x->at) + 1 : 0;
}

/* "name=(a b c)": the words are values, what runs in them is found. */
static int emit_perhaps(struct shell_parse *x, const struct shell_words *w)
{
	struct shell_command *c = NULL;
	int r;

	if (w->n == 0)
		return 0;
	r = new_command(x, &c);
	if (r < 0)
		return r;
	c->perhaps = true;
	emit(x, c, w);
	return 0;
}

static int read_array(struct shell_parse *x, struct shell_words *out)
{
	int r = 0;

	x->at++;
	for (;;) {
		r = skip_lines(x);
		if (r < 0)
			return r;
		if (peek(x, 0) == ')') {
			x->at++;
			return 0;
		}
		if (x->at >= x->end || shell_is_end(*x->at))
			return shell_bad(x, "array is not closed");
		r = shell_read_word(x, out, false);
		if (r < 0)
			return r;
	}
}

static int read_assignment(struct shell_parse *x, struct shell_command *c, size_t len, size_t name)
{
	struct shell_assignment *a = arena_alloc(x->arena, sizeof(*a));
	struct shell_words w = { 0 };
	int r;

	if (!a)
		return x->arena->error;
	*a = (struct shell_assignment){ .next = c->assignments, .name = arena_text(x->arena, x->at, name) };
	if (!a->name)
		return x->arena->error;
	c->assignments = a;
	/* A subscript may hold a substitution: read all of the word, then cut. */
	if (x->at[len - 2] == ']' || x->at[len - 1] != '=') {
		r = shell_read_word(x, &w, true);
		a->value = (struct shell_word){ "\x01", SHELL_WORD_UNKNOWN };
		return r;
	}
	x->at += len;
	if (peek(x, 0) == '(') {
		a->value = (struct shell_word){ "\x01", SHELL_WORD_UNKNOWN };
		r = read_array(x, &w);
		/* ( rm -rf / ) becomes "${a[@]}" somewhere. */
		if (r == 0)
			r = emit_perhaps(x, &w);
		return r;
	}
	r = shell_read_word(x, &w, true);
	if (r == 0)
		a->value = w.v[0];
	return r;
}

static int read_simple(struct shell_parse *x, bool and_then)
{
	struct shell_command *c = NULL;
	struct shell_words w = { 0 };
	bool stray = false; /* "&>": what follows belongs to this command in bash, to the next one in sh */
	int r = new_command(x, &c);

	while (r == 0) {
		size_t name, len;

		r = read_redirects(x, c);
		if (r < 0 || x->at >= x->end)
			break;
		if (peek(x, 0) == '&' && peek(x, 1) == '>') {
			x->at++;
			stray = true;
			continue;
		}
		if (shell_is_end(*x->at) && !at_process_substitution(x))
			break;
		if (stray)
			return shell_bad(x, "words after &>");
		len = w.n == 0 ? assignment_length(x, &name) : 0;
		r = len > 0 ? read_assignment(x, c, len, name) : shell_read_word(x, &w, false);
	}
	if (r < 0)
		return r;
	if (w.n == 0 && !c->assignments && !c->redirects)
		return shell_bad(x, "empty command");
	c->and_then = and_then;
	emit(x, c, &w);
	return 0;
}

static int read_process(struct shell_parse *x, bool and_then, bool *ret_simple);

/* What redirections follow a compound command write files as any do. */
static int read_tail(struct shell_parse *x)
{
	struct shell_command *c = NULL;
	int r = new_command(x, &c);

	if (r == 0)
		r = read_redirects(x, c);
	if (r == 0 && c->redirects)
		emit(x, c, &(struct shell_words){ 0 });
	return r;
}

static int read_body(struct shell_parse *x, const char *open, const char *close, const char *why)
{
	int r = want_word(x, open, why);

	if (r == 0)
		r = shell_list(x);
	if (r == 0)
		r = take_word(x, close) ? 0 : shell_bad(x, why);
	return r;
}

static int read_if(struct shell_parse *x)
{
	int r;

	do {
		r = shell_list(x);
		if (r == 0)
			r = want_word(x, "then", "if without then");
		if (r == 0)
			r = shell_list(x);
	} while (r == 0 && take_word(x, "elif"));
	if (r == 0 && take_word(x, "else"))
		r = shell_list(x);
	if (r == 0)
		r = take_word(x, "fi") ? 0 : shell_bad(x, "if without fi");
	return r;
}

static int read_loop(struct shell_parse *x)
{
	int r;

	x->loops++;
	r = shell_list(x);
	if (r == 0)
		r = read_body(x, "do", "done", "loop without do and done");
	x->loops--;
	return r;
}

static int read_for(struct shell_parse *x)
{
	struct shell_words w = { 0 };
	int r = 0;

	if (peek(x, 0) == '(' && peek(x, 1) == '(') {
		x->at += 2;
		r = shell_read_arithmetic(x);
	} else {
		if (plain_length(x) == 0)
			return shell_bad(x, "for without a name");
		x->at += plain_length(x);
		r = skip_lines(x);
		if (r == 0 && take_word(x, "in"))
			while (r == 0 && x->at < x->end && !shell_is_end(*x->at)) {
				r = shell_read_word(x, &w, false);
				skip_blanks(x);
			}
	}
	if (r == 0)
		r = emit_perhaps(x, &w);
	skip_blanks(x);
	if (r == 0 && peek(x, 0) == ';')
		x->at++;
	x->loops++;
	if (r == 0)
		r = read_body(x, "do", "done", "for without do and done");
	x->loops--;
	return r;
}

static int read_pattern(struct shell_parse *x)
{
	struct shell_words w = { 0 };
	int r;

	if (peek(x, 0) == '(')
		x->at++;
	for (;;) {
		skip_blanks(x);
		if (x->at >= x->end || shell_is_end(*x->at))
			return shell_bad(x, "case without a pattern");
		r = shell_read_word(x, &w, false);
		if (r < 0)
			return r;
		skip_blanks(x);
		if (peek(x, 0) != '|')
			break;
		x->at++;
	}
	if (peek(x, 0) != ')')
		return shell_bad(x, "pattern without )");
	x->at++;
	return 0;
}

static int read_case(struct shell_parse *x)
{
	struct shell_words w = { 0 };
	int r;

	if (x->at >= x->end || shell_is_end(*x->at))
		return shell_bad(x, "case without a word");
	r = shell_read_word(x, &w, false);
	if (r == 0)
		r = want_word(x, "in", "case without in");
	while (r == 0) {
		r = skip_lines(x);
		if (r < 0 || take_word(x, "esac"))
			return r;
		r = read_pattern(x);
		if (r == 0)
			r = shell_list(x);
		if (r < 0 || take_word(x, "esac"))
			return r;
		if (peek(x, 0) != ';' || (peek(x, 1) != ';' && peek(x, 1) != '&'))
			return shell_bad(x, "case without ;; or esac");
		x->at += peek(x, 1) == ';' && peek(x, 2) == '&' ? 3 : 2;
	}
	return r;
}

/* bash: one condition.  sh: a command named "[[", and what follows || is one as well. */
static int read_condition(struct shell_parse *x)
{
	struct shell_words w = { 0 };
	struct shell_command *c = NULL;
	int r = new_command(x, &c);

	while (r == 0) {
		size_t before = w.n;

		r = skip_lines(x);
		if (r < 0)
			return r;
		if (x->at >= x->end || *x->at == ';')
			return shell_bad(x, "[[ is not closed");
		if (before > 0 && take_word(x, "]]"))
			break;
		if (!shell_is_end(*x->at)) {
			r = shell_read_word(x, &w, false);
			continue;
		}
		if (at_process_substitution(x)) {
			x->at += 2;
			r = shell_read_parenthesis(x);
			continue;
		}
		x->at++;
		if (w.n > 0) {
			emit(x, c, &w);
			w = (struct shell_words){ 0 };
			r = new_command(x, &c);
			c->perhaps = r == 0;
		}
	}
	if (r == 0)
		emit(x, c, &w);
	return r;
}

static int read_function(struct shell_parse *x)
{
	bool simple;
	int r;

	x->loops++;
	r = skip_lines(x);
	if (r == 0)
		r = read_process(x, false, &simple);
	x->loops--;
	return r;
}

static int read_subshell(struct shell_parse *x)
{
	unsigned int scope = x->scope;
	int r;

	x->at++;
	x->scope = ++x->scopes;
	r = shell_list(x);
	x->scope = scope;
	if (r < 0)
		return r;
	if (peek(x, 0) != ')')
		return shell_bad(x, "( is not closed");
	x->at++;
	return 0;
}

/* 1: a compound command was read; 0: none stands here. */
static int read_keyword(struct shell_parse *x)
{
	int r;

	if (peek(x, 0) == '(')
		r = read_subshell(x);
	else if (take_word(x, "{"))
		r = shell_list(x) ?: (take_word(x, "}") ? 0 : shell_bad(x, "{ is not closed"));
	else if (take_word(x, "if"))
		r = read_if(x);
	else if (take_word(x, "while") || take_word(x, "until"))
		r = read_loop(x);
	else if (take_word(x, "for") || take_word(x, "select"))
		r = read_for(x);
	else if (take_word(x, "case"))
		r = read_case(x);
	else
		return 0;
	return r < 0 ? r : 1;
}

static bool at_function(const struct shell_parse *x)
{
	size_t len = plain_length(x), name;

	if (assignment_length(x, &name) > 0) /* an array */
		return false;
	while (len > 0 && (peek(x, len) == ' ' || peek(x, len) == '\t'))
		len++;
	return len > 0 && peek(x, len) == '(';
}

static int skip_function_name(struct shell_parse *x)
{
	if (plain_length(x) == 0)
		return shell_bad(x, "function without a name");
	x->at += plain_length(x);
	skip_blanks(x);
	if (peek(x, 0) != '(')
		return 0;
	x->at++;
	skip_blanks(x);
	if (peek(x, 0) != ')')
		return shell_bad(x, "( where no command begins");
	x->at++;
	return 0;
}

/* *RET_SIMPLE: a simple command and nothing else. */
static int read_one(struct shell_parse *x, bool and_then, bool *ret_simple)
{
	int r = read_keyword(x);

	*ret_simple = false;
	if (r != 0)
		return r < 0 ? r : read_tail(x);
	if (is_word(x, "coproc"))
		return shell_bad(x, "coproc");
	if (is_word(x, "[["))
		return read_condition(x) ?: read_tail(x);
	if (take_word(x, "function") || at_function(x)) {
		r = skip_function_name(x);
		return r < 0 ? r : read_function(x);
	}
	*ret_simple = true;
	return read_simple(x, and_then);
}

static int read_process(struct shell_parse *x, bool and_then, bool *ret_simple)
{
	int r = shell_enter(x);

	if (r == 0)
		r = read_one(x, and_then, ret_simple);
	shell_leave(x);
	return r;
}

/* "!" and "time" before a pipeline.  Is its end turned round? */
static bool skip_prefixes(struct shell_parse *x)
{
	bool turned = false;

	for (;;) {
		if (take_word(x, "!"))
			turned = true;
		else if (!take_word(x, "time"))
			return turned;
		else
			(void)(take_word(x, "-p") || take_word(x, "--"));
	}
}

static int read_pipeline(struct shell_parse *x, bool and_then, bool *ret_simple)
{
	bool turned = skip_prefixes(x), piped = false;
	int r;

	for (;;) {
		r = read_process(x, and_then, ret_simple);
		skip_blanks(x);
		if (turned || piped)
			*ret_simple = false;
		if (r < 0 || peek(x, 0) != '|' || peek(x, 1) == '|')
			return r;
		x->at += peek(x, 1) == '&' ? 2 : 1;
		r = skip_lines(x);
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
		if (peek(x, 0) == '&' && peek(x, 1) == '&')
			and_then = simple;
		else if (peek(x, 0) == '|' && peek(x, 1) == '|')
			and_then = false;
		else
			return 0;
		x->at += 2;
		r = skip_lines(x);
		if (r < 0)
			return r;
	}
}

int shell_list(struct shell_parse *x)
{
	int r;

	for (;;) {
		r = skip_lines(x);
		if (r < 0 || x->at >= x->end || *x->at == ')' || at_closer(x))
			return r;
		if (*x->at == ';')
			return peek(x, 1) == ';' || peek(x, 1) == '&' ? 0
								      : shell_bad(x, "; without a command");
		r = read_and_or(x);
		if (r < 0)
			return r;
		if (x->at >= x->end || *x->at == ')' || *x->at == '\n')
			continue;
		if (*x->at == ';' && (peek(x, 1) == ';' || peek(x, 1) == '&'))
			return 0;
		if (*x->at == ';' || *x->at == '&')
			x->at++;
		else if (!at_closer(x)) /* after a group: "{ a; } }" */
			return shell_bad(x, "text after a command");
	}
}

int shell_split(struct arena *a, const char *text, size_t len, struct shell *ret)
{
	struct shell_parse x = { .arena = a, .at = text, .end = text + len, .tail = &ret->first };
	int r = 0;

	*ret = (struct shell){ 0 };
	if (len > SHELL_TEXT_MAX)
		r = shell_bad(&x, "too long");
	else if (memchr(text, '\0', len))
		r = shell_bad(&x, "NUL");
	if (r == 0)
		r = shell_list(&x);
	if (r == 0 && x.at < x.end)
		r = shell_bad(&x, "a closing word or bracket that nothing opened");
	if (r == 0 && x.heredocs)
		r = shell_bad(&x, "here-document without a body");
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		ret->why = r == -E2BIG ? "too long" : x.why;
	return 0;
}
