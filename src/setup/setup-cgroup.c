/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "setup/setup-cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "cgroup/cgroup-file.h"

#define LEAF "login"

/* Files of a directory that its owner writes: to move processes, and to hand controllers to children. */
static const char *const files_v1[] = { NULL }; /* processes are in the children only, which the user makes */
static const char *const files_v2[] = { "cgroup.procs", "cgroup.threads", "cgroup.subtree_control", NULL };

static bool is_v1(const struct setup_change *c)
{
	return str_eq(c->text, SETUP_CGROUP_V1);
}

static int open_dir(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool belongs_to(int dir, const char *const *files, uid_t uid)
{
	struct stat st;

	if (fstat(dir, &st) < 0 || st.st_uid != uid)
		return false;
	for (; *files; files++)
		if (fstatat(dir, *files, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid != uid)
			return false;
	return true;
}

/* Does FILE of DIR have every blank-separated word of WORDS? */
static bool has_all(int dir, const char *file, const char *words)
{
	char text[CGROUP_TEXT_MAX], word[32];

	if (cgroup_file_read(dir, file, text) < 0)
		return false;
	while (*words) {
		size_t n = strcspn(words, " ");

		if (n >= sizeof(word))
			return false;
		memcpy(word, words, n);
		word[n] = '\0';
		if (!cgroup_text_has(text, word))
			return false;
		words += n + (words[n] == ' ');
	}
	return true;
}

int setup_cgroup_is_made(const struct setup_change *c, const struct setup_user *u)
{
	_cleanup_close_ int dir = open_dir(AT_FDCWD, c->path), leaf = -EBADF;

	if (dir < 0)
		return 0;
	if (is_v1(c))
		return belongs_to(dir, files_v1, u->uid);
	leaf = open_dir(dir, LEAF);
	return leaf >= 0 && belongs_to(dir, files_v2, u->uid) && belongs_to(leaf, files_v2, u->uid) &&
	       has_all(dir, "cgroup.subtree_control", c->text);
}

/* PATH in AT, of the user with the files; a descriptor. */
static int make_dir(int at, const char *path, const char *const *files, const struct setup_user *u,
		    struct fault *f)
{
	_cleanup_close_ int dir = -EBADF;

	if (mkdirat(at, path, 0755) < 0 && errno != EEXIST)
		return fault_errno(f, errno, "create cgroup '%s'", path);
	dir = open_dir(at, path);
	if (dir < 0)
		return fault_errno(f, errno, "open cgroup '%s'", path);
	for (; *files; files++)
		if (fchownat(dir, *files, u->uid, u->gid, AT_SYMLINK_NOFOLLOW) < 0 && errno != ENOENT)
			return fault_errno(f, errno, "chown '%s/%s'", path, *files);
	/* Last: the owner of the directory shows that it is complete. */
	if (fchown(dir, u->uid, u->gid) < 0)
		return fault_errno(f, errno, "chown '%s'", path);
	return TAKE_FD(dir);
}

/* "cpu memory" as "+cpu +memory" */
static int enable(int dir, const char *path, const char *words, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r;

	if (has_all(dir, "cgroup.subtree_control", words))
		return 0;
	strbuf_putc(&b, '+');
	for (; *words; words++)
		strbuf_puts(&b, *words == ' ' ? " +" : (char[]){ *words, '\0' });
	if (b.broken)
		return fault_errno(f, ENOMEM, "cgroup");
	r = cgroup_file_write(dir, "cgroup.subtree_control", b.text);
	if (r == -EBUSY)
		return fault_set(
			f, EBUSY,
			"'%s' cannot give its controllers away, because processes are in it: this needs "
			"the root of the machine's cgroups, which a container does not have",
			path);
	return r < 0 ? fault_errno(f, -r, "write '%s' to '%s/cgroup.subtree_control'", b.text, path) : 0;
}

int setup_cgroup_make(const struct setup_change *c, const struct setup_user *u, struct fault *f)
{
	_cleanup_close_ int up = -EBADF, dir = -EBADF, leaf = -EBADF;
	char parent[PATH_MAX];
	int r;

	if (is_v1(c)) {
		dir = make_dir(AT_FDCWD, c->path, files_v1, u, f);
		return dir < 0 ? dir : 0;
	}
	(void)snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(c->path, '/') - c->path), c->path);
	up = open_dir(AT_FDCWD, parent);
	if (up < 0)
		return fault_errno(f, errno, "open cgroup '%s'", parent);
	r = enable(up, parent, c->text, f);
	if (r == 0)
		r = dir = make_dir(AT_FDCWD, c->path, files_v2, u, f);
	if (r >= 0)
		r = enable(dir, c->path, c->text, f);
	if (r >= 0)
		r = leaf = make_dir(dir, LEAF, files_v2, u, f);
	return r < 0 ? r : 0;
}

