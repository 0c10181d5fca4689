/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/digest.h"
#include "base/fault.h"

/*
 * Copies one staged evidence to a store that may be a share: full, slow, disconnected or hanging.  In the store it is
 * complete or missing.  Every file is written, synced, closed and read back; on any error the staged evidence stays.
 */
struct delivery_copy {
	int staged;		  /* the evidence's directory */
	const char *session;	  /* its name */
	const char *store;	  /* created if missing */
	void (*alive)(void *arg); /* called after each progress; may be NULL */
	void *arg;
};

struct delivery_copied {
	char *name;	/* in the store; heap */
	bool was_there; /* an earlier delivery copied it and died before the record */
	struct digest metadata;
};

int delivery_copy(const struct delivery_copy *c, struct delivery_copied *ret, struct fault *f) _must_check_;
