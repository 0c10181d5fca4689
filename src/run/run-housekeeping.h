/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/run-ledger.h"

/*
 * What each start does for the whole host while its container is being created: the ends of lost sessions, the audit
 * peer's checkpoint, kept uppers past their retention, evidence that waits for delivery.  Failures are logged: they are
 * not this run's.
 */
void run_housekeeping(const struct run_ledger *r);
