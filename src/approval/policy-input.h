/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "config/config.h"
#include "policy/policy.h"
#include "subject/subject.h"

/*
 * Input of policy for a subject of this caller: `run`, `check` and the hook build it here, so that they get
 * the same verdict.  The origin of the request is determined, not declared: by an admin's mapping of uid or
 * cgroup, else a controlling terminal means a person, else it is autonomous.  PROVENANCE, words of
 * --provenance or NULL, only adds taints.
 */
struct policy_input {
	struct policy_facts policy; /* borrows from subject, configuration and RULES */
	struct policy_rule *rules;
	bool borrowed; /* POLICY's mounts are the caller's */
};

/* The input of one verdict: a subject of custody's own, or the facts of an engine's container. */
struct policy_source {
	const struct subject *subject; /* NULL: FACTS */
	const struct policy_facts *facts;
	const struct jdoc *governance;	/* section of the profile of FACTS, NULL: none; of SUBJECT its own */
	enum security_profile security; /* configured for FACTS */
};

int policy_input_build(const struct policy_source *of, const struct config *c, char *const *provenance,
		       struct policy_input *ret, struct fault *f) _must_check_;
void policy_input_done(struct policy_input *x);
#define _cleanup_policy_input_ _cleanup_(policy_input_done)
