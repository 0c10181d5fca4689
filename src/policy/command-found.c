/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

void classifier_add_traits(struct classifier *k, unsigned int traits)
{
	if (!k->probing)
		k->class->traits |= traits;
}

void classifier_add_domain(struct classifier *k, enum domain d)
{
	if (!k->probing && d < k->class->domain)
		k->class->domain = d;
}

void classifier_add_change(struct classifier *k, enum outcome o, enum domain d)
{
	classifier_add_traits(k, COMMAND_CHANGES);
	classifier_add_domain(k, d);
	if (!k->probing && o < k->class->outcome)
		k->class->outcome = o;
}

static void add_finding(struct classifier *k, const char *id, const char *what, const char *why)
{
	struct command_class *c = k->class;

	for (size_t i = 0; i < c->n_findings; i++)
		if (str_eq(c->findings[i].id, id))
			return;
	if (c->n_findings < COMMAND_FINDINGS_MAX)
		c->findings[c->n_findings++] = (struct command_finding){ id, what, why };
}

void classifier_add_finding(struct classifier *k, const char *id, const char *what, const char *why)
{
	if (!k->probing)
		add_finding(k, id, what, why);
}

void classifier_add_unknown(struct classifier *k, const char *what, const char *why)
{
	classifier_add_finding(k, "unknown-program", what, why);
	classifier_add_traits(k, COMMAND_UNKNOWN | COMMAND_RUNS | COMMAND_CHANGES);
}

/* A word that the table does not list. A network client is not said to run what it downloads. */
void classifier_add_unlisted(struct classifier *k, const struct command_row *row, const char *what)
{
	classifier_add_finding(k, "unknown-program", what, "not in the table of recognised words");
	classifier_add_traits(k, COMMAND_UNKNOWN | COMMAND_CHANGES |
					 (row->traits & COMMAND_NETWORK ? 0 : COMMAND_RUNS));
}

/* Counts also while probing. */
void classifier_add_unbounded(struct classifier *k, const char *what, const char *why)
{
	add_finding(k, "unbounded-delete", what, why);
	k->class->traits |= COMMAND_UNBOUNDED | COMMAND_CHANGES;
	k->class->outcome = OUTCOME_IRREVERSIBLE;
}

/* Counts also while probing. */
void classifier_add_unknown_delete(struct classifier *k, const char *what, const char *why)
{
	add_finding(k, "unknown-delete", what, why);
	k->class->traits |= COMMAND_UNKNOWN_DELETE | COMMAND_UNKNOWN | COMMAND_CHANGES;
}

void classifier_add_reach(struct classifier *k, enum command_reach reach, const char *what, const char *why)
{
	if (reach == REACH_WHOLE)
		classifier_add_unbounded(k, what, why);
	else if (reach == REACH_UNKNOWN)
		classifier_add_unknown_delete(k, what, why);
}

void classifier_add_unparsable(struct classifier *k, const char *what, const char *why)
{
	classifier_add_finding(k, "unparsable", what, why);
	classifier_add_traits(k, COMMAND_UNPARSABLE | COMMAND_UNKNOWN | COMMAND_RUNS | COMMAND_CHANGES);
}

bool classifier_spend(struct classifier *k, size_t amount)
{
	if (k->fuel >= amount) {
		k->fuel -= amount;
		return true;
	}
	k->fuel = 0;
	/* Beyond the limit nothing was examined, not even by a probe: the finding counts in any case. */
	add_finding(k, "unparsable", "", "too long to be checked");
	k->class->traits |= COMMAND_UNPARSABLE | COMMAND_UNKNOWN | COMMAND_RUNS | COMMAND_CHANGES;
	return false;
}

struct command_part *classifier_add_part(struct classifier *k, const struct shell_word *w, size_t n)
{
	struct command_part *p;

	if (k->probing)
		return NULL;
	p = arena_alloc(k->arena, sizeof(*p));
	if (!p)
		return NULL;
	*p = (struct command_part){ .words = w, .n_words = n, .altered = k->text.altered };
	*k->class->parts_tail = p;
	k->class->parts_tail = &p->next;
	return p;
}
