/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "ledger/ledger-seal.h"

/*
 * The bytes of a ledger for readers: the live one, a copied directory, one file, or stdin. Writers may
 * continue: reading ends where the ledger ended when it was opened.
 */
struct ledger_reader {
	int dirfd;		    /* of the segments; negative: one stream */
	int fd;			    /* being read */
	uint64_t *segments, *sizes; /* SIZES: of each */
	size_t n, at;		    /* AT: index of the next one */
	uint64_t left;		    /* of it */
	uint64_t total;		    /* bytes in all; 0: not known */
	bool has_seal, same_boot;
	struct seal seal;
	char *public;	   /* key line of the ledger; NULL: none found */
	char *checkpoints; /* the end of the file of checkpoints; NULL: none found */
	size_t checkpoints_len;
};

/* STATE as for ledger_open.  -ENOENT: no ledger there. */
int ledger_reader_open_live(const char *state, struct ledger_reader *ret, struct fault *f) _must_check_;
int ledger_reader_open_path(const char *path, struct ledger_reader *ret,
			    struct fault *f) _must_check_; /* "-": stdin */
void ledger_reader_done(struct ledger_reader *s);
#define _cleanup_ledger_reader_ _cleanup_(ledger_reader_done)

/* Skips the segments that end before record SEQ. */
void ledger_reader_skip_to(struct ledger_reader *s, uint64_t seq);

/* 0 at the end.  RET_FIRST: a segment begins with these bytes, named after this seq; else UINT64_MAX. */
int ledger_reader_read(struct ledger_reader *s, char *bytes, size_t len, size_t *ret_len, uint64_t *ret_first,
		       struct fault *f) _must_check_;

/*
 * Calls EACH for every remaining complete line, with its LF. A line longer than a record ends the loop: the
 * text after it cannot be trusted.
 */
typedef void ledger_reader_line(void *arg, const char *line, size_t len);
int ledger_reader_each_line(struct ledger_reader *s, ledger_reader_line *each, void *arg,
			    struct fault *f) _must_check_;

/* Reads the seal of a ledger from a file. */
int ledger_reader_load_seal(const char *path, struct seal *ret, struct fault *f) _must_check_;
