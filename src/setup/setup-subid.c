/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "setup/setup-subid.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define FILE_MAX ((size_t)1024 * 1024)
#define OWNER_SIZE 256

struct range {
	char owner[OWNER_SIZE];
	uint64_t start, count;
};

static int read_number(const char *text, size_t len, uint64_t *ret)
{
	char copy[24];

	if (len == 0 || len >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return str_to_u64(copy, ret);
}

/* The range of the next line; lines that are none are skipped, as shadow does. */
static bool next_range(const char **text, struct range *ret)
{
	while (**text) {
		const char *line = *text, *end = strchrnul(line, '\n');
		const char *start = memchr(line, ':', (size_t)(end - line));
		const char *count = start ? memchr(start + 1, ':', (size_t)(end - start - 1)) : NULL;

		*text = *end ? end + 1 : end;
		if (!count || start == line || (size_t)(start - line) >= OWNER_SIZE || line[0] == '#' ||
		    read_number(start + 1, (size_t)(count - start - 1), &ret->start) < 0 ||
		    read_number(count + 1, (size_t)(end - count - 1), &ret->count) < 0 || ret->count == 0)
			continue;
		memcpy(ret->owner, line, (size_t)(start - line));
		ret->owner[start - line] = '\0';
		return true;
	}
	return false;
}

/* A sum may be larger than 64 bits. */
static bool overlap(const struct range *r, uint64_t start, uint64_t count)
{
	return r->start >= start ? r->start - start < count : start - r->start < r->count;
}

static bool is_of(const struct range *r, const char *name, uid_t uid)
{
	char number[16];

	(void)snprintf(number, sizeof(number), "%u", (unsigned int)uid);
	return str_eq(r->owner, name) || str_eq(r->owner, number);
}

static int require_alone(const char *text, const char *path, const struct range *own, const char *name,
			 uid_t uid, struct fault *f)
{
	struct range r;

	while (next_range(&text, &r)) {
		_cleanup_free_ char *shown = str_escape(r.owner);

		if (is_of(&r, name, uid) || !overlap(&r, own->start, own->count))
			continue;
		return fault_set(f, EEXIST,
				 "'%s': the range of '%s' (%" PRIu64 ":%" PRIu64
				 ") overlaps that of '%s' (%" PRIu64 ":%" PRIu64 "): correct one of them",
				 path, name, own->start, own->count, shown ? shown : "?", r.start, r.count);
	}
	return 0;
}

int setup_subid_check(const char *text, const char *path, const char *name, uid_t uid, struct fault *f)
{
	const char *rest = text;
	struct range r;
	int has = 0;

	while (next_range(&rest, &r)) {
		int e;

		if (!is_of(&r, name, uid))
			continue;
		has = 1;
		e = require_alone(text, path, &r, name, uid, f);
		if (e < 0)
			return e;
	}
	return has;
}

bool setup_subid_is_free(const char *text, uint64_t start)
{
	struct range r;

	while (next_range(&text, &r))
		if (overlap(&r, start, SETUP_SUBID_COUNT))
			return false;
	return true;
}

int setup_subid_read(const char *path, char **ret, bool *ret_exists, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const bool exists = fd >= 0;
	size_t len;
	int r = 0;

	if (fd < 0 && errno == ELOOP)
		return fault_set(f, ELOOP, "'%s' is a symbolic link: setup replaces files only", path);
	if (fd < 0 && errno != ENOENT)
		return fault_errno(f, errno, "open '%s'", path);
	if (exists)
		r = fault_wrap(f, fd_read_all(fd, FILE_MAX, ret, &len, f), "'%s'", path);
	else if (!(*ret = strdup("")))
		r = fault_errno(f, ENOMEM, "'%s'", path);
	if (r >= 0 && ret_exists)
		*ret_exists = exists;
	return r < 0 ? r : 0;
}

/* Where LINE begins in TEXT, or NULL. */
static char *find_line(char *text, const char *line)
{
	const size_t len = strlen(line);

	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n == len && memcmp(text, line, len) == 0)
			return text;
		text += n + (text[n] == '\n');
	}
	return NULL;
}

