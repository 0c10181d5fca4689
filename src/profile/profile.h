/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"
#include "profile/host-rule.h"
#include "state/lane.h"

/*
 * Permissions of one sandbox: schema 1.  Text -> merged document -> immutable struct.  Every field has its
 * most restrictive default.  Paths are absolute and normalized after variables were replaced; the subject
 * checks whether they exist, so that parsing stays pure.
 */
#define PROFILE_SIZE_MAX ((size_t)256 * 1024)
#define PROFILE_EXTENDS_MAX 8

enum profile_root {
	PROFILE_ROOT_HOST_RO, /* the host's /usr, read-only, with a minimal /etc */
	PROFILE_ROOT_DIR,     /* a directory, read-only */
};

#define PROFILE_SHM_DEFAULT (UINT64_C(64) * 1024 * 1024)

/* Path inside of a worktree that cannot have the one that it has outside. */
#define PROFILE_TARGET_FIXED "/work"

enum profile_workspace {
	PROFILE_WORKSPACE_OVERLAY, /* copy on write; the original is never written */
	PROFILE_WORKSPACE_RO,
	PROFILE_WORKSPACE_RW,
	PROFILE_WORKSPACE_TMPFS, /* empty, in memory, discarded afterwards */
};

/* Implementation of mode overlay. */
enum profile_overlay {
	PROFILE_OVERLAY_KERNEL,
	PROFILE_OVERLAY_FUSE, /* fuse-overlayfs, a process outside; only if a profile names it */
};

enum profile_network {
	PROFILE_NETWORK_NONE,  /* a network namespace with only a loopback device */
	PROFILE_NETWORK_HOST,  /* needs "host-network" in `dangerous` */
	PROFILE_NETWORK_ALLOW, /* the hosts of network_hosts, through custody-egress */
};

enum profile_seccomp_violation {
	PROFILE_SECCOMP_ERRNO, /* the call fails */
	PROFILE_SECCOMP_KILL,  /* the process dies of SIGSYS, exit reason `seccomp` */
};

/* Containers that an engine starts (docs/design/engine.md). */
enum profile_container_network {
	PROFILE_CONTAINER_NETWORK_NONE, /* only a network namespace of its own that the engine configures no network in */
	PROFILE_CONTAINER_NETWORK_ENGINE, /* the engine's choice; the host's needs "host-network" in `dangerous` */
};

enum profile_container_user {
	PROFILE_CONTAINER_USER_ANY, /* root inside may be the host's */
	PROFILE_CONTAINER_USER_REQUIRE,
};

struct profile_tmpfs {
	char *path;
	uint64_t size; /* bytes */
};

struct profile_env_var {
	char *name, *value;
};

/* Sections of later capabilities: parsed and checked now; a run that needs one is refused with its name. */
enum profile_section {
	PROFILE_SECTION_GOVERNANCE,
	PROFILE_SECTION_AUDIT,
	PROFILE_SECTION_FORENSICS,
	PROFILE_SECTION_BROKER,
	PROFILE_SECTION_TRUST,
	_PROFILE_SECTION_MAX,
};

struct profile {
	char *name, *description;
	char *path; /* file it was loaded from */
	/* SHA-256 of the canonical merged document; comments, descriptions and ${session} do not change it. */
	struct digest digest;

	enum profile_root root;
	char *root_path;	/* PROFILE_ROOT_DIR */
	char **root_host_paths; /* PROFILE_ROOT_HOST_RO: visible paths of the host, if they exist */

	enum profile_workspace workspace;
	enum profile_overlay workspace_overlay;
	char *workspace_source;	  /* default: the caller's current directory */
	char *workspace_target;	  /* NULL: the path that the worktree has outside, or /work */
	char *workspace_sandbox;  /* name of a sandbox root, whose workspace is the worktree; NULL: none */
	char **workspace_protect; /* below it: read-only inside in mode rw, never applied */
	char **workspace_ask;	  /* names for which apply asks, beside the built-in list */
	char **workspace_allow;	  /* names of the built-in list for which it does not */
	uint64_t workspace_ask_deletions; /* apply asks before it removes more */
	bool workspace_show_secrets;	  /* show files at its top level that look like secrets */
	bool workspace_keep;		  /* keep an overlay's changes after the run */
	bool workspace_continue;	  /* start on those of the newest session in the directory */

	char **fs_ro, **fs_rw, **fs_hide; /* "SOURCE" or "SOURCE:TARGET"; hide: paths inside */
	bool fs_tools;	    /* show the caller's tools: directories of PATH below the home and /opt */
	char **fs_channels; /* sockets and FIFOs of the host that may be mounted */
	struct profile_tmpfs *fs_tmpfs;
	size_t n_fs_tmpfs;

	char **env_pass; /* names, "LC_*" allowed; all others are removed */
	struct profile_env_var *env_set;
	size_t n_env_set;

	bool process_init; /* custody-init as PID 1; default true */
	char *process_hostname;
	char *process_user; /* "root" (of the container; default) or "UID[:GID]" inside */
	char *process_cwd;  /* NULL: the worktree */
	char *process_home; /* "memory" (default), "keep" or "keep=NAME": state/home-dir.h */

	enum profile_network network;
	enum network_class network_class; /* the lane of the profile; default test */
	struct host_rule *network_hosts;  /* what PROFILE_NETWORK_ALLOW allows */
	size_t n_network_hosts;

