/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ledger/ledger-verify.h"

/*
 * The checkpoints of a verification, in the order of the records that they cover.  All of them: a note of a history that was
 * removed contradicts the present one, however many notes were signed since.
 */
struct verify_notes {
	const struct ledger_verify_options *o;
	size_t *order; /* of o->checkpoints, by size */
	size_t at;     /* in ORDER: the next one */
	bool *seen;
};

bool verify_notes_init(struct verify_notes *n, const struct ledger_verify_options *o); /* false: ENOMEM */
void verify_notes_done(struct verify_notes *n);
/*
 * Compares the notes for SIZE records with HEAD; SIZE MUST NOT decrease between calls.  False: one differs.  *RET_BACKED: one
 * of them is from elsewhere, or signed with a key from elsewhere.
 */
bool verify_notes_meet(struct verify_notes *n, uint64_t size, const struct digest *head, bool *ret_backed);
/* Does note I prove nothing alone?  It lies beside the records, and no key from elsewhere signed it. */
bool verify_notes_is_own(const struct verify_notes *n, size_t i);
