/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-limit.h"

/* Shared by the files of engine_limits_clamp only. */
struct limit_walk {
	const struct engine_limits *l;
	struct jdoc *asked;
	struct engine_limits_result *ret;
	struct fault *f;
};

/* False: not a number.  NULL: what the kernel has. */
bool engine_limit_number(const struct jdoc *v, const struct engine_limit *row, bool v2, uint64_t *ret);
/* Was it set in create by a file of `unified`, so that a member would replace the file? */
bool engine_limit_is_file(const struct limit_walk *w, const char *path);
void engine_limit_put_looser(struct limit_walk *w, const char *member, const struct engine_limit *row,
			     const char *approved, const char *asked);

int engine_limit_clamp_object(struct limit_walk *w, const char *prefix, const struct engine_limit *table,
			      struct jdoc *object, const struct jdoc *approved) _must_check_;
int engine_limit_clamp_list(struct limit_walk *w, const char *path, const struct engine_limit *row,
			    struct jdoc *list, const struct jdoc *approved) _must_check_;
int engine_limit_clamp_files(struct limit_walk *w, const char *path, struct jdoc *files,
			     const struct jdoc *approved) _must_check_;
/* Members that libcrun or the kernel writes together: judged together, and sent together. */
void engine_limit_couple(struct limit_walk *w);

/* Objects and arrays without a member. */
void engine_limits_drop_empty(struct jdoc *object);
