/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/id-map.h"
#include "base/json.h"
#include "capture/capture.h"
#include "state/lane.h"

/*
 * Evidence of an abnormal session: a directory STORE/SESSION that is complete or missing.
 *
 *	worktree/ odd/ manifest.ndjson	the tree (capture.h)
 *	worktree.tar.zst		instead of the first two where creating files is slow (pack.h)
 *	metadata.json			session, exit, completeness
 *	audit.ndjson stdio.log config.json subject.json		as far as they exist
 *	SHA256SUMS			of these files, for sha256sum -c
 *	pinned				exists if it must not be pruned; the reason
 *
 * While it is written, its name is SESSION.partial and its directory is locked.
 */
#define EVIDENCE_METADATA "metadata.json"
#define EVIDENCE_SUMS "SHA256SUMS"
#define EVIDENCE_PIN "pinned"
#define EVIDENCE_PARTIAL ".partial"
#define EVIDENCE_METADATA_MAX ((size_t)1024 * 1024)

enum evidence_status {
	EVIDENCE_UNKNOWN, /* metadata.json is not readable */
	EVIDENCE_NONE,	  /* no tree was captured */
	EVIDENCE_CUT,	  /* "partial": entries are missing and listed */
	EVIDENCE_COMPLETE,
};
const char *evidence_status_name(enum evidence_status s);

/* Bytes of one file: TEXT, else everything that FD can read from its start. */
struct evidence_content {
	int fd;
	const char *text;
	size_t len;
};
#define EVIDENCE_CONTENT_NONE ((struct evidence_content){ .fd = -EBADF })

/* A file beside the tree.  One without content is listed in `absent` of metadata.json. */
struct evidence_file {
	const char *name;
	struct evidence_content content;
};

enum evidence_form {
	EVIDENCE_AUTO, /* according to the probe of the target */
	EVIDENCE_MIRROR,
	EVIDENCE_ARCHIVE,
	EVIDENCE_PORTABLE, /* an archive if possible, else names that every target accepts: for a later delivery */
};

struct evidence_request {
	const char *store; /* created if missing */
	const int *opened; /* a descriptor of STORE, checked; NULL: evidence_write opens it */
	const char *session;
	int tree;		     /* -EBADF: none; WHY is the reason.  O_PATH is enough */
	const char *why;	     /* TREE -EBADF: the reason; else NULL */
	const struct jdoc *metadata; /* object of evidence_metadata_describe */
	const struct evidence_file *files;
	size_t n_files;
	enum evidence_form form;
	const struct id_map
		*owners; /* other ids of a user's run, whose files TREE shows; NULL or not set: none */
	const struct capture_options *limits; /* properties of the target are set by evidence_write */
};

struct evidence_taken {
	char *path;
	bool staged; /* not in the store yet (delivery.h) */
	enum evidence_status status;
	struct capture_stats stats;
	struct digest
		metadata; /* of metadata.json, which has the digest of the manifest; recorded in the ledger */
};
void evidence_taken_done(struct evidence_taken *t);
#define _cleanup_taken_ _cleanup_(evidence_taken_done)

int evidence_write(const struct evidence_request *ask, struct evidence_taken *ret,
		   struct fault *f) _must_check_;
