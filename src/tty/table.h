/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"

/*
 * Rows of text under titles.  Cells are escaped here, so that no name in them reaches a terminal raw.  To a terminal each
 * line is cut to its width, extra columns are left out where they do not fit or no row uses them, and a legend follows.
 * To anything else every line is whole and every column is printed.
 *
 * Rows are collected to align them: up to TABLE_BATCH, then they are printed and later rows follow that layout.
 */
#define TABLE_COLUMNS_MAX 8
#define TABLE_BATCH 500

struct table_column {
	const char *title;
	unsigned int width; /* at least; of the last column: before extra columns are left out for it */
	bool right;	    /* aligned to the right */
	bool extra;	    /* may be left out on a terminal; the last such column first */
};

struct table {
	const struct table_column *columns;
	size_t n;
	FILE *out;
	bool terminal, headed;
	size_t room; /* columns of the terminal; 0: unknown, lines are not cut */
	size_t width[TABLE_COLUMNS_MAX];
	bool hidden[TABLE_COLUMNS_MAX], used[TABLE_COLUMNS_MAX];
	char **cells; /* N for each row */
	size_t n_rows;
};

/* COLUMNS stays the caller's. */
void table_init(struct table *t, const struct table_column *columns, size_t n, FILE *out);
/* One text for each column; NULL or "" is printed as "-". */
void table_put(struct table *t, const char *const *cells);
void table_flush(struct table *t); /* prints the rows so far; more may follow */
bool table_is_empty(const struct table *t);
/* Prints the rest.  LEGEND explains signs, for a terminal only; NULL: none. */
void table_end(struct table *t, const char *legend);
void table_done(struct table *t);
#define _cleanup_table_ _cleanup_(table_done)

/* Columns of the terminal FD; 0: unknown, or not a terminal. */
size_t table_terminal_width(int fd);
