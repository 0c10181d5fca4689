/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "cli/dispatch.h"
#include "cli/cmd-review.h"
#include "base/exit-status.h"

static int discard(struct review_call *r, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = review_describe(r);
	int e;

	/* Without the record nothing is discarded. */
	jdoc_set_int(d, "bytes", (int64_t)r->kept.bytes);
	e = review_record(r, "review.discard", NULL, d, f);
	if (e == 0)
		e = review_drop(r->dir, f);
	if (e < 0)
		return e;
	printf("discarded the changes of session %s\n", r->kept.session);
	return STATUS_OK;
}

int cmd_discard(struct command_call *c, struct fault *f)
{
	return review_run(c, discard, f);
}
