/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "approval/approval-lane.h"
#include "cli/dispatch.h"
#include "cli/output.h"
#include "base/exit-status.h"
#include "approval/grant.h"

int cmd_revoke(struct command_call *c, struct fault *f)
{
	_cleanup_ledger_ struct ledger *ledger = NULL;
	_cleanup_approval_lane_ struct approval_lane d = APPROVAL_LANE_NONE;
	int r = approval_lane_open_to_write(&c->dirs, c->config, &ledger, &d, f);

	if (r == 0)
		r = grant_revoke(&d.store, c->args[0], c->as ? c->as : c->dirs.user, c->reason, f);
	if (r < 0)
		return r;
	printf("revoked %s; running sessions continue\n", c->args[0]);
	return STATUS_OK;
}
