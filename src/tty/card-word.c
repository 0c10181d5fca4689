/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "tty/card-text.h"

#include <string.h>

#include "tty/card.h"

/* Letters with an isolated left-to-right glyph of known width. */
static const struct {
	unsigned int first, last;
	unsigned char width;
} letters[] = {
	{ 0x00a1, 0x00ac, 1 }, { 0x00ae, 0x024f, 1 }, /* Latin, without the soft hyphen */
	{ 0x0370, 0x0377, 1 }, { 0x037a, 0x037f, 1 }, /* Greek */
	{ 0x0384, 0x038a, 1 }, { 0x038e, 0x03a1, 1 }, { 0x03a3, 0x0482, 1 }, /* and Cyrillic */
	{ 0x048a, 0x052f, 1 }, { 0x1e00, 0x1eff, 1 }, { 0x2010, 0x2027, 1 }, /* dashes, quotation marks */
	{ 0x3001, 0x3029, 2 }, { 0x3041, 0x3096, 2 }, { 0x309d, 0x30ff, 2 }, /* kana */
	{ 0x4e00, 0x9fff, 2 }, { 0xac00, 0xd7a3, 2 },
};

static unsigned int decode(const char *text, size_t step)
{
	const unsigned char *s = (const unsigned char *)text;

	if (step == 2)
		return (s[0] & 0x1fU) << 6 | (s[1] & 0x3fU);
	if (step == 3)
		return (s[0] & 0x0fU) << 12 | (s[1] & 0x3fU) << 6 | (s[2] & 0x3fU);
	return (s[0] & 0x07U) << 18 | (s[1] & 0x3fU) << 12 | (s[2] & 0x3fU) << 6 | (s[3] & 0x3fU);
}

static unsigned int width_of(unsigned int code)
{
	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		if (code >= letters[i].first && code <= letters[i].last)
			return letters[i].width;
	return 0;
}

struct card_char card_char_at(const char *text, size_t len)
{
	struct card_char c = { .step = str_utf8_step(text, len) };

	if (c.step == 0) {
		c.step = 1;
		c.code = (unsigned char)text[0];
		c.is_byte = true;
	} else if (c.step == 1) {
		c.code = (unsigned char)text[0];
		c.width = c.code >= 0x20 && c.code < 0x7f;
	} else {
		c.code = decode(text, c.step);
		c.width = width_of(c.code);
	}
	return c;
}

void card_put_escaped(struct strbuf *out, const struct card_char *c)
{
	if (c->code == '\n')
		strbuf_puts(out, "\\n");
	else if (c->code == '\t')
		strbuf_puts(out, "\\t");
	else if (c->is_byte || c->code < 0x80)
		strbuf_printf(out, "\\x%02x", c->code);
	else if (c->code <= 0xffff)
		strbuf_printf(out, "\\u%04x", c->code);
	else
		strbuf_printf(out, "\\U%08x", c->code);
}

/* Characters that no shell expands, without leading '-' or '~': such words need no quotes. */
static bool is_bare(const char *word)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";

	return *word && strspn(word, good) == strlen(word);
}

static bool is_printable(const char *word)
{
	size_t len = strlen(word);

	while (len > 0) {
		struct card_char c = card_char_at(word, len);

		if (c.width == 0)
			return false;
		word += c.step;
		len -= c.step;
	}
	return true;
}

static void put_spelled(struct strbuf *out, const char *word)
{
	size_t len = strlen(word);

	strbuf_puts(out, "$'");
	while (len > 0) {
		struct card_char c = card_char_at(word, len);

		if (c.code == '\\' || c.code == '\'')
			strbuf_printf(out, "\\%c", (char)c.code);
		else if (c.width > 0)
			strbuf_add(out, word, c.step);
		else
			card_put_escaped(out, &c);
		word += c.step;
		len -= c.step;
	}
	strbuf_putc(out, '\'');
}

void card_put_word(struct strbuf *out, const char *word)
{
	if (is_bare(word))
		strbuf_puts(out, word);
	else if (is_printable(word) && !strchr(word, '\''))
		strbuf_printf(out, "'%s'", word);
	else
		put_spelled(out, word);
}

void card_put_words(struct strbuf *out, char *const *words)
{
	for (size_t i = 0; words && words[i]; i++) {
		if (i)
			strbuf_putc(out, ' ');
		card_put_word(out, words[i]);
	}
}
