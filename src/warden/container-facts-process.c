/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup-file.h"
#include "cgroup/cgroup-host.h"
#include "warden/container-facts.h"

#define FDS_MAX 4096
#define TTY_FIRST 136 /* majors of Unix98 terminals */
#define TTY_LAST 143
#define LIMIT_NONE (UINT64_C(1) << 62) /* v1 has a number near 2^63 for no limit */
#define CPU_UNIT_US 100000

/* Character devices of the majors of terminals: consoles, serial lines, pseudo terminals. */
static bool is_terminal(mode_t mode, dev_t number)
{
	const unsigned int m = major(number);

	return S_ISCHR(mode) && (m == 4 || m == 5 || m == 204 || (m >= TTY_FIRST && m <= TTY_LAST));
}

static bool closes_at_exec(int procfd, unsigned int number)
{
	_cleanup_free_ char *text = NULL;
	const char *at;
	uint64_t flags;
	char name[32];

	(void)snprintf(name, sizeof(name), "fdinfo/%u", number);
	if (container_facts_read_text(procfd, name, &text) < 0)
		return false;
	at = strstr(text, "flags:");
	if (!at)
		return false;
	at += strlen("flags:");
	at += strspn(at, "\t");
	return str_take_u64(&at, 8, &flags) == 0 && (flags & O_CLOEXEC);
}

