/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-grammar.h"

#include <fnmatch.h>
#include <string.h>

#include "base/str.h"

/*
 * Reads the words as the program reads them. Rules:
 *  1. Only exact names of long options are listed; an abbreviation is not recognised.
 *  2. A value in a word of its own MUST NOT begin with a dash: a wrong arity in the table then hides no option.
 *  3. A word whose begin is known only at run time, or is a pattern, may be an option: it is recognised where every
 *     option of the program is listed, and behind the end of the options.
 */

#define KINDS ":#<>?\"/$!&~=%^"

const struct grammar_row *grammar_find(const char *name, size_t len)
{
	size_t low = 0, high = grammar_n_rows;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int c = strncmp(grammar_rows[middle].name, name, len);

		if (c == 0 && grammar_rows[middle].name[len] != '\0')
			c = 1;
		if (c == 0)
			return &grammar_rows[middle];
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

int grammar_short_kind(const struct grammar_row *row, char c)
{
	for (const char *p = row->shorts; p && *p; p++) {
		bool valued = p[1] && strchr(KINDS, p[1]);

		if (*p == c && !strchr(KINDS, c))
			return valued ? p[1] : '\0';
		p += valued;
	}
	return -1;
}

int grammar_long_kind(const struct grammar_row *row, const char *name, size_t len)
{
	for (const char *p = row->longs, *stop; p && *p; p = *stop ? stop + 1 : stop) {
		size_t own;

		stop = strchrnul(p, ' ');
		own = (size_t)(stop - p);
		if (own > 0 && strchr(KINDS, stop[-1]))
			own--;
		if (own == len && strncmp(p, name, len) == 0)
			return strchr(KINDS, p[own]) ? p[own] : '\0';
	}
	return -1;
}

static bool is_listed_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list, *stop; p && *p; p = *stop ? stop + 1 : stop) {
		stop = strchrnul(p, ' ');
		if ((size_t)(stop - p) == len && strncmp(p, word, len) == 0)
			return true;
	}
	return false;
}

/* --- position ------------------------------------------------------------------------------------------------ */

struct reader {
	struct classifier *k;
	const struct grammar_row *row;
	const struct shell_word *w;
	size_t n, i;
	size_t operands;
	const char *object; /* the first operand of ip */
	bool ended;	    /* only operands from here on */
	bool script;	    /* an option gave the script of sed */
};

/* Rule 3. */
static bool may_be_option(const struct reader *r, const struct shell_word *w)
{
	if (r->ended || r->row->flags & GRAMMAR_TOTAL)
		return false;
	return w->flags & SHELL_WORD_SPLIT || (w->text[0] && strchr("\x01*?[", w->text[0]));
}

static bool is_number(const char *text)
{
	return text[0] && strspn(text, "0123456789") == strlen(text);
}

/* %G runs gpg, and so does %+G. */
static bool format_verifies(const char *format)
{
	for (const char *p = strchr(format, '%'); p; p = strchr(p + 1, '%'))
		if (p[1 + strspn(p + 1, "+- ")] == 'G')
			return true;
	return false;
}

static bool value_is_plain(struct reader *r, int kind, const char *value)
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
static bool may_grow(const struct reader *r, const struct shell_word *w)
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
static bool dash_is_plain(const struct reader *r, int kind, const char *text)
{
	if (r->row->operands == GRAMMAR_FIND)
		return text[0] >= '0' && text[0] <= '9';
	return kind == '#' && is_number(text);
}

/* The value of an option in its own word. */
static bool take_value(struct reader *r, int kind)
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

static bool has_separate_value(int kind)
{
	return kind > 0 && kind != '?' && kind != '~' && kind != '%';
}

static bool read_value(struct reader *r, int kind, const char *attached)
{
	if (kind == '"')
		return !attached && take_value(r, kind) && take_value(r, kind);
	if (attached)
		return kind != '\0' && kind != '$' && value_is_plain(r, kind, attached);
	if (!has_separate_value(kind))
		return true;
	return take_value(r, kind);
}

