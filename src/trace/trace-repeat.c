/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace-repeat.h"

#include <string.h>

static struct trace_repeat *place_of(struct trace_repeats *r, int32_t nr, const struct trace_texts *t)
{
	uint32_t hash = 2166136261u ^ (uint32_t)nr;

	for (size_t i = 0; i < t->len; i++)
		hash = (hash ^ (unsigned char)t->bytes[i]) * 16777619u;
	return &r->at[(hash ^ hash >> 16) % TRACE_REPEAT_PLACES];
}

static bool is_equal(const struct trace_repeat *p, int32_t nr, const struct trace_texts *t)
{
	return p->n == t->n && p->nr == nr && p->len == t->len && memcmp(p->bytes, t->bytes, t->len) == 0;
}

bool trace_repeat_count(struct trace_repeats *r, int32_t nr, const struct trace_texts *t,
			struct trace_repeat *ret_before)
{
	struct trace_repeat *p;

	ret_before->count = 0;
	if (t->flags || t->n == 0 || t->len > TRACE_REPEAT_BYTES)
		return false;
	p = place_of(r, nr, t);
	if (is_equal(p, nr, t)) {
		p->count++;
		return true;
	}
	*ret_before = *p;
	p->nr = nr;
	p->n = t->n;
	p->len = (uint16_t)t->len;
	p->count = 0;
	memcpy(p->bytes, t->bytes, t->len);
	return false;
}
