/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/cmd-ledger.h"

/* Bytes in, records out: whole lines, whatever the portions. */
struct lines {
	int (*each)(const struct record *r, void *arg); /* not 0: stop */
	void *arg;
	uint64_t damaged; /* lines that are no record */
	char *carry;
	size_t carried;
};

int lines_feed(struct lines *l, const char *bytes, size_t len); /* what EACH said, 0, or -ENOMEM */
void lines_done(struct lines *l);

/* All of SOURCE. */
int lines_read(struct ledger_reader *s, struct lines *l, struct fault *f) _must_check_;

void lines_print(const struct record *r, FILE *out); /* for people */
