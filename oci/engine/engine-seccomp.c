/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "layer/layer.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-seccomp-args.h"
#include "oci/engine/engine-seccomp-call.h"
#include "oci/seccomp/seccomp-describe.h"

/*
 * The engine's filter and custody's, as one: a call passes if both allow it.
 *
 *	the engine denies by default	its rules that deny stay; of its rules that allow, each name stays that custody allows. A name
 *					that custody allows for some arguments gets both conditions.  The rest fails as in custody's
 *					filter: EPERM (or kill) if it is listed as denied, else ENOSYS
 *	it allows by default, or none	custody's filter, without the names that the engine denies
 */
struct merge {
	struct engine_work *w;
	struct engine_calls calls;
	const struct jdoc *engine;		     /* its linux.seccomp */
	struct jdoc *out, *list;		     /* the new one, and its syscalls */
	struct jdoc *denied, *unlisted, *conditions; /* names met in rules that allow */
};

static const struct jdoc *syscalls(const struct merge *m)
{
	return jdoc_get(m->engine, "syscalls");
}

static bool allows(const char *action)
{
	return str_eq(action, "SCMP_ACT_ALLOW") || str_eq(action, "SCMP_ACT_LOG");
}

static int require_action(const struct merge *m, const char *where, size_t i, const char *action)
{
	static const char *const actions[] = { "SCMP_ACT_ALLOW",      "SCMP_ACT_LOG",
					       "SCMP_ACT_ERRNO",      "SCMP_ACT_KILL",
					       "SCMP_ACT_TRAP",	      "SCMP_ACT_KILL_PROCESS",
					       "SCMP_ACT_KILL_THREAD" };

	for (size_t k = 0; action && k < ARRAY_SIZE(actions); k++)
		if (strcmp(action, actions[k]) == 0)
			return 0;
	return fault_set(m->w->f, EPERM,
			 "config.json: 'linux.seccomp.%s' (rule %zu): action '%.64s' is refused: only allow, "
			 "log, errno, trap and "
			 "kill, which need no other process",
			 where, i, action ? action : "");
}

static int require_actions(const struct merge *m)
{
	const struct jdoc *list = syscalls(m);
	int r = require_action(m, "defaultAction", 0, engine_text(m->engine, "defaultAction"));

	for (size_t i = 0; r == 0 && engine_is(list, JDOC_ARRAY) && i < list->n_items; i++)
		r = require_action(m, "syscalls", i, engine_text(list->items[i], "action"));
	return r;
}

/* Numbers of another architecture mean other calls, so custody's filter has this machine's only. */
static int require_architecture(const struct merge *m, const char *native)
{
	const struct jdoc *list = jdoc_get(m->engine, "architectures");

	if (!engine_is(list, JDOC_ARRAY) || list->n_items == 0 || engine_list_has(list, native))
		return 0;
	return fault_set(m->w->f, EPERM,
			 "config.json: 'linux.seccomp.architectures' has no %s, which this machine is",
			 native);
}

/* --- an engine that denies by default -------------------------------------------------------------------------- */

static void append_rule(struct merge *m, const struct jdoc *rule, struct jdoc *names, struct jdoc *args)
{
	struct jdoc *copy = jdoc_copy(rule);

	jdoc_set(copy, "names", names);
	if (args)
		jdoc_set(copy, "args", args);
	jdoc_append(m->list, copy);
}

static void append_one(struct merge *m, const struct jdoc *rule, const char *name, struct jdoc *args)
{
	struct jdoc *names = jdoc_new_array();

	jdoc_append_string(names, name);
	append_rule(m, rule, names, args);
}

static void append_conditions(struct merge *m, const struct jdoc *rule, const struct jdoc *args,
			      const char *name)
{
	const struct seccomp_rule *c;
	bool rest = engine_args_are_plain(args);

	for (size_t at = 0; (c = engine_call_rule(name, &at));) {
		struct jdoc *both = c->verdict == SECCOMP_ALLOW && engine_args_are_plain(args)
					    ? engine_args_and(args, c)
					    : NULL;

		if (both)
			append_one(m, rule, name, both);
		if (c->op != SECCOMP_ELSE)
			rest = rest && engine_args_exclude(args, c);
		else if (rest && c->verdict == SECCOMP_ALLOW)
			append_one(m, rule, name, jdoc_copy(args));
	}
}

static void add_name(struct jdoc *list, const char *name)
{
	if (!engine_list_has(list, name))
		jdoc_append_string(list, name);
}