int setup_subid_has_line(const char *path, const char *line, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	int r = setup_subid_read(path, &text, NULL, f);

	return r < 0 ? r : find_line(text, line) != NULL;
}

/* The pid in a lock file of a process that exists; 0: none. */
static pid_t lock_holder(const char *lock)
{
	_cleanup_close_ int fd = open(lock, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char text[24];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uint64_t pid;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	text[strcspn(text, "\n ")] = '\0';
	if (str_to_u64(text, &pid) < 0 || pid == 0 || pid > INT32_MAX ||
	    (kill((pid_t)pid, 0) < 0 && errno == ESRCH))
		return 0;
	return (pid_t)pid;
}

/*
 * As shadow does: a file with the pid is linked to FILE.lock, which fails if it exists; one of a process that died is
 * removed.
 */
static int take_lock(const char *path, char **ret, struct fault *f)
{
	_cleanup_free_ char *lock = NULL, *own = NULL;
	char pid[16];
	int r;

	if (asprintf(&lock, "%s.lock", path) < 0)
		lock = NULL;
	if (asprintf(&own, "%s.%d", path, (int)getpid()) < 0)
		own = NULL;
	if (!lock || !own)
		return fault_errno(f, ENOMEM, "lock '%s'", path);
	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	{
		_cleanup_close_ int fd =
			open(own, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

		if (fd < 0)
			return fault_errno(f, errno, "create '%s'", own);
		r = fd_write_all(fd, pid, strlen(pid) + 1, f);
	}
	for (int i = 0; r == 0 && link(own, lock) < 0; i++) {
		if (errno != EEXIST || i > 0 || lock_holder(lock) != 0)
			r = fault_set(
				f, errno,
				"'%s' is locked by another program that changes it ('%s'): retry when it has "
				"ended",
				path, lock);
		else
			(void)unlink(lock);
	}
	(void)unlink(own);
	if (r == 0)
		*ret = TAKE_PTR(lock);
	return r;
}

static int replace(const char *path, const char *text, struct fault *f)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *dir = strndup(path, (size_t)(slash - path));
	_cleanup_close_ int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -EBADF;
	struct stat st = { .st_mode = 0644 };

	if (fd < 0)
		return fault_errno(f, errno, "open the directory of '%s'", path);
	(void)!stat(path, &st);
	return fault_wrap(f, fd_replace_file(fd, slash + 1, text, strlen(text), st.st_mode & 0777, f),
			  "write '%s'", path);
}

static int add(const char *path, const char *line, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r = setup_subid_read(path, &text, NULL, f);

	if (r < 0 || find_line(text, line))
		return r;
	strbuf_printf(&b, "%s%s%s\n", text, *text && !str_ends(text, "\n") ? "\n" : "", line);
	return b.broken ? fault_errno(f, ENOMEM, "'%s'", path) : replace(path, b.text, f);
}

const char *setup_subid_state(const char *text, bool exists)
{
	if (!exists)
		return "absent";
	return *text && !str_ends(text, "\n") ? "open" : "";
}

static int drop(const char *path, const char *line, const char *before, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	char *at, *next;
	int r = setup_subid_read(path, &text, NULL, f);

	at = r < 0 ? NULL : find_line(text, line);
	if (!at)
		return r;
	next = at + strlen(line);
	next += *next == '\n';
	if (!*next && at > text && str_eq(before, "open"))
		at--;
	memmove(at, next, strlen(next) + 1);
	if (!*text && str_eq(before, "absent"))
		return unlink(path) < 0 && errno != ENOENT ? fault_errno(f, errno, "remove '%s'", path) : 0;
	return replace(path, text, f);
}

int setup_subid_add_line(const char *path, const char *line, struct fault *f)
{
	_cleanup_free_ char *lock = NULL;
	int r = take_lock(path, &lock, f);

	if (r < 0)
		return r;
	r = add(path, line, f);
	(void)unlink(lock);
	return r;
}

int setup_subid_remove_line(const char *path, const char *line, const char *before, struct fault *f)
{
	_cleanup_free_ char *lock = NULL;
	int r = take_lock(path, &lock, f);

	if (r < 0)
		return r;
	r = drop(path, line, before, f);
	(void)unlink(lock);
	return r;
}
