/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "cli/run-call.h"
#include "run/run-limits.h"
#include "run/run-plan.h"
#include "run/run-options.h"
#include "base/exit-status.h"
#include "oci/bundle/hook-args.h"
#include "oci/bundle/bundle-dir.h"

/* Arguments of the bundle's hook: the state directory that it uses and its security profile. */
static int write_terms(const struct run_options *o, const struct run_plan *d, char ***ret, struct fault *f)
{
	_cleanup_hook_args_ struct hook_args t = { .lane = d->dirs.lane,
						   .allow_prod = o->allow_prod,
						   .security = d->verdict->axes.profile };
	const struct jdoc *governance = d->profile->sections[PROFILE_SECTION_GOVERNANCE];
	const struct jdoc *forensics = d->profile->sections[PROFILE_SECTION_FORENSICS];
	int r;

	if (o->provenance) {
		t.taints = strv_copy(o->provenance);
		if (!t.taints)
			return fault_errno(f, ENOMEM, "bundle");
	}
	if (governance)
		t.governance = jdoc_copy(governance);
	if (forensics)
		t.forensics = jdoc_copy(forensics);
	if ((governance && !t.governance) || (forensics && !t.forensics))
		return fault_errno(f, ENOMEM, "bundle");
	r = config_redact_flags(d->profile, &t.redact, f);
	if (r >= 0)
		r = hook_args_take_env(&t, f);
	return r < 0 ? r : hook_args_write(&t, ret, f);
}

/* The directory need not exist yet. */
static int require_unwritable(const char *dir, const struct subject *s, struct fault *f)
{
	_cleanup_free_ char *cwd = dir[0] == '/' ? NULL : getcwd(NULL, 0), *full = NULL;

	if (dir[0] != '/' && !cwd)
		return fault_errno(f, errno, "--output '%s'", dir);
	full = cwd ? path_join(cwd, dir) : strdup(dir);
	return full ? subject_require_bundle(s, full, f) : fault_errno(f, ENOMEM, "--output '%s'", dir);
}

static int write_bundle(const struct command_call *c, const struct run_plan *d, struct fault *f)
{
	_cleanup_strv_ char **approve = NULL;
	_cleanup_free_ char *init = path_join(d->dirs.libexec, "custody-init"),
			    *hook = path_join(d->dirs.libexec, "custody-hook");
	struct bundle_request rq = { .dir = c->output,
				     .init = init,
				     .hook = hook,
				     .run = d->dirs.run,
				     .key = &d->key,
				     .force = c->force };
	int r;

	if (!init || !hook)
		return fault_errno(f, ENOMEM, "bundle");
	if (access(init, X_OK) < 0 || access(hook, X_OK) < 0)
		return fault_errno(f, errno, "custody-init and custody-hook in '%s': run 'make install'",
				   d->dirs.libexec);
	r = require_unwritable(c->output, d->subject, f);
	if (r >= 0)
		r = write_terms(&c->run, d, &approve, f);
	rq.approve = approve;
	return r < 0 ? r : bundle_write(&rq, d->subject, f);
}

/* A user's bundle: the runtime is not asked for limits that may be missing (oci/bundle/bundle.c). */
static void warn_of_limits(const struct run_plan *d)
{
	const uint32_t without = d->subject->layers & d->asked.optional & RUN_LIMITS_ALL;
	_cleanup_strbuf_ struct strbuf names = { 0 };

	if (!d->dirs.rootless || !without)
		return;
	run_limits_put_names(&names, without, ", ");
	log_notice("without %s: this bundle asks its runtime for no such limit",
		   names.broken ? "limits" : names.text);
}

static int make(const struct command_call *c, struct fault *f)
{
	_cleanup_run_plan_ struct run_plan d = { 0 };
	int r;

	r = run_plan_place(&c->run, &d, f);
	/* Another runtime would map the ids, and return no file to the caller. */
	d.one_id = true;
	/* `${session}` is the session that runs a profile; a bundle has no session yet. */
	if (r >= 0)
		r = run_plan_open(&c->run, "bundle", &d, f);
	if (r >= 0)
		r = run_plan_fix_secrets(&d, f);
	if (r >= 0)
		r = profile_require_portable(d.profile, f);
	if (r >= 0 && d.project.git.repository)
		r = fault_set(f, ENOTSUP,
			      "the worktree's repository '%s' is another directory, with changes that only "
			      "'custody run' keeps for a review: use --here, without the repository",
			      d.project.git.repository);
	if (r >= 0)
		r = run_plan_judge(&d, &c->run, f);
	if (r >= 0)
		r = write_bundle(c, &d, f);
	if (r >= 0)
		warn_of_limits(&d);
	return r;
}

int cmd_bundle(struct command_call *c, struct fault *f)
{
	int r;

	/* A profile that keeps the home is refused by its name, and not because no home exists yet. */
	c->run.home = "memory";
	log_init(PACKAGE_NAME, LOG_LEVEL_INFO);
	if (!c->output[0])
		return dispatch_usage(c, "--output: the name of the directory is empty");
	r = run_call_finish(c, f);
	if (r < 0)
		return dispatch_usage(c, "%s", fault_text(f));
	/* workspace.continue concerns runs of custody itself. */
	c->run.fresh = true;
	r = make(c, f);
	return r < 0 ? r : STATUS_OK;
}
