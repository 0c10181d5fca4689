/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* What a target can take, found out by trying in a scratch directory of it: names of file systems promise too much. */
struct evidence_probe {
	bool any_names;	    /* every byte but '/', case kept apart, 255 of them */
	bool local;	    /* errors show at once, one sync at the end is enough */
	uint64_t create_us; /* of one small file, the fastest of some */
	bool archive;	    /* what was chosen then (evidence.c) */
};

int evidence_probe(int dirfd, struct evidence_probe *ret, struct fault *f) _must_check_;

/* Is it a file system of this machine?  A share may show modes that mean nothing. */
bool evidence_is_local(int fd);
