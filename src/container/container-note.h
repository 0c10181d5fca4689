/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "state/dirs.h"
#include "ledger/ledger-session.h"

/*
 * The note (session/session-note.h) of a container that another runtime runs: written by custody-warden when it has started, and
 * again by whoever tells its end, before that is on the record.  Its name is the container's id.  A convenience: what cannot be
 * written is left out, for nobody hears a warden and the ledger has it.
 */
struct container_begin {
	const struct dirs *dirs;
	const struct config *config;
	const char *session;
	int dir; /* RUN/sessions/ID with the info */
	uint64_t started_us;
};
int container_note_begin(const struct container_begin *b, struct fault *f) _must_check_;
/* Without a note there is nothing to do. */
void container_note_end(const struct dirs *d, const char *session, const struct ledger_end *end);
