/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "ledger/ledger-session.h"
#include "state/dirs.h"

/* exit.json in the session's directory, WARDEN_SESSION: the end of a bundle's container, for `custody-hook audit`. */
struct warden_exit {
	const struct ledger_end *end;
	const char *session, *container;
};

int warden_exit_write(const struct warden_exit *e, struct fault *f) _must_check_;

/* Removes the directory if `custody-hook audit` has given up waiting and left it to us; else nothing. */
void warden_exit_clean(const struct dirs *d, const char *session);