static void merge_rule(struct merge *m, const struct jdoc *rule)
{
	const struct jdoc *names = jdoc_get(rule, "names"), *args = jdoc_get(rule, "args");
	bool has_args = engine_is(args, JDOC_ARRAY) && args->n_items > 0;
	struct jdoc *kept = jdoc_new_array();

	for (size_t i = 0; engine_is(names, JDOC_ARRAY) && i < names->n_items; i++) {
		const char *name = engine_is(names->items[i], JDOC_STRING) ? names->items[i]->string : "";

		/* Engines list the calls of every architecture. */
		if (!seccomp_choice_has_call(m->calls.choice, name))
			continue;
		switch (engine_call_of(&m->calls, name)) {
		case ENGINE_CALL_ALLOWED:
			jdoc_append_string(kept, name);
			break;
		case ENGINE_CALL_CONDITIONS:
			if (has_args)
				append_conditions(m, rule, args, name);
			else
				add_name(m->conditions, name);
			break;
		case ENGINE_CALL_DENIED:
			add_name(m->denied, name);
			break;
		case ENGINE_CALL_UNLISTED:
			add_name(m->unlisted, name);
			break;
		}
	}
	if (kept && (kept->n_items > 0 || kept->broken))
		append_rule(m, rule, kept, NULL);
	else
		jdoc_free(kept);
}

static void copy_rule(struct merge *m, const struct jdoc *rule)
{
	jdoc_append(m->list, jdoc_copy(rule));
}

/* Groups of custody's own description that are about NAMES. */
static void append_own(struct merge *m, const struct jdoc *own, const struct jdoc *names)
{
	const struct jdoc *list = jdoc_get(own, "syscalls");

	for (size_t i = 0; i < list->n_items; i++) {
		const struct jdoc *group = list->items[i], *words = jdoc_get(group, "names");

		if (jdoc_get(group, "args") && words->n_items == 1 &&
		    engine_list_has(names, words->items[0]->string))
			copy_rule(m, group);
	}
}

static void append_errno(struct merge *m, struct jdoc *names, int number, bool kill)
{
	struct jdoc *rule;

	if (names->n_items == 0)
		return;
	rule = jdoc_append_object(m->list);
	jdoc_set(rule, "names", jdoc_copy(names));
	jdoc_set_string(rule, "action", kill ? "SCMP_ACT_KILL_PROCESS" : "SCMP_ACT_ERRNO");
	if (!kill)
		jdoc_set_int(rule, "errnoRet", number);
}

/* Does a rule of the engine that denies, or a rule with arguments, name it?  Then its default, or that rule, applies. */
static bool is_named_elsewhere(const struct merge *m, const char *name)
{
	const struct jdoc *list = syscalls(m);

	for (size_t i = 0; engine_is(list, JDOC_ARRAY) && i < list->n_items; i++)
		if (!allows(engine_text(list->items[i], "action")) &&
		    engine_list_has(jdoc_get(list->items[i], "names"), name))
			return true;
	return false;
}

static void remove_named_elsewhere(const struct merge *m, struct jdoc *names)
{
	for (size_t i = names->n_items; i-- > 0;)
		if (is_named_elsewhere(m, names->items[i]->string))
			(void)jdoc_remove_item(names, i);
}

static void merge_denying(struct merge *m, const struct jdoc *own)
{
	const struct jdoc *list = syscalls(m), *default_errno = jdoc_get(m->engine, "defaultErrnoRet");

	jdoc_set_string(m->out, "defaultAction", engine_text(m->engine, "defaultAction"));
	if (default_errno)
		jdoc_set(m->out, "defaultErrnoRet", jdoc_copy(default_errno));
	for (size_t i = 0; engine_is(list, JDOC_ARRAY) && i < list->n_items; i++) {
		if (allows(engine_text(list->items[i], "action")))
			merge_rule(m, list->items[i]);
		else
			copy_rule(m, list->items[i]);
	}
	append_own(m, own, m->conditions);
	remove_named_elsewhere(m, m->denied);
	remove_named_elsewhere(m, m->unlisted);
	append_errno(m, m->denied, EPERM, m->calls.choice->kill);
	append_errno(m, m->unlisted, ENOSYS, false);
}

/* --- an engine that allows by default --------------------------------------------------------------------------- */

static void remove_names(struct jdoc *from, const struct jdoc *names)
{
	for (size_t i = from->n_items; i-- > 0;)
		if (engine_list_has(names, from->items[i]->string))
			(void)jdoc_remove_item(from, i);
}

static int deny_rule(struct merge *m, const struct jdoc *rule)
{
	const struct jdoc *names = jdoc_get(rule, "names");

	if (allows(engine_text(rule, "action")) || !engine_is(names, JDOC_ARRAY))
		return 0;
	if (engine_count(rule, "args") > 0)
		return fault_set(m->w->f, EPERM,
				 "config.json: 'linux.seccomp.syscalls': a filter that allows by default and "
				 "denies by arguments cannot be "
				 "combined with custody's: use one that lists the allowed calls");
	for (size_t i = m->list->n_items; i-- > 0;) {
		struct jdoc *own = jdoc_get(m->list->items[i], "names");

		remove_names(own, names);
		if (own->n_items == 0)
			(void)jdoc_remove_item(m->list, i);
	}
	copy_rule(m, rule);
	return 0;
}