static bool read_long(struct reader *r, const char *text)
{
	const char *equals = strchr(text, '=');
	int kind = grammar_long_kind(r->row, text, equals ? (size_t)(equals - text) : strlen(text));

	return kind >= 0 && read_value(r, kind, equals ? equals + 1 : NULL);
}

/* -abc, -ofile; the rest of a word behind a letter with a value is the value. */
static bool read_cluster(struct reader *r, const char *text)
{
	if (r->row->flags & GRAMMAR_DIGITS && is_number(text))
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
static bool read_dash_word(struct reader *r, const char *text)
{
	int kind = grammar_long_kind(r->row, text, strlen(text));

	return kind >= 0 && read_value(r, kind, NULL);
}

/* --- operands ------------------------------------------------------------------------------------------------ */

static bool has_subscript(const char *text)
{
	return strchr(text, '[') || strstr(text, "$(") || strchr(text, '`');
}

static bool is_tested_file(const char *op)
{
	return op[0] == '-' && op[1] && op[2] == '\0' && strchr("bcdefghkLnNOGprsStuwxz", op[1]);
}

static bool is_comparison(const char *op)
{
	static const char *const ops = "= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef";

	return is_listed_word(ops, op);
}

/* test and [: the forms whose meaning POSIX fixes by the number of words; bash evaluates the word of -v as code. */
static bool test_is_listed(const struct reader *r)
{
	const struct shell_word *w = r->w + 1;
	size_t n = r->n - 1;

	for (size_t i = 0; i < n; i++)
		if (w[i].flags & SHELL_WORD_SPLIT || has_subscript(w[i].text) ||
		    command_pattern_is_any(w[i].text, strlen(w[i].text)))
			return false;
	if (str_eq(r->row->name, "[")) {
		if (n == 0 || !str_eq(w[n - 1].text, "]"))
			return false;
		n--;
	}
	if (n >= 3 && str_eq(w[0].text, "!")) {
		w++;
		n--;
	}
	if (n <= 1)
		return true;
	if (n == 2)
		return is_tested_file(w[0].text) || str_eq(w[0].text, "!");
	return n == 3 && is_comparison(w[1].text);
}

/* [[ ]]: numbers are compared as arithmetic, so a name on either side is evaluated as code. */
bool grammar_condition_is_plain(const struct shell_word *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *t = w[i].text;

		if (has_subscript(t) || str_eq(t, "-v") || str_eq(t, "-R") || str_eq(t, "-o"))
			return false;
		if (is_listed_word("-eq -ne -lt -le -gt -ge", t) &&
		    (i == 0 || i + 1 >= n || !is_number(w[i - 1].text) || !is_number(w[i + 1].text)))
			return false;
	}
	return true;
}

static bool find_operand(struct reader *r, const struct shell_word *w)
{
	/* "(" and "!" begin the expression; a start after it is refused by find. */
	return is_listed_word("( ) ! ,", w->text) || !may_be_option(r, w);
}

/*
 * ip [options] OBJECT [show ...]: the words after it select. A letter is the first command that begins with it: "s" is
 * set for a link, and show for the others.
 */
static bool ip_operand(const struct reader *r, const char *text)
{
	static const char *const objects = "a addr address l link r route n neigh neighbour neighbor rule";
	const char *object = r->operands > 0 ? r->object : text;

	if (command_text_is_unknown(text))
		return false;
	if (r->operands == 0)
		return is_listed_word(objects, text);
	if (r->operands > 1 || is_listed_word("show list ls lst", text))
		return true;
	if (is_listed_word("r route", object) && str_eq(text, "get"))
		return true;
	return !is_listed_word("l link", object) && is_listed_word("s sh", text);
}

static bool setting_is_listed(const char *text)
{
	const char *equals = strchrnul(text, '=');

	if (!grammar_name_is_plain(text, (size_t)(equals - text)))
		return false;
	/* export NAME: its value may be anything; NAME=VALUE is read by the judge. */
	return *equals || classifier_variable_is_harmless(text);
}

