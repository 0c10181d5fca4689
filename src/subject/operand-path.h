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

/* The operand that ARGV[arg] runs or names, the first of two; or NULL. */
struct operand *operand_at(const struct subject *s, size_t arg);
/* The one that was, or was not, found through PATH; or NULL. */
const struct operand *operand_of(const struct subject *s, size_t arg, bool searched);

/* What a word is to the programs before it. */
enum operand_role {
	OPERAND_ROLE_DATA,
	OPERAND_ROLE_COMMAND, /* argv[0], or executed by a wrapper, which searches PATH */
	OPERAND_ROLE_SCRIPT, /* read by an interpreter; a shell searches PATH if the working directory has no such file */
};

/* Reads argv word by word. */
struct operand_reader {
	enum operand_role role;
	bool shell; /* the interpreter is one */
	bool value; /* the next word belongs to an option */
	const char *
		options; /* of the wrapper or the interpreter: letters of those with a value in the next word */
	const char *code; /* of the interpreter: letters whose value is code */
	bool env;	  /* the wrapper is env */
	const char *path; /* PATH of the command, env's assignment included */
};
struct operand_reader operand_reader_new(const struct subject *s);

/* Role of the next WORD.  Then operand_reader_pass(), FOUND: it names a file of the tree. */
enum operand_role operand_reader_role(struct operand_reader *r, const char *word);
void operand_reader_pass(struct operand_reader *r, const char *word, bool first, bool found);

/* Is PATH (absolute, inside) lexically in the worktree? */
bool operand_names_tree(const struct subject *s, const char *path);

/*
 * Calls for each entry below a directory, sorted by bytes, parents first.  OTHER_MOUNT: a directory, not
 * entered.
 */
typedef int (*operand_visit)(void *arg, const struct walk_entry *e, bool other_mount, struct fault *f);
int operand_walk(int dirfd, operand_visit visit, void *arg, struct fault *f) _must_check_;
