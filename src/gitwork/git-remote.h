/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "gitwork/git-box.h"

/* A repository that the operator has declared.  Everything is borrowed. */
struct git_remote {
	const char *name, *url;
	const char *ca;				       /* file with certificates; NULL: the system's */
	char *const *branches;			       /* names, or "PREFIX/" and "*" for all below it */
	bool force;				       /* a branch may lose commits */
	int (*credential)(void *arg, struct fault *f); /* see struct git_box */
	void *credential_arg;
};

/* Narrower than git's rules: letters, digits, '.', '_', '-' and '/'. */
bool git_branch_is_valid(const char *name);
bool git_branch_fits(char *const *patterns, const char *name);

/* B for this remote: the protocol of its URL is the only one. */
struct git_box git_remote_box(const struct git_box *b, const struct git_remote *r);

/*
 * What SPECS, refspecs, name, into GIT_CLEAN.  The remote is told of no commit here but, with KNOWN, those that it names itself, so that
 * it does not send them again.
 */
int git_remote_fetch(const struct git_box *b, const struct git_remote *r, const char *const *specs,
		     bool known, struct fault *f) _must_check_;
