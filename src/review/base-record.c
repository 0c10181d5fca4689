/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "review/base-record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/tree-at.h"
#include "base/userns.h"
#include "session/session-upper.h"

#define HANDLE_MAX 128 /* MAX_HANDLE_SZ */
#define HANDLE_TEXT (2 * HANDLE_MAX + 10)
#define RECORD_MAX (CHANGES_NAMES_MAX + (size_t)CHANGES_MAX * 64)
#define HEAD "custody-base 1 "

/* MOVED: a directory that was renamed or changed, or did not exist, when the session began: not the one that the run saw. */
/* GONE: a file that the run saw, and that was removed while it went on.  No identity is known. */
enum { TYPE_FILE = 'f', TYPE_DIR = 'd', TYPE_MOVED = 'm', TYPE_GONE = 'g' };

struct seen {
	char type;
	uint64_t dev, ino;
	struct timespec ctime, btime; /* btime 0: unknown */
	const char *handle;	      /* "-": unknown */
	const char *path;
};

struct base_record {
	char *text;
	struct seen *items; /* sorted by path; their strings are in TEXT */
	size_t n;
};

void base_record_free(struct base_record *b)
{
	if (!b)
		return;
	free(b->text);
	free(b->items);
	free(b);
}

/* "TYPE:HEX", or "-" where the file system has no handles.  Of a directory only: the ctime of a file tells more. */
static void write_handle(int dirfd, const char *name, char text[HANDLE_TEXT])
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + HANDLE_MAX];
	} u = { .h.handle_bytes = HANDLE_MAX };
	int mount_id, n;

	(void)snprintf(text, HANDLE_TEXT, "-");
	if (name_to_handle_at(dirfd, name, &u.h, &mount_id, *name ? 0 : AT_EMPTY_PATH) < 0 ||
	    u.h.handle_bytes > HANDLE_MAX)
		return;
	n = snprintf(text, HANDLE_TEXT, "%x:", (unsigned int)u.h.handle_type & 0xff);
	for (unsigned int i = 0; i < u.h.handle_bytes; i++)
		n += snprintf(text + n, HANDLE_TEXT - (size_t)n, "%02x", (unsigned char)u.h.f_handle[i]);
}

static void add_entry(struct strbuf *b, struct tree_at *base, const char *path, const struct change_side *s,
		      bool moved)
{
	char handle[HANDLE_TEXT] = "-";
	const char *name = "";
	int fd = base->root;

	if (S_ISDIR(s->mode) && (!*path || tree_at_parent(base, path, &fd, &name) == 0))
		write_handle(fd, name, handle);
	strbuf_printf(b, "%c %" PRIx64 " %" PRIx64 " %" PRIx64 ".%lx %" PRIx64 ".%lx %s ",
		      !S_ISDIR(s->mode) ? TYPE_FILE
		      : moved		? TYPE_MOVED
					: TYPE_DIR,
		      s->dev, s->ino, (uint64_t)s->ctime.tv_sec, (unsigned long)s->ctime.tv_nsec,
		      (uint64_t)s->btime.tv_sec, (unsigned long)s->btime.tv_nsec, handle);
	strbuf_add(b, path, strlen(path) + 1);
}

static void add_gone(struct strbuf *b, const char *path)
{
	strbuf_printf(b, "%c 0 0 0.0 0.0 - ", TYPE_GONE);
	strbuf_add(b, path, strlen(path) + 1);
}

static int write_file(int dirfd, const struct strbuf *b, size_t n, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char head[64];
	int r;

	(void)unlinkat(dirfd, SESSION_UPPER_BASE, 0);
	fd = openat(dirfd, SESSION_UPPER_BASE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "create '%s'", SESSION_UPPER_BASE);
	(void)snprintf(head, sizeof(head), HEAD "%zu\n", n);
	r = fd_write_all(fd, head, strlen(head), f);
	return r < 0 || !b->len ? r : fd_write_all(fd, b->text, b->len, f);
}

int base_record_make(const struct changes_ask *ask, int dirfd, struct fault *f)
{
	_cleanup_changes_ struct changes c = { 0 };
	_cleanup_tree_at_ struct tree_at base = TREE_AT_NONE;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct changes_ask light = *ask;
	size_t n = 0;
	int r;

	light.recording = true;
	r = changes_collect(&light, &c, f);
	if (r == 0)
		r = tree_at_init(&base, ask->base, f);
	if (r < 0)
		return r;
	for (size_t i = 0; i < c.n; i++) {
		if (c.items[i].kind == CHANGE_UNKNOWN && c.items[i].error == EACCES)
			return fault_set(f, EACCES, "'%s' %s", c.items[i].path, c.items[i].why);
		if ((i && str_eq(c.items[i].path, c.items[i - 1].path)) ||
		    (!c.items[i].old.mode && !changes_is_gone(&c, &c.items[i])))
			continue;
		if (c.items[i].old.mode)
			add_entry(&b, &base, c.items[i].path, &c.items[i].old, c.items[i].moved);
		else
			add_gone(&b, c.items[i].path);
		n++;
	}
	if (b.broken)
		return fault_errno(f, ENOMEM, "record of the worktree");
	return write_file(dirfd, &b, n, f);
}

