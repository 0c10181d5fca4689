/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "ledger/ledger-redact.h"
#include "state/digest-key.h"
#include "subject/subject.h"

/*
 * Words of the command with a secret are redacted in the document, and their HMACs tell two secrets apart.  Only plain values
 * are (ledger/ledger-redact.h) that name no file, so an approver reads everything that could be another command, option, path or
 * expansion.
 * docs/design/subject.md.
 */

/* Fills S->shown, before the document is written.  RULES: lists of the site and the profile, or NULL. */
int subject_redact(struct subject *s, const struct redact *rules, const struct digest_key *key,
		   struct fault *f) _must_check_;
