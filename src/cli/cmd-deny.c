/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "cli/dispatch.h"
#include "cli/output.h"
#include "approval/approval-lane.h"
#include "base/exit-status.h"
#include "approval/request.h"

/* Nobody's answer: they are taken off the table, and may be asked again. */
static int clear_all(const struct approval_lane *d, struct fault *f)
{
	unsigned int n = 0;
	int r = request_drop_all(&d->store, "cleared", &n, f);

	if (r < 0)
		return r;
	printf("cleared %u requests; what is asked again waits again\n", n);
	return STATUS_OK;
}

static int deny(const struct command_call *c, const struct approval_lane *d, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 };
	int r = request_read(&d->store, c->args[0], &rq, f);

	/* One that cannot be read can still go. */
	if (r == -EBADMSG || r == -EINVAL) {
		fault_done(f);
		r = request_drop(&d->store, c->args[0], "cleared", f);
		if (r == 0)
			printf("cleared %s, which could not be read\n", c->args[0]);
		return r < 0 ? r : STATUS_OK;
	}
	if (r == 0)
		r = request_deny(&d->store, rq.id, c->as ? c->as : c->dirs.user, c->reason, f);
	if (r < 0)
		return r;
	printf("denied %s; asking again is refused until the request expires\n", rq.id);
	return STATUS_OK;
}

/* A no needs neither PIN nor terminal: it can only make things stop. */
int cmd_deny(struct command_call *c, struct fault *f)
{
	_cleanup_ledger_ struct ledger *ledger = NULL;
	_cleanup_approval_lane_ struct approval_lane d = APPROVAL_LANE_NONE;
	int r;

	if (!c->all != (c->args[0] != NULL))
		return dispatch_usage(c, c->all ? "--all or one ID, not both"
						: "which one?  'custody pending' lists them");
	r = approval_lane_open_to_write(&c->dirs, c->config, &ledger, &d, f);
	if (r < 0)
		return r;
	return c->all ? clear_all(&d, f) : deny(c, &d, f);
}
