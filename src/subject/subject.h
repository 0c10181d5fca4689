/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "subject/operand.h"
#include "state/lane.h"
#include "profile/profile.h"

enum subject_mount_kind {
	SUBJECT_MOUNT_BIND,
	SUBJECT_MOUNT_TMPFS,
	SUBJECT_MOUNT_OVERLAY, /* SOURCE with an upper of the session: the repository of a worktree whose .git is a file */
};

/* Identity of a writable path when the subject was built: another file under its name is another subject. */
struct subject_file {
	uint64_t device, inode;
	unsigned int type; /* S_IFMT */
};

struct subject_mount {
	char *source;  /* host path, symlinks resolved; NULL unless a bind */
	char *target;  /* inside */
	uint64_t size; /* tmpfs */
	enum subject_mount_kind kind;
	uid_t owner_uid; /* of SOURCE, on the host */
	gid_t owner_gid;
	unsigned int mode; /* tmpfs */
	bool rw;
	bool is_dir;
	bool disposable; /* SOURCE is a part of a disposable directory, state/disposable-dir.h; checked */
	bool exact; /* SOURCE must still be FILE when it is mounted, also if it is not written; not in the JSON */
	/*
	 * As root: bind not SOURCE but a clone of it (open_tree, not recursive) in which OWNER is the
	 * command's user, nosuid and nodev.  placement.sources names it; in portable bundles the hook clones.
	 */
	bool idmap;
	struct subject_file file; /* SOURCE */
	char *view; /* overlay: path of the files that a continued run finds; not in the JSON; NULL: SOURCE's */
	bool continued; /* overlay: above SOURCE are the kept changes with this manifest: */
	struct digest base;
};

struct subject_link {
	char *target; /* inside, absolute */
	char *text;   /* as on the host: "usr/bin" */
};

struct sandbox_root;
struct git_link;
struct home_dir;
struct own_dirs;

/* The kept changes of another session that a run continues (docs/design/continue.md).  Outlives the subject. */
struct subject_base {
	int view; /* the worktree with the changes above it, read-only: worktree/overlay-view.h */
	struct digest manifest; /* of the changes */
	const char *session;	/* for messages; not in the JSON */
	uint64_t device, inode; /* of the worktree that they belong to */
};

/*
 * Everything that affects execution, resolved against this host: the input of the bundle.  config.json is a
 * pure function of a subject and a placement (paths of this session).
 */
struct subject {
	const struct profile *profile; /* borrowed; outlives the subject */
	struct profile *own_profile;   /* the same, if created by subject_from_json; else NULL */
	enum lane lane;
	char **argv;
	char **shown; /* ARGV with its secrets redacted: what the document has; NULL: no word has one */
	char **env;   /* "NAME=value", sorted by name */
	char *cwd;    /* inside */
	char *hostname;
	uid_t uid; /* inside */
	gid_t gid;
	bool subordinate; /* a user's run: ids other than 0 inside are the caller's subordinate ids */
	char *worktree;	  /* host path, resolved; NULL for tmpfs */
	char *view; /* path of the files that a continued run finds; not in the JSON; NULL: the worktree's */
	bool continued; /* above the worktree are the kept changes with this manifest: */
	struct digest base;
	char *target;	 /* path of the worktree inside */
	bool disposable; /* the worktree is the workspace of a disposable sandbox root */
	bool holds_home; /* the worktree is, or contains, the caller's home */
	uid_t owner_uid; /* of the worktree, on the host */
	gid_t owner_gid;
	struct subject_file worktree_file;
	char *home; /* inside; HOME and the home of the generated /etc/passwd */
	struct subject_mount
		*mounts; /* all but /proc, /dev, worktree and init; in mount order, parents first */
	size_t n_mounts;
	size_t worktree_at;	    /* the worktree is mounted before mounts[worktree_at] */
	struct subject_link *links; /* symlinks of the root: /bin -> usr/bin */
	size_t n_links;
	char **copies; /* small public files of the host's /etc: copied to the same place, cheaper than a mount */
	uint32_t layers; /* LAYER_BIT()s requested: the profile's, without limits that are not set */
	struct sandbox_root
		*sandbox; /* borrowed: the worktree is its workspace; not in the JSON; NULL: none */
	const struct home_dir
		*kept_home; /* borrowed: mounted as the home; not in the JSON; NULL: in memory */
	enum operand_seal seal;
	struct operand *operands; /* in the order of argv */
	size_t n_operands;
	struct operand_link *operand_links; /* in the order of discovery */
	size_t n_operand_links;
	struct operand_lower *lower; /* not in the JSON; NULL: no operands, or not built from the tree */
	struct digest tree;	     /* of the whole worktree; all zero unless seal is OPERAND_SEAL_TREE */
	char *tree_lines; /* listing that TREE is the digest of; not in the JSON; NULL if not built from the tree */
	/*
	 * The approved time limit, 0 = none.  The run's own (profile->limit_time_s) may be shorter without a
	 * new approval.
	 */
	uint64_t approved_time_s;
	bool in_use; /* a container runs: its processes may have changed each file of the tree; not in the JSON */
	char **secret_patterns; /* of files at the top level of the worktree that are hidden */
	char **secrets; /* paths inside that match now; not in the JSON: a new one changes no digest */
	char **remarks; /* for the caller: "--tools leaves out ..."; not in the JSON */
};

