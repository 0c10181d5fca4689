/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "ledger/ledger-export-impl.h"

#define REPLACEMENT 0xfffd

static unsigned int digits(const char *at, size_t n)
{
	unsigned int v = 0;

	while (n-- > 0)
		v = v * 10 + (unsigned int)(*at++ - '0');
	return v;
}

/* Days since 1970-01-01 in the Gregorian calendar; the record's grammar admits month 0 and 13, which count on. */
static int64_t days_of(int64_t year, unsigned int month, unsigned int day)
{
	int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
	int64_t of_year = (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + (int64_t)day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

uint64_t export_time_us(const struct record *r)
{
	const char *t = r->t; /* 2026-11-16T03:15:00.123456Z */
	int64_t days = days_of(digits(t, 4), digits(t + 5, 2), digits(t + 8, 2));
	int64_t s = ((days * 24 + digits(t + 11, 2)) * 60 + digits(t + 14, 2)) * 60 + digits(t + 17, 2);

	return s < 0 ? 0 : (uint64_t)s * 1000000 + digits(t + 20, 6);
}

static void put_utf8(struct strbuf *b, unsigned int c)
{
	if (c < 0x80) {
		strbuf_putc(b, (char)c);
	} else if (c < 0x800) {
		strbuf_putc(b, (char)(0xc0 | c >> 6));
		strbuf_putc(b, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		strbuf_putc(b, (char)(0xe0 | c >> 12));
		strbuf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
		strbuf_putc(b, (char)(0x80 | (c & 0x3f)));
	} else {
		strbuf_putc(b, (char)(0xf0 | c >> 18));
		strbuf_putc(b, (char)(0x80 | (c >> 12 & 0x3f)));
		strbuf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
		strbuf_putc(b, (char)(0x80 | (c & 0x3f)));
	}
}

/* Four hex digits, which record_parse has checked. */
static unsigned int unit_at(const char *at)
{
	unsigned int v = 0;

	for (size_t i = 0; i < 4; i++)
		v = v << 4 | (unsigned int)(at[i] <= '9' ? at[i] - '0' : (at[i] | 0x20) - 'a' + 10);
	return v;
}

/* After "\u": returns the bytes that were used. */
static size_t put_unit(struct strbuf *b, const char *at, size_t len)
{
	unsigned int c = unit_at(at), low;

	if (c >= 0xd800 && c < 0xdc00 && len >= 10 && at[4] == '\\' && at[5] == 'u') {
		low = unit_at(at + 6);
		if (low >= 0xdc00 && low < 0xe000) {
			put_utf8(b, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
			return 10;
		}
	}
	put_utf8(b, c == 0 || (c >= 0xd800 && c < 0xe000) ? REPLACEMENT : c);
	return 4;
}

void export_put_decoded(struct strbuf *b, const char *at, size_t len)
{
	static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";

	for (size_t i = 0; i < len; i++) {
		const char *known;

		if (at[i] != '\\' || i + 1 == len) {
			strbuf_putc(b, at[i]);
			continue;
		}
		i++;
		if (at[i] == 'u' && len - i > 4) {
			i += put_unit(b, at + i + 1, len - i - 1);
			continue;
		}
		known = strchr(names, at[i]);
		strbuf_putc(b, known ? values[known - names] : at[i]);
	}
}

void export_put_member(struct strbuf *b, const char *name, struct span value)
{
	if (!value.at || value.len == 0)
		return;
	strbuf_puts(b, ",\"");
	strbuf_puts(b, name);
	strbuf_puts(b, "\":\"");
	strbuf_add(b, value.at, value.len);
	strbuf_putc(b, '"');
}

struct span export_get_text(const struct record *r, const char *key)
{
	struct span s = record_get(r, key);

	if (!s.at || s.len < 2 || *s.at != '"')
		return (struct span){ 0 };
	return (struct span){ s.at + 1, s.len - 2 };
}

/* The end of the string whose opening quote is at AT. */
static const char *string_end(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\';
	return at < end ? at : end;
}

/* A word that a shell would not read as one is quoted; escapes of JSON stay as they are. */
static void put_word(struct strbuf *b, const char *at, size_t len)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
	size_t n = 0;

	while (n < len && strchr(plain, at[n]))
		n++;
	if (n == len && len > 0) {
		strbuf_add(b, at, len);
		return;
	}
	strbuf_putc(b, '\'');
	for (size_t i = 0; i < len; i++)
		if (at[i] == '\'')
			strbuf_puts(b, "'\\\\''");
		else
			strbuf_putc(b, at[i]);
	strbuf_putc(b, '\'');
}

/* Words that are not UTF-8 are objects, {"b64":"..."}: they appear as "?". */
void export_put_command(struct strbuf *b, const struct record *r)
{
	struct span list = record_get(r, "command");
	const char *at = list.at, *end = list.at ? list.at + list.len : NULL;
	bool first = true;

	if (!list.at || *at != '[')
		return;
	for (at++; at < end && *at != ']'; at++) {
		if (*at == ',')
			continue;
		if (!first)
			strbuf_putc(b, ' ');
		first = false;
		if (*at == '"') {
			const char *close = string_end(at, end);

			put_word(b, at + 1, (size_t)(close - at - 1));
			at = close;
			continue;
		}
		strbuf_putc(b, '?');
		while (at + 1 < end && *at != '}')
			at = *at == '"' ? string_end(at, end) + 1 : at + 1;
	}
}
