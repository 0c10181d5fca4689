/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "review/reflog.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define TIME_DIGITS 12 /* until the year 33658 */
#define ZONE_LENGTH 5  /* "+0100" */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

size_t reflog_id_length(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && (is_digit(text[n]) || (text[n] >= 'a' && text[n] <= 'f')))
		n++;
	return n == 40 || n == 64 ? n : 0;
}

/* An id and the blank behind it. */
static bool take_id(struct reflog_span *rest, struct reflog_span *ret)
{
	size_t n = reflog_id_length(rest->text, rest->len);

	if (!n || n == rest->len || rest->text[n] != ' ')
		return false;
	*ret = (struct reflog_span){ rest->text, n };
	rest->text += n + 1;
	rest->len -= n + 1;
	return true;
}

/* " 1700000000 +0100" at the end of TEXT; *RET_LEN: the length before it. */
static bool take_time(const char *text, size_t len, int64_t *ret, size_t *ret_len)
{
	size_t end = len, digits = 0;
	int64_t scale = 1, sum = 0;

	if (len < ZONE_LENGTH + 2 || (text[len - ZONE_LENGTH] != '+' && text[len - ZONE_LENGTH] != '-') ||
	    text[len - ZONE_LENGTH - 1] != ' ')
		return false;
	for (size_t i = len - ZONE_LENGTH + 1; i < len; i++)
		if (!is_digit(text[i]))
			return false;
	end = len - ZONE_LENGTH - 1;
	for (; end > 0 && is_digit(text[end - 1]) && digits < TIME_DIGITS; end--, digits++) {
		sum += (text[end - 1] - '0') * scale;
		scale *= 10;
	}
	if (!digits || end == 0 || text[end - 1] != ' ')
		return false;
	*ret = sum;
	*ret_len = end - 1;
	return true;
}

/* "NAME <MAIL>"; the name may itself contain '<'. */
static bool take_name(const char *text, size_t len, struct reflog_span *ret)
{
	const char *mail = len ? memrchr(text, '<', len) : NULL;
	size_t n;

	if (!mail || text[len - 1] != '>')
		return false;
	n = (size_t)(mail - text);
	while (n > 0 && text[n - 1] == ' ')
		n--;
	*ret = (struct reflog_span){ text, n };
	return true;
}

int reflog_parse(const char *line, size_t len, struct reflog_entry *ret)
{
	struct reflog_span rest = { line, len };
	struct reflog_entry e = { 0 };
	const char *tab, *colon;
	size_t person;

	if (memchr(line, '\0', len) || memchr(line, '\n', len) || !take_id(&rest, &e.old) ||
	    !take_id(&rest, &e.new) || e.old.len != e.new.len)
		return -EINVAL;
	tab = memchr(rest.text, '\t', rest.len);
	person = tab ? (size_t)(tab - rest.text) : rest.len;
	if (!take_time(rest.text, person, &e.time, &person) || !take_name(rest.text, person, &e.name))
		return -EINVAL;
	if (tab) {
		e.action = (struct reflog_span){ tab + 1, rest.len - (size_t)(tab + 1 - rest.text) };
		colon = memmem(e.action.text, e.action.len, ": ", 2);
		if (colon) {
			e.subject.text = colon + 2;
			e.subject.len = e.action.len - (size_t)(colon + 2 - e.action.text);
			e.action.len = (size_t)(colon - e.action.text);
		}
	}
	*ret = e;
	return 0;
}
