/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "ledger/ledger-impl.h"

static const char *continues(const struct record *r, const struct ledger_tail *t, const struct digest *key)
{
	if (r->seq != t->seq)
		return "unexpected seq";
	if (!record_prev_is(r, &t->head))
		return "prev is not the hash of the previous record";
	if (!record_hash_verify(r))
		return "wrong hash";
	if (key && !record_seal_verify(r, key))
		return "wrong seal";
	return NULL;
}

void ledger_tail_scan(const char *bytes, size_t len, struct digest *key, struct ledger_tail *t)
{
	t->good = 0;
	while (t->good < len && t->seq < t->stop) {
		const char *line = bytes + t->good, *end = memchr(line, '\n', len - t->good);
		struct record r;

		if (!end) {
			t->why = len - t->good >= LEDGER_LINE_MAX ? "longer than 64 KiB" : NULL;
			return;
		}
		if (record_parse(line, (size_t)(end + 1 - line), &r, &t->why) < 0)
			return;
		t->why = continues(&r, t, key);
		if (t->why)
			return;
		record_head(&r, &t->head);
		t->seq++;
		t->good += r.len;
		t->last_len = r.len;
		t->rotated = record_kind_is(&r, "ledger.rotate");
		if (key)
			seal_evolve(key, 1);
	}
	t->why = NULL;
}
