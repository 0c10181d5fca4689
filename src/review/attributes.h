/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/fault.h"
#include "base/str.h"

/*
 * The extended attributes user.* of a file or directory, without overlayfs' own.  They are part of a change: shown by diff,
 * compared and applied.  Other namespaces mean nothing outside the session, or grant privileges.
 */
#define ATTRIBUTES_MAX ((size_t)1024 * 1024) /* names and values of one entry */

struct attributes {
	struct attribute {
		char *name;
		void *value;
		size_t len;
	} * items; /* sorted by name */
	size_t n, bytes;
};

/*
 * The names of all extended attributes of an entry, of any namespace, read with one call: most entries have none, and each
 * attribute that is looked for costs a call.  N negative: not known, because there are many or the call failed.
 */
struct attribute_names {
	char text[512];
	long n;
};
/* Of NAME in DIRFD, a link not followed. */
void attribute_names_read(int dirfd, const char *name, struct attribute_names *ret);
/* Is there one that begins with PREFIX?  True if it is not known. */
bool attribute_names_may_have(const struct attribute_names *a, const char *prefix);
/* Is there one that attributes_read returns?  Overlayfs marks each copy of a file with one of its own.  True if it is not known. */
bool attribute_names_may_have_user(const struct attribute_names *a);

/* FD may be O_PATH.  -E2BIG: more than ATTRIBUTES_MAX. */
int attributes_read(int fd, struct attributes *ret) _must_check_;
void attributes_done(struct attributes *a);
#define _cleanup_attributes_ _cleanup_(attributes_done)

/* What differs, for people: "user.a added, user.b changed, user.c removed"; heap.  *RET is NULL if they are equal. */
int attributes_compare(const struct attributes *from, const struct attributes *to, char **ret) _must_check_;
/* Makes the attributes of FD, which may be O_PATH, those of A. */
int attributes_set(int fd, const struct attributes *a, struct fault *f) _must_check_;
