/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "cli/dispatch.h"
#include "cli/output.h"
#include "approval/approval-lane.h"
#include "base/exit-status.h"
#include "approval/request.h"

/* The requests are removed without a decision; they can be filed again. */
static int clear_all(const struct approval_lane *d, struct fault *f)
{
	_cleanup_requests_ struct request_list l = { 0 };
	unsigned int n = 0, denied = 0;
	int r = request_sweep(&d->store, f);

	if (r == 0)
		r = request_list(&d->store, true, &l, f);
	for (size_t i = 0; r == 0 && i < l.n; i++)
		denied += l.items[i].state == REQUEST_DENIED;
	if (r == 0)
		r = request_drop_all(&d->store, "cleared", &n, f);
	if (r < 0)
		return r;
	/* As 'custody pending' counts them: a denied request is no longer pending. */
	n -= denied < n ? denied : n;
	printf("cleared %u pending request%s", n, n == 1 ? "" : "s");
	if (denied)
		printf(" and %u denied one%s", denied, denied == 1 ? "" : "s");
	printf("; they can be filed again\n");
	return STATUS_OK;
}

static int deny(const struct command_call *c, const struct approval_lane *d, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	int r = request_read(&d->store, c->args[0], &rq, f);

	/* A damaged request can still be removed. */
	if (r == -EBADMSG || r == -EINVAL) {
		fault_done(f);
		r = request_drop(&d->store, c->args[0], "cleared", f);
		if (r == 0)
			printf("cleared damaged request %s\n", c->args[0]);
		return r < 0 ? r : STATUS_OK;
	}
	if (r == 0)
		r = request_deny(&d->store, rq.id, c->as ? c->as : c->dirs.user, c->reason, f);
	if (r < 0)
		return r;
	printf("denied %s; the same request is refused until it expires\n", rq.id);
	return STATUS_OK;
}

/* Denying needs neither PIN nor terminal: it starts nothing. */
int cmd_deny(struct command_call *c, struct fault *f)
{
	_cleanup_ledger_ struct ledger *ledger = NULL;
	_cleanup_approval_lane_ struct approval_lane d = APPROVAL_LANE_NONE;
	int r;

	if (!c->all != (c->args[0] != NULL))
		return dispatch_usage(
			c, c->all ? "ID and --all cannot be used together"
				  : "missing argument: ID ('custody pending' lists them), or --all");
	r = approval_lane_open_to_write(&c->dirs, c->config, &ledger, &d, f);
	if (r < 0)
		return r;
	return c->all ? clear_all(&d, f) : deny(c, &d, f);
}
