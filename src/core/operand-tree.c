/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/operand-path.h"

#define TREE_DEPTH_MAX 256
#define TREE_ENTRIES_MAX 1000000

struct walk {
	operand_visit visit;
	void *arg;
	struct strbuf path;
	unsigned int depth;
	size_t n_entries;
	uint64_t mount;
};

static void dir_closep(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list(struct walk *w, int fd, char ***ret, struct fault *f)
{
	_cleanup_strv_ char **names = calloc(1, sizeof(*names));
	_cleanup_(dir_closep) DIR *d = NULL;
	size_t n = 0, room = 1;
	struct dirent *e;
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	d = own < 0 ? NULL : fdopendir(own);
	if (!d) {
		int code = errno;

		fd_close(own);
		return fault_errno(f, code, "read the directory");
	}
	while (names && (errno = 0, e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++w->n_entries > TREE_ENTRIES_MAX)
			return fault_set(f, E2BIG, "the tree has more than %d entries", TREE_ENTRIES_MAX);
		if (n + 1 == room) {
			char **more = reallocarray(names, room * 2, sizeof(*names));

			if (!more)
				return fault_errno(f, ENOMEM, "tree");
			names = more;
			room *= 2;
		}
		names[n] = strdup(e->d_name);
		if (!names[n])
			return fault_errno(f, ENOMEM, "tree");
		names[++n] = NULL;
	}
	if (!names || errno)
		return fault_errno(f, names ? errno : ENOMEM, "read the directory");
	qsort(names, n, sizeof(*names), compare);
	*ret = TAKE_PTR(names);
	return 0;
}

/* A bind mount within one file system shows in the mount's id only, a btrfs subvolume in the device only. */
static int mount_of(int fd, uint64_t *ret, struct fault *f)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_MNT_ID, &st) < 0)
		return fault_errno(f, errno, "statx");
	*ret = st.stx_mask & STATX_MNT_ID ? st.stx_mnt_id : 0;
	return 0;
}

static int walk_dir(struct walk *w, int dirfd, struct fault *f);

static int walk_entry(struct walk *w, int dirfd, const char *name, struct fault *f)
{
	struct operand_entry e = { .dirfd = dirfd, .name = name, .path = w->path.text };
	_cleanup_close_ int fd = -EBADF;
	uint64_t mount = w->mount;
	struct stat st;
	int r;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return fault_errno(f, errno, "'%s'", e.path);
	e.st = &st;
	if (!S_ISDIR(st.st_mode))
		return w->visit(w->arg, &e, f);
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(f, errno, "open '%s'", e.path);
	r = mount_of(fd, &mount, f);
	if (r < 0)
		return r;
	e.other_mount = mount != w->mount;
	r = w->visit(w->arg, &e, f);
	return r < 0 || e.other_mount ? r : walk_dir(w, fd, f);
}

static int walk_dir(struct walk *w, int dirfd, struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	size_t len = w->path.len;
	int r;

	if (++w->depth > TREE_DEPTH_MAX)
		return fault_set(f, E2BIG, "the tree is more than %d directories deep", TREE_DEPTH_MAX);
	r = list(w, dirfd, &names, f);
	if (r < 0)
		return fault_wrap(f, r, "'%s'", len ? w->path.text : ".");
	for (char **name = names; r >= 0 && *name; name++) {
		strbuf_printf(&w->path, "%s%s", len ? "/" : "", *name);
		if (w->path.broken)
			return fault_errno(f, ENOMEM, "tree");
		r = walk_entry(w, dirfd, *name, f);
		w->path.len = len;
		w->path.text[len] = '\0';
	}
	w->depth--;
	return r;
}

int operand_walk(int dirfd, operand_visit visit, void *arg, struct fault *f)
{
	struct walk w = { .visit = visit, .arg = arg };
	int r = mount_of(dirfd, &w.mount, f);

	if (r >= 0)
		r = walk_dir(&w, dirfd, f);
	strbuf_done(&w.path);
	return r;
}

/* One line each; the path last, with what would end or fake a line written as \n and \\. */
static void put_path(struct strbuf *b, const char *path)
{
	for (; *path; path++) {
		if (*path == '\n')
			strbuf_puts(b, "\\n");
		else if (*path == '\\')
			strbuf_puts(b, "\\\\");
		else
			strbuf_putc(b, *path);
	}
	strbuf_putc(b, '\n');
}

static int digest_file(const struct operand_entry *e, char hex[DIGEST_HEX_SIZE], struct fault *f)
{
	_cleanup_close_ int fd =
		openat(e->dirfd, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat before, after;
	struct digest d;
	int r;

	if (fd < 0 || fstat(fd, &before) < 0)
		return fault_errno(f, errno, "open '%s'", e->path);
	if (!S_ISREG(before.st_mode) || before.st_ino != e->st->st_ino)
		return fault_set(f, EBUSY, "'%s' was replaced while it was read: try again", e->path);
	r = digest_fd(fd, &d, f);
	if (r < 0)
		return fault_wrap(f, r, "'%s'", e->path);
	if (fstat(fd, &after) < 0 || after.st_size != before.st_size ||
	    after.st_mtim.tv_sec != before.st_mtim.tv_sec || after.st_mtim.tv_nsec != before.st_mtim.tv_nsec)
		return fault_set(f, EBUSY, "'%s' changed while it was read: try again", e->path);
	digest_to_hex(&d, hex);
	return 0;
}

static int digest_link(const struct operand_entry *e, char hex[DIGEST_HEX_SIZE], struct fault *f)
{
	char text[4096];
	ssize_t n = readlinkat(e->dirfd, e->name, text, sizeof(text));
	struct digest d;

	if (n < 0)
		return fault_errno(f, errno, "read the link '%s'", e->path);
	digest_bytes(text, (size_t)n, &d);
	digest_to_hex(&d, hex);
	return 0;
}

static int put_entry(void *arg, const struct operand_entry *e, struct fault *f)
{
	struct strbuf *b = arg;
	char hex[DIGEST_HEX_SIZE] = "-";
	mode_t type = e->st->st_mode & S_IFMT;
	int r = 0;

	if (type == S_IFREG)
		r = digest_file(e, hex, f);
	else if (type == S_IFLNK)
		r = digest_link(e, hex, f);
	if (r < 0)
		return r;
	strbuf_printf(b, "%c %04o %s ",
		      type == S_IFREG	? 'f'
		      : type == S_IFLNK ? 'l'
		      : e->other_mount	? 'm'
		      : type == S_IFDIR ? 'd'
					: 'o',
		      type == S_IFLNK ? 0 : (unsigned int)(e->st->st_mode & 07777), hex);
	put_path(b, e->path);
	return 0;
}

int operand_digest_tree(int dirfd, struct digest *ret, char **ret_lines, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf lines = { 0 };
	struct digest d;
	char *text;
	size_t len;
	int r;

	r = operand_walk(dirfd, put_entry, &lines, f);
	if (r < 0)
		return r;
	len = lines.len;
	text = strbuf_take(&lines);
	if (!text)
		return fault_errno(f, ENOMEM, "tree");
	digest_bytes(text, len, &d);
	*ret = d;
	*ret_lines = text;
	return 0;
}
