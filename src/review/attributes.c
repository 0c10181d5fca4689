/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "review/attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define PATH_SIZE 48

/* Through /proc: the calls for descriptors refuse O_PATH. */
static void write_path(int fd, char path[PATH_SIZE])
{
	(void)snprintf(path, PATH_SIZE, "/proc/self/fd/%d", fd);
}

#ifndef SYS_listxattrat
#define SYS_listxattrat 465
#endif

void attribute_names_read(int dirfd, const char *name, struct attribute_names *ret)
{
	char path[PATH_SIZE + NAME_MAX + 1];

	ret->n = syscall(SYS_listxattrat, dirfd, name, AT_SYMLINK_NOFOLLOW, ret->text, sizeof(ret->text));
	/* Linux before 6.13, or a filter that does not know the call.  The way through /proc takes twice as long. */
	if (ret->n < 0 && (errno == ENOSYS || errno == EPERM)) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dirfd, name);
		ret->n = llistxattr(path, ret->text, sizeof(ret->text));
	}
	if (ret->n < 0 && errno == EOPNOTSUPP)
		ret->n = 0;
}

bool attribute_names_may_have(const struct attribute_names *a, const char *prefix)
{
	for (const char *name = a->text; name < a->text + a->n; name += strlen(name) + 1)
		if (str_starts(name, prefix))
			return true;
	return a->n < 0;
}

void attributes_done(struct attributes *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->items[i].name);
		free(a->items[i].value);
	}
	free(a->items);
	*a = (struct attributes){ 0 };
}

static bool is_ours(const char *name)
{
	return str_starts(name, "user.") && !str_starts(name, "user.overlay.") &&
	       !str_starts(name, "user.fuseoverlayfs.");
}

bool attribute_names_may_have_user(const struct attribute_names *a)
{
	for (const char *name = a->text; name < a->text + a->n; name += strlen(name) + 1)
		if (is_ours(name))
			return true;
	return a->n < 0;
}

static int add(struct attributes *a, const char *path, const char *name, void *room)
{
	struct attribute *grown = reallocarray(a->items, a->n + 1, sizeof(*grown));
	ssize_t n = getxattr(path, name, room, XATTR_SIZE_MAX);
	struct attribute *x;

	if (!grown)
		return -ENOMEM;
	a->items = grown;
	if (n < 0)
		return -errno;
	a->bytes += strlen(name) + (size_t)n;
	if (a->bytes > ATTRIBUTES_MAX)
		return -E2BIG;
	x = &a->items[a->n++];
	*x = (struct attribute){ .name = strdup(name), .value = malloc((size_t)n + 1), .len = (size_t)n };
	if (!x->name || !x->value)
		return -ENOMEM;
	memcpy(x->value, room, (size_t)n);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct attribute *)a)->name, ((const struct attribute *)b)->name);
}

int attributes_read(int fd, struct attributes *ret)
{
	_cleanup_free_ char *names = NULL, *room = NULL;
	_cleanup_attributes_ struct attributes a = { 0 };
	char path[PATH_SIZE];
	ssize_t n;
	int r = 0;

	write_path(fd, path);
	*ret = (struct attributes){ 0 };
	/* Most entries have none: then nothing is allocated. */
	n = listxattr(path, NULL, 0);
	if (n == 0 || (n < 0 && errno == EOPNOTSUPP))
		return 0;
	if (n < 0)
		return -errno;
	names = malloc(XATTR_LIST_MAX);
	room = malloc(XATTR_SIZE_MAX);
	if (!names || !room)
		return -ENOMEM;
	n = listxattr(path, names, XATTR_LIST_MAX);
	if (n < 0)
		return -errno;
	for (const char *name = names; name < names + n && r == 0; name += strlen(name) + 1)
		if (is_ours(name))
			r = add(&a, path, name, room);
	if (r < 0)
		return r;
	if (a.n)
		qsort(a.items, a.n, sizeof(*a.items), by_name);
	*ret = a;
	a = (struct attributes){ 0 };
	return 0;
}

static const struct attribute *find(const struct attributes *a, const char *name)
{
	const struct attribute key = { .name = (char *)name };

	return a->n ? bsearch(&key, a->items, a->n, sizeof(*a->items), by_name) : NULL;
}

static bool is_equal(const struct attribute *x, const struct attribute *y)
{
	return x->len == y->len && memcmp(x->value, y->value, x->len) == 0;
}

static void say(struct strbuf *b, const char *name, const char *how)
{
	strbuf_printf(b, "%s%s %s", b->len ? ", " : "", name, how);
}

int attributes_compare(const struct attributes *from, const struct attributes *to, char **ret)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	*ret = NULL;
	for (size_t i = 0; i < to->n; i++) {
		const struct attribute *old = find(from, to->items[i].name);

		if (!old || !is_equal(old, &to->items[i]))
			say(&b, to->items[i].name, old ? "changed" : "added");
	}
	for (size_t i = 0; i < from->n; i++)
		if (!find(to, from->items[i].name))
			say(&b, from->items[i].name, "removed");
	if (!b.len && !b.broken)
		return 0;
	*ret = strbuf_take(&b);
	return *ret ? 0 : -ENOMEM;
}

int attributes_set(int fd, const struct attributes *a, struct fault *f)
{
	_cleanup_attributes_ struct attributes now = { 0 };
	char path[PATH_SIZE];
	int r = attributes_read(fd, &now);

	if (r < 0)
		return fault_errno(f, -r, "read extended attributes");
	write_path(fd, path);
	for (size_t i = 0; i < a->n; i++) {
		const struct attribute *x = &a->items[i], *old = find(&now, x->name);

		if ((!old || !is_equal(old, x)) && setxattr(path, x->name, x->value, x->len, 0) < 0)
			return fault_errno(f, errno, "set attribute '%s'", x->name);
	}
	for (size_t i = 0; i < now.n; i++)
		if (!find(a, now.items[i].name) && removexattr(path, now.items[i].name) < 0)
			return fault_errno(f, errno, "remove attribute '%s'", now.items[i].name);
	return 0;
}
