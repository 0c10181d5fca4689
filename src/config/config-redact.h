/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "config/config.h"
#include "ledger/ledger-redact.h"
#include "profile/profile.h"

/* Redaction rules of a start: those of custody.json and, once it is loaded, of the profile.  The rules borrow from FLAGS. */
struct config_redact {
	struct redact rules;
	char **flags;
};

/* C: NULL for the built-in rules; MORE: flags of the profile, or NULL.  Replaces earlier rules. */
int config_redact_set(struct config_redact *r, const struct config *c, char *const *more,
		      struct fault *f) _must_check_;
void config_redact_done(struct config_redact *r);
#define _cleanup_config_redact_ _cleanup_(config_redact_done)

/* `audit.redact` of P, which may be NULL; the caller frees the list, which may be NULL. */
int config_redact_flags(const struct profile *p, char ***ret, struct fault *f) _must_check_;
