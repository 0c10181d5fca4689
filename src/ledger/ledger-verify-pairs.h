/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ledger/ledger-record.h"
#include "ledger/ledger-verify.h"

/*
 * Sessions and requests that have begun and not ended. Bounded: an untrusted ledger must not exhaust memory.
 */
struct verify_pairs;

struct verify_pairs *verify_pairs_new(void);
void verify_pairs_free(struct verify_pairs *s);
void verify_pairs_feed(struct verify_pairs *s, const struct record *r, struct ledger_verify_result *result);
void verify_pairs_end(const struct verify_pairs *s, struct ledger_verify_result *result);
