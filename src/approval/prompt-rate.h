/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "approval/approval-store.h"

/*
 * Rate limit of prompts: a person asked too often answers yes without reading.  FILE in the lane's
 * state holds the times of the last minute, for all processes of the lane together.
 */
#define PROMPT_RATE_CARDS "prompts"
#define PROMPT_RATE_NOTICES "notices"
#define PROMPT_RATE_USUAL 10u /* per minute, default */
#define PROMPT_RATE_MAX 1000u /* per minute: a higher limit would have no effect on a person */

/* RET_ALLOWED: this one may be asked, and is counted. */
int prompt_rate_take(const struct approval_store *d, const char *file, unsigned int per_minute,
		     bool *ret_allowed, struct fault *f) _must_check_;
