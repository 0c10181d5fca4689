/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "state/dirs.h"

/* How a bundle's container ended, for whoever waits for it: exit.json in the session's directory, WARDEN_SESSION. */
struct warden_exit {
	const char *reason, *source, *session, *container;
	int code, signal;
	bool abnormal;
	const char *evidence, *evidence_error; /* NULL: none */
};

int warden_exit_write(const struct warden_exit *e, struct fault *f) _must_check_;

/* Whoever waited has gone, and left the directory to us; else nothing happens. */
void warden_exit_clean(const struct dirs *d, const char *session);
