/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layer/layer.h"
#include "profile/profile-open.h"
#include "subject/subject-digest.h"
#include "subject/subject-json.h"

extern char **environ;

void run_plan_done(struct run_plan *d)
{
	verdict_free(d->verdict);
	jdoc_free(d->document);
	subject_free(d->subject);
	strv_free(d->hide);
	sandbox_root_free(d->root);
	project_done(&d->project);
	profile_free(d->profile);
	config_free(d->config);
	dirs_done(&d->dirs);
	digest_key_done(&d->key);
	*d = (struct run_plan){ 0 };
}

int run_plan_place(const struct run_options *o, struct run_plan *d, struct fault *f)
{
	enum lane lane = LANE_SANDBOX;
	int r;

	*d = (struct run_plan){ 0 };
	r = dirs_load(&d->dirs, f);
	d->refused = "config";
	if (r >= 0)
		r = config_load(&d->dirs, &d->config, f);
	if (r >= 0) {
		d->refused = "lane";
		r = config_lane(d->config, o->lane, &lane, f);
	}
	if (r < 0 || lane == d->dirs.lane)
		return r;
	dirs_done(&d->dirs);
	d->dirs = (struct dirs){ 0 };
	return dirs_load_lane(lane, &d->dirs, f);
}

/* Created at its first use: its device and inode are part of the subject. */
static int enter_root(struct run_plan *d, const char *name, struct fault *f)
{
	if (!name || d->root)
		return 0;
	d->refused = "sandbox";
	return sandbox_root_open(&d->dirs, name, d->makes_root ? SANDBOX_RUN : SANDBOX_LOOK, &d->root, f);
}

static int work_in_root(struct run_plan *d, struct subject_request *rq, struct fault *f)
{
	if (!d->root)
		return 0;
	d->asked.workspace = profile_sandbox_mode(d->profile);
	d->asked.workspace_source = d->root->workspace;
	rq->sandbox = d->root;
	if (d->asked.workspace != PROFILE_WORKSPACE_TMPFS)
		return 0;
	return fault_set(
		f, EINVAL,
		"profile '%s' keeps the worktree in memory (workspace.mode tmpfs): it cannot work in "
		"sandbox root '%s'; choose another profile, or omit --sandbox",
		d->profile->name, d->root->name);
}

/* The worktree is the project, and the command starts where the caller is. */
static int work_in_project(struct run_plan *d, const struct run_options *o, struct subject_request *rq,
			   struct fault *f)
{
	int r;

	if (d->root || o->here || o->canary || profile_has_source(d->profile) ||
	    d->asked.workspace == PROFILE_WORKSPACE_TMPFS)
		return 0;
	r = project_find(d->dirs.home, &d->project, f);
	if (r < 0)
		return r;
	d->asked.workspace_source = d->project.top;
	rq->below = d->project.below;
	return 0;
}

static void set_limit(struct profile *p, uint64_t *limit, bool given, uint64_t value, enum layer l)
{
	if (!given)
		return;
	*limit = value;
	if (value)
		p->layers |= LAYER_BIT(l);
}

/*
 * The caller may lower or raise the limits of the profile.  The result goes into the subject, so policy and approver
 * see the limits that will hold.
 */
static void apply_options(struct profile *p, const struct run_options *o)
{
	set_limit(p, &p->limit_memory, o->set_memory, o->memory, LAYER_MEMORY_LIMIT);
	set_limit(p, &p->limit_pids, o->set_pids, o->pids, LAYER_PIDS_LIMIT);
	set_limit(p, &p->limit_cpu_percent, o->set_cpu, o->cpu_percent, LAYER_CPU_LIMIT);
	set_limit(p, &p->limit_time_s, o->set_timeout, o->timeout_s, LAYER_TIME_LIMIT);
	if (!o->network)
		return;
	if (strcmp(o->network, "host") == 0) {
		p->network = PROFILE_NETWORK_HOST;
		p->layers &= ~LAYER_BIT(LAYER_NET_NS);
	} else {
		p->network = PROFILE_NETWORK_NONE;
		p->layers |= LAYER_BIT(LAYER_NET_NS);
	}
}

