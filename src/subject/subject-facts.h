/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/policy.h"
#include "subject/subject.h"

/*
 * What of the facts a subject tells: command, places, confinement.  Provenance, security profile and rules are the
 * caller's.  Borrows from S; free with policy_facts_done.
 */
int policy_facts_from_subject(const struct subject *s, struct policy_facts *ret,
			      struct fault *f) _must_check_;
void policy_facts_done(struct policy_facts *p);
#define _cleanup_policy_facts_ _cleanup_(policy_facts_done)
