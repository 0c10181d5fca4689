/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-seccomp-call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"

/* Their conditions protect custody-init, which a container of an engine does not have. */
static const char *const of_init[] = {
	"prlimit64",	     "sched_setscheduler", "sched_setattr", "sched_setparam",
	"sched_setaffinity", "setpriority",	   "ioprio_set",
};

static bool protects_init(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(of_init); i++)
		if (strcmp(of_init[i], name) == 0)
			return true;
	return false;
}

/* Rules that are active without `no_setid`: the others then allow their call. */
static bool has_conditions(const char *name)
{
	for (const struct seccomp_rule *r = seccomp_rules; r->name; r++)
		if (!r->no_setid && strcmp(r->name, name) == 0)
			return !protects_init(name);
	return false;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count(const char *const *names)
{
	size_t n = 0;

	while (names[n])
		n++;
	return n;
}

static void add_all(struct engine_calls *c, const char *const *names)
{
	for (size_t i = 0; names[i]; i++)
		c->names[c->n++] = names[i];
}

int engine_calls_init(struct engine_calls *c, const struct seccomp_choice *choice, struct fault *f)
{
	size_t rules = 0, room;

	while (seccomp_rules[rules].name)
		rules++;
	room = count(seccomp_allowed) + count(seccomp_unfilterable) + rules + 1;
	*c = (struct engine_calls){ .choice = choice, .names = calloc(room, sizeof(*c->names)) };
	if (!c->names)
		return fault_errno(f, ENOMEM, "seccomp");
	add_all(c, seccomp_allowed);
	add_all(c, seccomp_unfilterable);
	for (const struct seccomp_rule *r = seccomp_rules; r->name; r++)
		if (!has_conditions(r->name))
			c->names[c->n++] = r->name;
	qsort(c->names, c->n, sizeof(*c->names), compare);
	return 0;
}

void engine_calls_done(struct engine_calls *c)
{
	free(c->names);
	*c = (struct engine_calls){ 0 };
}

static bool is_denied(const char *name)
{
	for (size_t i = 0; seccomp_denied[i]; i++)
		if (strcmp(seccomp_denied[i], name) == 0)
			return true;
	return false;
}

enum engine_call engine_call_of(const struct engine_calls *c, const char *name)
{
	if (seccomp_choice_lists(c->choice->deny, name))
		return ENGINE_CALL_DENIED;
	if (seccomp_choice_lists(c->choice->allow, name) ||
	    bsearch(&name, c->names, c->n, sizeof(*c->names), compare))
		return ENGINE_CALL_ALLOWED;
	if (has_conditions(name))
		return ENGINE_CALL_CONDITIONS;
	return is_denied(name) ? ENGINE_CALL_DENIED : ENGINE_CALL_UNLISTED;
}

const struct seccomp_rule *engine_call_rule(const char *name, size_t *at)
{
	for (; seccomp_rules[*at].name; (*at)++)
		if (!seccomp_rules[*at].no_setid && strcmp(seccomp_rules[*at].name, name) == 0)
			return &seccomp_rules[(*at)++];
	return NULL;
}