static int build(struct run_plan *d, const struct run_options *o, struct fault *f)
{
	struct subject_request rq = { .lane = d->dirs.lane,
				      .base = d->profile,
				      .argv = o->argv,
				      .env = o->env,
				      .volumes = o->volumes,
				      .workdir = o->workdir,
				      .hostname = o->hostname,
				      .home = d->dirs.home,
				      .dirs = &d->dirs,
				      .environ = environ,
				      .seal = o->seal_tree ? OPERAND_SEAL_TREE
					      : o->no_seal ? OPERAND_SEAL_NONE
							   : OPERAND_SEAL_NAMED };
	int r;

	d->asked = *d->profile;
	apply_options(&d->asked, o);
	/* doctor's program must not find the decoy at the path that it has on the host. */
	if (o->canary && !d->asked.workspace_target)
		d->asked.workspace_target = (char *)PROFILE_TARGET_FIXED;
	r = work_in_root(d, &rq, f);
	if (r == 0)
		r = work_in_project(d, o, &rq, f);
	if (r < 0)
		return r;
	/* doctor tests the layers of a prod profile with its own program, in the sandbox lane. */
	r = o->canary ? 0 : profile_require_lane(&d->asked, d->dirs.lane, f);
	if (r >= 0)
		r = subject_build(&d->asked, &rq, &d->subject, f);
	if (r >= 0)
		r = subject_require_apart(d->subject, &d->dirs, f);
	if (r >= 0)
		r = subject_hide_own(d->subject, &d->dirs, &d->hide, f);
	if (r >= 0)
		d->asked.fs_hide = d->hide;
	return r;
}

/* The command line, CUSTODY_PROFILE, the worktree, custody.json: the first that names one. */
static int open_profile(const struct run_options *o, const char *session, struct run_plan *d, struct fault *f)
{
	const char *workspace = d->root ? d->root->workspace : NULL, *env = getenv(CONFIG_PROFILE_ENV);

	if (o->profile || (env && *env))
		return profile_open(&d->dirs, o->profile ? o->profile : d->config->profile, session,
				    workspace, &d->profile, f);
	return profile_open_default(&d->dirs, d->config->profile, session, workspace, &d->profile, f);
}

int run_plan_open(const struct run_options *o, const char *session, struct run_plan *ret, struct fault *f)
{
	struct run_plan *d = ret;
	int r;

	/* In place: the subject borrows the profile. */
	r = d->config ? 0 : run_plan_place(o, d, f);
	if (r < 0)
		return r;
	/* Before anything else can be refused: its log records refusals. */
	r = enter_root(d, o->sandbox, f);
	if (r < 0)
		return r;
	d->refused = "profile";
	r = open_profile(o, session, d, f);
	if (r < 0)
		return r;
	d->refused = "unsupported";
	r = profile_require_supported(d->profile, f);
	if (r < 0)
		return r;
	/* doctor tests the layers on its own decoy, not in a sandbox root. */
	r = o->canary ? 0 : enter_root(d, d->profile->workspace_sandbox, f);
	if (r < 0)
		return r;
	d->refused = "subject";
	return build(d, o, f);
}

int run_plan_digest(struct run_plan *d, const struct run_options *o, struct fault *f)
{
	int r;

	d->refused = "digest";
	r = digest_key_load(&d->dirs, d->config->digest_key, !o->dry_run, &d->key, f);
	if (r >= 0)
		r = subject_to_json(d->subject, &d->key, &d->document, f);
	if (r >= 0)
		r = subject_digest(d->document, &d->digest, f);
	if (r == -ENOENT && o->dry_run) {
		fault_done(f);
		r = 0;
	}
	return r;
}

struct decision_question run_plan_question(const struct run_plan *d, const struct run_options *o)
{
	return (struct decision_question){
		.subject = d->subject,
		.document = d->document,
		.digest = &d->digest,
		.provenance = o->provenance,
		.security = SECURITY_OFF,
		.governance = d->profile->sections[PROFILE_SECTION_GOVERNANCE],
		.exempt = o->canary ? "doctor" : NULL,
	};
}

int run_plan_judge(struct run_plan *d, const struct run_options *o, struct fault *f)
{
	struct decision_question q;
	int r = run_plan_digest(d, o, f);

	if (r < 0)
		return r;
	d->refused = "policy";
	q = run_plan_question(d, o);
	return decision_verdict(&q, d->config, &d->verdict, f);
}
