/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/digest.h"
#include "broker/broker-tools.h"
#include "base/fault.h"
#include "run/run-base.h"
#include "run/run-options.h"
#include "session/run-result.h"
#include "config/config.h"
#include "decision/decision.h"
#include "state/digest-key.h"
#include "state/dirs.h"
#include "state/home-dir.h"
#include "state/project.h"
#include "policy/policy.h"
#include "profile/profile.h"
#include "state/sandbox-root.h"
#include "subject/subject.h"

/*
 * From the caller's options to the subject, its document and digest, and the verdict. Also for `check` and `bundle`:
 * nothing is started, and nothing is written but, on first use, the lane's digest key.
 */
struct run_plan {
	struct dirs dirs;    /* of the lane */
	const char *refused; /* step of an error, by its name in the ledger: "config", "lane" ... */
	struct config *config;
	struct profile *profile;   /* as loaded */
	struct profile asked;	   /* with the options; shares the loaded one's memory */
	struct sandbox_root *root; /* locked; NULL: no sandbox root */
	struct project project;	   /* empty: the worktree is another directory */
	struct run_base base;	   /* of a continued run */
	struct home_dir *home;	   /* locked; NULL: in memory */
	bool makes_root; /* set by the caller: a missing sandbox root or home is created, else refused */
	struct broker_tools broker; /* of ASKED, whose section says what they are */
	char **hide;		    /* of ASKED: paths that the profile hides, and custody's own */
	bool one_id;		    /* set by the caller: no subordinate ids, as in a bundle */
	struct run_ids ids;
	struct subject *subject;
	struct digest_key key; /* from here on filled by run_plan_digest */
	struct jdoc *document;
	struct digest digest;
	struct verdict *verdict; /* filled by run_plan_judge */
};

/* Directories, configuration, lane: a caller that starts something calls decision_enter next. */
int run_plan_place(const struct run_options *o, struct run_plan *ret, struct fault *f) _must_check_;
/*
 * The same unless it was done, then profile and subject. On failure RET keeps the results so far. SESSION replaces
 * `${session}`.
 */
int run_plan_open(const struct run_options *o, const char *session, struct run_plan *ret,
		  struct fault *f) _must_check_;
/*
 * Before the digest of a bundle: the secrets found now become paths that the profile hides, because config.json is made from
 * the document alone.
 */
int run_plan_fix_secrets(struct run_plan *d, struct fault *f) _must_check_;
/* Document and digest of an opened one.  --dry-run creates no key: without one DOCUMENT stays NULL. */
int run_plan_digest(struct run_plan *d, const struct run_options *o, struct fault *f) _must_check_;
/* The question for src/decision; borrows from D and O. */
struct decision_question run_plan_question(const struct run_plan *d, const struct run_options *o);
/* Document, digest and verdict, for commands that start nothing. */
int run_plan_judge(struct run_plan *d, const struct run_options *o, struct fault *f) _must_check_;
void run_plan_done(struct run_plan *d);
#define _cleanup_run_plan_ _cleanup_(run_plan_done)
