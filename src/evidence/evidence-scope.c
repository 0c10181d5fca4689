/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-scope.h"

#include "base/str.h"
#include "base/exit-status.h"

#define SIGNALS 64

static bool has_word(const struct jdoc *list, const char *word)
{
	for (size_t i = 0; i < list->n_items; i++)
		if (list->items[i]->type == JDOC_STRING && str_eq(list->items[i]->string, word))
			return true;
	return false;
}

static bool has_number(const struct jdoc *list, int number)
{
	for (size_t i = 0; list && i < list->n_items; i++)
		if (list->items[i]->type == JDOC_INT && list->items[i]->integer == number)
			return true;
	return false;
}

enum evidence_scope evidence_scope_decide(const struct profile *p, const struct exit_verdict *v,
					  bool interactive)
{
	const struct jdoc *section = p->sections[PROFILE_SECTION_FORENSICS], *on = jdoc_get(section, "on");
	const char *capture = jdoc_get_string(section, "capture");
	bool wanted = v->abnormal;

	/* The payload did not run: nothing to capture. */
	if (v->reason == EXIT_REASON_SETUP_FAILED || v->reason == EXIT_REASON_DENIED)
		return EVIDENCE_SCOPE_NONE;
	if (v->reason == EXIT_REASON_EXITED && has_number(jdoc_get(section, "expect_exit"), v->code))
		return EVIDENCE_SCOPE_NONE;
	if (on)
		wanted = v->abnormal && has_word(on, exit_reason_name(v->reason));
	else if (v->reason == EXIT_REASON_CANCELLED || interactive)
		wanted = false;
	if (!wanted)
		return EVIDENCE_SCOPE_NONE;
	if (capture)
		return str_eq(capture, "changes") ? EVIDENCE_SCOPE_CHANGES : EVIDENCE_SCOPE_ALL;
	return v->reason == EXIT_REASON_EXITED ? EVIDENCE_SCOPE_CHANGES : EVIDENCE_SCOPE_ALL;
}

enum evidence_scope evidence_scope_decide_shell(const struct profile *p, const struct exit_verdict *v)
{
	const struct jdoc *expected = jdoc_get(p->sections[PROFILE_SECTION_FORENSICS], "expect_exit");
	enum evidence_scope scope = evidence_scope_decide(p, v, false), signaled;
	struct exit_verdict other = *v;

	if (v->reason != EXIT_REASON_EXITED || v->code <= STATUS_SIGNAL_BASE ||
	    v->code > STATUS_SIGNAL_BASE + SIGNALS || has_number(expected, v->code))
		return scope;
	other.reason = EXIT_REASON_SIGNALED;
	other.signal = v->code - STATUS_SIGNAL_BASE;
	signaled = evidence_scope_decide(p, &other, false);
	return signaled < scope ? signaled : scope;
}
