/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/docket.h"

#include <errno.h>

#include "core/facts.h"
#include "cli/profile-open.h"
#include "cli/session-run.h"
#include "core/subject-digest.h"
#include "core/subject-json.h"

extern char **environ;

void docket_done(struct docket *d)
{
	verdict_free(d->verdict);
	jdoc_free(d->document);
	subject_free(d->subject);
	profile_free(d->profile);
	config_free(d->config);
	dirs_done(&d->dirs);
	digest_key_done(&d->key);
	*d = (struct docket){ 0 };
}

static int load_config(struct docket *d, const struct run_options *o, struct fault *f)
{
	enum lane lane = LANE_SANDBOX;
	int r;

	r = dirs_load(&d->dirs, f);
	if (r >= 0)
		r = config_load(&d->dirs, &d->config, f);
	if (r >= 0)
		r = config_lane(d->config, o->lane, &lane, f);
	if (r < 0 || lane == d->dirs.lane)
		return r;
	dirs_done(&d->dirs);
	d->dirs = (struct dirs){ 0 };
	return dirs_load_lane(lane, &d->dirs, f);
}

static int build(struct docket *d, const struct run_options *o, struct fault *f)
{
	struct subject_request rq = { .lane = d->dirs.lane,
				      .base = d->profile,
				      .argv = o->argv,
				      .env = o->env,
				      .volumes = o->volumes,
				      .workdir = o->workdir,
				      .hostname = o->hostname,
				      .home = d->dirs.home,
				      .environ = environ,
				      .seal = o->seal_tree ? OPERAND_SEAL_TREE
					      : o->no_seal ? OPERAND_SEAL_NONE
							   : OPERAND_SEAL_NAMED };
	int r;

	d->asked = *d->profile;
	session_apply_options(&d->asked, o);
	r = profile_require_lane(&d->asked, d->dirs.lane, f);
	if (r >= 0)
		r = subject_build(&d->asked, &rq, &d->subject, f);
	return r < 0 ? r : subject_require_apart(d->subject, &d->dirs, f);
}

int docket_open(const struct run_options *o, const char *session, struct docket *ret, struct fault *f)
{
	struct docket *d = ret;
	int r;

	/* In place: the subject borrows the profile that is in it. */
	*d = (struct docket){ 0 };
	r = load_config(d, o, f);
	if (r >= 0)
		r = profile_open(&d->dirs, o->profile, session, &d->profile, f);
	if (r >= 0)
		r = profile_require_supported(d->profile, f);
	if (r >= 0)
		r = build(d, o, f);
	if (r < 0)
		docket_done(d);
	return r;
}

int docket_judge(struct docket *d, const struct run_options *o, struct fault *f)
{
	_cleanup_facts_ struct facts facts = { 0 };
	int r;

	r = digest_key_load(&d->dirs, d->config->digest_key, true, &d->key, f);
	if (r >= 0)
		r = subject_to_json(d->subject, &d->key, &d->document, f);
	if (r >= 0)
		r = subject_digest(d->document, &d->digest, f);
	if (r >= 0)
		r = facts_build(d->subject, d->config, o->provenance, &facts, f);
	return r < 0 ? r : policy_decide(&facts.policy, &d->verdict, f);
}
