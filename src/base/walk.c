/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

/*
 * Levels up to HELD_MAX keep their descriptor while a deeper one is processed. Deeper ones close it; going up
 * then uses "..", which must be the directory that was left. A level that closes its descriptor reads the
 * rest of its names first: not every file system can restore a directory position.
 */
#define HELD_MAX 32
#define NAMES_AHEAD (64 * 1024)
#define NAMES_MAX ((size_t)256 * 1024 * 1024) /* of one sorted or released directory */
#define PATH_LEN_MAX ((size_t)4 * 1024 * 1024)

#define STX_WANTED (STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID)

/* The kernel's layout of getdents64; glibc hides the call behind a DIR. */
struct name {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char text[];
};

struct level {
	int fd;
	bool drained;	     /* nothing more to read from FD */
	struct strbuf names; /* written by put_name; pending from AT on */
	size_t at;
	char **sorted; /* into NAMES */
	size_t n_sorted, next;
	uint64_t mount, ino;
	uint32_t major, minor;
	size_t path_len; /* of this directory */
};

struct walk {
	unsigned int flags;
	struct level *levels;
	size_t n, room;
	struct strbuf path;
	bool begun, leaving;
	int lost; /* errno of a failed step up, not reported yet */
};

static void level_done(struct level *l)
{
	fd_close(l->fd);
	strbuf_done(&l->names);
	free(l->sorted);
}

void walk_free(struct walk *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++)
		level_done(w->levels + i);
	free(w->levels);
	strbuf_done(&w->path);
	free(w);
}

static void path_cut(struct walk *w, size_t len)
{
	w->path.len = len;
	if (w->path.text)
		w->path.text[len] = '\0';
}

static void path_push(struct walk *w, const char *name)
{
	if (w->path.len > 0)
		strbuf_putc(&w->path, '/');
	strbuf_puts(&w->path, name);
}

/* The name, its NUL, and its d_type. */
static void put_name(struct strbuf *names, const struct name *n)
{
	strbuf_add(names, n->text, strlen(n->text) + 1);
	strbuf_putc(names, (char)n->type);
}

static unsigned char type_of(const char *name)
{
	return (unsigned char)name[strlen(name) + 1];
}

/* Reads one batch of names from the kernel; negative errno. */
static int read_names(struct level *l)
{
	_Alignas(struct name) char buf[32 * 1024];
	long got = syscall(SYS_getdents64, l->fd, buf, sizeof(buf));

	if (got <= 0) {
		l->drained = true;
		return got < 0 ? -errno : 0;
	}
	for (long at = 0; at < got;) {
		const struct name *n = (const struct name *)(buf + at);

		if (!str_eq(n->text, ".") && !str_eq(n->text, ".."))
			put_name(&l->names, n);
		at += n->len;
	}
	return l->names.broken ? -ENOMEM : 0;
}