/* A part of the worktree that was written when the base's record was made is none that the base saw. */
static bool is_seen(const struct seen *s, const struct timespec *since)
{
	return s->type != TYPE_FILE || s->ctime.tv_sec < since->tv_sec ||
	       (s->ctime.tv_sec == since->tv_sec && s->ctime.tv_nsec <= since->tv_nsec);
}

static void add_seen(struct strbuf *b, const struct seen *s)
{
	strbuf_printf(b, "%c %" PRIx64 " %" PRIx64 " %" PRIx64 ".%lx %" PRIx64 ".%lx %s ", s->type, s->dev,
		      s->ino, (uint64_t)s->ctime.tv_sec, (unsigned long)s->ctime.tv_nsec,
		      (uint64_t)s->btime.tv_sec, (unsigned long)s->btime.tv_nsec, s->handle);
	strbuf_add(b, s->path, strlen(s->path) + 1);
}

/* Both lists are sorted.  An entry that the base changed, but that its record does not have, was created since: left out. */
static size_t join(const struct changes *now, const struct changes *before, const struct base_record *old,
		   const struct timespec *since, struct tree_at *base, struct strbuf *b)
{
	size_t n = 0, k = 0;

	for (size_t i = 0; i < now->n || k < old->n;) {
		const struct change *ch = i < now->n ? &now->items[i] : NULL;
		int order = !ch ? 1 : k >= old->n ? -1 : changes_compare(ch->path, old->items[k].path);

		if (order >= 0) {
			if (is_seen(&old->items[k], since)) {
				add_seen(b, &old->items[k]);
				n++;
			}
			k++;
		} else if (ch->old.mode && !changes_find(before, ch->path)) {
			add_entry(b, base, ch->path, &ch->old, ch->moved);
			n++;
		} else if (changes_is_gone(now, ch) && !changes_find(before, ch->path)) {
			add_gone(b, ch->path);
			n++;
		}
		/* A path may be listed twice. */
		while (order <= 0 && ch && i < now->n && str_eq(now->items[i].path, ch->path))
			i++;
	}
	return n;
}

static int make_continued(const struct changes_ask *ask, const struct changes_ask *before,
			  const struct base_record *old, int dirfd, struct fault *f)
{
	_cleanup_changes_ struct changes now = { 0 }, then = { 0 };
	_cleanup_tree_at_ struct tree_at base = TREE_AT_NONE;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct changes_ask light = *ask, light_before = *before;
	size_t n;
	int r;

	light.recording = light_before.recording = true;
	r = changes_collect(&light, &now, f);
	if (r == 0)
		r = changes_collect(&light_before, &then, f);
	if (r == 0)
		r = tree_at_init(&base, ask->base, f);
	if (r < 0)
		return r;
	for (size_t i = 0; i < now.n; i++)
		if (now.items[i].kind == CHANGE_UNKNOWN && now.items[i].error == EACCES)
			return fault_set(f, EACCES, "'%s' %s", now.items[i].path, now.items[i].why);
	n = join(&now, &then, old, &before->since, &base, &b);
	if (b.broken)
		return fault_errno(f, ENOMEM, "record of the worktree");
	return write_file(dirfd, &b, n, f);
}

