/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ledger/ledger-reader.h"
#include "ledger/ledger-record.h"

/* Follows a ledger while it is being written, over rotations, as tail -F does. */
struct ledger_follow {
	int (*each)(const struct record *r, void *arg); /* negative errno: stop */
	int (*caught_up)(void *arg,
			 struct fault *f); /* after each batch, before waiting; negative errno: stop */
	void *arg;
};

/* Continues where S, which was read to its end, ended.  Returns only on failure; PATH is for its text. */
int ledger_follow(struct ledger_reader *s, const struct ledger_follow *o, const char *path,
		  struct fault *f) _must_check_;
