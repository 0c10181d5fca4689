/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "approval/approval-store.h"

/*
 * How often a person may be disturbed: who is asked too often says yes to be left alone.  FILE in the lane's state
 * remembers the last minute, for all processes of the lane together.
 */
#define PROMPT_RATE_CARDS "prompts"
#define PROMPT_RATE_NOTICES "notices"
#define PROMPT_RATE_USUAL 10u /* per minute, where nobody says */
#define PROMPT_RATE_MAX 1000u /* per minute: more is no limit that a person would notice */

/* RET_ALLOWED: this one may be asked, and is counted. */
int prompt_rate_take(const struct approval_store *d, const char *file, unsigned int per_minute,
		     bool *ret_allowed, struct fault *f) _must_check_;
