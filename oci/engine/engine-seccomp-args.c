/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-seccomp-args.h"

#include <string.h>

#include "base/str.h"
#include "oci/engine/engine-impl.h"

static uint64_t number(const struct jdoc *arg, const char *key)
{
	const struct jdoc *v = jdoc_get(arg, key);

	return engine_is(v, JDOC_INT) ? (uint64_t)v->integer : 0;
}

static bool is_op(const struct jdoc *arg, const char *op)
{
	return str_eq(engine_text(arg, "op"), op);
}

static bool is_plain(const struct jdoc *arg)
{
	static const char *const ops[] = { "SCMP_CMP_NE", "SCMP_CMP_LT", "SCMP_CMP_LE",	       "SCMP_CMP_EQ",
					   "SCMP_CMP_GE", "SCMP_CMP_GT", "SCMP_CMP_MASKED_EQ", NULL };

	if (arg->type != JDOC_OBJECT || number(arg, "index") > 5)
		return false;
	for (size_t i = 0; ops[i]; i++)
		if (is_op(arg, ops[i]))
			return true;
	return false;
}

bool engine_args_are_plain(const struct jdoc *args)
{
	unsigned int seen = 0;

	for (size_t i = 0; i < args->n_items; i++) {
		unsigned int bit;

		if (!is_plain(args->items[i]))
			return false;
		bit = 1u << number(args->items[i], "index");
		/* libcrun makes two rules of it: either one is enough. */
		if (seen & bit)
			return false;
		seen |= bit;
	}
	return true;
}

/* Does the argument X pass ARG? */
static bool passes(const struct jdoc *arg, uint64_t x)
{
	uint64_t value = number(arg, "value");

	if (is_op(arg, "SCMP_CMP_EQ"))
		return x == value;
	if (is_op(arg, "SCMP_CMP_NE"))
		return x != value;
	if (is_op(arg, "SCMP_CMP_LT"))
		return x < value;
	if (is_op(arg, "SCMP_CMP_LE"))
		return x <= value;
	if (is_op(arg, "SCMP_CMP_GE"))
		return x >= value;
	if (is_op(arg, "SCMP_CMP_GT"))
		return x > value;
	return (x & value) == number(arg, "valueTwo");
}

static void set(struct jdoc *arg, unsigned int index, const char *op, uint64_t value, uint64_t two)
{
	jdoc_set_int(arg, "index", index);
	jdoc_set_string(arg, "op", op);
	jdoc_set_int(arg, "value", (int64_t)value);
	jdoc_get(arg, "value")->wide = value > INT64_MAX;
	jdoc_set_int(arg, "valueTwo", (int64_t)two);
	jdoc_get(arg, "valueTwo")->wide = two > INT64_MAX;
}

static void set_rule(struct jdoc *arg, const struct seccomp_rule *rule)
{
	if (rule->op == SECCOMP_EQ)
		set(arg, rule->arg, "SCMP_CMP_EQ", rule->value, 0);
	else
		set(arg, rule->arg, "SCMP_CMP_MASKED_EQ", rule->mask, rule->value);
}

/* Makes of ARG, which is about the argument of RULE, the condition that both hold.  False: none, or not known. */
static bool narrow(struct jdoc *arg, const struct seccomp_rule *rule)
{
	uint64_t mask = number(arg, "value"), value = number(arg, "valueTwo");

	if (rule->op == SECCOMP_EQ) {
		if (!passes(arg, rule->value))
			return false;
		set_rule(arg, rule);
		return true;
	}
	if (is_op(arg, "SCMP_CMP_EQ"))
		return (mask & rule->mask) == rule->value;
	if (!is_op(arg, "SCMP_CMP_MASKED_EQ") || (value & rule->mask) != (rule->value & mask))
		return false;
	set(arg, rule->arg, "SCMP_CMP_MASKED_EQ", mask | rule->mask, value | rule->value);
	return true;
}

static struct jdoc *find(const struct jdoc *args, unsigned int index)
{
	for (size_t i = 0; i < args->n_items; i++)
		if (number(args->items[i], "index") == index)
			return args->items[i];
	return NULL;
}

struct jdoc *engine_args_and(const struct jdoc *args, const struct seccomp_rule *rule)
{
	_cleanup_jdoc_ struct jdoc *both = jdoc_copy(args);
	struct jdoc *same = both ? find(both, rule->arg) : NULL;

	if (!both || rule->op == SECCOMP_ELSE)
		return NULL;
	if (same) {
		if (!narrow(same, rule))
			return NULL;
	} else {
		set_rule(jdoc_append_object(both), rule);
	}
	return both->broken ? NULL : TAKE_PTR(both);
}

bool engine_args_exclude(const struct jdoc *args, const struct seccomp_rule *rule)
{
	const struct jdoc *same = find(args, rule->arg);
	uint64_t x;

	if (!same || !is_op(same, "SCMP_CMP_EQ"))
		return false;
	x = number(same, "value");
	return rule->op == SECCOMP_EQ ? x != rule->value : (x & rule->mask) != rule->value;
}
