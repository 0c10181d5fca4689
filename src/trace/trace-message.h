/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the observer tells the supervisor: one datagram each, a fixed head and NUL-terminated texts.  Both are the same build;
 * the texts are bytes of the command's memory, so the reader trusts no length.
 */
#define TRACE_TEXT_MAX ((size_t)6 * 1024) /* of all texts with their NULs: six times that fits a record */
#define TRACE_PATH_MAX 4096		  /* of the first one; the kernel takes none that is as long */
#define TRACE_ARGS_MAX 64

enum trace_kind {
	/*
	 * A call that was made: texts are the address; or the program or file, what its path begins at ("": the root, or not known),
	 * and the arguments.
	 */
	TRACE_KIND_CALL = 1,
	TRACE_KIND_REPEAT, /* the same, COUNT more times since */
	TRACE_KIND_DENIED, /* a call that was refused, COUNT times until now; no text */
	TRACE_KIND_END,	   /* the last message: TOTALS */
};

/* Bits of `flags`. */
#define TRACE_CUT 1u	    /* the texts are not complete */
#define TRACE_UNREADABLE 2u /* the memory could not be read: texts that are missing are unknown */

struct trace_totals {
	uint64_t seen;	   /* notifications of calls that were made */
	uint64_t denied;   /* and of calls that were refused */
	uint64_t repeated; /* of SEEN, in messages of TRACE_KIND_REPEAT */
	uint64_t lost;	   /* of SEEN and DENIED, without a message: the supervisor did not keep up */
	uint64_t gone; /* callers that died, or whose call a signal started again, before they were read */
	uint64_t unreadable; /* of SEEN */
};

struct trace_head {
	uint32_t kind; /* enum trace_kind */
	int32_t nr;
	int32_t err; /* that the call returned; 0: it was made */
	int32_t pid; /* of the caller inside; 0: not known */
	uint32_t flags;
	uint32_t texts; /* number of texts behind the head */
	uint64_t count;
	struct trace_totals totals;
};
#define TRACE_MESSAGE_MAX (sizeof(struct trace_head) + TRACE_TEXT_MAX)

struct trace_message {
	struct trace_head head;
	const char *texts[TRACE_ARGS_MAX + 1]; /* borrowed; NULL-terminated */
};

/* The LEN bytes of one datagram.  False: malformed. */
bool trace_message_parse(const char *bytes, size_t len, struct trace_message *ret);
