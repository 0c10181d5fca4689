/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "container/warden-handover.h"
#include "worktree/worktree.h"
#include "oci/hook/hook-attach.h"
#include "oci/hook/hook-gate.h"
#include "oci/hook/hook-plan.h"
#include "oci/hook/hook.h"

/*
 * As root, at createRuntime: sources are cloned in the host's mount namespace, where an owner can be mapped; then the
 * container's is entered and the clones are attached below its root.
 *
 * As a user, at createContainer: the hook runs in the container's namespaces already; it could not enter them from
 * outside (the first process is not dumpable).  crun has hidden paths by then, so mounts over them must be
 * hidden again.
 */

/* The judged file is identified by device and inode, not by its name. */
static int require_same_file(const struct hook_plan_mount *m, struct fault *f)
{
	char text[48];
	struct stat st;

	if (fstat(m->tree, &st) < 0)
		return fault_errno(f, errno, "'%s'", m->source);
	/* Nor is a socket or FIFO, which leads out of the container, the file that was read-only data. */
	if (!m->file && !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return fault_set(f, EPERM, "'%s' was replaced by a special file after it was judged",
				 m->source);
	if (!m->file)
		return 0;
	(void)snprintf(text, sizeof(text), "%" PRIu64 ":%" PRIu64, (uint64_t)st.st_dev, (uint64_t)st.st_ino);
	if (strcmp(text, m->file) != 0)
		return fault_set(f, EPERM, "'%s' was replaced after it was judged", m->source);
	return 0;
}

static int clone_sources(const struct hook_plan *p, const char *operands, struct fault *f)
{
	bool map = p->userns && !p->rootless;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < p->n_mounts; i++) {
		struct hook_plan_mount *m = &p->mounts[i];
		struct worktree_ids ids = { .from_uid = m->uid,
					    .to_uid = p->uid_base + p->uid,
					    .from_gid = m->gid,
					    .to_gid = p->gid_base + p->gid };

		if (m->source)
			r = worktree_clone(m->source, m->rw, map && m->idmap ? &ids : NULL, &m->tree, f);
		if (r >= 0 && m->source)
			r = require_same_file(m, f);
		/* Written with the container's ids: no mapping. */
		if (r >= 0 && m->sealed)
			r = worktree_clone(operands, false, NULL, &m->layer, f);
	}
	/* A child reparented to crun would hide the exit of its hook: only one SIGCHLD can be pending. */
	worktree_finish();
	return r;
}

/*
 * The mount namespace of process PID, which is the container's: a reused pid may belong to another process, and the mounts would
 * then be visible to it, or on the host.
 */
static int open_mounts(pid_t pid, int *ret, struct fault *f)
{
	_cleanup_close_ int pidfd = -EBADF, fd = -EBADF;
	struct stat ours, theirs;
	uint64_t start;
	char path[64];
	int r;

	r = hook_pidfd_open(pid, false, &pidfd, &start, f);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &theirs) < 0 || stat("/proc/self/ns/mnt", &ours) < 0)
		return fault_errno(f, errno, "open '%s'", path);
	/* It is still alive, so the pid was not reused and the descriptor is its own. */
	if (syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0)
		return fault_errno(f, errno, "the container's first process %d has exited", (int)pid);
	if (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
		return fault_set(f, EPERM,
				 "process %d has the host's mounts, not a container's: nothing was mounted",
				 (int)pid);
	*ret = TAKE_FD(fd);
	return 0;
}

