/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ledger/ledger-session.h"
#include "session/exit-reason.h"

/* The end of a session in the terms of the ledger, session.json and exit.json. Strings are static. */
struct ledger_end session_end_of(const struct exit_verdict *v, uint64_t wall_ms);

/* The supervisor was killed before it recorded an end; SOURCE is the program that records it instead. */
struct ledger_end session_end_lost(enum exit_source source);
