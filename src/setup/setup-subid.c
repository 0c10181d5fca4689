/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "setup/setup-subid.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "state/subid.h"

int setup_subid_check(const char *text, const char *path, const char *name, uid_t uid, uint32_t self,
		      struct fault *f)
{
	const struct subid_ask ask = { .file = path,
				       .name = name,
				       .uid = uid,
				       .self = self,
				       .reserved_first = SUBID_RESERVED_FIRST,
				       .reserved_last = SUBID_RESERVED_LAST };
	struct id_extents ids;
	int r = subid_choose(text, strlen(text), &ask, &ids, f);

	if (r == -ENOENT) {
		fault_done(f);
		return 0;
	}
	return r < 0 ? r : 1;
}

bool setup_subid_is_free(const char *text, uint64_t start)
{
	return !subid_is_granted(text, strlen(text), start, SETUP_SUBID_COUNT);
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
		r = fault_wrap(f, fd_read_all(fd, SUBID_TEXT_MAX, ret, &len, f), "'%s'", path);
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
