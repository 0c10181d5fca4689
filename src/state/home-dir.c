/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/home-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "state/disposable-dir.h"
#include "state/file-owners.h"
#include "state/sandbox-root.h"
#include "state/state-version.h"

#define TRIES 16
#define MODE 0700
#define MODE_SHARED 0777 /* of a home that commands with several ids use; DIRS->homes is closed */
#define PATH_TEXT_MAX ((size_t)64 * 1024)

void home_dir_free(struct home_dir *h)
{
	if (!h)
		return;
	(void)fd_close(h->home_fd);
	/* Last: closing it releases the lock. */
	(void)fd_close(h->fd);
	free(h->path);
	free(h->home);
	free(h);
}

/* --- names ----------------------------------------------------------------------------------------------------------- */

static bool has_key(const char *text)
{
	return strspn(text, "0123456789abcdef") >= HOME_KEY_LEN && text[HOME_KEY_LEN] == '-';
}

bool home_name_is_valid(const char *name)
{
	return sandbox_name_is_valid(name) && !has_key(name);
}

bool home_id_is_valid(const char *id)
{
	return has_key(id) && home_name_is_valid(id + HOME_KEY_LEN + 1);
}

int home_word_parse(const char *word, const char **ret_name, struct fault *f)
{
	const char *name = str_eq(word, "keep")	       ? HOME_DEFAULT
			   : str_starts(word, "keep=") ? word + strlen("keep=")
						       : NULL;

	if (str_eq(word, "memory"))
		return 0;
	if (!name)
		return fault_set(f, EINVAL, "'%s' is no kind of home: memory, keep or keep=NAME", word);
	if (!home_name_is_valid(name))
		return fault_set(f, EINVAL,
				 "'%s' is not a valid name of a home: lower case letters, digits, '.', '_' "
				 "and '-', no leading dot, at most %d",
				 name, SANDBOX_NAME_MAX);
	*ret_name = name;
	return 1;
}

bool home_word_is_valid(const char *word)
{
	const char *name;

	return home_word_parse(word, &name, NULL) >= 0;
}

/*
 * Not the device: numbers of btrfs, NFS and logical volumes change with a reboot, and the home would be another one. A
 * worktree that was removed and made again at the same path is another project.
 */
int home_dir_name(const char *worktree, const char *name, char ret[HOME_ID_SIZE], struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	char hex[DIGEST_HEX_SIZE];
	struct digest digest;
	struct statx stx;
	bool born;

	if (statx(AT_FDCWD, worktree, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &stx) < 0)
		return fault_errno(f, errno, "worktree '%s'", worktree);
	born = stx.stx_mask & STATX_BTIME;
	strbuf_printf(&b, "%" PRIu64 " %" PRId64 ".%09" PRIu32 " %s", (uint64_t)stx.stx_ino,
		      born ? (int64_t)stx.stx_btime.tv_sec : 0, born ? stx.stx_btime.tv_nsec : 0, worktree);
	if (b.broken)
		return fault_errno(f, ENOMEM, "home");
	digest_bytes(b.text, b.len, &digest);
	digest_to_hex(&digest, hex);
	(void)snprintf(ret, HOME_ID_SIZE, "%.*s-%s", HOME_KEY_LEN, hex, name);
	return 0;
}

/* --- open ------------------------------------------------------------------------------------------------------------ */

static int require_lane(const struct dirs *d, struct fault *f)
{
	if (d->lane == LANE_SANDBOX)
		return 0;
	return fault_set(f, LANE_REFUSED,
			 "a home that is kept exists in the sandbox lane only, not in lane '%s': use --home "
			 "memory",
			 lane_name(d->lane));
}

static int open_homes(const struct dirs *d, enum home_use use, struct fault *f)
{
	_cleanup_close_ int state = -EBADF, fd = -EBADF;
	int r;

	if (use == HOME_RUN) {
		state = state_open(d, f);
		return state < 0 ? state : dirs_open_own(d->homes, MODE, f);
	}
	r = state_require(d, f);
	if (r < 0)
		return r;
	fd = open(d->homes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT : fault_errno(f, errno, "open '%s'", d->homes);
	r = dirs_require_own(fd, d->homes, f);
	return r < 0 ? r : TAKE_FD(fd);
}

static int set_mode(int fd, mode_t mode, const char *path, struct fault *f)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return chmod(link, mode) < 0
		       ? fault_errno(f, errno, "set the mode of '%s' to %04o", path, (unsigned int)mode)
		       : 0;
}

