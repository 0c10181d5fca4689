/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "approval/approval-store-impl.h"

#define BEGINNING_MIN 4	    /* minimum number of digits of an abbreviated id */
#define TEMP_PREFIX ".new-" /* of fd_replace_file */

int approval_store_lock(int dirfd, const char *name, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	fd = openat(dirfd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "open lock '%s'", name);
	do
		r = flock(fd, LOCK_EX);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return fault_errno(f, errno, "lock '%s'", name);
	return TAKE_FD(fd);
}

int approval_store_open_locked(const struct approval_store *d, const char *name, bool create, int *ret_dirfd,
			       int *ret_lock, struct fault *f)
{
	_cleanup_close_ int dirfd = approval_store_open_dir(d, name, create, f), lock = -EBADF;

	if (dirfd < 0)
		return dirfd;
	lock = approval_store_lock(dirfd, APPROVAL_STORE_LOCK, f);
	if (lock < 0)
		return lock;
	*ret_dirfd = TAKE_FD(dirfd);
	*ret_lock = TAKE_FD(lock);
	return 0;
}

int approval_store_resolve(const struct approval_store *d, int dirfd,
			   const struct approval_store_names_of *of, const char *beginning,
			   char id[APPROVAL_STORE_ID_SIZE], struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	const char *found = NULL;
	size_t len = strlen(beginning);
	int r;

	if (len < BEGINNING_MIN || len >= APPROVAL_STORE_ID_SIZE ||
	    strspn(beginning, "0123456789abcdef") != len)
		return fault_set(
			f, EINVAL,
			"'%s' is not a %s id: give at least %d of its 16 hex digits; '%s' lists them",
			beginning, of->what, BEGINNING_MIN, of->lister);
	r = approval_store_names(dirfd, of->suffix, &names, f);
	if (r < 0)
		return r;
	for (char **n = names; *n; n++) {
		if (!str_starts(*n, beginning) ||
		    strlen(*n) != APPROVAL_STORE_ID_SIZE - 1 + strlen(of->suffix))
			continue;
		if (found)
			return fault_set(f, EINVAL, "'%s' matches more than one %s: give more digits",
					 beginning, of->what);
		found = *n;
	}
	if (!found)
		return fault_set(f, ENOENT, "no %s '%s' in lane '%s': '%s' lists them", of->what, beginning,
				 d->lane, of->lister);
	memcpy(id, found, APPROVAL_STORE_ID_SIZE - 1);
	id[APPROVAL_STORE_ID_SIZE - 1] = '\0';
	return 0;
}

int approval_store_read(int dirfd, const char *name, const char *label, char **ret, size_t *ret_len,
			struct fault *f)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int r;

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0)
		return fault_errno(f, errno, "open %s", label);
	r = fd_require_private(fd, geteuid(), f);
	if (r == 0)
		r = fd_read_all(fd, APPROVAL_STORE_FILE_MAX, ret, ret_len, f);
	return r < 0 ? fault_wrap(f, r, "%s", label) : 0;
}

int approval_store_read_path(const char *path, const char *label, size_t len_max, char **ret, size_t *ret_len,
			     struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open %s '%s'", label, path);
	r = fd_read_all(fd, len_max, ret, ret_len, f);
	return r < 0 ? fault_wrap(f, r, "%s '%s'", label, path) : 0;
}

int approval_store_read_json(int dirfd, const char *name, const char *label, struct jdoc **ret,
			     struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r;

	r = approval_store_read(dirfd, name, label, &text, &len, f);
	if (r == 0)
		r = jdoc_parse(text, len, label, NULL, ret, f);
	/* Also reads private keys. */
	if (text)
		explicit_bzero(text, len);
	return r;
}

int approval_store_write_json(int dirfd, const char *name, const struct jdoc *doc, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r;

	r = jdoc_write(doc, JDOC_CANONICAL, &b, f);
	strbuf_putc(&b, '\n');
	if (r == 0 && b.broken)
		r = fault_errno(f, ENOMEM, "'%s'", name);
	if (r == 0)
		r = fd_replace_file(dirfd, name, b.text, b.len, 0600, f);
	if (b.text)
		explicit_bzero(b.text, b.len);
	return r;
}

int approval_store_unlink(int dirfd, const char *name, struct fault *f)
{
	if (unlinkat(dirfd, name, 0) < 0 && errno != ENOENT)
		return fault_errno(f, errno, "remove '%s'", name);
	if (fsync(dirfd) < 0)
		return fault_errno(f, errno, "sync the directory of '%s'", name);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static DIR *open_list(int dirfd)
{
	_cleanup_close_ int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir)
		(void)TAKE_FD(fd);
	return dir;
}

