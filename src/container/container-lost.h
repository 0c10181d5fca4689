/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "state/dirs.h"
#include "ledger/ledger.h"
#include "container/warden-handover.h"
#include "session/exit-reason.h"

/*
 * Closes the session of a container whose warden died: captures evidence, writes one record with `lost`, removes the
 * claim. The container must be dead, and no other process may hold its claim.
 */
struct container_lost {
	const struct dirs *dirs;
	const struct config *config;
	const char *session;
	int dir;		 /* of the session, with the container info */
	enum exit_source source; /* the program that records it */
	struct warden_held held;
	const char *why; /* HELD has no tree: the reason */
};

/* 1: recorded; 0: another process has recorded it. */
int container_lost_close(const struct container_lost *c, struct ledger *l, struct fault *f) _must_check_;
