/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "core/approval-desk.h"
#include "cli/command.h"
#include "cli/verb.h"
#include "core/exit-status.h"
#include "core/request.h"

/* A no needs neither PIN nor terminal: it can only make things stop. */
static int run(struct verb_call *c, struct fault *f)
{
	_cleanup_ledger_ struct ledger *ledger = NULL;
	_cleanup_approval_desk_ struct approval_desk d = APPROVAL_DESK_NONE;
	_cleanup_request_ struct request rq = { 0 };
	int r = approval_desk_open_to_write(&c->dirs, c->config, &ledger, &d, f);

	if (r == 0)
		r = request_read(&d.desk, c->words[0], &rq, f);
	if (r == 0)
		r = request_deny(&d.desk, rq.id, c->as ? c->as : c->dirs.user, c->reason, f);
	if (r < 0)
		return r;
	printf("denied %s; asking again is refused until the request expires\n", rq.id);
	return STATUS_OK;
}

int cmd_deny(int argc, char **argv, struct fault *f)
{
	static const struct verb verb = {
		"deny", "ID [--reason TEXT] [--as NAME] [--lane LANE]", " --reason --as --lane ", 1, 1, run
	};

	return verb_run(&verb, argc - 1, argv + 1, f);
}
