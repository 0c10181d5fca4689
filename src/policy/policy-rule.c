/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/policy-rule.h"

#include <string.h>

#include "policy/command-classifier.h"

/* Whole words: "git log" matches neither "git logout" nor "gitk log". */
static bool words_match(char *const *rule, const struct command_part *p, size_t skip, bool by_base)
{
	size_t at = 0;

	for (size_t i = 0; rule[i]; i++, at++) {
		const char *word;

		if (i == 1)
			at += skip;
		if (at >= p->n_words)
			return false;
		word = p->words[at].text;
		if (i == 0 && by_base && !strchr(rule[0], '/'))
			word = command_base(word, &(bool){ false });
		if (!str_eq(word, rule[i]))
			return false;
	}
	return true;
}

/*
 * For a deny or ask rule: compares the base name of the program, with and without options before a
 * subcommand.
 */
static bool part_is_named(char *const *rule, const struct command_part *p)
{
	return words_match(rule, p, 0, true) || (p->n_global > 0 && words_match(rule, p, p->n_global, true));
}

/* For an allow rule: exactly these words, a program in a system directory, no variable set for it. */
static bool part_is_meant(char *const *rule, const struct command_part *p)
{
	bool own;

	if (p->altered || p->n_words == 0)
		return false;
	(void)command_base(p->words[0].text, &own);
	if (own && !strchr(rule[0], '/'))
		return false;
	for (size_t i = 0; i < p->n_words; i++)
		if (command_text_is_unknown(p->words[i].text))
			return false;
	return words_match(rule, p, 0, true);
}

static bool is_at_or_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	return path && strncmp(path, dir, len) == 0 && (len == 1 || path[len] == '/' || path[len] == '\0');
}

static bool mount_fits(const char *mount, const struct policy_facts *facts)
{
	if (!facts->isolated)
		return true;
	if (facts->worktree_mode == POLICY_WORKTREE_RW &&
	    (is_at_or_below(facts->worktree, mount) || is_at_or_below(facts->worktree_host, mount)))
		return true;
	for (size_t i = 0; i < facts->n_rw; i++)
		if (is_at_or_below(facts->rw[i].target, mount) || is_at_or_below(facts->rw[i].source, mount))
			return true;
	return false;
}

/* Conditions of a rule other than the words. */
static bool surroundings_fit(const struct policy_rule *r, const struct policy_facts *facts)
{
	enum policy_network network = facts->isolated ? facts->network : POLICY_NETWORK_HOST;

	if (!r->argv && !r->profile && !r->mount && r->network == POLICY_RULE_NETWORK_ANY)
		return false;
	if (r->argv && !r->argv[0])
		return false;
	if (r->profile && (!facts->profile_name || !str_eq(r->profile, facts->profile_name)))
		return false;
	if (r->network == POLICY_RULE_NETWORK_NONE && network != POLICY_NETWORK_NONE)
		return false;
	/* A rule that denies the network must not be evaded by a list of hosts. */
	if (r->network == POLICY_RULE_NETWORK_HOST && network == POLICY_NETWORK_NONE)
		return false;
	if (r->network == POLICY_RULE_NETWORK_ALLOW && network != POLICY_NETWORK_ALLOW)
		return false;
	return !r->mount || mount_fits(r->mount, facts);
}

static bool rule_hits(const struct policy_rule *r, const struct policy_facts *facts,
		      const struct command_class *class)
{
	if (!surroundings_fit(r, facts))
		return false;
	if (!r->argv)
		return true;
	for (const struct command_part *p = class->parts; p; p = p->next)
		if (part_is_named(r->argv, p))
			return true;
	return false;
}

static bool part_is_allowed(const struct command_part *p, enum policy_tier tier,
			    const struct policy_facts *facts, const struct policy_rule **ret_rule)
{
	for (size_t i = 0; i < facts->n_rules; i++) {
		const struct policy_rule *r = &facts->rules[i];

		if (r->effect != POLICY_EFFECT_ALLOW || r->tier != tier || !surroundings_fit(r, facts))
			continue;
		if (!r->argv || part_is_meant(r->argv, p)) {
			*ret_rule = r;
			return true;
		}
	}
	return false;
}

static bool tier_allows(enum policy_tier tier, const struct policy_facts *facts,
			const struct command_class *class, const struct policy_rule **ret_rule)
{
	bool any = false;

	/*
	 * An allow rule never covers unparsable or unbounded commands, nor what a shell evaluates beside the words:
	 * for PATH in .; do make; done.
	 */
	if (class->traits &
	    (COMMAND_UNPARSABLE | COMMAND_UNBOUNDED | COMMAND_UNKNOWN_DELETE | COMMAND_EVALUATES))
		return false;
	for (const struct command_part *p = class->parts; p; p = p->next) {
		if (part_is_allowed(p, tier, facts, ret_rule))
			any = true;
		else if (!p->clear)
			return false;
	}
	return any;
}

static const struct policy_rule *find_hit(enum policy_effect effect, int tier,
					  const struct policy_facts *facts, const struct command_class *class)
{
	for (size_t i = 0; i < facts->n_rules; i++) {
		const struct policy_rule *r = &facts->rules[i];

		if (r->effect == effect && (tier < 0 || (int)r->tier == tier) && rule_hits(r, facts, class))
			return r;
	}
	return NULL;
}

/* A program whose name is known only at run time may be one that a rule names. */
static bool may_hide_a_name(const struct policy_facts *facts, const struct command_class *class)
{
	bool hidden = (class->traits & COMMAND_UNPARSABLE) != 0;

	for (const struct command_part *p = class->parts; p; p = p->next)
		hidden = hidden || (p->n_words > 0 && command_text_is_unknown(p->words[0].text));
	for (size_t i = 0; hidden && i < facts->n_rules; i++)
		if (facts->rules[i].effect != POLICY_EFFECT_ALLOW && facts->rules[i].argv)
			return true;
	return false;
}

enum policy_answer policy_rules_answer(const struct policy_facts *facts, const struct command_class *class,
				       const struct policy_rule **ret_rule)
{
	*ret_rule = find_hit(POLICY_EFFECT_DENY, -1, facts, class);
	if (*ret_rule)
		return POLICY_ANSWER_DENY;
	if (may_hide_a_name(facts, class))
		return POLICY_ANSWER_ASK;
	for (int tier = _POLICY_TIER_MAX - 1; tier >= 0; tier--) {
		*ret_rule = find_hit(POLICY_EFFECT_ASK, tier, facts, class);
		if (*ret_rule)
			return POLICY_ANSWER_ASK;
		if (tier_allows((enum policy_tier)tier, facts, class, ret_rule))
			return POLICY_ANSWER_ALLOW;
		*ret_rule = NULL;
	}
	return POLICY_ANSWER_NONE;
}
