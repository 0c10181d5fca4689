/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-judge.h"

#include <string.h>

#include "base/str.h"

void judge_trait(struct judge *j, unsigned int traits)
{
	if (!j->probing)
		j->class->traits |= traits;
}

void judge_domain(struct judge *j, enum domain d)
{
	if (!j->probing && d < j->class->domain)
		j->class->domain = d;
}

void judge_change(struct judge *j, enum outcome o, enum domain d)
{
	judge_trait(j, COMMAND_CHANGES);
	judge_domain(j, d);
	if (!j->probing && o < j->class->outcome)
		j->class->outcome = o;
}

static void add_note(struct judge *j, const char *id, const char *what, const char *why)
{
	struct command_class *c = j->class;

	for (size_t i = 0; i < c->n_notes; i++)
		if (str_eq(c->notes[i].id, id))
			return;
	if (c->n_notes < COMMAND_NOTES_MAX)
		c->notes[c->n_notes++] = (struct command_note){ id, what, why };
}

void judge_note(struct judge *j, const char *id, const char *what, const char *why)
{
	if (!j->probing)
		add_note(j, id, what, why);
}

void judge_unknown(struct judge *j, const char *what, const char *why)
{
	judge_note(j, "unknown-program", what, why);
	judge_trait(j, COMMAND_UNKNOWN | COMMAND_RUNS | COMMAND_CHANGES);
}

/* Counts also where only this is looked for. */
void judge_unbounded(struct judge *j, const char *what, const char *why)
{
	add_note(j, "unbounded-delete", what, why);
	j->class->traits |= COMMAND_UNBOUNDED | COMMAND_CHANGES;
	j->class->outcome = OUTCOME_IRREVERSIBLE;
}

void judge_unparsable(struct judge *j, const char *what, const char *why)
{
	judge_note(j, "unparsable", what, why);
	judge_trait(j, COMMAND_UNPARSABLE | COMMAND_UNKNOWN | COMMAND_RUNS | COMMAND_CHANGES);
}

bool judge_spend(struct judge *j, size_t amount)
{
	if (j->fuel >= amount) {
		j->fuel -= amount;
		return true;
	}
	j->fuel = 0;
	/* Past the limit nothing was looked at, not even by a probe: it counts in any case. */
	add_note(j, "unparsable", "", "too long to be judged");
	j->class->traits |= COMMAND_UNPARSABLE | COMMAND_UNKNOWN | COMMAND_RUNS | COMMAND_CHANGES;
	return false;
}

struct command_part *judge_part(struct judge *j, const struct shell_word *w, size_t n)
{
	struct command_part *p;

	if (j->probing)
		return NULL;
	p = arena_alloc(j->arena, sizeof(*p));
	if (!p)
		return NULL;
	*p = (struct command_part){ .words = w, .n_words = n, .altered = j->altered };
	*j->class->parts_tail = p;
	j->class->parts_tail = &p->next;
	return p;
}