static int drain(struct level *l)
{
	int r = 0;

	while (r == 0 && !l->drained) {
		r = read_names(l);
		if (r == 0 && l->names.len > NAMES_MAX)
			r = -EOVERFLOW;
	}
	l->drained = true;
	return r;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int sort_names(struct level *l)
{
	size_t n = 0;
	int r = drain(l);

	if (r < 0)
		return r;
	for (size_t i = 0; i < l->names.len; i += strlen(l->names.text + i) + 2)
		n++;
	l->sorted = calloc(n + 1, sizeof(*l->sorted));
	if (!l->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < l->names.len; i += strlen(l->names.text + i) + 2)
		l->sorted[l->n_sorted++] = l->names.text + i;
	qsort(l->sorted, n, sizeof(*l->sorted), by_bytes);
	return 0;
}

/* NULL in *RET: no more. The name is valid until the next call for the same level. */
static int next_name(const struct walk *w, struct level *l, const char **ret)
{
	int r = 0;

	*ret = NULL;
	if (w->flags & WALK_SORTED) {
		if (!l->sorted)
			r = sort_names(l);
		if (r == 0 && l->next < l->n_sorted)
			*ret = l->sorted[l->next++];
		return r;
	}
	if (l->at >= l->names.len && !l->drained) {
		l->names.len = l->at = 0;
		while (r == 0 && !l->drained && l->names.len < NAMES_AHEAD)
			r = read_names(l);
	}
	if (l->at < l->names.len) {
		*ret = l->names.text + l->at;
		l->at += strlen(*ret) + 2;
	}
	return r;
}

static int look(int dirfd, const char *name, int flags, struct statx *ret)
{
	return statx(dirfd, name, flags | AT_NO_AUTOMOUNT, STX_WANTED, ret) < 0 ? -errno : 0;
}

static int open_dir(int dirfd, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	/* O_NOATIME: reading must not change atime; EPERM if we do not own it. */
	int fd = openat(dirfd, name, flags | O_NOATIME);

	if (fd < 0 && errno == EPERM)
		fd = openat(dirfd, name, flags);
	return fd < 0 ? -errno : fd;
}

static bool is_same_dir(const struct level *l, const struct statx *stx)
{
	return l->ino == stx->stx_ino && l->major == stx->stx_dev_major && l->minor == stx->stx_dev_minor &&
	       l->mount == stx->stx_mnt_id;
}

static int push(struct walk *w, int fd, const struct statx *stx)
{
	if (w->n == w->room) {
		size_t room = w->room ? w->room * 2 : 32;
		struct level *grown = reallocarray(w->levels, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		w->levels = grown;
		w->room = room;
	}
	w->levels[w->n++] = (struct level){ .fd = fd,
					    .mount = stx->stx_mnt_id,
					    .ino = stx->stx_ino,
					    .major = stx->stx_dev_major,
					    .minor = stx->stx_dev_minor,
					    .path_len = w->flags & WALK_NAMES_ONLY ? 0 : w->path.len };
	return 0;
}

/* The level above TOP closes its descriptor, with all pending names in memory. */
static int release(struct walk *w)
{
	struct level *l = w->levels + w->n - 2;
	int r;

	if (w->n < HELD_MAX + 2 || l->fd < 0)
		return 0;
	r = l->sorted ? 0 : drain(l);
	l->fd = fd_close(l->fd);
	return r;
}

static int fill(struct walk *w, struct walk_entry *e, enum walk_event event)
{
	const char *slash;

	e->path = w->path.text ? w->path.text : "";
	e->path_len = w->path.len;
	/* From its end: a deep path is megabytes long, and this is done once for each name. */
	slash = memrchr(e->path, '/', e->path_len);
	e->name = slash ? slash + 1 : e->path;
	return (int)event;
}

static int report(struct walk *w, struct walk_entry *e, int error, const char *why)
{
	e->error = error;
	e->why = why;
	e->fd = -EBADF;
	return fill(w, e, WALK_ERROR);
}

static int enter(struct walk *w, struct walk_entry *e, struct fault *f)
{
	_cleanup_close_ int fd = open_dir(e->dirfd, e->name);
	int r;

	if (fd < 0)
		return report(w, e, -fd, "cannot be opened");
	r = look(fd, "", AT_EMPTY_PATH, &e->stx);
	if (r < 0)
		return report(w, e, -r, "cannot be inspected");
	if (e->stx.stx_mnt_id != w->levels[0].mount)
		return report(w, e, EXDEV, "is on another mount");
	if (w->path.len > PATH_LEN_MAX)
		return report(w, e, ENAMETOOLONG, "is too deep");
	if (push(w, fd, &e->stx) < 0)
		return fault_errno(f, ENOMEM, "walk");
	e->fd = TAKE_FD(fd);
	r = release(w);
	if (r == -ENOMEM)
		return fault_errno(f, ENOMEM, "walk");
	if (r < 0)
		w->lost = -r;
	return fill(w, e, WALK_ENTER);
}

static int visit(struct walk *w, const char *name, struct walk_entry *e, struct fault *f)
{
	int r;

	path_push(w, name);
	if (w->path.broken)
		return fault_errno(f, ENOMEM, "walk");
	(void)fill(w, e, WALK_ENTRY);
	if ((w->flags & WALK_UNSEEN_FILES) && type_of(name) == DT_REG) {
		e->stx.stx_mode = S_IFREG;
		e->stx.stx_mnt_id = w->levels[0].mount;
		return WALK_ENTRY;
	}
	r = look(e->dirfd, e->name, AT_SYMLINK_NOFOLLOW, &e->stx);
	if (r < 0)
		return report(w, e, -r, "cannot be inspected");
	if (S_ISDIR(e->stx.stx_mode))
		return enter(w, e, f);
	if (e->stx.stx_mnt_id != w->levels[0].mount)
		return report(w, e, EXDEV, "is on another mount");
	return WALK_ENTRY;
}

/*
 * The top directory is done. Continues in its parent; if that cannot be reached, each of its pending names is
 * an error.
 */
static void pop(struct walk *w)
{
	struct level *top = w->levels + w->n - 1, *parent = top - 1;

	if (w->n > 1 && parent->fd < 0) {
		_cleanup_close_ int fd = openat(top->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		struct statx stx;

		if (top->fd >= 0 && fd >= 0 && look(fd, "", AT_EMPTY_PATH, &stx) == 0 &&
		    is_same_dir(parent, &stx))
			parent->fd = TAKE_FD(fd);
	}
	level_done(top);
	w->n--;
	path_cut(w, w->n > 0 ? w->levels[w->n - 1].path_len : 0);
}

static int begin(struct walk *w, struct walk_entry *e)
{
	w->begun = true;
	e->dirfd = -EBADF;
	e->fd = w->levels[0].fd;
	if (look(e->fd, "", AT_EMPTY_PATH, &e->stx) < 0)
		return report(w, e, errno, "cannot be inspected");
	return fill(w, e, WALK_ENTER);
}

int walk_next(struct walk *w, struct walk_entry *ret, struct fault *f)
{
	struct level *top;
	const char *name;
	int r;

	*ret = (struct walk_entry){ .dirfd = -EBADF, .fd = -EBADF };
	if (!w->begun)
		return begin(w, ret);
	if (w->leaving) {
		w->leaving = false;
		pop(w);
	}
	if (w->n == 0)
		return WALK_END;
	top = w->levels + w->n - 1;
	path_cut(w, top->path_len);
	ret->depth = (unsigned int)w->n;
	if (w->lost) {
		r = w->lost;
		w->lost = 0;
		return report(w, ret, r, "has too many names");
	}
	r = next_name(w, top, &name);
	if (r == -ENOMEM)
		return fault_errno(f, ENOMEM, "walk");
	if (r < 0)
		return report(w, ret, -r, "cannot be read completely");
	ret->dirfd = top->fd;
	if (name && top->fd < 0) {
		path_push(w, name);
		return w->path.broken ? fault_errno(f, ENOMEM, "walk")
				      : report(w, ret, ESTALE, "was moved concurrently");
	}
	if (name)
		return visit(w, name, ret, f);
	w->leaving = true;
	ret->depth--;
	ret->fd = top->fd;
	ret->dirfd = w->n > 1 ? w->levels[w->n - 2].fd : -EBADF;
	return fill(w, ret, WALK_LEAVE);
}

void walk_skip(struct walk *w)
{
	struct level *top = w->n > 0 ? w->levels + w->n - 1 : NULL;

	if (!top)
		return;
	top->drained = true;
	top->at = top->names.len;
	top->next = top->n_sorted;
	if ((w->flags & WALK_SORTED) && !top->sorted)
		top->sorted = calloc(1, sizeof(*top->sorted));
}

int walk_new(int rootfd, unsigned int flags, struct walk **ret, struct fault *f)
{
	_cleanup_walk_ struct walk *w = calloc(1, sizeof(*w));
	_cleanup_close_ int fd = -EBADF;
	struct statx stx;
	int r;

	if (!w)
		return fault_errno(f, ENOMEM, "walk");
	w->flags = flags;
	fd = open_dir(rootfd, ".");
	if (fd < 0)
		return fault_errno(f, -fd, "open the tree's root");
	r = look(fd, "", AT_EMPTY_PATH, &stx);
	if (r < 0)
		return fault_errno(f, -r, "stat the tree's root");
	if (push(w, fd, &stx) < 0)
		return fault_errno(f, ENOMEM, "walk");
	(void)TAKE_FD(fd);
	*ret = TAKE_PTR(w);
	return 0;
}
