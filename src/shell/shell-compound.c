/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shell/shell-parse.h"

#include <errno.h>
#include <string.h>

static int read_body(struct shell_parse *x, const char *open, const char *close, const char *why)
{
	int r = shell_require_word(x, open, why);

	if (r == 0)
		r = shell_list(x);
	if (r == 0)
		r = shell_take_word(x, close) ? 0 : shell_fail(x, why);
	return r;
}

static int read_if(struct shell_parse *x)
{
	int r;

	do {
		r = shell_list(x);
		if (r == 0)
			r = shell_require_word(x, "then", "if without then");
		if (r == 0)
			r = shell_list(x);
	} while (r == 0 && shell_take_word(x, "elif"));
	if (r == 0 && shell_take_word(x, "else"))
		r = shell_list(x);
	if (r == 0)
		r = shell_take_word(x, "fi") ? 0 : shell_fail(x, "if without fi");
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
	const char *variable = NULL;
	int r = 0;

	if (shell_peek(x, 0) == '(' && shell_peek(x, 1) == '(') {
		x->at += 2;
		r = shell_read_arithmetic(x);
	} else {
		if (shell_plain_length(x) == 0)
			return shell_fail(x, "for without a name");
		variable = arena_text(x->arena, x->at, shell_plain_length(x));
		if (!variable)
			return x->arena->error;
		x->at += shell_plain_length(x);
		r = shell_skip_lines(x);
		if (r == 0 && shell_take_word(x, "in"))
			while (r == 0 && x->at < x->end && !shell_is_end(*x->at)) {
				r = shell_read_word(x, &w, false);
				shell_skip_blanks(x);
			}
	}
	if (r == 0)
		r = shell_emit_perhaps(x, &w, variable);
	shell_skip_blanks(x);
	if (r == 0 && shell_peek(x, 0) == ';')
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

	if (shell_peek(x, 0) == '(')
		x->at++;
	for (;;) {
		shell_skip_blanks(x);
		if (x->at >= x->end || shell_is_end(*x->at))
			return shell_fail(x, "case without a pattern");
		r = shell_read_word(x, &w, false);
		if (r < 0)
			return r;
		shell_skip_blanks(x);
		if (shell_peek(x, 0) != '|')
			break;
		x->at++;
	}
	if (shell_peek(x, 0) != ')')
		return shell_fail(x, "pattern without )");
	x->at++;
	return 0;
}

static int read_case(struct shell_parse *x)
{
	struct shell_words w = { 0 };
	int r;

	if (x->at >= x->end || shell_is_end(*x->at))
		return shell_fail(x, "case without its word");
	r = shell_read_word(x, &w, false);
	if (r == 0)
		r = shell_require_word(x, "in", "case without in");
	while (r == 0) {
		r = shell_skip_lines(x);
		if (r < 0 || shell_take_word(x, "esac"))
			return r;
		r = read_pattern(x);
		if (r == 0)
			r = shell_list(x);
		if (r < 0 || shell_take_word(x, "esac"))
			return r;
		if (shell_peek(x, 0) != ';' || (shell_peek(x, 1) != ';' && shell_peek(x, 1) != '&'))
			return shell_fail(x, "case without ;; or esac");
		x->at += shell_peek(x, 1) == ';' && shell_peek(x, 2) == '&' ? 3 : 2;
	}
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
	if (shell_peek(x, 0) != ')')
		return shell_fail(x, "( is not closed");
	x->at++;
	return 0;
}

/* 1: a compound command was read; 0: none begins here. */
int shell_read_keyword(struct shell_parse *x)
{
	int r;

	if (shell_peek(x, 0) == '(')
		r = read_subshell(x);
	else if (shell_take_word(x, "{"))
		r = shell_list(x) ?: (shell_take_word(x, "}") ? 0 : shell_fail(x, "{ is not closed"));
	else if (shell_take_word(x, "if"))
		r = read_if(x);
	else if (shell_take_word(x, "while") || shell_take_word(x, "until"))
		r = read_loop(x);
	else if (shell_take_word(x, "for") || shell_take_word(x, "select"))
		r = read_for(x);
	else if (shell_take_word(x, "case"))
		r = read_case(x);
	else
		return 0;
	return r < 0 ? r : 1;
}

/* For sh the text up to here is a command of its own. */
static int split_condition(struct shell_parse *x, struct shell_command **c, struct shell_words *w)
{
	int r;

	if (w->n == 0)
		return 0;
	shell_emit(x, *c, w);
	*w = (struct shell_words){ 0 };
	r = shell_new_command(x, c);
	if (r == 0)
		(*c)->perhaps = true;
	return r;
}

/* bash: one condition. sh: a command named "[[", and the text after || or a line break is another one. */
int shell_read_condition(struct shell_parse *x)
{
	struct shell_words w = { 0 };
	struct shell_command *c = NULL;
	int r = shell_new_command(x, &c);

	while (r == 0) {
		shell_skip_blanks(x);
		if (shell_peek(x, 0) == '\n') {
			r = shell_skip_lines(x);
			if (r == 0)
				r = split_condition(x, &c, &w);
		} else if (x->at >= x->end || *x->at == ';') {
			return shell_fail(x, "[[ is not closed");
		} else if (w.n > 0 && shell_take_word(x, "]]")) {
			shell_emit(x, c, &w);
			return 0;
		} else if (!shell_is_end(*x->at)) {
			r = shell_read_word(x, &w, false);
		} else if (shell_at_process(x)) {
			x->at += 2;
			r = shell_read_parenthesis(x);
		} else {
			/* bash compares; for sh it is a redirection */
			x->bash_only = x->bash_only || *x->at == '<' || *x->at == '>';
			x->at++;
			r = split_condition(x, &c, &w);
		}
	}
	return r;
}

bool shell_at_function(const struct shell_parse *x)
{
	size_t len = shell_plain_length(x), name;

	if (shell_assignment_length(x, &name) > 0) /* an array */
		return false;
	while (len > 0 && (shell_peek(x, len) == ' ' || shell_peek(x, len) == '\t'))
		len++;
	return len > 0 && shell_peek(x, len) == '(';
}

static int skip_function_name(struct shell_parse *x)
{
	if (shell_plain_length(x) == 0)
		return shell_fail(x, "function without a name");
	x->at += shell_plain_length(x);
	shell_skip_blanks(x);
	if (shell_peek(x, 0) != '(')
		return 0;
	x->at++;
	shell_skip_blanks(x);
	if (shell_peek(x, 0) != ')')
		return shell_fail(x, "unexpected (");
	x->at++;
	return 0;
}

/* The name, an optional "()", and the body. */
int shell_read_function(struct shell_parse *x)
{
	bool simple;
	int r = skip_function_name(x);

	x->functions = true;
	if (r < 0)
		return r;

	x->loops++;
	r = shell_skip_lines(x);
	if (r == 0)
		r = shell_read_process(x, false, &simple);
	x->loops--;
	return r;
}
