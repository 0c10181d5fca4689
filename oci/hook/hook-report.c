/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "oci/hook/hook.h"

#define ERROR_FILE "custody-hook.err"

/*
 * crun discards a hook's stderr, engines hide it in a log: the reason is written to every place where a person may see it.
 * Failures are ignored: the refusal holds without it.
 */

/* Not through an existing file or link: it is removed, then created again. */
static void write_to_bundle(const char *bundle, const char *text)
{
	_cleanup_close_ int dir = bundle ? open(bundle, O_PATH | O_DIRECTORY | O_CLOEXEC) : -EBADF,
			    fd = -EBADF;

	if (dir < 0)
		return;
	(void)unlinkat(dir, ERROR_FILE, 0);
	if (!text)
		return;
	fd = openat(dir, ERROR_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		(void)dprintf(fd, "%s\n", text);
}

static bool is_stderr(const struct stat *st)
{
	struct stat err;

	return fstat(STDERR_FILENO, &err) == 0 && err.st_dev == st->st_dev && err.st_ino == st->st_ino;
}

/* The file of the annotation run.oci.hooks.stderr.  crun opens it as the hook's stderr, runc ignores it. */
static void write_to_file(const char *path, const char *verb, const char *text)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	if (!path || path[0] != '/')
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || is_stderr(&st))
		return;
	(void)dprintf(fd, "custody-hook %s: %s\n", verb, text);
}

static void write_to_terminal(const char *verb, const char *text)
{
	_cleanup_close_ int fd = open("/dev/tty", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && !isatty(STDERR_FILENO))
		(void)dprintf(fd, "custody-hook %s: %s\n", verb, text);
}

void hook_report(const struct hook_state *s, const char *verb, const char *text)
{
	/* It may quote names of a hostile tree, and all of these are shown on terminals. */
	_cleanup_free_ char *plain = text ? str_escape(text) : NULL;

	if (text && !plain)
		plain = strdup("out of memory");
	write_to_bundle(s->bundle, plain);
	if (!plain)
		return;
	fprintf(stderr, "custody-hook %s: %s\n", verb, plain);
	write_to_file(s->stderr_file, verb, plain);
	write_to_terminal(verb, plain);
}
