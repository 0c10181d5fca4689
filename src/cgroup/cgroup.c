/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/seam.h"
#include "base/str.h"
#include "cgroup/cgroup-file.h"
#include "cgroup/cgroup-place.h"

#define MAKE_ROUNDS 16
#define HOLD_MS 50 /* how long a lock on the parent is waited for; leave_leaf needs less than 1 */

void cgroup_done(struct cgroup *c)
{
	for (size_t i = 0; i < c->n_nodes; i++) {
		free(c->nodes[i].dir);
		c->nodes[i].fd = fd_close(c->nodes[i].fd);
	}
	free(c->leaf);
	free(c->leaf_parent);
	free(c->why);
	*c = (struct cgroup){ 0 };
}

/*
 * Written before the directory is created: a supervisor killed in between leaves an extra line, never a
 * missing one.
 */
static int record(int run_fd, const char *dir, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_strbuf_ struct strbuf line = { 0 };

	if (run_fd < 0)
		return 0;
	fd = openat(run_fd, "cgroup", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "record cgroup '%s' in the session", dir);
	strbuf_printf(&line, "%s\n", dir);
	if (line.broken)
		return fault_errno(f, ENOMEM, "record cgroup '%s' in the session", dir);
	return fd_write_all(fd, line.text, line.len, f);
}

/*
 * Creates and locks DIR; returns its descriptor. A sweep (cgroup-sweep.c) may run between mkdir and flock and
 * remove it as abandoned; then the lock is on a removed directory, and DIR is created again. Mode 0700: any
 * process that can open a directory can lock it and block us.
 */
static int make_held(const char *dir, struct fault *f)
{
	for (int i = 0; i < MAKE_ROUNDS; i++) {
		_cleanup_close_ int fd = -EBADF;

		if (mkdir(dir, 0700) < 0) {
			if (errno == EACCES || errno == EPERM || errno == EROFS)
				return -errno;
			return fault_errno(f, errno, "create cgroup '%s'", dir);
		}
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && flock(fd, LOCK_SH) == 0 && access(dir, F_OK) == 0)
			return TAKE_FD(fd);
		if (errno != ENOENT) {
			int e = errno;

			(void)rmdir(dir);
			return fault_errno(f, e, "open cgroup '%s'", dir);
		}
	}
	return fault_set(f, EBUSY, "cgroup '%s' is removed repeatedly by another process", dir);
}

/* -EACCES, -EPERM and -EROFS mean "not permitted here": returned without a fault; the caller decides. */
static int add_node(struct cgroup *c, int run_fd, const char *parent, const char *id, struct fault *f)
{
	struct cgroup_node *n = &c->nodes[c->n_nodes];
	_cleanup_free_ char *dir = NULL;
	int r;

	if (asprintf(&dir, "%s/custody-%s", parent, id) < 0) {
		dir = NULL;
		return fault_errno(f, ENOMEM, "cgroup");
	}
	if (access(parent, W_OK) < 0)
		return -errno;
	r = record(run_fd, dir, f);
	if (r < 0)
		return r;
	seam("cgroup-written");
	r = make_held(dir, f);
	if (r < 0)
		return r;
	seam("cgroup-made");
	*n = (struct cgroup_node){ .fd = r };
	n->dir = TAKE_PTR(dir);
	c->n_nodes++;
	return 0;
}

unsigned int cgroup_controllers(const struct cgroup_limits *l)
{
	return (l->memory ? CGROUP_BIT(CGROUP_MEMORY) : 0) | (l->pids ? CGROUP_BIT(CGROUP_PIDS) : 0) |
	       (l->cpu_percent ? CGROUP_BIT(CGROUP_CPU) : 0);
}

static bool is_refusal(int r)
{
	return r == -EACCES || r == -EPERM || r == -EROFS;
}

