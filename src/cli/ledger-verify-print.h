/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ledger/ledger-verify.h"

/* Both results of verify, as text and as JSON. */
int ledger_verify_print(const struct ledger_verify_result *r, const struct ledger_verify_options *o);
int ledger_verify_print_json(const struct ledger_verify_result *r, const struct ledger_verify_options *o,
			     struct fault *f);
