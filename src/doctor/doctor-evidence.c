/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "doctor/doctor-host.h"
#include "evidence/delivery.h"

/* The store itself is not accessed: a hanging share must not hang doctor. */
void doctor_check_evidence(struct doctor_report *r, const struct dirs *d)
{
	static const char id[] = "HOST-EVIDENCE";
	_cleanup_config_ struct config *c = NULL;
	_cleanup_delivery_place_ struct delivery_place p = { 0 };
	_cleanup_delivery_state_ struct delivery_state note = { 0 };
	_cleanup_evidence_ struct evidence_list l = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	if (config_load(d, &c, &f) < 0 || delivery_place(d, c, &p, &f) < 0 ||
	    evidence_list(p.staging, d->lane, &l, &f) < 0) {
		doctor_add(r, id, DOCTOR_UNKNOWN, DOCTOR_WARN, NULL, "%s", fault_text(&f));
		return;
	}
	delivery_state_load(p.staging, &note);
	if (l.n)
		doctor_add(r, id, DOCTOR_LIMITED, DOCTOR_WARN, "custody evidence deliver",
			   "%zu evidence%s for '%s' %s staged: %s", l.n, l.n == 1 ? "" : "s", p.store,
			   l.n == 1 ? "is" : "are", note.error ? note.error : "not delivered yet");
	else if (p.direct)
		doctor_add(r, id, DOCTOR_UNUSED, DOCTOR_INFO, NULL,
			   "'%s' is local: evidence is written directly", p.store);
	else
		doctor_add(r, id, p.away ? DOCTOR_LIMITED : DOCTOR_OK, p.away ? DOCTOR_WARN : DOCTOR_INFO,
			   p.away ? "mount the share" : NULL, "'%s' is on a share (%s)%s", p.store, p.type,
			   p.away ? " that is not mounted" : "; nothing is staged");
}
