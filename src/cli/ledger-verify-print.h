/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ledger/ledger-verify.h"

/* Both answers of verify, for people and for programs. */
int verdict_print(const struct ledger_verify_result *r, const struct ledger_verify_options *o);
int verdict_print_json(const struct ledger_verify_result *r, const struct ledger_verify_options *o,
		       struct fault *f);
