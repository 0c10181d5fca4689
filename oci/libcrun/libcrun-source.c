/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/libcrun-source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "oci/libcrun/libcrun-wrap.h"

/*
 * libcrun mounts by name.  A source that source_pin() names is opened first, without links, and mounted by its descriptor:
 * the source of a bind, a clone of it that the creator makes where it may (open_tree, which libcrun calls by its number), or
 * a lower of an overlay.
 */
#define LOWER "lowerdir="
#define PINS_MAX 8 /* lowers of one overlay */

static const char *const *pinned;

struct pins {
	int fd[PINS_MAX];
	size_t n;
};

void source_pin(const char *const *paths)
{
	pinned = paths;
}

static bool is_pinned(const char *path)
{
	for (size_t i = 0; pinned && pinned[i]; i++)
		if (strcmp(pinned[i], path) == 0)
			return true;
	return false;
}

static int pin(struct pins *p, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	int fd;

	if (p->n == PINS_MAX) {
		errno = E2BIG;
		return -1;
	}
	fd = (int)__real_syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (fd >= 0)
		p->fd[p->n++] = fd;
	return fd;
}

/* One layer of the option at *AT, without its backslashes. */
static void take_layer(const char **at, struct strbuf *ret)
{
	const char *c = *at;

	for (; *c && *c != ':' && *c != ','; c++) {
		if (*c == '\\' && c[1])
			c++;
		strbuf_putc(ret, *c);
	}
	*at = c;
}

/* DATA with descriptors in place of pinned lowers. */
static int pin_lowers(struct pins *p, const char *data, struct strbuf *ret)
{
	const char *at = data;

	while (!str_starts(at, LOWER)) {
		at = strchr(at, ',');
		if (!at)
			return 0;
		at++;
	}
	at += strlen(LOWER);
	strbuf_add(ret, data, (size_t)(at - data));
	for (;;) {
		_cleanup_strbuf_ struct strbuf path = { 0 };
		const char *from = at;

		take_layer(&at, &path);
		if (path.text && is_pinned(path.text)) {
			int fd = pin(p, path.text);

			if (fd < 0)
				return -1;
			strbuf_printf(ret, "/proc/self/fd/%d", fd);
		} else {
			strbuf_add(ret, from, (size_t)(at - from));
		}
		if (path.broken || *at != ':')
			break;
		strbuf_putc(ret, *at++);
	}
	strbuf_puts(ret, at);
	return 0;
}

/*
 * nosuid and nodev at once: libcrun sets no flag on the clone of a file that may be written.  After an error it mounts by name,
 * in the container's process.
 */
static int clone_source(const char *path, long flags)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };
	_cleanup_close_ int fd = -EBADF, tree = -EBADF;
	struct pins p = { 0 };

	fd = pin(&p, path);
	if (fd < 0)
		return -1;
	tree = (int)__real_syscall(SYS_open_tree, (long)fd, "", flags | AT_EMPTY_PATH);
	if (tree < 0 ||
	    __real_syscall(SYS_mount_setattr, (long)tree, "", (long)AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return -1;
	return TAKE_FD(tree);
}

/* Every system call has at most six arguments, which are registers: reading more than were passed is harmless. */
long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list args;

	va_start(args, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_open_tree && a[1] && is_pinned((const char *)a[1]))
		return clone_source((const char *)a[1], a[2]);
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int __wrap_mount(const char *source, const char *target, const char *type, unsigned long flags,
		 const void *data)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	struct pins p = { 0 };
	int r = 0, saved;

	if (flags & MS_BIND && !(flags & MS_REMOUNT) && source && is_pinned(source)) {
		r = pin(&p, source);
		strbuf_printf(&text, "/proc/self/fd/%d", r);
		source = text.text;
	} else if (pinned && type && data && strcmp(type, "overlay") == 0) {
		r = pin_lowers(&p, data, &text);
		if (text.text)
			data = text.text;
	}
	if (r >= 0 && text.broken) {
		errno = ENOMEM;
		r = -1;
	}
	if (r >= 0)
		r = __real_mount(source, target, type, flags, data);
	saved = errno;
	for (size_t i = 0; i < p.n; i++)
		(void)fd_close(p.fd[i]);
	errno = saved;
	return r < 0 ? -1 : 0;
}
