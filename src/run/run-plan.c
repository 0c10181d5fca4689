/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "layer/layer.h"
#include "profile/profile-open.h"
#include "run/run-ids.h"
#include "run/run-limits.h"
#include "subject/own-dirs.h"
#include "subject/subject-digest.h"
#include "subject/subject-json.h"
#include "subject/subject-redact.h"

extern char **environ;

void run_plan_done(struct run_plan *d)
{
	verdict_free(d->verdict);
	jdoc_free(d->document);
	subject_free(d->subject);
	run_base_done(&d->base);
	strv_free(d->hide);
	broker_tools_done(&d->broker);
	free(d->ids.why);
	sandbox_root_free(d->root);
	home_dir_free(d->home);
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
static int enter_root(struct run_plan *d, const char *name, bool disposable, struct fault *f)
{
	int r = 0;

	if (!name || d->root)
		return 0;
	d->refused = "sandbox";
	if (disposable && d->makes_root)
		r = sandbox_root_make_disposable(&d->dirs, name, f);
	if (r >= 0)
		r = sandbox_root_open(&d->dirs, name, d->makes_root ? SANDBOX_RUN : SANDBOX_LOOK, &d->root,
				      f);
	if (r >= 0)
		r = sandbox_root_check_stamp(d->root, d->dirs.lane, f);
	if (r < 0 || !disposable || d->root->disposable)
		return r;
	return fault_set(
		f, EEXIST,
		"sandbox root '%s' was made without --disposable, so its content is kept: choose another "
		"name, omit --disposable, or remove it with all its content: rm -r '%s'",
		name, d->root->path);
}

static int require_root(const struct run_plan *d, const struct run_options *o, struct fault *f)
{
	if (!o->disposable || d->root)
		return 0;
	return fault_set(f, EINVAL,
			 "--disposable concerns a sandbox root, and this run has none: add --sandbox NAME");
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
	r = project_find(d->dirs.caller_homes, &d->project, f);
	if (r < 0)
		return r;
	d->asked.workspace_source = d->project.top;
	rq->below = d->project.below;
	rq->git = d->project.git.repository ? &d->project.git : NULL;
	return 0;
}

/* The home that stays, of the project whose worktree the subject will have. */
static int enter_home(struct run_plan *d, const struct run_options *o, struct subject_request *rq,
		      struct fault *f)
{
	const char *word = o->home ? o->home : d->profile->process_home, *name = NULL;
	_cleanup_free_ char *worktree = NULL;
	char id[HOME_ID_SIZE];
	int r;

	/* doctor tests the layers on a decoy, not on a project. */
	r = o->canary || !word ? 0 : home_word_parse(word, &name, f);
	if (r <= 0)
		return r;
	d->refused = "home";
	if (d->asked.workspace == PROFILE_WORKSPACE_TMPFS)
		return fault_set(
			f, EINVAL,
			"a home is kept for a project, and the worktree of profile '%s' is in memory "
			"(workspace.mode tmpfs): use --home memory",
			d->profile->name);
	r = subject_resolve_worktree(&d->asked, &worktree, f);
	if (r == 0)
		r = home_dir_name(worktree, name, id, f);
	if (r == 0)
		r = home_dir_open(&d->dirs, id, worktree, d->makes_root ? HOME_RUN : HOME_LOOK, &d->home, f);
	rq->kept_home = d->home;
	d->refused = "subject";
	return r;
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
static int apply_options(struct profile *p, const struct run_options *o, struct fault *f)
{
	for (char **list = o->without; list && *list; list++) {
		uint32_t limits;
		int r = run_limits_parse(*list, &limits, f);

		if (r < 0)
			return r;
		p->optional |= limits;
	}
	set_limit(p, &p->limit_memory, o->set_memory, o->memory, LAYER_MEMORY_LIMIT);
	set_limit(p, &p->limit_pids, o->set_pids, o->pids, LAYER_PIDS_LIMIT);
	set_limit(p, &p->limit_cpu_percent, o->set_cpu, o->cpu_percent, LAYER_CPU_LIMIT);
	set_limit(p, &p->limit_time_s, o->set_timeout, o->timeout_s, LAYER_TIME_LIMIT);
	p->fs_tools |= o->tools;
	p->workspace_show_secrets |= o->show_secrets;
	if (!o->network)
		return 0;
	if (strcmp(o->network, "host") == 0) {
		p->network = PROFILE_NETWORK_HOST;
		p->layers &= ~LAYER_BIT(LAYER_NET_NS);
	} else {
		p->network = PROFILE_NETWORK_NONE;
		p->layers |= LAYER_BIT(LAYER_NET_NS);
	}
	return 0;
}

static int continue_session(struct run_plan *d, const struct run_options *o, struct subject_request *rq,
			    struct fault *f)
{
	const struct run_base_ask ask = { .dirs = &d->dirs,
					  .profile = &d->asked,
					  .in_root = d->root != NULL,
					  .git = rq->git,
					  .session = o->session,
					  .by_default = !o->continued,
					  .restarted = o->restarted };
	int r;

	if (!o->continued && (o->fresh || o->canary || !d->asked.workspace_continue))
		return o->restarted ? fault_set(f, EINVAL, "--restarted concerns --continue: add it") : 0;
	r = run_base_open(&ask, &d->base, f);
	if (d->base.open)
		rq->continued = &d->base.tree.subject;
	if (d->base.repository.open)
		rq->continued_repository = &d->base.repository.subject;
	return r;
}

/* The subject has the declarations of the tools, not only their names. */
static int resolve_tools(struct run_plan *d, const struct run_options *o, struct fault *f)
{
	int r;

	/* doctor's program calls none. */
	if (o->canary) {
		d->asked.sections[PROFILE_SECTION_BROKER] = NULL;
		return 0;
	}
	r = broker_tools_resolve(d->config, &d->asked, d->dirs.lane, &d->broker, f);
	if (r == 0)
		d->asked.sections[PROFILE_SECTION_BROKER] = d->broker.section;
	return r;
}

static int build(struct run_plan *d, const struct run_options *o, struct fault *f)
{
	_cleanup_own_dirs_ struct own_dirs own;
	struct subject_request rq = { .lane = d->dirs.lane,
				      .base = d->profile,
				      .argv = o->argv,
				      .env = o->env,
				      .volumes = o->volumes,
				      .workdir = o->workdir,
				      .hostname = o->hostname,
				      .home = d->dirs.home,
				      .caller_homes = d->dirs.caller_homes,
				      .own = &own,
				      .environ = environ,
				      .seal = o->seal_tree ? OPERAND_SEAL_TREE
					      : o->no_seal ? OPERAND_SEAL_NONE
							   : OPERAND_SEAL_NAMED };
	int r;

	own_dirs_init(&own, &d->dirs);
	d->asked = *d->profile;
	r = apply_options(&d->asked, o, f);
	if (r == 0)
		r = resolve_tools(d, o, f);
	if (r < 0)
		return r;
	/* doctor's program must not find the decoy at the path that it has on the host. */
	if (o->canary && !d->asked.workspace_target)
		d->asked.workspace_target = (char *)PROFILE_TARGET_FIXED;
	r = work_in_root(d, &rq, f);
	if (r == 0)
		r = work_in_project(d, o, &rq, f);
	if (r == 0)
		r = enter_home(d, o, &rq, f);
	if (r < 0)
		return r;
	/* doctor tests the layers of a prod profile with its own program, in the sandbox lane. */
	r = o->canary ? 0 : profile_require_lane(&d->asked, d->dirs.lane, f);
	if (r >= 0)
		r = continue_session(d, o, &rq, f);
	if (r >= 0)
		r = subject_build(&d->asked, &rq, &d->subject, f);
	if (r >= 0)
		r = subject_require_apart(d->subject, &own, f);
	if (r >= 0)
		r = subject_hide_own(d->subject, &own, &d->hide, f);
	if (r >= 0)
		r = run_ids_choose(d, f);
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

/* For people: a program that starts custody often would get the same lines each time. */
static void print_remarks(const struct subject *s)
{
	bool person = isatty(STDERR_FILENO);

	for (char **r = s->remarks; r && *r; r++)
		if (person)
			log_info("%s", *r);
		else
			log_verbose("%s", *r);
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
	r = enter_root(d, o->sandbox, o->disposable, f);
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
	r = o->canary ? 0 : enter_root(d, d->profile->workspace_sandbox, o->disposable, f);
	if (r >= 0)
		r = require_root(d, o, f);
	if (r < 0)
		return r;
	d->refused = "subject";
	r = build(d, o, f);
	if (r >= 0)
		print_remarks(d->subject);
	return r;
}

int run_plan_fix_secrets(struct run_plan *d, struct fault *f)
{
	for (char **p = d->subject->secrets; p && *p; p++)
		if (strv_append(&d->hide, *p) < 0)
			return fault_errno(f, ENOMEM, "secrets");
	d->asked.fs_hide = d->hide;
	strv_free(d->subject->secrets);
	d->subject->secrets = NULL;
	return 0;
}

/* The words that the document shows, by the rules of the records. */
static int redact(struct run_plan *d, struct fault *f)
{
	_cleanup_config_redact_ struct config_redact rules = { 0 };
	_cleanup_strv_ char **flags = NULL;
	int r = config_redact_flags(d->profile, &flags, f);

	if (r >= 0)
		r = config_redact_set(&rules, d->config, flags, f);
	return r < 0 ? r : subject_redact(d->subject, &rules.rules, &d->key, f);
}

int run_plan_digest(struct run_plan *d, const struct run_options *o, struct fault *f)
{
	int r;

	d->refused = "digest";
	r = digest_key_load(&d->dirs, d->config->digest_key, !o->dry_run, &d->key, f);
	if (r >= 0)
		r = redact(d, f);
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
		.standing = true,
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
