/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/fault.h"

/*
 * Bytes that are never swapped out and in no core dump, and are overwritten when they are freed.  They are read from a
 * descriptor straight into their place: nothing on the way may keep a copy (stdio, struct strbuf, struct jdoc).
 */
struct secret;

/* Room for ROOM bytes, empty.  Refused if memory cannot be locked. */
int secret_new(size_t room, struct secret **ret, struct fault *f) _must_check_;
/* From children that this process makes from now on: their copy would not be locked. */
int secret_hide(struct secret *s, struct fault *f) _must_check_;
void secret_free(struct secret *s);
DEFINE_CLEANUP(struct secret, secret_free)
#define _cleanup_secret_ _cleanup_(secret_freep)

const char *secret_bytes(const struct secret *s); /* NUL behind the last one */
size_t secret_len(const struct secret *s);
char *secret_room(struct secret *s, size_t *ret_left);	    /* behind the bytes */
void secret_grow(struct secret *s, size_t len);		    /* LEN bytes were written there */
void secret_cut(struct secret *s, size_t from, size_t len); /* keeps LEN bytes from FROM on */
void secret_cut_line_end(struct secret *s); /* one, which echo and editors put behind a value */
int secret_add(struct secret *s, const char *bytes, size_t len, struct fault *f) _must_check_; /* -EMSGSIZE */

/* Reads to the end of FD, at most MAX bytes (more: -EMSGSIZE). */
int secret_read(int fd, size_t max, struct secret **ret, struct fault *f) _must_check_;