static int open_v1(struct cgroup *c, int run_fd, const char *id, const struct cgroup_host *h,
		   unsigned int want, struct fault *f)
{
	for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++) {
		_cleanup_free_ char *parent = NULL;
		int r;

		if (!h->v1[i] || !(want & CGROUP_BIT(i)))
			continue;
		r = cgroup_host_v1_parent(h, (enum cgroup_controller)i, &parent, f);
		if (r < 0)
			return r;
		r = parent ? add_node(c, run_fd, parent, id, f) : -EACCES;
		/* cpu and cpuacct, or more, may be one hierarchy: the directory exists already. */
		if (r == -EEXIST) {
			for (size_t k = 0; k < c->n_nodes; k++)
				if (str_starts(c->nodes[k].dir, parent))
					c->nodes[k].controllers |= CGROUP_BIT(i);
			if (f)
				fault_done(f);
			continue;
		}
		if (is_refusal(r) && (!f || !f->text)) {
			c->missing |= CGROUP_BIT(i);
			continue;
		}
		if (r < 0)
			return r;
		c->nodes[c->n_nodes - 1].controllers = CGROUP_BIT(i);
	}
	return 0;
}

/* A host may delegate only some controllers: the largest part of WANT that has a place.  *RET NULL: none has. */
static int place_v2(struct cgroup *c, const struct cgroup_host *h, unsigned int *want, char **ret,
		    struct fault *f)
{
	const unsigned int all = *want;
	int r = cgroup_place_v2(c, h, all, ret, f);

	for (int size = __builtin_popcount(all) - 1; size > 0; size--)
		for (unsigned int part = 1; part < all && r == 0 && !*ret; part++) {
			if ((part & ~all) || __builtin_popcount(part) != size)
				continue;
			*want = part;
			r = cgroup_place_v2(c, h, part, ret, f);
		}
	if (!*ret)
		*want = 0;
	return r;
}

/*
 * The controllers of PARENT stay while this is held (leave_leaf in cgroup-end.c).  Any process that can open a directory can lock it,
 * so the wait is short, and a cgroup is created without the lock too: a process that holds it keeps leave_leaf away as well.
 */
static int hold_controllers(const char *parent)
{
	int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; fd >= 0 && i < HOLD_MS && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	     i++)
		(void)usleep(1000);
	return fd;
}

/*
 * v2 is opened even when no limit needs it: a process can be created in it, and one write kills the whole
 * tree.
 */
static int open_v2(struct cgroup *c, int run_fd, const char *id, const struct cgroup_host *h,
		   unsigned int want, struct fault *f)
{
	_cleanup_free_ char *parent = NULL;
	_cleanup_close_ int held = -EBADF;
	int r;

	if (!h->v2) {
		c->missing |= want;
		return 0;
	}
	c->missing |= want;
	r = place_v2(c, h, &want, &parent, f);
	if (r < 0)
		return r;
	c->missing &= ~want;
	held = want ? hold_controllers(parent) : -EBADF;
	r = add_node(c, run_fd, parent ?: h->v2, id, f);
	if (r == 0) {
		c->nodes[c->n_nodes - 1].v2 = true;
		c->nodes[c->n_nodes - 1].controllers = want;
	} else if (is_refusal(r) && (!f || !f->text)) {
		c->missing |= want;
		r = 0;
	}
	return r;
}

int cgroup_open(int run_fd, const char *id, const struct cgroup_limits *want, struct cgroup *ret,
		struct fault *f)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };
	struct cgroup c = { 0 };
	unsigned int need = cgroup_controllers(want), v1 = 0;
	int r;

	r = cgroup_host_load(&h, f);
	if (r < 0)
		return r;
	for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++)
		v1 |= h.v1[i] ? CGROUP_BIT(i) : 0;

	r = open_v2(&c, run_fd, id, &h, need & ~v1, f);
	if (r == 0)
		r = open_v1(&c, run_fd, id, &h, need & v1, f);
	if (r == 0 && c.missing)
		r = cgroup_explain_missing(&c, &h, f);
	c.scope_may_help = c.missing && geteuid() != 0 && h.v2_root && !(need & v1);
	if (r < 0) {
		(void)!cgroup_remove(&c, NULL);
		cgroup_done(&c);
		return r;
	}
	*ret = c;
	return 0;
}

