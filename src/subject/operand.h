/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/digest.h"
#include "base/fault.h"

/*
 * Files of the worktree that the command line names: argv[0], words, and what follows the first '=' of a word.  They
 * are read once, through one descriptor; what was read is what is hashed, and what is written where it runs from.
 * docs/design/seal.md has the rules.
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
	size_t at;  /* where the path begins in that word: behind '=', else 0 */
	char *path; /* in the worktree, relative, all links resolved */
	struct digest sha256;
	uint64_t size;
	mode_t mode; /* permission bits, never set-id */
	enum operand_use use;
	bool again; /* an operand before this one has the same path: same content, counted and written once */
};

/* A symbolic link of the worktree that led to an operand: sealed as well, else it could lead elsewhere. */
struct operand_link {
	char *path; /* in the worktree, relative, links above it resolved */
	char *text;
};

/* What of the worktree the digest covers.  Zero is the default, and what people expect. */
enum operand_seal {
	OPERAND_SEAL_NAMED, /* operands */
	OPERAND_SEAL_NONE,  /* --no-seal: nothing */
	OPERAND_SEAL_TREE,  /* --seal-tree: operands, and a digest of the whole tree */
};
const char *operand_seal_name(enum operand_seal s); /* "named", "none", "tree" */
int operand_seal_parse(const char *name, enum operand_seal *ret);

struct subject;
struct operand_lower; /* the copies, with all that they need to look like the originals */
void operand_lower_free(struct operand_lower *l);

/* Fills operands, links, layer and the tree's digest of S, whose argv, env, cwd and mounts are there. */
int operand_find(struct subject *s, struct fault *f) _must_check_;

/*
 * Just before the start: refuses words that name a file now and did not then, files of a rw tree that are used in
 * place and are not as they were, and a sealed tree that changed.  Names what differs.
 */
int operand_require_same(const struct subject *s, struct fault *f) _must_check_;

/* ARGV[i] as it is executed: in a rw tree what runs is named by its sealed copy.  Heap, NULL on ENOMEM. */
char *operand_word(const struct subject *s, size_t i);

/* Is anything to be mounted?  Operands that stay in place (data of a rw tree) need no layer. */
bool operand_needs_lower(const struct subject *s);

/* Who owns the copies: FROM of the tree becomes TO, everybody else NOBODY; IDENTITY: as in the tree. */
struct operand_ids {
	uid_t from_uid, to_uid;
	gid_t from_gid, to_gid;
	bool identity, rootless; /* ROOTLESS: everything is the caller's */
};

/*
 * The sealed layer in the empty directory DIRFD: copies, links, and their directories with mode, owner, attributes and
 * times as they were when S was built.  The worktree is not looked at again.
 */
int operand_lower_write(const struct subject *s, int dirfd, const struct operand_ids *ids,
			struct fault *f) _must_check_;

/* Does the layer in DIRFD hold exactly what the subject says?  For bundles, which keep it on a disk. */
int operand_lower_verify(const struct subject *s, int dirfd, struct fault *f) _must_check_;

/*
 * Digest of a whole tree: every path with type, mode, content or link text, in the order of bytes.  Times and owners
 * are not in it.  RET_LINES (heap) lists it, so that two can be compared.
 */
int operand_digest_tree(int dirfd, struct digest *ret, char **ret_lines, struct fault *f) _must_check_;
