/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json-span.h"
#include "base/str.h"
#include "oci/runtime/runtime-schema.h"

/*
 * libcrun ignores a member that it does not know, and one whose value has another type than the specification's: a user id in
 * quotes is then root, a limit in quotes none.  So each member of the specification is known here (runtime-schema.h), and has
 * its type, or is refused by its name if the linked libcrun does not do what it says.  null is a missing member.
 */
struct schema_use {
	const char *label;    /* name of the object, for messages */
	unsigned int libcrun; /* LIBCRUN_NUMBER */
	bool later;	      /* the text names a specification that is newer than the table */
	struct strbuf *
		ignored; /* names of members that are in no specification and protect nothing; NULL: they are refused */
};

int runtime_types_check(struct jspan object, const struct schema_member *list, const struct schema_use *use,
			struct fault *f) _must_check_;

/* The same with the linked libcrun. */
int runtime_types_require(struct jspan config, bool later, struct strbuf *ignored,
			  struct fault *f) _must_check_;
int runtime_types_require_process(struct jspan process, struct fault *f) _must_check_;
int runtime_types_require_resources(struct jspan resources, struct fault *f) _must_check_;
