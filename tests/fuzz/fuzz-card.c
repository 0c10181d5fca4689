/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tty/card.h"

/*
 * A card about words that an attacker chose: the first byte is the terminal's width, a NUL ends a word.  The card has no
 * control sequence, no line is too wide, and only the card's own labels are in the column of labels.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char **split(const char *bytes, size_t len)
{
	char **words = NULL;

	for (size_t at = 0; at < len; at += strlen(bytes + at) + 1)
		if (strv_append(&words, bytes + at) < 0)
			break;
	return words;
}

static void check_line(const char *line, size_t len, unsigned int columns, size_t *labels)
{
	const size_t at = columns < 60 ? 0 : 2;

	if (len > columns)
		abort();
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < 0x20 || (unsigned char)line[i] >= 0x7f)
			abort();
	*labels += strspn(line, " ") == at && len > at;
}

static void check(const struct card *c, unsigned int columns, bool cut)
{
	const struct card_style style = { .columns = columns, .how_to_see = cut ? "v" : NULL };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	size_t labels = 0;

	if (card_draw(c, &style, &b, NULL) < 0)
		return;
	for (const char *line = b.text; *line; line += strcspn(line, "\n") + 1)
		check_line(line, strcspn(line, "\n"), columns, &labels);
	if (labels != 3)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const unsigned int columns = CARD_COLUMNS_MIN + (size ? data[0] : 0);
	_cleanup_card_ struct card c = { 0 };
	_cleanup_strbuf_ struct strbuf quoted = { 0 };
	_cleanup_strv_ char **words = NULL;
	_cleanup_free_ char *text = calloc(1, size + 1);

	if (!text || size == 0)
		return 0;
	memcpy(text, data + 1, size - 1);
	words = split(text, size);
	card_put_words(&quoted, words);
	card_add(&c, "command", CARD_STRONG, "%s", quoted.text ? quoted.text : "");
	card_add(&c, "raw", CARD_PLAIN, "%s", text);
	card_add(&c, "level", CARD_WARN, "C");
	check(&c, columns, false);
	check(&c, columns, true);
	return 0;
}