/* Additions of the command line to a profile: Docker's options and the command. */
struct subject_request {
	enum lane lane;
	const struct profile *base; /* as loaded, before options changed it; NULL: unchanged */
	char *const *argv;
	char *const *env;     /* -e NAME or NAME=value */
	char *const *volumes; /* -v SOURCE:TARGET[:ro|rw] */
	const char *workdir;  /* -w, inside */
	const char *below;    /* the caller's directory below the worktree, to start in; or NULL */
	const char *hostname;
	const char *home; /* the caller's on the host: never bound rw unless `dangerous` allows it */
	char *const
		*caller_homes; /* further ones, for which the same holds: state/caller-homes.h; NULL: none */
	struct own_dirs *own;  /* a worktree there keeps /work; NULL: not known */
	char *const *environ;  /* the caller's */
	/*
	 * The worktree is its workspace, its tmp is /tmp if that is writable; -v sources, -w and the
	 * profile's paths in the workspace must not lead out of it.  Outlives the subject; NULL: none.
	 */
	struct sandbox_root *sandbox;
	const struct git_link *
		git; /* the repository that the worktree's file .git names; outlives the subject; NULL: none */
	const struct home_dir
		*kept_home; /* mounted as the home inside; outlives the subject; NULL: in memory */
	enum operand_seal seal;
	const struct subject_base *continued;		 /* NULL: the run begins on the worktree */
	const struct subject_base *continued_repository; /* the same for GIT */
};

int subject_build(const struct profile *p, const struct subject_request *rq, struct subject **ret,
		  struct fault *f) _must_check_;
void subject_free(struct subject *s);
DEFINE_CLEANUP(struct subject, subject_free)
#define _cleanup_subject_ _cleanup_(subject_freep)

/* The directory of the host that is the worktree of P, which is not in memory: resolved, heap. */
int subject_resolve_worktree(const struct profile *p, char **ret, struct fault *f) _must_check_;
const char *subject_work_target(const struct subject *s); /* inside */
const char *
subject_tree_path(const struct subject *s); /* on the host: where the files of the worktree are looked up */
/* Is PATH, on the host, at or below a directory of custody's own?  Also if memory is missing. */
bool subject_is_own_dir(const char *path, struct own_dirs *own);
/* Does PATH lie in a sandbox root, where commands of several sessions write? */
bool subject_is_shared(const struct subject *s, const char *path);
bool subject_has_broker(
	const struct subject *s); /* its profile has tools: /run/custody has the broker's socket */
uint64_t subject_tmp_size(const struct subject *s); /* of each private tmpfs */

/*
 * Refuses a writable source that contains, or is in, a directory of custody's own: custody trusts its
 * content.
 */
int subject_require_apart(const struct subject *s, struct own_dirs *own, struct fault *f) _must_check_;
/* Refuses a writable source that contains, or is in, the bundle at DIR: its command would choose what runs next. */
int subject_require_bundle(const struct subject *s, const char *dir, struct fault *f) _must_check_;
/*
 * Hidden paths inside: the profile's list, and every place where keys, requests, grants, ledger or
 * configuration would be visible.  A source inside them is refused.  The caller frees the list.
 */
int subject_hide_own(const struct subject *s, struct own_dirs *own, char ***ret,
		     struct fault *f) _must_check_;

/*
 * GOV-9, just before the start: are writable sources still the files that were checked?  By the descriptor if
 * one is mounted from, which leaves no race; by path if the runtime opens them.
 */
int subject_require_file(const struct subject_file *file, int fd, const char *path,
			 struct fault *f) _must_check_;
int subject_require_sources(const struct subject *s, struct fault *f) _must_check_;

/* The working directory is none of the kernel's own and, without init, no link of a mounted tree leads to it. */
int subject_require_cwd(const struct subject *s, struct fault *f) _must_check_;

/*
 * Is it a read-only directory that is shown as an overlay of its own?  In a bind the sockets and FIFOs of the host would
 * work: a read-only mount refuses neither connect() nor opening a FIFO.  Directories of the system that belong to root
 * are bound, because only root can place such files there; so are protected parts of a writable worktree.
 */
bool subject_mount_is_tree(const struct subject *s, const struct subject_mount *m);
/* Is any mount, or the worktree, such an overlay without sealed files above it? */
bool subject_has_trees(const struct subject *s);

/* The mount of kind SUBJECT_MOUNT_OVERLAY, or NULL: at most one exists. */
const struct subject_mount *subject_find_overlay(const struct subject *s);

/* Is any file of the host writable inside?  Then set-id modes are refused by the filter. */
bool subject_writes_host(const struct subject *s);
