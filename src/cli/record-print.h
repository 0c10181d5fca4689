/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdio.h>

#include "base/local-time.h"
#include "ledger/ledger-record.h"
#include "tty/table.h"

/* Records as a table for people, with local times. */
struct record_print {
	struct table table;
	struct table_column columns[7];
	char title[LOCAL_TITLE_SIZE];
	bool of_session; /* without the columns that are equal for all records of a session */
};

/* P must not move afterwards. */
void record_print_init(struct record_print *p, bool of_session, FILE *out);
void record_print_put(struct record_print *p, const struct record *r);