static int enter_container(pid_t pid, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r = open_mounts(pid, &fd, f);

	if (r < 0)
		return r;
	if (setns(fd, CLONE_NEWNS) < 0)
		return fault_errno(f, errno, "enter the mounts of process %d", (int)pid);
	/* Without a user namespace the copy of a shared mount is shared: later mounts must not reach the host. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return fault_errno(f, errno, "detach the container's mounts from the host's");
	return 0;
}

static int attach(const struct hook_plan *p, int rootfd, struct hook_plan_mount *m, int *ret_upper,
		  struct fault *f)
{
	bool host_ids = p->userns && !p->rootless;
	struct hook_attach_point at = {
		.rootfd = rootfd,
		.target = m->target,
		.is_dir = m->is_dir,
		.uid = p->uid + (host_ids ? p->uid_base : 0),
		.gid = p->gid + (host_ids ? p->gid_base : 0),
	};

	if (strcmp(m->kind, "overlay") == 0)
		return hook_attach_overlay(&at, m->tree, m->layer, m->size, p->rootless, ret_upper, f);
	if (strcmp(m->kind, "sealed") == 0)
		return hook_attach_sealed(&at, m->tree, m->layer, p->rootless, f);
	if (strcmp(m->kind, "tree") == 0)
		return hook_attach_read_only(&at, m->tree, f);
	if (strcmp(m->kind, "bind") == 0)
		return hook_attach_tree(&at, m->tree, f);
	if (strcmp(m->kind, "hide") == 0)
		return hook_attach_mask(&at, f);
	return hook_attach_tmpfs(&at, m->size, m->mode, f);
}

/* In the host's mount namespace.  *RET stays -EBADF if the container has no warden. */
static int find_handover(const struct hook_plan *p, const struct hook_state *s, int *ret, struct fault *f)
{
	int fd;

	if (!p->run)
		return 0;
	fd = warden_handover_find(p->run, s->id, f);
	/* A bundle without `approve` has no session, hence no evidence. */
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	*ret = fd;
	return 0;
}

/* Before anything runs in the worktree; later the upper cannot be opened. */
static int hand_over(const struct hook_plan *p, int rootfd, int handover, struct warden_held *h,
		     struct fault *f)
{
	int r = 0;

	if (handover < 0)
		return 0;
	h->tree = path_open_in_root(rootfd, p->work, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, f);
	if (h->tree < 0)
		return fault_wrap(f, h->tree, "open the worktree");
	if (p->gate)
		r = hook_gate_place(rootfd, p->rootless, &h->gate, &h->gate_dir, f);
	return r < 0 ? r : warden_handover_send(handover, h, f);
}

static int mount_all(const struct hook_plan *p, int rootfd, int handover, struct fault *f)
{
	_cleanup_warden_held_ struct warden_held held = WARDEN_HELD_NONE;
	int r;

	for (size_t i = 0; i < p->n_mounts; i++) {
		r = attach(p, rootfd, &p->mounts[i], handover < 0 ? NULL : &held.upper, f);
		if (r < 0)
			return fault_wrap(f, r, "mount '%s'", p->mounts[i].target);
	}
	return hand_over(p, rootfd, handover, &held, f);
}

int hook_mount(const struct hook_state *s, const char *text, struct fault *f)
{
	_cleanup_hook_plan_ struct hook_plan p = { 0 };
	/* worktree_clone refuses symbolic links in a path; the bundle path of the runtime may have some. */
	_cleanup_free_ char *bundle = realpath(s->bundle, NULL), *root = NULL, *operands = NULL;
	_cleanup_close_ int rootfd = -EBADF, handover = -EBADF;
	int r;

	if (!bundle)
		return fault_errno(f, errno, "bundle '%s'", s->bundle);
	root = path_join(bundle, "rootfs");
	operands = path_join(bundle, "operands");
	if (!root || !operands)
		return fault_errno(f, ENOMEM, "plan");
	r = hook_plan_parse(text, &p, f);
	if (r >= 0)
		r = find_handover(&p, s, &handover, f);
	if (r >= 0)
		r = clone_sources(&p, operands, f);
	if (r >= 0 && !p.rootless)
		r = enter_container(s->pid, f);
	if (r < 0)
		return r;
	rootfd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (rootfd < 0)
		return fault_errno(f, errno, "open '%s'", root);
	return mount_all(&p, rootfd, handover, f);
}
