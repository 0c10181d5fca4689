/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "base/json.h"
#include "state/lane.h"
#include "policy/policy.h"

/*
 * The arguments of `custody-hook approve` in a bundle: lane and directories, and the inputs of the decision that are not part of
 * the subject.  A hook does not inherit the environment, so the variables that dirs_load reads are passed here.
 */
struct hook_args {
	enum lane lane;
	bool allow_prod; /* --allow-prod was given; CUSTODY_ALLOW_PROD is required at each start */
	enum security_profile security; /* minimum; the configuration at start may be stricter */
	char **taints;			/* words of --provenance */
	char **redact;		 /* flags whose values are not recorded: the profile's `audit.redact` */
	struct jdoc *governance; /* section of the profile: approvers and their number; NULL: none */
	struct jdoc *forensics;	 /* section of the profile: what to capture after which exit; NULL: none */
	char **env;		 /* NAME=value */
};
void hook_args_done(struct hook_args *t);
#define _cleanup_hook_args_ _cleanup_(hook_args_done)

/* Fills T->env from the environment of this process. */
int hook_args_take_env(struct hook_args *t, struct fault *f) _must_check_;

int hook_args_write(const struct hook_args *t, char ***ret, struct fault *f) _must_check_;
/* The subset for `custody-hook audit`: lane and directories.  Strings are borrowed, the list is heap. */
char **hook_args_for_audit(char *const *args);
/* Replaces the environment of this process by T->env; T must outlive it. */
int hook_args_use_env(const struct hook_args *t, struct fault *f) _must_check_;
/* Strict: requires lane and security, refuses unknown and repeated arguments. */
int hook_args_parse(char *const *args, struct hook_args *ret, struct fault *f) _must_check_;
