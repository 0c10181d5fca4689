/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "cli/dispatch.h"
#include "cli/cmd-review.h"
#include "base/exit-status.h"

static int diff(struct review_call *r, struct fault *f)
{
	int e = review_load(r, f);

	if (e == 0)
		e = r->json   ? review_print_json(r, f)
		    : r->stat ? review_print_stat(r, f)
			      : review_print_diff(r, f);
	return e < 0 ? e : STATUS_OK;
}

int cmd_diff(int argc, char **argv, struct fault *f)
{
	static const struct review_verb v = { "diff", "SESSION [--stat | --json] [--lane LANE] [PATH...]",
					      " --stat --json ", true, diff };

	return review_run(&v, argc, argv, f);
}