int approval_store_names(int dirfd, const char *suffix, char ***ret, struct fault *f)
{
	_cleanup_strv_ char **names = calloc(1, sizeof(*names));
	const struct dirent *e;
	DIR *dir;
	int r = 0;

	if (!names)
		return fault_errno(f, ENOMEM, "list a directory");
	if (dirfd < 0) {
		*ret = TAKE_PTR(names);
		return 0;
	}
	dir = open_list(dirfd);
	if (!dir)
		return fault_errno(f, errno, "list a directory");
	for (errno = 0; r == 0 && (e = readdir(dir)); errno = 0)
		if (e->d_name[0] != '.' && str_ends(e->d_name, suffix))
			r = strv_append(&names, e->d_name);
	if (r == 0 && errno)
		r = -errno;
	(void)closedir(dir);
	if (r < 0)
		return fault_errno(f, -r, "list a directory");
	qsort(names, strv_len(names), sizeof(*names), by_text);
	*ret = TAKE_PTR(names);
	return 0;
}

int approval_store_list(int dirfd, const char *label, size_t item_size, char ***ret_names, void **ret_items,
			struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	void *items;
	int r;

	r = approval_store_names(dirfd, ".json", &names, f);
	if (r < 0)
		return r;
	items = calloc(strv_len(names) + 1, item_size);
	if (!items)
		return fault_errno(f, ENOMEM, "%s", label);
	*ret_names = TAKE_PTR(names);
	*ret_items = items;
	return 0;
}

void approval_store_remove_temps(int dirfd)
{
	DIR *dir = open_list(dirfd);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (str_starts(e->d_name, TEMP_PREFIX))
			(void)unlinkat(dirfd, e->d_name, 0);
	if (dir)
		(void)closedir(dir);
}

static const struct approval_store_shape *find_shape(const struct approval_store_shape *shape,
						     const char *key)
{
	for (; shape->key; shape++)
		if (str_eq(shape->key, key))
			return shape;
	return NULL;
}

int approval_store_require_shape(const struct jdoc *doc, const struct approval_store_shape *shape,
				 const char *label, struct fault *f)
{
	if (doc->type != JDOC_OBJECT)
		return fault_set(f, EINVAL, "%s:%u:%u: must be an object", label, doc->line, doc->column);
	for (size_t i = 0; i < doc->n_members; i++) {
		const struct jdoc_member *m = &doc->members[i];
		const struct approval_store_shape *s = find_shape(shape, m->key);

		if (!s)
			return fault_set(f, EINVAL, "%s:%u:%u: unknown key '%s'", label, m->line, m->column,
					 m->key);
		if (m->value->type != s->type)
			return fault_set(f, EINVAL, "%s:%u:%u: '%s' must be of type %s", label,
					 m->value->line, m->value->column, m->key, jdoc_type_name(s->type));
	}
	for (; shape->key; shape++)
		if (!shape->optional && !jdoc_get(doc, shape->key))
			return fault_set(f, EINVAL, "%s: '%s' is missing", label, shape->key);
	return 0;
}

int64_t approval_store_get_int(const struct jdoc *object, const char *key)
{
	const struct jdoc *v = jdoc_get(object, key);

	return v && v->type == JDOC_INT ? v->integer : -1;
}

bool approval_store_is_boot_id(const char *text)
{
	return strlen(text) == 8 && strspn(text, "0123456789abcdef") == 8;
}

void approval_store_put_moment(const struct moment *m, struct jdoc *object)
{
	jdoc_set_int(object, "at_us", (int64_t)m->wall_us);
	jdoc_set_string(object, "boot", m->boot);
	jdoc_set_int(object, "boot_ns", (int64_t)m->boot_ns);
}

int approval_store_get_moment(const struct jdoc *object, struct moment *ret)
{
	const char *boot = jdoc_get_string(object, "boot");
	int64_t wall = approval_store_get_int(object, "at_us"),
		ns = approval_store_get_int(object, "boot_ns");

	if (!boot || !approval_store_is_boot_id(boot) || wall < 0 || ns < 0)
		return -EINVAL;
	*ret = (struct moment){ .wall_us = (uint64_t)wall, .boot_ns = (uint64_t)ns };
	memcpy(ret->boot, boot, sizeof(ret->boot));
	return 0;
}