/* %n of bash sets a variable: PATH, for instance. */
static bool printf_is_plain(const char *format)
{
	if (command_text_is_unknown(format))
		return false;
	for (const char *p = strchr(format, '%'); p; p = strchr(p, '%')) {
		p += 1 + strspn(p + 1, "#0123456789-+ '*.hlLjtz");
		if (*p == 'n')
			return false;
		p += *p != '\0';
	}
	return true;
}

/* An operand at r->i - 1. */
static bool read_operand(struct reader *r, const struct shell_word *w)
{
	const char *t = w->text;

	switch ((enum grammar_operands)r->row->operands) {
	case GRAMMAR_READS:
	case GRAMMAR_TEXT:
	case GRAMMAR_WRITES:
	case GRAMMAR_TAR:
		if (r->row->flags & GRAMMAR_RESPONSE && t[0] == '@')
			return false;
		return !r->row->words || r->operands > 0 || is_listed_word(r->row->words, t);
	case GRAMMAR_NO_OPERANDS:
		return r->row->words && r->operands == 0 && is_listed_word(r->row->words, t);
	case GRAMMAR_ONE_READ:
		return !(w->flags & SHELL_WORD_SPLIT) && !command_pattern_is_any(t, strlen(t));
	case GRAMMAR_FORMAT:
		return r->operands == 0 && t[0] == '+' && !(w->flags & SHELL_WORD_SPLIT);
	case GRAMMAR_BUILTIN:
		return !has_subscript(t);
	case GRAMMAR_NAMES:
		return grammar_name_is_plain(t, strlen(t)) && !classifier_variable_is_obeyed(r->k, t);
	case GRAMMAR_SETTINGS:
		return !(w->flags & SHELL_WORD_SPLIT) && setting_is_listed(t);
	case GRAMMAR_SED:
		/* Without an option the first operand is the script; an option behind it makes it a file. */
		return r->script || r->operands > 0 || grammar_sed_is_plain(t);
	case GRAMMAR_AWK: /* gawk connects to a host for a file /inet/... */
		return r->operands == 0 ? grammar_awk_is_plain(t)
					: !strchr(t, '=') && !str_starts(t, "/inet");
	case GRAMMAR_DD:
		return strchr(t, '=') && t[0] != SHELL_UNKNOWN && !(w->flags & SHELL_WORD_SPLIT) &&
		       grammar_long_kind(r->row, t, strcspn(t, "=")) >= 0;
	case GRAMMAR_KEYS:
		return !strpbrk(t, "=\x01") && !(w->flags & SHELL_WORD_SPLIT);
	case GRAMMAR_KILL:
		return is_number(t) || (t[0] == '%' && is_number(t + 1));
	case GRAMMAR_FIND:
		return find_operand(r, w);
	case GRAMMAR_IP:
		r->object = r->operands == 0 ? t : r->object;
		return ip_operand(r, t);
	case GRAMMAR_PRINTF:
		return r->operands > 0 || (!(w->flags & SHELL_WORD_SPLIT) && printf_is_plain(t));
	case GRAMMAR_HOST:
	case GRAMMAR_SET:
	case GRAMMAR_COMMAND:
	case GRAMMAR_SHELL:
	case GRAMMAR_TEST:
	case GRAMMAR_CONDITION:
	case GRAMMAR_GIT:
		return true;
	case GRAMMAR_SSH: /* options may follow the host */
		r->ended = r->operands > 0;
		return true;
	}
	return false;
}

/* tar xzf FILE, tar xC DIR: the values follow in the order of the letters. */
static const char *read_bundle(struct reader *r)
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

static const char *read_all(struct reader *r);

