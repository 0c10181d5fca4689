/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "review/apply.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "review/apply-impl.h"

/*
 * Removes leftovers of a killed apply from a directory of this list.  The names are reserved: an entry of an upper must not
 * have one, and a file of another process with such a name is lost.
 */
static int remove_leftovers(struct apply *a, const struct change *ch, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char ours[APPLY_NAME_SIZE];
	const struct dirent *e;
	int dir, r = 0;
	DIR *d;

	if (!S_ISDIR(ch->new.mode) || tree_at_dir(&a->base, ch->path, &dir) < 0)
		return 0;
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		return fault_errno(f, errno, "read '%s'", *ch->path ? ch->path : ".");
	(void)TAKE_FD(fd);
	apply_name_session(a, ours);
	while (r == 0 && (e = readdir(d)))
		if (str_starts(e->d_name, ours))
			r = apply_clear(a, dirfd(d), e->d_name, f);
	(void)closedir(d);
	return r;
}

/* Through /proc: FD may be O_PATH, which fchmod refuses, and a directory of mode 0 can only be opened with O_PATH. */
static int set_mode(int fd, mode_t mode, struct fault *f)
{
	char path[48];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return chmod(path, mode & 07777) < 0 ? fault_errno(f, errno, "set the mode") : 0;
}

/*
 * mkdirat returns no descriptor, so the name may show another directory by now: one of ours (root's) that the owner of the
 * parent directory may rename, but not enter.  Ours was made private and has no content, and no other user can add any.
 */
static bool is_new_directory(int fd, const struct stat *st)
{
	int list = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
	DIR *d = list < 0 ? NULL : fdopendir(list);

	if (!d) {
		(void)fd_close(list);
		return false;
	}
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n <= 2 && !(st->st_mode & (S_IRWXG | S_IRWXO));
}

/* Sets the owner of the new entry, after a check that PLACE->temp is still the entry that was created.  *RET: a directory. */
static int own_temp(struct apply *a, const struct change *ch, const struct apply_place *p, int *ret,
		    struct fault *f)
{
	_cleanup_close_ int fd = openat(p->dirfd, p->temp, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(f, errno, "open '%s'", p->temp);
	if ((st.st_mode & S_IFMT) != (ch->new.mode &S_IFMT) || st.st_uid != geteuid() ||
	    (S_ISDIR(st.st_mode) ? !is_new_directory(fd, &st) : st.st_nlink != 1))
		return fault_set(f, ESTALE, "'%s' was changed concurrently", p->temp);
	if (a->ask->as_root && fchownat(fd, "", ch->new.uid, ch->new.gid, AT_EMPTY_PATH) < 0)
		return fault_errno(f, errno, "chown to uid %u", (unsigned int)ch->new.uid);
	if (!S_ISDIR(st.st_mode))
		return 0;
	/* Writable until its content is complete; finish_directories sets the final mode. */
	r = set_mode(fd, ch->new.mode | 0700, f);
	if (r == 0 && ch->attributes)
		r = apply_attributes(a, ch, -EBADF, fd, f);
	if (r == 0)
		*ret = TAKE_FD(fd);
	return r;
}

static int create_temp(struct apply *a, const struct change *ch, const struct apply_place *p, int *ret,
		       struct fault *f)
{
	int r;

