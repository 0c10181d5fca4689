/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/id-map.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

uint32_t id_extents_count(const struct id_extents *e)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < e->n; i++)
		n += e->at[i].count;
	return n;
}

bool id_extents_find(const struct id_extents *e, uint32_t inside, uint32_t *ret)
{
	for (unsigned int i = 0; i < e->n; i++) {
		const struct id_extent *x = &e->at[i];

		if (inside < x->inside || inside - x->inside >= x->count)
			continue;
		*ret = x->outside + (inside - x->inside);
		return true;
	}
	return false;
}

void id_extents_write(const struct id_extents *e, struct strbuf *b)
{
	for (unsigned int i = 0; i < e->n; i++)
		strbuf_printf(b, "%s%" PRIu32 ":%" PRIu32 ":%" PRIu32, i ? "," : "", e->at[i].inside,
			      e->at[i].outside, e->at[i].count);
}

static void identify(struct id_extents *e)
{
	for (unsigned int i = 0; i < e->n; i++)
		e->at[i].inside = e->at[i].outside;
}

struct id_map id_map_identity(const struct id_map *m)
{
	struct id_map same = *m;

	identify(&same.uid);
	identify(&same.gid);
	return same;
}

char *id_map_to_text(const struct id_map *m)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_puts(&b, "uid ");
	id_extents_write(&m->uid, &b);
	strbuf_puts(&b, "\ngid ");
	id_extents_write(&m->gid, &b);
	strbuf_putc(&b, '\n');
	return strbuf_take(&b);
}

/* The byte behind the digits must be one of ENDS. */
static bool take_number(const char **at, const char *ends, uint32_t *ret)
{
	uint64_t v = 0;
	const char *c = *at;

	for (; *c >= '0' && *c <= '9' && v <= UINT32_MAX; c++)
		v = v * 10 + (uint64_t)(*c - '0');
	if (c == *at || v > UINT32_MAX || !*c || !strchr(ends, *c))
		return false;
	*at = c;
	*ret = (uint32_t)v;
	return true;
}

static bool take_extents(const char **at, const char *kind, struct id_extents *e)
{
	size_t n = strlen(kind);

	if (strncmp(*at, kind, n) != 0)
		return false;
	*at += n;
	for (;;) {
		struct id_extent *x = &e->at[e->n];

		if (e->n == ID_EXTENTS_MAX || !take_number(at, ":", &x->inside))
			return false;
		(*at)++;
		if (!take_number(at, ":", &x->outside))
			return false;
		(*at)++;
		if (!take_number(at, ",\n", &x->count) || x->count == 0)
			return false;
		e->n++;
		if (*(*at)++ == '\n')
			return true;
	}
}

int id_map_parse(const char *text, struct id_map *ret, struct fault *f)
{
	struct id_map m = { 0 };

	if (!take_extents(&text, "uid ", &m.uid) || !take_extents(&text, "gid ", &m.gid) || *text)
		return fault_set(f, EBADMSG, "not a map of ids");
	*ret = m;
	return 0;
}
