/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/*
 * Stream between custody and custody-pack, which alone uses libarchive: this header, LEN bytes of name, SIZE bytes of
 * data.  Both sides are the same build on the same machine.  PACK_END is the last header: a stream without it is
 * incomplete.
 */
enum pack_type {
	PACK_END = 'e',
	PACK_FILE = 'f',
};

struct pack_head {
	uint64_t size;
	int64_t mtime_s;
	uint32_t mtime_ns, mode;
	uint32_t len; /* of the name */
	uint32_t type;
};

#define PACK_NAME_MAX ((uint32_t)64 * 1024) /* the depth of the mirror limits names to this */
