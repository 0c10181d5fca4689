/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/command-class.h"

/*
 * What the operator's rules say of a command: DENY in any tier wins; else the highest tier that says anything, ASK
 * before ALLOW.  A rule that denies or asks holds if one part of the command fits; one that allows only if every
 * part is allowed by some rule of that tier.
 */
enum policy_answer {
	POLICY_ANSWER_NONE,
	POLICY_ANSWER_DENY,
	POLICY_ANSWER_ASK,
	POLICY_ANSWER_ALLOW,
};

/* RET_RULE: the rule that decided; NULL when the rules ask because a part could not be read. */
enum policy_answer policy_rules_answer(const struct policy_facts *facts, const struct command_class *class,
				       const struct policy_rule **ret_rule);
