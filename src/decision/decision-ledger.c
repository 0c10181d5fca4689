/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decision/decision.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/seam.h"
#include "session/session-end.h"

#define MS UINT64_C(1000000)

const char *decision_remedy(int e)
{
	switch (e) {
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
		return "free space there";
	case -EROFS:
	case -EACCES:
	case -EPERM:
		return "make it writable for the caller, or set CUSTODY_ROOT to a directory of the caller";
	case -EUCLEAN:
		return "details: custody ledger verify";
	default:
		return "details: custody doctor";
	}
}

static int cannot_record(const struct decision *d, int r, struct fault *f)
{
	return fault_wrap(f, r, "not started: cannot write to the ledger in '%s' (%s)", d->dirs->state,
			  decision_remedy(r));
}

static int open_ledger(struct decision *d, struct fault *f)
{
	struct ledger_birth birth = { 0 };
	int r;

	if (d->ledger)
		return 0;
	r = ledger_open(d->dirs->state, &(struct ledger_options){ .create = true }, &d->ledger, &birth, f);
	d->ledger_created = r >= 0 && birth.made;
	explicit_bzero(&birth, sizeof(birth));
	return r;
}

int decision_open(struct decision *d, struct fault *f)
{
	int r;

	d->refused = NULL;
	r = open_ledger(d, f);
	return r < 0 ? cannot_record(d, r, f) : 0;
}

int decision_intend(struct decision *d, struct fault *f)
{
	int r = 0;

	d->refused = NULL;
	d->status = STATUS_FAILED;
	if (d->pass)
		r = lane_record(d->pass, d->ledger, &d->run, f);
	if (r >= 0)
		r = claim_take(d->dirs->state, d->ledger, d->run.session, &d->claim, f);
	if (r < 0)
		return cannot_record(d, r, f);
	seam("claim-taken");
	r = ledger_intent(d->ledger, &d->run, f);
	if (r < 0)
		claim_drop(&d->claim);
	d->run.intended = r >= 0;
	seam("intent-recorded");
	return r < 0 ? cannot_record(d, r, f) : 0;
}

int decision_start(struct decision *d, pid_t pid, char *const *layers, struct fault *f)
{
	d->alive_ns = clock_boot_ns();
	d->started = true;
	return ledger_start(d->ledger, &d->run, pid, layers, f);
}

/*
 * A heartbeat that cannot be written does not stop the payload: missing heartbeats are visible in the ledger.  The disk
 * may be full for a while; space for the end is reserved.
 */
int decision_tick(struct decision *d)
{
	uint64_t age_ms = (clock_boot_ns() - d->alive_ns) / MS;
	int due, left;

	if (age_ms >= LEDGER_ALIVE_MS) {
		d->alive_ns = clock_boot_ns();
		age_ms = 0;
		(void)!ledger_heartbeat(d->ledger, &d->run, NULL);
	}
	due = ledger_sync_due_ms(d->ledger);
	if (due == 0)
		due = ledger_sync(d->ledger, NULL) < 0 ? LEDGER_SYNC_MS : -1;
	left = (int)(LEDGER_ALIVE_MS - age_ms);
	return due >= 0 && due < left ? due : left;
}

int decision_end(struct decision *d, const struct ledger_end *end, struct fault *f)
{
	int r = ledger_end(d->ledger, d->dirs->state, &d->run, end, f);

	if (r < 0)
		return fault_wrap(f, r, "cannot record the end of session '%s'", d->run.session);
	seam("end-recorded");
	claim_drop(&d->claim);
	seam("claim-removed");
	return 0;
}

/* Without the command line that the message ends with: it has the values of -e. */
static int refuse_lane(const struct decision *d, const char *text, struct fault *f)
{
	_cleanup_free_ char *why = strndup(text, lane_reason_len(text));

	return why ? ledger_refuse_lane(d->ledger, &d->run, why, f)
		   : fault_errno(f, ENOMEM, "record the refusal");
}

int decision_refuse(struct decision *d, const char *text, struct fault *f)
{
	int r;

	if (!d->refused)
		return 0;
	r = open_ledger(d, f);
	if (r >= 0 && d->started) {
		const struct ledger_end end = session_end_lost(EXIT_SOURCE_SUPERVISOR);

		ledger_end_audit(&d->run, &end);
		r = ledger_end(d->ledger, d->dirs->state, &d->run, &end, f);
	} else if (r >= 0 && d->dirs == &d->sandbox) {
		r = refuse_lane(d, text, f);
	} else if (r >= 0) {
		r = ledger_refuse(d->ledger, &d->run, d->refused, text, f);
	}
	if (r >= 0)
		claim_drop(&d->claim);
	return r;
}
