/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/id-map.h"

/*
 * The text of /etc/subuid or /etc/subgid, subuid(5): lines "OWNER:FIRST:COUNT", where OWNER is a user's name or uid.  Pure.
 *
 * A line that cannot be read refuses the whole file: newuidmap may read a range in it that is compared with nothing here.
 */
#define SUBID_USED_MAX UINT32_C(65535) /* ids beside the caller's own, as podman */
#define SUBID_TEXT_MAX ((size_t)1024 * 1024)
/* The whole of id_range in custody.json: ids of root's sessions and bundles. */
#define SUBID_RESERVED_FIRST UINT32_C(1879048192)
#define SUBID_RESERVED_LAST UINT32_C(2147483647)

struct subid_ask {
	const char *file;			/* for messages */
	const char *name;			/* of the caller */
	uint32_t uid;				/* the caller's: entries by number */
	uint32_t self;				/* the caller's own uid or gid: 0 inside */
	uint32_t reserved_first, reserved_last; /* ids that custody gives to the runs of root */
};

/*
 * Container id 0 is SELF; the ids from 1 on are the caller's ranges in the order of the file, until SUBID_USED_MAX ids are
 * mapped.  -ENOENT: the file has no range of the caller.  Every other fault is a range that must not be mapped.
 */
int subid_choose(const char *text, size_t len, const struct subid_ask *ask, struct id_extents *ret,
		 struct fault *f) _must_check_;

/* Does a line of TEXT grant one of COUNT ids from FIRST on?  A line that cannot be read, which subid_choose refuses, grants none. */
bool subid_is_granted(const char *text, size_t len, uint64_t first, uint64_t count);

/*
 * TEXT is /etc/passwd or /etc/group.  Refuses extents that contain the id of an account in it (KIND: "user", "group"), other
 * than the caller's own.
 */
int subid_require_free(const char *text, size_t len, const char *kind, const struct id_extents *e,
		       struct fault *f) _must_check_;

/* TEXT is /etc/nsswitch.conf: refuses a source of subordinate ids other than the files. */
int subid_require_files(const char *text, size_t len, struct fault *f) _must_check_;
