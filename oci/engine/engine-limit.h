/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/json.h"

/*
 * What `update` may do to the resources of a governed container: nothing that is looser than what create was allowed.  One
 * table has every member; a member that is not listed is refused.  docs/design/engine.md.
 *
 * Pure: nothing here reads a file.  Files of `unified` that have a member of their own are first written as that member.
 */
enum engine_limit_kind {
	ENGINE_LIMIT_SAME,   /* no order: the approved value or none */
	ENGINE_LIMIT_MORE,   /* a larger number is looser */
	ENGINE_LIMIT_SWAP,   /* the same; memory and swap together */
	ENGINE_LIMIT_QUOTA,  /* per period */
	ENGINE_LIMIT_PERIOD, /* judged with the quota */
	ENGINE_LIMIT_SET,    /* list of CPUs or memory nodes: a subset is tighter */
	ENGINE_LIMIT_TRUE,   /* true is looser */
	ENGINE_LIMIT_RAISE,  /* only up, also after an update: the kernel forgets the weight when it falls */
	ENGINE_LIMIT_FREE,   /* about the call, not about a limit */
	ENGINE_LIMIT_FILES,  /* `unified` */
	ENGINE_LIMIT_OBJECT, /* IN has the members */
	ENGINE_LIMIT_LIST,   /* of objects that are told apart by KEYS; IN has the other members */
};

/* What 0 means. */
enum engine_limit_zero {
	ENGINE_ZERO_NUMBER,  /* 0 */
	ENGINE_ZERO_UNSET,   /* not set: engines send every member that they know, and libcrun ignores it */
	ENGINE_ZERO_UNASKED, /* the same in `update`; 0 in create */
	ENGINE_ZERO_NONE,    /* no limit */
};

#define ENGINE_LIMIT_NONE UINT64_MAX

struct engine_limit {
	const char *name; /* NULL ends a table */
	enum engine_limit_kind kind;
	enum engine_limit_zero zero;
	uint64_t missing[2]; /* what the kernel has where nothing is set: v1, v2 */
	const char *option;  /* of an engine's create; NULL: none is usual */
	const struct engine_limit *in;
	const char *keys[3]; /* LIST; NULL-terminated */
};

extern const struct engine_limit engine_limits[];      /* of linux.resources */
extern const struct engine_limit engine_limit_files[]; /* of `unified`, for those that stay files */

/* TABLE may be NULL. */
const struct engine_limit *engine_limit_find(const struct engine_limit *table, const char *name);

struct engine_limits {
	struct jdoc *approved; /* linux.resources of create */
	struct jdoc *engine;   /* of the engine, where the merge changed them; NULL: the same */
	struct jdoc *current;  /* with the values set since */
	bool v2;
};

struct engine_limits_result {
	struct jdoc *looser; /* array of {"member","approved","asked"} */
	const char *option;  /* for the first of them; NULL: none */
};

/* L->approved, L->engine and ASKED are changed into what engine_limits_clamp takes.  -EINVAL: a file of ASKED cannot be read. */
int engine_limits_normalize(struct engine_limits *l, struct jdoc *asked, struct fault *f) _must_check_;
/*
 * ASKED becomes what libcrun gets: the approved value for a looser one, or nothing.  An empty object: nothing to do.
 * -EPERM: a member that is not in the table.
 */
int engine_limits_clamp(const struct engine_limits *l, struct jdoc *asked, struct engine_limits_result *ret,
			struct fault *f) _must_check_;
void engine_limits_result_done(struct engine_limits_result *r);
#define _cleanup_limits_result_ _cleanup_(engine_limits_result_done)

/* Members of FROM into TO, objects by member. */
void engine_limits_overlay(struct jdoc *to, const struct jdoc *from);

/* Is every number of the list SMALL in LARGE?  "" and NULL as LARGE: every list that can be read. */
bool engine_cpuset_is_part(const char *small, const char *large);
/* A number in a file of `unified`, but not "max". */
bool engine_unified_number(const char *text, uint64_t *ret);
/* Members of RESOURCES for those files of `unified` that have one; APPROVED: an unreadable text becomes the tightest limit. */
int engine_unified_translate(struct jdoc *resources, bool approved, struct fault *f) _must_check_;
