/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "state/dirs.h"
#include "ledger/ledger-session.h"

/*
 * The note (session/session-note.h) of a container of another runtime: written by custody-warden when the container has
 * started, and again by the process that records its end, before the record. Its name is the container's id. A
 * convenience: write errors are ignored, because a warden has no terminal and the ledger is the record.
 */
struct container_begin {
	const struct dirs *dirs;
	const struct config *config;
	const char *session;
	int dir; /* RUN/sessions/ID with the info */
	uint64_t started_us;
};
int container_note_begin(const struct container_begin *b, struct fault *f) _must_check_;
/* Does nothing if the note is missing. */
void container_note_end(const struct dirs *d, const char *session, const struct ledger_end *end);
