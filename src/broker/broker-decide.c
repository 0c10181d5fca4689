/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker-decide.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "broker/broker-params.h"

static const char *const names[] = {
	[BROKER_PEER] = "peer",
	[BROKER_TOKEN] = "token",
	[BROKER_TOOL] = "tool",
	[BROKER_PARAMS] = "params",
	[BROKER_SCOPE] = "scope",
	[BROKER_BUDGET] = "budget",
	[BROKER_INSPECTION] = "inspection",
	[BROKER_APPROVAL] = "approval",
	[BROKER_ALLOWED] = "allowed",
};

const char *broker_step_name(enum broker_step s)
{
	return names[s];
}

static const char *find_value(const struct broker_values *v, const char *name)
{
	const struct {
		const char *name, *value;
	} all[] = {
		{ "session", v->session }, { "agent", v->agent }, { "worker", v->worker },
		{ "issue", v->issue },	   { "lane", v->lane },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (str_eq(all[i].name, name))
			return all[i].value;
	return NULL;
}

/* A string, or a number in its shortest form. */
static bool is_value(const struct jdoc *param, const char *value)
{
	char number[24];

	if (param && param->type == JDOC_STRING)
		return str_eq(param->string, value);
	if (!param || param->type != JDOC_INT)
		return false;
	(void)snprintf(number, sizeof(number), "%" PRId64, param->integer);
	return str_eq(number, value);
}

/* The next letter or digit without regard to case; '\0': none. */
static char next_of(const char **at)
{
	for (; **at; (*at)++) {
		const char c = **at;

		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
			(*at)++;
			return c;
		}
		if (c >= 'A' && c <= 'Z') {
			(*at)++;
			return (char)(c - 'A' + 'a');
		}
	}
	return '\0';
}

static bool is_same_name(const char *a, const char *b)
{
	char x, y;

	do {
		x = next_of(&a);
		y = next_of(&b);
	} while (x == y && x);
	return x == y;
}

static bool is_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return !*text;
}

/*
 * Parsers exist that take "Issue_number", "issueNumber" or "issue-number" for "issue_number", and the last of all: the tool would
 * act on a value that was not checked.  Of other alphabets each parser folds other characters to ASCII (a sharp s to "ss", full
 * width, a dotted I): none of them is allowed beside a name that is checked.
 */
static bool is_double(const char *key, const char *name)
{
	return !str_eq(key, name) && (!is_ascii(key) || is_same_name(key, name));
}

static bool has_double(const struct jdoc *params, const char *name)
{
	for (size_t i = 0; i < params->n_members; i++)
		if (is_double(params->members[i].key, name))
			return true;
	return false;
}

/* RULE is "PARAM=VALUE".  The session's value is not in the message: the caller inside may not know it. */
static int require_scope(const char *rule, const struct broker_values *v, const struct jdoc *params,
			 struct fault *f)
{
	const char *equals = strchr(rule, '=');
	_cleanup_free_ char *name = equals ? strndup(rule, (size_t)(equals - rule)) : NULL;
	const char *value = equals ? find_value(v, equals + 1) : NULL;

	if (!name)
		return fault_set(f, EPERM, "the tool's scope cannot be read");
	if (!value)
		return fault_set(f, EPERM, "the tool needs the session's %s, and the session has none",
				 equals + 1);
	if (!jdoc_get(params, name))
		return fault_set(f, EPERM, "parameter '%s' is missing: it must be the session's %s", name,
				 equals + 1);
	if (has_double(params, name))
		return fault_set(f, EPERM,
				 "parameter '%s' is there in two spellings, or beside a name that "
				 "is not ASCII",
				 name);
	return is_value(jdoc_get(params, name), value)
		       ? 0
		       : fault_set(f, EPERM, "parameter '%s' is not the session's %s", name, equals + 1);
}

static int check_scope(const struct broker_tool *t, const struct broker_values *v, const struct jdoc *params,
		       struct fault *f)
{
	for (char *const *rule = t->scope; rule && *rule; rule++) {
		int r = require_scope(*rule, v, params, f);

		if (r < 0)
			return r;
	}
	return 0;
}

static int check_approval(const struct broker_tool *t, const struct jdoc *params,
			  const struct broker_checks *k, struct fault *f)
{
	if (t->level == 'A')
		return 0;
	if (!k->approve)
		return fault_set(f, EPERM, "the call needs an approval, which this door cannot ask for");
	return k->approve(k->arg, t, params, f);
}

struct broker_decision broker_decide(const struct broker_tools *tools, const struct broker_values *values,
				     const struct broker_call *call, const struct broker_checks *k,
				     struct fault *f)
{
	struct broker_decision d = { .step = BROKER_PEER };

	if (!call->peer) {
		(void)fault_set(f, EPERM, "not a process of this session");
		return d;
	}
	d.step = BROKER_TOKEN;
	if (!call->token) {
		(void)fault_set(f, EPERM, "not the token of this session");
		return d;
	}
	d.step = BROKER_TOOL;
	d.tool = call->tool ? broker_tools_find(tools, call->tool) : NULL;
	if (!d.tool) {
		(void)fault_set(f, ENOENT, "the profile of this session has no such tool");
		return d;
	}
	d.step = BROKER_PARAMS;
	if (broker_params_check(d.tool, call->params, f) < 0)
		return d;
	d.step = BROKER_SCOPE;
	if (check_scope(d.tool, values, call->params, f) < 0)
		return d;
	d.step = BROKER_BUDGET;
	if (call->calls >= tools->calls_max) {
		(void)fault_set(f, EDQUOT, "the session's %" PRIu64 " tool calls are used up",
				tools->calls_max);
		return d;
	}
	d.counted = true;
	d.step = BROKER_INSPECTION;
	if (k->inspect && k->inspect(k->arg, d.tool, call->params, f) < 0)
		return d;
	d.step = BROKER_APPROVAL;
	if (check_approval(d.tool, call->params, k, f) < 0)
		return d;
	d.step = BROKER_ALLOWED;
	return d;
}
