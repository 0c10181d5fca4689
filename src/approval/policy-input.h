/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "config/config.h"
#include "policy/policy.h"
#include "subject/subject.h"

/*
 * What policy is asked about a subject of this caller: `run`, `check` and the hook build it here, so that they cannot get
 * different answers.  Where the wish came from is found out, not believed: an admin's mapping of uid or cgroup says it,
 * else a controlling terminal means a person, else nobody asked.  PROVENANCE, words of --provenance or NULL, only adds taints.
 */
struct policy_input {
	struct policy_facts policy; /* borrows from subject, configuration and RULES */
	struct policy_rule *rules;
};

int policy_input_build(const struct subject *s, const struct config *c, char *const *provenance,
		       struct policy_input *ret, struct fault *f) _must_check_;
void policy_input_done(struct policy_input *x);
#define _cleanup_policy_input_ _cleanup_(policy_input_done)