/* In the root of v2: any other cgroup may have limits, those of a running session or of an administrator. */
static bool is_in_root(int proc, const char *pid)
{
	char path[64], text[CGROUP_TEXT_MAX];
	const char *line;

	(void)snprintf(path, sizeof(path), "%s/cgroup", pid);
	if (cgroup_file_read(proc, path, text) < 0)
		return false;
	line = str_starts(text, "0::") ? text : strstr(text, "\n0::");
	return line && str_starts(strstr(line, "0::"), "0::/\n");
}

/* Moves each process of UID in the root to DIR.  One that ends meanwhile needs no move. */
static int move_user(int dir, uid_t uid, struct fault *f)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int r = proc ? 0 : fault_errno(f, errno, "open '/proc'");

	while (r == 0 && (e = readdir(proc))) {
		struct stat st;

		if (e->d_name[0] < '1' || e->d_name[0] > '9' ||
		    fstatat(dirfd(proc), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid != uid ||
		    !is_in_root(dirfd(proc), e->d_name))
			continue;
		r = cgroup_file_write(dir, "cgroup.procs", e->d_name);
		r = r < 0 && r != -ESRCH ? fault_errno(f, -r, "move process %s", e->d_name) : 0;
	}
	if (proc)
		(void)closedir(proc);
	return r;
}

int setup_cgroup_enter(const struct setup_change *c, const struct setup_user *u, struct fault *f)
{
	_cleanup_close_ int dir = -EBADF, leaf = -EBADF;

	if (is_v1(c))
		return 0;
	dir = open_dir(AT_FDCWD, c->path);
	leaf = dir < 0 ? -EBADF : open_dir(dir, LEAF);
	if (leaf < 0)
		return fault_errno(f, errno, "open cgroup '%s/" LEAF "'", c->path);
	return move_user(leaf, u->uid, f);
}

/* The processes of the leaf go back to the root, which may have processes and children. */
static int empty_leaf(int dir, struct fault *f)
{
	_cleanup_close_ int leaf = open_dir(dir, LEAF), root = -EBADF;
	char text[CGROUP_TEXT_MAX];

	if (leaf < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "open cgroup '" LEAF "'");
	root = open_dir(dir, "..");
	for (int i = 0; root >= 0 && i < 1024; i++) {
		int r = cgroup_file_read(leaf, "cgroup.procs", text);

		if (r < 0)
			return fault_errno(f, -r, "read cgroup.procs of '" LEAF "'");
		text[strcspn(text, "\n")] = '\0';
		if (!*text)
			break;
		r = cgroup_file_write(root, "cgroup.procs", text);
		if (r < 0 && r != -ESRCH)
			return fault_errno(f, -r, "move process %s", text);
	}
	if (unlinkat(dir, LEAF, AT_REMOVEDIR) < 0)
		return fault_errno(f, errno, "remove cgroup '" LEAF "'");
	return 0;
}

/* Empty cgroups that an ended supervisor left; one with processes stays. */
static void remove_children(int dir)
{
	_cleanup_close_ int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	struct dirent *e;

	if (!d)
		return;
	again = -EBADF; /* closed with D */
	while ((e = readdir(d)))
		if (str_starts(e->d_name, "custody-"))
			(void)unlinkat(dir, e->d_name, AT_REMOVEDIR);
	(void)closedir(d);
}

int setup_cgroup_undo(const struct setup_change *c, const struct setup_user *u, struct fault *f)
{
	_cleanup_close_ int dir = open_dir(AT_FDCWD, c->path);
	int r;

	if (dir < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "open cgroup '%s'", c->path);
	r = is_v1(c) ? 0 : empty_leaf(dir, f);
	if (r < 0)
		return r;
	remove_children(dir);
	if (rmdir(c->path) == 0 || errno == ENOENT)
		return 0;
	if (errno == EBUSY || errno == ENOTEMPTY)
		return fault_set(f, EBUSY,
				 "cgroup '%s' is in use by a run of '%s': repeat this when it has ended",
				 c->path, u->name);
	return fault_errno(f, errno, "remove cgroup '%s'", c->path);
}