/* The rest is a subcommand, with a row of its own. */
static const char *read_git(struct reader *r)
{
	const char *sub = r->w[r->i].text;
	char name[40] = "git ";
	struct reader inner = { .k = r->k, .w = r->w + r->i, .n = r->n - r->i, .i = 1 };

	if (strlen(sub) > 30)
		return sub;
	memcpy(name + 4, sub, strlen(sub) + 1);
	inner.row = grammar_find(name, strlen(name));
	if (!inner.row)
		return sub;
	/* "ext::COMMAND" and other helpers of git run a program. */
	for (size_t i = 1; i < inner.n && is_listed_word("remote fetch pull push clone ls-remote", sub); i++)
		if (strstr(inner.w[i].text, "::") || str_starts(inner.w[i].text, "ext:"))
			return inner.w[i].text;
	return read_all(&inner);
}

/* sh -oc NAME TEXT: the name of -o is the next word, also in a cluster; "+x" is an option too. */
static const char *read_shell(struct reader *r)
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

static bool read_word(struct reader *r, const struct shell_word *w)
{
	const char *t = w->text;

	if (may_be_option(r, w))
		return false;
	if (r->row->flags & GRAMMAR_WORDS)
		return read_dash_word(r, t + 1);
	if (t[1] == '-')
		return read_long(r, t + 2);
	return read_cluster(r, t + 1);
}

/* -exec CMD ... ; or {} +: the command is judged by find's own judge. Only ";" ends that of -ok. */
static bool skip_command(struct reader *r)
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

static bool is_option(const struct reader *r, const char *t)
{
	return !r->ended && t[0] == '-' && t[1] != '\0';
}

static const char *read_options(struct reader *r)
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
			return may_be_option(r, w) ? w->text : NULL;
		if (r->row->operands == GRAMMAR_GIT)
			return may_be_option(r, w) ? w->text : read_git(r);
		if (r->row->operands != GRAMMAR_FIND && may_be_option(r, w))
			return w->text;
		r->i++;
		if (!read_operand(r, w))
			return w->text;
		r->operands++;
		r->ended = r->ended || r->row->flags & GRAMMAR_POSIX;
	}
	return NULL;
}

static const char *read_all(struct reader *r)
{
	const char *bad;

	switch (r->row->operands) {
	case GRAMMAR_TEST:
		return test_is_listed(r) ? NULL : r->w[0].text;
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
	struct reader r = { .k = k, .row = row, .w = w, .n = n, .i = 1 };

	return read_all(&r);
}

/* --- for judges ---------------------------------------------------------------------------------------------- */

static void next_letter(struct grammar_iter *g, struct grammar_item *ret)
{
	int kind;

	ret->letter = *g->cluster++;
	kind = g->row ? grammar_short_kind(g->row, ret->letter) : -1;
	if (has_separate_value(kind) && !*g->cluster)
		g->i++;
	if (kind > 0 || !*g->cluster)
		g->cluster = NULL;
}

bool grammar_iter_next(struct grammar_iter *g, struct grammar_item *ret)
{
	const char *t;

	*ret = (struct grammar_item){ 0 };
	if (g->cluster) {
		next_letter(g, ret);
		return true;
	}
	if (g->i >= g->n)
		return false;
	t = g->w[g->i++].text;
	if (!g->ended && str_eq(t, "--")) {
		g->ended = true;
		return grammar_iter_next(g, ret);
	}
	if (g->ended || t[0] != '-' || !t[1]) {
		ret->operand = t;
		return true;
	}
	if (t[1] != '-') {
		g->cluster = t + 1;
		next_letter(g, ret);
		return true;
	}
	ret->name = t + 2;
	ret->len = strcspn(ret->name, "=");
	if (!ret->name[ret->len] && g->row &&
	    has_separate_value(grammar_long_kind(g->row, ret->name, ret->len)))
		g->i++;
	return true;
}

bool grammar_item_is(const struct grammar_item *o, const char *list)
{
	const char *space = strchrnul(list, ' ');

	if (o->letter)
		return memchr(list, o->letter, (size_t)(space - list)) != NULL;
	for (const char *p = *space ? space + 1 : space, *stop; o->name && *p; p = *stop ? stop + 1 : stop) {
		stop = strchrnul(p, ',');
		if ((size_t)(stop - p) == o->len && strncmp(p, o->name, o->len) == 0)
			return true;
	}
	return false;
}
