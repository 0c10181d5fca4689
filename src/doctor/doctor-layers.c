/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "doctor/doctor.h"

struct layer_finding {
	enum doctor_state state;
	enum doctor_severity severity;
	const char *lead;   /* start of the text */
	const char *remedy; /* may be NULL */
};

static size_t count_tries(const struct doctor_report *r, enum layer l, bool stopped)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_tries; i++)
		n += r->tries[i].layer == l && r->tries[i].stopped == stopped;
	return n;
}

/* "mount (EPERM), unshare (EPERM)" */
static void put_tries(struct strbuf *b, const struct doctor_report *r, enum layer l, bool stopped)
{
	const char *comma = "";

	for (size_t i = 0; i < r->n_tries; i++) {
		const struct doctor_try *t = &r->tries[i];

		if (t->layer != l || t->stopped != stopped)
			continue;
		strbuf_printf(b, "%s%s%s%s%s", comma, t->what, t->by ? " (" : "", t->by ? t->by : "",
			      t->by ? ")" : "");
		comma = ", ";
	}
}

/* Three limits can have one cause, which is one failed check: HOST-CGROUP. */
static void fail_once(struct doctor_report *r)
{
	for (size_t i = 0; i < r->n_checks; i++)
		if (str_eq(r->checks[i].id, "HOST-CGROUP"))
			r->checks[i].severity = DOCTOR_ERROR;
}

static bool is_without_cgroup(const struct doctor_run *run, enum layer l)
{
	const uint32_t limits =
		LAYER_BIT(LAYER_MEMORY_LIMIT) | LAYER_BIT(LAYER_PIDS_LIMIT) | LAYER_BIT(LAYER_CPU_LIMIT);
	const uint32_t off = run->switched_off | run->unset;

	return run->no_limits && run->proven && (LAYER_BIT(l) & limits & ~off) &&
	       (run->states[l] == LAYER_STATE_REFUSED || run->states[l] == LAYER_STATE_NOT_ASKED);
}

/* Result of the supervisor's proof; a try of the canary can still contradict it. */
static struct layer_finding judge_proof(const struct doctor_run *run, enum layer l)
{
	if (run->switched_off & LAYER_BIT(l))
		return (struct layer_finding){ DOCTOR_MISSING, DOCTOR_ERROR, "switched off by the profile",
					       "remove it from the profile's 'dangerous'" };
	if (run->unset & LAYER_BIT(l))
		return (struct layer_finding){ DOCTOR_UNUSED, DOCTOR_INFO, "the profile sets no such limit",
					       NULL };
	if (!run->proven)
		return (struct layer_finding){ DOCTOR_UNKNOWN, DOCTOR_ERROR,
					       "not tested: the canary did not run (see HOST-CANARY)", NULL };
	switch (run->states[l]) {
	case LAYER_STATE_PROVEN:
	case LAYER_STATE_PROVEN_AFTER_START:
		return (struct layer_finding){ DOCTOR_OK, DOCTOR_INFO, "proven", NULL };
	case LAYER_STATE_OPTIONAL_MISSING:
		return (struct layer_finding){ DOCTOR_MISSING, DOCTOR_WARN,
					       "missing, and optional in the profile", NULL };
	case LAYER_STATE_REFUSED:
	case LAYER_STATE_NOT_ASKED:
		break;
	}
	if (is_without_cgroup(run, l))
		return (struct layer_finding){ DOCTOR_MISSING, DOCTOR_WARN, "missing: a run would be refused",
					       "see HOST-CGROUP" };
	return (struct layer_finding){ DOCTOR_MISSING, DOCTOR_ERROR, "missing: a run would be refused",
				       NULL };
}

static void judge_layer(struct doctor_report *r, const struct doctor_run *run, enum layer l)
{
	const struct layer_info *info = layer_info(l);
	struct layer_finding v = judge_proof(run, l);
	_cleanup_strbuf_ struct strbuf text = { 0 }, remedy = { 0 };
	size_t through = count_tries(r, l, false), stopped = count_tries(r, l, true);
	char id[64];

	(void)snprintf(id, sizeof(id), "LAYER-%s", info->name);
	for (char *c = id; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	if (through && v.state == DOCTOR_OK)
		v = (struct layer_finding){ DOCTOR_MISSING, DOCTOR_ERROR,
					    "proven by init, but the canary got through", NULL };
	strbuf_puts(&text, v.lead);
	if (l == LAYER_DISK_LIMIT && v.state == DOCTOR_OK && run->disk_by)
		strbuf_printf(&text, "; enforced by %s", run->disk_by);
	if (through) {
		strbuf_puts(&text, "; got through: ");
		put_tries(&text, r, l, false);
	}
	if (stopped) {
		strbuf_puts(&text, "; stopped: ");
		put_tries(&text, r, l, true);
	}
	if (v.state == DOCTOR_MISSING && v.severity == DOCTOR_WARN && v.remedy)
		strbuf_puts(&remedy, v.remedy);
	else if (v.state == DOCTOR_MISSING)
		strbuf_printf(&remedy, "%s%sneeds %s", v.remedy ? v.remedy : "", v.remedy ? "; " : "",
			      info->needs);
	r->broken |= text.broken || remedy.broken;
	r->layers[l] = v.state;
	doctor_add(r, id, v.state, v.severity, remedy.text, "%s", text.text ? text.text : "");
}

void doctor_judge_layers(struct doctor_report *r, const struct doctor_run *run)
{
	if (run->proven && run->tried)
		doctor_add(r, "HOST-CANARY", DOCTOR_OK, DOCTOR_INFO, NULL,
			   "ran in a container of the profile '%s': %zu tries", run->profile, r->n_tries);
	else
		doctor_add(r, "HOST-CANARY", DOCTOR_MISSING, DOCTOR_ERROR,
			   "fix the reason in the text; the checks above list what this host lacks",
			   "did not complete in the profile '%s': %s", run->profile,
			   run->why ? run->why : "its report is incomplete");
	for (unsigned int l = 0; l < _LAYER_MAX; l++) {
		judge_layer(r, run, (enum layer)l);
		if (is_without_cgroup(run, (enum layer)l))
			fail_once(r);
	}
}
