/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "credential/credential-answer.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/json-span.h"
#include "base/str.h"

#define DEPTH_MAX 8

/* N digits at *AT, which moves behind them. */
static bool take_digits(const char **at, const char *end, size_t n, int *ret)
{
	*ret = 0;
	for (; n > 0; n--, (*at)++) {
		if (*at == end || **at < '0' || **at > '9')
			return false;
		*ret = *ret * 10 + (**at - '0');
	}
	return true;
}

static bool take_char(const char **at, const char *end, char c)
{
	if (*at == end || **at != c)
		return false;
	(*at)++;
	return true;
}

/* Seconds east of UTC. */
static bool take_offset(const char **at, const char *end, int *ret)
{
	bool west = *at < end && **at == '-';
	int hours, minutes;

	*ret = 0;
	if (take_char(at, end, 'Z') || take_char(at, end, 'z'))
		return true;
	if (!take_char(at, end, '+') && !take_char(at, end, '-'))
		return false;
	if (!take_digits(at, end, 2, &hours) || !take_char(at, end, ':') ||
	    !take_digits(at, end, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*ret = (hours * 60 + minutes) * (west ? -60 : 60);
	return true;
}

/* timegm would take a day that does not exist for one of the next month. */
static int days_in(int year, int month)
{
	static const char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return days[month - 1] +
	       (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 1 : 0);
}

static bool take_date(const char **at, const char *end, struct tm *tm)
{
	if (!take_digits(at, end, 4, &tm->tm_year) || !take_char(at, end, '-') ||
	    !take_digits(at, end, 2, &tm->tm_mon) || !take_char(at, end, '-') ||
	    !take_digits(at, end, 2, &tm->tm_mday) || !take_char(at, end, 'T'))
		return false;
	if (!take_digits(at, end, 2, &tm->tm_hour) || !take_char(at, end, ':') ||
	    !take_digits(at, end, 2, &tm->tm_min) || !take_char(at, end, ':') ||
	    !take_digits(at, end, 2, &tm->tm_sec))
		return false;
	if (tm->tm_year < 1970 || tm->tm_mon < 1 || tm->tm_mon > 12 || tm->tm_mday < 1 ||
	    tm->tm_mday > days_in(tm->tm_year, tm->tm_mon) || tm->tm_hour > 23 || tm->tm_min > 59 ||
	    tm->tm_sec > 60)
		return false;
	tm->tm_year -= 1900;
	tm->tm_mon--;
	return true;
}

int credential_time_parse(const char *text, size_t len, uint64_t *ret_us)
{
	const char *at = text, *end = text + len;
	struct tm tm = { 0 };
	int offset;
	int64_t s;

	if (!take_date(&at, end, &tm))
		return -EINVAL;
	if (take_char(&at, end, '.'))
		while (at < end && *at >= '0' && *at <= '9')
			at++;
	if (!take_offset(&at, end, &offset) || at != end)
		return -EINVAL;
	s = (int64_t)timegm(&tm) - offset;
	if (s <= 0)
		return -EINVAL;
	*ret_us = (uint64_t)s * 1000000;
	return 0;
}

/* The one character behind a backslash; 0: none that a token has. */
static char unescape(char c)
{
	static const char names[] = "\"\\/nrt", values[] = "\"\\/\n\r\t";
	const char *known = c ? strchr(names, c) : NULL;

	return known ? values[known - names] : '\0';
}

/* Decoded straight into locked memory.  A token has no \u. */
static int take_token(struct jspan value, struct secret **ret, struct fault *f)
{
	_cleanup_secret_ struct secret *s = NULL;
	int r;

	if (!value.at || !jspan_is(value, '"') || value.len < 2)
		return fault_set(f, EBADMSG, "it printed no token");
	r = secret_new(value.len, &s, f);
	for (size_t i = 1; r == 0 && i + 1 < value.len; i++) {
		char c = value.at[i];

		if (c == '\\') {
			c = unescape(value.at[++i]);
			if (!c)
				return fault_set(f, EBADMSG,
						 "it printed a token with an escape that is not supported");
		} else if ((unsigned char)c < 0x20) {
			return fault_set(f, EBADMSG, "it printed a token with a control character");
		}
		r = secret_add(s, &c, 1, f);
	}
	if (r == 0)
		*ret = TAKE_PTR(s);
	return r;
}

int credential_answer_parse(const char *text, size_t len, struct secret **ret_token, uint64_t *ret_expires_us,
			    struct fault *f)
{
	static const char *const keys[] = { "version", "token", "expires_at" };
	struct jspan root, values[3];
	uint64_t expires = 0;

	if (jspan_check(text, len, DEPTH_MAX) < 0 || jspan_root(text, len, &root) < 0 ||
	    !jspan_is(root, '{') || jspan_get_each(root, keys, 3, values) < 0)
		return fault_set(f, EBADMSG, "it did not print one JSON object");
	if (!values[0].at || values[0].len != 1 || *values[0].at != '1')
		return fault_set(f, EBADMSG, "it printed no \"version\":1");
	if (values[2].at && (!jspan_is(values[2], '"') || values[2].len < 2 ||
			     credential_time_parse(values[2].at + 1, values[2].len - 2, &expires) < 0))
		return fault_set(f, EBADMSG,
				 "it printed an expires_at that is no time (2026-11-19T15:00:00Z)");
	*ret_expires_us = expires;
	return take_token(values[1], ret_token, f);
}
