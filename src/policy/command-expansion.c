/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"
#include "policy/command-grammar.h"

/*
 * Expansions in which bash evaluates the value of a variable as code, or that set a variable which the shell obeys. The
 * text is scanned as it stands, quotes included: what looks like such an expansion makes the command unrecognised.
 */

#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static bool is_name_character(char c)
{
	return c && strchr(NAME, c);
}

static bool name_is_obeyed(struct classifier *k, const char *name, size_t len)
{
	const char *copy = arena_text(k->arena, name, len);

	return !copy || classifier_variable_is_obeyed(k, copy);
}

/* Parameters of the shell that are no names: "${@:x}", "${#:x}". */
static bool is_special(char c)
{
	return c && strchr("@*#?-$!", c);
}

/*
 * Longer expressions and subscripts are not read.  The text has many positions at which one may begin, and each is read
 * to its end: the first that is too long ends the search.
 */
#define EXPRESSION_MAX 256

/* Length of the expression at P up to END, or to the end of the text; -1: too long. */
static ssize_t expression_len(const char *p, const char *end)
{
	size_t len = strnlen(p, EXPRESSION_MAX + 1), n = strlen(end);

	for (size_t i = 0; i < len; i++)
		if (strncmp(p + i, end, n) == 0)
			return (ssize_t)i;
	return len > EXPRESSION_MAX ? -1 : (ssize_t)len;
}

/* Numbers and operators only; in bash the value of a name is an expression again: a[$(command)]. */
static bool range_is_plain(const char *p, const char *end)
{
	for (; p < end; p++) {
		if (*p == '$' && p + 1 < end && strchr("#?$!", p[1])) {
			p++;
			continue;
		}
		if ((is_name_character(*p) && (*p < '0' || *p > '9')) || strchr("$`[\"'\\", *p))
			return false;
	}
	return true;
}

static bool arithmetic_is_plain(const char *p, const char *closing)
{
	ssize_t len = expression_len(p, closing);

	return len >= 0 && range_is_plain(p, p + len);
}

/* P is after "((": all up to the parenthesis that closes both. */
static bool parentheses_are_plain(const char *p)
{
	size_t len = 0;

	for (unsigned int open = 2; p[len] && open > 0; len++) {
		if (len > EXPRESSION_MAX)
			return false;
		open += p[len] == '(' ? 1U : p[len] == ')' ? -1U : 0U;
	}
	return range_is_plain(p, p + len);
}

/* After "${NAME": a subscript, an operator. */
static bool parameter_is_plain(struct classifier *k, const char *name, size_t len, const char *p)
{
	if (*p == '[') {
		if (!p[1] || !strchr("@*0123456789", p[1]) || p[2] != ']')
			return false;
		p += 3;
	}
	if (*p == '@') /* @P expands the value like a prompt */
		return p[1] && strchr("QULu", p[1]) && p[2] == '}';
	if (*p == '=' || (*p == ':' && p[1] == '='))
		return !name_is_obeyed(k, name, len);
	if (*p == ':' && !(p[1] && strchr("-?+", p[1])))
		return arithmetic_is_plain(p + 1, "}");
	return true;
}

/* P is after "${". */
static bool brace_is_plain(struct classifier *k, const char *p)
{
	size_t len;

	if (*p == '!') /* the name is the value of another variable, and may have a subscript */
		return false;
	p += *p == '#' && (is_name_character(p[1]) || is_special(p[1]));
	len = strspn(p, NAME);
	if (len == 0 && !is_special(*p)) /* "${ command; }" of newer shells */
		return false;
	len = len > 0 ? len : 1;
	return parameter_is_plain(k, p, len, p + len);
}

/* for NAME, select NAME */
static bool loop_is_plain(struct classifier *k, const char *p)
{
	size_t len;

	p += strspn(p, " \t\n\\");
	len = strspn(p, NAME);
	return len == 0 || !name_is_obeyed(k, p, len);
}

/* P is at the "]" of a[x]=1, a=([x]=1), or of {a[x]}<file. */
static bool subscript_is_plain(const char *text, const char *p)
{
	const char *from = p;

	if (p[1] == '}')
		return p[2] != '<' && p[2] != '>';
	if (p[1] != '=' && !(p[1] == '+' && p[2] == '='))
		return true;
	while (from > text && from[-1] >= '0' && from[-1] <= '9')
		from--;
	return from > text && from[-1] == '[';
}

/* {NAME}<file sets NAME; P is at the brace that closes. */
static bool descriptor_is_plain(struct classifier *k, const char *text, const char *p)
{
	const char *from = p;

	if (p[1] != '<' && p[1] != '>')
		return true;
	while (from > text && is_name_character(from[-1]))
		from--;
	return from == text || from[-1] != '{' || !name_is_obeyed(k, from, (size_t)(p - from));
}

static bool position_is_plain(struct classifier *k, const char *text, const char *p)
{
	bool begins = p == text || !is_name_character(p[-1]);

	if (p[0] == '$' && p[1] == '{')
		return brace_is_plain(k, p + 2);
	if (p[0] == '$' && p[1] == '[')
		return arithmetic_is_plain(p + 2, "]");
	if (p[0] == '(' && p[1] == '(')
		return parentheses_are_plain(p + 2);
	if (p[0] == ']')
		return subscript_is_plain(text, p);
	if (p[0] == '}')
		return descriptor_is_plain(k, text, p);
	if (begins && str_starts(p, "for") && !is_name_character(p[3]))
		return loop_is_plain(k, p + 3);
	if (begins && str_starts(p, "select") && !is_name_character(p[6]))
		return loop_is_plain(k, p + 6);
	return true;
}

/* Shells remove a backslash with the line break behind it, also between "$" and "{". */
static const char *join_lines(struct classifier *k, const char *text)
{
	char *out = strstr(text, "\\\n") ? arena_text(k->arena, text, strlen(text)) : NULL, *to = out;

	if (!out)
		return text;
	for (const char *p = text; *p; p++)
		if (p[0] == '\\' && p[1] == '\n')
			p++;
		else
			*to++ = *p;
	*to = '\0';
	return out;
}

static bool text_is_plain(struct classifier *k, const char *text)
{
	static const char *const begins = "$(]}fs";

	for (const char *p = strpbrk(text, begins); p; p = strpbrk(p + 1, begins))
		if (!position_is_plain(k, text, p)) {
			classifier_add_finding(k, "unknown-program", p,
					       "the shell may evaluate this as code");
			classifier_add_traits(k, COMMAND_UNKNOWN | COMMAND_CHANGES | COMMAND_EVALUATES);
			return false;
		}
	return true;
}

void classifier_read_expansions(struct classifier *k, const char *text)
{
	const char *joined = k->probing ? text : join_lines(k, text);

	if (!k->probing && text_is_plain(k, text) && joined != text)
		(void)text_is_plain(k, joined);
}
