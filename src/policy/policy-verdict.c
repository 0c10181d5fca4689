/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/policy.h"

void verdict_free(struct verdict *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n_reasons; i++)
		free(v->reasons[i].text);
	free(v);
}

struct jdoc *verdict_to_json(const struct verdict *v)
{
	const char level[2] = { v->level >= 'A' && v->level <= 'C' ? v->level : 'C' };
	struct jdoc *doc = jdoc_new_object(), *axes, *reasons;

	jdoc_set_string(doc, "decision", policy_decision_name(v->decision));
	jdoc_set_string(doc, "level", level);
	axes = jdoc_set_object(doc, "axes");
	jdoc_set_string(axes, "raw_outcome", outcome_name(v->axes.raw_outcome));
	jdoc_set_string(axes, "outcome", outcome_name(v->axes.outcome));
	jdoc_set_string(axes, "intention", intention_name(v->axes.intention));
	jdoc_set_string(axes, "domain", domain_name(v->axes.domain));
	jdoc_set_string(axes, "profile", security_profile_name(v->axes.profile));
	jdoc_set_string(axes, "review", review_name(v->axes.review));
	reasons = jdoc_set_array(doc, "reasons");
	for (size_t i = 0; i < v->n_reasons; i++) {
		struct jdoc *one = jdoc_append_object(reasons);

		jdoc_set_string(one, "id", v->reasons[i].id);
		jdoc_set_string(one, "text", v->reasons[i].text);
	}
	return doc;
}
