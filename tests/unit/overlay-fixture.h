/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A real overlay in a mount namespace of our own: base, layer, and what a payload sees. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/walk.h"
#include "review/apply.h"
#include "review/base-record.h"
#include "worktree/overlay-server.h"
#include "review/review-judge.h"
#include "base/tree-at.h"
#include "child.h"
#include "tree-fixture.h"

struct overlay {
	struct tree tree;
	const char *options; /* of the mount */
	struct timespec since;
	bool recorded;		      /* the base, as a run does at its end */
	size_t batch;		      /* of overlay_apply; 0: as a user's */
	struct overlay_server server; /* of options "fuse" */
};

#define OVERLAY_FUSE_ID 1879048192 /* owner of the directories that fuse-overlayfs serves */

static inline bool overlay_make(struct overlay *o, const char *options)
{
	o->options = options;
	o->server = OVERLAY_SERVER_NONE;
	o->since = (struct timespec){ 0 };
	o->recorded = false;
	o->batch = 0;
	return tree_make(&o->tree) && fchdir(o->tree.fd) == 0 && mkdir("l", 0755) == 0 &&
	       mkdir("u", 0755) == 0 && mkdir("w", 0755) == 0 && mkdir("m", 0755) == 0;
}

static inline bool overlay_is_fuse(const struct overlay *o)
{
	return strcmp(o->options, "fuse") == 0;
}

/* Gives everything to the one id.  The process that changes the tree must have that id, too. */
static inline bool overlay_give(const char *dir)
{
	_cleanup_close_ int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int r;

	if (root < 0 || fchown(root, OVERLAY_FUSE_ID, OVERLAY_FUSE_ID) < 0 || walk_new(root, 0, &w, NULL) < 0)
		return false;
	while ((r = walk_next(w, &e, NULL)) > 0)
		if (r != WALK_LEAVE && *e.path &&
		    fchownat(e.dirfd, e.name, OVERLAY_FUSE_ID, OVERLAY_FUSE_ID, AT_SYMLINK_NOFOLLOW) < 0)
			return false;
	return r == 0;
}

static inline bool overlay_serve(struct overlay *o)
{
	/* Everything is allowed: the filter is not under test. */
	const struct overlay_server_limits l = { .seccomp = "BgAAAAAA/38=" };
	_cleanup_fault_ struct fault f = { 0 };
	char here[256], lower[260], layers[260], point[260];
	struct overlay_server_mount_args ask = { .lower = lower,
						 .layers = layers,
						 .point = point,
						 .uid = OVERLAY_FUSE_ID,
						 .gid = OVERLAY_FUSE_ID };

	/* No mount point among the directories: the overlay server cannot move one. */
	if ((!o->since.tv_sec && (!overlay_give("l") || !overlay_give("u") || !overlay_give("w"))) ||
	    (mkdir("k", 0755) < 0 && errno != EEXIST) || rename("u", "k/u") < 0 || rename("w", "k/w") < 0 ||
	    !getcwd(here, sizeof(here)) || chmod(".", 0711) < 0)
		return false;
	(void)snprintf(lower, sizeof(lower), "%s/l", here);
	(void)snprintf(layers, sizeof(layers), "%s/k", here);
	(void)snprintf(point, sizeof(point), "%s/m", here);
	if (!o->since.tv_sec)
		(void)clock_gettime(CLOCK_REALTIME, &o->since);
	if (overlay_server_start(&l, &o->server, &f) == 0 &&
	    overlay_server_mount(o->server.fd, &ask, &f) == 0)
		return true;
	printf("# %s\n", fault_text(&f));
	return false;
}

static inline enum overlay_xattr_place overlay_notes_of(const struct overlay *o)
{
	if (overlay_is_fuse(o))
		return OVERLAY_XATTR_FUSE;
	return strstr(o->options, "userxattr") ? OVERLAY_XATTR_USER : OVERLAY_XATTR_TRUSTED;
}