/*
 * NAME in PARENT, never through a link.  A payload owns its home and may chmod it: then the mode is set again.  IDS: those that it
 * may have given it to.
 */
static int open_part(int parent, const char *name, const char *path, bool repair, const struct id_map *ids,
		     struct fault *f)
{
	_cleanup_close_ int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const mode_t mode = id_map_is_set(ids) ? MODE_SHARED : MODE;
	struct stat st;
	int r = 0;

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return fault_set(f, ENOTDIR, "'%s' is not a directory: rm '%s', the next run makes it", path,
				 path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(f, errno, "open '%s'", path);
	if (!file_owners_is_own(ids, st.st_uid))
		return fault_set(f, EPERM,
				 "'%s' belongs to uid %u, not to you: move it away, the next run makes "
				 "another one",
				 path, (unsigned int)st.st_uid);
	if (repair && st.st_uid != geteuid())
		r = file_owners_take(parent, name, ids, f);
	if (r == 0 && repair && (st.st_mode & 07777) != mode)
		r = set_mode(fd, mode, path, f);
	return r < 0 ? r : TAKE_FD(fd);
}

static int lock(int fd, const char *id, enum home_use use, struct fault *f)
{
	if (use == HOME_LOOK || flock(fd, (use == HOME_CLEAR ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return fault_errno(f, errno, "lock home '%s'", id);
	if (use == HOME_RUN)
		return fault_set(f, EBUSY, "home '%s' is being emptied: retry when that is done", id);
	return fault_set(f, EBUSY, "a session uses home '%s': wait for it to exit, or 'custody stop' it", id);
}

static bool is_same(int dirfd, const char *name, int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstatat(dirfd, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int refuse_missing(const char *id, struct fault *f)
{
	return fault_set(f, ENOENT, "home '%s' does not exist: the first run with --home keep makes it", id);
}

/* A prune may have removed it between open and flock: then it is made again. */
static int open_locked(int homes, const struct dirs *d, const char *id, const char *path, enum home_use use,
		       struct fault *f)
{
	static const char *const parts[] = { HOME_PART, NULL };
	int r;

	for (int i = 0; i < TRIES; i++) {
		_cleanup_close_ int dir = -EBADF, fd = -EBADF;

		r = use == HOME_RUN ? disposable_dir_make(homes, id, parts, d->lane, f) : 0;
		if (r < 0)
			return r;
		dir = open_part(homes, id, path, use != HOME_LOOK, NULL, f);
		if (dir == -ENOENT && use == HOME_RUN)
			continue;
		if (dir < 0)
			return dir == -ENOENT ? refuse_missing(id, f) : dir;
		fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return fault_errno(f, errno, "open '%s'", path);
		r = lock(fd, id, use, f);
		if (r < 0)
			return r;
		if (is_same(homes, id, fd))
			return TAKE_FD(fd);
	}
	return fault_set(f, EAGAIN, "home '%s' was replaced %d times while it was opened", id, TRIES);
}

/* For `df`: which project this is, and when it was used. */
static int note_use(const struct home_dir *h, const char *worktree, struct fault *f)
{
	if (utimensat(h->fd, HOME_PROJECT, NULL, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return fault_wrap(f, fd_replace_file(h->fd, HOME_PROJECT, worktree, strlen(worktree), 0600, f),
			  "home '%s'", h->path);
}

static int fill(struct home_dir *h, const struct dirs *d, const char *worktree, enum home_use use,
		struct fault *f)
{
	int r = file_owners_read(h->fd, &h->ids, f);

	if (r < 0)
		return fault_wrap(f, r, "home '%s'", h->path);
	h->home_fd = open_part(h->fd, HOME_PART, h->home, use != HOME_LOOK, &h->ids, f);
	if (h->home_fd == -ENOENT)
		return fault_set(f, ENOENT, "'%s' is missing: rm -r '%s', the next run makes it", h->home,
				 h->path);
	if (h->home_fd < 0)
		return h->home_fd;
	r = disposable_dir_check(h->fd, h->path, HOME_PART, h->home_fd, d->lane, f);
	/* To empty or remove a home, its stamp need not be valid. */
	if (r < 0 && use == HOME_CLEAR) {
		if (f)
			fault_done(f);
		return 0;
	}
	if (r < 0)
		return r;
	h->disposable = r;
	return use == HOME_RUN ? note_use(h, worktree, f) : 0;
}

int home_dir_open(const struct dirs *d, const char *id, const char *worktree, enum home_use use,
		  struct home_dir **ret, struct fault *f)
{
	_cleanup_home_dir_ struct home_dir *h = calloc(1, sizeof(*h));
	_cleanup_free_ char *real = NULL;
	_cleanup_close_ int homes = -EBADF;
	int r;

	if (!h)
		return fault_errno(f, ENOMEM, "home");
	h->fd = h->home_fd = -EBADF;
	(void)snprintf(h->id, sizeof(h->id), "%s", id);
	r = require_lane(d, f);
	if (r < 0)
		return r;
	homes = open_homes(d, use, f);
	if (homes == -ENOENT)
		return refuse_missing(id, f);
	if (homes < 0)
		return homes;
	real = realpath(d->homes, NULL);
	h->path = real ? path_join(real, id) : NULL;
	h->home = h->path ? path_join(h->path, HOME_PART) : NULL;
	if (!h->home)
		return fault_errno(f, ENOMEM, "home '%s'", id);
	h->fd = open_locked(homes, d, id, h->path, use, f);
	if (h->fd < 0)
		return h->fd;
	r = fill(h, d, worktree, use, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(h);
	return 0;
}

int home_dir_share(const struct home_dir *h, const struct id_map *ids, struct fault *f)
{
	int r = file_owners_note(h->fd, ids, f);

	if (r == 0)
		r = set_mode(h->home_fd, MODE_SHARED, h->home, f);
	return fault_wrap(f, r, "home '%s'", h->path);
}

int home_dir_return(const struct home_dir *h, struct fault *f)
{
	return fault_wrap(f, file_owners_return(h->fd, f), "home '%s'", h->path);
}

bool home_dir_is_visible(const struct home_dir *h, const char *path)
{
	return path_is_below(path, h->home);
}

/* --- use and removal ------------------------------------------------------------------------------------------------- */

uint64_t home_dir_used_us(const struct home_dir *h, char **ret_worktree)
{
	_cleanup_close_ int fd = openat(h->fd, HOME_PROJECT, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len;

	if (ret_worktree)
		*ret_worktree = NULL;
	if (fd < 0 || fstat(fd, &st) < 0)
		return fstat(h->fd, &st) < 0 ? 0 : (uint64_t)st.st_mtim.tv_sec * 1000000;
	if (ret_worktree && fd_read_all(fd, PATH_TEXT_MAX, &text, &len, NULL) == 0)
		*ret_worktree = TAKE_PTR(text);
	return (uint64_t)st.st_mtim.tv_sec * 1000000;
}

int home_dir_remove(const struct dirs *d, const struct home_dir *h, struct fault *f)
{
	_cleanup_close_ int homes = open_homes(d, HOME_CLEAR, f);
	char gone[sizeof(HOME_GONE) + HOME_ID_SIZE];
	int r;

	if (homes < 0)
		return homes == -ENOENT ? 0 : homes;
	(void)snprintf(gone, sizeof(gone), HOME_GONE "%s", h->id);
	/* The rest of a killed removal. */
	r = path_remove_tree(homes, gone, f);
	if (r == 0)
		r = home_dir_return(h, f);
	if (r < 0)
		return r;
	if (renameat2(homes, h->id, homes, gone, RENAME_NOREPLACE) < 0)
		return fault_errno(f, errno, "rename '%s'", h->path);
	return fault_wrap(f, path_remove_tree(homes, gone, f), "remove home '%s'", h->path);
}