static int read_descriptor(int procfd, int dir, const char *name, struct container_descriptor *ret)
{
	struct statx st;
	char target[256];
	uint64_t number;
	ssize_t n;

	if (str_to_u64(name, &number) < 0)
		return -EBADMSG;
	if (statx(dir, name, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_MNT_ID, &st) < 0)
		return -errno;
	n = readlinkat(dir, name, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = '\0';
	*ret = (struct container_descriptor){
		.number = (unsigned int)number,
		.directory = S_ISDIR(st.stx_mode),
		.terminal = is_terminal(st.stx_mode, makedev(st.stx_rdev_major, st.stx_rdev_minor)),
		.closed_at_exec = closes_at_exec(procfd, (unsigned int)number),
		.mount = st.stx_mnt_id,
		.target = strdup(target),
	};
	return ret->target ? 0 : -ENOMEM;
}

static int add_descriptor(int procfd, int dir, const char *name, struct container_facts *x)
{
	struct container_descriptor *more;
	int r;

	if (name[0] == '.')
		return 0;
	more = x->n_fds < FDS_MAX ? reallocarray(x->fds, x->n_fds + 1, sizeof(*more)) : NULL;
	if (!more)
		return -ENOMEM;
	x->fds = more;
	r = read_descriptor(procfd, dir, name, &more[x->n_fds]);
	x->n_fds += r == 0;
	return r;
}

int container_facts_read_descriptors(int procfd, struct container_facts *x)
{
	_cleanup_close_ int fd = openat(procfd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_dir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int r = 0;

	if (!d) {
		x->fds_err = errno;
		return 0;
	}
	(void)fd_take(&fd);
	errno = 0;
	while (r == 0 && (e = readdir(d)))
		r = add_descriptor(procfd, dirfd(d), e->d_name, x);
	x->fds_err = r < 0 ? -r : errno;
	return r == -ENOMEM ? r : 0;
}

/* "max" and huge numbers are no limit. */
static int read_limit(const char *dir, const char *file, uint64_t *ret)
{
	_cleanup_close_ int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char text[CGROUP_TEXT_MAX];
	uint64_t n;
	int r = fd < 0 ? -errno : cgroup_file_read(fd, file, text);

	if (r < 0)
		return r;
	text[strcspn(text, " \n")] = '\0';
	/* v1 writes -1 for no quota. */
	if (str_eq(text, "max") || str_eq(text, "-1"))
		n = UINT64_MAX;
	else if (str_to_u64(text, &n) < 0)
		return -EBADMSG;
	*ret = n >= LIMIT_NONE ? UINT64_MAX : n;
	return 0;
}

static int read_cpu(const char *dir, bool v2, uint64_t *ret)
{
	_cleanup_close_ int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t quota = UINT64_MAX, period = CPU_UNIT_US;
	char text[CGROUP_TEXT_MAX];
	int r;

	if (v2) {
		r = fd < 0 ? -errno : cgroup_file_read(fd, "cpu.max", text);
		if (r == 0 && !str_starts(text, "max") &&
		    sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) != 2)
			r = -EBADMSG;
	} else {
		r = read_limit(dir, "cpu.cfs_quota_us", &quota);
		if (r == 0)
			r = read_limit(dir, "cpu.cfs_period_us", &period);
	}
	if (r == 0 && (period == 0 || period == UINT64_MAX))
		r = -EBADMSG;
	if (r == 0)
		*ret = quota > LIMIT_NONE / CPU_UNIT_US ? UINT64_MAX : quota * CPU_UNIT_US / period;
	return r;
}

static int read_file(enum cgroup_controller c, const char *dir, bool v2, uint64_t *ret)
{
	if (c == CGROUP_CPU)
		return read_cpu(dir, v2, ret);
	if (c == CGROUP_PIDS)
		return read_limit(dir, "pids.max", ret);
	return read_limit(dir, v2 ? "memory.max" : "memory.limit_in_bytes", ret);
}

/* A limit of a cgroup above holds as well.  The root of a hierarchy has no such file. */
static int find_lowest(enum cgroup_controller c, const char *leaf, const char *root, bool v2, uint64_t *ret)
{
	_cleanup_free_ char *dir = strdup(leaf);
	bool any = false;

	if (!dir)
		return -ENOMEM;
	*ret = UINT64_MAX;
	while (strlen(dir) > strlen(root)) {
		uint64_t n = UINT64_MAX;
		char *slash;
		int r = read_file(c, dir, v2, &n);

		/* The controller is not enabled so far down. */
		if (r < 0 && !(v2 && r == -ENOENT))
			return r;
		any |= r == 0;
		if (r == 0 && n < *ret)
			*ret = n;
		slash = strrchr(dir, '/');
		if (!slash || slash == dir)
			break;
		*slash = '\0';
	}
	return any ? 0 : -ENOENT;
}

static int read_controller(enum cgroup_controller c, const struct cgroup_host *its, uint64_t *ret)
{
	const bool v2 = !its->v1_root[c] && !its->v1[c];
	const char *dir = v2 ? its->v2 : its->v1[c], *root = v2 ? its->v2_root : its->v1_root[c];

	*ret = UINT64_MAX;
	return dir && root ? find_lowest(c, dir, root, v2, ret) : -ENOENT;
}

/* In a cgroup of its own in at least one hierarchy that has limits. */
static bool is_foreign(const struct cgroup_host *its, const struct cgroup_host *ours)
{
	for (unsigned int c = 0; c < _CGROUP_CONTROLLER_MAX; c++)
		if (its->v1[c] && str_eq(its->v1[c], ours->v1[c]))
			return false;
	return its->v1[CGROUP_MEMORY] || (its->v2 && !str_eq(its->v2, ours->v2));
}

int container_facts_read_limits(int procfd, struct container_facts *x)
{
	_cleanup_cgroup_host_ struct cgroup_host its = { 0 }, ours = { 0 };
	_cleanup_free_ char *mounts = NULL, *theirs = NULL, *own = NULL;
	struct container_limits *l = &x->limits;
	int r = container_facts_read_text(procfd, "cgroup", &theirs);

	if (r == 0)
		r = container_facts_read_text(AT_FDCWD, "/proc/self/mountinfo", &mounts);
	if (r == 0)
		r = container_facts_read_text(AT_FDCWD, "/proc/self/cgroup", &own);
	if (r == 0)
		r = cgroup_host_parse(mounts, theirs, &its, NULL);
	if (r == 0)
		r = cgroup_host_parse(mounts, own, &ours, NULL);
	l->memory = l->pids = l->cpu = UINT64_MAX;
	l->err = -r;
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	l->foreign = is_foreign(&its, &ours);
	/* A limit that cannot be read is none. */
	(void)!read_controller(CGROUP_MEMORY, &its, &l->memory);
	(void)!read_controller(CGROUP_PIDS, &its, &l->pids);
	(void)!read_controller(CGROUP_CPU, &its, &l->cpu);
	return 0;
}
