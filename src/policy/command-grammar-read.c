/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fnmatch.h>
#include <string.h>

#include "base/str.h"
#include "policy/command-grammar-impl.h"

/*
 * Reads the words as the program reads them. Rules:
 *  1. Only exact names of long options are listed; an abbreviation is not recognised.
 *  2. A value in a word of its own MUST NOT begin with a dash: a wrong arity in the table then hides no option.
 *  3. A word whose begin is known only at run time, or is a pattern, may be an option: it is recognised where every
 *     option of the program is listed, and behind the end of the options.
 */

/* Rule 3. */
bool grammar_may_be_option(const struct grammar_reader *r, const struct shell_word *w)
{
	if (r->ended || r->row->flags & GRAMMAR_TOTAL)
		return false;
	return w->flags & SHELL_WORD_SPLIT || (w->text[0] && strchr("\x01*?[", w->text[0]));
}

/* %G runs gpg, and so does %+G. */
static bool format_verifies(const char *format)
{
	for (const char *p = strchr(format, '%'); p; p = strchr(p + 1, '%'))
		if (p[1 + strspn(p + 1, "+- ")] == 'G')
			return true;
	return false;
}

static bool value_is_plain(struct grammar_reader *r, int kind, const char *value)
{
	switch (kind) {
	case '!': /* HOST:FILE makes tar run rsh */
		return !strpbrk(value, ":\x01");
	case '&':
		r->script = true;
		return grammar_sed_is_plain(value);
	case '~': /* in a suffix of sed '*' is the name, and '/' another directory */
		return strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-~") ==
		       strlen(value);
	case '=':
		return grammar_git_setting_is_plain(value);
	case '%':
		return !format_verifies(value) && !strpbrk(value, "\x01") && !strstr(value, "signature");
	case '^':
		return grammar_shell_option_is_plain(value);
	default:
		return true;
	}
}

/* May WORD become several words, of which a later one is an option? */
static bool may_grow(const struct grammar_reader *r, const struct shell_word *w)
{
	static const char *const actions[] = { "-delete", "-exec", "-execdir", "-ok",	   "-okdir",
					       "-fprint", "-fls",  "-fprint0", "-fprintf", NULL };

	if (w->flags & SHELL_WORD_SPLIT)
		return true;
	if (r->row->operands != GRAMMAR_FIND)
		return w->text[0] && strchr("*?[", w->text[0]);
	for (size_t i = 0; actions[i]; i++)
		if (fnmatch(w->text, actions[i], 0) == 0)
			return true;
	return false;
}

/* A negative number; of find a number or mode (-mtime -7), which is no word of an expression. */
static bool dash_is_plain(const struct grammar_reader *r, int kind, const char *text)
{
	if (r->row->operands == GRAMMAR_FIND)
		return text[0] >= '0' && text[0] <= '9';
	return kind == '#' && grammar_is_number(text);
}

/* The value of an option in its own word. */
static bool take_value(struct grammar_reader *r, int kind)
{
	const struct shell_word *w;

	if (r->i >= r->n)
		return true; /* the program refuses it */
	w = &r->w[r->i++];
	if (!(r->row->flags & GRAMMAR_TOTAL) && may_grow(r, w))
		return false;
	if (w->text[0] == '-' && w->text[1] && !(r->row->flags & GRAMMAR_TOTAL) &&
	    !dash_is_plain(r, kind, w->text + 1))
		return false;
	return value_is_plain(r, kind, w->text);
}

static bool read_value(struct grammar_reader *r, int kind, const char *attached)
{
	if (kind == '"')
		return !attached && take_value(r, kind) && take_value(r, kind);
	if (attached)
		return kind != '\0' && kind != '$' && value_is_plain(r, kind, attached);
	if (!grammar_kind_has_separate_value(kind))
		return true;
	return take_value(r, kind);
}

static bool read_long(struct grammar_reader *r, const char *text)
{
	const char *equals = strchr(text, '=');
	int kind = grammar_long_kind(r->row, text, equals ? (size_t)(equals - text) : strlen(text));

	return kind >= 0 && read_value(r, kind, equals ? equals + 1 : NULL);
}

