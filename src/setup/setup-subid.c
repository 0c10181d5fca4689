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

int setup_subid_check(const struct setup_subid_file *file, const char *name, uid_t uid, struct fault *f)
{
	const struct subid_ask ask = { .file = file->path,
				       .name = name,
				       .uid = uid,
				       .self = file->self,
				       .reserved_first = SUBID_RESERVED_FIRST,
				       .reserved_last = SUBID_RESERVED_LAST };
	struct id_extents ids;
	int r = subid_choose(file->text, strlen(file->text), &ask, &ids, f);

	if (r == -ENOENT) {
		fault_done(f);
		return 0;
	}
	if (r == 0)
		r = subid_require_free(file->names, strlen(file->names), file->kind, &ids, f);
	return r < 0 ? r : 1;
}

bool setup_subid_is_free(const struct setup_subid_file *file, uint64_t start)
{
	/* The first extent is the user's own id. */
	const struct id_extents ids = {
		.at = { { .inside = 0, .outside = file->self, .count = 1 },
			{ .inside = 1, .outside = (uint32_t)start, .count = SETUP_SUBID_COUNT } },
		.n = 2
	};
	_cleanup_fault_ struct fault why = { 0 };

	return !subid_is_granted(file->text, strlen(file->text), start, SETUP_SUBID_COUNT) &&
	       subid_require_free(file->names, strlen(file->names), file->kind, &ids, &why) == 0;
}

/* Text behind a NUL would be compared with nothing, and lost when the file is replaced. */
static int read_text(int fd, const char *path, char **ret, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = fd_read_all(fd, SUBID_TEXT_MAX, &text, &len, f);

	if (r < 0)
		return fault_wrap(f, r, "'%s'", path);
	if (strlen(text) != len)
		return fault_set(f, EINVAL, "'%s' contains a NUL byte, and may be damaged: repair it", path);
	*ret = TAKE_PTR(text);
	return 0;
}

int setup_subid_read(const char *path, char **ret, bool *ret_exists, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const bool exists = fd >= 0;
	int r = 0;

	if (fd < 0 && errno == ELOOP)
		return fault_set(f, ELOOP, "'%s' is a symbolic link: setup replaces files only", path);
	if (fd < 0 && errno != ENOENT)
		return fault_errno(f, errno, "open '%s'", path);
	if (exists)
		r = read_text(fd, path, ret, f);
	else if (!(*ret = strdup("")))
		r = fault_errno(f, ENOMEM, "'%s'", path);
	if (r >= 0 && ret_exists)
		*ret_exists = exists;
	return r;
}

int setup_subid_load(struct setup_subid_file *file, struct fault *f)
{
	_cleanup_close_ int fd = open(file->accounts, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", file->accounts);
	r = read_text(fd, file->accounts, &file->names, f);
	return r < 0 ? r : setup_subid_read(file->path, &file->text, &file->exists, f);
}

void setup_subid_done(struct setup_subid_file *file)
{
	free(file->text);
	free(file->names);
	file->text = file->names = NULL;
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
