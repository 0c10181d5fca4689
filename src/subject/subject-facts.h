/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/policy.h"
#include "subject/subject.h"

/*
 * Facts of a subject for policy: command, paths, confinement.  The caller sets provenance, security profile
 * and rules.  Borrows from S; free with subject_facts_done.
 */
int subject_facts_fill(const struct subject *s, struct policy_facts *ret, struct fault *f) _must_check_;
void subject_facts_done(struct policy_facts *p);
#define _cleanup_subject_facts_ _cleanup_(subject_facts_done)
