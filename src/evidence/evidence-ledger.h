/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/digest.h"
#include "base/fault.h"

/* What a lane's ledger says of the evidence of one session: its end, and where it was delivered to, name a digest. */
struct evidence_told {
	bool named;	/* with this very digest of metadata.json */
	bool delivered; /* the same, by a delivery */
	bool other;	/* with another one */
};

/* Reads the whole ledger of STATE; none there: nothing is told.  SESSION as records have it. */
int evidence_find_told(const char *state, const char *session, const struct digest *metadata,
		       struct evidence_told *ret, struct fault *f) _must_check_;
