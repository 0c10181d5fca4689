/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "credential/credential-impl.h"
#include "state/state-version.h"

#define LIST_MAX 1024

/* clang-format off */
static const char *const kinds[_CREDENTIAL_KIND_MAX] = {
	[CREDENTIAL_VALUE]   = "value",
	[CREDENTIAL_FILE]    = "file",
	[CREDENTIAL_SYSTEMD] = "systemd",
	[CREDENTIAL_EXEC]    = "exec",
};
/* clang-format on */

const char *credential_kind_name(enum credential_kind kind)
{
	return kinds[kind];
}

void credential_info_done(struct credential_info *i)
{
	free(i->source);
	strv_free(i->hosts);
	*i = (struct credential_info){ 0 };
}

void credential_list_done(struct credential_list *l)
{
	for (size_t k = 0; k < l->n; k++)
		credential_info_done(&l->items[k]);
	free(l->items);
	strv_free(l->damaged);
	*l = (struct credential_list){ 0 };
}

/* The store is stamped before its first credential is in it. */
static int make_store(int state, enum lane lane, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;

	if (mkdirat(state, CREDENTIAL_DIR, 0700) < 0 && errno != EEXIST)
		return fault_errno(f, errno, "create '%s'", CREDENTIAL_DIR);
	fd = openat(state, CREDENTIAL_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", CREDENTIAL_DIR);
	if (faccessat(fd, LANE_STAMP, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return lane_stamp(fd, lane, f);
}

static int require_store(int fd, enum lane lane, struct fault *f)
{
	struct stat st;
	int r = dirs_require_own(fd, CREDENTIAL_DIR, f);

	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "'%s'", CREDENTIAL_DIR);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return fault_set(f, EPERM, "'%s' is open to other users: chmod 700 it", CREDENTIAL_DIR);
	return lane_require_stamp(fd, lane, "the store of credentials", f);
}

int credential_store_open(const struct dirs *d, bool make, struct fault *f)
{
	_cleanup_close_ int state = -EBADF, fd = -EBADF;
	int r = make ? 1 : state_require(d, f);

	if (r < 0)
		return r;
	if (r == 0)
		return -ENOENT;
	state = make ? state_open(d, f) : open(d->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (state < 0)
		return make ? state : fault_errno(f, errno, "open '%s'", d->state);
	r = make ? make_store(state, d->lane, f) : 0;
	if (r < 0)
		return r;
	fd = openat(state, CREDENTIAL_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0)
		return fault_errno(f, errno, "open '%s/%s'", d->state, CREDENTIAL_DIR);
	r = require_store(fd, d->lane, f);
	return r < 0 ? fault_wrap(f, r, "in '%s'", d->state) : TAKE_FD(fd);
}

/* Files that a killed writer left have values: they go with the next change. */
static void remove_leftovers(int dirfd)
{
	_cleanup_close_ int copy = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *e;

	if (!dir)
		return;
	(void)TAKE_FD(copy);
	while ((e = readdir(dir)))
		if (str_starts(e->d_name, ".new-"))
			(void)unlinkat(dirfd, e->d_name, 0);
	(void)closedir(dir);
}

static int lock_store(int dirfd, struct fault *f)
{
	while (flock(dirfd, LOCK_EX) < 0)
		if (errno != EINTR)
			return fault_errno(f, errno, "lock '%s'", CREDENTIAL_DIR);
	remove_leftovers(dirfd);
	return 0;
}

static int no_such(const char *name, enum lane lane, struct fault *f)
{
	return fault_set(f, ENOENT, "no credential '%s' in lane '%s': 'custody credential ls' lists them",
			 name, lane_name(lane));
}

int credential_add(const struct dirs *d, const struct credential_info *i, const struct secret *value,
		   bool *ret_replaced, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF;
	struct credential_info own = *i;
	char file[CREDENTIAL_FILE_SIZE];
	int r;

	if (!credential_name_is_valid(i->name))
		return fault_set(f, EINVAL,
				 "name of a credential must be 1 to %d of a-z, 0-9, '.', '_' and '-'",
				 CREDENTIAL_NAME_MAX);
	r = credential_check_source(i, f);
	if (r < 0)
		return r;
	r = value ? credential_check_value(secret_bytes(value), secret_len(value), f) : 0;
	if (r < 0)
		return r;
	dirfd = credential_store_open(d, true, f);
	if (dirfd < 0)
		return dirfd;
	r = lock_store(dirfd, f);
	if (r < 0)
		return r;
	own.lane = d->lane;
	own.class = lane_class(d->lane);
	own.created_us = clock_wall_us();
	credential_file_name(i->name, CREDENTIAL_SUFFIX, file);
	*ret_replaced = faccessat(dirfd, file, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	return credential_file_write(dirfd, &own, value, f);
}

int credential_remove(const struct dirs *d, const char *name, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF;
	char file[CREDENTIAL_FILE_SIZE];
	int r;

	if (!credential_name_is_valid(name))
		return no_such(name, d->lane, f);
	dirfd = credential_store_open(d, false, f);
	if (dirfd == -ENOENT)
		return no_such(name, d->lane, f);
	if (dirfd < 0)
		return dirfd;
	r = lock_store(dirfd, f);
	if (r < 0)
		return r;
	credential_file_name(name, CREDENTIAL_USE_SUFFIX, file);
	(void)unlinkat(dirfd, file, 0);
	/* Also one that is damaged or of another lane: removal needs nothing of it. */
	credential_file_name(name, CREDENTIAL_SUFFIX, file);
	if (unlinkat(dirfd, file, 0) < 0)
		return errno == ENOENT ? no_such(name, d->lane, f)
				       : fault_errno(f, errno, "remove '%s'", file);
	return fsync(dirfd) < 0 ? fault_errno(f, errno, "sync '%s'", CREDENTIAL_DIR) : 0;
}

int credential_read_info(const struct dirs *d, const char *name, struct credential_info *ret, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF;
	int r;

	if (!credential_name_is_valid(name))
		return no_such(name, d->lane, f);
	dirfd = credential_store_open(d, false, f);
	if (dirfd == -ENOENT)
		return no_such(name, d->lane, f);
	r = dirfd < 0 ? dirfd : credential_file_read(dirfd, name, d->lane, ret, NULL, f);
	if (r == 0)
		credential_read_use(dirfd, ret);
	return r;
}

/* Names without their suffix, sorted. */
static int list_names(int dirfd, char ***ret, struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	_cleanup_close_ int copy = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *e;
	int r = 0;

	if (!dir)
		return fault_errno(f, errno, "list '%s'", CREDENTIAL_DIR);
	(void)TAKE_FD(copy);
	while (r == 0 && (e = readdir(dir)) && strv_len(names) < LIST_MAX) {
		size_t len = strlen(e->d_name);

		if (len > strlen(CREDENTIAL_SUFFIX) && str_ends(e->d_name, CREDENTIAL_SUFFIX))
			r = strv_appendf(&names, "%.*s", (int)(len - strlen(CREDENTIAL_SUFFIX)), e->d_name);
	}
	(void)closedir(dir);
	if (r < 0)
		return fault_errno(f, ENOMEM, "list of credentials");
	*ret = TAKE_PTR(names);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One that cannot be read is listed with the reason; it does not hide the others. */
static int load_one(int dirfd, const char *name, enum lane lane, struct credential_list *l)
{
	_cleanup_fault_ struct fault why = { 0 };

	if (!credential_name_is_valid(name))
		return strv_appendf(&l->damaged, "'%s' is no name of a credential", name);
	if (credential_file_read(dirfd, name, lane, &l->items[l->n], NULL, &why) < 0)
		return strv_append(&l->damaged, fault_text(&why));
	credential_read_use(dirfd, &l->items[l->n++]);
	return 0;
}

int credential_load_list(const struct dirs *d, struct credential_list *ret, struct fault *f)
{
	_cleanup_credential_list_ struct credential_list l = { 0 };
	_cleanup_close_ int dirfd = credential_store_open(d, false, f);
	_cleanup_strv_ char **names = NULL;
	int r;

	*ret = l;
	if (dirfd == -ENOENT)
		return 0;
	r = dirfd < 0 ? dirfd : list_names(dirfd, &names, f);
	if (r < 0)
		return r;
	if (names)
		qsort(names, strv_len(names), sizeof(*names), by_name);
	l.items = calloc(strv_len(names) + 1, sizeof(*l.items));
	for (size_t k = 0; l.items && names && names[k] && r == 0; k++)
		r = load_one(dirfd, names[k], d->lane, &l);
	if (!l.items || r < 0)
		return fault_errno(f, ENOMEM, "list of credentials");
	*ret = l;
	l = (struct credential_list){ 0 };
	return 0;
}
