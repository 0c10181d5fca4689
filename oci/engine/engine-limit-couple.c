/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-limit-impl.h"

/*
 * Limits that are two members.
 *
 * 1. A quota means something with its period only.  On v2 libcrun writes "max" for a quota that is not given with a new period,
 *    and 100000 for a period that is not given: both are sent.
 * 2. On v2 the sum of memory and swap is a file of its own for swap, which keeps its value when the limit of memory changes: a
 *    limit that rises to the approved one again would take the sum above the approved sum.
 */
#define PERIOD_US 100000

struct share {
	uint64_t quota, period;
	bool has_quota, has_period;
};

static bool is_limit(const struct jdoc *v)
{
	return engine_is(v, JDOC_INT) && !v->wide && v->integer > 0;
}

static struct share read_share(const struct jdoc *resources, struct share missing)
{
	const struct jdoc *quota = engine_at(resources, "cpu.quota"),
			  *period = engine_at(resources, "cpu.period");
	struct share s = missing;

	s.has_quota = engine_is(quota, JDOC_INT) && quota->integer != 0;
	s.has_period = is_limit(period);
	if (s.has_quota)
		s.quota = is_limit(quota) ? (uint64_t)quota->integer : ENGINE_LIMIT_NONE;
	if (s.has_period)
		s.period = (uint64_t)period->integer;
	return s;
}

static bool share_is_larger(const struct share *a, const struct share *b)
{
	if (b->quota == ENGINE_LIMIT_NONE)
		return false;
	return a->quota == ENGINE_LIMIT_NONE ||
	       (unsigned __int128)a->quota * b->period > (unsigned __int128)b->quota * a->period;
}

static void put_share(struct jdoc *cpu, const struct share *s)
{
	jdoc_set_int(cpu, "quota", s->quota == ENGINE_LIMIT_NONE ? -1 : (int64_t)s->quota);
	jdoc_set_int(cpu, "period", (int64_t)s->period);
}

static void write_share(const struct share *s, char *text, size_t size)
{
	if (s->quota == ENGINE_LIMIT_NONE)
		(void)snprintf(text, size, "no limit");
	else
		(void)snprintf(text, size, "%" PRIu64 " of %" PRIu64, s->quota, s->period);
}

static void couple_cpu(struct limit_walk *w)
{
	static const struct share none = { .quota = ENGINE_LIMIT_NONE, .period = PERIOD_US };
	static const struct engine_limit row[] = { { .name = "quota", .option = "--cpu-quota" },
						   { .name = "period", .option = "--cpu-period" } };
	struct jdoc *cpu = jdoc_get(w->asked, "cpu");
	const struct share approved = read_share(w->l->approved, none),
			   current = read_share(w->l->current, none), asked = read_share(w->asked, current);
	char was[64], is[64];

	if (!asked.has_quota && !asked.has_period)
		return;
	if (!share_is_larger(&asked, &approved)) {
		put_share(cpu, &asked);
		return;
	}
	write_share(&approved, was, sizeof(was));
	write_share(&asked, is, sizeof(is));
	engine_limit_put_looser(w, asked.has_quota ? "cpu.quota" : "cpu.period", &row[!asked.has_quota], was,
				is);
	put_share(cpu, &approved);
}

static int64_t number_at(const struct jdoc *first, const struct jdoc *second, const char *path)
{
	const struct jdoc *v = engine_at(first, path);

	if (!v)
		v = engine_at(second, path);
	return is_limit(v) ? v->integer : -1;
}

static void couple_memory(struct limit_walk *w)
{
	struct jdoc *memory = jdoc_get(w->asked, "memory");
	const int64_t limit = number_at(w->asked, w->l->current, "memory.limit"),
		      before = number_at(w->l->current, NULL, "memory.limit"),
		      swap = number_at(w->l->current, NULL, "memory.swap"),
		      most = number_at(w->l->approved, NULL, "memory.swap");

	if (!w->l->v2 || !memory || limit < 0)
		return;
	if (jdoc_get(memory, "swap")) {
		/* libcrun subtracts. */
		jdoc_set_int(memory, "limit", limit);
	} else if (jdoc_get(memory, "limit") && swap >= before && before > 0) {
		int64_t sum = swap - before > INT64_MAX - limit ? INT64_MAX : swap - before + limit;

		jdoc_set_int(memory, "swap", most > 0 && sum > most ? most : sum);
	}
}

void engine_limit_couple(struct limit_walk *w)
{
	couple_cpu(w);
	couple_memory(w);
}
