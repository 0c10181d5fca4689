/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "review/changes.h"

/*
 * Pairs each removed file with an added one of the same bytes, for people who read the list: sets `pair` of both.  Only
 * changes that are picked and not refused; empty files are not paired.  Of several equal files those with the same last name
 * are paired first, then in the order of their paths.  Files are hashed only where a removed and an added one have the same
 * size, RENAME_BYTES in all; files beyond that stay unpaired, and so do unreadable ones.  Similar files are not searched for.
 */
#define RENAME_BYTES ((uint64_t)1024 * 1024 * 1024)

struct rename_ask {
	int upper, base;
	uint64_t bytes_max; /* 0: RENAME_BYTES */
};

int rename_pair(struct changes *c, const struct rename_ask *ask, struct fault *f) _must_check_;
