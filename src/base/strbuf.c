/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* Room for MORE bytes and the NUL. */
static bool grow(struct strbuf *b, size_t more)
{
	size_t need, room = b->room ? b->room : 64;
	char *text;

	if (b->broken)
		return false;
	if (__builtin_add_overflow(b->len, more, &need) || need > SIZE_MAX / 2 - 1) {
		b->broken = true;
		return false;
	}
	need++;
	if (need <= b->room)
		return true;
	while (room < need)
		room *= 2;
	text = realloc(b->text, room);
	if (!text) {
		b->broken = true;
		return false;
	}
	b->text = text;
	b->room = room;
	return true;
}

/* The common case. */
static bool reserve(struct strbuf *b, size_t more)
{
	return (more < b->room - b->len && !b->broken) || grow(b, more);
}

void strbuf_add(struct strbuf *b, const char *bytes, size_t len)
{
	if (!reserve(b, len))
		return;
	if (len > 0)
		memcpy(b->text + b->len, bytes, len);
	b->len += len;
	b->text[b->len] = '\0';
}

void strbuf_puts(struct strbuf *b, const char *text)
{
	strbuf_add(b, text, strlen(text));
}

void strbuf_putc(struct strbuf *b, char c)
{
	if (!reserve(b, 1))
		return;
	b->text[b->len++] = c;
	b->text[b->len] = '\0';
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	/* Usually it fits. */
	n = grow(b, 0) ? vsnprintf(b->text + b->len, b->room - b->len, fmt, ap) : 0;
	if (n < 0)
		b->broken = true;
	else if (!b->broken && (size_t)n >= b->room - b->len && grow(b, (size_t)n))
		(void)vsnprintf(b->text + b->len, (size_t)n + 1, fmt, again);
	if (!b->broken)
		b->len += (size_t)n;
	else if (b->text)
		b->text[b->len] = '\0';
	va_end(again);
	va_end(ap);
}

void strbuf_number(struct strbuf *b, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	strbuf_add(b, digits + at, sizeof(digits) - at);
}

void strbuf_put_word(struct strbuf *b, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

	/* "=word" is a command's path in some shells. */
	if (*word && *word != '=' && strspn(word, plain) == strlen(word)) {
		strbuf_puts(b, word);
		return;
	}
	strbuf_putc(b, '\'');
	for (; *word; word++)
		if (*word == '\'')
			strbuf_puts(b, "'\\''");
		else
			strbuf_putc(b, *word);
	strbuf_putc(b, '\'');
}

void strbuf_put_command(struct strbuf *b, const char *line)
{
	_cleanup_free_ char *escaped = str_escape(line);
	_cleanup_strbuf_ struct strbuf spelled = { 0 };

	b->broken |= !escaped;
	if (str_eq(escaped, line)) {
		strbuf_puts(b, line);
		return;
	}
	for (const unsigned char *c = (const unsigned char *)line; *c; c++)
		if (*c == '%')
			strbuf_puts(&spelled, "%%");
		else if (*c < ' ' || *c > '~' || *c == '\\' || *c == '\'')
			strbuf_printf(&spelled, "\\%03o", *c);
		else
			strbuf_putc(&spelled, (char)*c);
	b->broken |= spelled.broken;
	strbuf_printf(b, "eval \"$(printf '%s')\"", spelled.text ? spelled.text : "");
}

char *strbuf_take(struct strbuf *b)
{
	char *text = NULL;

	if (grow(b, 0)) {
		b->text[b->len] = '\0';
		text = TAKE_PTR(b->text);
	}
	strbuf_done(b);
	return text;
}

void strbuf_done(struct strbuf *b)
{
	free(b->text);
	*b = (struct strbuf){ 0 };
}
