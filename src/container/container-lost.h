/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "state/dirs.h"
#include "ledger/ledger.h"
#include "container/warden-handover.h"
#include "session/exit-reason.h"

/*
 * The end of a bundle's container whose warden died, told by whoever is left: evidence, one record with `lost`, the claim
 * goes.  The container is dead; nobody else may hold its claim.
 */
struct container_lost {
	const struct dirs *dirs;
	const struct config *config;
	const char *session;
	int dir;		 /* of the session: its info */
	enum exit_source source; /* the program that records it */
	struct warden_held held;
	const char *why; /* HELD has no tree: the reason */
};

/* 1: told; 0: somebody has. */
int container_lost_close(const struct container_lost *c, struct ledger *l, struct fault *f) _must_check_;
