/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A longer text is not a misspelled word. */
#define NEAREST_LEN_MAX 64

bool str_eq(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

bool str_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *text, const char *suffix)
{
	size_t len = strlen(text), n = strlen(suffix);

	return n <= len && memcmp(text + len - n, suffix, n) == 0;
}

/*
 * How many continuation bytes follow LEAD, and the range of the first one (which excludes overlong forms,
 * surrogates and values beyond U+10FFFF); -1 for a byte that cannot lead.
 */
static int utf8_follow(unsigned char lead, unsigned char *ret_low, unsigned char *ret_high)
{
	*ret_low = 0x80;
	*ret_high = 0xbf;
	if (lead < 0x80)
		return 0;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 1;
	if (lead >= 0xe0 && lead <= 0xef) {
		if (lead == 0xe0)
			*ret_low = 0xa0;
		if (lead == 0xed)
			*ret_high = 0x9f;
		return 2;
	}
	if (lead >= 0xf0 && lead <= 0xf4) {
		if (lead == 0xf0)
			*ret_low = 0x90;
		if (lead == 0xf4)
			*ret_high = 0x8f;
		return 3;
	}
	return -1;
}

size_t str_utf8_step(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char low, high;
	int follow;

	if (len == 0)
		return 0;
	follow = utf8_follow(s[0], &low, &high);
	if (follow < 0 || len < (size_t)follow + 1)
		return 0;
	for (int i = 1; i <= follow; i++) {
		if (s[i] < low || s[i] > high)
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return (size_t)follow + 1;
}

/*
 * Eight at a time: a byte that has its upper bit, or gets it when one is taken away, is not ASCII, or is NUL.
 */
size_t str_ascii_len(const char *text, size_t len)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	size_t at = 0;

	for (uint64_t word; len - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, text + at, sizeof(word));
		if ((word | (word - ones)) & tops)
			break;
	}
	while (at < len && (signed char)text[at] > 0)
		at++;
	return at;
}

bool str_is_utf8(const char *text, size_t len)
{
	for (;;) {
		size_t step = str_ascii_len(text, len);

		text += step;
		len -= step;
		if (len == 0)
			return true;
		step = str_utf8_step(text, len);
		if (step == 0)
			return false;
		text += step;
		len -= step;
	}
}

/* Value of a digit, lower case; 16: C is none. */
static unsigned int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10 : 16;
}

int str_take_u64(const char **text, unsigned int base, uint64_t *ret)
{
	const char *p = *text;
	uint64_t value = 0;

	if (digit_of(*p) >= base)
		return -EINVAL;
	for (; digit_of(*p) < base; p++)
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit_of(*p), &value))
			return -ERANGE;
	*text = p;
	*ret = value;
	return 0;
}

int str_to_u64(const char *text, uint64_t *ret)
{
	uint64_t value;
	int r;

	r = str_take_u64(&text, 10, &value);
	if (r < 0)
		return r;
	if (*text)
		return -EINVAL;
	*ret = value;
	return 0;
}

int str_find_u64(const char *text, const char *key, uint64_t *ret)
{
	const char *at = strstr(text, key);

	if (!at)
		return -ENOENT;
	at += strlen(key);
	at += strspn(at, " \t");
	return str_take_u64(&at, 10, ret) < 0 ? -ENOENT : 0;
}

int str_to_i64(const char *text, int64_t *ret)
{
	bool negative = *text == '-';
	uint64_t value;
	int r;

	r = str_to_u64(text + negative, &value);
	if (r < 0)
		return r;
	if (value > (uint64_t)INT64_MAX + negative)
		return -ERANGE;
	/* Negated as unsigned: INT64_MIN has no positive counterpart. */
	*ret = (int64_t)(negative ? 0 - value : value);
	return 0;
}

static int to_scaled(const char *text, uint64_t (*scale_of)(char unit), uint64_t *ret)
{
	uint64_t value, scale = 1;
	int r;

	r = str_take_u64(&text, 10, &value);
	if (r < 0)
		return r;
	if (*text) {
		scale = scale_of(*text);
		if (scale == 0 || text[1])
			return -EINVAL;
	}
	if (__builtin_mul_overflow(value, scale, &value))
		return -ERANGE;
	*ret = value;
	return 0;
}