static inline bool overlay_record(struct overlay *o)
{
	_cleanup_close_ int upper = open("u", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			    base = open("l", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct changes_ask ask = {
		.upper = upper, .base = base, .xattrs = overlay_notes_of(o), .since = o->since
	};
	_cleanup_fault_ struct fault f = { 0 };

	o->recorded = base_record_make(&ask, o->tree.fd, &f) == 0;
	if (!o->recorded)
		printf("# record: %s\n", fault_text(&f));
	return o->recorded;
}

static inline bool overlay_unmount(struct overlay *o)
{
	bool ok = umount("m") == 0;

	if (overlay_is_fuse(o))
		overlay_server_stop(&o->server);
	if (overlay_is_fuse(o))
		ok = ok && rename("k/u", "u") == 0 && rename("k/w", "w") == 0;
	return ok && overlay_record(o);
}

static inline bool overlay_mount(struct overlay *o)
{
	char options[256];

	if (overlay_is_fuse(o))
		return overlay_serve(o);
	(void)snprintf(options, sizeof(options), "lowerdir=l,upperdir=u,workdir=w%s%s",
		       *o->options ? "," : "", o->options);
	(void)clock_gettime(CLOCK_REALTIME, &o->since);
	return mount("overlay", "m", "overlay", 0, options) == 0;
}

/* All that apply promises: names, types, modes, links, bytes. */
static inline char *overlay_portrait(const char *dir)
{
	_cleanup_close_ int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_walk_ struct walk *w = NULL;
	_cleanup_strbuf_ struct strbuf out = { 0 };
	struct walk_entry e;
	int r;

	if (root < 0 || walk_new(root, WALK_SORTED, &w, NULL) < 0)
		return NULL;
	while ((r = walk_next(w, &e, NULL)) > 0) {
		char hex[DIGEST_HEX_SIZE] = "";
		_cleanup_free_ char *link = NULL;

		if (r == WALK_LEAVE)
			continue;
		if (S_ISLNK(e.stx.stx_mode) && tree_readlink(e.dirfd, e.name, &link) < 0)
			return NULL;
		if (S_ISREG(e.stx.stx_mode)) {
			_cleanup_close_ int fd = tree_open_file(e.dirfd, e.name);
			struct digest d;

			if (fd < 0 || digest_fd(fd, &d, NULL) < 0)
				return NULL;
			digest_to_hex(&d, hex);
		}
		strbuf_printf(&out, "%s %o %s %.12s %d\n", e.path, e.stx.stx_mode, link ? link : "", hex,
			      r == WALK_ERROR ? e.error : 0);
	}
	return r == 0 ? strbuf_take(&out) : NULL;
}

/* Lists what the layer changes; the caller has the two descriptors in FDS. */
static inline bool overlay_collect(const struct overlay *o, int fds[2], struct changes *ret)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_base_record_ struct base_record *record = NULL;
	struct changes_ask ask = { .xattrs = overlay_notes_of(o), .since = o->since, .files_min = 1 };

	ask.upper = fds[0] = open("u", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ask.base = fds[1] = open("l", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (o->recorded && base_record_read(o->tree.fd, &record, &f) < 0) {
		printf("# record: %s\n", fault_text(&f));
		return false;
	}
	ask.record = record;
	if (changes_collect(&ask, ret, &f) == 0)
		return true;
	printf("# collect: %s\n", fault_text(&f));
	return false;
}

static inline bool overlay_apply(const struct overlay *o, char *const *paths, bool say)
{
	_cleanup_changes_ struct changes c = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	struct apply_stats stats;
	int fds[2], r;
	bool whole = true;

	if (!overlay_collect(o, fds, &c))
		return false;
	r = review_judge(&c, &(struct review_ask){ .base = fds[1], .paths = paths }, &f);
	for (size_t i = 0; i < c.n; i++)
		if (c.items[i].refused) {
			whole = false;
			if (say)
				printf("# %s: %s\n", c.items[i].path, c.items[i].refused);
		}
	if (r == 0)
		r = apply_changes(&c,
				  &(struct apply_ask){ .upper = fds[0],
						       .base = fds[1],
						       .session = "test",
						       .batch = o->batch,
						       .files_min = 1 },
				  &stats, &f);
	if (r < 0 && say)
		printf("# apply: %s\n", fault_text(&f));
	fd_close(fds[0]);
	fd_close(fds[1]);
	return r == 0 && whole;
}

/* In a process of its own, which takes its mounts with it. */
static inline bool overlay_in_child(bool (*fn)(const char *options, unsigned int seed), const char *options,
				    unsigned int seed)
{
	int status;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		bool ok = child_own_mounts();

		if (!ok)
			printf("# no mount namespace: %s\n", strerror(errno));
		ok = ok && fn(options, seed);
		(void)fflush(stdout);
		_exit(!ok);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