	uint64_t limit_memory;	    /* bytes, 0 = none */
	uint64_t limit_pids;	    /* 0 = none */
	uint64_t limit_cpu_percent; /* 100 = one core, 0 = none */
	uint64_t limit_disk;	    /* bytes written to the worktree's upper, 0 = none */
	uint64_t limit_time_s;	    /* 0 = none */
	uint64_t limit_grace_s;	    /* between TERM and KILL; default 5 */
	uint64_t limit_files;	    /* RLIMIT_NOFILE, 0 = keep */
	uint64_t limit_tmp;	    /* size of /tmp; default 256M */
	uint64_t limit_shm;	    /* size of /dev/shm; 0: PROFILE_SHM_DEFAULT */

	enum profile_seccomp_violation seccomp_violation;
	char **seccomp_allow; /* system calls on top of the shipped list */
	char **seccomp_deny;

	char **audit_trace; /* words of trace_word_parse: system calls that are observed in own runs */

	char **container_capabilities; /* "CAP_CHOWN": that a container may keep */
	char **container_sysctls;      /* in addition to those of oci/engine/engine-sysctl.c */
	enum profile_container_user container_user_namespace;
	enum profile_container_network container_network;

	uint32_t optional; /* LAYER_BIT()s that may be missing on this host */
	uint32_t layers;   /* LAYER_BIT()s that are requested: all except those that `dangerous` disables */
	char **dangerous;  /* words of profile_danger_at(), "no-<layer>" */

	/* In `document`; NULL if the profile has no such section. */
	const struct jdoc *sections[_PROFILE_SECTION_MAX];
	struct jdoc *document; /* merged, origins kept: for show and diff */
	char **origins;	       /* labels that the document's values borrow */
};

/* Values of `${cwd} ${home} ${uid} ${user} ${session}`. */
struct profile_vars {
	const char *cwd, *home, *user, *session;
	const char *workspace; /* used instead of workspace.source, which is then not judged; NULL: none */
	uid_t uid;
};

/* Directories searched for names; the first match is used.  The worktree's directory is separate. */
struct profile_sources {
	const char *const *dirs; /* admin, user, shipped; NULL-terminated */
	const char *worktree;	/* DIR/.custody/profiles is searched last and may only tighten; may be NULL */
	const char *trust_file; /* list of trusted (path, sha256); may be NULL */
};

/* NAME is a profile's name, or a path when it contains a '/'. */
int profile_load(const char *name, const struct profile_sources *src, const struct profile_vars *vars,
		 struct profile **ret, struct fault *f) _must_check_;

/* For tests and fuzzing: one text, no extends. */
int profile_parse(const char *text, size_t len, const char *label, const struct profile_vars *vars,
		  struct profile **ret, struct fault *f) _must_check_;
void profile_free(struct profile *p);
DEFINE_CLEANUP(struct profile, profile_free)
#define _cleanup_profile_ _cleanup_(profile_freep)

/* Mode of a worktree that is a sandbox root's workspace: P's mode, or rw if P sets none. */
enum profile_workspace profile_sandbox_mode(const struct profile *p);
/* Does P name the directory of the worktree?  Else it is the project around the current directory. */
bool profile_has_source(const struct profile *p);
const char *profile_workspace_name(enum profile_workspace w); /* as the profile writes it */
/* The same with the overlay's implementation: "overlay-fuse" is a separate kind in proofs and records. */
const char *profile_worktree_word(const struct profile *p);
bool profile_is_fuse(const struct profile *p); /* the worktree is an overlay by fuse-overlayfs */

/* -ENOTSUP with the name of the first section that this build does not support. */
int profile_require_supported(const struct profile *p, struct fault *f) _must_check_;
/*
 * The same for a bundle that another runtime starts: its hooks support governance, audit and forensics only.
 */
int profile_require_portable(const struct profile *p, struct fault *f) _must_check_;

/*
 * Is the profile allowed in this lane?  Class any is valid only without a network: with the host's or with
 * allowed hosts it counts as test.  -LANE_REFUSED.
 */
int profile_require_lane(const struct profile *p, enum lane lane, struct fault *f) _must_check_;

/*
 * A word that `dangerous` may list, and its meaning.  NULL past the last; "no-<layer>" words are additional.
 */
struct profile_danger {
	const char *word, *what;
};
const struct profile_danger *profile_danger_at(size_t i);

/*
 * The word that mounting PATH (normalized, of the host) needs in `dangerous`, or NULL.  Lexical: a caller
 * that resolves links calls again with the resolved path; for a writable path also with RW false.  HOME may
 * be NULL.
 */
const char *profile_path_danger(const char *path, bool rw, const char *home);

/*
 * Is CANDIDATE in no key looser than BASE?  If it is, *RET_KEY (may be NULL) is the first looser key.  A
 * relation that no rule of the table calls tighter or equal is looser.
 */
bool profile_is_tighter(const struct profile *base, const struct profile *candidate, const char **ret_key);

/* The same without the keys that containers of an engine ignore. */
bool profile_is_tighter_for_containers(const struct profile *base, const struct profile *candidate,
				       const char **ret_key);

/* State in the trust file of a file at PATH with content DIGEST. */
enum profile_trust {
	PROFILE_TRUST_NONE,
	PROFILE_TRUST_CHANGED, /* trusted once, with another content */
	PROFILE_TRUST_TRUSTED,
};
int profile_trust_check(const char *trust_file, const char *path, const struct digest *digest,
			enum profile_trust *ret, struct fault *f) _must_check_;
/* DIGEST NULL: remove PATH; -ENOENT if it was not listed. */
int profile_trust_set(const char *trust_file, const char *path, const struct digest *digest,
		      struct fault *f) _must_check_;

/* JSON Schema of a profile, from the same table that the parser reads. */
struct jdoc *profile_schema(void);
