/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* Properties of a target, tested in a scratch directory: the file system type is not reliable. */
struct evidence_probe {
	bool any_names;	    /* names may have any byte but '/', are case-sensitive, and may have 255 bytes */
	bool local;	    /* errors are reported at once: one sync at the end is enough */
	uint64_t create_us; /* time to create one small file, the fastest of several */
	bool archive;	    /* an archive is written (evidence.c) */
};

int evidence_probe(int dirfd, struct evidence_probe *ret, struct fault *f) _must_check_;

/* A local file system.  On a share modes may have no meaning. */
bool evidence_is_local(int fd);
