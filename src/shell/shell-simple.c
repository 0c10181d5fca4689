/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shell/shell-parse.h"

#include <errno.h>
#include <string.h>

int shell_new_command(struct shell_parse *x, struct shell_command **ret)
{
	struct shell_command *c = arena_alloc(x->arena, sizeof(*c));

	if (!c)
		return x->arena->error;
	*c = (struct shell_command){ .loops = x->loops > 0, .scope = x->scope, .at = shell_offset(x) };
	*ret = c;
	return 0;
}

void shell_emit(struct shell_parse *x, struct shell_command *c, const struct shell_words *w)
{
	c->words = w->v;
	c->n_words = w->n;
	*x->tail = c;
	x->tail = &c->next;
}

int shell_emit_perhaps(struct shell_parse *x, const struct shell_words *w, const char *variable)
{
	struct shell_command *c = NULL;
	int r;

	if (w->n == 0)
		return 0;
	r = shell_new_command(x, &c);
	if (r < 0)
		return r;
	c->perhaps = true;
	c->variable = variable;
	shell_emit(x, c, w);
	return 0;
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

bool shell_at_process(const struct shell_parse *x)
{
	return (shell_peek(x, 0) == '<' || shell_peek(x, 0) == '>') && shell_peek(x, 1) == '(';
}

static int read_target(struct shell_parse *x, struct shell_redirect *d)
{
	struct shell_words w = { 0 };
	int r;

	shell_skip_blanks(x);
	if (shell_at_process(x)) {
		x->at += 2;
		d->word = (struct shell_word){ "\x01", SHELL_WORD_UNKNOWN };
		return shell_read_parenthesis(x);
	}
	if (x->at >= x->end || shell_is_end(*x->at))
		return shell_fail(x, "redirection without a target");
	r = shell_read_word(x, &w, false);
	if (r < 0)
		return r;
	/* bash refuses several words here, sh takes the first: an unknown file covers both. */
	x->bash_only = x->bash_only || (w.n > 0 && w.v[0].flags & SHELL_WORD_BASH);
	d->word = w.n == 1 ? w.v[0] : (struct shell_word){ "\x01", SHELL_WORD_UNKNOWN };
	return 0;
}

static int read_here(struct shell_parse *x, struct shell_redirect *d)
{
	struct shell_heredoc *h = arena_alloc(x->arena, sizeof(*h)), **tail = &x->heredocs;
	int r;

	if (!h)
		return x->arena->error;
	*h = (struct shell_heredoc){ .redirect = d, .tabs = shell_peek(x, 0) == '-' };
	x->at += h->tabs;
	shell_skip_blanks(x);
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
	second = shell_peek(x, 0);
	if (kind == SHELL_REDIRECT_READ && second == '<') {
		x->at++;
		r = add_redirect(x, c, SHELL_REDIRECT_HERE, &d);
		if (r < 0)
			return r;
		if (shell_peek(x, 0) != '<')
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

	shell_skip_blanks(x);
	while (r == 0) {
		size_t digits = 0;

		while (shell_peek(x, digits) >= '0' && shell_peek(x, digits) <= '9')
			digits++;
		if ((shell_peek(x, digits) != '<' && shell_peek(x, digits) != '>') || shell_at_process(x))
			break;
		x->at += digits;
		r = read_redirect(x, c);
		shell_skip_blanks(x);
	}
	return r;
}

/* Length of "name=", "name+=" or "name[...]=" at the start of this word, else 0. */
size_t shell_assignment_length(const struct shell_parse *x, size_t *ret_name)
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

/* "name=(a b c)": the words are values; commands in their substitutions are found. */
static int read_array(struct shell_parse *x, struct shell_words *out)
{
	int r = 0;

	x->at++;
	for (;;) {
		r = shell_skip_lines(x);
		if (r < 0)
			return r;
		if (shell_peek(x, 0) == ')') {
			x->at++;
			return 0;
		}
		if (x->at >= x->end || shell_is_end(*x->at))
			return shell_fail(x, "array is not closed");
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
	*a = (struct shell_assignment){ .next = c->assignments,
					.name = arena_text(x->arena, x->at, name),
					.at = shell_offset(x),
					.append = len == name + 2 && x->at[name] == '+' };
	if (!a->name)
		return x->arena->error;
	c->assignments = a;
	x->bash_only = x->bash_only || len != name + 1;
	/* A subscript may contain a substitution: read the whole word, then split it. */
	if (x->at[name] == '[') {
		r = shell_read_word(x, &w, true);
		a->value = (struct shell_word){ "\x01", SHELL_WORD_UNKNOWN };
		return r;
	}
	x->at += len;
	if (shell_peek(x, 0) == '(') {
		a->value = (struct shell_word){ "\x01", SHELL_WORD_UNKNOWN };
		r = read_array(x, &w);
		/* ( rm -rf / ) may be run later as "${a[@]}". */
		if (r == 0)
			r = shell_emit_perhaps(x, &w, a->name);
		return r;
	}
	x->assigning = true;
	r = shell_read_word(x, &w, true);
	x->assigning = false;
	if (r == 0)
		a->value = w.v[0];
	return r;
}

int shell_read_simple(struct shell_parse *x, bool and_then)
{
	struct shell_command *c = NULL;
	struct shell_words w = { 0 };
	bool stray =
		false; /* "&>": the following words belong to this command in bash, to the next one in sh */
	int r = shell_new_command(x, &c);

	while (r == 0) {
		size_t name, len;

		r = read_redirects(x, c);
		if (r < 0 || x->at >= x->end)
			break;
		if (shell_peek(x, 0) == '&' && shell_peek(x, 1) == '>') {
			x->at++;
			stray = true;
			continue;
		}
		if (shell_is_end(*x->at) && !shell_at_process(x))
			break;
		if (stray)
			return shell_fail(x, "words after &>");
		len = w.n == 0 ? shell_assignment_length(x, &name) : 0;
		r = len > 0 ? read_assignment(x, c, len, name) : shell_read_word(x, &w, false);
	}
	if (r < 0)
		return r;
	if (w.n == 0 && !c->assignments && !c->redirects)
		return shell_fail(x, "empty command");
	c->and_then = and_then;
	shell_emit(x, c, &w);
	return 0;
}

/* Redirections after a compound command write files too. */
int shell_read_tail(struct shell_parse *x)
{
	struct shell_command *c = NULL;
	int r = shell_new_command(x, &c);

	if (r == 0)
		r = read_redirects(x, c);
	if (r == 0 && c->redirects)
		shell_emit(x, c, &(struct shell_words){ 0 });
	return r;
}
