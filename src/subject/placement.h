/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/id-map.h"

#define INIT_PATH "/run/custody/init" /* inside: custody-init, read-only */
#define CUSTODY_DIR "/run/custody"
#define CALL_PATH CUSTODY_DIR "/custody-call" /* inside: with a broker */
#define MCP_PATH CUSTODY_DIR "/custody-mcp"   /* the same */
#define BROKER_SOCKET "broker.sock" /* in CUSTODY_DIR, which then belongs to the command's user alone */
#define BROKER_TOKEN "token"
#define EMPTY_DIR "/run/custody/empty" /* inside: second lower of read-only overlays */

/*
 * Paths of one execution of a subject on this host.  Own runs get fresh session paths; a portable bundle gets
 * the paths of its own directory and no overlay mount (its createRuntime hook mounts one at each start).
 */
struct placement {
	bool portable;
	bool rootless;
	bool root_private; /* ROOTFS is on a tmpfs that the creator mounted with nosuid and nodev */
	uid_t uid_base;	   /* host id of container root; rootless: the caller's */
	gid_t gid_base;
	unsigned int n_ids; /* 65536, or 1 rootless */
	const struct id_map
		*ids;	    /* rootless: subordinate ids, with 0 inside = the caller; NULL: the one id */
	const char *rootfs; /* root.path of config.json */
	bool root_noexec;   /* its file system is noexec, which a user namespace must keep */
	const char *
		worktree; /* path to mount or to use as lowerdir: idmapped clone as root, the source itself rootless */
	const char *
		base; /* kept changes of the session that is continued: a lower above the worktree; NULL: none */
	/* Sealed operands: a lower above both.  NULL: none, or the hook mounts it. */
	const char *sealed;
	/* One per subject mount: the prepared clone to bind instead of its source; NULL (or no array): the source. */
	const char *const *sources;
	const char *upper, *work; /* overlay; NULL in portable bundles */
	const char *repository_upper,
		*repository_work;    /* of the mount of kind overlay; NULL: the subject has none */
	const char *repository_base; /* as BASE, above its source */
	const char
		*served;  /* the overlay mounted by fuse-overlayfs, to be bound; NULL: the kernel's overlay */
	const char *init; /* host path of custody-init */
	const char *call; /* host path of custody-call; NULL unless the subject has a broker */
	const char *mcp;  /* the same of custody-mcp */
	const char *hook; /* host path of custody-hook; portable bundles */
	char *const *approve;	 /* arguments of `custody-hook approve`; NULL: no such hook, and no `audit` */
	const char *run;	 /* portable: the directory of the sessions; with APPROVE */
	bool console;		 /* portable: the runtime creates a terminal, as requested */
	const char *hook_stderr; /* portable: file for messages of hooks, as requested; NULL: none */
	int report_fd;		 /* descriptor of init's socket inside, or -1 (portable) */
	unsigned int terminal;	 /* bit N: descriptor N is a pty that init creates */
	bool limits; /* write linux.resources: portable bundles; own runs use custody's own cgroup */
	const char *
		seccomp_bpf; /* base64 program for run.oci.seccomp_bpf_data, or NULL to write linux.seccomp */
	bool seccomp_apart;  /* linux.seccomp is "": the comparing code has its text */
};
