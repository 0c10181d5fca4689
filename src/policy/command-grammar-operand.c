/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/str.h"
#include "policy/command-grammar-impl.h"

bool grammar_is_listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list, *stop; p && *p; p = *stop ? stop + 1 : stop) {
		stop = strchrnul(p, ' ');
		if ((size_t)(stop - p) == len && strncmp(p, word, len) == 0)
			return true;
	}
	return false;
}

bool grammar_is_number(const char *text)
{
	return text[0] && strspn(text, "0123456789") == strlen(text);
}

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

	return grammar_is_listed(ops, op);
}

/* test and [: the forms whose meaning POSIX fixes by the number of words; bash evaluates the word of -v as code. */
bool grammar_test_is_listed(const struct grammar_reader *r)
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
		if (grammar_is_listed("-eq -ne -lt -le -gt -ge", t) &&
		    (i == 0 || i + 1 >= n || !grammar_is_number(w[i - 1].text) ||
		     !grammar_is_number(w[i + 1].text)))
			return false;
	}
	return true;
}

static bool find_operand(struct grammar_reader *r, const struct shell_word *w)
{
	/* "(" and "!" begin the expression; a start after it is refused by find. */
	return grammar_is_listed("( ) ! ,", w->text) || !grammar_may_be_option(r, w);
}

/*
 * ip [options] OBJECT [show ...]: the words after it select. A letter is the first command that begins with it: "s" is
 * set for a link, and show for the others.
 */
static bool ip_operand(const struct grammar_reader *r, const char *text)
{
	static const char *const objects = "a addr address l link r route n neigh neighbour neighbor rule";
	const char *object = r->operands > 0 ? r->object : text;

	if (command_text_is_unknown(text))
		return false;
	if (r->operands == 0)
		return grammar_is_listed(objects, text);
	if (r->operands > 1 || grammar_is_listed("show list ls lst", text))
		return true;
	if (grammar_is_listed("r route", object) && str_eq(text, "get"))
		return true;
	return !grammar_is_listed("l link", object) && grammar_is_listed("s sh", text);
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
bool grammar_operand_is_listed(struct grammar_reader *r, const struct shell_word *w)
{
	const char *t = w->text;

	switch ((enum grammar_operands)r->row->operands) {
	case GRAMMAR_READS:
	case GRAMMAR_TEXT:
	case GRAMMAR_WRITES:
	case GRAMMAR_TAR:
		if (r->row->flags & GRAMMAR_RESPONSE && t[0] == '@')
			return false;
		return !r->row->words || r->operands > 0 || grammar_is_listed(r->row->words, t);
	case GRAMMAR_NO_OPERANDS:
		return r->row->words && r->operands == 0 && grammar_is_listed(r->row->words, t);
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
		return grammar_is_number(t) || (t[0] == '%' && grammar_is_number(t + 1));
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