static int move(const char *dir, int dirfd, pid_t pid, struct fault *f)
{
	char text[16];
	int r;

	(void)snprintf(text, sizeof(text), "%d", (int)pid);
	r = cgroup_file_write(dirfd, "cgroup.procs", text);
	return r < 0 ? fault_errno(f, -r, "move process %d into cgroup '%s'", (int)pid, dir) : 0;
}

/* v2 enables no controllers below a directory that holds processes. */
static int move_holder(const struct cgroup_scope *s, struct fault *f)
{
	_cleanup_free_ char *leaf = NULL;
	_cleanup_close_ int fd = -EBADF;

	if (asprintf(&leaf, "%s/custody-holder", s->dir) < 0) {
		leaf = NULL;
		return fault_errno(f, ENOMEM, "cgroup");
	}
	if (mkdir(leaf, 0755) < 0)
		return fault_errno(f, errno, "create cgroup '%s'", leaf);
	fd = open(leaf, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open cgroup '%s'", leaf);
	return move(leaf, fd, s->holder, f);
}

int cgroup_open_scope(int run_fd, const char *id, const struct cgroup_scope *s,
		      const struct cgroup_limits *want, struct cgroup *ret, struct fault *f)
{
	struct cgroup c = { 0 };
	unsigned int need = cgroup_controllers(want);
	int r = move_holder(s, f);

	if (r == 0) {
		r = add_node(&c, run_fd, s->dir, id, f);
		if (is_refusal(r) && (!f || !f->text))
			(void)fault_errno(f, -r, "create a cgroup in '%s'", s->dir);
	}
	if (r == 0) {
		c.nodes[0].v2 = true;
		c.nodes[0].controllers = need;
		r = cgroup_attach(&c, s->member, f);
	}
	if (r == 0 && !cgroup_place_enable(s->dir, need))
		r = fault_set(f, ENOTSUP, "the scope '%s' has not every controller that the limits need",
			      s->dir);
	if (r < 0) {
		cgroup_done(&c);
		return r;
	}
	*ret = c;
	return 0;
}

int cgroup_blame_scope(struct cgroup *c, const char *reason, struct fault *f)
{
	_cleanup_free_ char *before = c->why;

	if (asprintf(&c->why, "no scope from the user's systemd (%s); %s", reason, before ?: "") < 0) {
		c->why = NULL;
		return fault_errno(f, ENOMEM, "cgroup");
	}
	return 0;
}

int cgroup_clone_fd(const struct cgroup *c)
{
	for (size_t i = 0; i < c->n_nodes; i++)
		if (c->nodes[i].v2)
			return c->nodes[i].fd;
	return -EBADF;
}

int cgroup_open_processes(const struct cgroup *c)
{
	int fd = c->n_nodes == 0 ? -1 : openat(c->nodes[0].fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);

	return fd >= 0 ? fd : c->n_nodes == 0 ? -ENOENT : -errno;
}

int cgroup_enter(const struct cgroup *c, struct fault *f)
{
	for (size_t i = 0; i < c->n_nodes; i++) {
		int r = c->nodes[i].v2 ? 0 : cgroup_file_write(c->nodes[i].fd, "tasks", "0");

		if (r < 0)
			return fault_errno(f, -r, "enter cgroup '%s'", c->nodes[i].dir);
	}
	return 0;
}

int cgroup_attach(const struct cgroup *c, pid_t pid, struct fault *f)
{
	for (size_t i = 0; i < c->n_nodes; i++) {
		int r = c->nodes[i].v2 ? move(c->nodes[i].dir, c->nodes[i].fd, pid, f) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}
