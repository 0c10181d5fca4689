/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/request.h"

/* As `custody pending --json` lists it, and as `on_request` gets it. */
struct jdoc *request_describe(const struct request *rq);

/*
 * Tells ARGV (`on_request` of the configuration; NULL: nobody) that RQ was filed, the first time it was asked for.  RATE:
 * notices per minute, 0: PROMPT_RATE_USUAL.
 */
void request_notify(const struct approval_store *store, const struct request *rq, char *const *argv,
		    unsigned int rate);
