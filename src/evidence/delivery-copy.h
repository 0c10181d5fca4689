/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/digest.h"
#include "base/fault.h"

/*
 * One staged evidence into a store that may be a share: full, slow, gone in the middle, or hanging.  It exists there whole
 * or not at all.  Every file is written, synced, closed and read back; whatever fails, what is staged stays.
 */
struct delivery_copy {
	int staged;		  /* the evidence's directory */
	const char *session;	  /* its name */
	const char *store;	  /* made when it is not there */
	void (*alive)(void *arg); /* called as long as there is progress; may be NULL */
	void *arg;
};

struct delivery_copied {
	char *name;	/* in the store; heap */
	bool was_there; /* somebody who died before could not say so */
	struct digest metadata;
};

int delivery_copy(const struct delivery_copy *c, struct delivery_copied *ret, struct fault *f) _must_check_;
