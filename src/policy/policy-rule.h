/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "policy/command-class.h"

/*
 * Evaluation of the operator's rules: DENY in any tier wins; else the highest tier with a matching rule
 * decides, ASK before ALLOW. A deny or ask rule matches if one part of the command matches; ALLOW needs every
 * part allowed by some rule of that tier.
 */
enum policy_answer {
	POLICY_ANSWER_NONE,
	POLICY_ANSWER_DENY,
	POLICY_ANSWER_ASK,
	POLICY_ANSWER_ALLOW,
};

/* RET_RULE: the rule that decided; NULL if the answer is ASK because a part cannot be parsed. */
enum policy_answer policy_rules_answer(const struct policy_facts *facts, const struct command_class *class,
				       const struct policy_rule **ret_rule);
