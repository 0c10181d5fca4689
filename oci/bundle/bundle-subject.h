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
 * subject.json of a portable bundle: the subject's document, the run's time limit and the bundle's placement.  With the
 * values of the environment, which only config.json has, it determines every byte of config.json: the hook generates
 * config.json again before a start and compares.  docs/design/subject.md.
 */
#define BUNDLE_SUBJECT "subject.json"

/* Appends the text of subject.json to OUT. */
int bundle_subject_write(const struct subject *s, const struct placement *p, const struct digest_key *key,
			 struct strbuf *out, struct fault *f) _must_check_;

/* A bundle's two files as read from disk; untrusted until bundle_verify succeeds. */
struct bundle_files {
	int dirfd;	   /* owned */
	struct jdoc *file; /* subject.json */
	char *config;	   /* text of config.json */
	size_t config_len;
	struct jdoc *document; /* of the subject, in FILE */
	struct digest digest;  /* of DOCUMENT, computed */
	enum lane lane;	       /* of DOCUMENT: selects the digest key */
	char *const *approve;  /* arguments of the bundle's hook, set before bundle_verify; borrowed */
	const char *run;       /* directory of sessions, likewise */
	/* The text of subject.json; owned. */
	char *text;
	size_t text_len;
	/* Set by bundle_verify: */
	struct subject *subject;
	struct placement placement; /* strings point into FILE */
};

#define BUNDLE_FILES_EMPTY      \
	{                       \
		.dirfd = -EBADF \
	}

/* DIR and its files must belong to the caller alone and must not be links, so that no other file is read. */
int bundle_read(const char *dir, struct bundle_files *ret, struct fault *f) _must_check_;

/*
 * -EPERM unless config.json and rootfs/ are exactly those that subject and placement give; F names the difference.  HOOK is the
 * program that the bundle must call ("/proc/self/exe" for the hook itself).
 */
int bundle_verify(struct bundle_files *b, const struct digest_key *key, const char *hook,
		  struct fault *f) _must_check_;
void bundle_files_done(struct bundle_files *b);
#define _cleanup_bundle_files_ _cleanup_(bundle_files_done)

/* As root the ids of a bundle are one of these blocks; docs/design/run.md. */
#define BUNDLE_ID_FIRST (UINT32_C(1879048192) + 2048 * UINT32_C(65536))
#define BUNDLE_ID_BLOCK UINT32_C(65536)
#define BUNDLE_ID_BLOCKS 2048
