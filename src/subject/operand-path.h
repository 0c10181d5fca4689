/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/stat.h>

#include "base/walk.h"
#include "subject/operand.h"
#include "subject/subject.h"

/* Shared by the operand files only. */

#define OPERAND_DEPTH_MAX 128 /* directories of the tree above a named file */

struct operand_attr {
	char *name, *value;
	size_t len;
};

/* A directory, file or link of the sealed lower. */
struct operand_node {
	char *path; /* "." is the root */
	struct stat st;
	struct operand_attr *attrs;
	size_t n_attrs;
	char *bytes; /* of a file, or text of a link */
};

/* Parents precede their entries. */
struct operand_lower {
	struct operand_node *nodes;
	size_t n_nodes;
};

struct operand_node *operand_lower_find(const struct operand_lower *l, const char *path);

/*
 * Adds the entry FD (O_PATH is enough): type, owner, times, attributes.  Takes ownership of BYTES.  A path
 * that is already there is not changed.
 */
int operand_lower_add(struct operand_lower *l, int fd, const char *path, char *bytes, struct fault *f);

/* A file of the worktree that a word names, and the directories and links that lead to it. */
struct operand_place {
	int fd;			      /* open for reading, a regular file */
	char *path;		      /* relative to the worktree, links resolved */
	struct operand_lower parents; /* directories and links; without the file itself */
};
void operand_place_done(struct operand_place *p);
#define _cleanup_operand_place_ _cleanup_(operand_place_done)

/*
 * Resolves WORD as the command will, with S->cwd as working directory: no step follows a link, links are
 * resolved by their text as inside, and only the worktree is searched.  1: *RET is a regular file there.  0:
 * not found.  Negative: undecidable, therefore refused.
 */
int operand_resolve(const struct subject *s, int rootfd, const char *word, struct operand_place *ret,
		    struct fault *f) _must_check_;

/* The operand of ARGV[arg], or NULL. */
struct operand *operand_at(const struct subject *s, size_t arg);

/* Sets `use` from the command line alone: argv[0], the command of a wrapper, an interpreter's script. */
void operand_mark_programs(const struct subject *s);

/* Is PATH (absolute, inside) lexically in the worktree? */
bool operand_names_tree(const struct subject *s, const char *path);

/*
 * Calls for each entry below a directory, sorted by bytes, parents first.  OTHER_MOUNT: a directory, not
 * entered.
 */
typedef int (*operand_visit)(void *arg, const struct walk_entry *e, bool other_mount, struct fault *f);
int operand_walk(int dirfd, operand_visit visit, void *arg, struct fault *f) _must_check_;
