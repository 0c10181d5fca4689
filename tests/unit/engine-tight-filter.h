/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-seccomp-call.h"

/* The filters of engine-tight.h. */

static inline int64_t tight_number(const struct jdoc *d, const char *path, int64_t missing)
{
	const struct jdoc *v = engine_at(d, path);

	return engine_is(v, JDOC_INT) ? (v->wide ? INT64_MAX : v->integer) : missing;
}

static inline bool tight_arg_matches(const struct jdoc *arg, const uint64_t *args)
{
	const char *op = jdoc_get_string(arg, "op");
	uint64_t i = (uint64_t)tight_number(arg, "index", 0);
	const struct jdoc *v = jdoc_get(arg, "value"), *t = jdoc_get(arg, "valueTwo");
	uint64_t value = engine_is(v, JDOC_INT) ? (uint64_t)v->integer : 0,
		 two = engine_is(t, JDOC_INT) ? (uint64_t)t->integer : 0;
	uint64_t x = args[i % 6];

	if (!op)
		return false;
	return strcmp(op, "SCMP_CMP_EQ") == 0	? x == value
	       : strcmp(op, "SCMP_CMP_NE") == 0 ? x != value
	       : strcmp(op, "SCMP_CMP_LT") == 0 ? x < value
	       : strcmp(op, "SCMP_CMP_LE") == 0 ? x <= value
	       : strcmp(op, "SCMP_CMP_GT") == 0 ? x > value
	       : strcmp(op, "SCMP_CMP_GE") == 0 ? x >= value
						: (x & value) == two;
}

/* How specific RULE is: 0 no match, 1 the rest ("argument 0 >= 0"), 2 by its arguments, 3 whatever they are. */
static inline int tight_match(const struct jdoc *rule, const uint64_t *args)
{
	const struct jdoc *list = jdoc_get(rule, "args");

	if (!engine_is(list, JDOC_ARRAY) || list->n_items == 0)
		return 3;
	for (size_t i = 0; i < list->n_items; i++)
		if (!tight_arg_matches(list->items[i], args))
			return 0;
	return list->n_items == 1 && str_eq(engine_text(list->items[0], "op"), "SCMP_CMP_GE") &&
			       tight_number(list->items[0], "value", 1) == 0
		       ? 1
		       : 2;
}

static inline bool tight_action_allows(const char *action)
{
	return str_eq(action, "SCMP_ACT_ALLOW") || str_eq(action, "SCMP_ACT_LOG");
}

/* What a filter has for one call, looked up once for all arguments that are tried. */
struct tight_call {
	const struct jdoc **rules;
	size_t n;
	bool by_default;
};

static inline struct tight_call tight_call_of(const struct jdoc *filter, const char *name)
{
	const struct jdoc *list = engine_at(filter, "syscalls");
	const size_t n = engine_count(filter, "syscalls");
	struct tight_call c = { .rules = calloc(n + 1, sizeof(*c.rules)),
				.by_default = tight_action_allows(engine_text(filter, "defaultAction")) };

	if (!c.rules)
		abort();
	for (size_t i = 0; i < n; i++)
		if (engine_is(list->items[i], JDOC_OBJECT) &&
		    engine_list_has(jdoc_get(list->items[i], "names"), name))
			c.rules[c.n++] = list->items[i];
	return c;
}

static inline void tight_call_done(struct tight_call *c)
{
	free(c->rules);
}
#define _cleanup_tight_call_ _cleanup_(tight_call_done)

static inline bool tight_call_allows(const struct tight_call *c, const uint64_t *args)
{
	bool allow = c->by_default;
	int best = 0;

	for (size_t i = 0; i < c->n; i++) {
		bool allows = tight_action_allows(engine_text(c->rules[i], "action"));
		int match = tight_match(c->rules[i], args);

		if (match == 0 || match < best)
			continue;
		/* Of two equally specific rules the one that denies. */
		allow = match > best ? allows : allow && allows;
		best = match;
	}
	return allow;
}

static inline bool tight_allows(const struct jdoc *filter, const char *name, const uint64_t *args)
{
	_cleanup_tight_call_ struct tight_call c = tight_call_of(filter, name);

	return tight_call_allows(&c, args);
}

static inline bool tight_custody_allows(const struct engine_calls *calls, const char *name,
					const uint64_t *args)
{
	const struct seccomp_rule *r;
	bool rest = false;

	switch (engine_call_of(calls, name)) {
	case ENGINE_CALL_ALLOWED:
		return true;
	case ENGINE_CALL_DENIED:
	case ENGINE_CALL_UNLISTED:
		return false;
	case ENGINE_CALL_CONDITIONS:
		break;
	}
	for (size_t at = 0; (r = engine_call_rule(name, &at));) {
		if (r->op == SECCOMP_ELSE)
			rest = r->verdict == SECCOMP_ALLOW;
		else if (r->op == SECCOMP_EQ ? args[r->arg] == r->value
					     : (args[r->arg] & r->mask) == r->value)
			return r->verdict == SECCOMP_ALLOW;
	}
	return rest;
}

/* Values at which a condition of an engine or of custody changes its result. */
static inline const uint64_t *tight_values(size_t *n)
{
	static const uint64_t values[] = { 0,	       1,	    2,	       8,	   9,
					   10,	       16,	    17,	       40,	   0x5412,
					   0x541c,     0x20000,	    0x20008,   0x10000000, 0x7e020000,
					   0xffffffff, 0x100000000, UINT64_MAX };

	*n = ARRAY_SIZE(values);
	return values;
}

/* WAS NULL: the engine has no filter. */
static inline const char *tight_name(const struct jdoc *was, const struct jdoc *is,
				     const struct engine_calls *calls, const char *name, bool has_args)
{
	_cleanup_tight_call_ struct tight_call theirs = tight_call_of(was, name),
					       ours = tight_call_of(is, name);
	size_t n;
	const uint64_t *values = tight_values(&n);

	/* Arguments matter only where the rule has some. */
	for (size_t v = 0; v < (has_args ? n * n : 1); v++) {
		const uint64_t args[6] = { values[v % n], values[v / n], values[v % n], values[v / n], 0, 0 };

		if (!tight_call_allows(&ours, args))
			continue;
		if (was && !tight_call_allows(&theirs, args))
			return "the filter allows what the engine's denies";
		if (!tight_custody_allows(calls, name, args))
			return "the filter allows what custody's denies";
	}
	return NULL;
}

static inline const char *tight_filter(const struct jdoc *engine, const struct jdoc *merged,
				       const struct engine_calls *calls)
{
	const struct jdoc *was = engine_at(engine, "linux.seccomp"), *is = engine_at(merged, "linux.seccomp");
	bool has = engine_is(was, JDOC_OBJECT) && was->n_members > 0;
	size_t n;

	if (!engine_is(is, JDOC_OBJECT))
		return "no filter";
	if (tight_allows(is, "name_that_no_machine_has", tight_values(&n)))
		return "the filter allows by default";
	for (size_t i = 0; i < engine_count(is, "syscalls"); i++) {
		const struct jdoc *rule = engine_item(is, "syscalls", i), *names = jdoc_get(rule, "names");

		if (!tight_action_allows(engine_text(rule, "action")))
			continue;
		for (size_t k = 0; engine_is(names, JDOC_ARRAY) && k < names->n_items; k++) {
			const struct jdoc *name = names->items[k];
			const char *what = tight_name(has ? was : NULL, is, calls,
						      engine_is(name, JDOC_STRING) ? name->string : "",
						      engine_count(rule, "args") > 0);

			if (what)
				return what;
		}
	}
	return NULL;
}