/* OLD NULL: of a session that began on the worktree. */
static int make_inside(const struct changes_ask *ask, const struct changes_ask *before,
		       const struct base_record *old, int dirfd, struct fault *f)
{
	const pid_t parent = getpid(), pid = fork();
	int status = 0;

	if (pid < 0)
		return fault_errno(f, errno, "record of the worktree");
	if (pid == 0) {
		/* After userns_enter: a change of credentials clears PR_SET_PDEATHSIG. */
		if (userns_enter(NULL) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
			_exit(EPERM);
		_exit(-(old ? make_continued(ask, before, old, dirfd, NULL)
			    : base_record_make(ask, dirfd, NULL)));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return fault_errno(f, WIFEXITED(status) ? WEXITSTATUS(status) : EIO,
			   "read the upper in a user namespace");
}

int base_record_make_inside(const struct changes_ask *ask, int dirfd, struct fault *f)
{
	return make_inside(ask, NULL, NULL, dirfd, f);
}

int base_record_make_continued(const struct changes_ask *ask, const struct changes_ask *before,
			       const struct base_record *base, int dirfd, struct fault *f)
{
	return geteuid() == 0 ? make_continued(ask, before, base, dirfd, f)
			      : make_inside(ask, before, base, dirfd, f);
}

static bool read_number(char **at, char end, uint64_t *ret)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = strspn(*at, digits);

	if (n == 0 || n > 16 || (*at)[n] != end)
		return false;
	*ret = 0;
	for (; n > 0; n--, (*at)++)
		*ret = *ret << 4 | (uint64_t)(strchr(digits, **at) - digits);
	(*at)++;
	return true;
}

static bool read_time(char **at, struct timespec *ret)
{
	uint64_t s, ns;

	if (!read_number(at, '.', &s) || !read_number(at, ' ', &ns) || ns > 999999999)
		return false;
	*ret = (struct timespec){ .tv_sec = (time_t)s, .tv_nsec = (long)ns };
	return true;
}

static bool read_entry(char *at, struct seen *ret)
{
	char *space;

	*ret = (struct seen){ .type = *at };
	if (!*at || !strchr("fdmg", *at) || at[1] != ' ')
		return false;
	at += 2;
	if (!read_number(&at, ' ', &ret->dev) || !read_number(&at, ' ', &ret->ino) ||
	    !read_time(&at, &ret->ctime) || !read_time(&at, &ret->btime))
		return false;
	space = strchr(at, ' ');
	if (!space)
		return false;
	*space = '\0';
	ret->handle = at;
	ret->path = space + 1;
	return true;
}

/* TEXT ends with a NUL that is no part of LEN. */
static int parse(struct base_record *b, size_t len, struct fault *f)
{
	char *at = strchr(b->text, '\n'), *end = b->text + len;
	uint64_t n;

	if (!at || !str_starts(b->text, HEAD))
		return fault_set(f, EBADMSG, "has no header");
	*at++ = '\0';
	if (str_to_u64(b->text + strlen(HEAD), &n) < 0 || n > CHANGES_MAX)
		return fault_set(f, EBADMSG, "has no number of entries");
	b->items = calloc(n + 1, sizeof(*b->items));
	if (!b->items)
		return fault_errno(f, ENOMEM, "record");
	for (; b->n < n; b->n++) {
		size_t size = at < end ? strlen(at) : 0;

		/* The final NUL must be in the file. */
		if (!size || at + size >= end || !read_entry(at, &b->items[b->n]) ||
		    (b->n && changes_compare(b->items[b->n - 1].path, b->items[b->n].path) >= 0))
			return fault_set(f, EBADMSG, "entry %zu is incomplete, or not in order", b->n);
		at += size + 1;
	}
	return at == end ? 0 : fault_set(f, EBADMSG, "has more entries than it says");
}

int base_record_read(int dirfd, struct base_record **ret, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(dirfd, SESSION_UPPER_BASE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_base_record_ struct base_record *b = calloc(1, sizeof(*b));
	size_t len;
	int r;

	if (!b)
		return fault_errno(f, ENOMEM, "record");
	if (fd < 0)
		return fault_errno(f, errno, "'%s'", SESSION_UPPER_BASE);
	r = fd_require_private(fd, geteuid(), f);
	if (r == 0)
		r = fd_read_all(fd, RECORD_MAX, &b->text, &len, f);
	if (r == 0)
		r = parse(b, len, f);
	if (r < 0)
		return fault_wrap(f, r, "'%s'", SESSION_UPPER_BASE);
	*ret = TAKE_PTR(b);
	return 0;
}

static int by_path(const void *key, const void *item)
{
	return changes_compare(key, ((const struct seen *)item)->path);
}

static const struct seen *find(const struct base_record *b, const char *path)
{
	return b->n ? bsearch(path, b->items, b->n, sizeof(*b->items), by_path) : NULL;
}

bool base_record_has(const struct base_record *b, const char *path)
{
	const struct seen *s = find(b, path);

	return s && s->type != TYPE_GONE;
}

bool base_record_has_directory(const struct base_record *b, const char *path)
{
	const struct seen *s = find(b, path);

	return s && s->type != TYPE_FILE && s->type != TYPE_GONE;
}

static bool is_same_moment(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Not the times of change: each operation on a name in it sets them, and names are compared one by one. */
static const char *compare_directory(const struct seen *s, const struct change_side *now, int dirfd,
				     const char *name)
{
	char handle[HANDLE_TEXT];

	if (s->dev != now->dev || s->ino != now->ino || !is_same_moment(&s->btime, &now->btime))
		return "was replaced by another directory since";
	if (!str_eq(s->handle, "-") && dirfd >= 0) {
		write_handle(dirfd, name, handle);
		if (!str_eq(handle, s->handle))
			return "was replaced by another directory since";
	}
	return s->type == TYPE_MOVED ? "was moved or replaced since" : NULL;
}

const char *base_record_compare(const struct base_record *b, const char *path, const struct change_side *now,
				int dirfd, const char *name)
{
	const struct seen *s = find(b, path);

	if (!now->mode)
		return s ? "was removed since" : NULL;
	if (!s || s->type == TYPE_GONE)
		return "was created since";
	if ((s->type == TYPE_FILE) == S_ISDIR(now->mode))
		return "was replaced since";
	if (S_ISDIR(now->mode))
		return compare_directory(s, now, dirfd, name);
	/* A rename, another link to it and a change of its attributes set the ctime as well. */
	return s->dev != now->dev || s->ino != now->ino || !is_same_moment(&s->ctime, &now->ctime)
		       ? "was changed since"
		       : NULL;
}
