/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/fault.h"
#include "base/json.h"

/* What the merge does with each member of config.json: one table per object.  A member that is in no table is refused. */
enum engine_rule {
	ENGINE_REFUSE, /* by its name, unless its value asks for nothing: null, false, 0, "", [], {} */
	ENGINE_INTERSECT, /* tightened, or refused where the profile does not allow it; the result is in the subject */
	ENGINE_SUBJECT, /* passed on; a part of the approved text */
	ENGINE_NOISE,	/* passed on; differs between two identical calls, or changes nothing that runs */
};

struct engine_field {
	const char *key; /* NULL ends a table; "*": every name that the caller chooses */
	enum engine_rule rule;
	const struct engine_field *in; /* of an object, of each element of an array */
	const char *what;	       /* how, or why */
};

extern const struct engine_field engine_fields[];

const char *engine_rule_name(enum engine_rule r);

/* -EPERM with the name of the first member of CONFIG that is refused, or that no table has. */
int engine_field_require(const struct jdoc *config, struct fault *f) _must_check_;
/* The same for the process of `exec`. */
int engine_field_require_process(const struct jdoc *p, struct fault *f) _must_check_;

/* Does D ask for nothing? */
bool engine_field_is_empty(const struct jdoc *d);
