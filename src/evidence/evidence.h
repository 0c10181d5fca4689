/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
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
	EVIDENCE_AUTO, /* as the target is found */
	EVIDENCE_MIRROR,
	EVIDENCE_ARCHIVE,
	EVIDENCE_PORTABLE, /* an archive if one can be made, else names that every target takes: for another place */
};

struct evidence_request {
	const char *store; /* made when it is not there */
	const char *session;
	int tree;		     /* -EBADF: none is left; WHY says so.  O_PATH will do. */
	const char *why;	     /* TREE -EBADF: the reason; else NULL */
	const struct jdoc *metadata; /* an object, the result's shape (result.h) */
	const struct evidence_file *files;
	size_t n_files;
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

int evidence_write(const struct evidence_request *ask, struct evidence_taken *ret,
		   struct fault *f) _must_check_;
