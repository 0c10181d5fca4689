/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-slurm.h"

#include <string.h>

#include "base/array.h"
#include "base/str.h"

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NUMBER_MAX 20

enum form {
	NUMBER,
	NODES,	 /* "n1", "n[1-4,7]" */
	ADDRESS, /* a name, or IPv4, or IPv6 */
};

/* What a step asked for (SLURM_NTASKS, SLURM_JOB_NAME, SLURM_CPUS_PER_TASK ...) is not here: it is in the subject. */
/* clang-format off */
static const struct {
	const char *name;
	enum form form;
} table[] = {
	{ "SLURM_JOB_ID",             NUMBER },
	{ "SLURM_JOBID",              NUMBER },
	{ "SLURM_STEP_ID",            NUMBER },
	{ "SLURM_STEPID",             NUMBER },
	{ "SLURM_ARRAY_JOB_ID",       NUMBER },
	{ "SLURM_ARRAY_TASK_ID",      NUMBER },
	{ "SLURM_RESTART_COUNT",      NUMBER },
	{ "SLURM_JOB_START_TIME",     NUMBER },
	{ "SLURM_JOB_END_TIME",       NUMBER },
	{ "SLURM_TASK_PID",           NUMBER },
	{ "SLURM_NODEID",             NUMBER },
	{ "SLURM_SRUN_COMM_PORT",     NUMBER },
	{ "SLURM_STEP_LAUNCHER_PORT", NUMBER },
	{ "SLURMD_NODENAME",          NODES },
	{ "SLURM_NODELIST",           NODES },
	{ "SLURM_JOB_NODELIST",       NODES },
	{ "SLURM_STEP_NODELIST",      NODES },
	{ "SLURM_TOPOLOGY_ADDR",      NODES },
	{ "SLURM_SRUN_COMM_HOST",     ADDRESS },
	{ "SLURM_LAUNCH_NODE_IPADDR", ADDRESS },
};
/* clang-format on */

static bool is_made_of(const char *value, const char *accept, size_t size_max)
{
	size_t len = strlen(value);

	return len > 0 && len <= size_max && strspn(value, accept) == len;
}

/* A value of another form may choose what runs: no word of an option, no character of a shell but the brackets of a list. */
static bool has_form(const char *value, enum form form)
{
	switch (form) {
	case NUMBER:
		return is_made_of(value, DIGITS, NUMBER_MAX);
	case NODES:
		return value[0] != '-' && is_made_of(value, DIGITS LETTERS "-_.,[]", 4096);
	case ADDRESS:
		return value[0] != '-' && is_made_of(value, DIGITS LETTERS "-.:", 255);
	}
	return false;
}

static const char *find(const struct jdoc *env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < env->n_items; i++) {
		const struct jdoc *v = env->items[i];

		if (v->type == JDOC_STRING && strncmp(v->string, name, len) == 0 && v->string[len] == '=')
			return v->string + len + 1;
	}
	return NULL;
}

/* ".JOB.STEP.TASK" at the end: the name of a user may have dots, too. */
static bool is_step(const char *id, const char *job)
{
	const char *at = id + strlen(id), *end = at;

	for (int part = 0; part < 3; part++) {
		end = at;
		while (at > id && at[-1] >= '0' && at[-1] <= '9')
			at--;
		if (at == end || at == id || *--at != '.')
			return false;
	}
	at++;
	return (size_t)(end - at) == strlen(job) && memcmp(at, job, strlen(job)) == 0;
}

static bool is_noise(const char *id, const char *var)
{
	const char *value = strchr(var, '=');
	size_t len = value ? (size_t)(value++ - var) : 0;

	/* The first part of the id: Slurm gives the name of the node to a batch script. */
	if (value && str_starts(var, "HOSTNAME="))
		return *value && str_starts(id, value) && id[strlen(value)] == '.';
	for (size_t i = 0; value && i < ARRAY_SIZE(table); i++)
		if (strlen(table[i].name) == len && memcmp(table[i].name, var, len) == 0)
			return has_form(value, table[i].form);
	return false;
}

void engine_slurm_strip(const struct engine_work *w, struct jdoc *env)
{
	const char *job;

	if (!engine_is(env, JDOC_ARRAY))
		return;
	job = find(env, "SLURM_JOB_ID");
	if (!job || !is_step(w->in->id, job))
		return;
	for (size_t i = env->n_items; i-- > 0;)
		if (env->items[i]->type == JDOC_STRING && is_noise(w->in->id, env->items[i]->string))
			(void)jdoc_remove_item(env, i);
}
