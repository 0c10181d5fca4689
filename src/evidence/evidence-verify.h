/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"

struct evidence_check {
	uint64_t files;	  /* read and compared */
	uint64_t damaged; /* changed, truncated or missing */
	uint64_t strange; /* exist, but are listed nowhere */
	struct digest metadata;
	char *first; /* path and problem of the first one; heap */
};
void evidence_check_done(struct evidence_check *c);
#define _cleanup_evidence_check_ _cleanup_(evidence_check_done)

int evidence_verify(int evidence, struct evidence_check *ret, struct fault *f) _must_check_;
