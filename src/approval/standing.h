/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"
#include "subject/subject.h"

/*
 * What a standing approval (`custody approve --always`) is bound to: a document of parts, whose digest takes the place of the
 * subject's in the grant.  A run is covered iff its own document is the same: its command line may have other arguments and its
 * working directory may be another one, and nothing else.  Of a shell, an interpreter or a wrapper these are parts too: settings
 * has argv, cwd and operands.  docs/design/governance.md.
 *
 *	{"egress":"none","profile":"<hex>","program":"/usr/bin/x","program_sha256":"<hex>","settings":{"env":"<hex>",...},
 *	 "uid":1000,"worktree":"/srv/x","worktree_id":"DEVICE:INODE"}
 */
#define STANDING_S ((uint64_t)30 * 24 * 3600) /* default validity; `grant_max` caps it */
#define STANDING_USES 1000000

/*
 * The parts of S, whose document is DOCUMENT; reads the program.  1: *RET is filled; 0: this run can have no standing approval,
 * and *RET_WHY says why (static).
 */
int standing_bind(const struct subject *s, const struct jdoc *document, struct jdoc **ret,
		  const char **ret_why, struct fault *f) _must_check_;

/* Strict: the keys above, of their types. */
int standing_require(const struct jdoc *d, const char *label, struct fault *f) _must_check_;
/* Of a document that standing_bind made or standing_require accepted. */
int standing_digest(const struct jdoc *d, struct digest *ret, struct fault *f) _must_check_;

/* Appends the parts in which B differs from A: "profile, settings.mounts"; nothing if they are the same. */
void standing_put_difference(const struct jdoc *a, const struct jdoc *b, struct strbuf *out);
/* Is an approval of A of interest to a run B that it does not cover? */
enum standing_near {
	STANDING_FAR,
	STANDING_SAME_WORKTREE,
	STANDING_SAME_PROGRAM, /* its path */
};
enum standing_near standing_is_near(const struct jdoc *a, const struct jdoc *b);
