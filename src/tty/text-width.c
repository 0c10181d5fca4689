/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tty/text-width.h"

#include <string.h>

#include "base/array.h"
#include "tty/card-text.h"

/* Blocks of Unicode whose characters do not take one column.  A wrong entry costs the alignment of one line. */
static const struct {
	unsigned int first, last;
	unsigned char width;
} blocks[] = {
	{ 0x0300, 0x036f, 0 },	 { 0x0483, 0x0489, 0 },	  { 0x0591, 0x05bd, 0 }, /* combining marks */
	{ 0x0610, 0x061a, 0 },	 { 0x064b, 0x065f, 0 },	  { 0x0e34, 0x0e3a, 0 },
	{ 0x0e47, 0x0e4e, 0 },	 { 0x1100, 0x115f, 2 },	  { 0x1ab0, 0x1aff, 0 },
	{ 0x1dc0, 0x1dff, 0 },	 { 0x20d0, 0x20ff, 0 },	  { 0x2e80, 0x303e, 2 },   /* CJK, kana */
	{ 0x3041, 0x4dbf, 2 },	 { 0x4e00, 0xa4cf, 2 },	  { 0xa960, 0xa97f, 2 },   /* Hangul */
	{ 0xac00, 0xd7a3, 2 },	 { 0xf900, 0xfaff, 2 },	  { 0xfe00, 0xfe0f, 0 },   /* variation selectors */
	{ 0xfe20, 0xfe2f, 0 },	 { 0xfe30, 0xfe6f, 2 },	  { 0xff00, 0xff60, 2 },   /* full width */
	{ 0xffe0, 0xffe6, 2 },	 { 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 }, /* pictures */
	{ 0x1f900, 0x1f9ff, 2 }, { 0x1fa70, 0x1faff, 2 }, { 0x20000, 0x3fffd, 2 },
};

static size_t width_of(const struct card_char *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(blocks) && c->code >= blocks[i].first; i++)
		if (c->code <= blocks[i].last)
			return blocks[i].width;
	return 1;
}

size_t text_width(const char *text)
{
	size_t len = strlen(text), columns = 0;

	while (len > 0) {
		struct card_char c = card_char_at(text, len);

		columns += width_of(&c);
		text += c.step;
		len -= c.step;
	}
	return columns;
}

size_t text_width_fit(const char *text, size_t columns)
{
	size_t len = strlen(text), at = 0, used = 0;

	while (at < len) {
		struct card_char c = card_char_at(text + at, len - at);

		used += width_of(&c);
		if (used > columns)
			break;
		at += c.step;
	}
	return at;
}
