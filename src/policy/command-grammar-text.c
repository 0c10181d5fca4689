/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-grammar.h"

#include <string.h>

#include "base/str.h"

/*
 * Small languages in the words of a command. Each accepts a subset that has one reading only; anything else is code,
 * and code is not recognised.
 */

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/* --- sed ----------------------------------------------------------------------------------------------------- */

/*
 * Up to the next DELIMITER. No brackets: sed's readers disagree whether a delimiter counts in them. After a backslash
 * only characters that stay a part of the text.
 */
static const char *skip_delimited(const char *p, char delimiter)
{
	for (; *p && *p != delimiter; p++) {
		if (*p == '[' || *p == ']' || *p == '\n' || *p == SHELL_UNKNOWN)
			return NULL;
		if (*p == '\\') {
			p++;
			if (!*p || *p == delimiter || !strchr(".*$^+?(){}&123456789wWsSbB<>", *p))
				return NULL;
		}
	}
	return *p == delimiter ? p + 1 : NULL;
}

/* N, $, /text/ */
static const char *skip_address(const char *p)
{
	size_t digits = strspn(p, DIGITS);

	if (digits > 0)
		return p + digits;
	if (*p == '$')
		return p + 1;
	return *p == '/' ? skip_delimited(p + 1, '/') : p;
}

static const char *skip_addresses(const char *p)
{
	const char *first = skip_address(p);

	if (!first || first == p || *first != ',')
		return first;
	p = skip_address(first + 1);
	return p == first + 1 ? NULL : p;
}

/* s/text/text/flags, with flags that only print or count. */
static const char *skip_substitution(const char *p)
{
	char delimiter = *p;

	if (!delimiter || !strchr("/,|#:@%!", delimiter))
		return NULL;
	p = skip_delimited(p + 1, delimiter);
	p = p ? skip_delimited(p, delimiter) : NULL;
	return p ? p + strspn(p, "gpIi" DIGITS) : NULL;
}

bool grammar_sed_is_plain(const char *script)
{
	const char *p = script;

	for (;;) {
		p += strspn(p, " ;");
		if (!*p)
			return true;
		p = skip_addresses(p);
		if (!p)
			return false;
		p += *p == '!';
		if (*p == 's')
			p = skip_substitution(p + 1);
		else
			p = *p && strchr("pdq=", *p) ? p + 1 : NULL;
		if (!p)
			return false;
		p += strspn(p, " ");
		if (*p && *p != ';')
			return false;
	}
}

/* --- awk ----------------------------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* $N, $NF, NR, NF */
static const char *skip_field(const char *p)
{
	size_t digits;

	if (str_starts(p, "NR") || str_starts(p, "NF"))
		return p + 2;
	if (*p != '$')
		return NULL;
	if (str_starts(p + 1, "NF"))
		return p + 3;
	digits = strspn(p + 1, DIGITS);
	return digits > 0 ? p + 1 + digits : NULL;
}

static const char *skip_print(const char *p)
{
	p = skip_blanks(p);
	if (!str_starts(p, "print"))
		return NULL;
	p = skip_blanks(p + 5);
	if (*p == '}')
		return p;
	for (;;) {
		p = skip_field(p);
		if (!p)
			return NULL;
		p = skip_blanks(p);
		if (*p != ',')
			return p;
		p = skip_blanks(p + 1);
	}
}

/* [/text/ | END] { print [$N [, $N]] } */
bool grammar_awk_is_plain(const char *program)
{
	const char *p = skip_blanks(program);

	if (*p == '/') {
		p += 1 + strspn(p + 1, LETTERS DIGITS " _.:,@#%=^$-");
		if (*p != '/')
			return false;
		p = skip_blanks(p + 1);
	} else if (str_starts(p, "END")) {
		p = skip_blanks(p + 3);
	}
	if (*p != '{')
		return false;
	p = skip_print(p + 1);
	return p && *p == '}' && *skip_blanks(p + 1) == '\0';
}

/* --- names and settings -------------------------------------------------------------------------------------- */

/* -c KEY=VALUE can name a program; these cannot. */
bool grammar_git_setting_is_plain(const char *setting)
{
	static const char *const keys[] = {
		"user.name=",	 "user.email=", "core.quotepath=", "core.abbrev=", "init.defaultBranch=",
		"diff.renames=", NULL
	};

	if (str_eq(setting, "core.pager=cat") || str_eq(setting, "core.fsmonitor=false"))
		return true;
	if (str_starts(setting, "color.") || str_starts(setting, "advice."))
		return !command_text_is_unknown(setting);
	for (size_t i = 0; keys[i]; i++)
		if (str_starts(setting, keys[i]))
			return true;
	return false;
}

/* Not `allexport` and `keyword`, which pass variables to programs. */
bool grammar_shell_option_is_plain(const char *name)
{
	static const char *const names[] = { "pipefail", "errexit",   "nounset", "xtrace",
					     "noglob",	 "noclobber", NULL };

	for (size_t i = 0; names[i]; i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

bool grammar_name_is_plain(const char *name, size_t len)
{
	return len > 0 && !strchr(DIGITS, name[0]) && strspn(name, LETTERS DIGITS "_") >= len;
}
