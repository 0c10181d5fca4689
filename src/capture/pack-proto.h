/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/*
 * Between custody and custody-pack, which alone knows libarchive: one of these, LEN bytes of name, SIZE bytes of data.  Both
 * ends are the same build on the same machine.  PACK_END is the last one: a stream without it is not whole.
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

#define PACK_NAME_MAX ((uint32_t)64 * 1024) /* nothing that the mirror's depth allows is longer */
