/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/walk.h"
#include "subject/operand-path.h"

#define TREE_ENTRIES_MAX 1000000

int operand_walk(int dirfd, operand_visit visit, void *arg, struct fault *f)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	size_t n = 0;
	int r;

	r = walk_new(dirfd, WALK_SORTED, &w, f);
	while (r >= 0 && (r = walk_next(w, &e, f)) != WALK_END) {
		if (r < 0)
			return r;
		/* Another mount is not visible inside; entries that are not visible are not sealed. */
		if (r == WALK_ERROR && e.error != EXDEV)
			return fault_errno(f, e.error, "'%s': %s", e.path, e.why);
		if (r == WALK_LEAVE || (r == WALK_ENTER && !*e.path))
			continue;
		if (++n > TREE_ENTRIES_MAX)
			return fault_set(f, E2BIG, "the tree has more than %d entries", TREE_ENTRIES_MAX);
		r = visit(arg, &e, r == WALK_ERROR, f);
	}
	return r;
}

/* One line per entry; the path last, with newline and backslash escaped as \n and \\. */
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

static int digest_file(const struct walk_entry *e, char hex[DIGEST_HEX_SIZE], struct fault *f)
{
	_cleanup_close_ int fd =
		openat(e->dirfd, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat before, after;
	struct digest d;
	int r;

	if (fd < 0 || fstat(fd, &before) < 0)
		return fault_errno(f, errno, "open '%s'", e->path);
	if (!S_ISREG(before.st_mode) || before.st_ino != e->stx.stx_ino)
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

static int digest_link(const struct walk_entry *e, char hex[DIGEST_HEX_SIZE], struct fault *f)
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

static int put_entry(void *arg, const struct walk_entry *e, bool other_mount, struct fault *f)
{
	struct strbuf *b = arg;
	char hex[DIGEST_HEX_SIZE] = "-";
	mode_t type = e->stx.stx_mode & S_IFMT;
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
		      : other_mount	? 'm'
		      : type == S_IFDIR ? 'd'
					: 'o',
		      type == S_IFLNK ? 0 : (unsigned int)(e->stx.stx_mode & 07777), hex);
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