static uint64_t size_scale(char unit)
{
	switch (unit) {
	case 'K':
		return UINT64_C(1) << 10;
	case 'M':
		return UINT64_C(1) << 20;
	case 'G':
		return UINT64_C(1) << 30;
	case 'T':
		return UINT64_C(1) << 40;
	default:
		return 0;
	}
}

static uint64_t seconds_scale(char unit)
{
	switch (unit) {
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 60 * 60;
	case 'd':
		return 24 * 60 * 60;
	default:
		return 0;
	}
}

int str_to_size(const char *text, uint64_t *ret)
{
	return to_scaled(text, size_scale, ret);
}

int str_to_seconds(const char *text, uint64_t *ret)
{
	return to_scaled(text, seconds_scale, ret);
}

static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

/* Insert, delete, replace, or swap of neighbours; case does not count. */
static unsigned int edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned int rows[3][NEAREST_LEN_MAX + 1];
	unsigned int *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_len; j++)
		above[j] = (unsigned int)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned int *oldest = before;

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_len; j++) {
			bool differ = fold(a[i - 1]) != fold(b[j - 1]);

			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + differ);
			if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]) && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		before = above;
		above = row;
		row = oldest;
	}
	return above[b_len];
}

int str_nearest(const char *text, const char *const *words)
{
	size_t len = strlen(text);
	unsigned int best = UINT32_MAX;
	int found = -1;

	if (len > NEAREST_LEN_MAX)
		return -1;
	for (int i = 0; words[i]; i++) {
		size_t word_len = strlen(words[i]), longer = len > word_len ? len : word_len;
		unsigned int distance;

		if (word_len > NEAREST_LEN_MAX)
			continue;
		distance = edit_distance(text, len, words[i], word_len);
		/* A third of the letters: "net" suggests "next", never "ro". */
		if (distance > (longer + 2) / 3 || distance >= longer || distance >= best)
			continue;
		best = distance;
		found = i;
	}
	return found;
}

/* Would these bytes, one valid UTF-8 sequence, change how a terminal shows the text around them? */
static bool is_deceptive(const unsigned char *s, size_t step)
{
	if (step == 1)
		return s[0] < 0x20 || s[0] == 0x7f;
	if (step == 2)
		return (s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xd8 && s[1] == 0x9c); /* C1; U+061C */
	if (step == 3 && s[0] == 0xe2 && s[1] == 0x80) /* U+200B-200F, U+2028-202E */
		return (s[2] >= 0x8b && s[2] <= 0x8f) || (s[2] >= 0xa8 && s[2] <= 0xae);
	if (step == 3 && s[0] == 0xe2 && s[1] == 0x81) /* U+2060-206F */
		return s[2] >= 0xa0 && s[2] <= 0xaf;
	return step == 3 && s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf; /* U+FEFF */
}

char *str_escape(const char *text)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	size_t len = strlen(text);

	while (len > 0) {
		const unsigned char *s = (const unsigned char *)text;
		size_t step = str_utf8_step(text, len);
		bool escape = step == 0 || is_deceptive(s, step);

		if (step == 0)
			step = 1;
		if (!escape)
			strbuf_add(&b, text, step);
		for (size_t i = 0; escape && i < step; i++)
			strbuf_printf(&b, "\\x%02X", s[i]);
		text += step;
		len -= step;
	}
	return strbuf_take(&b);
}

void str_unoctal(char *text)
{
	char *out = text;

	for (const char *in = text; *in; out++) {
		if (in[0] == '\\' && in[1] >= '0' && in[1] <= '3' && in[2] >= '0' && in[2] <= '7' &&
		    in[3] >= '0' && in[3] <= '7') {
			*out = (char)((in[1] - '0') * 64 + (in[2] - '0') * 8 + (in[3] - '0'));
			in += 4;
		} else {
			*out = *in++;
		}
	}
	*out = '\0';
}
