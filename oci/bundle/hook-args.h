/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "base/json.h"
#include "state/lane.h"
#include "policy/policy.h"

/*
 * The arguments of `custody-hook approve` in a bundle: whose lane and directories it belongs to, and what the judge has
 * to know that is not part of what runs.  A hook has no environment but its own, so what dirs_load reads travels here.
 */
struct hook_args {
	enum lane lane;
	bool allow_prod; /* --allow-prod was given; CUSTODY_ALLOW_PROD is asked for at each start */
	enum security_profile security; /* at least this, whatever the configuration says then */
	char **taints;			/* words of --provenance */
	char **redact;		 /* flags whose values stay out of records: the profile's `audit.redact` */
	struct jdoc *governance; /* the profile's section, NULL: none: who may approve, and how many must */
	struct jdoc *forensics;	 /* the profile's section, NULL: none: after which ends what is kept */
	char **env;		 /* NAME=value */
};
void hook_args_done(struct hook_args *t);
#define _cleanup_hook_args_ _cleanup_(hook_args_done)

/* Fills T->env from this process. */
int hook_args_take_env(struct hook_args *t, struct fault *f) _must_check_;

int hook_args_write(const struct hook_args *t, char ***ret, struct fault *f) _must_check_;
/* Those of `custody-hook audit`: the ones that say whose state it belongs to.  Borrowed texts, the list is heap. */
char **hook_args_for_audit(char *const *args);
/* The environment of this process is what T says and nothing else; T must outlive it. */
int hook_args_use_env(const struct hook_args *t, struct fault *f) _must_check_;
/* Strict: lane and security must be there, only known names, nothing twice that can be there once. */
int hook_args_parse(char *const *args, struct hook_args *ret, struct fault *f) _must_check_;
