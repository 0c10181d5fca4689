/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "trace/trace-memory.h"
#include "trace/trace-message.h"

/*
 * Equal calls are sent once, and then counted: a loop over one program must not fill the record.  Texts are compared, not
 * their hashes, so that no call hides behind another one.  Long and incomplete texts are always sent.
 */
#define TRACE_REPEAT_PLACES 64
#define TRACE_REPEAT_BYTES 480

struct trace_repeat {
	int32_t nr; /* with N 0: free */
	uint32_t n;
	uint16_t len;
	uint64_t count; /* since it was sent */
	char bytes[TRACE_REPEAT_BYTES];
};

struct trace_repeats {
	struct trace_repeat at[TRACE_REPEAT_PLACES];
};

/*
 * True: the call was sent before and is counted.  False: send it; its place may have belonged to another one, which is now in
 * *RET_BEFORE with its count, else with count 0.
 */
bool trace_repeat_count(struct trace_repeats *r, int32_t nr, const struct trace_texts *t,
			struct trace_repeat *ret_before);
