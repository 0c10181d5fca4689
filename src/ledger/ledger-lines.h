/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "ledger/ledger-reader.h"
#include "ledger/ledger-record.h"

/* Splits bytes into records; the input may be cut at any byte. */
struct ledger_lines {
	int (*each)(const struct record *r, void *arg); /* not 0: stop */
	void *arg;
	uint64_t damaged; /* lines that are not a record */
	char *carry;	  /* the incomplete line at the end of the input so far */
	size_t carried;
};

int ledger_lines_feed(struct ledger_lines *l, const char *bytes,
		      size_t len); /* the result of EACH, 0, or -ENOMEM */
void ledger_lines_done(struct ledger_lines *l);

/* Feeds everything that S has left. */
int ledger_lines_read(struct ledger_reader *s, struct ledger_lines *l, struct fault *f) _must_check_;
