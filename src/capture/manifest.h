/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/str.h"

/*
 * One line per path of a captured tree: its metadata, and where its bytes are stored or why they are not.  The manifest is
 * authoritative; the mirror or archive beside it may have lost modes, links and names on a share.
 *
 *	{"p":"src/a.c","t":"f","mode":"0644","uid":0,"gid":0,"size":12,"mtime":[1763264100,0],"sha256":"...","at":"worktree/src/a.c"}
 *
 * Bytes that are not UTF-8 are {"b64":"..."}.  docs/design/evidence.md has every key.
 */
#define MANIFEST_NAME "manifest.ndjson"
#define MANIFEST_EXTENTS_MAX 1024

enum manifest_type {
	MANIFEST_NONE,
	MANIFEST_FILE,
	MANIFEST_DIR,
	MANIFEST_LINK,
	MANIFEST_FIFO,
	MANIFEST_SOCKET,
	MANIFEST_CHAR,
	MANIFEST_BLOCK,
	MANIFEST_GONE,	  /* removed: the lower has it */
	MANIFEST_UNKNOWN, /* could not be stat'ed; see `why` */
	_MANIFEST_TYPE_MAX,
};

struct manifest_extent {
	uint64_t offset, len;
};

struct manifest_xattr {
	char *name;
	void *value;
	size_t len;
};

struct manifest_entry {
	char *path; /* below the tree; "" is its root */
	enum manifest_type type;
	unsigned int mode; /* with its set-id bits */
	uint64_t uid, gid, size, alloc;
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint32_t rdev_major, rdev_minor;
	char *link; /* target */
	struct manifest_xattr *xattrs;
	size_t n_xattrs;
	uint64_t id;	 /* not 0: other names of this file refer to it by this id */
	uint64_t same;	 /* not 0: another name of the file with this id */
	bool has_digest; /* of all bytes; of a sparse file: of its extents, without gaps */
	struct digest digest;
	bool sparse;
	struct manifest_extent *extents;
	size_t n_extents;
	bool unstable; /* changed while it was read */
	char *at;      /* path of the bytes, below the evidence; NULL: not stored */
	char *why;     /* reason why they are not, or not all, stored */
};

void manifest_entry_done(struct manifest_entry *e);
#define _cleanup_manifest_entry_ _cleanup_(manifest_entry_done)

/* Appends a line with its LF. */
int manifest_write(const struct manifest_entry *e, struct strbuf *out, struct fault *f) _must_check_;

/* LINE of LEN bytes, without LF.  Strict: accepts only what manifest_write writes. */
int manifest_read(const char *line, size_t len, struct manifest_entry *ret, struct fault *f) _must_check_;

enum manifest_type manifest_type_of(mode_t mode);
