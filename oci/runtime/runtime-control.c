/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "oci/runtime/runtime-govern.h"
#include "oci/runtime/runtime-signal.h"
#include "oci/runtime/runtime-verbs.h"

int runtime_verb_start(struct runtime_job *job, struct fault *f)
{
	return runtime_start_governed(job, f);
}

int runtime_verb_pause(struct runtime_job *job, struct fault *f)
{
	return runtime_pause(&job->call, f);
}

int runtime_verb_resume(struct runtime_job *job, struct fault *f)
{
	return runtime_resume(&job->call, f);
}

static bool is_paused(const struct runtime_call *c)
{
	_cleanup_entry_ struct runtime_entry e = { 0 };

	return runtime_entry_load(c, &e, NULL) == 0 && str_eq(e.status, "paused");
}

/* kill or delete of one container; ARG depends on the verb. */
typedef int (*act_fn)(const struct runtime_call *c, const void *arg, struct fault *f);

struct kill_how {
	int signal;
	bool all;
};

static int kill_one(const struct runtime_call *c, const void *arg, struct fault *f)
{
	const struct kill_how *how = arg;
	char number[16];
	int r;

	/* A frozen v1 cgroup delays even SIGKILL.  Send it before the thaw, so that no process runs in between. */
	bool thaw = how->signal == SIGKILL && is_paused(c);

	(void)snprintf(number, sizeof(number), "%d", how->signal);
	r = runtime_kill(c, number, how->all, f);
	if (r == 0 && thaw)
		(void)!runtime_resume(c, NULL);
	return r;
}

static int delete_one(const struct runtime_call *c, const void *arg, struct fault *f)
{
	bool force = *(const bool *)arg;
	_cleanup_entry_ struct runtime_entry e = { 0 };
	bool known = runtime_entry_load(c, &e, NULL) == 0;

	if (known && !force && (str_eq(e.status, "running") || str_eq(e.status, "paused")))
		return fault_set(f, EBUSY,
				 "cannot delete container '%s' that is not stopped: %s; "
				 "custody-runtime kill %s KILL stops it, delete --force does both",
				 c->id, e.status, c->id);
	if (known && str_eq(e.status, "paused")) {
		(void)!runtime_kill(c, "KILL", false, NULL);
		(void)!runtime_resume(c, NULL);
	}
	return runtime_delete_governed(c, force, f);
}

/* --regex: all matching containers; a failure is reported at once and does not stop the others. */
static int act_on_matches(struct runtime_job *job, act_fn act, const void *arg, struct fault *f)
{
	_cleanup_strv_ char **ids = NULL;
	struct runtime_call c = job->call;
	int r, failed = 0;
	regex_t re;

	if (regcomp(&re, c.id, REG_EXTENDED | REG_NOSUB) != 0)
		return fault_set(f, EINVAL, "'%s' is not an extended regular expression", c.id);
	r = runtime_ids(&c, &ids, f);
	for (size_t i = 0; r == 0 && ids && ids[i]; i++) {
		_cleanup_fault_ struct fault one = { 0 };

		c.id = ids[i];
		if (regexec(&re, ids[i], 0, NULL, 0) == 0 && act(&c, arg, &one) < 0) {
			runtime_log_fault(job->log, &one);
			failed = 1;
		}
	}
	regfree(&re);
	return r < 0 ? r : failed;
}

int runtime_verb_kill(struct runtime_job *job, struct fault *f)
{
	const struct runtime_options *o = job->options;
	struct kill_how how = { .all = o->all };
	int r = runtime_signal_parse(o->n_args > 1 ? o->args[1] : "TERM", &how.signal, f);

	if (r < 0)
		return r;
	if (o->regex)
		return act_on_matches(job, kill_one, &how, f);
	return kill_one(&job->call, &how, f);
}

/* The unit of a container under systemd is stopped over D-Bus, which only custody-runtime-systemd can do. */
static int go_where_systemd_is(struct runtime_job *job, struct fault *f)
{
	_cleanup_strv_ char **ids = NULL;
	struct runtime_call c = job->call;
	int r;

	if (runtime_has_systemd)
		return 0;
	r = job->options->regex ? runtime_ids(&c, &ids, f) : strv_append(&ids, c.id);
	for (size_t i = 0; r == 0 && ids && ids[i]; i++) {
		_cleanup_entry_ struct runtime_entry e = { 0 };

		c.id = ids[i];
		if (runtime_entry_load(&c, &e, NULL) == 0 && e.systemd_cgroup)
			r = runtime_need_systemd(job, f);
	}
	return r;
}

int runtime_verb_delete(struct runtime_job *job, struct fault *f)
{
	bool force = job->options->force;
	int r = go_where_systemd_is(job, f);

	if (r < 0)
		return r;
	if (job->options->regex)
		return act_on_matches(job, delete_one, &force, f);
	return delete_one(&job->call, &force, f);
}