/* A group with arguments has one name; those that only protect custody-init allow it here. */
static void copy_own(struct merge *m, const struct jdoc *own)
{
	const struct jdoc *list = jdoc_get(own, "syscalls");
	struct jdoc *free_names = jdoc_new_array(), *rule = jdoc_append_object(m->list);

	for (size_t i = 0; i < list->n_items; i++) {
		const char *name = jdoc_get(list->items[i], "names")->items[0]->string;

		if (!jdoc_get(list->items[i], "args") ||
		    engine_call_of(&m->calls, name) == ENGINE_CALL_CONDITIONS)
			copy_rule(m, list->items[i]);
		else if (engine_call_of(&m->calls, name) == ENGINE_CALL_ALLOWED &&
			 !engine_list_has(free_names, name))
			jdoc_append_string(free_names, name);
	}
	jdoc_set(rule, "names", free_names);
	jdoc_set_string(rule, "action", "SCMP_ACT_ALLOW");
}

static int merge_allowing(struct merge *m, const struct jdoc *own)
{
	const struct jdoc *list = syscalls(m);
	int r = 0;

	jdoc_set(m->out, "defaultAction", jdoc_copy(jdoc_get(own, "defaultAction")));
	jdoc_set(m->out, "defaultErrnoRet", jdoc_copy(jdoc_get(own, "defaultErrnoRet")));
	copy_own(m, own);
	for (size_t i = 0; r == 0 && engine_is(list, JDOC_ARRAY) && i < list->n_items; i++)
		r = deny_rule(m, list->items[i]);
	return r;
}

/* --- both -------------------------------------------------------------------------------------------------------- */

static void copy_flags(struct merge *m)
{
	const struct jdoc *flags = jdoc_get(m->engine, "flags");
	struct jdoc *out;

	if (!engine_is(flags, JDOC_ARRAY) || flags->n_items == 0)
		return;
	out = jdoc_set_array(m->out, "flags");
	for (size_t i = 0; i < flags->n_items; i++)
		if (engine_is(flags->items[i], JDOC_STRING) &&
		    strcmp(flags->items[i]->string, "SECCOMP_FILTER_FLAG_SPEC_ALLOW") != 0)
			jdoc_append_string(out, flags->items[i]->string);
}

static int merge(struct merge *m, const struct jdoc *own)
{
	const char *native = jdoc_get(own, "architectures")->items[0]->string;
	int r = 0;

	jdoc_append_string(jdoc_set_array(m->out, "architectures"), native);
	m->list = jdoc_set_array(m->out, "syscalls");
	if (!m->list)
		return fault_errno(m->w->f, ENOMEM, "seccomp");
	if (engine_is(m->engine, JDOC_OBJECT) && m->engine->n_members > 0) {
		r = require_actions(m);
		if (r == 0)
			r = require_architecture(m, native);
		copy_flags(m);
	} else {
		m->engine = NULL;
	}
	if (r < 0)
		return r;
	if (m->engine && !allows(engine_text(m->engine, "defaultAction"))) {
		merge_denying(m, own);
		return 0;
	}
	return merge_allowing(m, own);
}

static void done(struct merge *m)
{
	engine_calls_done(&m->calls);
	jdoc_free(m->out);
	jdoc_free(m->denied);
	jdoc_free(m->unlisted);
	jdoc_free(m->conditions);
}

int engine_merge_seccomp(struct engine_work *w)
{
	const struct profile *p = w->in->profile;
	const struct seccomp_choice choice = {
		.kill = p->seccomp_violation == PROFILE_SECCOMP_KILL,
		.allow = p->seccomp_allow,
		.deny = p->seccomp_deny,
	};
	_cleanup_jdoc_ struct jdoc *own = NULL;
	_cleanup_(done) struct merge m = {
		.w = w,
		.engine = engine_at(w->config, "linux.seccomp"),
		.out = jdoc_new_object(),
		.denied = jdoc_new_array(),
		.unlisted = jdoc_new_array(),
		.conditions = jdoc_new_array(),
	};
	int r;

	if (!engine_asks(w, LAYER_SECCOMP))
		return 0;
	if (!m.out || !m.denied || !m.unlisted || !m.conditions)
		return fault_errno(w->f, ENOMEM, "seccomp");
	r = seccomp_describe_choice(&choice, &own, w->f);
	if (r == 0)
		r = engine_calls_init(&m.calls, &choice, w->f);
	if (r == 0)
		r = merge(&m, own);
	if (r == 0)
		jdoc_set(engine_make(w->config, "linux", JDOC_OBJECT), "seccomp", TAKE_PTR(m.out));
	return r;
}
