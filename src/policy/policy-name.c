/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/policy.h"

#include <errno.h>

static const char *const outcomes[_OUTCOME_MAX] = { "irreversible", "soft", "reversible" };
static const char *const intentions[_INTENTION_MAX] = { "autonomous", "task", "explicit" };
static const char *const domains[_DOMAIN_MAX] = { "system", "untrusted", "trusted", "localhost",
						  "workspace" };
static const char *const profiles[_SECURITY_MAX] = { "strict", "balanced", "minimal", "off" };
static const char *const reviews[_REVIEW_MAX] = { "pin", "confirm", "log", "pass" };
static const char *const decisions[_DECISION_MAX] = { "deny", "ask", "allow" };

/* A value outside the enum is printed as the worst one; the code treats it so too. */
static const char *name_of(const char *const *names, size_t n, unsigned int value)
{
	return names[value < n ? value : 0];
}

const char *outcome_name(enum outcome o)
{
	return name_of(outcomes, _OUTCOME_MAX, o);
}

const char *intention_name(enum intention i)
{
	return name_of(intentions, _INTENTION_MAX, i);
}

const char *domain_name(enum domain d)
{
	return name_of(domains, _DOMAIN_MAX, d);
}

const char *security_profile_name(enum security_profile p)
{
	return name_of(profiles, _SECURITY_MAX, p);
}

const char *review_name(enum review r)
{
	return name_of(reviews, _REVIEW_MAX, r);
}

const char *policy_decision_name(enum policy_decision d)
{
	return name_of(decisions, _DECISION_MAX, d);
}

static int find(const char *const *names, size_t n, const char *text)
{
	for (size_t i = 0; text && i < n; i++)
		if (str_eq(names[i], text))
			return (int)i;
	return -EINVAL;
}

int security_profile_parse(const char *text, enum security_profile *ret)
{
	int i = find(profiles, _SECURITY_MAX, text);

	if (i >= 0)
		*ret = (enum security_profile)i;
	return i < 0 ? i : 0;
}
