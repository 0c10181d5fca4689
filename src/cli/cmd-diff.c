/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "cli/dispatch.h"
#include "cli/cmd-review.h"
#include "base/exit-status.h"

static int diff(struct review_call *r, struct fault *f)
{
	int e = review_load(r, f);

	if (e == 0)
		e = r->call->json   ? review_print_json(r, f)
		    : r->call->stat ? review_print_stat(r, f)
				    : review_print_diff(r, f);
	return e < 0 ? e : STATUS_OK;
}

int cmd_diff(struct command_call *c, struct fault *f)
{
	return review_run(c, diff, f);
}
