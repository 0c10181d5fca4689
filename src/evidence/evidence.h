/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"
#include "capture/capture.h"
#include "state/lane.h"

/*
 * What is kept of an abnormal session: a directory STORE/SESSION that exists whole or not at all.
 *
 *	worktree/ odd/ manifest.ndjson	the tree (capture.h)
 *	worktree.tar.zst		instead of the first two where files cost too much (pack.h)
 *	metadata.json			whose it is, how it ended, what was kept and what not
 *	audit.ndjson stdio.log config.json subject.json		as far as there are any
 *	SHA256SUMS			of these files, for sha256sum -c
 *	pinned				only when it must stay; the reason
 *
 * While it is being taken it is called SESSION.partial and its directory is locked.
 */
#define EVIDENCE_METADATA "metadata.json"
#define EVIDENCE_SUMS "SHA256SUMS"
#define EVIDENCE_PIN "pinned"
#define EVIDENCE_PARTIAL ".partial"
#define EVIDENCE_METADATA_MAX ((size_t)1024 * 1024)

enum evidence_status {
	EVIDENCE_UNKNOWN, /* metadata that nobody can read */
	EVIDENCE_NONE,	  /* no tree was kept */
	EVIDENCE_CUT,	  /* "partial": something is missing, and is named */
	EVIDENCE_COMPLETE,
};
const char *evidence_status_name(enum evidence_status s);

/* A file that goes in as it is, read from its beginning. */
struct evidence_side {
	const char *name;
	int fd; /* -EBADF and no TEXT: there is none; metadata names it as absent */
	const char *text;
	size_t len;
};

enum evidence_form {
	EVIDENCE_AUTO, /* as the target is found */
	EVIDENCE_MIRROR,
	EVIDENCE_ARCHIVE,
	EVIDENCE_PORTABLE, /* an archive if one can be made, else names that every target takes: for another place */
};

struct evidence_ask {
	const char *store; /* made when it is not there */
	const char *session;
	int tree;		     /* -EBADF: none is left; WHY says so.  O_PATH will do. */
	const char *why;	     /* TREE -EBADF: the reason; else NULL */
	const struct jdoc *metadata; /* an object, the result's shape (result.h) */
	const struct evidence_side *sides;
	size_t n_sides;
	enum evidence_form form;
	const struct capture_options *limits; /* what the target can take is found out here */
};

struct evidence_taken {
	char *path;
	bool staged; /* not in the store yet (delivery.h) */
	enum evidence_status status;
	struct capture_stats stats;
	struct digest
		metadata; /* of metadata.json, which names the manifest's digest: what the ledger keeps */
};
void evidence_taken_done(struct evidence_taken *t);
#define _cleanup_taken_ _cleanup_(evidence_taken_done)

int evidence_take(const struct evidence_ask *ask, struct evidence_taken *ret, struct fault *f) _must_check_;

/*
 * What somebody who died took of SESSION: 1 and RET when it is whole, else 0; halves of it that nobody works on are
 * removed.
 */
int evidence_adopt(const char *store, enum lane lane, const char *session, struct evidence_taken *ret,
		   struct fault *f) _must_check_;

/* --- the store ---------------------------------------------------------------------------------------------- */

struct evidence_item {
	char *name; /* of the directory */
	struct jdoc *metadata;
	enum evidence_status status;
	const char *agent, *reason; /* in METADATA; "" when not said */
	uint64_t taken_us, bytes;
	bool has_retention; /* its profile said how long; else the rules do */
	uint64_t retention_s;
	bool pinned;
};

struct evidence_list {
	struct evidence_item *items; /* oldest first */
	size_t n;
};
void evidence_list_done(struct evidence_list *l);
#define _cleanup_evidence_ _cleanup_(evidence_list_done)

/* All that is stamped for LANE.  What has no readable stamp is shown in no lane.  No store: none. */
int evidence_list(const char *store, enum lane lane, struct evidence_list *ret, struct fault *f) _must_check_;

/* The directory of NAME, or of the only one that begins with it.  -ENOENT.  RET_NAME: heap, may be NULL. */
int evidence_open(const char *store, enum lane lane, const char *name, char **ret_name,
		  struct fault *f) _must_check_;

int evidence_pin(int evidence, const char *reason, struct fault *f) _must_check_;
int evidence_unpin(int evidence, struct fault *f) _must_check_; /* -ENOENT: was not pinned */
/* Gone under its name at once, then removed.  PINNED ones too: the caller asks. */
int evidence_remove(const char *store, const char *name, struct fault *f) _must_check_;
/* Goes on with what somebody who died was removing. */
int evidence_sweep(const char *store, struct fault *f) _must_check_;

/* --- how long -------------------------------------------------------------------------------------------------- */

struct evidence_rules {
	uint64_t retention_days; /* 0: nothing outlives its session */
	uint64_t quota;		 /* bytes of all together; 0: no limit */
	uint64_t keep_free;	 /* bytes that the file system must have left; 0: no limit */
	uint64_t now_us;
	const char *keep; /* a name that is not pruned: just taken.  NULL: none */
};

enum evidence_verdict {
	EVIDENCE_STAYS,
	EVIDENCE_TOO_OLD,
	EVIDENCE_OVER_QUOTA,
	EVIDENCE_DISK_FULL,
};

/*
 * Which go, oldest of the heaviest agent first; pinned ones never.  Pure: FREE is what the file system has now, verdicts
 * has one place per item.
 */
void evidence_judge(const struct evidence_list *l, const struct evidence_rules *r, uint64_t free_bytes,
		    enum evidence_verdict *verdicts);

/* --- is it still what was taken? --------------------------------------------------------------------------------- */

struct evidence_check {
	uint64_t files;	  /* whose bytes were read and compared */
	uint64_t damaged; /* changed, shorter or gone */
	uint64_t strange; /* there, but told of nowhere */
	struct digest metadata;
	char *first; /* path and what is wrong with it; heap */
};
void evidence_check_done(struct evidence_check *c);
#define _cleanup_evidence_check_ _cleanup_(evidence_check_done)

int evidence_verify(int evidence, struct evidence_check *ret, struct fault *f) _must_check_;
