/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/request.h"

/* As `custody pending --json` prints it, and as `on_request` receives it. */
struct jdoc *request_describe(const struct request *rq);

/*
 * Runs ARGV (`on_request` of the configuration; NULL: none) when RQ was filed for the first time.  RATE:
 * notices per minute, 0: PROMPT_RATE_USUAL.
 */
void request_notify(const struct approval_store *store, const struct request *rq, char *const *argv,
		    unsigned int rate);
