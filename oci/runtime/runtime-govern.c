/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-govern.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "oci/engine/engine-end.h"
#include "oci/engine/engine-start.h"
#include "oci/runtime/runtime-apart.h"

struct creation {
	struct runtime_job *job;
	const char *config;
};

static int create(void *arg, struct fault *f)
{
	struct creation *c = arg;

	return runtime_create(&c->job->call, c->config, f);
}

int runtime_create_apart(struct runtime_job *job, const char *config, struct fault *f)
{
	struct creation c = { .job = job, .config = config };
	struct runtime_apart a = { .job = job, .keep = -EBADF, .run = create, .arg = &c };
	int r = runtime_apart_begin(&a, f);

	return r < 0 ? r : runtime_apart_wait(&a, f);
}

static char *dir_of(const struct runtime_call *c)
{
	return path_join(c->state_root, c->id);
}

static int kill_refused(const struct runtime_call *c, int r)
{
	(void)!runtime_kill(c, "KILL", false, NULL);
	return r;
}

/*
 * The warden of a container that has ended has recorded its end and exits, with or without an answer.  If it was killed, the
 * container may run unproven.
 */
static bool has_ended(const struct runtime_call *c)
{
	_cleanup_entry_ struct runtime_entry entry = { 0 };

	return runtime_entry_load(c, &entry, NULL) == 0 && entry.pid == 0;
}

int runtime_start_governed(struct runtime_job *job, struct fault *f)
{
	_cleanup_engine_start_ struct engine_start s = ENGINE_START_NONE;
	_cleanup_free_ char *dir = dir_of(&job->call);
	_cleanup_entry_ struct runtime_entry entry = { 0 };
	int r;

	if (!dir)
		return fault_errno(f, ENOMEM, "start");
	r = engine_start_ask(dir, &s, f);
	/* libcrun reports a missing container in the words that engines expect. */
	if (r == -ENOENT && runtime_entry_load(&job->call, &entry, NULL) == -ENOENT)
		return runtime_start(&job->call, f);
	if (r < 0)
		return kill_refused(&job->call, r);
	r = runtime_start(&job->call, f);
	if (r < 0)
		return r;
	r = engine_start_report(&s, f);
	if (r == -EPIPE && has_ended(&job->call)) {
		fault_done(f);
		return 0;
	}
	return r < 0 ? kill_refused(&job->call, r) : 0;
}

int runtime_delete_governed(const struct runtime_call *c, bool force, struct fault *f)
{
	_cleanup_engine_end_ struct engine_end e = ENGINE_END_NONE;
	_cleanup_free_ char *dir = dir_of(c);
	int r;

	if (!dir)
		return fault_errno(f, ENOMEM, "delete");
	/* The record is removed with the container. */
	engine_end_begin(dir, c->id, &e);
	r = runtime_delete(c, force, f);
	return r < 0 ? r : engine_end_wait(&e, f);
}
