/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shell/shell-parse.h"

#include <errno.h>
#include <string.h>

int shell_read_single(struct shell_parse *x, struct shell_text *t)
{
	for (x->at++; x->at < x->end; x->at++) {
		int r;

		if (*x->at == '\'') {
			x->at++;
			return 0;
		}
		r = *x->at == '\n' ? shell_check_newline(x) : 0;
		if (r == 0)
			r = shell_add_literal(x, t, *x->at);
		if (r < 0)
			return r;
	}
	return shell_fail(x, "' is not closed");
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

/* After $' : bash's escapes. sh has no such quote, so a \' in it would end the text elsewhere. */
int shell_read_ansi(struct shell_parse *x, struct shell_text *t)
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
				return shell_fail(x, "\\' in $'...', which sh reads differently");
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
				return shell_fail(x, "escape in $'...'");
			if (!c) /* ends the string in bash */
				return shell_fail(x, "NUL in $'...'");
		}
		r = c == '\n' ? shell_check_newline(x) : 0;
		if (r == 0)
			r = shell_add_literal(x, t, c);
		if (r < 0)
			return r;
	}
	if (x->at >= x->end)
		return shell_fail(x, "' is not closed");
	x->at++;
	return 0;
}

int shell_read_double(struct shell_parse *x, struct shell_text *t)
{
	int r = 0;

	x->at++;
	while (r == 0 && x->at < x->end && *x->at != '"') {
		if (*x->at == '$') {
			r = shell_read_dollar(x, t, true);
		} else if (*x->at == '`') {
			r = shell_read_backquote(x, true);
			if (r == 0)
				r = shell_add_unknown(x, t, true);
		} else if (*x->at == '\\' && x->at + 1 < x->end && strchr("$`\"\\\n", x->at[1])) {
			if (x->at[1] != '\n')
				r = shell_add_literal(x, t, x->at[1]);
			x->at += 2;
		} else {
			if (*x->at == '\n')
				r = shell_check_newline(x);
			if (r == 0)
				r = shell_add_literal(x, t, *x->at++);
		}
	}
	if (r < 0)
		return r;
	if (x->at >= x->end)
		return shell_fail(x, "\" is not closed");
	x->at++;
	return 0;
}
