/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-gate.h"
#include "oci/runtime/runtime-config.h"
#include "oci/runtime/runtime-govern.h"
#include "oci/runtime/runtime-guard.h"
#include "oci/runtime/runtime-record.h"
#include "oci/runtime/runtime-root.h"
#include "oci/runtime/runtime-verbs.h"
#include "oci/runtime/runtime-version.h"

/* Changes to the bundle; --config is relative to the previous working directory. */
static int enter_bundle(const struct runtime_job *job, char **ret_bundle, char **ret_config, struct fault *f)
{
	const struct runtime_options *o = job->options;
	_cleanup_free_ char *bundle = NULL, *config = NULL;

	bundle = realpath(o->bundle ? o->bundle : ".", NULL);
	if (!bundle)
		return fault_errno(f, errno, "bundle '%s'", o->bundle ? o->bundle : ".");
	if (o->config && !str_eq(o->config, "config.json")) {
		config = realpath(o->config, NULL);
		if (!config)
			return fault_errno(f, errno, "config '%s'", o->config);
	}
	if (chdir(bundle) < 0)
		return fault_errno(f, errno, "change to bundle '%s'", bundle);
	if (!config)
		config = path_join(bundle, "config.json");
	if (!config)
		return fault_errno(f, ENOMEM, "bundle");
	*ret_bundle = TAKE_PTR(bundle);
	*ret_config = TAKE_PTR(config);
	return 0;
}

struct bundle {
	char *path, *config_path;
	struct runtime_json config;
};

static void bundle_done(struct bundle *b)
{
	free(b->path);
	free(b->config_path);
	runtime_json_done(&b->config);
}
#define _cleanup_bundle_ _cleanup_(bundle_done)

static void report_ignored(const struct runtime_call *c, const struct strbuf *names)
{
	_cleanup_free_ char *text = NULL;

	if (names->len > 0 && !names->broken &&
	    asprintf(&text,
		     "config.json: ignoring %s: in no OCI runtime specification up to " RUNTIME_SPEC_MAX,
		     names->text) >= 0)
		c->report(c->report_arg, 0, text, true);
}

/* All checks that are possible before libcrun creates anything. */
static int prepare(struct runtime_job *job, struct bundle *b, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf ignored = { 0 };
	int r = 0;

	if (job->call.systemd_cgroup)
		r = runtime_need_systemd(job, f);
	if (r == 0)
		r = runtime_guard_enter(NULL, job->argv, f);
	if (r < 0)
		return r;
	r = enter_bundle(job, &b->path, &b->config_path, f);
	if (r < 0)
		return r;
	job->call.bundle = b->path;
	r = runtime_json_load(b->config_path, &b->config, f);
	if (r < 0)
		return r;
	r = runtime_config_require(&b->config, b->path, job->call.notify_socket, &ignored, f);
	if (r < 0)
		return r;
	report_ignored(&job->call, &ignored);
	runtime_version_adapt(&b->config, runtime_libcrun());
	return runtime_root_make(job->root, f);
}

/* Without a record later calls could not handle the container: delete it. */
static int record(const struct runtime_job *job, const struct bundle *b, struct jdoc *governed,
		  struct fault *f)
{
	int r = runtime_record_write(job->root, job->call.id, b->config_path, governed, f);

	if (r < 0)
		(void)!runtime_delete(&job->call, true, NULL);
	return r;
}

/* Decides; *RET_GATE NULL: the container is not governed. */
static int decide(struct runtime_job *job, const struct bundle *b, struct engine_gate **ret_gate,
		  struct fault *f)
{
	const struct engine_call call = { .id = job->call.id,
					  .bundle = b->path,
					  .text = b->config.text,
					  .len = strlen(b->config.text),
					  .profile = job->options->profile,
					  .lane = job->options->lane,
					  .allow_prod = job->options->allow_prod,
					  .argv = job->argv,
					  .no_cgroup = job->call.no_cgroup,
					  .preserved = (unsigned int)job->call.preserve_fds,
					  .stays = job->options->verb == VERB_RUN && !job->options->detach };

	return engine_gate_open(&call, ret_gate, f);
}

static int create_governed(struct runtime_job *job, struct bundle *b, struct engine_gate *gate,
			   struct fault *f)
{
	int r = runtime_create_supervised(job, gate, f);

	return r < 0 ? engine_gate_refuse(gate, r, f) : record(job, b, engine_gate_record(gate), f);
}

static int create(struct runtime_job *job, struct bundle *b, struct engine_gate *gate, struct fault *f)
{
	int r;

	if (gate)
		return create_governed(job, b, gate, f);
	r = runtime_create(&job->call, b->config.text, f);
	return r < 0 ? r : record(job, b, NULL, f);
}

int runtime_verb_create(struct runtime_job *job, struct fault *f)
{
	_cleanup_engine_gate_ struct engine_gate *gate = NULL;
	_cleanup_bundle_ struct bundle b = { 0 };
	int r = prepare(job, &b, f);

	if (r >= 0)
		r = decide(job, &b, &gate, f);
	return r < 0 ? r : create(job, &b, gate, f);
}

/*
 * run --keep: like libcrun's run, but the state is kept.  Signals are blocked since create: they are received one by one and
 * forwarded, except SIGCHLD.
 */
static int wait_for_exit(pid_t pid)
{
	sigset_t all;

	sigfillset(&all);
	for (;;) {
		int status, sig;
		pid_t ended;

		while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
			if (ended == pid)
				return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		sig = sigwaitinfo(&all, NULL);
		if (sig > 0 && sig != SIGCHLD)
			(void)kill(pid, sig);
	}
}

static int run_and_keep(struct runtime_job *job, struct bundle *b, struct engine_gate *gate, struct fault *f)
{
	_cleanup_entry_ struct runtime_entry entry = { 0 };
	sigset_t all;
	int r;

	/* With a user namespace the container's first process is a grandchild, not a child. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return fault_errno(f, errno, "become the subreaper of the container");
	r = create(job, b, gate, f);
	if (r == 0)
		r = runtime_entry_load(&job->call, &entry, f);
	/* A governed container was created by a child. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	if (r == 0)
		r = gate ? runtime_start_governed(job, f) : runtime_start(&job->call, f);
	return r < 0 ? r : wait_for_exit(entry.pid);
}

/* libcrun's run would start it before the warden knows it. */
static int run_governed(struct runtime_job *job, struct bundle *b, struct engine_gate *gate, struct fault *f)
{
	int status = 0, r;

	if (job->options->detach) {
		r = create(job, b, gate, f);
		return r < 0 ? r : runtime_start_governed(job, f);
	}
	status = run_and_keep(job, b, gate, f);
	if (job->options->keep)
		return status;
	r = runtime_delete_governed(&job->call, true, status < 0 ? NULL : f);
	return status < 0 ? status : r < 0 ? r : status;
}

int runtime_verb_run(struct runtime_job *job, struct fault *f)
{
	_cleanup_engine_gate_ struct engine_gate *gate = NULL;
	_cleanup_bundle_ struct bundle b = { 0 };
	int status = 0, r = prepare(job, &b, f);

	if (r >= 0)
		r = decide(job, &b, &gate, f);
	if (r < 0)
		return r;
	if (gate)
		return run_governed(job, &b, gate, f);
	if (job->options->keep && !job->options->detach)
		return run_and_keep(job, &b, NULL, f);
	r = runtime_run(&job->call, b.config.text, &status, f);
	if (r == 0 && job->options->detach)
		r = record(job, &b, NULL, f);
	return r < 0 ? r : status;
}
