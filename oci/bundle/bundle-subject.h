/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"
#include "base/str.h"
#include "state/digest-key.h"
#include "subject/placement.h"
#include "subject/subject.h"

/*
 * subject.json of a portable bundle: the subject's document, the run's own time limit and where the bundle lives.  With
 * the values of the environment, which only config.json has, it says every byte of config.json: whoever is about to
 * start the bundle makes config.json again and compares.  docs/design/subject.md.
 */
#define BUNDLE_SUBJECT "subject.json"

/* The text of subject.json, appended to OUT. */
int bundle_subject_write(const struct subject *s, const struct placement *p, const struct digest_key *key,
			 struct strbuf *out, struct fault *f) _must_check_;

/* A bundle's two files as they are on the disk.  Nothing of it is believed before bundle_verify. */
struct bundle_files {
	int dirfd;	   /* ours */
	struct jdoc *file; /* subject.json */
	char *config;	   /* text of config.json */
	size_t config_len;
	struct jdoc *document; /* of the subject, in FILE */
	struct digest digest;  /* of DOCUMENT, computed */
	enum lane lane;	       /* of DOCUMENT: whose key is needed */
	char *const *
		approve; /* what the hook of the bundle was called with: set before bundle_verify; borrowed */
	const char *run; /* where sessions are kept, likewise */
	/* The text of subject.json; ours. */
	char *text;
	size_t text_len;
	/* After bundle_verify: */
	struct subject *subject;
	struct placement placement; /* texts are in FILE */
};

#define BUNDLE_FILES_EMPTY      \
	{                       \
		.dirfd = -EBADF \
	}

/* DIR and its files must be the caller's alone, and no links: what was looked at is what is read. */
int bundle_read(const char *dir, struct bundle_files *ret, struct fault *f) _must_check_;

/*
 * -EPERM unless config.json and rootfs/ are exactly what the subject and the bundle's place give; says what differs.  HOOK names the
 * program that the bundle has to call ("/proc/self/exe" for the hook itself).
 */
int bundle_verify(struct bundle_files *b, const struct digest_key *key, const char *hook,
		  struct fault *f) _must_check_;
void bundle_files_done(struct bundle_files *b);
#define _cleanup_bundle_files_ _cleanup_(bundle_files_done)

/* As root the ids of a bundle are one of these blocks; docs/design/run.md. */
#define BUNDLE_ID_FIRST (UINT32_C(1879048192) + 2048 * UINT32_C(65536))
#define BUNDLE_ID_BLOCK UINT32_C(65536)
#define BUNDLE_ID_BLOCKS 2048