	if (S_ISREG(ch->new.mode))
		return apply_write(a, ch, p, f);
	if (S_ISDIR(ch->new.mode))
		r = mkdirat(p->dirfd, p->temp, 0700);
	else
		r = symlinkat(ch->new.link, p->dirfd, p->temp);
	if (r < 0)
		return fault_errno(f, errno, "create '%s'", p->temp);
	r = own_temp(a, ch, p, ret, f);
	if (r < 0)
		(void)unlinkat(p->dirfd, p->temp, S_ISDIR(ch->new.mode) ? AT_REMOVEDIR : 0);
	return r;
}

int apply_create(struct apply *a, const struct change *ch, int *ret, struct fault *f)
{
	struct apply_place p;
	int r = apply_open_place(a, ch, &p, f);

	return r < 0 ? r : create_temp(a, ch, &p, ret, f);
}

/*
 * The batch needs room for old and new entries: when the disk is full, flush it, which removes the old ones.  *RET: the
 * descriptor of a new directory, of the caller.
 */
static int create(struct apply *a, const struct change *ch, int *ret, struct fault *f)
{
	int r = apply_create(a, ch, ret, f);

	if ((r != -ENOSPC && r != -EDQUOT) || !a->n_pending)
		return r;
	if (f)
		fault_done(f);
	r = apply_batch_flush(a, f);
	return r < 0 ? r : apply_create(a, ch, ret, f);
}

static void tell(struct apply *a, const struct change *ch)
{
	a->entries++;
	if (ch->kind != CHANGE_DELETED && ch->bytes && S_ISREG(ch->new.mode)) {
		a->bytes += ch->new.size;
		a->batch_bytes += ch->new.size;
	}
	if (a->ask->progress && a->entries > a->told)
		a->ask->progress(a->ask->progress_arg, a->entries, a->bytes);
}

/* Opens the reviewed entry, to change it in place. */
static int open_old(struct apply *a, const struct change *ch, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	struct apply_place p;
	struct stat st;
	int r;

	if (!*ch->path) {
		fd = openat(a->ask->base, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	} else {
		/* Resolve from the root: a directory that was moved away since is not used. */
		tree_at_forget(&a->base);
		r = apply_open_place(a, ch, &p, f);
		if (r < 0)
			return r;
		fd = openat(p.dirfd, p.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(f, errno, "open");
	if (!S_ISDIR(st.st_mode) && (!apply_is_old(ch, &st) || st.st_nlink != 1))
		return fault_set(f, ESTALE, "changed concurrently");
	if (S_ISDIR(st.st_mode) && ch->old.mode && (st.st_ino != ch->old.ino || !S_ISDIR(ch->old.mode)))
		return fault_set(f, ESTALE, "changed concurrently");
	/* Made by this apply, and given to its owner then: another directory of that owner is the owner's loss. */
	if (S_ISDIR(st.st_mode) && !ch->old.mode && a->ask->has_owner && st.st_uid != a->ask->owner)
		return fault_set(f, ESTALE, "changed concurrently");
	return TAKE_FD(fd);
}

/* Nothing is set that is set already: that would change the ctime, which the next review takes for an edit. */
static int change_mode(struct apply *a, const struct change *ch, mode_t mode, struct fault *f)
{
	_cleanup_close_ int fd = open_old(a, ch, f);
	struct stat st;
	int r = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "stat");
	if (a->ask->as_root && S_ISDIR(ch->new.mode) &&
	    (st.st_uid != ch->new.uid || st.st_gid != ch->new.gid) &&
	    fchownat(fd, "", ch->new.uid, ch->new.gid, AT_EMPTY_PATH) < 0)
		return fault_errno(f, errno, "chown to uid %u", (unsigned int)ch->new.uid);
	if ((st.st_mode & 07777) != (mode & 07777))
		r = set_mode(fd, mode, f);
	return r < 0 || !ch->attributes ? r : apply_attributes(a, ch, -EBADF, fd, f);
}

/*
 * Of a directory until its content is complete: writable, and open to no user to whom the old mode, or the new one, is not.
 * An entry with the old content, or one that will be removed, may be private by its directory alone.
 */
static mode_t mode_until_complete(const struct change *ch)
{
	const mode_t old = ch->old.mode & 07777, new = ch->new.mode & 07777;

	if (ch->kind != CHANGE_MODIFIED || !(new & ~old & 077))
		return new | 0700;
	return (old & 0700) == 0700 && !(old & ~new & 077) ? old : (old & new) | 0700;
}

bool apply_is_in_place(const struct change *ch)
{
	const struct change_side *o = &ch->old, *n = &ch->new;

	if (ch->kind != CHANGE_MODIFIED)
		return false;
	return S_ISDIR(n->mode) || (!ch->bytes && !ch->attributes && S_ISREG(n->mode) && o->nlink == 1 &&
				    o->uid == n->uid && o->gid == n->gid);
}

/* Everything but deletions. */
static int write_one(struct apply *a, size_t i, struct fault *f)
{
	const struct change *ch = &a->changes->items[i];
	_cleanup_close_ int dir = -EBADF;
	int r;

	if (apply_is_in_new(a, ch)) {
		bool exists = a->ahead && a->ahead[i];

		r = exists ? 0 : create(a, ch, &dir, f);
		if (exists)
			a->ahead[i] = 0;
		a->batch_entries += r == 0;
		return r;
	}
	apply_batch_leave(a, i);
	r = apply_batch_is_full(a) ? apply_batch_flush(a, f) : 0;
	if (r < 0)
		return r;
	if (a->ahead && a->ahead[i]) {
		apply_batch_add_ahead(a, i);
		return 0;
	}
	if (!apply_is_in_place(ch)) {
		r = create(a, ch, &dir, f);
		if (r == 0)
			r = apply_batch_add(a, i, TAKE_FD(dir), f);
		return r < 0 || !a->top ? r : apply_fill_ahead(a, i, f);
	}
	r = change_mode(a, ch, S_ISDIR(ch->new.mode) ? mode_until_complete(ch) : ch->new.mode & 01777, f);
	if (r < 0)
		return r;
	a->stats.modes++;
	if (a->ask->applied)
		a->ask->applied(a->ask->arg, ch);
	return 0;
}

static int write_all(struct apply *a, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; i < a->changes->n && r == 0; i++) {
		const struct change *ch = &a->changes->items[i];

		if (!apply_is_wanted(ch) || ch->kind == CHANGE_DELETED)
			continue;
		r = fault_wrap(f, write_one(a, i, f), "'%s'", *ch->path ? ch->path : ".");
		if (r == 0)
			tell(a, ch);
	}
	if (r < 0)
		return r;
	apply_batch_leave(a, a->changes->n);
	return apply_batch_flush(a, f);
}

/* Is CH removed together with a parent directory? */
static bool removed_with_parent(const struct apply *a, const struct change *ch, size_t top)
{
	return top != SIZE_MAX && review_is_below(ch->path, a->changes->items[top].path);
}

static int delete_all(struct apply *a, struct fault *f)
{
	size_t top = SIZE_MAX;
	int r = 0;

	for (size_t i = 0; i < a->changes->n && r == 0; i++) {
		const struct change *ch = &a->changes->items[i];
		bool below = removed_with_parent(a, ch, top);

		if (!apply_is_wanted(ch))
			continue;
		if (!below && (ch->kind == CHANGE_DELETED || ch->kind == CHANGE_REPLACED))
			top = i;
		if (ch->kind != CHANGE_DELETED)
			continue;
		/* Entries of a replaced directory were removed when it was exchanged. */
		if (!below)
			r = apply_remove(a, ch, f);
		if (r < 0)
			return fault_wrap(f, r, "'%s'", ch->path);
		a->stats.deleted++;
		tell(a, ch);
		if (a->ask->applied)
			a->ask->applied(a->ask->arg, ch);
	}
	return r;
}

/* Deepest first: the content of a directory is complete before its mode forbids writing, or lets others read. */
static int finish_directories(struct apply *a, struct fault *f)
{
	for (size_t i = a->changes->n; i-- > 0;) {
		const struct change *ch = &a->changes->items[i];
		struct change now;
		int r;

		if (!apply_is_wanted(ch) || ch->kind == CHANGE_DELETED || !S_ISDIR(ch->new.mode) ||
		    mode_until_complete(ch) == (ch->new.mode & 07777))
			continue;
		now = *ch;
		/* A directory that this apply created has a new inode. */
		if (ch->kind != CHANGE_MODIFIED)
			now.old.mode = 0;
		r = change_mode(a, &now, ch->new.mode, f);
		if (r < 0)
			return fault_wrap(f, r, "'%s'", ch->path);
	}
	return 0;
}

static int run(struct apply *a, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; i < a->changes->n && r == 0; i++)
		r = remove_leftovers(a, &a->changes->items[i], f);
	if (r == 0)
		r = apply_hold_sources(a, f);
	if (r == 0)
		r = apply_batch_init(a, f);
	if (r == 0)
		r = apply_create_ahead(a, f);
	if (r == 0)
		r = write_all(a, f);
	/* Deletions last: moved files are copied from their old paths. */
	if (r == 0)
		r = delete_all(a, f);
	if (r == 0)
		r = finish_directories(a, f);
	if (r == 0 && syncfs(a->ask->base) < 0)
		r = fault_errno(f, errno, "sync the worktree");
	return r;
}

int apply_changes(const struct changes *c, const struct apply_ask *ask, struct apply_stats *ret,
		  struct fault *f)
{
	struct apply a = { .changes = c,
			   .ask = ask,
			   .base = TREE_AT_NONE,
			   .upper = TREE_AT_NONE,
			   .new = TREE_AT_NONE,
			   .top_fd = -EBADF,
			   .gid = getegid() };
	int r;

	r = tree_at_init(&a.base, ask->base, f);
	if (r == 0)
		r = tree_at_init(&a.upper, ask->upper, f);
	if (r == 0)
		r = run(&a, f);
	apply_batch_done(&a);
	apply_hold_done(&a);
	free(a.buffer);
	tree_at_done(&a.base);
	tree_at_done(&a.upper);
	*ret = a.stats;
	return r;
}
