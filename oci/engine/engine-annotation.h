/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-field.h"
#include "oci/engine/engine-impl.h"

/* One annotation, or all with a prefix ("run.oci.*"): the first row that matches decides. */
struct engine_annotation {
	const char *name;
	enum engine_rule rule;
	const char *what; /* NULL: an unknown name of custody's own */
};

const struct engine_annotation *engine_annotation_find(const char *name);
const struct engine_annotation *engine_annotation_at(size_t i); /* NULL past the last */
