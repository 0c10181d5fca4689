/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decision/decision.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"

#define SLEEP_MS 60000 /* at most: a wall clock that jumps past an expiry causes no event */

static int reserve(struct decision *d, const struct decision_question *q, struct fault *f)
{
	const struct grant_owner owner = { .session = d->run.session, .pid = q->owner };
	int r;

	grant_set_done(&d->grants);
	r = grant_reserve(&d->approval.store, &d->query, &owner, &d->grants, f);
	return r < 0 ? r : d->grants.reason == GRANT_VALID;
}

static int refuse_denied(const struct request *rq, struct fault *f)
{
	return fault_set(f, EACCES, "denied by %s%s%s", rq->denied_by ? rq->denied_by : "an approver",
			 rq->denied_reason ? ": " : "", rq->denied_reason ? rq->denied_reason : "");
}

/* 1: approved, and reserved.  0: not yet. */
static int check(struct decision *d, const struct decision_question *q, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_fault_ struct fault why = { 0 };
	char id[REQUEST_ID_SIZE];
	int r = reserve(d, q, f);

	if (r != 0)
		return r;
	digest_hex(d->digest.bytes, (REQUEST_ID_SIZE - 1) / 2, id);
	r = request_read(&d->approval.store, id, &rq, &why);
	if (r >= 0)
		return rq.state == REQUEST_DENIED ? refuse_denied(&rq, f) : 0;
	if (r != -ENOENT)
		return fault_set(f, -r, "%s", fault_text(&why));
	/* Just approved, or expired: the request is removed after the grant is there. */
	r = reserve(d, q, f);
	if (r != 0)
		return r;
	if (d->grants.reason != GRANT_CONSUMED && d->grants.reason != GRANT_RESERVED)
		return fault_set(f, EACCES, "the request expired without a decision");
	/* Another start took the use. */
	r = decision_request(d, q, &why);
	if (r != -EACCES)
		return fault_set(f, -r, "%s", fault_text(&why));
	return 0;
}

static int left_ms(uint64_t end_ns)
{
	uint64_t now = clock_boot_ns(), ms = now >= end_ns ? 0 : (end_ns - now) / 1000000U + 1;

	return ms < SLEEP_MS ? (int)ms : SLEEP_MS;
}

/* 1: approved.  0: the time is over. */
static int loop(struct decision *d, const struct decision_question *q, int watch, uint64_t end_ns,
		struct fault *f)
{
	for (;;) {
		struct pollfd p = { .fd = watch, .events = POLLIN };
		int r = check(d, q, f), ms = left_ms(end_ns);

		if (r != 0 || ms == 0)
			return r;
		if (poll(&p, 1, ms) < 0 && errno != EINTR)
			return fault_errno(f, errno, "wait for an approval");
		approval_store_watch_drain(watch);
	}
}

int decision_wait(struct decision *d, const struct decision_question *q, struct fault *f)
{
	const uint64_t end_ns = clock_boot_ns() + q->wait_s * UINT64_C(1000000000);
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_close_ int watch = -EBADF;
	int asked = decision_request(d, q, f), r;

	if (asked != -EACCES)
		return asked;
	/* Before the state is read: every later change is an event. */
	watch = approval_store_watch(&d->approval.store, &why);
	if (watch < 0)
		return fault_set(f, -watch, "%s", fault_text(&why));
	log_info("waiting: %s", fault_text(f));
	r = loop(d, q, watch, end_ns, &why);
	if (r < 0)
		return fault_set(f, -r, "%s", fault_text(&why));
	return r > 0 ? 0 : fault_wrap(f, -EACCES, "no decision within the time of custody.wait");
}