/* -abc, -ofile; the rest of a word behind a letter with a value is the value. */
static bool read_cluster(struct grammar_reader *r, const char *text)
{
	if (r->row->flags & GRAMMAR_DIGITS && grammar_is_number(text))
		return r->row->operands != GRAMMAR_KILL ||
		       r->i == 2; /* a later one is a group of processes */
	if (r->row->operands == GRAMMAR_KILL && r->i == 2 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") > 1)
		return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ012") == strlen(text);
	for (; *text; text++) {
		int kind = grammar_short_kind(r->row, *text);

		if (kind < 0)
			return false;
		if (kind != '\0')
			return read_value(r, kind, text[1] ? text + 1 : NULL);
	}
	return true;
}

/* find, ip, xxd: one dash and a name. */
static bool read_dash_word(struct grammar_reader *r, const char *text)
{
	int kind = grammar_long_kind(r->row, text, strlen(text));

	return kind >= 0 && read_value(r, kind, NULL);
}

/* tar xzf FILE, tar xC DIR: the values follow in the order of the letters. */
static const char *read_bundle(struct grammar_reader *r)
{
	const char *letters = r->n > 1 && r->w[1].text[0] != '-' ? r->w[1].text : "";

	if (!*letters)
		return NULL;
	r->i = 2;
	for (; *letters; letters++) {
		int kind = grammar_short_kind(r->row, *letters);

		if (kind < 0)
			return r->w[1].text;
		if (kind != '\0' && (r->i >= r->n || !take_value(r, kind)))
			return r->w[1].text;
	}
	return NULL;
}

static const char *read_all(struct grammar_reader *r);

/* The rest is a subcommand, with a row of its own. */
static const char *read_git(struct grammar_reader *r)
{
	const char *sub = r->w[r->i].text;
	char name[40] = "git ";
	struct grammar_reader inner = { .k = r->k, .w = r->w + r->i, .n = r->n - r->i, .i = 1 };

	if (strlen(sub) > 30)
		return sub;
	memcpy(name + 4, sub, strlen(sub) + 1);
	inner.row = grammar_find(name, strlen(name));
	if (!inner.row)
		return sub;
	/* "ext::COMMAND" and other helpers of git run a program. */
	for (size_t i = 1; i < inner.n && grammar_is_listed("remote fetch pull push clone ls-remote", sub);
	     i++)
		if (strstr(inner.w[i].text, "::") || str_starts(inner.w[i].text, "ext:"))
			return inner.w[i].text;
	return read_all(&inner);
}

/* sh -oc NAME TEXT: the name of -o is the next word, also in a cluster; "+x" is an option too. */
static const char *read_shell(struct grammar_reader *r)
{
	while (r->i < r->n) {
		const char *t = r->w[r->i].text;
		size_t names = 0;

		if (t[0] != '-' && t[0] != '+')
			return t[0] == SHELL_UNKNOWN || r->w[r->i].flags & SHELL_WORD_SPLIT ? t : NULL;
		r->i++;
		if (str_eq(t, "--") || str_eq(t, "-"))
			return NULL;
		if (t[0] == '-' && t[1] == '-') {
			if (!read_long(r, t + 2))
				return t;
			continue;
		}
		for (const char *p = t + 1; *p; p++) {
			int kind = grammar_short_kind(r->row, *p);

			if (kind < 0)
				return t;
			names += kind == '^';
		}
		for (; names > 0; names--)
			if (r->i >= r->n || !grammar_shell_option_is_plain(r->w[r->i++].text))
				return t;
	}
	return NULL;
}

static bool read_word(struct grammar_reader *r, const struct shell_word *w)
{
	const char *t = w->text;

	if (grammar_may_be_option(r, w))
		return false;
	if (r->row->flags & GRAMMAR_WORDS)
		return read_dash_word(r, t + 1);
	if (t[1] == '-')
		return read_long(r, t + 2);
	return read_cluster(r, t + 1);
}

/* -exec CMD ... ; or {} +: the command is judged by find's own judge. Only ";" ends that of -ok. */
static bool skip_command(struct grammar_reader *r)
{
	size_t from = r->i;
	bool plus = str_starts(r->w[from - 1].text, "-exec");

	for (; r->i < r->n; r->i++) {
		const char *t = r->w[r->i].text;

		if (str_eq(t, ";") ||
		    (plus && str_eq(t, "+") && r->i > from && str_eq(r->w[r->i - 1].text, "{}"))) {
			r->i++;
			return true;
		}
	}
	return false;
}

static bool is_option(const struct grammar_reader *r, const char *t)
{
	return !r->ended && t[0] == '-' && t[1] != '\0';
}

static const char *read_options(struct grammar_reader *r)
{
	while (r->i < r->n) {
		const struct shell_word *w = &r->w[r->i];

		if (!r->ended && str_eq(w->text, "--") && !(r->row->flags & GRAMMAR_WORDS)) {
			r->ended = true;
			r->i++;
			continue;
		}
		if (is_option(r, w->text)) {
			r->i++;
			if (r->row->operands == GRAMMAR_FIND &&
			    grammar_long_kind(r->row, w->text + 1, strlen(w->text + 1)) == '$') {
				if (!skip_command(r))
					return w->text;
			} else if (!read_word(r, w)) {
				return w->text;
			}
			continue;
		}
		if (r->row->operands == GRAMMAR_COMMAND)
			return grammar_may_be_option(r, w) ? w->text : NULL;
		if (r->row->operands == GRAMMAR_GIT)
			return grammar_may_be_option(r, w) ? w->text : read_git(r);
		if (r->row->operands != GRAMMAR_FIND && grammar_may_be_option(r, w))
			return w->text;
		r->i++;
		if (!grammar_operand_is_listed(r, w))
			return w->text;
		r->operands++;
		r->ended = r->ended || r->row->flags & GRAMMAR_POSIX;
	}
	return NULL;
}

static const char *read_all(struct grammar_reader *r)
{
	const char *bad;

	switch (r->row->operands) {
	case GRAMMAR_TEST:
		return grammar_test_is_listed(r) ? NULL : r->w[0].text;
	case GRAMMAR_CONDITION:
		return grammar_condition_is_plain(r->w + 1, r->n - 1) ? NULL : r->w[0].text;
	case GRAMMAR_SHELL:
		return read_shell(r);
	case GRAMMAR_TAR:
		bad = read_bundle(r);
		if (bad)
			return bad;
		break;
	default:
		break;
	}
	return read_options(r);
}

const char *grammar_unlisted_word(struct classifier *k, const struct grammar_row *row,
				  const struct shell_word *w, size_t n)
{
	struct grammar_reader r = { .k = k, .row = row, .w = w, .n = n, .i = 1 };

	return read_all(&r);
}
