/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/str.h"
#include "ledger/ledger.h"

/*
 * The bytes of one record, docs/design/ledger.md draws them.  Nothing here reads a clock or a file.
 *
 *	{"v":1,"seq":N,"prev":"H","t":"T","boot":"B","bt":N,"k":"K",...,"d":{...} ,"m":"M" ,"h":"H"}\n
 *	                                                                          |71 bytes|73 bytes |
 */
#define RECORD_SUFFIX 73 /* ,"h":"<64>"}\n */
#define RECORD_SEAL 71	 /* ,"m":"<64>" */
#define RECORD_FRONT_MAX 200
#define RECORD_BODY_MAX (LEDGER_LINE_MAX - RECORD_FRONT_MAX - RECORD_SEAL - RECORD_SUFFIX)

/* K to d of one event as text, redacted, ASCII, truncated to fit. Fails only on programming errors. */
int record_body(const struct ledger_event *e, const struct redact *rules, struct strbuf *out,
		struct fault *f) _must_check_; /* RULES may be NULL */

/* Fields that are set when the record is written. */
struct record_front {
	uint64_t seq;
	struct digest prev;
	uint64_t wall_us, boot_ns;
	const char *boot;
};

/* One line into ROOM (at least LEDGER_LINE_MAX bytes); length.  KEY NULL: not sealed.  RET_HEAD: its h. */
size_t record_write(char *room, const struct record_front *front, const char *body, size_t body_len,
		    const struct digest *key, struct digest *ret_head);

struct span {
	const char *at; /* not terminated; NULL: missing */
	size_t len;
};

/* A parsed line. All pointers point into it. */
struct record {
	const char *line;
	size_t len; /* with its LF */
	uint64_t seq, boot_ns;
	const char *prev, *t, *boot; /* 64, 27 and 8 characters */
	struct span kind, session, agent, worker, status, d;
	const char *seal; /* 64 characters; NULL: not sealed */
	const char *head; /* 64 characters */
};

/*
 * LINE is LEN bytes with its LF.  The grammar is strict, so that no two readers can see two records in one line: one
 * order of keys, ascending keys inside d, no blanks, ASCII.  0, or -EBADMSG and the reason.
 */
int record_parse(const char *line, size_t len, struct record *ret, const char **ret_why) _must_check_;

bool record_hash_verify(const struct record *r); /* h is that of the bytes */
bool record_seal_verify(const struct record *r, const struct digest *key);
void record_head(const struct record *r, struct digest *ret);
void record_prev(const struct record *r, struct digest *ret);
bool record_prev_is(const struct record *r, const struct digest *head);
bool record_kind_is(const struct record *r, const char *kind);

/* The raw value of KEY directly inside d (a string with its quotes); `at` is NULL if it is missing. */
struct span record_get(const struct record *r, const char *key);
bool record_get_u64(const struct record *r, const char *key, uint64_t *ret);
bool span_is(struct span s, const char *text);

/* Is TEXT one JSON object that record_parse accepts as d? */
bool record_text_is_strict(const char *text, size_t len);

/* Bytes above ASCII, and DEL, of JSON text become \uXXXX. */
void record_put_ascii(struct strbuf *out, const char *json, size_t len);
