/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/vfs.h>

#include "init/init-prove.h"

/*
 * The working directory is entered here, not by the runtime: when a runtime changes directory it still holds descriptors
 * of the host, and /proc/self/fd/N of a path, or of a link in the worktree, leads to them (CVE-2024-21626). Init has
 * stdio and its socket, none of which is a directory. The result is proven by what the kernel says of it, not by the
 * path that was asked for.
 */

/* Missing on hosts older than Linux 5.8 and in their headers: then the id comes from /proc/self/fdinfo. */
#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x00001000U
#endif

/* File systems that show the kernel or another process instead of files of the container. */
static const long pseudo_types[] = {
	PROC_SUPER_MAGIC,
	SYSFS_MAGIC,
	CGROUP_SUPER_MAGIC,
	CGROUP2_SUPER_MAGIC,
	DEVPTS_SUPER_MAGIC,
	DEBUGFS_MAGIC,
	TRACEFS_MAGIC,
	SECURITYFS_MAGIC,
	BPF_FS_MAGIC,
	NSFS_MAGIC,
	PSTOREFS_MAGIC,
	EFIVARFS_MAGIC,
	BINFMTFS_MAGIC,
	SELINUX_MAGIC,
	SMACK_MAGIC,
	HUGETLBFS_MAGIC,
	0x19800202 /* mqueue */,
	0x62656570 /* configfs */,
	0x65735543 /* fusectl */,
};

/* Runtimes create a missing working directory; so does init, with the rights of the command. */
static void make_missing(const char *path)
{
	char part[4096];
	struct line l = LINE(part);

	for (const char *at = path; *at;) {
		const char *end = strchr(at + 1, '/');
		size_t n = end ? (size_t)(end - at) : strlen(at);

		if (l.len + n + 1 > sizeof(part))
			return;
		memcpy(part + l.len, at, n);
		l.len += n;
		part[l.len] = '\0';
		(void)SYS(mkdirat, AT_FDCWD, part, 0755);
		at += n;
	}
}

static uint64_t take_mount_id(const char *text)
{
	const char *key = "mnt_id:";

	for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		uint64_t id = 0;

		if (strncmp(at, key, strlen(key)) != 0)
			continue;
		for (at += strlen(key); *at == '\t' || *at == ' '; at++)
			;
		for (; *at >= '0' && *at <= '9'; at++)
			id = id * 10 + (unsigned int)(*at - '0');
		return id;
	}
	return 0;
}

static uint64_t mount_id_by_fdinfo(void)
{
	char path[48], text[512];
	struct line l = LINE(path);
	uint64_t id = 0;
	long fd;

	fd = SYS(openat, AT_FDCWD, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	line_put(&l, "/proc/self/fdinfo/");
	line_put_num(&l, fd);
	if (rt_read_file(path, text, sizeof(text)) > 0)
		id = take_mount_id(text);
	(void)SYS(close, fd);
	return id;
}

static uint64_t mount_id(void)
{
	struct statx stx = { 0 };

	if (SYS(statx, AT_FDCWD, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) == 0 && stx.stx_mask & STATX_MNT_ID)
		return stx.stx_mnt_id;
	return mount_id_by_fdinfo();
}

void cwd_enter(struct prove *p)
{
	const char *path = p->options->cwd;

	if (!path)
		return;
	p->cwd.entered = SYS(chdir, path);
	if (p->cwd.entered == -ENOENT && !p->options->exec) {
		make_missing(path);
		p->cwd.entered = SYS(chdir, path);
	}
	if (p->cwd.entered == 0)
		p->cwd.mount = mount_id();
}

static bool is_pseudo(void)
{
	struct statfs fs;

	if (SYS(statfs, ".", &fs) < 0)
		return true;
	for (unsigned int i = 0; i < ARRAY_SIZE(pseudo_types); i++)
		if ((uint32_t)fs.f_type == (uint32_t)pseudo_types[i])
			return true;
	return false;
}

/* The fault of the current directory; NULL: nothing. PATH: its name as the kernel gives it. */
static const char *find_wrong(const struct prove *p, char *path, size_t room)
{
	/* The kernel's call returns "(unreachable)/..." for a directory that is not below the root. */
	if (SYS(getcwd, path, room) < 0) {
		path[0] = '\0';
		return "it was removed";
	}
	if (path[0] != '/')
		return "it is not below the root";
	if (facts_is_below(path, "/proc") || facts_is_below(path, "/dev") || facts_is_below(path, "/sys"))
		return "it is below /proc, /dev or /sys";
	if (is_pseudo())
		return "its file system shows the kernel or a process, not files";
	if (!p->cwd.mounted)
		return "its mount is not one of the container";
	/* The running payload may have put a link there: the command would act on another directory than was approved. */
	if (p->options->exec && strcmp(path, p->options->cwd) != 0)
		return "a symbolic link leads elsewhere";
	return NULL;
}

void prove_cwd(struct prove *p)
{
	struct line d = proof_line(p, LAYER_CWD);
	const char *wrong;
	char path[4096];

	d.text[0] = '\0';
	if (!p->options->cwd) {
		line_put(&d, "--cwd is missing");
		return;
	}
	if (p->cwd.entered < 0) {
		line_put(&d, "cannot enter ");
		line_put(&d, p->options->cwd);
		line_put(&d, ": ");
		line_put_errno(&d, (int)-p->cwd.entered);
		return;
	}
	wrong = find_wrong(p, path, sizeof(path));
	/* The reason first: a long path is cut. */
	if (wrong) {
		line_put(&d, wrong);
		line_put(&d, ": ");
	}
	line_put(&d, path[0] ? path : p->options->cwd);
	proof_set(p, LAYER_CWD, !wrong, 0);
}
