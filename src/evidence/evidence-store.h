/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "evidence/evidence.h"
#include "state/dirs.h"

/* The directory that holds evidence, one subdirectory per session; several lanes share it. */

/* `forensics.path` of custody.json, else `forensics` beside the lanes' state.  Heap, NULL on ENOMEM. */
char *evidence_store_path(const struct dirs *d, const struct config *c);

struct evidence_item {
	char *name; /* of the directory */
	struct jdoc *metadata;
	enum evidence_status status;
	const char *agent, *reason; /* in METADATA; "": unknown */
	uint64_t taken_us, bytes;
	bool has_retention; /* RETENTION_S is set by the profile; else the rules apply */
	uint64_t retention_s;
	bool pinned;
};

struct evidence_list {
	struct evidence_item *items; /* oldest first */
	size_t n;
};
void evidence_list_done(struct evidence_list *l);
#define _cleanup_evidence_ _cleanup_(evidence_list_done)

/* Evidence whose metadata names LANE.  Evidence with unreadable metadata is in no lane.  Missing store: empty list. */
int evidence_list(const char *store, enum lane lane, struct evidence_list *ret, struct fault *f) _must_check_;

/*
 * The directory NAME, or the only one with this prefix, these digits (session_word_matches) or of a session with this
 * name.  -ENOENT: missing; -EEXIST: several.  RET_NAME: heap, may be NULL.
 */
int evidence_open(const char *store, enum lane lane, const char *name, char **ret_name,
		  struct fault *f) _must_check_;

int evidence_pin(int evidence, const char *reason, struct fault *f) _must_check_;
int evidence_unpin(int evidence, struct fault *f) _must_check_; /* -ENOENT: not pinned */
/* Renamed at once, then removed.  Pinned evidence, too: the caller checks. */
int evidence_remove(const char *store, const char *name, struct fault *f) _must_check_;
/* Finishes interrupted removals. */
int evidence_sweep(const char *store, struct fault *f) _must_check_;

/* 1 and RET: complete evidence of SESSION exists; 0: none.  Unfinished evidence whose writer is dead is removed. */
int evidence_store_adopt(const char *store, enum lane lane, const char *session, struct evidence_taken *ret,
			 struct fault *f) _must_check_;
