/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-govern.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-end.h"
#include "oci/engine/engine-start.h"
#include "oci/runtime/runtime-apart.h"

struct creation {
	struct runtime_job *job;
	const struct engine_gate *gate;
};

static int create(void *arg, struct fault *f)
{
	struct creation *c = arg;
	int r = engine_gate_attach(c->gate, f);

	return r < 0 ? r : runtime_create(&c->job->call, engine_gate_text(c->gate), f);
}

static int create_apart(struct runtime_job *job, const struct engine_gate *gate,
			struct runtime_parent *parent, struct fault *f)
{
	struct creation c = { .job = job, .gate = gate };
	struct runtime_apart a = {
		.job = job, .keep = engine_gate_keep(gate), .run = create, .arg = &c, .parent = *parent
	};
	int r = runtime_apart_begin(&a, f);

	if (r >= 0)
		r = runtime_apart_wait(&a, f);
	*parent = a.parent;
	return r;
}

static int hand_over(const struct runtime_job *job, struct engine_gate *gate,
		     const struct runtime_parent *parent, struct fault *f)
{
	_cleanup_entry_ struct runtime_entry entry = { 0 };
	int r = runtime_entry_load(&job->call, &entry, f);

	if (r >= 0)
		r = runtime_parent_tell(parent, entry.pid, f);
	return r < 0 ? r : engine_gate_hand_over(gate, entry.pid, parent->near, f);
}

int runtime_create_supervised(struct runtime_job *job, struct engine_gate *gate, struct fault *f)
{
	_cleanup_free_ char *program = engine_gate_parent(gate);
	_cleanup_parent_ struct runtime_parent parent = RUNTIME_PARENT_NONE;
	int r = program ? runtime_parent_open(&parent, program, f) : fault_errno(f, ENOMEM, "container");

	if (r >= 0)
		r = create_apart(job, gate, &parent, f);
	if (r < 0)
		return r;
	r = hand_over(job, gate, &parent, f);
	if (r >= 0)
		return r;
	/* It must not keep a process that delete kills. */
	runtime_parent_done(&parent);
	(void)!runtime_delete(&job->call, true, NULL);
	return r;
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

/* A status that cannot be read counts as running. */
static bool is_over(const struct runtime_call *c)
{
	_cleanup_entry_ struct runtime_entry e = { 0 };
	int r = runtime_entry_load(c, &e, NULL);

	return r == -ENOENT || (r >= 0 && str_eq(e.status, "stopped"));
}

int runtime_start_governed(struct runtime_job *job, struct fault *f)
{
	_cleanup_engine_start_ struct engine_start s = ENGINE_START_NONE;
	_cleanup_free_ char *dir = dir_of(&job->call);
	_cleanup_entry_ struct runtime_entry entry = { 0 };
	_cleanup_fault_ struct fault why = { 0 };
	int r;

	if (!dir)
		return fault_errno(f, ENOMEM, "start");
	r = engine_start_ask(dir, &s, f);
	/* In the words that engines expect.  libcrun must not look again: the container may have been created meanwhile. */
	if (r == -ENOENT && runtime_entry_load(&job->call, &entry, NULL) == -ENOENT)
		return fault_set(f, ENOENT, "container '%s' does not exist", job->call.id);
	if (r < 0)
		return kill_refused(&job->call, r);
	r = runtime_start(&job->call, f);
	if (r < 0)
		return r;
	r = engine_start_report(&s, &why);
	/* The command has ended already: its warden does not answer any more, and nothing runs without it. */
	if (r >= 0 || (r == -EPIPE && is_over(&job->call)))
		return 0;
	return kill_refused(&job->call, fault_set(f, -r, "%s", fault_text(&why)));
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
