/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/path.h"
#include "core/worktree.h"
#include "oci/hook-attach.h"
#include "oci/hook.h"

#define MOUNTS_MAX 512

/*
 * As root, at createRuntime: sources are cloned in the host's mount namespace, where an owner can be mapped; then the
 * container's is entered and the clones are attached below its root.
 *
 * As a user, at createContainer: the runtime has put us into the container's namespaces already, and could not let us
 * in from outside (its process is not dumpable).  crun has hidden paths by then, so what is mounted over them has to be
 * hidden again.
 */
struct plan_mount {
	const char *kind, *source, *target;
	bool rw, is_dir, idmap;
	uid_t uid;
	gid_t gid;
	uint64_t size;
	mode_t mode;
	int tree; /* clone of SOURCE, or -EBADF */
};

struct plan {
	struct jdoc *doc; /* owns all texts */
	bool rootless, userns;
	uid_t uid_base;
	gid_t gid_base;
	struct plan_mount *mounts;
	size_t n_mounts;
};

static void plan_done(struct plan *p)
{
	for (size_t i = 0; p->mounts && i < p->n_mounts; i++)
		fd_close(p->mounts[i].tree);
	free(p->mounts);
	jdoc_free(p->doc);
}

static bool get_bool(const struct jdoc *d, const char *key)
{
	const struct jdoc *v = jdoc_get(d, key);

	return v && v->type == JDOC_BOOL && v->boolean;
}

static uint64_t get_u64(const struct jdoc *d, const char *key, uint64_t max)
{
	const struct jdoc *v = jdoc_get(d, key);

	return v && v->type == JDOC_INT && v->integer >= 0 && (uint64_t)v->integer <= max
		       ? (uint64_t)v->integer
		       : 0;
}

static int read_mount(const struct jdoc *d, struct plan_mount *m, struct fault *f)
{
	*m = (struct plan_mount){
		.kind = jdoc_get_string(d, "kind"),
		.source = jdoc_get_string(d, "source"),
		.target = jdoc_get_string(d, "target"),
		.rw = get_bool(d, "rw"),
		.is_dir = get_bool(d, "dir"),
		.idmap = get_bool(d, "idmap"),
		.uid = (uid_t)get_u64(d, "uid", UINT32_MAX),
		.gid = (gid_t)get_u64(d, "gid", UINT32_MAX),
		.size = get_u64(d, "size", INT64_MAX),
		.mode = (mode_t)get_u64(d, "mode", 07777),
		.tree = -EBADF,
	};
	if (!m->kind || !m->target || m->target[0] != '/')
		return fault_set(f, EINVAL, "the plan has a mount without kind or target");
	if (strcmp(m->kind, "tmpfs") == 0 || strcmp(m->kind, "hide") == 0)
		return 0;
	if (strcmp(m->kind, "bind") != 0 && strcmp(m->kind, "overlay") != 0)
		return fault_set(f, EINVAL, "the plan has a mount of unknown kind '%s'", m->kind);
	if (!m->source || m->source[0] != '/')
		return fault_set(f, EINVAL, "the plan has no source for '%s'", m->target);
	return 0;
}

static int read_plan(const char *text, struct plan *p, struct fault *f)
{
	const struct jdoc *mounts;
	int r;

	r = jdoc_parse(text, strlen(text), "plan", NULL, &p->doc, f);
	if (r < 0)
		return r;
	mounts = jdoc_get(p->doc, "mounts");
	if (get_u64(p->doc, "version", 1) != 1 || !mounts || mounts->type != JDOC_ARRAY ||
	    mounts->n_items > MOUNTS_MAX)
		return fault_set(
			f, EINVAL,
			"the plan is of another version: write the bundle anew with 'custody bundle'");
	p->rootless = get_bool(p->doc, "rootless");
	p->userns = get_bool(p->doc, "userns");
	p->uid_base = (uid_t)get_u64(p->doc, "uid_base", UINT32_MAX);
	p->gid_base = (gid_t)get_u64(p->doc, "gid_base", UINT32_MAX);
	p->mounts = calloc(mounts->n_items ? mounts->n_items : 1, sizeof(*p->mounts));
	if (!p->mounts)
		return fault_errno(f, ENOMEM, "plan");
	for (size_t i = 0; r >= 0 && i < mounts->n_items; i++) {
		r = read_mount(mounts->items[i], &p->mounts[i], f);
		p->n_mounts++;
	}
	return r;
}

static int clone_sources(const struct plan *p, struct fault *f)
{
	bool map = p->userns && !p->rootless;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < p->n_mounts; i++) {
		struct plan_mount *m = &p->mounts[i];
		struct worktree_ids ids = { m->uid, p->uid_base, m->gid, p->gid_base };

		if (m->source)
			r = worktree_clone(m->source, m->rw, map && m->idmap ? &ids : NULL, &m->tree, f);
	}
	return r;
}

static int enter(pid_t pid, const char *name, int kind, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	if (setns(fd, kind) < 0)
		return fault_errno(f, errno, "enter '%s'", path);
	return 0;
}

static int enter_container(pid_t pid, struct fault *f)
{
	int r;

	if (pid <= 0)
		return fault_set(f, EINVAL,
				 "the container's state has no pid: this hook belongs to createRuntime");
	r = enter(pid, "mnt", CLONE_NEWNS, f);
	if (r < 0)
		return r;
	/* Without a user namespace the copy of a shared mount is shared: what follows must not reach the host. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return fault_errno(f, errno, "detach the container's mounts from the host's");
	return 0;
}

static int attach(const struct plan *p, int rootfd, struct plan_mount *m, struct fault *f)
{
	bool host_ids = p->userns && !p->rootless;
	struct attach_point at = {
		.rootfd = rootfd,
		.target = m->target,
		.is_dir = m->is_dir,
		.uid = host_ids ? p->uid_base : 0,
		.gid = host_ids ? p->gid_base : 0,
	};

	if (strcmp(m->kind, "overlay") == 0)
		return attach_overlay(&at, m->tree, m->size, p->rootless, f);
	if (strcmp(m->kind, "bind") == 0)
		return attach_tree(&at, m->tree, f);
	if (strcmp(m->kind, "hide") == 0)
		return attach_mask(&at, f);
	at.uid += m->uid;
	at.gid += m->gid;
	return attach_tmpfs(&at, m->size, m->mode, f);
}

int hook_mount(const struct hook_state *s, const char *text, struct fault *f)
{
	_cleanup_(plan_done) struct plan p = { 0 };
	_cleanup_free_ char *root = path_join(s->bundle, "rootfs");
	_cleanup_close_ int rootfd = -EBADF;
	int r;

	if (!root)
		return fault_errno(f, ENOMEM, "plan");
	r = read_plan(text, &p, f);
	if (r >= 0)
		r = clone_sources(&p, f);
	if (r >= 0 && !p.rootless)
		r = enter_container(s->pid, f);
	if (r < 0)
		return r;
	rootfd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (rootfd < 0)
		return fault_errno(f, errno, "open '%s'", root);
	for (size_t i = 0; r >= 0 && i < p.n_mounts; i++) {
		r = attach(&p, rootfd, &p.mounts[i], f);
		if (r < 0)
			return fault_wrap(f, r, "mount '%s'", p.mounts[i].target);
	}
	return r;
}
