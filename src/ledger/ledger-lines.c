/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEP ((size_t)256 * 1024)

static int take(struct ledger_lines *l, const char *line, size_t len)
{
	const char *why;
	struct record r;

	if (record_parse(line, len, &r, &why) < 0) {
		l->damaged++;
		return 0;
	}
	return l->each(&r, l->arg);
}

int ledger_lines_feed(struct ledger_lines *l, const char *bytes, size_t len)
{
	while (len > 0) {
		const char *end = memchr(bytes, '\n', len);
		size_t n = end ? (size_t)(end + 1 - bytes) : len, keep;
		int r = 0;

		if (l->carried == 0 && end) {
			r = take(l, bytes, n);
		} else {
			if (!l->carry)
				l->carry = malloc(LEDGER_LINE_MAX + 1);
			if (!l->carry)
				return -ENOMEM;
			/*
			 * Of a line that is too long, one byte more than the limit is kept, so that it is
			 * still too long.
			 */
			keep = LEDGER_LINE_MAX + 1 - l->carried;
			keep = n < keep ? n : keep;
			memcpy(l->carry + l->carried, bytes, keep);
			l->carried += keep;
			if (end) {
				r = take(l, l->carry, l->carried);
				l->carried = 0;
			}
		}
		if (r != 0)
			return r;
		bytes += n;
		len -= n;
	}
	return 0;
}

void ledger_lines_done(struct ledger_lines *l)
{
	free(l->carry);
	l->carry = NULL;
}

int ledger_lines_read(struct ledger_reader *s, struct ledger_lines *l, struct fault *f)
{
	_cleanup_free_ char *room = malloc(STEP);
	uint64_t first;
	size_t len;
	int r;

	if (!room)
		return fault_errno(f, ENOMEM, "read buffer");
	do {
		r = ledger_reader_read(s, room, STEP, &len, &first, f);
		if (r < 0)
			return r;
		r = ledger_lines_feed(l, room, len);
		if (r < 0)
			return fault_errno(f, -r, "ledger");
	} while (r == 0 && len > 0);
	return 0;
}
