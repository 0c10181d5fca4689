/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ledger/ledger-record.h"
#include "ledger/ledger-verify.h"

/* Which sessions and requests have begun and not ended.  Bounded: a stranger's ledger must not eat our memory. */
struct story;

struct story *story_new(void);
void story_free(struct story *s);
void story_feed(struct story *s, const struct record *r, struct verify_result *result);
void story_end(const struct story *s, struct verify_result *result);
