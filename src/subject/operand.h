/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/digest.h"
#include "base/fault.h"

/*
 * Files of the worktree that the command line names: argv[0], words, the part after the first '=' of a word, and
 * the files that words without a slash name through PATH.  They are read once, through one descriptor; the bytes read are hashed and written to the copy that
 * runs.  docs/design/seal.md has the rules.
 */
#define OPERAND_FILES_MAX 64
#define OPERAND_BYTES_MAX (UINT64_C(64) * 1024 * 1024)
#define OPERAND_DIR "/run/custody/operands" /* inside, in a rw worktree: the sealed tree, read-only */

enum operand_use {
	OPERAND_DATA, /* may be read by the command; in a rw tree also written */
	OPERAND_RUNS, /* argv[0], or the script of an interpreter */
};

struct operand {
	size_t arg; /* index in argv */
	size_t at;  /* where the path begins in that word: after '=', else 0 */
	char *path; /* in the worktree, relative, all links resolved */
	struct digest sha256;
	uint64_t size;
	mode_t mode; /* permission bits, never set-id */
	enum operand_use use;
	bool again;    /* an earlier operand has the same path: same content, counted and written once */
	bool searched; /* not argv[0]: found through PATH, as wrappers and shells do */
};

/* A symbolic link of the worktree on the path to an operand: sealed as well, else it could be redirected. */
struct operand_link {
	char *path; /* in the worktree, relative, links above it resolved */
	char *text;
};

/* Part of the worktree that the digest covers.  Zero is the default. */
enum operand_seal {
	OPERAND_SEAL_NAMED, /* operands */
	OPERAND_SEAL_NONE,  /* --no-seal: nothing */
	OPERAND_SEAL_TREE,  /* --seal-tree: operands, and a digest of the whole tree */
};
const char *operand_seal_name(enum operand_seal s); /* "named", "none", "tree" */
int operand_seal_parse(const char *name, enum operand_seal *ret);

struct subject;
struct operand_lower; /* the sealed copies: a lower of the overlay above the worktree, with owners, modes and times of the originals */
void operand_lower_free(struct operand_lower *l);
/* Frees the operands of S, which then has none. */
void operand_forget(struct subject *s);

/* Fills operands, links, lower and the tree's digest of S; argv, env, cwd and mounts must be set. */
int operand_find(struct subject *s, struct fault *f) _must_check_;

/*
 * Just before the start: refuses words that name a file now but did not before, files of a rw tree that are
 * used in place and have changed, and a sealed tree that changed.  The fault names the difference.
 */
int operand_require_same(const struct subject *s, struct fault *f) _must_check_;

/* ARGV[i] as executed: in a rw tree a program is named by its sealed copy.  Heap, NULL on ENOMEM. */
char *operand_word(const struct subject *s, size_t i);

/* Is a sealed lower to be mounted?  Operands that stay in place (data of a rw tree) need none. */
bool operand_needs_lower(const struct subject *s);

/*
 * Owners of the copies: FROM of the tree becomes TO, every other id becomes an unmapped one; IDENTITY: as in
 * the tree.
 */
struct operand_ids {
	uid_t from_uid, to_uid;
	gid_t from_gid, to_gid;
	bool identity, rootless; /* ROOTLESS: all belong to the caller */
};

/*
 * Writes the sealed lower to the empty directory DIRFD: copies, links, and their directories with mode,
 * owner, attributes and times as they were when S was built.  The worktree is not read again.
 */
int operand_lower_write(const struct subject *s, int dirfd, const struct operand_ids *ids,
			struct fault *f) _must_check_;

/* Does DIRFD hold exactly the lower of the subject?  For bundles, which keep it on disk. */
int operand_lower_verify(const struct subject *s, int dirfd, struct fault *f) _must_check_;

/*
 * Digest of a whole tree: every path with type, mode, content or link text, sorted by bytes, without times
 * and owners.  RET_LINES (heap) lists the entries, for comparing two trees.
 */
int operand_digest_tree(int dirfd, struct digest *ret, char **ret_lines, struct fault *f) _must_check_;
