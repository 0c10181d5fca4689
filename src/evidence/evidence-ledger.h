/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/digest.h"
#include "base/fault.h"
#include "evidence/evidence.h"
#include "ledger/ledger-session.h"
#include "state/dirs.h"

/* Records of a lane's ledger about the evidence of one session: session.end and evidence.deliver hold a digest. */
struct evidence_ledger_found {
	bool named;	/* with this digest of metadata.json */
	bool delivered; /* with this digest, by evidence.deliver */
	bool other;	/* with another digest */
};

/* Reads the whole ledger of STATE; a missing ledger has no records.  SESSION as records spell it. */
int evidence_ledger_find(const char *state, const char *session, const struct digest *metadata,
			 struct evidence_ledger_found *ret, struct fault *f) _must_check_;

/*
 * Is the manifest of the evidence NAME the one that was captured?  By its digest in metadata.json, and that one's in the ledger
 * of STATE if the ledger names the session.  *RET: static text that says what differs, or NULL.
 */
int evidence_ledger_compare(int evidence, const char *state, const char *name, const char **ret,
			    struct fault *f) _must_check_;

/* Evidence keys of session.end: END borrows from T. */
void evidence_ledger_end(const struct evidence_taken *t, struct ledger_end *end);
/* evidence.deliver: the evidence of SESSION is at PATH.  Synced when it returns 0. */
int evidence_ledger_deliver(const struct dirs *d, const char *session, const char *path,
			    const struct digest *metadata, struct fault *f) _must_check_;
